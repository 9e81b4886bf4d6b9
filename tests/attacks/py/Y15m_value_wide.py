# expect: status=exception|memory_limit limits: wall_ms=4000 memory_mb=512
# The attacker wants a value of three million members in the host's memory.
list(range(3_000_000))
