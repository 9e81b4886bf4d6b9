# expect: status=ok value=0
# The attacker wants code or data of the host by the ways that imports have.
import importlib.machinery
import importlib.util
import runpy
import sys
import zipimport

plain = sys.modules["_vial.imports"].plain_import
got = 0
paths = ["/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/self/maps", "/root/.bashrc", "/usr/bin/python3",
    "/usr/lib/python3.11/../../../etc/passwd", "/usr/lib/python3/dist-packages/numpy/__init__.py",
    "/usr/share/zoneinfo/../../../etc/passwd", "/usr/lib/python3.11/sitecustomize.py", "/etc/python3.11/sitecustomize.py"]
for path in paths:
    attempts = [
        lambda: importlib.machinery.SourceFileLoader("x", path).get_data(path),
        lambda: importlib.machinery.SourceFileLoader("x", path).load_module(),
        lambda: importlib.machinery.SourcelessFileLoader("x", path).load_module(),
        lambda: zipimport.zipimporter(path),
        lambda: runpy.run_path(path),
        lambda: open(path, "rb").read(1),
        lambda: plain("linecache").getlines(path)[0],
        lambda: plain("tokenize").open(path),
    ]
    for attempt in attempts:
        try:
            attempt()
            got += 1
        except BaseException:
            pass
got
