# expect: status=exception
# The attacker wants the runtime to follow an error that is its own cause.
a, b = ValueError("a"), ValueError("b")
a.__cause__, b.__cause__ = b, a
a.__context__, b.__context__ = b, a
raise a
