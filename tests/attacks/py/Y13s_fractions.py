# expect: status=wall_limit limits: wall_ms=120
# The attacker wants threads that compute in native code on all processors.
import hashlib
import threading

def work():
    while True:
        hashlib.pbkdf2_hmac('sha512', b'x', b'y', 10**8)

for _ in range(8):
    threading.Thread(target=work).start()
