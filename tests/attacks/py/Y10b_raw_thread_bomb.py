# expect: status=ok value="RuntimeError" limits: wall_ms=4000
# The attacker wants the same by the module below, with small stacks.
import _thread
import time

_thread.stack_size(32768)
came = "all"
try:
    for _ in range(100_000):
        _thread.start_new_thread(time.sleep, (1000,))
except RuntimeError as error:
    came = type(error).__name__
came
