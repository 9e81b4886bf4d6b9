# expect: status=crashed|exception|memory_limit limits: wall_ms=4000 memory_mb=256
# The attacker wants the native stack to overflow, through calls that go by C.
import sys

sys.setrecursionlimit(2**31 - 1)

class Deep:
    def __repr__(self):
        return repr([self])

    def __getattr__(self, name):
        return getattr(self, name + "x")

repr(Deep())
