"""The tests of the Python binding: they use the package as the build left it in BUILD/python."""

import asyncio
import inspect
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = (ROOT / os.environ.get("VIAL_BUILD", "build")).resolve()
PACKAGE = BUILD / "python"
sys.path.insert(0, str(PACKAGE))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Coroutines are tests, too; each has a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


# What a script prints as its last line, when it wants to be checked for what it leaves behind.
TELL_CHILDREN = """
def descendants():
    import os
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
    found, level = [], {os.getpid()}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level}
        found += level
    return found
"""


def environment():
    made = dict(os.environ, PYTHONPATH=str(PACKAGE), PYTHONDONTWRITEBYTECODE="1")
    made.pop("LD_LIBRARY_PATH", None)
    return made


def run_script(source, *, timeout=60, python="/usr/bin/python3", **options):
    return subprocess.run([python, "-c", TELL_CHILDREN + source], capture_output=True, text=True, timeout=timeout,
                          env=environment(), **options)


def wait_until_gone(pids, seconds=5.0):
    """Those that are still there after so long."""
    until = time.monotonic() + seconds
    while True:
        left = [pid for pid in pids if os.path.exists(f"/proc/{pid}") and not is_zombie(pid)]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.05)


def is_zombie(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def last_json(done):
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="session")
def build():
    return BUILD
