# expect: status=exception|crashed limits: wall_ms=4000
# The attacker wants errors in errors, deeper than any stack.
error = ValueError("x")
for _ in range(20_000):
    error = ExceptionGroup("g", [error])
raise error
