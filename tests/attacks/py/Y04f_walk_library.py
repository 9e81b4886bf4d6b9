# expect: status=ok limits: wall_ms=4000 cpu_ms=4000
# The attacker wants the host to be busy with looks at its library.
import os

count = 0
for _ in range(2):
    for top, dirs, files in os.walk("/usr/lib/python3.11"):
        dirs[:] = [d for d in dirs if len(d) < 9]
        for name in files[:40]:
            count += len(os.fsencode(name)) > 0 and os.stat(os.path.join(top, name)).st_size >= 0
count > 100
