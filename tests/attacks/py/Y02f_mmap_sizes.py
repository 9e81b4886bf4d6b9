# expect: status=ok limits: memory_mb=64
# The attacker wants mappings of sizes and places that wrap around.
import mmap

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"

with open("f", "wb") as file:
    file.write(b"x" * 10000)
file = open("f", "r+b")
sizes = [-1, 0, 1, 2**31, 2**47, 2**62, 2**63 - 1, 2**64]
came = [outcome(lambda n=n: mmap.mmap(-1, n)) for n in sizes]
came += [outcome(lambda n=n: mmap.mmap(file.fileno(), n)) for n in sizes]
came += [outcome(lambda n=n: mmap.mmap(file.fileno(), 1, offset=n)) for n in (4096, 1, 2**62, 2**63 - 4096, -4096)]
m = mmap.mmap(file.fileno(), 8192)
came += [outcome(lambda n=n: m.resize(n)) for n in (1, 2**40, 2**62, 0, 4096)]
came += [outcome(lambda: m.move(0, 1, 2**62)), outcome(lambda: m.flush(2**40, 1)), outcome(lambda: m[: 2**40])]
file.truncate(0)
came.append(outcome(lambda: bytes(m)))
",".join(came)
