# expect: status=ok value="[2,2,2,40]" out=** names=real
# The attacker wants the host to follow a symbolic link when it collects outputs.
import os

open("real", "w").write("x")
os.symlink("/etc/shadow", "shadow")
os.symlink("../../../../etc/passwd", "passwd")
os.symlink("/proc/self/root/etc/passwd", "around")
os.symlink("loop", "loop")
os.symlink("/usr/lib/python3.11", "library")
came = []
for name in ("shadow", "passwd", "around", "loop"):
    try:
        open(name).read()
        came.append(0)
    except OSError as error:
        came.append(error.errno)
str(came).replace(" ", "")
