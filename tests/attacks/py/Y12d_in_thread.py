# expect: status=crashed|exception|memory_limit limits: wall_ms=4000 memory_mb=256
# The attacker wants the small stack of a thread to overflow.
import sys
import threading

sys.setrecursionlimit(2**31 - 1)
threading.stack_size(32768)

def deep(n):
    return sorted([1, 2], key=lambda _: deep(n + 1))

thread = threading.Thread(target=deep, args=(0,))
thread.start()
thread.join()
raise RuntimeError("it went well")
