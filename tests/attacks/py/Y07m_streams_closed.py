# expect: status=ok|exception value=7
# The attacker wants a run without output, input or errors to fall over.
import os
import sys

os.close(0), os.close(1), os.close(2)
open("a", "w"), open("b", "w"), open("c", "w")
print("x")
sys.stderr.write("y")
7
