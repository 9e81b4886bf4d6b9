# expect: status=crashed|exception|ok
# The attacker wants the interpreter to use a stack that is too small.
import dis

def f():
    return [1, 2, 3]

f.__code__ = f.__code__.replace(co_code=bytes([dis.opmap["POP_TOP"], 0] * 5000 + [dis.opmap["RETURN_VALUE"], 0]), co_stacksize=0)
f()
