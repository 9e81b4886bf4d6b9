# expect: status=ok value=0
# The attacker wants a library that it wrote itself to be loaded.
import importlib.machinery
import importlib.util
import shutil

loaded = 0
with open("evil.so", "wb") as file:
    file.write(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\0\x3e\0\x01\0\0\0" + bytes(4096))
for source in ("evil.so", "/home/vial/evil.so", "/lib/x86_64-linux-gnu/libc.so.6", "/proc/self/exe", "libc.so.6"):
    loader = importlib.machinery.ExtensionFileLoader("evil", source)
    try:
        importlib.util.module_from_spec(importlib.util.spec_from_file_location("evil", source, loader=loader))
        loaded += 1
    except ImportError:
        pass
loaded
