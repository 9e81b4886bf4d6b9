# expect: status=ok limits: wall_ms=4000 memory_mb=256
# The attacker wants native code to recurse into lists in lists.
import copy
import json
import marshal
import pickle

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"

value = []
for _ in range(100_000):
    value = [value]
attempts = [
    lambda: repr(value), lambda: json.dumps(value), lambda: pickle.dumps(value), lambda: copy.deepcopy(value), lambda: marshal.dumps(value),
    lambda: hash(tuple(value)), lambda: value == [value], lambda: json.loads("[" * 100_000), lambda: json.loads("{\"a\":" * 100_000),
]
came = [outcome(a) for a in attempts]
assert "done" not in came[:5], came
