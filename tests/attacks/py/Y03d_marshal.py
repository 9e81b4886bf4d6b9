# expect: status=ok|crashed|exception|memory_limit|wall_limit limits: wall_ms=400 memory_mb=128
# The attacker wants the reader of compiled code to trip over noise.
import marshal
import random

random.seed(7)
good = marshal.dumps(compile("def f(x): return [y for y in x if y]", "x", "exec"))
for i in range(5000):
    bad = bytearray(good)
    for _ in range(random.randrange(1, 6)):
        bad[random.randrange(len(bad))] = random.randrange(256)
    try:
        marshal.loads(bytes(bad))
    except (EOFError, ValueError, TypeError, MemoryError, SystemError, UnicodeDecodeError, OverflowError):
        pass
