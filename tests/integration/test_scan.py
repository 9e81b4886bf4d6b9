"""test_scan.py - the scanner as users meet it: `vial scan`, before runs, in environments and sessions, with rules
of their own, and with programs that are made to break it. Which programs rules find is in test_scan_sets.py.
"""

import json
import re

import pytest

from conftest import ROOT

pytestmark = pytest.mark.guest

RULE = """; id: no-console
; severity: block
; languages: javascript typescript
; message: console is not for us
; advice: return the value
(call_expression function: (member_expression object: (identifier) @o) (#eq? @o "console")) @finding
"""
PYTHON_RULE = """; id: no-print
; severity: block
; languages: python
; message: print is not for us
; advice: return the value
(call function: (identifier) @f (#eq? @f "print")) @finding
"""


@pytest.fixture
def write(folder):
    def make(name, content):
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path
    return make


def findings(vial, *args, **more):
    """The findings of one file, by `vial scan --json`."""
    done = vial("scan", "--json", *args, **more)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)[0]["findings"]


def ids(found):
    return [f["id"] for f in found]


# ---- vial scan ----

def test_json_is_whole_when_a_file_cannot_be_read(vial, write, folder):
    path = write("a.js", "1")
    done = vial("scan", "--json", path, folder / "none.js", path)
    assert done.returncode == 2 and "none.js" in done.stderr
    assert json.loads(done.stdout) == [{"file": str(path), "findings": []}]
    done = vial("scan", "--json", folder / "none.js")
    assert done.returncode == 2 and json.loads(done.stdout) == []


@pytest.mark.everyone
def test_findings_are_printed_with_place_text_and_advice(vial, write):
    path = write("a.js", "const x = 1;\n  eval('x');\n")
    done = vial("scan", path)
    assert done.returncode == 1 and done.stderr == ""
    assert done.stdout.splitlines() == [
        f"{path}:2:3: warn: eval runs text as code (js-eval)", "    eval('x')",
        "    advice: write the code itself; use JSON.parse for data, a Map or an object of functions to choose by name"]


def test_exit_codes(vial, write):
    assert vial("scan", write("clean.js", "1 + 1")).returncode == 0
    assert vial("scan", write("info.js", "await fetch('https://x.test')")).returncode == 0
    assert vial("scan", write("warn.py", "exec('1')")).returncode == 1
    assert vial("scan").returncode == 2
    assert vial("scan", "/no/such/file.js").returncode == 2
    assert vial("scan", "--lang", "cobol", write("a.js", "")).returncode == 2
    assert vial("scan", "--jsn", write("a.js", "")).returncode == 2


def test_nothing_of_the_program_is_evaluated(vial, write):
    for path in (write("a.js", "console.log('here'); eval('1'); process.exit(7)"),
                 write("a.py", "print('here')\nexec('1')\nraise SystemExit(7)\n")):
        done = vial("scan", path)
        assert done.returncode == 1
        assert "here" not in done.stdout + done.stderr or "'here'" in done.stdout
        assert not done.stdout.startswith("here")


def test_languages_are_known_by_name_and_option(vial, write):
    assert ids(findings(vial, write("a.ts", "enum A { X }\nconst f = (x: string): any => eval(x);"))) == ["js-eval"]
    assert ids(findings(vial, write("types.js", "const f = (x: string): any => eval(x);"))) == ["js-eval"]
    assert ids(findings(vial, "--lang", "python", write("a.txt", "exec('1')"))) == ["py-exec"]
    assert ids(findings(vial, "--lang", "ts", "-", stdin="let a: number = eval('1')")) == ["js-eval"]


def test_positions_in_typescript_are_those_of_the_source(vial, write):
    found = findings(vial, write("a.ts", "enum Color { Red, Green } eval('1');\n/* \u00e9\U0001F600 */ eval('2')"))
    assert [(f["line"], f["column"], f["text"]) for f in found] == [(1, 27, "eval('1')"), (2, 11, "eval('2')")]


def test_secrets_are_not_repeated(vial, write):
    key = "AKIAZ7Q3XW5PLM2N8RTU"
    done = vial("scan", write("a.js", f"const k = '{key}'"))
    assert done.returncode == 1 and "secret-aws-key" in done.stdout
    assert key not in done.stdout + done.stderr and "AKIA..." in done.stdout


# ---- before a run ----

def test_warn_tells_and_runs(vial):
    result = vial.result("--scan", "warn", "-e", "eval('1 + 1')")
    assert (result["status"], result["value"]) == ("ok", 2)
    assert ids(result["findings"]) == ["js-eval"]
    assert result["findings"][0]["file"] == "[eval]"
    assert vial.result("-e", "eval('1 + 1')")["findings"] == []
    result = vial.result("--scan", "warn", "--lang", "python", "-e", "eval('1 + 1')")
    assert (result["status"], result["value"], ids(result["findings"])) == ("ok", 2, ["py-exec"])


@pytest.mark.parametrize("args", [("-e", "console.log('ran'); ({}).constructor.constructor('return 1')()"),
                                  ("--lang", "python", "-e", "print('ran')\ngetattr(__builtins__, 'eval')('1')")])
def test_block_refuses_what_is_to_be_blocked(vial, args):
    done = vial("run", "--json", "--scan", "block", *args)
    result = json.loads(done.stdout)
    assert done.returncode == 126
    assert (result["status"], result["error"]["name"], result["stdout"]) == ("denied", "ScanRefused", "")
    assert "block" in [f["severity"] for f in result["findings"]]
    assert result["error"]["line"] and result["error"]["hint"]
    done = vial("run", "--scan", "block", *args)
    assert done.returncode == 126 and done.stdout == "" and "block:" in done.stderr


def test_block_lets_warnings_run(vial):
    result = vial.result("--scan", "block", "-e", "eval('2')")
    assert (result["status"], result["value"], ids(result["findings"])) == ("ok", 2, ["js-eval"])


def test_findings_are_there_when_a_limit_strikes(vial):
    result = vial.result("--scan", "warn", "--cpu-ms", "100", "-e", "while (true) { }")
    assert result["status"] == "cpu_limit" and ids(result["findings"]) == ["js-endless-loop"]


def test_modules_are_scanned_too(vial, write):
    path = write("lib.js", "export const f = () => ({}).constructor.constructor('return 1')();")
    result = vial.result("--scan", "block", "--module-file", f"./lib.js={path}", "-e", "import {f} from './lib.js'; f()")
    assert result["status"] == "denied"
    assert {f["file"] for f in result["findings"]} == {"./lib.js"}


@pytest.mark.parametrize("code", ["import path from 'node:path'; export default path.sep + eval('1')",
                                  "const x: number = await (async () => eval('1'))(); export default '/' + x",
                                  "const x = await Promise.resolve(eval('1')); '/' + x"])
def test_programs_that_are_read_once_run_as_ever(vial, code):
    result = vial.result("--scan", "warn", "-e", code)
    assert (result["status"], result["value"]) == ("ok", "/1"), result["error"]
    assert ids(result["findings"]) == ["js-eval"]


def test_options_of_run_are_checked(vial, write):
    rules = write("r.scm", RULE)
    assert vial("run", "--scan", "maybe", "-e", "1").returncode == 2
    done = vial("run", "--rules", rules, "-e", "1")
    assert done.returncode == 2 and "--scan" in done.stderr


# ---- rules of operators ----

def test_own_rules_are_added(vial, write):
    rules = write("own.scm", RULE + PYTHON_RULE)
    assert ids(findings(vial, "--rules", rules, write("a.js", "console.log(eval('1'))"))) == ["no-console", "js-eval"]
    assert ids(findings(vial, "--rules", rules, write("a.py", "print(1)"))) == ["no-print"]
    result = vial.result("--scan", "block", "--rules", rules, "-e", "console.log(1)")
    assert result["status"] == "denied"


def test_own_rules_take_the_place_of_ours(vial, write):
    off = write("off.scm", "; id: js-eval\n; severity: off\n")
    assert findings(vial, "--rules", off, write("a.js", "eval('1')")) == []


@pytest.mark.parametrize("text, line, why", [
    ("; id: a\n; severity: loud\n", 2, "severity"),
    (RULE + "(no_such_thing) @finding\n", 7, "no_such_thing"),
    (RULE.replace("@finding", "@found"), 6, "@finding"),
    (RULE.replace("#eq?", "#equals?"), 6, "#equals?"),
])
def test_bad_rules_are_refused_with_line_and_reason(vial, write, text, line, why):
    rules = write("bad.scm", text)
    for done in (vial("scan", "--rules", rules, write("a.js", "1")),
                 vial("run", "--scan", "warn", "--rules", rules, "-e", "console.log('ran')")):
        assert done.returncode == 2 and done.stdout == ""
        assert f"bad.scm, line {line}: " in done.stderr and why in done.stderr


# ---- environments and sessions ----

@pytest.fixture
def stored(vial, folder):
    def make(**members):
        document = {"name": "guarded", **members}
        done = vial("env", "create", "-", "--data-dir", folder / "data", stdin=json.dumps(document))
        assert done.returncode == 0, done.stderr
        return ["--in", "guarded", "--data-dir", folder / "data"]
    return make


def test_environments_say_how_programs_are_scanned(vial, stored):
    place = stored(prefix="const two = eval('1 + 1');", scan={"mode": "block", "rules": {"own": RULE}})
    assert vial.result(*place, "-e", "two")["value"] == 2  # the prefix is the operator's own
    result = vial.result(*place, "-e", "console.log(two)")
    assert result["status"] == "denied" and ids(result["findings"]) == ["no-console"]
    # A run may be stricter, and not less strict.
    assert vial.result(*place, "--scan", "warn", "-e", "console.log(two)")["status"] == "denied"


def test_runs_may_be_stricter_than_their_environment(vial, stored, write):
    place = stored(language="python", scan={"mode": "off", "rules": {"own": PYTHON_RULE}})
    assert vial.result(*place, "-e", "print(1)")["findings"] == []
    assert vial.result(*place, "--scan", "block", "-e", "print(1)")["status"] == "denied"
    done = vial("run", *place, "--scan", "warn", "--rules", write("r.scm", RULE), "-e", "1")
    assert done.returncode == 2 and "environment's" in done.stderr


def test_imports_that_are_not_allowed_are_found(vial, stored):
    place = stored(language="python", allowed_imports=["json", "os.path"], scan={"mode": "block"})
    assert vial.result(*place, "-e", "import json, os.path\njson.dumps(1)")["status"] == "ok"
    result = vial.result(*place, "-e", "import json\nimport re as r\nfrom os import path\n")
    assert result["status"] == "denied"
    assert [(f["id"], f["text"]) for f in result["findings"]] == [
        ("py-import-not-allowed", "re"), ("py-import-not-allowed", "os")]


def test_bad_rules_of_an_environment_stop_it(vial, stored):
    place = stored(scan={"mode": "warn", "rules": {"broken": "; id: x\n; severity: warn\n"}})
    done = vial("run", *place, "-e", "1")
    assert done.returncode == 2 and "broken, line 1: the rule x has no languages" in done.stderr


def test_sessions_go_on_after_a_refusal(vial, stored):
    place = stored(scan={"mode": "block"})
    done = vial("repl", *place, "--json", "--keep-going",
                stdin="let a = 20\nx.constructor.constructor('1')\na + 1\n")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["status"] for line in lines] == ["ok", "denied", "ok"], done.stderr
    assert lines[2]["value"] == 21


# ---- hostile programs ----

HOSTILE = {
    "large.js": "let a = 1;\n" * 900000 + "eval(1)",
    "large.py": "a = 1\n" * 1600000 + "eval(1)",
    "brackets.js": "eval(" + "[" * 100000 + "]" * 100000 + ")",
    "brackets.py": "eval(" + "[" * 100000 + "]" * 100000 + ")",
    "words.py": "x = " + "not " * 100000 + "eval(1)",
    "arrows.js": "x = " + "a=>" * 100000 + "eval(1)",
    "calls.js": "eval" + "(1)" * 100000,
    "members.js": "x" + ".constructor" * 100000,
    "loops.js": "while(true){" * 5000 + "}" * 5000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_scanned_is_refused(vial, write, name):
    path = write(name, HOSTILE[name])
    found = findings(vial, path)
    assert ("scan-incomplete", "block") in [(f["id"], f["severity"]) for f in found]


def test_block_refuses_what_cannot_be_scanned(vial, write):
    path = write("deep.js", "x = " + "!" * 100000 + "eval(1)")
    assert vial.result("--scan", "block", path)["status"] == "denied"


def test_bytes_that_are_no_text(vial, write):
    assert ids(findings(vial, write("nul.js", b"let a = 1;\0 eval('1')"))) == ["js-eval"]
    assert ids(findings(vial, write("nul.py", b"a = 1\0\nexec('1')\n"))) == ["py-exec"]
    found = findings(vial, write("latin.py", b"exec('\xff')\n"))
    assert [(f["id"], f["text"]) for f in found] == [("py-exec", "exec('?')")]
    assert vial("scan", write("bad.js", b"eval('\xff')")).returncode == 2


def test_only_so_many_findings_come_and_the_gravest_among_them(vial, write):
    found = findings(vial, write("many.js", "fetch(1);\n" * 5000 + "({}).constructor.constructor"))
    assert len(found) == 100 and found[-1]["id"] == "js-constructor-chain"


# ---- the manual ----

def rules_of(language):
    found = {}
    for path in sorted((ROOT / "share/rules" / language).glob("*.scm")):
        for block in re.split(r"^; id: ", path.read_text(), flags=re.MULTILINE)[1:]:
            found[block.split("\n", 1)[0]] = (re.search(r"^; severity: (\w+)", block, re.MULTILINE)[1],
                                              re.search(r"^; message: (.*)", block, re.MULTILINE)[1])
    return found


def test_the_manual_lists_every_rule():
    manual = (ROOT / "docs/scanner.md").read_text()
    listed = {row[0]: (row[1], row[2]) for row in
              re.findall(r"^\| `([a-z0-9-]+)` \| (\w+) \| (.*) \|$", manual, re.MULTILINE)}
    expected = {**rules_of("javascript"), **rules_of("python")}
    expected["scan-incomplete"] = listed.get("scan-incomplete")
    assert listed == expected


def test_every_rule_is_in_the_set_of_bad_programs_or_new():
    """Rules that no program of the set expects are listed here, with the program that shows them."""
    expected = {path.read_text().split("\n", 1)[0].split("expect:")[1].strip()
                for path in (ROOT / "tests/scan/bad").iterdir()}
    shown_elsewhere = {"js-fetch", "js-native-code", "py-import-not-allowed", "py-hidden-text", "py-long-encoded",
                       "py-pickle", "py-install", "py-metadata-address"}
    assert {*rules_of("javascript"), *rules_of("python")} - expected == shown_elsewhere


@pytest.mark.parametrize("name, code, rule", [
    ("a.js", "fetch('https://x.test')", "js-fetch"),
    ("b.js", "WebAssembly.instantiate(bytes)", "js-native-code"),
    ("c.py", "s = '" + "\\x61" * 14 + "'", "py-hidden-text"),
    ("d.py", "import base64\nbase64.b64decode('" + "QUJD" * 60 + "')", "py-long-encoded"),
    ("e.py", "import pickle\npickle.loads(b'x')", "py-pickle"),
    ("f.py", "import pip", "py-install"),
    ("g.py", "u = 'http://169.254.169.254/latest'", "py-metadata-address"),
])
def test_rules_that_the_sets_do_not_show(vial, write, name, code, rule):
    assert rule in ids(findings(vial, write(name, code)))
