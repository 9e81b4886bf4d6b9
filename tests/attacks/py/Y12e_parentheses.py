# expect: status=exception|crashed|memory_limit limits: wall_ms=4000 memory_mb=256
# The attacker wants the parser to recurse into a hundred thousand parentheses.
compile("(" * 100_000 + ")" * 100_000, "x", "eval")
