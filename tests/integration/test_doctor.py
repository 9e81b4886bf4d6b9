"""test_doctor.py - `vial doctor` tells which layers of the wall hold here, for people and for programs."""

import json

import pytest

LAYERS = {"userns", "private-uid", "private-root", "pidns", "netns", "ipcns", "utsns", "cgroupns",
          "descriptors", "no-new-privs", "capabilities", "landlock", "rlimits", "seccomp", "cgroup.memory",
          "cgroup.pids"}
BASIS = {"descriptors", "no-new-privs", "capabilities", "rlimits", "seccomp"}


@pytest.mark.everyone
def test_as_json(vial):
    done = vial("doctor", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {"level", "isolation", "checks"} <= set(report)
    assert report["level"] in ("full", "rootless", "filtered")
    states = {layer["name"]: layer["state"] for layer in report["isolation"]["layers"]}
    assert set(states) == LAYERS
    assert "broken" not in states.values()
    assert all(states[name] == "proven" for name in BASIS)
    assert report["isolation"]["level"] == report["level"]
    assert report["checks"]
    for check in report["checks"]:
        assert check["passed"] is True, check


@pytest.mark.everyone
def test_as_text(vial):
    done = vial("doctor")
    assert done.returncode == 0, done.stderr
    for name in LAYERS:
        assert name in done.stdout
    assert json.loads(vial("doctor", "--json").stdout)["level"] in done.stdout


def test_a_run_reports_the_same_level(vial):
    report = json.loads(vial("doctor", "--json").stdout)
    assert vial.result("-e", "1")["isolation"]["level"] == report["level"]


@pytest.mark.parametrize("args", [["--frob"], ["word"], ["--json=1"]])
def test_arguments_that_make_no_sense(vial, args):
    done = vial("doctor", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


def test_help(vial):
    done = vial("doctor", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--json" in done.stdout
