# expect: status=ok|output_limit
# The attacker wants a watchdog thread that writes beside the runtime.
import faulthandler
import time

try:
    for _ in range(20):
        faulthandler.dump_traceback_later(0.001, repeat=True, file=2)
        time.sleep(0.005)
    faulthandler.enable(file=2, all_threads=True)
except (RuntimeError, OSError, ValueError):
    pass
