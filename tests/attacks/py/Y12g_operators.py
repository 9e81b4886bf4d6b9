# expect: status=exception|crashed|memory_limit limits: wall_ms=4000 memory_mb=256
# The attacker wants the compiler to recurse into a chain of operators.
compile("-" * 100_000 + "1", "x", "eval")
