# expect: status=ok|exception|crashed
# The attacker wants the runtime to miss everything that is built in.
import builtins

for name in list(vars(builtins)):
    if name not in ("print",):
        vars(builtins)[name] = None
5
