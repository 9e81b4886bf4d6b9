"""test_bench.py - `vial bench` gives numbers that a program can read. How good they are is not tested."""

import json
import os
import shutil

import pytest
from conftest import BUILD

PARTS = {"floor", "hot", "hot_2kb", "hot_module", "hot_require", "throughput", "floor_throughput", "cold", "memory",
         "compute", "json_in", "json_out", "machine", "tools", "fetch", "http", "session", "branch", "environment", "scan", "bindings"}


def numbers_in(value):
    if isinstance(value, dict):
        return [number for part in value.values() for number in numbers_in(part)]
    if isinstance(value, list):
        return [number for part in value for number in numbers_in(part)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


@pytest.mark.parametrize("part", ["memory", "floor", "tools", "fetch", "http", "session", "branch", "environment", "scan"])
def test_one_part_as_json(vial, part):
    done = vial("bench", "--json", "--only", part, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert set(result) <= PARTS and part in result
    numbers = numbers_in(result[part])
    assert numbers and all(number > 0 for number in numbers)


def test_bindings(vial, tmp_path):
    done = vial("bench", "--json", "--only", "bindings", timeout=240)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert set(result) == {"binding_node", "binding_python"}
    for name, program, folder in (("binding_node", "node", "node/vial"), ("binding_python", "python3", "python/vial")):
        one = result[name]
        if shutil.which(program) is None or not (BUILD / folder).exists():
            assert list(one) == ["not_measured"]
            continue
        assert "run_us" in one, one
        assert all(row["p50_us"] > 0 and row["c_us"] > 0 for row in one.values())
    missing = vial("bench", "--only", "bindings", env={**os.environ, "PATH": str(tmp_path)}, timeout=60)
    assert (missing.returncode, missing.stderr) == (0, "")
    assert [line.split(": there is no ")[0] for line in missing.stdout.splitlines()] == [
        "binding_node      not measured", "binding_python    not measured"]


def test_one_part_as_text(vial):
    done = vial("bench", "--only", "memory", timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert any(character.isdigit() for character in done.stdout)


def test_the_help_names_every_part(vial):
    done = vial("bench", "--help")
    assert done.returncode == 0
    assert all(part in done.stdout for part in PARTS)


@pytest.mark.parametrize("args", [["--only", "nonsense"], ["--only"], ["--frob"], ["word"], ["--json=1"]])
def test_arguments_that_make_no_sense(vial, args):
    done = vial("bench", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
