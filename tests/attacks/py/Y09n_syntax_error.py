# expect: status=exception
# The attacker wants an error of the grammar at places that do not exist.
raise SyntaxError("x" * 100_000, ("f" * 100_000, -(2**70), 2**70, "t" * 1_000_000, 10**30, -1))
