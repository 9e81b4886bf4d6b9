# expect: status=ok|output_limit|crashed limits: wall_ms=2000
# The attacker wants daemons to print into the result.
import os
import threading

def spin():
    while True:
        os.write(1, b"\0\0\0\0\7\0\0\0")

for _ in range(8):
    threading.Thread(target=spin, daemon=True).start()
sum(range(100_000))
