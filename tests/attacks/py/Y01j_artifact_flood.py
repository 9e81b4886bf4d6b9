# expect: status=ok limits: wall_ms=2000
# The attacker wants the host to keep twenty thousand artifacts.
import sys

artifact = sys.modules["_vial_host"].artifact
for i in range(20_000):
    artifact(f"a{i}", [("text/plain", b"x")])
