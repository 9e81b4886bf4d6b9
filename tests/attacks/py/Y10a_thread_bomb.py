# expect: status=ok value="RuntimeError" limits: wall_ms=4000
# The attacker wants a hundred thousand threads.
import threading
import time

def stay():
    time.sleep(1000)

came = "all"
try:
    for _ in range(100_000):
        threading.Thread(target=stay, daemon=True).start()
except RuntimeError as error:
    came = type(error).__name__
came
