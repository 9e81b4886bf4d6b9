# expect: status=wall_limit limits: wall_ms=120
# The attacker wants the runtime to ask its error for a text, for ever.
class Bad(Exception):
    def __str__(self):
        while True:
            pass

raise Bad
