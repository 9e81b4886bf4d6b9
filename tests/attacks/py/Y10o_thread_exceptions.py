# expect: status=ok limits: wall_ms=4000
# The attacker wants hundreds of errors in threads, each to be written out.
import threading

for _ in range(20):
    some = [threading.Thread(target=lambda: 1 / 0) for _ in range(10)]
    for thread in some:
        thread.start()
    for thread in some:
        thread.join()
