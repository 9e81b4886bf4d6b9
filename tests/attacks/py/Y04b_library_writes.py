# expect: status=ok value=0
# The attacker wants the library of the next run to be its own, by files in the directories that are served.
import os

done = 0
targets = ["/usr/lib/python3.11/sitecustomize.py", "/usr/lib/python3.11/usercustomize.py", "/usr/lib/python3.11/evil.pth",
    "/usr/lib/python3.11/json/__init__.py", "/usr/lib/python3.11/__pycache__/json.cpython-311.pyc",
    "/usr/lib/python3.11/new.py", "/usr/share/zoneinfo/UTC", "/usr/lib/python3.11/lib-dynload/_ctypes.so"]
for path in targets:
    attempts = [
        lambda: open(path, "w"),
        lambda: open(path, "a"),
        lambda: open(path, "r+"),
        lambda: os.open(path, os.O_RDWR | os.O_CREAT),
        lambda: os.open(path, os.O_RDONLY | os.O_TRUNC),
        lambda: os.remove(path),
        lambda: os.rename(path, "/home/vial/x"),
        lambda: os.truncate(path, 0),
        lambda: os.chmod(path, 0o777),
        lambda: os.utime(path),
        lambda: os.symlink("/home/vial", path),
        lambda: os.link(path, "/home/vial/link"),
        lambda: os.mkdir(path + "d"),
    ]
    for attempt in attempts:
        try:
            attempt()
            done += 1
        except OSError:
            pass
for path in ("/usr/lib/python3.11", "/usr/lib", "/usr", "/usr/share/zoneinfo"):
    for attempt in (os.rmdir, lambda p: os.rename(p, "/home/vial/lib"), lambda p: os.symlink("/home/vial", p)):
        try:
            attempt(path)
            done += 1
        except OSError:
            pass
done
