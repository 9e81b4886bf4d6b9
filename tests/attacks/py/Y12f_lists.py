# expect: status=exception|crashed|memory_limit limits: wall_ms=4000 memory_mb=256
# The attacker wants the parser to recurse into lists in lists.
compile("[" * 150 + "]" * 150, "x", "eval")
compile("[" * 100_000, "x", "eval")
