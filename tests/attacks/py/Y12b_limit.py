# expect: status=exception|crashed|memory_limit limits: wall_ms=4000 memory_mb=48
# The attacker wants the same with the interpreter's own limit out of the way.
import sys

sys.setrecursionlimit(2**31 - 1)

def f(n):
    return f(n + 1)

f(0)
