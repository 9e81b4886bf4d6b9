# expect: status=wall_limit limits: wall_ms=120
# The attacker wants to go on in what is done at the end.
import atexit

@atexit.register
def stay():
    while True:
        pass

1
