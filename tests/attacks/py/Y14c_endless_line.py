# expect: status=ok dropped=1 limits: wall_ms=4000 stdout_bytes=100000
# The attacker wants one line without an end.
print("x" * 1_000_000, end="")
