# expect: status=ok value=""
# The attacker wants to find what the run before it has left.
import builtins
import json
import os
import sys

found = [p for p in ("/home/vial/left", "/tmp/left", "/dev/left", "/left", "/usr/left", "/home/vial/json.py", "/tmp/left2") if os.path.exists(p)]
found += [name for name in ("LEFT",) if name in os.environ]
found += [name for name in ("evil", "left") if hasattr(builtins, name) or hasattr(json, name)]
found += [name for name in os.listdir("/home/vial") + os.listdir("/tmp") if name != ".tmp"]
",".join(found)
