# expect: status=crashed|memory_limit|wall_limit|exception limits: wall_ms=400 memory_mb=128
# The attacker wants the host to keep the arguments of calls without end.
import sys

host = sys.modules["_vial_host"]
big = "x" * 10_000_000
while True:
    host.call(0x7FFFFFFF, big, False, False)
