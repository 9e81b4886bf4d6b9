"""conftest.py - what the integration tests share: the built program, as the caller and as a plain user.

VIAL_BUILD names the build directory (default: build). A test that takes the fixture `vial` runs as who we
are; one that is marked `everyone` runs a second time as an unprivileged user when we are root. A test that
is marked `slow` or `guest` is left out of the sanitizer build.
"""

import ctypes
import errno
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("VIAL_BUILD", ROOT / "build")).resolve()
NOBODY = 65534
PR_SET_CHILD_SUBREAPER = 36

# Who loses its parent becomes our child, so that nothing a run leaves behind can hide.
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: is left out of the sanitizer build")
    config.addinivalue_line("markers", "guest: is about what runs in the cell, which has no sanitizers")
    config.addinivalue_line("markers", "everyone: runs also as a plain user when we are root")


def pytest_generate_tests(metafunc):
    if "vial" in metafunc.fixturenames:
        users = ["self"]
        if os.geteuid() == 0 and metafunc.definition.get_closest_marker("everyone"):
            users.append("nobody")
        metafunc.parametrize("vial", users, indirect=True)


def children_of(pid):
    """The process numbers of all descendants of a process."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            text = pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text()
            found += [int(word) for word in text.split()]
    except OSError:
        return found
    return found + [below for child in found for below in children_of(child)]


def is_alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError as error:
        assert error.errno in (errno.ENOENT, errno.ESRCH)
        return False
    return state != "Z"


def wait_until(condition, seconds=5.0):
    """Waits for a condition to become true; its last value."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


class Vial:
    """The program, with the words that every call of it begins with."""

    def __init__(self, directory, prefix=()):
        self.directory = pathlib.Path(directory)
        self.prefix = list(prefix)
        self.is_root = os.geteuid() == 0 and not prefix

    def command(self, *args):
        return [*self.prefix, str(self.directory / "vial"), *map(str, args)]

    def __call__(self, *args, stdin="", timeout=60, **more):
        """Runs to the end: a completed process with texts."""
        return subprocess.run(self.command(*args), input=stdin, capture_output=True, timeout=timeout,
                              encoding="utf-8", errors="surrogateescape", check=False, **more)

    def start(self, *args, **more):
        """Starts; a Popen with text pipes."""
        return subprocess.Popen(self.command(*args), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, encoding="utf-8", **more)

    def result(self, *args, **more):
        """Runs `vial run --json ...`: the result object."""
        done = self("run", "--json", *args, **more)
        assert done.stdout, f"no result; stderr: {done.stderr}"
        return json.loads(done.stdout)

    def value(self, code):
        """The value of a program that must go well."""
        result = self.result("-e", code)
        assert result["status"] == "ok", result["error"]
        return result["value"]


@pytest.fixture(scope="session")
def public_directory():
    """A copy of the programs that everybody may read and execute."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="vial-public-"))
    directory.chmod(0o755)
    for path in [BUILD / "vial", BUILD / "vial-cell-js", BUILD / "vial-cell-python", *BUILD.glob("libvial.so*")]:
        if path.is_file():
            shutil.copy(path, directory, follow_symlinks=False)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def vial(request):
    """The program; as a plain user when the parameter says so."""
    assert (BUILD / "vial").exists(), f"there is no {BUILD}/vial; build first"
    if getattr(request, "param", "self") == "nobody":
        directory = request.getfixturevalue("public_directory")
        return Vial(directory, ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"])
    return Vial(BUILD)


@pytest.fixture
def folder():
    """A directory for files of a test that every user can read."""
    with tempfile.TemporaryDirectory(prefix="vial-test-") as name:
        path = pathlib.Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture(autouse=True)
def nothing_is_left():
    """After each test: no process that any run started is still alive. Dead ones are ours to reap."""
    yield

    def is_childless():
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return True
        return False

    assert wait_until(is_childless), f"left behind: {children_of(os.getpid())}"
