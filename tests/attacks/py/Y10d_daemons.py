# expect: status=ok value="over"
# The attacker wants daemons to go on after the end.
import threading

def spin():
    while True:
        print(end="")

for _ in range(8):
    threading.Thread(target=spin, daemon=True).start()
"over"
