# expect: status=ok value=0 out=** names=
# The attacker wants a file of the library to be given back as its own.
import os

done = 0
for source in ("/usr/lib/python3.11/os.py", "/etc/passwd", "/dev/null", "/dev/urandom"):
    for attempt in (lambda: os.link(source, "copy"), lambda: os.rename(source, "copy"), lambda: os.replace(source, "copy")):
        try:
            attempt()
            done += 1
        except OSError:
            pass
done
