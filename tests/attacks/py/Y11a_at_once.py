# expect: status=ok limits: memory_mb=64
# The attacker wants more memory at once than there is, by every type.
import array
import mmap

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"

attempts = [
    lambda: bytearray(1 << 40), lambda: bytes(1 << 36), lambda: [0] * 10**10, lambda: "a" * 10**10, lambda: (0,) * 10**11,
    lambda: array.array("d", bytes(8)) * 10**9, lambda: memoryview(bytearray(1 << 33)), lambda: "%1000000000d" % 1, lambda: f"{1:>10000000000}",
    lambda: "x".ljust(10**11), lambda: b"x".zfill(10**11), lambda: " ".join(["x" * 10**6] * 10**6), lambda: "x".replace("x", "y" * 10**10),
    lambda: list(range(10**11)), lambda: bytearray().extend(bytes(10**10)), lambda: 1 << 10**12, lambda: "\t".expandtabs(2**40),
    lambda: "é".encode() * 2**50, lambda: dict.fromkeys(range(10**8)), lambda: mmap.mmap(-1, 1 << 40),
]
came = [outcome(a) for a in attempts]
assert all(c in ("MemoryError", "OverflowError", "ValueError", "OSError") for c in came), came
