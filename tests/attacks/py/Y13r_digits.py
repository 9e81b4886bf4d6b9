# expect: status=wall_limit limits: wall_ms=120
# The attacker wants the conversion of numbers to texts without its limit.
import sys

sys.set_int_max_str_digits(0)
str(3 ** (10**8))
