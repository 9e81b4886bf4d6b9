# expect: status=wall_limit limits: wall_ms=120
# The attacker wants the same without memory.
pow(3, 10**100_000, 10**100_000 + 7)
