# expect: status=ok value=24 limits: open_files=32
# The attacker wants to use up all descriptors.
import os

code, kept = 0, []
open("a", "w").close()
try:
    while True:
        kept.append(os.open("a", os.O_RDONLY))
        kept.append(os.dup(kept[-1]))
except OSError as error:
    code = error.errno
code
