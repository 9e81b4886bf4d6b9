# expect: status=ok|wall_limit|exception limits: wall_ms=500
# The attacker wants to shut down what threads are joined by.
import threading
import time

threading._shutdown = None
threading._main_thread = None
threading._active.clear()
threading.Thread(target=time.sleep, args=(0.01,)).start()
