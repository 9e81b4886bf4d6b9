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


# ---- what is read of a source ----

# A rule that has no words and finds nothing: with it every source is read as a whole.
WHOLE = """; id: whole
; severity: info
; languages: javascript typescript python
; message: m
; advice: a
((comment) @finding (#match? @finding "^there is no such comment$"))
"""


def mixed(ending):
    """Each program in the middle of others, in which nothing is found: a few of its statements are what is read."""
    ordinary = sorted((SETS / "ordinary").glob("*" + ending))
    for number, path in enumerate(sorted((SETS / "bad").glob("*" + ending)) + ordinary[:20]):
        around = [ordinary[(number * 7 + k) % len(ordinary)].read_text() for k in range(4)]
        yield path.name, "\n".join([*around[:2], path.read_text(), *around[2:]])


@pytest.mark.parametrize("ending", [".js", ".ts", ".py"])
def test_a_part_of_a_source_has_the_findings_of_the_whole(vial, folder, ending):
    files = []
    for name, text in mixed(ending):
        files.append(folder / f"{len(files)}-{name}")
        files[-1].write_text(text)
    (folder / "whole.scm").write_text(WHOLE)
    of_parts = json.loads(vial("scan", "--json", *files).stdout)
    of_whole = json.loads(vial("scan", "--json", "--rules", folder / "whole.scm", *files).stdout)
    assert of_parts == of_whole
    assert len(files) > 10 and sum(len(entry["findings"]) for entry in of_whole) > 5
