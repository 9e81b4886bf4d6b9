"""test_replay.py - `vial run --record` and `vial replay`: a run that is repeated with the answers of then."""
import json

import pytest

TOOLS = {
    # A number that is another one each time, after a while that the arguments say.
    "roll": ["/bin/sh", "-c", "read x; sleep $x; od -An -N4 -tu4 /dev/urandom | tr -d ' '"],
    "fail": ["/bin/sh", "-c", "exit 3"],
}
CODE = {
    "js": """const order = [];
        const note = (name) => (v) => { order.push(name); return v; };
        const rolls = await Promise.all([roll(0.15).then(note("slow")), roll(0).then(note("quick"))]);
        const failed = await fail(1).catch((e) => e.name + ": " + e.message);
        console.log("rolled", rolls.length, process.argv[2], require("fs").readFileSync("data", "utf8"));
        __return([rolls, order, failed, Date.now(), Math.random(), input]);""",
    "python": """import random, sys, time
rolls = [roll(0), roll(0.01)]
try:
    fail(1)
except Exception as e:
    failed = f"{type(e).__name__}: {e}"
print("rolled", len(rolls), sys.argv[1], open("data").read())
[rolls, failed, time.time(), random.random(), input]""",
}


@pytest.fixture
def record(vial, folder):
    """Records a run; the path of the recording, and what was printed."""

    def call(*args):
        (folder / "tools.json").write_text(json.dumps([{"name": n, "exec": {"command": c}} for n, c in TOOLS.items()]))
        done = vial("run", "--record", folder / "r.json", *args)
        return folder / "r.json", done

    return call


@pytest.mark.parametrize("lang", ["js", "python"])
@pytest.mark.parametrize("shape", [(), ("--json",)])
def test_a_run_is_repeated_exactly(vial, folder, record, lang, shape):
    (folder / "data").write_bytes(b"d")
    path, done = record("--lang", lang, "--tools", folder / "tools.json", "--file", f"{folder / 'data'}:data", "--input", "[7]", *shape,
                        "-e", CODE[lang], "--", "arg")
    assert done.returncode == 0, done.stderr
    again = vial("replay", path)
    assert (again.returncode, again.stdout) == (0, "the same: status ok, 3 calls\n"), again.stdout + again.stderr
    assert path.stat().st_mode & 0o777 == 0o600


def change(path, edit):
    recording = json.loads(path.read_text())
    edit(recording)
    path.write_text(json.dumps(recording))


@pytest.mark.parametrize("edit, words", [
    (lambda r: r.update(source=r["source"].replace("roll(0)", "roll(0.0001)")), "differs in calls[1].input:\n  then: 0\n  now:  0.0001\n"),
    (lambda r: r.update(source=r["source"].replace('"rolled"', '"threw"')), 'differs in stdout:\n  then: "rolled'),
    (lambda r: r.update(source=r["source"].replace("input]", "1]")), "differs in value:\n"),
    (lambda r: r.update(source=r["source"].replace("await fail(1)", "await Promise.reject(new Error('x'))")), "differs in calls[2]:\n  then: {"),
    (lambda r: r.update(source=r["source"].replace("__return(", "throw 1; __return(")), "differs in status:\n  then: \"ok\"\n  now:  \"exception\"\n"),
    (lambda r: r["result"]["calls"][0].update(output=5), "differs in value:\n"),
])
def test_the_first_difference_is_shown(vial, folder, record, edit, words):
    (folder / "data").write_bytes(b"d")
    path, done = record("--tools", folder / "tools.json", "--file", f"{folder / 'data'}:data", "--input", "[7]", "--json", "-e", CODE["js"], "--", "a")
    assert done.returncode == 0, done.stderr
    change(path, edit)
    again = vial("replay", path)
    assert again.returncode == 1 and again.stdout.startswith(words), again.stdout + again.stderr


def test_a_run_that_failed_is_repeated_as_well(vial, record):
    path, done = record("-e", "const t = Date.now(); if (t > 0) throw new TypeError('at ' + t)")
    assert done.returncode == 1
    assert vial("replay", path).stdout == "the same: status exception, 0 calls\n"


def test_refusals_are_repeated(vial, folder, record):
    code = "const out = []; try { await roll(0) } catch (e) { out.push(e.message) } try { require('fs').readFileSync('x') } catch (e) { out.push(e.rule) } out"
    path, done = record("--tools", folder / "tools.json", "--permissions", '{"fs": "deny", "tools": "deny"}', "-e", code)
    assert done.returncode == 0, done.stderr
    assert vial("replay", path).stdout == "the same: status ok, 2 calls\n"


def test_what_was_not_approved_is_refused_again_and_at_once(vial, folder):
    (folder / "tools.json").write_text(json.dumps([{"name": "pay", "approve": True}, {"name": "wrong", "output": {"type": "string"}, "exec": {"command": ["/bin/echo", "5"]}}]))
    code = "[await pay(1).catch((e) => e.message), await wrong(1).catch((e) => e.name)]"
    done = vial("run", "--record", folder / "r.json", "--tools", folder / "tools.json", "--approve", "no", "-e", code)
    assert done.stdout == "[ 'pay was not approved: the answer was no', 'AnswerError' ]\n", done.stderr
    again = vial("replay", folder / "r.json", timeout=5) # not after the time that a tool has
    assert (again.returncode, again.stdout) == (0, "the same: status ok, 2 calls\n"), again.stdout


def test_what_the_scanner_refused_is_refused_again(vial, record):
    path, done = record("--scan", "block", "-e", "({}).constructor.constructor('return 1')()")
    assert done.returncode == 126
    assert vial("replay", path).stdout == "the same: status denied, 0 calls\n"


def test_the_ways_of_tools_to_the_host_are_not_recorded(vial, folder):
    tools = [{"name": "a", "http": {"url": "http://127.0.0.1:9/hush", "headers": {"Authorization": "hush"}}},
             {"name": "b", "exec": {"command": ["/bin/sh", "-c", "echo 1; : hush"], "env": {"KEY": "hush"}}}]
    (folder / "tools.json").write_text(json.dumps(tools))
    done = vial("run", "--record", folder / "r.json", "--tools", folder / "tools.json", "-e", "[await a(1).catch((e) => e.name), await b(1)]")
    assert done.stdout == "[ 'NetworkError', 1 ]\n"
    assert "hush" not in (folder / "r.json").read_text()
    assert vial("replay", folder / "r.json").returncode == 0


def test_what_an_environment_redacts_is_not_recorded(vial, folder):
    data = ("--data-dir", folder / "data")
    (folder / "e.json").write_text(json.dumps({"name": "e", "audit": {"redact": ["password"]}}))
    assert vial("env", "create", folder / "e.json", *data).returncode == 0
    run = ("run", *data, "--in", "e", "--record", folder / "r.json", "--input", '{"password": "hush"}')
    assert vial(*run, "--json", "-e", "({ password: input.password, n: 1 })").returncode == 0
    assert "hush" not in (folder / "r.json").read_text()
    assert vial("replay", folder / "r.json").stdout == "the same: status ok, 0 calls\n"
    (folder / "r.json").unlink()
    refused = vial(*run, "-e", "input") # the value as text has no members to go by
    assert refused.returncode == 125 and "must be JSON" in refused.stderr and not (folder / "r.json").exists()


def test_a_number_that_cannot_be_recorded(vial, record):
    path, done = record("--json", "-e", "2 ** 64")
    assert done.returncode == 125 and "cannot be recorded: its result cannot be read: too big integer" in done.stderr and not path.exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"vial_record": 2}', '{"vial_record": 1}', '{"vial_record": 1, "name": "a", "source": 1}',
                                  '{"vial_record": 1, "name": "a", "source": "1", "env": [1]}',
                                  '{"vial_record": 1, "name": "a", "source": "1", "files": [{"name": "x", "base64": "!"}]}',
                                  '{"vial_record": 1, "name": "a", "source": "1", "result": {"calls": [{}]}}',
                                  '{"vial_record": 1, "name": "a", "source": "1", "result": {}, "limits": {"wall_ms_max": 9999999999999}}',
                                  '{"vial_record": 1, "name": "a", "source": "1", "result": {}, "scan_rules": [1]}',
                                  '{"vial_record": 1, "name": "a", "source": "1", "result": {}, "tools": [{"name": 1}]}',
                                  '{"vial_record": 1, "name": "a", "source": "1", "result": {}, "environment": "{\\"name\\": 1}"}',
                                  '{"vial_record": 1, "name": "a", "source": "1", "result": {}, "environment": "{"}'])
def test_what_is_no_recording_is_refused(vial, folder, text):
    (folder / "bad.json").write_text(text)
    done = vial("replay", folder / "bad.json")
    assert (done.returncode, done.stdout) == (2, "") and "no recording" in done.stderr


def test_the_file_has_to_be_given(vial):
    assert vial("replay").returncode == 2 and vial("replay", "--what").returncode == 2 and vial("replay", "a", "b").returncode == 2
    missing = vial("replay", "none.json")
    assert missing.returncode == 2 and "cannot read none.json" in missing.stderr
    assert "vial replay FILE" in vial("replay", "--help").stdout
