# expect: status=crashed|exception|memory_limit limits: memory_mb=256
# The attacker wants to describe its error itself, with ten thousand frames.
import sys

def lie(error, name):
    return ("Error", "m", "s", "h", 1, 1, "f", [("f", 1, 1, "f")] * 10_000)

sys.modules["_vial.errors"].describe = lie
1 / 0
