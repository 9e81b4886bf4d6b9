# expect: status=exception|memory_limit|wall_limit limits: wall_ms=200 memory_mb=256
# The attacker wants a small graph of shared lists to become a terabyte of text.
value = [0] * 10
for _ in range(12):
    value = [value] * 10
value
