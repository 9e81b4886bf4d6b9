# expect: status=ok|exception value=5
# The attacker wants to return the value from a thread, twice.
import threading

thread = threading.Thread(target=lambda: __builtins__.__dict__["__return"](1) if hasattr(__builtins__, "__dict__") else 0)
thread.start()
thread.join()
5
