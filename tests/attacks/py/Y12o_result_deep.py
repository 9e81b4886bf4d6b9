# expect: status=exception|crashed|memory_limit limits: wall_ms=4000 memory_mb=256
# The attacker wants the runtime to recurse into the value of the run.
value = []
for _ in range(200_000):
    value = [value]
value
