# expect: status=wall_limit|memory_limit limits: wall_ms=120
# The attacker wants a decimal of a billion digits.
import decimal

decimal.getcontext().prec = decimal.MAX_PREC
decimal.Decimal(1) / 3
