"""test_threat_model.py - every promise of docs/threat-model.md has a test behind it: the cases it names exist, one
of them holds at each level that the row says yes to, and the files and folders it names are there.
"""

import re

from conftest import ROOT

TEXT = (ROOT / "docs/threat-model.md").read_text()
LEVELS = ("full", "rootless", "filtered")


def table(text, heading):
    """The rows of the table whose first line begins so, as lists of cells."""
    lines = text[text.index(heading):].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def cases():
    """The cases of the hostile suite, with what they came to at each level."""
    text = (ROOT / "docs/attacks.md").read_text()
    rows = table(text, "| id | the attacker wants")
    return {row[0]: dict(zip(LEVELS, row[-3:])) for row in rows}


def test_each_promise_against_a_guest_has_a_case_at_each_of_its_levels():
    known = cases()
    rows = table(TEXT, "| promise | full |")
    assert len(rows) > 10
    for promise, *levels, _, named in rows:
        for level, says in zip(LEVELS, levels):
            assert says in ("yes", "no")
            if says == "yes":
                assert any(known[name][level] == "ok" for name in named.split()), (promise, level)


def test_what_is_named_is_there():
    named = re.findall(r"`(tests/[a-z_./]+)`", TEXT)
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).exists(), name
