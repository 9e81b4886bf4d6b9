# expect: status=exception|crashed|memory_limit limits: wall_ms=4000 memory_mb=256
# The attacker wants the parser to recurse into blocks in blocks.
compile("".join(" " * i + "if 1:\n" for i in range(5000)) + " " * 5000 + "pass", "x", "exec")
