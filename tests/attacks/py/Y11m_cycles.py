# expect: status=memory_limit|wall_limit limits: wall_ms=1000 memory_mb=48
# The attacker wants rubbish that is never collected.
import gc

gc.disable()
while True:
    a = [bytes(1000)]
    a.append(a)
