# expect: status=ok|exception|crashed limits: memory_mb=96
# The attacker wants a mapping whose file has gone, shrunk or is mapped a thousand times.
import mmap
import os

with open("m", "wb") as file:
    file.write(b"x" * 100_000)
maps = []
fd = os.open("m", os.O_RDWR)
try:
    for _ in range(1000):
        maps.append(mmap.mmap(fd, 100_000))
except (OSError, MemoryError):
    pass
os.ftruncate(fd, 10)
os.remove("m")
os.close(fd)
for m in maps:
    m[50_000] = 65
    m.flush()
