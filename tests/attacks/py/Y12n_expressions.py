# expect: status=ok limits: wall_ms=4000 memory_mb=256
# The attacker wants the compiler of regular expressions to recurse without end.
import re

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"

attempts = [
    lambda: re.compile("(" * 50_000 + ")" * 50_000), lambda: re.compile("(?:" * 20_000 + "x" + ")" * 20_000), lambda: re.compile("x{2147483647}{2147483647}"),
    lambda: re.compile("(a|" * 5000), lambda: re.compile("[" * 10_000), lambda: re.match("(" * 90 + "a" + ")*" * 90, "a" * 20 + "b"),
]
",".join(outcome(a) for a in attempts)
