# expect: status=ok value=500 limits: wall_ms=4000
# The attacker wants to wear the kernel out by threads that come and go.
import threading

count = 0
for _ in range(50):
    some = [threading.Thread(target=len, args=("",)) for _ in range(10)]
    for thread in some:
        thread.start()
    for thread in some:
        thread.join()
        count += 1
count
