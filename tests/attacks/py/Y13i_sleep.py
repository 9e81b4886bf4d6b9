# expect: status=wall_limit limits: wall_ms=120
# The attacker wants to hold a cell without using any processor.
import time

time.sleep(10**8)
