# expect: status=ok value="ValueError,ValueError,ValueError,ValueError,ValueError,ValueError,ValueError,UnicodeEncodeError"
# The attacker wants an artifact that is a path, drives a terminal or has lines in its type.
import sys

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"

artifact = sys.modules["_vial_host"].artifact
part = [("text/plain", b"x")]
attempts = [
    lambda: artifact("../../etc/passwd", part),
    lambda: artifact("/etc/passwd", part),
    lambda: artifact("\x1b]0;owned\x07", part),
    lambda: artifact("a\0b", part),
    lambda: artifact("x" * 100_000, part),
    lambda: artifact("x", [("text/plain\r\nX-Evil: 1", b"x")]),
    lambda: artifact("x", part * 100),
    lambda: artifact("\ud800", part),
]
",".join(outcome(a) for a in attempts)
