# expect: status=crashed|exception|memory_limit|ok limits: memory_mb=96
# The attacker wants the function that describes errors to be its own code.
import sys

def lie(error, name):
    text = "x" * 50_000_000
    return (text, text, text, text, 2**70, -1, text, [(text, 2**80, -5, text)] * 1000)

sys.modules["_vial.errors"].describe.__code__ = lie.__code__
raise ValueError("true")
