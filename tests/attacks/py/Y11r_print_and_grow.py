# expect: status=memory_limit|output_limit|wall_limit limits: wall_ms=2000 memory_mb=64
# The attacker wants memory while the host is kept busy reading.
kept = []
while True:
    kept.append(bytes(100_000))
    print(len(kept))
