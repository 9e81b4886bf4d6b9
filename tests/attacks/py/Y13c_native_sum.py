# expect: status=wall_limit limits: wall_ms=120
# The attacker wants a native loop, which no check interrupts, to hold the processor.
sum(range(10**12))
