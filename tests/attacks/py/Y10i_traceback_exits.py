# expect: status=crashed|wall_limit|ok|exception limits: wall_ms=1000
# The attacker wants a watchdog that ends the process.
import faulthandler
import time

faulthandler.dump_traceback_later(0.05, exit=True, file=2)
time.sleep(0.3)
