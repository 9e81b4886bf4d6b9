# expect: status=ok value=0
# The attacker wants to read beside a file of the library by strange offsets.
import os

got = 0
fd = os.open("/usr/lib/python3.11/json/__init__.py", os.O_RDONLY)
for offset in (2**31, 2**40, 2**62, 2**63 - 1):
    try:
        got += len(os.pread(fd, 100, offset))
    except OSError:
        pass
    try:
        os.lseek(fd, offset, os.SEEK_SET)
        got += len(os.read(fd, 1 << 20))
    except OSError:
        pass
for path in ("/usr/lib/python3.11/json/__init__.py/", "/usr/lib/python3.11/json/__init__.py/..", "/usr/lib/python3.11/\udcff",
        "/usr/lib/python3.11/" + "x" * 5000, "/usr/lib/python3.11/" + "./" * 5000 + "os.py", "/usr/lib/python3.11/.."):
    try:
        got += len(open(path).read())
    except OSError:
        pass
got
