"""test_console.py - what console.* prints, against golden files made from Node 20.

Each console/NAME.js is run as main.js; stdout must be NAME.out and stderr NAME.err (empty when there is
none). Where a case differs from Node on purpose, its first comment says so.
"""

import pathlib

import pytest

CASES = pathlib.Path(__file__).parent / "console"


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.js")))
def test_prints_like_node(vial, folder, name):
    (folder / "main.js").write_bytes((CASES / f"{name}.js").read_bytes())
    errors = CASES / f"{name}.err"
    result = vial.result("main.js", cwd=folder)
    assert result["error"] is None or "cannot cross to the host" in result["error"]["message"]
    assert result["stdout"] == (CASES / f"{name}.out").read_text()
    assert result["stderr"] == (errors.read_text() if errors.exists() else "")
