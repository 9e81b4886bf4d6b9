# expect: status=memory_limit|wall_limit limits: wall_ms=120 memory_mb=64
# The attacker wants to go on for ever where memory ends, by catching that.
kept = []
while True:
    try:
        kept.append(bytearray(100_000))
    except MemoryError:
        pass
