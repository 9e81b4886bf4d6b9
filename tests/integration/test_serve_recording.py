"""test_serve_recording.py - runs of `vial serve` that are recorded, and `vial replay RUN`: repeated when the server has gone, with nothing
secret in them, bounded, and what is said when there is no recording."""

import contextlib
import http.server
import json
import signal
import sqlite3
import threading

import pytest

from conftest import wait_until
from server import Server, next_event, serving

PROGRAM = {
    "javascript": """const rolls = await Promise.all([roll({ n: 1 }), roll({ n: 2 })]);
        const failed = await fail(1).catch((e) => [e.name, e.message, e.code]);
        const denied = await pay(5).catch((e) => e.message);
        console.log("rolled", rolls.length, process.argv[2], require("fs").readFileSync("data", "utf8"), require("lib"));
        [rolls, failed, denied, Date.now(), Math.random(), input]""",
    "python": """import random, sys, time
import lib
rolls = [roll(n=1), roll(n=2)]
try:
    fail(1)
except ToolError as e:
    failed = [e.name, str(e), e.code]
try:
    pay(5)
except ToolError as e:
    denied = str(e)
print("rolled", len(rolls), sys.argv[1], open("data").read(), lib.x)
[rolls, failed, denied, time.time(), random.random(), input]""",
}
MODULES = {"javascript": {"lib": "module.exports = 3"}, "python": {"lib": "x = 3"}}
TOOLS = [{"name": "roll", "input": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}, {"name": "fail"},
         {"name": "pay", "approve": True}]
ANSWERS = {"roll": lambda args: {"value": 4000 + args["n"]}, "fail": lambda args: {"error": {"name": "Sad", "message": "no", "fields": {"code": 7}}},
           "pay": lambda args: {"approve": False, "reason": "too much"}}


def play(s, body, headers=()):
    """Runs in a stream and answers every call; the result."""
    c, r = s.stream("/v1/runs", {**body, "stream": True}, **dict(headers))
    run = next_event(r, "start")["run"]["id"]
    result = None
    while (event := next_event(r))["type"] != "end":
        if event["type"] == "call":
            answer = ANSWERS[event["call"]["tool"]](event["call"]["args"])
            assert s.ask("POST", f"/v1/runs/{run}/calls/{event['call']['id']}", answer, **dict(headers)).status == 204
        result = event["result"] if event["type"] == "result" else result
    c.close()
    return result


def recording_of(s, run, **headers):
    answer = s.ask("GET", f"/v1/runs/{run}/recording", **headers)
    return (answer.status, answer.json) if answer.status == 200 else (answer.status, answer.json["code"], answer.json["detail"])


def is_stored(s, run):
    with contextlib.closing(sqlite3.connect(s.data / "runs.db")) as db:
        return db.execute("SELECT count(*) FROM run WHERE id = ? AND ended_us != 0", [run]).fetchone() == (1,)


def change(data, run, edit):
    """Changes the recording of a run where it is stored."""
    with contextlib.closing(sqlite3.connect(data / "runs.db")) as db, db:
        text = edit(db.execute("SELECT bytes FROM recording WHERE run = ?", [run]).fetchone()[0].decode())
        db.execute("UPDATE recording SET bytes = ?, len = ? WHERE run = ?", [text.encode(), len(text.encode()), run])


def replay(vial, s, run, *options):
    done = vial("replay", run, "--data-dir", s.data, *options)
    return done.returncode, done.stdout, done.stderr


@contextlib.contextmanager
def echo_server():
    """Answers with a header that it got."""

    class Echo(http.server.BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_any(self):
            body = json.dumps({"key": self.headers.get("X-Key"), "n": len(server.seen)}).encode()
            server.seen.append(dict(self.headers.items()))
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_any

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


# ---- repeating ----


@pytest.mark.parametrize("language", ["javascript", "python"])
@pytest.mark.parametrize("in_environment", [False, True])
def test_a_run_is_repeated_when_the_server_has_gone(vial, folder, language, in_environment):
    body = {"code": PROGRAM[language], "language": language, "input": [7], "files": {"data": "d"}, "args": ["arg"], "modules": MODULES[language], "record": True}
    with serving(vial, folder) as s:
        if in_environment:
            document = {"name": "rolls", "language": language, "tools": TOOLS, "permissions": {"random": {"seed": 5}}}
            assert s.ask("POST", "/v1/environments", document).status == 201
            body["environment"] = "rolls"
        else:
            body["tools"] = TOOLS
        result = play(s, body)
        run = result["id"]
        assert result["status"] == "ok" and result["value"][0] == [4001, 4002], result
        assert result["value"][2] == "pay was not approved: too much"
        assert set(result["recording"]) == {"url", "bytes"}
        if in_environment: # what becomes of it later is of no matter
            assert s.ask("PUT", "/v1/environments/rolls", {"name": "rolls", "language": language, "prefix": ""}).status == 200
    assert replay(vial, s, run) == (0, "the same: status ok, 4 calls\n", "")
    change(s.data, run, lambda text: text.replace('"stdout":"rolled', '"stdout":"threw'))
    code, said, _ = replay(vial, s, run)
    assert code == 1 and said.startswith('differs in stdout:\n  then: "threw 2 arg d 3\\n"\n  now:  "rolled'), said


def test_a_recording_is_given_and_repeated_from_a_file(vial, folder):
    with serving(vial, folder) as s:
        result = s.run("console.error('e'); [input.a, Math.random()]", input={"a": 1}, permissions={"fs": "deny"}, limits={"wall_ms_max": 4000}, record=True)
        status, recording = recording_of(s, result["id"])
        assert status == 200 and result["recording"]["url"] == f"/v1/runs/{result['id']}/recording"
        assert wait_until(lambda: is_stored(s, result["id"]))
        assert recording_of(s, result["id"]) == (200, recording) # from memory and from the disk
        assert s.ask("GET", f"/v1/runs/{result['id']}").json["recording"] == result["recording"]
    assert recording["vial_record"] == 1 and recording["limits"]["wall_ms_max"] == 4000 and json.loads(recording["input"]) == {"a": 1}
    assert set(json.loads(recording["permissions"])) == {"fs", "clock", "random"}
    assert recording["result"]["value"] == result["value"] and recording["result"]["stderr"] == "e\n"
    (folder / "r.json").write_text(json.dumps(recording))
    assert vial("replay", folder / "r.json").stdout == "the same: status ok, 0 calls\n"
    assert vial("replay", "-", stdin=json.dumps(recording)).returncode == 0
    recording["input"] = '{"a": 2}'
    (folder / "r.json").write_text(json.dumps(recording))
    again = vial("replay", folder / "r.json")
    assert again.returncode == 1 and again.stdout.startswith("differs in value:\n  then: [1,"), again.stdout


@pytest.mark.parametrize("body, status", [
    ({"code": "throw new TypeError('at ' + Date.now())"}, "exception"),
    ({"code": "({}).constructor.constructor('return 1')()", "scan": "block"}, "denied"),
    ({"code": "for (;;) {}", "limits": {"cpu_ms_max": 100}}, "cpu_limit"),
    ({"code": "interface A { a: number } const a: A = { a: 1 }; a", "language": "ts"}, "ok"),
    ({"code": "function main() { return 5 }", "entry": "main", "kind": "module", "cwd": "sub", "env": {"A": "b"}, "stdin": "in"}, "ok"),
])
def test_every_kind_of_run_is_repeated(vial, folder, body, status):
    with serving(vial, folder) as s:
        result = s.run(**body, record=True)
        assert result["status"] == status, result
    assert replay(vial, s, result["id"])[:2] == (0, f"the same: status {status}, 0 calls\n")


def test_a_run_that_goes_on_has_no_recording_yet(vial, folder):
    with serving(vial, folder) as s:
        run = s.ask("POST", "/v1/runs", {"code": "await wait(1)", "tools": [{"name": "wait"}], "detach": True, "record": True}).json["id"]
        assert recording_of(s, run)[:2] == (409, "busy")
        s.ask("POST", f"/v1/runs/{run}/cancel")
        assert wait_until(lambda: s.ask("GET", f"/v1/runs/{run}").json["status"] == "cancelled")
        recording_of(s, run)


def test_recordings_survive_a_kill_and_a_restart(vial, folder):
    s = Server(vial, folder)
    ended = s.run("Math.random()", record=True)["id"]
    going = s.ask("POST", "/v1/runs", {"code": "await wait(1)", "tools": [{"name": "wait"}], "detach": True, "record": True}).json["id"]
    assert wait_until(lambda: is_stored(s, ended) and s.ask("GET", "/v1/runs").json["items"][0]["id"] == going)
    with contextlib.closing(sqlite3.connect(s.data / "runs.db")) as db:
        assert wait_until(lambda: db.execute("SELECT count(*) FROM run").fetchone() == (2,))
    s.stop(signal.SIGKILL)
    with serving(vial, folder) as s:
        assert recording_of(s, ended)[0] == 200
        assert recording_of(s, going) == (410, "ended", "the server ended before the run did")
        assert replay(vial, s, ended)[0] == 0 # beside the server as well
    assert replay(vial, s, going)[::2] == (1, f"vial: {going} cannot be repeated: the server ended before the run did\n")


# ---- whose it is ----


def test_who_may_have_a_recording(vial, folder):
    (folder / "data").mkdir(mode=0o700)
    keys = {}
    for name, scope in {"mine": "run", "other": "run", "both": "run,env", "admin": "admin"}.items():
        keys[name] = {"Authorization": "Bearer " + vial("key", "create", "--scope", scope, "--data-dir", folder / "data").stdout.strip()}
    with serving(vial, folder, insecure=False) as s:
        assert s.ask("POST", "/v1/environments", {"name": "e", "prefix": "const hidden = 1"}, **keys["both"]).status == 201
        runs = {name: s.ask("POST", "/v1/runs", {"code": "1", "record": True}, **keys[name]).json["id"] for name in ("mine", "both")}
        inside = {name: s.ask("POST", "/v1/runs", {"code": "1", "environment": "e", "record": True}, **keys[name]).json["id"] for name in ("mine", "both")}
        for _ in range(2): # from memory, and from the store
            assert recording_of(s, runs["mine"], **keys["mine"])[0] == 200
            assert recording_of(s, runs["mine"], **keys["admin"])[0] == 200
            for name in ("other", "both"): # as for the run itself
                assert recording_of(s, runs["mine"], **keys[name])[:2] == (404, "not_found")
                assert s.ask("GET", f"/v1/runs/{runs['mine']}", **keys[name]).status == 404
            # What an environment is made of takes the same scope as the environment itself.
            assert recording_of(s, inside["mine"], **keys["mine"])[:2] == (403, "forbidden")
            assert s.ask("GET", "/v1/environments/e", **keys["mine"]).status == 403
            assert recording_of(s, inside["both"], **keys["both"])[0] == 200
            assert recording_of(s, inside["mine"], **keys["admin"])[0] == 200
            assert wait_until(lambda: all(is_stored(s, run) for run in [*runs.values(), *inside.values()]))
        assert s.ask("GET", f"/v1/runs/{runs['mine']}/recording").status == 401


# ---- secrets ----


def test_no_secret_is_in_a_recording(vial, folder):
    """Each of these words is given to the server, and used by the run; none of them is anywhere in what is stored."""
    with echo_server() as echo, serving(vial, folder) as s:
        base = f"http://127.0.0.1:{echo.server_port}/"
        assert s.ask("PUT", "/v1/secrets/API_KEY", {"value": "stored-hush-1"}).status == 200
        document = {
            "name": "e",
            "tools": [{"name": "ask", "http": {"url": base, "headers": {"X-Token": "header-hush-2"}}},
                      {"name": "tell", "exec": {"command": ["/bin/sh", "-c", "test -n \"$TOKEN\" && echo 5"], "env": {"TOKEN": "exec-hush-3"}}},
                      {"name": "login"}],
            "permissions": {"net": [{"effect": "allow", "match": {"scheme": "http", "host": "127.0.0.1", "port": echo.server_port},
                                     "addresses": ["127.0.0.1"], "inject": {"header": "X-Key", "secret": "API_KEY"}}]},
            "globals": {"settings": {"password": "global-hush-4"}},
            "audit": {"redact": ["password"]},
        }
        assert s.ask("POST", "/v1/environments", document).status == 201
        ANSWERS["login"] = lambda args: {"value": {"user": args["user"], "password": "answer-hush-5"}}
        code = f"""const seen = (await (await fetch("{base}")).json()).key;
            const n = (await ask({{}})).n;
            const who = await login({{ user: "u", password: input.password + settings.password }});
            [seen, n, await tell(1), who.password.length > 0, {{ user: who.user, password: who.password }}]"""
        result = play(s, {"code": code, "environment": "e", "input": {"password": "input-hush-6"}, "record": True})
        assert result["value"][:4] == ["[secret API_KEY]", 1, 5, True], result
        assert [h.get("X-Key") or h.get("X-Token") for h in echo.seen] == ["stored-hush-1", "header-hush-2"]
        assert result["value"][4]["password"] == "answer-hush-5"
        run = result["id"]
        status, recording = recording_of(s, run)
        assert status == 200 and "hush" not in json.dumps(recording)
        assert recording["result"]["calls"][2]["input"] == {"user": "u", "password": "[redacted]"}
        assert [t["name"] for t in json.loads(recording["environment"])["tools"]] == ["ask", "tell", "login"]
        assert wait_until(lambda: is_stored(s, run))
        with contextlib.closing(sqlite3.connect(s.data / "runs.db")) as db:
            assert b"hush" not in db.execute("SELECT bytes FROM recording").fetchone()[0]
        # A repetition sees what is recorded. Asking the network again it has no secret.
        code, said, noted = replay(vial, s, run, "--net")
        assert code == 1 and said.startswith("differs in calls[0].reason:") and "1 requests to the network" in noted, said + noted


def test_what_is_redacted_is_compared_as_redacted(vial, folder):
    with serving(vial, folder) as s:
        assert s.ask("POST", "/v1/environments", {"name": "e", "tools": [{"name": "login"}], "audit": {"redact": ["*pin*"]}}).status == 201
        ANSWERS["login"] = lambda args: {"value": {"pin": args["my_pin"]}}
        result = play(s, {"code": "const r = await login({ my_pin: input.pin }); ({ pin: String(r.pin).length, ok: 1 })", "environment": "e", "input": {"pin": 12345}, "record": True})
        assert result["value"] == {"pin": 5, "ok": 1}
    assert replay(vial, s, result["id"])[:2] == (0, "the same: status ok, 1 calls\n")


def test_the_network_holds_up_no_answer(vial, folder):
    with echo_server() as echo, serving(vial, folder) as s:
        rule = {"effect": "allow", "match": {"scheme": "http", "host": "127.0.0.1", "port": echo.server_port}, "addresses": ["127.0.0.1"]}
        assert s.ask("POST", "/v1/environments", {"name": "e", "tools": [{"name": "roll"}], "permissions": {"net": [rule]}}).status == 201
        code = f'const r = await fetch("http://127.0.0.1:{echo.server_port}/"); [r.status, await roll({{ n: 1 }})]'
        run = play(s, {"code": code, "environment": "e", "record": True})["id"]
        assert wait_until(lambda: is_stored(s, run))
        code, said, noted = replay(vial, s, run, "--net")
        assert (code, said) == (0, "the same: status ok, 2 calls\n") and "1 requests to the network" in noted
        assert len(echo.seen) == 2 # it was asked again


def test_a_repetition_has_no_network(vial, folder):
    with echo_server() as echo, serving(vial, folder) as s:
        rule = {"effect": "allow", "match": {"scheme": "http", "host": "127.0.0.1", "port": echo.server_port}, "addresses": ["127.0.0.1"]}
        assert s.ask("POST", "/v1/environments", {"name": "e", "permissions": {"net": [rule]}}).status == 201
        code = f'(await fetch("http://127.0.0.1:{echo.server_port}/")).status'
        run = play(s, {"code": code, "environment": "e", "record": True})["id"]
        assert wait_until(lambda: is_stored(s, run))
        code, said, noted = replay(vial, s, run)
        assert code == 1 and said.startswith("differs in ") and "--net makes them again" in noted, said + noted
        assert len(echo.seen) == 1


# ---- when there is none ----


def test_what_is_said_when_there_is_no_recording(vial, folder):
    with serving(vial, folder, "--recording-max", "2K") as s:
        plain = s.run("1")["id"]
        large = s.run("1", input="x" * 4096, record=True)
        longer = s.run("'x'.repeat(4000)", record=True)
        assert large["status"] == "ok" and set(large["recording"]) == {"error"}
        for result in (large, longer):
            assert "may have 2048" in result["recording"]["error"]
        for _ in range(2):
            assert recording_of(s, plain) == (404, "not_found", 'the run was not recorded: its request needs "record": true for that')
            assert recording_of(s, large["id"]) == (410, "ended", large["recording"]["error"])
            assert wait_until(lambda: all(is_stored(s, run) for run in (plain, large["id"], longer["id"])))
        unknown = "run_" + "0" * 26
        assert recording_of(s, unknown)[:2] == (404, "not_found")
        for wrong in ("yes", 1, None):
            answer = s.ask("POST", "/v1/runs", {"code": "1", "record": wrong})
            assert answer.status == 422 and [e["path"] for e in answer.json["errors"]] == ["/record"], answer.body
        session = s.ask("POST", "/v1/sessions", {}).json["id"] # what it builds on is not recorded
        assert s.ask("POST", f"/v1/sessions/{session}/eval", {"code": "1", "record": True}).status == 422
    assert replay(vial, s, plain)[::2] == (1, f'vial: {plain} was not recorded: a request to run needs "record": true for that\n')
    code, _, said = replay(vial, s, large["id"])
    assert code == 1 and "may have 2048" in said
    code, _, said = replay(vial, s, unknown)
    assert code == 1 and f"there is no run {unknown} in {s.data}" in said
    code, _, said = replay(vial, s, "run_1")
    assert code == 2 and "neither a file nor the id of a run" in said
    done = vial("replay", plain, "--data-dir", folder / "none")
    assert done.returncode == 1 and "no server has kept runs in" in done.stderr and not (folder / "none").exists()


def test_a_server_may_keep_none(vial, folder):
    with serving(vial, folder, "--recording-max", "0") as s:
        answer = s.ask("POST", "/v1/runs", {"code": "1", "record": True})
        assert answer.status == 422 and "keeps no recordings" in answer.json["detail"]
        assert s.run("1", record=False)["value"] == 1


@pytest.mark.parametrize("edit, words", [
    (lambda text: text[: len(text) // 2], "it is not JSON"),
    (lambda text: text.replace('"vial_record":1', '"vial_record":9'), "it has no vial_record: 1"),
    (lambda text: text.replace('"result":', '"ended":'), "it does not say how the run ended"),
    (lambda text: text.replace('"wall_ms_max":0', '"wall_ms_max":99999999999999'), "a limit is larger than it can be"),
    (lambda text: text.replace('"tools":[]', '"tools":[{}]'), "a tool has no name"),
])
def test_a_damaged_recording(vial, folder, edit, words):
    with serving(vial, folder) as s:
        run = s.run("1", record=True)["id"]
    change(s.data, run, edit)
    assert replay(vial, s, run) == (2, "", f"vial: the recording of {run} is no recording, or is damaged: {words}\n")


def test_a_recording_that_lost_bytes(vial, folder):
    with serving(vial, folder) as s:
        run = s.run("1", record=True)["id"]
        assert wait_until(lambda: is_stored(s, run))
        with contextlib.closing(sqlite3.connect(s.data / "runs.db")) as db, db:
            db.execute("UPDATE recording SET bytes = substr(bytes, 1, 10)")
        assert recording_of(s, run) == (503, "store", f"the recording of {run} is damaged")
    assert replay(vial, s, run) == (125, "", f"vial: the recording of {run} is damaged\n")


def test_a_file_that_is_named_like_a_run(vial, folder):
    with serving(vial, folder) as s:
        run = s.run("1", record=True)["id"]
        _, recording = recording_of(s, run)
    (folder / run).write_text(json.dumps({**recording, "source": "2"}))
    args = ("--data-dir", s.data)
    assert vial("replay", run, *args, cwd=folder).stdout.startswith("differs in value:")
    assert vial("replay", f"./{run}", *args, cwd=folder).stdout.startswith("differs in value:")
    (folder / run).unlink()
    assert vial("replay", run, *args, cwd=folder).stdout == "the same: status ok, 0 calls\n"
    missing = vial("replay", f"./{run}", *args, cwd=folder)
    assert missing.returncode == 2 and "cannot read" in missing.stderr
    assert "is a FILE" in vial("replay", "--help").stdout


# ---- room ----


def test_the_oldest_recordings_make_room(vial, folder):
    with serving(vial, folder, "--recordings-max", "20K") as s:
        runs = [s.run("1", input="x" * 6000, record=True)["id"] for _ in range(4)]
        assert wait_until(lambda: all(is_stored(s, run) for run in runs))
        assert [recording_of(s, run)[0] for run in runs] == [410, 410, 200, 200]
        assert "recordings_max" in recording_of(s, runs[0])[2]
        assert s.ask("GET", f"/v1/runs/{runs[0]}").json["value"] == 1 # the run itself stays


def test_a_recording_goes_with_its_run(vial, folder):
    with serving(vial, folder) as s:
        run = s.run("1", record=True)["id"]
    with contextlib.closing(sqlite3.connect(s.data / "runs.db")) as db, db:
        db.execute("DELETE FROM run WHERE id = ?", [run])
        assert db.execute("SELECT count(*) FROM recording").fetchone() == (0,)
    assert replay(vial, s, run)[0] == 1
