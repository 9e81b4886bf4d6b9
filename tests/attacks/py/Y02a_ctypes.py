# expect: status=ok value=0
# The attacker wants ctypes, by every way to import there is.
import importlib
import importlib.machinery
import importlib.util
import sys

def find_library(name):
    found = []
    for path in ("/usr/lib/python3.11/lib-dynload", "/usr/lib/python3.11"):
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            found.append(f"{path}/{name}{suffix}")
    return found

def by_spec(name, file):
    loader = importlib.machinery.ExtensionFileLoader(name, file)
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    return importlib.util.module_from_spec(spec)

plain = sys.modules["_vial.imports"].plain_import
attempts = [
    lambda: __import__("ctypes"),
    lambda: importlib.import_module("_ctypes"),
    lambda: plain("ctypes"),
    lambda: plain("_ctypes"),
    lambda: importlib._bootstrap._gcd_import("_ctypes"),
    lambda: sys.modules["_imp"].create_builtin(importlib.machinery.ModuleSpec("_ctypes", None)).dlopen,
]
for file in find_library("_ctypes"):
    attempts.append(lambda file=file: by_spec("_ctypes", file))
loaded = 0
for attempt in attempts:
    try:
        attempt()
        loaded += 1
    except Exception:
        pass
loaded + ("_ctypes" in sys.modules)
