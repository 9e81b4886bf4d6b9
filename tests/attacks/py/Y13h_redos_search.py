# expect: status=wall_limit limits: wall_ms=120
# The attacker wants the same in a search with alternatives and a reference back.
import re

re.search(r"(x|xx|xxx)*(\1y)+(x+x+)+z", "x" * 60)
