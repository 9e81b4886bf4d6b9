# expect: status=ok|exception|crashed
# The attacker wants the same by taking it away.
import builtins

vars(builtins).clear()
