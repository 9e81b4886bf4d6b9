# expect: status=wall_limit limits: wall_ms=120
# The attacker wants to wait in the kernel on nothing.
import select

select.poll().poll()
