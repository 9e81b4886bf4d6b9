# expect: status=exception|memory_limit limits: wall_ms=4000 memory_mb=512
# The attacker wants a traceback of thirty thousand frames.
import sys

sys.setrecursionlimit(10**9)

def down(n):
    if n == 0:
        raise ValueError("at the bottom")
    down(n - 1)

down(30_000)
