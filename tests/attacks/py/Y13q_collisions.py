# expect: status=wall_limit limits: wall_ms=120
# The attacker wants a table whose keys are all in one place.
table = {}
for i in range(10**6):
    table[i * (2**61 - 1)] = i
    table[(2**61 - 1) * i + 0.0 if i < 900 else i * (2**61 - 1)] = i
