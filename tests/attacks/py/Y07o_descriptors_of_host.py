# expect: status=ok value=""
# The attacker wants a descriptor that somebody left open.
import os

open_ones = []
for fd in range(3, 1024):
    try:
        os.fstat(fd)
        open_ones.append(str(fd))
    except OSError:
        pass
",".join(open_ones)
