# expect: status=exception limits: wall_ms=4000
# The attacker wants thirty thousand errors in one to be written out.
raise ExceptionGroup("all", [ValueError(str(i)) for i in range(30_000)])
