# expect: status=ok|exception out=** limits: wall_ms=2000 disk_bytes=8388608 files=2000
# The attacker wants the host to collect more than there may be.
import os

try:
    for i in range(100_000):
        os.makedirs(f"d{i % 50}", exist_ok=True)
        with open(f"d{i % 50}/{i}\x1b[31m\n{i}", "wb") as file:
            file.write(b"x" * 10_000)
except OSError:
    pass
