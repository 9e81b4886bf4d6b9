# expect: status=ok value=1200 limits: wall_ms=4000
# The attacker wants two threads to mix their frames on the way to the host.
import os
import threading

def write(stream):
    for i in range(100):
        os.write(stream, bytes([65 + i % 20]) * 9999)
        open("/usr/lib/python3.11/keyword.py").read(10)

threads = [threading.Thread(target=write, args=(1 + i % 2,)) for i in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
1200
