# expect: status=crashed
# The attacker wants to call a tool where the host has given none.
import sys

host = sys.modules["_vial_host"]
host.wait(host.call(0, {"sql": "drop table users"}, False, True))
