# expect: status=ok|memory_limit limits: memory_mb=64
# The attacker wants all address space, by mappings that it never touches.
import mmap

kept = []
try:
    for _ in range(20_000):
        kept.append(mmap.mmap(-1, 1 << 30))
except (OSError, MemoryError):
    pass
len(kept) < 20_000
