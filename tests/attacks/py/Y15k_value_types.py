# expect: status=ok|exception|crashed
# The attacker wants a value of types that lie about what they hold.
class Text(str):
    def encode(self, *args):
        return b"\xff"

    def __str__(self):
        return "forged"

    __repr__ = __str__

class Number(int):
    def __repr__(self):
        return '1,"forged":2'

    __str__ = __index__ = __int__ = __repr__

class Real(float):
    def __repr__(self):
        return "1}"

class Table(dict):
    def items(self):
        while True:
            yield "a", self

    def __iter__(self):
        return iter([self])

    def __len__(self):
        return 2**62

class Row(list):
    def __iter__(self):
        self.append(self)
        return iter([1])

    def __len__(self):
        return -1

{Text("a"): Number(5), "r": Real(1.5), "n": float("nan"), "i": float("-inf"), "big": 10**400, "b": b"\xff", "l": Row([1, 2]), "u": "\ud800"}
