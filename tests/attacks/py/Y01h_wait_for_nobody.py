# expect: status=wall_limit limits: wall_ms=120
# The attacker wants an answer to a question that it never asked.
import sys

sys.modules["_vial_host"].wait(12345)
