"""test_levels.py - what is left of the wall where the kernel gives less: no user namespaces at all.

A user namespace with a limit of none below it is such a kernel for everything inside.
"""

import json
import os
import pathlib
import subprocess

import pytest

from conftest import NOBODY, Vial

# Waits for its map, becomes user 0 with all privileges by executing once more, and forbids further ones.
SCRIPT = """
read -r go
exec sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@" </dev/null' sh "$@"
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can map all users into a namespace")


def run_without_namespaces(command):
    process = subprocess.Popen(["unshare", "-U", "sh", "-c", SCRIPT, "sh", *command],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               encoding="utf-8")
    own = pathlib.Path("/proc/self/ns/user").readlink()
    while pathlib.Path(f"/proc/{process.pid}/ns/user").readlink() == own:
        pass
    for name in ("uid_map", "gid_map"):
        pathlib.Path(f"/proc/{process.pid}/{name}").write_text("0 0 70000\n")
    stdout, stderr = process.communicate("go\n", timeout=60)
    return process.returncode, stdout, stderr


@pytest.fixture(params=["root", "nobody"])
def prefix(request):
    if request.param == "root":
        return []
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def test_without_user_namespaces_it_is_filtered_and_says_so(prefix, public_directory):
    vial = Vial(public_directory, prefix)
    code, stdout, stderr = run_without_namespaces(vial.command("run", "--json", "-e", "6 * 7"))
    if code == 126:
        pytest.skip(f"this kernel has not even the lowest level: {stderr}")
    assert code == 0, stderr
    assert "filtered" in stderr and "--require" in stderr
    result = json.loads(stdout)
    assert result["value"] == 42
    assert result["isolation"]["level"] == "filtered"
    states = {layer["name"]: layer["state"] for layer in result["isolation"]["layers"]}
    assert states["userns"] == "off"
    for name in ("descriptors", "no-new-privs", "capabilities", "landlock", "rlimits", "seccomp"):
        assert states[name] == "proven"


def test_user_0_of_somebody_else_s_namespace_stays_it(public_directory):
    """`unshare -Ur` as a plain user: there is nobody else to become, and nothing to gain."""
    inside = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "unshare", "-Ur",
              "sh", "-c", inside, "sh"]
    done = Vial(public_directory, prefix)("run", "--json", "-e", "6 * 7")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["isolation"]["level"] == "filtered"


def test_user_0_that_is_user_0_outside_is_refused_with_the_step(public_directory):
    inside = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    done = Vial(public_directory, ["unshare", "-Ur", "sh", "-c", inside, "sh"])("run", "-e", "1")
    assert done.returncode == 126
    assert '"user"' in done.stderr


def test_who_requires_more_is_refused(prefix, public_directory):
    vial = Vial(public_directory, prefix)
    code, stdout, stderr = run_without_namespaces(
        vial.command("run", "--require", "rootless", "-e", "1"))
    assert (code, stdout) == (126, "")
    assert "rootless" in stderr


def test_limits_hold_there_too(prefix, public_directory):
    vial = Vial(public_directory, prefix)
    for flags, program, status in (
            (["--wall-ms", 200], "for (;;) {}", 124), (["--cpu-ms", 200], "for (;;) {}", 152),
            (["--memory-mb", 32], "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", 137)):
        code, _, stderr = run_without_namespaces(vial.command("run", *flags, "-e", program))
        assert code == status, stderr
