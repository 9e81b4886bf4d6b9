# expect: status=crashed
# The attacker wants the interpreter to crash by its own function for that.
import faulthandler

faulthandler._read_null()
