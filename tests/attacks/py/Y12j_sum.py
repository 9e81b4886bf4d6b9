# expect: status=exception|crashed|memory_limit limits: wall_ms=4000 memory_mb=256
# The attacker wants the compiler to recurse into a sum of a hundred thousand.
compile("+".join("1" * 100_000), "x", "eval")
