# expect: status=crashed|ok|wall_limit limits: wall_ms=500
# The attacker wants to look at the host's files by the number of the tool that does it.
import sys

host = sys.modules["_vial_host"]
seen = []
for value in ({}, "../../../../etc/passwd", [0] * 100, "\0" * 4000, 1, None):
    try:
        seen.append(host.wait(host.call(0x7FFFFFFF, value, True, True)))
    except Exception as error:
        seen.append(type(error).__name__)
"root:" in str(seen)
