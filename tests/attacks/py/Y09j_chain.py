# expect: status=exception limits: wall_ms=4000
# The attacker wants a chain of twenty thousand causes to be written out.
error = ValueError("first")
for i in range(20_000):
    after = ValueError(str(i))
    after.__cause__ = error
    after.__context__ = error
    error = after
raise error
