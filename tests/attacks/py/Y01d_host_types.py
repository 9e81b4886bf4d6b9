# expect: status=ok value="TypeError,TypeError,TypeError,TypeError,OverflowError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError"
# The attacker wants the module between it and the host to trip over arguments of wrong kinds.
import sys

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"

host = sys.modules["_vial_host"]
attempts = [
    lambda: host.call(),
    lambda: host.call(0),
    lambda: host.call(0, {}, True, True, True),
    lambda: host.call("0", {}, True, True),
    lambda: host.call(1 << 80, {}, True, True),
    lambda: host.call(None, {}, True, True),
    lambda: host.answers("soon"),
    lambda: host.artifact(),
    lambda: host.artifact(1, []),
    lambda: host.artifact("x", ()),
    lambda: host.artifact("x", [("text/plain", "not bytes")]),
]
",".join(outcome(a) for a in attempts)
