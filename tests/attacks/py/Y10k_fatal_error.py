# expect: status=crashed
# The attacker wants the interpreter to give up.
import faulthandler

faulthandler._fatal_error_c_thread() if hasattr(faulthandler, "_fatal_error_c_thread") else None
import time
time.sleep(0.5)
faulthandler._fatal_error(b"owned\x1b[31m")
