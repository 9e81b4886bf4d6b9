# expect: status=exception|crashed
# The attacker wants to describe its error by things that are none of what they should be.
import sys

class Text(str):
    def __len__(self):
        return -1

    def encode(self, *args):
        return 5

def lie(error, name):
    return (Text("\ud800\x00\x1b"), None, 5, b"x", -1, 2**80, object(), [None, (), ("a", "b", "c", "d"), (1, 2, 3)])

sys.modules["_vial.errors"].describe = lie
1 / 0
