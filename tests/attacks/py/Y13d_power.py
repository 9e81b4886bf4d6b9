# expect: status=wall_limit|memory_limit limits: wall_ms=120
# The attacker wants one operation with numbers to last for hours.
10**10**8
