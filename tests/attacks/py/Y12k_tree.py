# expect: status=exception|crashed|memory_limit limits: wall_ms=4000 memory_mb=256
# The attacker wants the compiler to be given a tree that is deeper than its source could be.
import ast

node = ast.Constant(1)
for _ in range(100_000):
    node = ast.UnaryOp(ast.USub(), node)
compile(ast.fix_missing_locations(ast.Expression(node)), "x", "eval")
