# expect: status=wall_limit limits: wall_ms=120
# The attacker wants to go on inside of the value that is waited for.
class Later:
    def __await__(self):
        while True:
            yield None

Later()
