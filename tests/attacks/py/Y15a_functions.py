# expect: status=ok|exception|crashed
# The attacker wants the runtime's own functions to be its own.
import sys

run, errors, imports = (sys.modules["_vial." + name] for name in ("run", "errors", "imports"))
for module in (run, errors, imports, sys.modules["_vial.display"]):
    for name, value in list(vars(module).items()):
        if callable(value) and not name.startswith("__"):
            setattr(module, name, lambda *args, **named: ("x" * 10_000_000, [None] * 1000))
5
