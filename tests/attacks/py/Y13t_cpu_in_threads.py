# expect: status=cpu_limit limits: cpu_ms=300
# The attacker wants the processor time of many threads to be counted as that of one.
import hashlib
import threading

def work():
    hashlib.pbkdf2_hmac("sha512", b"x", b"y", 10**9)

for _ in range(12):
    threading.Thread(target=work).start()
