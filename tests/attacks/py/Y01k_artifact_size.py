# expect: status=ok|memory_limit limits: wall_ms=2000 memory_mb=256
# The attacker wants the host to keep artifacts of gigabytes.
import sys

artifact = sys.modules["_vial_host"].artifact
for i in range(1000):
    artifact(None, [("application/octet-stream", bytes(50_000_000))])
