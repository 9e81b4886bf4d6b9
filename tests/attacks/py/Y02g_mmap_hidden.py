# expect: status=ok value=0 limits: memory_mb=64
# The attacker wants memory that could be shared, whose pages stay uncounted when they are let go of.
import mmap

MEBIBYTE = 1 << 20
kept = 0
for size in (256 * MEBIBYTE, 16 * MEBIBYTE):
    try:
        memory = mmap.mmap(-1, size)
    except OSError:
        continue
    for at in range(0, size, MEBIBYTE):
        memory[at] = 1
        memory.madvise(mmap.MADV_DONTNEED, at, MEBIBYTE)
    kept += sum(memory[at] for at in range(0, size, MEBIBYTE))
kept
