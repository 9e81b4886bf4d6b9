# expect: status=wall_limit limits: wall_ms=120
# The attacker wants to wait for a lock that nobody gives back.
import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
