"""surface_cases.py - cases of the guest's surface: expressions in surface/*.cases, answers in surface/*.answers.

The answers were recorded from Node 20 by running this file, and say what a program may rely on. A line of a
.cases file is one expression; "#" begins a comment. Where vial must differ, the expression is behind "vial: ANSWER: ".
"""

import json
import pathlib
import subprocess
import sys
import tempfile

DIRECTORY = pathlib.Path(__file__).parent / "surface"
DIFFERENT = "vial: "


def groups():
    return sorted(path.stem for path in DIRECTORY.glob("*.cases"))


def read(group):
    """The cases of a group: (expression, the answer that only vial gives, or None)."""
    cases = []
    for line in (DIRECTORY / f"{group}.cases").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        own = None
        if line.startswith(DIFFERENT):
            own, line = line[len(DIFFERENT):].split(" :: ", 1)
        cases.append((line, own))
    return cases


def program(group):
    functions = ",\n".join(f"async () => ({expression})" for expression, _ in read(group))
    return (DIRECTORY / "harness.js").read_text().replace("/* CASES */", f"const cases = [{functions}];")


def recorded(group):
    """The answers that vial must give."""
    answers = json.loads((DIRECTORY / f"{group}.answers").read_text())
    return [answer if own is None else own for answer, (_, own) in zip(answers, read(group), strict=True)]


def from_node(group):
    """What Node says; from a file, because in `node -e` modules are globals."""
    with tempfile.NamedTemporaryFile("w", suffix=".cjs") as file:
        file.write(program(group))
        file.flush()
        done = subprocess.run(["node", file.name], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


if __name__ == "__main__":
    for name in sys.argv[1:] or groups():
        text = json.dumps(from_node(name), indent=0, ensure_ascii=False)
        (DIRECTORY / f"{name}.answers").write_text(text + "\n")
