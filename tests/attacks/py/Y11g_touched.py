# expect: status=ok|memory_limit limits: memory_mb=64
# The attacker wants all memory, by mappings that it writes to.
import mmap

kept = []
try:
    while True:
        kept.append(mmap.mmap(-1, 1 << 20))
        kept[-1][:] = b"x" * (1 << 20)
except (OSError, MemoryError):
    pass
