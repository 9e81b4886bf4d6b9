# expect: status=ok|exception|crashed
# The attacker wants to say itself what came of it.
import sys

frame = sys._getframe()
while frame.f_back is not None:
    frame = frame.f_back
run = sys.modules["_vial.run"]
for name in ("OK", "FAILED", "EXITED", "MEMORY"):
    setattr(run, name, 2**80)
run.errors.describe = lambda *args: ()
1 / 0
