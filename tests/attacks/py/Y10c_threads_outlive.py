# expect: status=wall_limit limits: wall_ms=120
# The attacker wants threads that hold the run after its last line.
import threading
import time

for _ in range(5):
    threading.Thread(target=time.sleep, args=(1000,)).start()
"over"
