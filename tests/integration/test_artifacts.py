"""test_artifacts.py - what a program shows beside its value: in the result object, as files, in the REPL.

What Python makes of figures and tables is tested outside of a cell, with the module of the prelude and a
stand-in for the native one, wherever the packages are installed.
"""

import base64
import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT

pytestmark = pytest.mark.guest

PNG = bytes([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3])
PNG_JS = f"new Uint8Array([{','.join(map(str, PNG))}])"
JPEG = b"\xff\xd8\xff\xe0"


def shown(vial, code, *args):
    """The artifacts of a program, each as (name, {type: content})."""
    result = vial.result(*args, "-e", code)
    assert result["status"] == "ok", result["error"]
    return [(artifact["name"], parts_of(artifact)) for artifact in result["artifacts"]]


def parts_of(artifact):
    found = {}
    for part in artifact["representations"]:
        content = part["text"] if "text" in part else base64.b64decode(part["base64"])
        size = len(content.encode()) if isinstance(content, str) else len(content)
        assert part["bytes"] == size
        found[part["mime"]] = content
    return found


JAVASCRIPT = [
    ("display('text')", {"text/plain": "text"}),
    ("display(42)", {"text/plain": "42"}),
    ("display(undefined)", {"text/plain": "undefined"}),
    ("display(new Map([[1, 2]]))", {"text/plain": "Map(1) { 1 => 2 }"}),
    ("display({ a: [1, 'é'] })", {"application/json": '{"a":[1,"é"]}', "text/plain": "{ a: [ 1, 'é' ] }"}),
    ("display([1n])", {"text/plain": "[ 1n ]"}),
    ("display({ 'text/html': '<b>', 'image/png': " + PNG_JS + ", 'application/json': { a: 1 } })",
     {"text/html": "<b>", "image/png": PNG, "application/json": '{"a":1}'}),
    (f"display({PNG_JS})", {"image/png": PNG}),
    (f"display({PNG_JS}.buffer)", {"image/png": PNG}),
    (f"display(new DataView({PNG_JS}.buffer))", {"image/png": PNG}),
    (f"const b = new Uint8Array(20); b.set({PNG_JS}, 4); display(b.subarray(4, 15))", {"image/png": PNG}),
    ("display(Buffer.from([255, 216, 255, 224]))", {"image/jpeg": JPEG}),
    ("display(new Uint8Array(2))", {"text/plain": "Uint8Array(2) [ 0, 0 ]"}),
    ("display.html('<i>')", {"text/html": "<i>"}),
    ("display.svg('<svg/>')", {"image/svg+xml": "<svg/>"}),
    ("display.markdown('# x')", {"text/markdown": "# x"}),
    ("display.json({ a: 1 })", {"application/json": '{\n  "a": 1\n}'}),
    (f"display.png({PNG_JS})", {"image/png": PNG}),
    ("display('\\ud800')", {"text/plain": "\ufffd"}),
    ("display('')", {"text/plain": ""}),
    # A program that has taken the built-ins apart.
    ("JSON.stringify = Array.prototype.push = RegExp.prototype.exec = null; Object.defineProperty("
     "Array.prototype, 0, { set() { throw 1; } }); display({ 'text/html': 'x' })", {"text/html": "x"}),
    ("display(new Proxy({ 'text/html': 'x' }, {}))", {"text/html": "x"}),
]


@pytest.mark.parametrize("code, expected", JAVASCRIPT)
def test_javascript_shows(vial, code, expected):
    assert shown(vial, code) == [(None, expected)]


def test_a_table_is_html_and_text(vial):
    ((name, parts),) = shown(vial, "display.table([{ a: 1, b: '<x>' }, { a: 2, c: null }], { name: 'rows' })")
    assert name == "rows"
    assert "<th>a</th><th>b</th><th>c</th>" in parts["text/html"]
    assert "<td>&lt;x&gt;</td>" in parts["text/html"]
    assert "│ a │" in parts["text/plain"]
    ((_, parts),) = shown(vial, "display.table(Array.from({ length: 3000 }, (_, i) => ({ i })))")
    assert parts["text/html"].count("<tr>") == 1001
    assert "1000 of 3000 rows" in parts["text/html"] and "1000 of 3000 rows" in parts["text/plain"]


@pytest.mark.parametrize("call, words", [
    ("display.html(1)", "display.html takes a string, not a number"),
    ("display.png('x')", "display.png takes the bytes of a PNG file, not a string"),
    ("display.png(new Uint8Array(4))", "not other bytes"),
    ("display.json(undefined)", "display.json takes what JSON can say"),
    ("display.table({})", "display.table takes an array of rows, not an object"),
    ("display(1, 'name')", "the options of display are an object"),
    ("display(1, { name: 1 })", "the name of an artifact is a string, not a number"),
    ("display(1, { name: '../../etc/passwd' })", "the name of an artifact has a slash"),
    ("display(1, { name: '..' })", "is . or .."),
    ("display(1, { name: '\\x1b[2J' })", "has a control character"),
    ("display(1, { name: '\\x9b' })", "has a control character"),
    ("display(1, { name: 'x'.repeat(256) })", "has more than 255 bytes"),
    ("display({ 'Text/HTML': '' })", "is not in lower case"),
    ("display({ ['a/' + 'b'.repeat(126)]: '' })", "has more than 127 bytes"),
    ("display({ 'text/html': 1 })", "text/html takes a string or bytes, not a number"),
    ("display(Object.fromEntries([...'abcdefghi'].map(c => ['x/' + c, c])))", "1 to 8 representations"),
])
def test_what_javascript_cannot_show_is_a_type_error(vial, call, words):
    result = vial.result("-e", f"let e; try {{ {call} }} catch (x) {{ e = x }} [e.name, e.message]")
    assert result["value"][0] == "TypeError"
    assert words in result["value"][1]
    assert result["artifacts"] == []


def test_display_is_a_name_like_any_other(vial):
    assert vial.result("-e", "const display = 1; display + 1")["value"] == 2
    assert vial.result("-e", "function display() { return 3; } display()")["value"] == 3
    assert vial.result("-e", "Object.keys(globalThis).includes('display')")["value"] is False
    assert "value" not in vial.result("-e", "display(1)")


PYTHON = [
    ("display('text')", {"text/plain": "text"}),
    ("display([1, 2])", {"text/plain": "[1, 2]"}),
    (f"display({PNG!r})", {"image/png": PNG}),
    (f"display(bytearray({JPEG!r}))", {"image/jpeg": JPEG}),
    ("display(b'abc')", {"text/plain": "b'abc'"}),
    (f"display({{'text/html': '<b>', 'image/png': {PNG!r}}})", {"text/html": "<b>", "image/png": PNG}),
    ("display({'a': 1})", {"text/plain": "{'a': 1}"}),
    ("display({})", {"text/plain": "{}"}),
]


@pytest.mark.parametrize("code, expected", PYTHON)
def test_python_shows(vial, code, expected):
    assert shown(vial, code, "--lang", "python") == [(None, expected)]


def test_python_asks_objects_as_notebooks_do(vial):
    code = """
class Rich:
    def __repr__(self): return "rich"
    def _repr_html_(self): return "<b>"
    def _repr_svg_(self): return "<svg/>", {"meta": 1}
    def _repr_png_(self): return "iVBORw0KGgoBAgM="
    def _repr_jpeg_(self): raise ValueError("broken")
    def _repr_markdown_(self): return None
    def _repr_latex_(self): return 1
    def _repr_json_(self): return {"a": 1}
class Bundle:
    def __repr__(self): raise ValueError("broken")
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": "<i>", "no type": "x", "text/plain": "own", "A/B": ""}, {}
display(Rich(), Bundle(), name="both")
"""
    assert shown(vial, code, "--lang", "python") == [
        ("both", {"text/html": "<b>", "image/svg+xml": "<svg/>", "image/png": PNG,
                  "application/json": '{"a": 1}', "text/plain": "rich"}),
        ("both", {"text/html": "<i>", "text/plain": "own"}),
    ]


@pytest.mark.parametrize("call, error, words", [
    ("display({'text/html': 1})", "TypeError", "text/html takes text or bytes, not int"),
    ("display({'image/png': 'no base64!'})", "TypeError", "image/png takes bytes, or text that is base64"),
    ("display({'Text/Html': ''})", "ValueError", "is not in lower case"),
    ("display(1, name=1)", "TypeError", "the name of an artifact is a string, not int"),
    ("display(1, name='a/b')", "ValueError", "the name of an artifact has a slash"),
    ("display(1, name='\\x1b')", "ValueError", "has a control character"),
    ("display({f'x/{i}': '' for i in range(9)})", "ValueError", "1 to 8 representations"),
    ("import _vial_host; _vial_host.artifact(None, [('text/html', 'x')])", "TypeError", "tuple"),
    ("import _vial_host; _vial_host.artifact(None, [])", "ValueError", "1 to 8"),
    ("import _vial_host; _vial_host.artifact('x', None)", "TypeError", "list"),
])
def test_what_python_cannot_show_is_an_error(vial, call, error, words):
    result = vial.result("--lang", "python", "-e", call)
    assert result["error"]["name"] == error
    assert words in result["error"]["message"]
    assert result["artifacts"] == []


@pytest.mark.parametrize("language, code", [
    ("js", "for (let i = 0; i < 120; i++) display(i); 7"),
    ("python", "for i in range(120): display(i)\n7"),
])
def test_too_many_are_dropped_and_counted(vial, language, code):
    result = vial.result("--lang", language, "-e", code)
    assert result["value"] == 7
    assert len(result["artifacts"]) == 100
    assert result["artifacts_dropped"] == 20
    done = vial("run", "--lang", language, "-e", code)
    assert done.returncode == 0
    assert "20 artifacts were dropped" in done.stderr and "100 artifacts; --out-dir" in done.stderr


def test_too_large_ones_are_dropped_and_smaller_ones_still_fit(vial):
    code = ("const mega = 'x'.repeat(2 ** 20); display(mega.repeat(17)); for (let i = 0; i < 17; i++) display(mega);"
            "display({ 'text/html': '', 'text/plain': 'y' }); display('')")
    result = vial.result("-e", code)
    assert result["artifacts_dropped"] == 3
    assert len(result["artifacts"]) == 17
    assert [part["bytes"] for part in result["artifacts"][-1]["representations"]] == [0]
    assert len(result["artifacts"][0]["representations"][0]["text"]) == 2**20


def test_long_text_is_base64(vial):
    ((_, parts),) = shown(vial, "display('é' + 'x'.repeat(2 ** 20))")
    assert parts["text/plain"] == ("é" + "x" * 2**20).encode()


def test_what_is_no_utf8_is_base64(vial):
    ((_, parts),) = shown(vial, "display({ 'text/plain': new Uint8Array([255, 0, 27]) })")
    assert parts["text/plain"] == b"\xff\0\x1b"


def test_what_was_shown_before_a_limit_is_kept(vial):
    result = vial.result("--wall-ms", "500", "-e", "display('before'); for (;;);")
    assert result["status"] == "wall_limit"
    assert [parts_of(artifact) for artifact in result["artifacts"]] == [{"text/plain": "before"}]
    result = vial.result("-e", "display('before'); throw new Error('x')")
    assert len(result["artifacts"]) == 1


def test_artifacts_keep_their_order_with_output_and_files(vial, folder):
    result = vial.result("--out", "*", "--out-dir", folder, "-e",
                         "console.log(1); display('a'); require('fs').writeFileSync('f', 'x'); display('b')")
    assert [parts_of(artifact)["text/plain"] for artifact in result["artifacts"]] == ["a", "b"]
    assert sorted(path.name for path in folder.iterdir()) == ["artifact-1.txt", "artifact-2.txt", "f"]


# ---- the command line ----


def test_artifacts_are_saved_by_their_types(vial, folder):
    code = (f"display({PNG_JS}, {{ name: 'chart' }}); display.table([{{ a: 1 }}]); display({{ 'text/plain': 'x', "
            "'text/x-other': 'y', 'application/vnd.vega.v5+json': {}, 'application/x-what': 'z' }); 5")
    done = vial("run", "--out-dir", folder, "-e", code)
    assert (done.returncode, done.stdout) == (0, "5\n")
    names = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert names.pop("artifact-1.png") == PNG
    assert names.pop("artifact-2.html").startswith(b"<table>")
    assert names.pop("artifact-2.txt").startswith("┌".encode())
    assert names == {"artifact-3.txt": b"x", "artifact-3-2.txt": b"y", "artifact-3.json": b"{}", "artifact-3.bin": b"z"}
    assert "vial: saved artifact-1.png (11 B)\n" in done.stderr
    assert "--out-dir" not in done.stderr


def test_a_run_without_a_place_for_artifacts_says_so(vial, folder):
    done = vial("run", "-e", "display(1)")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "vial: the program showed 1 artifact; --out-dir DIR saves it\n"
    assert vial("run", "--json", "-e", "display(1)").stderr == ""
    assert vial("run", "--out-dir", folder, "-e", "1").stderr == ""
    assert list(folder.iterdir()) == []


def test_what_is_there_is_left_alone(vial, folder):
    (folder / "artifact-1.txt").write_text("old")
    done = vial("run", "--out-dir", folder, "-e", "display('new'); display('other'); 5")
    assert (done.returncode, done.stdout) == (125, "5\n")
    assert "artifact-1.txt exists and was left alone; --force overwrites" in done.stderr
    assert (folder / "artifact-1.txt").read_text() == "old"
    assert (folder / "artifact-2.txt").read_text() == "other"
    assert vial("run", "--force", "--out-dir", folder, "-e", "display('new')").returncode == 0
    assert (folder / "artifact-1.txt").read_text() == "new"


def test_links_are_not_followed(vial, folder):
    (folder / "secret").write_text("secret")
    for force in ([], ["--force"]):
        (folder / "artifact-1.txt").symlink_to(folder / "secret")
        vial("run", *force, "--out-dir", folder, "-e", "display('new')")
        assert (folder / "secret").read_text() == "secret"
        assert (folder / "artifact-1.txt").is_symlink() == (force == [])
        (folder / "artifact-1.txt").unlink()


def test_a_directory_that_is_not_there_is_refused_before_the_run(vial):
    done = vial("run", "--out-dir", "/no/such", "-e", "console.log(1)")
    assert (done.returncode, done.stdout) == (2, "")
    assert "/no/such" in done.stderr


def test_force_alone_is_refused(vial):
    done = vial("run", "--force", "-e", "1")
    assert done.returncode == 2
    assert "--out-dir" in done.stderr


# ---- sessions and environments ----


def test_the_repl_says_what_was_shown_and_saves_it(vial, folder):
    lines = f"display({PNG_JS}, {{ name: 'chart' }})\n1 + 1\n.artifacts {folder}\ndisplay({{ a: 1 }})\n.artifacts -f {folder}\n"
    done = vial("repl", "--keep-going", stdin=lines)
    assert done.stdout == "2\n"
    assert done.stderr.splitlines() == [
        "[artifact 1 chart: image/png, 11 B]",
        "vial: saved artifact-1.png (11 B)",
        "[artifact 1: application/json, 7 B; text/plain, 8 B]",
        "vial: saved artifact-1.json (7 B)",
        "vial: saved artifact-1.txt (8 B)",
    ]
    assert (folder / "artifact-1.png").read_bytes() == PNG


@pytest.mark.parametrize("line, words", [
    (".artifacts", "say where to"),
    (".artifacts /tmp", "nothing"),
    ("display(1)\n.artifacts /no/such", "/no/such"),
])
def test_the_repl_refuses_what_it_cannot_save(vial, line, words):
    done = vial("repl", stdin=line + "\n")
    assert done.returncode == 2
    assert words in done.stderr or "shown anything yet" in done.stderr


def test_each_evaluation_has_its_own(vial):
    done = vial("repl", "--json", stdin="for (let i = 0; i < 101; i++) display(i)\ndisplay('x')\n1\n")
    counts = [(len(r["artifacts"]), r["artifacts_dropped"]) for r in map(json.loads, done.stdout.splitlines())]
    assert counts == [(100, 1), (1, 0), (0, 0)]


def test_runs_in_environments_show_what_they_show_themselves(vial, folder):
    document = {"name": "shows", "prefix": "display('prefix'); function f() { display('of the prefix'); }"}
    assert vial("env", "create", "--data-dir", folder, "-", stdin=json.dumps(document)).returncode == 0
    assert shown(vial, "f(); display('own')", "--in", "shows", "--data-dir", folder) == [
        (None, {"text/plain": "of the prefix"}), (None, {"text/plain": "own"})]


def test_a_flood_in_a_session_is_counted_and_the_session_lives(vial):
    done = vial("repl", "--json", "--keep-going", "--wall-ms", "300", stdin="for (;;) display(1)\n1 + 1\n")
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["status"], len(first["artifacts"])) == ("wall_limit", 100)
    assert first["artifacts_dropped"] > 0
    assert (second["value"], second["artifacts"], second["artifacts_dropped"]) == (2, [], 0)


# ---- packages that Python cells cannot import yet ----

STAND_IN = """
import sys, types
host = types.ModuleType("_vial_host")
host.seen = []
host.artifact = lambda name, parts: host.seen.append((name, dict(parts)))
sys.modules["_vial_host"] = host
from _vial import display as prelude
"""


def outside(tmp_path, code, *packages):
    """Runs code with the prelude's display() outside of a cell; what it prints."""
    for package in packages:
        if subprocess.run([sys.executable, "-c", f"import {package}"], capture_output=True, check=False).returncode != 0:
            pytest.skip(f"there is no {package}")
    (tmp_path / "_vial").symlink_to(ROOT / "src/cell/python/prelude")
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", "MPLCONFIGDIR": str(tmp_path)}
    env.pop("MPLBACKEND", None)
    done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", STAND_IN + code], env=env, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_imported_by_display(tmp_path):
    assert outside(tmp_path, "display(1); prelude.collect_figures()\n"
                             "print([m for m in ('matplotlib', 'PIL', 'pandas', 'numpy') if m in sys.modules], host.seen)") == \
        "[] [(None, {'text/plain': b'1'})]\n"


def test_figures_are_shown(tmp_path):
    code = """
import matplotlib.pyplot as plt
def types(): return [[(k, v[:4]) for k, v in parts.items() if k != "text/plain"] for _, parts in host.seen]
plt.plot([1, 2]); plt.show()
assert types() == [[("image/png", b"\\x89PNG")]], types()
assert plt.get_fignums() == []
prelude.collect_figures()
assert len(host.seen) == 1
figure, axes = plt.subplots(); axes.plot([1]); display(figure, name="mine")
plt.figure(); plt.plot([3])
assert [name for name, _ in host.seen] == [None, "mine"]
prelude.collect_figures()
assert len(host.seen) == 3 and plt.get_fignums() == []
plt.figure(); plt.savefig = None
class Broken(type(figure)):
    def savefig(self, *a, **k): raise ValueError("broken")
plt.figure(FigureClass=Broken)
prelude.collect_figures()
assert len(host.seen) == 5 and plt.get_fignums() == []
assert plt.show is prelude.show_figures
import inspect
assert "def plot(" in inspect.getsource(plt.plot)
print(plt.get_backend().lower())
"""
    assert outside(tmp_path, code, "matplotlib") == "agg\n"


def test_agg_asked_for_by_the_program_shows_as_well(tmp_path):
    code = """
import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.pyplot import show
plt.bar([1], [2]); show(block=True)
plt.switch_backend("agg")
plt.bar([1], [2]); plt.show()
print(len(host.seen))
"""
    assert outside(tmp_path, code, "matplotlib") == "2\n"


def test_data_frames_are_tables(tmp_path):
    code = """
import pandas
display(pandas.DataFrame({"a": [1, 2], "b": ["<x>", None]}))
parts = host.seen[0][1]
assert sorted(parts) == ["text/html", "text/plain"]
assert b"<th>a</th>" in parts["text/html"] and b"&lt;x&gt;" in parts["text/html"]
assert b"a" in parts["text/plain"]
display(pandas.DataFrame({"n": range(10000)}))
html = host.seen[1][1]["text/html"]
assert html.count(b"<tr") < 120 and b"10000 rows, 1 columns" in html
display(pandas.Series([1, 2]))
assert list(host.seen[2][1]) == ["text/plain"]
print("ok")
"""
    assert outside(tmp_path, code, "pandas") == "ok\n"


def test_images_are_png(tmp_path):
    code = """
from PIL import Image
display(Image.new("RGB", (2, 2)), Image.new("CMYK", (2, 2)), Image.new("RGBA", (1, 1)))
print([parts["image/png"][:4] for _, parts in host.seen])
"""
    assert outside(tmp_path, code, "PIL") == str([b"\x89PNG"] * 3) + "\n"
