"""test_scan_sets.py - the scanner's rules against two sets of programs: ordinary ones, in which nothing may be
found that is more than information, and bad ones, which say in their first line what must be found."""

import json

import pytest

from conftest import ROOT

pytestmark = pytest.mark.guest

SETS = ROOT / "tests" / "scan"


def scan(vial, folder):
    files = sorted((SETS / folder).iterdir())
    done = vial("scan", "--json", *files)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    assert [entry["file"] for entry in found] == [str(path) for path in files]
    return done.returncode, found


def test_nothing_is_found_in_ordinary_programs(vial):
    code, found = scan(vial, "ordinary")
    assert len(found) >= 100
    grave = [(entry["file"], f["id"], f["text"]) for entry in found for f in entry["findings"]
             if f["severity"] != "info"]
    assert grave == []
    assert code == 0


def test_what_is_bad_is_found_in_bad_programs(vial):
    code, found = scan(vial, "bad")
    assert code == 1
    missed = []
    for entry in found:
        first = open(entry["file"], encoding="utf-8").readline()
        rule = first.split("expect:")[1].strip()
        if rule not in [f["id"] for f in entry["findings"]]:
            missed.append((entry["file"], rule))
        for finding in entry["findings"]:
            assert finding["line"] > 1 and finding["column"] > 0 and finding["text"]
            assert finding["message"] and finding["advice"]
    assert len(found) >= 60
    assert len(missed) <= 0.05 * len(found), missed
    assert missed == []
