# expect: status=ok|wall_limit|output_limit limits: wall_ms=1000
# The attacker wants a frame for every byte.
import os

for _ in range(20_000):
    os.write(1, b"x")
    os.write(2, b"")
