# expect: status=memory_limit|exception|ok limits: wall_ms=2000 memory_mb=64
# The attacker wants to live at the very end of memory.
kept = []
for _ in range(2000):
    try:
        kept.append(bytearray(1 << 20))
    except MemoryError:
        try:
            while True:
                kept.append(bytearray(1000))
        except MemoryError:
            pass
        break
[object() for _ in range(1000)]
