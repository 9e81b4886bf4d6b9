# expect: status=exception name=RecursionError
# The attacker wants to run off the end of the stack.
def f(n):
    return f(n + 1)

f(0)
