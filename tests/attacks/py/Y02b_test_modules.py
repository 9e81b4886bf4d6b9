# expect: status=ok value=0
# The attacker wants modules that were made to test the interpreter, and can do anything.
import importlib
import sys

plain = sys.modules["_vial.imports"].plain_import
loaded = []
for name in ("_testcapi", "_testinternalcapi", "_ctypes_test", "_testmultiphase", "_testbuffer", "_xxtestfuzz", "xxlimited"):
    for attempt in (importlib.import_module, plain):
        try:
            attempt(name)
            loaded.append(name)
        except Exception:
            pass
len(loaded)
