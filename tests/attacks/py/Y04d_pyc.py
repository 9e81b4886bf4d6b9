# expect: status=ok|crashed|exception
# The attacker wants code of its own making to be taken for compiled code.
import importlib.util
import marshal
import os
import sys

code = compile("def f(): pass", "x.py", "exec")
bad = bytearray(marshal.dumps(code))
bad[20:40] = b"\xff" * 20
os.makedirs("__pycache__")
open("x.py", "w").write("1")
status = os.stat("x.py")
head = importlib.util.MAGIC_NUMBER + bytes(4) + int(status.st_mtime).to_bytes(4, "little") + status.st_size.to_bytes(4, "little")
open(importlib.util.cache_from_source("x.py"), "wb").write(head + bytes(bad))
sys.path.insert(0, "")
import x
