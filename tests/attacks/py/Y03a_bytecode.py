# expect: status=crashed|exception|ok
# The attacker wants the interpreter to execute instructions that no compiler makes.
import dis

def f(a):
    return a

code = f.__code__
f.__code__ = code.replace(
    co_code=bytes([dis.opmap["EXTENDED_ARG"], 255] * 3 + [dis.opmap["LOAD_CONST"], 255, dis.opmap["RETURN_VALUE"], 0]),
    co_stacksize=1,
)
f(1)
