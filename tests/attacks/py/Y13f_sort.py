# expect: status=wall_limit limits: wall_ms=120
# The attacker wants a native sort to wait for its key.
import time

sorted(range(10**6), key=lambda _: time.sleep(1))
