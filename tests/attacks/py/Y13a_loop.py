# expect: status=wall_limit limits: wall_ms=120
# The attacker wants a processor for ever.
while True:
    pass
