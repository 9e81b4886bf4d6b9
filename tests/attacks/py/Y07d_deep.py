# expect: status=ok|exception|wall_limit limits: wall_ms=2000 files=20000
# The attacker wants a tree too deep for whoever walks it.
import os
import shutil

try:
    for _ in range(5_000):
        os.mkdir("d")
        os.chdir("d")
except OSError:
    pass
os.chdir("/home/vial")
shutil.rmtree("d", ignore_errors=True)
