# expect: status=ok|exception|crashed
# The attacker wants the runtime to work with another program's module.
import sys
import types

main = sys.modules["__main__"]

class Evil(types.ModuleType):
    def __getattribute__(self, name):
        raise SystemExit(name)

    __setattr__ = __getattribute__

main.__class__ = Evil
sys.modules["_vial.run"].main = None
sys.modules["_vial.run"].__class__ = Evil
vars(sys.modules["_vial.errors"])["cut"] = 5
1 / 0
