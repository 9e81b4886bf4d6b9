# expect: status=ok limits: memory_mb=64
# The attacker wants a pickle that says it is larger than memory.
import pickle

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"

attempts = [
    lambda: pickle.loads(b"\x80\x04\x8e" + (2**62).to_bytes(8, "little") + b"x."),
    lambda: pickle.loads(b"\x80\x04\x95" + (2**63 - 1).to_bytes(8, "little") + b"x."),
    lambda: pickle.loads(b"\x80\x05\x96" + (2**40).to_bytes(8, "little") + b"x."),
    lambda: pickle.loads(b"r\xff\xff\xff\x7f."),
    lambda: pickle.loads(b"Nr\xff\xff\xff\x0f."),
    lambda: pickle.loads(b"\x8b\xff\xff\xff\x7f."),
]
",".join(outcome(a) for a in attempts)
