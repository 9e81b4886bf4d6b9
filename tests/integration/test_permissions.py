"""What programs may do: rules in environments, sessions and runs, in both languages; the clock and chance."""
import json

import pytest

OK = [{"effect": "allow", "match": "/home/vial/ok/**"},
      {"effect": "deny", "match": "/home/vial/ok/secret*", "name": "no-secrets"}]
NONE = "the fs rules of the run, of which none matches"
SECRET = '"no-secrets" (fs rule 2 of the run)'

WRITE = {
    "js": """const fs = require("fs"), out = [];
        fs.mkdirSync("ok", {recursive: true});
        for (const path of input) {
            try { fs.writeFileSync(path, "x"); out.push("ok"); } catch (e) { out.push(e.code + " " + e.rule); }
        }
        out""",
    "python": """import os, re
out = []
os.makedirs("/home/vial/ok", exist_ok=True)
for path in input:
    try:
        open(path, "w").write("x")
        out.append("ok")
    except PermissionError as e:
        out.append("EACCES " + e.strerror.removeprefix("Permission denied by "))
out""",
}


def denials(result):
    return [(c["name"], c["reason"]) for c in result["calls"] if c["status"] == "denied"]


@pytest.mark.parametrize("lang", ["js", "python"])
def test_files_are_judged_by_where_they_are(vial, lang):
    paths = ["ok/a", "x", "ok/secret1", "ok/../x", "/home/vial//ok/./secret2", "/tmp/t", "ok/.secret"]
    result = vial.result("--lang", lang, "--permissions", json.dumps({"fs": OK}), "--input", json.dumps(paths), "-e", WRITE[lang])
    expected = ["ok", f"EACCES {NONE}", f"EACCES {SECRET}", f"EACCES {NONE}", f"EACCES {SECRET}", f"EACCES {NONE}", "ok"]
    assert result["value"] == expected, result["error"]
    assert denials(result)[:5] == [
        ("fs.write", f"/home/vial/x: denied by {NONE}"), ("fs.write", f"/home/vial/ok/secret1: denied by {SECRET}"),
        ("fs.write", f"/home/vial/x: denied by {NONE}"), ("fs.write", f"/home/vial/ok/secret2: denied by {SECRET}"),
        ("fs.write", f"/home/vial/.tmp/t: denied by {NONE}")]


JS_TRICKS = """const fs = require("fs"), out = [];
fs.writeFileSync("d/mine", "m");
for (const [name, trick] of Object.entries({
    link: () => { fs.symlinkSync("/home/vial/d/secret", "d/l"); return fs.readFileSync("d/l", "utf8"); },
    hard: () => { fs.linkSync("d/secret", "d/h"); return fs.readFileSync("d/h", "utf8"); },
    move: () => { fs.renameSync("d/secret", "d/m"); return fs.readFileSync("d/m", "utf8"); },
    folder: () => { fs.renameSync("d", "e"); return fs.readFileSync("e/secret", "utf8"); },
    copy: () => { fs.copyFileSync("d/secret", "d/c"); return fs.readFileSync("d/c", "utf8"); },
    cd: () => { process.chdir("d"); try { return fs.readFileSync("secret", "utf8"); } finally { process.chdir(".."); } },
    over: () => { fs.renameSync("d/mine", "d/secret"); },
    stat: () => fs.statSync("d/secret").size,
    patched: () => { Object.prototype.rule = 1; String.prototype.startsWith = () => true; return fs.readFileSync("d/secret", "utf8"); },
})) {
    try { out.push([name, trick() ?? "done"]); } catch (e) { out.push([name, e.code]); }
}
out"""

PY_TRICKS = """import os, shutil, mmap
out = []
open("d/mine", "w").write("m")
def link():
    os.symlink("/home/vial/d/secret", "d/l"); return open("d/l").read()
def hard():
    os.link("d/secret", "d/h"); return open("d/h").read()
def move():
    os.rename("d/secret", "d/m"); return open("d/m").read()
def folder():
    os.rename("d", "e"); return open("e/secret").read()
def copy():
    shutil.copy("d/secret", "d/c"); return open("d/c").read()
def cd():
    os.chdir("d")
    try:
        return open("secret").read()
    finally:
        os.chdir("..")
def over():
    os.replace("d/mine", "d/secret")
def stat():
    return os.stat("d/secret").st_size
def at():
    return os.open("../d/secret", os.O_RDONLY, dir_fd=os.open("d", os.O_RDONLY))
def io_open():
    import io; return io.FileIO("/home/vial/./d/secret").read()
for trick in (link, hard, move, folder, copy, cd, over, stat, at, io_open):
    try:
        out.append([trick.__name__, trick() or "done"])
    except OSError as e:
        out.append([trick.__name__, {13: "EACCES", 18: "EXDEV"}.get(e.errno, e.errno)])
out"""


@pytest.mark.parametrize("lang, code", [("js", JS_TRICKS), ("python", PY_TRICKS)])
def test_no_trick_leads_to_a_file_that_is_denied(vial, folder, lang, code):
    (folder / "secret").write_text("top")
    rules = [{"effect": "allow", "match": "/home/vial/**"}, {"effect": "deny", "match": "/home/vial/d/secret"}]
    result = vial.result("--lang", lang, "--file", f"{folder / 'secret'}:d/secret", "--permissions", json.dumps({"fs": rules}), "-e", code)
    assert result["value"] is not None, result["error"]
    assert {how for _, how in result["value"]} == {"EACCES", "EXDEV"}, result["value"]
    assert "top" not in json.dumps(result["value"])


def test_many_denials_are_counted(vial):
    code = 'const fs = require("fs"); for (let i = 0; i < 500; i++) try { fs.readFileSync("x" + i); } catch {} 1'
    result = vial.result("--permissions", '{"fs": "deny"}', "-e", code)
    assert (result["value"], len(result["calls"]), result["calls_dropped"]) == (1, 100, 400)
    assert result["calls"][0]["reason"] == '/home/vial/x0: denied by fs: "deny" of the run'


def test_python_without_files_still_has_its_library(vial):
    result = vial.result("--lang", "python", "--permissions", '{"fs": "deny"}', "-e", "import wave, this_is_not_there")
    assert result["error"]["name"] == "ModuleNotFoundError"
    assert result["calls"] == []


@pytest.mark.parametrize("lang, code", [
    ("js", "[process.env, process.argv.slice(2), require('fs').readFileSync(0, 'utf8')]"),
    ("python", "import os, sys\n[{k: v for k, v in os.environ.items() if k[0] in 'AB'}, sys.argv[1:], sys.stdin.read()]")])
def test_variables_arguments_and_input_are_left_out(vial, folder, lang, code):
    (folder / "in").write_text("typed")
    policy = {"env": [{"effect": "allow", "match": "A*"}, {"effect": "deny", "match": "AWS_*", "name": "cloud"}],
              "process": [{"effect": "allow", "match": "cwd"}]}
    result = vial.result("--lang", lang, "--env", "A=1", "--env", "AWS_KEY=2", "--env", "B=3", "--stdin", folder / "in",
                         "--permissions", json.dumps(policy), "-e", code, "--", "one", "two")
    assert result["value"] == [{"A": "1"}, [], ""], result["error"]
    assert denials(result) == [
        ("env.read", 'AWS_KEY: denied by "cloud" (env rule 2 of the run)'),
        ("env.read", "B: denied by the env rules of the run, of which none matches"),
        ("process.args", "denied by the process rules of the run, of which none matches"),
        ("process.stdin", "denied by the process rules of the run, of which none matches")]


@pytest.mark.parametrize("lang, code", [
    ("js", "try { process.chdir('/home') } catch (e) { e.message }"),
    ("python", "import os\ntry:\n    os.chdir('/home')\nexcept OSError as e:\n    out = str(e)\nout")])
def test_the_directory_can_be_fixed(vial, lang, code):
    result = vial.result("--lang", lang, "--permissions", '{"process": "deny"}', "-e", code)
    assert 'denied by process: "deny" of the run' in result["value"].lower()
    assert denials(result) == [("process.cwd", '/home: denied by process: "deny" of the run')]


# ---- levels ----

@pytest.fixture
def env(vial, folder):
    folder.chmod(0o777)

    def make(**document):
        made = vial("env", "create", "-", "--data-dir", folder / "data", stdin=json.dumps({"name": "e", **document}))
        assert made.returncode == 0, made.stderr
        return ("--in", "e", "--data-dir", folder / "data")

    return make


@pytest.mark.parametrize("language", ["javascript", "python"])
def test_a_run_can_only_tighten(vial, env, language):
    tools = [{"name": name, "exec": {"command": ["/bin/cat"]}} for name in ("crm.find", "crm.drop")]
    inside = env(language=language, tools=tools, env={"A": "1", "B": "2"},
                 permissions={"fs": [{"effect": "allow", "match": "/home/vial/ok/**"}],
                              "tools": [{"effect": "allow", "match": "crm.find"}], "env": [{"effect": "allow", "match": "A"}]})
    loose = {"fs": "allow", "tools": "allow", "env": "allow", "net": "allow"}
    js = """const fs = require("fs"), out = [];
        try { fs.writeFileSync("x", "") } catch (e) { out.push(e.rule) }
        try { await crm.drop(1) } catch (e) { out.push(e.message) }
        out.push(await crm.find(2), process.env.A ?? null, process.env.B ?? null); __return(out)"""
    python = """import os
out = []
try:
    open("x", "w")
except OSError as e:
    out.append(e.strerror.removeprefix("Permission denied by "))
try:
    crm.drop(1)
except Exception as e:
    out.append(str(e))
out += [crm.find(2), os.environ.get("A"), os.environ.get("B")]
out"""
    code = js if language == "javascript" else python
    result = vial.result(*inside, "--permissions", json.dumps(loose), "-e", code)
    assert result["value"] == [
        "the fs rules of the environment, of which none matches",
        "crm.drop may not be called: denied by the tools rules of the environment, of which none matches", 2, "1", None], result["error"]
    tight = {"fs": "deny", "tools": "deny", "env": "deny"}
    code = code.replace("out.push(await crm.find(2), ", "try { await crm.find(2) } catch (e) { out.push(e.message) } out.push(")
    code = code.replace("out += [crm.find(2), ", "try:\n    crm.find(2)\nexcept Exception as e:\n    out.append(str(e))\nout += [")
    result = vial.result(*inside, "--permissions", json.dumps(tight), "-e", code)
    assert result["value"][2:] == ['crm.find may not be called: denied by tools: "deny" of the run', None, None], result["error"]


@pytest.mark.parametrize("language, prefix, code", [
    ("javascript", "const seen = process.env.KEY", "[seen, process.env.KEY ?? null, Object.keys(process.env)]"),
    ("python", "import os\nseen = os.environ['KEY']", "[seen, os.environ.get('KEY'), 'KEY' in os.environ and 1 or []]")])
def test_a_variable_of_the_prefix_is_taken_away_again(vial, env, language, prefix, code):
    inside = env(language=language, prefix=prefix, env={"KEY": "k"})
    assert vial.result(*inside, "-e", code)["value"][1] == "k"
    result = vial.result(*inside, "--permissions", '{"env": "deny"}', "-e", code)
    assert result["value"] == ["k", None, []], result["error"]


def test_what_a_mount_hides_is_refused(vial, env, folder):
    (folder / "m").mkdir()
    (folder / "m" / "open").write_text("o")
    (folder / "m" / "secret").write_text("s")
    inside = env(mounts={"m": {"from": str(folder / "m")}}, permissions={"fs": [
        {"effect": "allow", "match": "/home/vial/**"}, {"effect": "deny", "match": "/home/vial/m/secret"}]})
    code = 'const fs = require("fs"); const look = (p) => { try { return fs.readFileSync(p, "utf8") } catch (e) { return e.rule } };' \
           ' [look("m/open"), look("m/secret"), look("m/../m//secret"), fs.readdirSync("m").sort()]'
    result = vial.result(*inside, "-e", code)
    assert result["value"] == ["o"] + ["fs rule 2 of the environment"] * 2 + [["open", "secret"]], result["error"]


@pytest.mark.parametrize("policy, words", [
    ('{"fs": "open"}', "/permissions/fs: must be"), ('{"sockets": "deny"}', "/permissions/sockets: there is no such key"),
    ("{", "permissions:"), ("@/nowhere/x", "/nowhere/x"), ('{"clock": {"at": "2026"}}', "/permissions/clock/at")])
def test_what_is_not_understood_is_no_permission(vial, policy, words):
    done = vial("run", "--permissions", policy, "-e", "1")
    assert (done.returncode, done.stdout) == (2, "") and words in done.stderr


def test_permissions_can_come_from_a_file(vial, folder):
    (folder / "p.json").write_text('{"fs": "deny"}')
    result = vial.result("--permissions", f"@{folder / 'p.json'}", "-e", "try { require('fs').readdirSync('.') } catch (e) { e.rule }")
    assert result["value"] == 'fs: "deny" of the run'


def test_a_session_has_permissions_of_its_own(vial):
    inputs = "try { require('fs').readdirSync('.') } catch (e) { e.rule }\nDate.now()\nconst a = Math.random()\na === Math.random()\n"
    done = vial("repl", "--permissions", '{"fs": "deny"}', "--clock", "2026-01-01T00:00:00Z", "--seed", "1", stdin=inputs)
    assert done.stdout.splitlines() == ["'fs: \"deny\" of the session'", "1767225600000", "false"], done.stdout + done.stderr


# ---- time and chance ----

NOW = {
    "js": """[new Date().toISOString(), Date.now(), new Date(2020, 1, 1).getFullYear(), Math.random(), Math.random(), performance.now(),
        process.hrtime.bigint() === process.hrtime.bigint(), new Intl.DateTimeFormat("en").format(),
        await new Promise((done) => setTimeout(() => done(Date.now()), 20))]""",
    "python": """import asyncio, datetime, random, time
before = time.perf_counter()
await asyncio.sleep(0.02)
time.sleep(0.01)
open("x", "w").close()
import os
[datetime.datetime.now().isoformat(), time.time(), datetime.date.today().year, random.random(), random.randint(1, 1000000),
 time.perf_counter() - before, time.monotonic(), time.strftime("%Y-%m-%d"), os.stat("x").st_mtime, sorted({"a", "b", "c"})]""",
}


@pytest.mark.parametrize("lang", ["js", "python"])
def test_runs_with_a_clock_and_a_seed_are_alike(vial, lang):
    given = ("--lang", lang, "--clock", "2026-01-01T00:00:00Z", "--seed", "42", "-e", NOW[lang])
    first, second = vial.result(*given), vial.result(*given)
    assert first["value"] == second["value"] and first["value"] is not None, first["error"]
    assert first["value"][0].startswith("2026-01-01T00:00:00")
    assert first["value"][5] == 0
    assert first["usage"]["wall_us"] > 10000  # timers go by the true clock
    other = vial.result("--lang", lang, "--seed", "43", "-e", NOW[lang])
    assert other["value"][3] != first["value"][3] and not other["value"][0].startswith("2026-01-01T00:00:00.000")


@pytest.mark.parametrize("lang, code", [
    ("js", "Date.prototype.getTime = () => 5; const D = Date; globalThis.Date = class extends D {}; delete Math.random.name; "
           "[new D().toISOString(), D.now(), Reflect.construct(D, []).valueOf(), new (Object.getPrototypeOf(Date))().toISOString()]"),
    ("python", "import importlib, time, sys, ctypes" if False else
     "import importlib, sys\ndel sys.modules['time']\nimport time as t\n[int(t.time()), int(t.clock_gettime(t.CLOCK_REALTIME)), t.gmtime().tm_year]")])
def test_no_trick_shows_the_true_time(vial, lang, code):
    result = vial.result("--lang", lang, "--clock", "2026-01-01T00:00:00Z", "-e", code)
    assert result["value"] in (["2026-01-01T00:00:00.000Z", 1767225600000, 1767225600000, "2026-01-01T00:00:00.000Z"],
                               [1767225600, 1767225600, 2026]), result


@pytest.mark.parametrize("lang, code", [("js", "const a = Date.now(); while (Date.now() < a + 5); [Date.now() - a >= 5, new Date().getFullYear()]"),
                                        ("python", "import time\na = time.time()\nwhile time.time() < a + 0.005: pass\n[True, time.gmtime().tm_year]")])
def test_a_clock_can_run_from_a_time_on(vial, lang, code):
    result = vial.result("--lang", lang, "--permissions", '{"clock": {"at": "2001-05-05T00:00:00Z", "runs": true}}', "-e", code)
    assert result["value"] == [True, 2001], result["error"]


def test_a_loop_that_waits_for_a_clock_that_stands_meets_its_limit(vial):
    result = vial.result("--clock", "2026-01-01T00:00:00Z", "--wall-ms", "200", "-e", "const a = Date.now(); while (Date.now() === a);")
    assert result["status"] in ("wall_limit", "cpu_limit")


@pytest.mark.parametrize("lang, code", [("js", "[crypto.randomUUID(), Math.random()]"),
                                        ("python", "import uuid, random\n[str(uuid.uuid4()), random.random()]")])
def test_cryptography_is_not_seeded(vial, lang, code):
    first, second = (vial.result("--lang", lang, "--seed", "7", "-e", code)["value"] for _ in range(2))
    assert first[0] != second[0] and first[1] == second[1]


@pytest.mark.parametrize("lang, code", [
    ("js", "try { crypto.getRandomValues(new Uint8Array(4)) } catch (e) { [e.message, typeof Math.random()] }"),
    ("python", "import os, random\ntry:\n    os.urandom(4)\nexcept OSError as e:\n    out = [e.strerror, type(random.random()).__name__]\nout")])
def test_without_random_numbers_there_are_none(vial, lang, code):
    result = vial.result("--lang", lang, "--permissions", '{"random": "deny"}', "-e", code)
    assert result["value"][0] == 'Permission denied by random: "deny"', result
    assert result["value"][1] in ("number", "float")


def test_numpy_is_seeded(vial):
    code = "import numpy as np\n[float(np.random.rand()), float(np.random.rand())]"
    first, second = (vial.result("--in", "data", "--seed", "7", "-e", code) for _ in range(2))
    assert first["value"] == second["value"] and first["value"] is not None, first["error"]


def test_a_clock_that_is_set_stays_set(vial, env):
    inside = env(permissions={"clock": {"at": "2026-01-01T00:00:00Z"}, "random": {"seed": 1}})
    first = vial.result(*inside, "-e", "[Date.now(), Math.random()]")["value"]
    assert first == vial.result(*inside, "-e", "[Date.now(), Math.random()]")["value"] and first[0] == 1767225600000
    assert vial.result(*inside, "--permissions", '{"clock": "allow", "random": "allow"}', "-e", "Date.now()")["value"] == 1767225600000
    done = vial("run", *inside, "--clock", "2027-01-01T00:00:00Z", "-e", "1")
    assert done.returncode == 2 and "cannot set another clock" in done.stderr


# ---- vial policy explain ----

def explain(vial, folder, policy, *words):
    (folder / "e.json").write_text(json.dumps({"name": "e", "tools": [{"name": "crm.find"}, {"name": "mail"}], "env": {"A": "1", "B": "2"},
                                               "permissions": policy}))
    done = vial("policy", "explain", str(folder / "e.json"), *words)
    return done.returncode, done.stdout.rstrip("\n"), done.stderr


@pytest.mark.parametrize("words, code, answer", [
    (["--fs", "/home/vial/ok/x:write"], 0, "allowed: fs write /home/vial/ok/x, by fs rule 1 of the environment"),
    (["--fs", "/home/vial//ok/./secret:read"], 126, 'denied: fs read /home/vial/ok/secret, by "no-secrets" (fs rule 2 of the environment)'),
    (["--fs", "/home/vial/ok/../x:read"], 126, "denied: fs read /home/vial/x, by the fs rules of the environment, of which none matches"),
    (["--fs", "/tmp/a:read"], 126, "denied: fs read /home/vial/.tmp/a, by the fs rules of the environment, of which none matches"),
    (["--fs", "/../..:read"], 126, "denied: fs read /, by the fs rules of the environment, of which none matches"),
    (["--tool", "crm.find"], 0, "allowed: tools call crm.find, by tools rule 1 of the environment"),
    (["--tool", "mail"], 126, "denied: tools call mail, by the tools rules of the environment, of which none matches"),
    (["--tool", "nope"], 126, "denied: tools call nope, by the environment, which declares no such tool"),
    (["--env", "A"], 0, "allowed: env read A, by the default of env"),
    (["--env", "A", "--permissions", '{"env": "deny"}'], 126, 'denied: env read A, by env: "deny" of the run'),
    (["--env", "C"], 126, "denied: env read C, by the environment, which declares no such variable"),
])
def test_explain_says_by_which_rule(vial, folder, words, code, answer):
    policy = {"fs": OK, "tools": [{"effect": "allow", "match": "crm.*"}]}
    assert explain(vial, folder, policy, *words)[:2] == (code, answer)


def test_explain_knows_that_there_is_no_network(vial, folder):
    code, answer, _ = explain(vial, folder, {}, "--net", "https://api.example.com/v1")
    assert code == 126 and answer.startswith("denied: net fetch https://api.example.com/v1")


def test_explain_answers_as_one_object(vial, folder):
    code, answer, _ = explain(vial, folder, {"fs": OK}, "--json", "--fs", "/home/vial/ok/x:read")
    assert code == 0 and json.loads(answer) == {"allowed": True, "scope": "fs", "op": "read", "subject": "/home/vial/ok/x",
                                                "by": "fs rule 1 of the environment"}


@pytest.mark.parametrize("words", [[], ["--fs", "x:read"], ["--fs", "/x"], ["--fs", "/x:run"], ["--fs", "/x:read", "--tool", "a"], ["--what"]])
def test_explain_needs_one_question(vial, folder, words):
    code, answer, err = explain(vial, folder, {}, *words)
    assert (code, answer) == (2, "") and err.startswith("vial: ")


def test_explain_agrees_with_what_happens(vial, folder):
    for path in ("ok/a", "ok/secret", "b", "ok", "../x"):
        code = explain(vial, folder, {"fs": OK}, "--fs", f"/home/vial/{path}:read")[0]
        result = vial.result("--permissions", json.dumps({"fs": OK}), "--input", json.dumps(path), "-e",
                             "const fs = require('fs'); fs.mkdirSync('ok'); try { fs.readdirSync(input); 0 } catch (e) { e.code === 'EACCES' ? 126 : 0 }")
        assert result["value"] == code, path
