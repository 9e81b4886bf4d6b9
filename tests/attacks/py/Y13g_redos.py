# expect: status=wall_limit limits: wall_ms=120
# The attacker wants a match of a small expression to take for ever.
import re

re.match(r"(a+)+$", "a" * 50 + "b")
