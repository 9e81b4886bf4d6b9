"""test_docs.py - what the documents show is so: commands are executed and their output compared, the C they
quote is part of an example, and the examples compile, run, and say what the documents say they do.

In a document, a block whose first line begins with "$ " is a dialogue with a shell: lines that begin so are
commands, and what follows each is its output. All dialogues of one document are held in one directory, in
order. What differs from run to run (times, sizes, dates) is compared by its unit only.
"""

import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.guest]

DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.c"))
# Files that documents take for granted.
FILES = {
    "bad.json": '{"name": "Bad", "toolz": [], "limits": {"max": {"wall_ms_max": 0}}}',
    "src/lib.js": "export const sum = rows => rows.reduce((a, b) => a + b, 0);\n",
    "data.csv": "2,40\n",
    "total.py": 'import json\n\ndef total(text):\n    return sum(json.loads(text))\n\ntotal("[1, 2")\n',
    "careful.py": "try:\n    crm.find(2)\nexcept ToolError as e:\n    said = [e.name, str(e), e.exit_code]\nsaid\n",
    "analyse.js": """
        const fs = require("fs");
        const sum = fs.readFileSync("data.csv", "utf8").split(",").reduce((a, b) => a + Number(b), 0);
        fs.mkdirSync("report");
        fs.writeFileSync("report/sum.json", JSON.stringify({ sum, args: process.argv.slice(2) }) + "\\n");
    """,
}


def blocks(document, language):
    """The texts of the blocks of a language; "" for those without one."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / document).read_text(), re.DOTALL | re.MULTILINE)
    return [text for name, text in fenced if name == language]


def dialogues(document):
    """Pairs of a command and its output."""
    found = []
    for block in blocks(document, ""):
        if block.startswith("$ "):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                lines = part.split("\n")
                count = 1
                while lines[count - 1].endswith("\\"):
                    count += 1
                found.append(("\n".join(lines[:count]), "\n".join(lines[count:])))
    return found


def settle(text):
    """The text without what differs from run to run."""
    text = re.sub(r"\d+(\.\d+)? (ms|MB)\b", r"N \2", text)
    text = re.sub(r'_(us|peak)":\s*\d+', r'_\1":N', text)
    return re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME", text)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The examples, compiled as a user would."""
    directory = tmp_path_factory.mktemp("examples")
    for source in EXAMPLES:
        subprocess.run(["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", source,
                        f"-L{BUILD}", "-lvial", f"-Wl,-rpath,{BUILD}", "-pthread", "-o",
                        directory / source.stem], check=True)
    return directory


@pytest.fixture
def desk(compiled, folder):
    """Runs commands in a directory with the examples, their programs and data of its own."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    for program in compiled.iterdir():
        shutil.copy(program, folder / program.name)
    (folder / "build").symlink_to(BUILD)
    (folder / "src").mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "support.json").write_text(blocks("docs/environments.md", "json")[0])
    env = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "VIAL_DATA_DIR": str(folder / "data")}

    def run(command):
        # In a session of its own there is no terminal to ask.
        return subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=60,
                              check=False, start_new_session=True).stdout

    return run


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if dialogues(path)], ids=str)
def test_commands_of_a_document_say_what_it_shows(document, desk):
    for command, expected in dialogues(document):
        assert settle(desk(command)) == settle(expected), f"{document}: {command}"


def test_examples_do_what_they_say(desk):
    results = [json.loads(line) for line in desk("./embed").splitlines()]
    assert [result["status"] for result in results] == ["ok", "ok", "cpu_limit"]
    assert [result.get("value") for result in results] == [[2, 4, 6], "waited", None]
    said = desk("./tools")
    assert re.findall(r"^crm\.\w+ +(\w+)", said, re.MULTILINE) == ["ok", "failed", "invalid", "ok", "denied"]
    said = desk("./sessions")
    assert re.findall(r"^branch \d +(\w+)", said, re.MULTILINE) == ["ok", "ok", "wall_limit"]
    assert "again     ok: [1000,0]" in said


def test_the_first_commands_of_the_readme_work(desk):
    lines = re.findall(r"^(build/vial run -.* -e '.*)$", blocks("README.md", "")[1], re.MULTILINE)
    assert len(lines) == 2
    assert json.loads(desk(lines[0]))["value"] == [1, 4, 9]
    assert desk(lines[1]) == "{ name: 'Ada' }\n"


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_quoted_code_is_from_examples_and_json_is_json(document):
    sources = [path.read_text() for path in EXAMPLES]
    for block in blocks(document, "c"):
        for part in block.split("/* ... */\n"):
            assert any(part.rstrip() in source for source in sources), f"{document}: {part}"
    for block in blocks(document, "json"):
        json.loads(block)


def test_the_example_environment_is_the_one_that_is_shown():
    shown = blocks("docs/environments.md", "json")
    assert (ROOT / "examples/environment.json").read_text() in shown


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (ROOT / document).read_text()):
        if not target.startswith("http"):
            assert ((ROOT / document).parent / target).exists(), f"{document}: {target}"
