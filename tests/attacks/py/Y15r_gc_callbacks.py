# expect: status=ok|exception|crashed
# The attacker wants to be called by the collector in the middle of the runtime.
import gc
import weakref

class Weak:
    pass

def bad(*args):
    raise SystemExit("collected")

gc.callbacks.append(bad)
gc.set_threshold(1, 1, 1)
kept = Weak()
weakref.finalize(kept, bad)
{"a": [Weak for _ in range(1000)] and 1}
