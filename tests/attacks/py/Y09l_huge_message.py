# expect: status=exception|memory_limit limits: memory_mb=256
# The attacker wants a message of sixty million characters in a log.
raise ValueError("x" * 60_000_000)
