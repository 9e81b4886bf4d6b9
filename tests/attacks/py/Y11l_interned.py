# expect: status=memory_limit|wall_limit|exception limits: wall_ms=400 memory_mb=48
# The attacker wants memory that is never given back: names and code.
import sys

n = 0
while True:
    sys.intern(f"name{n}" * 100)
    exec(f"class C{n}: pass")
    n += 1
