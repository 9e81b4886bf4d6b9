"""test_serve_auth.py - who may use `vial serve`: keys, scopes, quotas, Unix sockets; and what is recorded."""

import json
import os
import shutil
import socket
import subprocess
import threading
import time

import pytest

from conftest import BUILD, NOBODY, Vial, wait_until
from server import Server, serving


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield


def make_key(vial, data, *args):
    done = vial("key", "create", "--data-dir", data, *args)
    assert done.returncode == 0, done.stderr
    return next(word for word in done.stdout.split() if word.startswith("vial_"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("auth")
    (folder / "data").mkdir(mode=0o700)
    vial = Vial(BUILD)
    keys = {scope: make_key(vial, folder / "data", "--scope", scope) for scope in ("run", "session", "env", "admin")}
    with serving(vial, folder, insecure=False) as s:
        s.keys = keys
        s.vial = vial
        yield s


def bearer(token):
    return {"Authorization": "Bearer " + token}


def test_without_a_key_nothing_but_health(server):
    assert server.ask("GET", "/healthz").status == 200
    assert server.ask("GET", "/version").status == 200
    for method, path in [("POST", "/v1/runs"), ("GET", "/v1/runs"), ("GET", "/metrics"), ("GET", "/v1/openapi.json"),
                         ("GET", "/v1/environments"), ("POST", "/api/execute"), ("GET", "/v1/keys")]:
        answer = server.ask(method, path, {} if method == "POST" else None)
        assert answer.status == 401 and answer.headers["www-authenticate"].startswith("Bearer"), path


@pytest.mark.parametrize("token", ["", "x", "vial_", "vial_aaaaaaaaaaaa_" + "a" * 52, "vial_" + "a" * 300])
def test_wrong_keys(server, token):
    assert server.ask("GET", "/v1/runs", **bearer(token)).status == 401


def test_a_key_with_a_wrong_secret(server):
    good = server.keys["run"]
    bad = good[:-1] + ("a" if good[-1] != "a" else "b")
    assert server.ask("POST", "/v1/runs", {"code": "1"}, **bearer(bad)).status == 401
    assert server.ask("POST", "/v1/runs", {"code": "1"}, **bearer(good)).status == 200
    assert server.ask("POST", "/v1/runs", {"code": "1"}, X_API_Key=good).status == 200
    assert server.ask("POST", "/v1/runs", {"code": "1"}, Authorization="Basic " + good).status == 401


@pytest.mark.parametrize("scope, method, path, body", [
    ("run", "POST", "/v1/runs", {"code": "1"}), ("session", "POST", "/v1/sessions", {}), ("env", "POST", "/v1/environments", {"name": "e"}),
    ("admin", "GET", "/metrics", None), ("admin", "GET", "/v1/keys", None), ("admin", "GET", "/v1/secrets", None), ("admin", "GET", "/v1/audit", None)])
def test_scopes(server, scope, method, path, body):
    for name, token in server.keys.items():
        status = server.ask(method, path, body, **bearer(token)).status
        assert (status < 300) if name == scope else status == 403, (name, status)


def test_runs_of_others_are_not_there(server):
    other = make_key(server.vial, server.data, "--scope", "run")
    run = server.ask("POST", "/v1/runs", {"code": "1"}, **bearer(server.keys["run"])).json["id"]
    for path in ("", "/events", "/files/a", "/artifacts/0/0"):
        assert server.ask("GET", f"/v1/runs/{run}{path}", **bearer(other)).status in (404, 410)
    assert server.ask("POST", f"/v1/runs/{run}/cancel", **bearer(other)).status == 404
    assert wait_until(lambda: server.ask("GET", "/v1/runs", **bearer(server.keys["run"])).json["items"])
    assert server.ask("GET", "/v1/runs", **bearer(other)).json["items"] == []
    assert server.ask("GET", f"/v1/runs/{run}", **bearer(server.keys["admin"])).status == 200


def test_a_revoked_key_is_refused_at_once(server):
    admin = bearer(server.keys["admin"])
    made = server.ask("POST", "/v1/keys", {"scopes": ["run"], "name": "short", "quota": {"concurrent": 2}}, **admin)
    assert made.status == 201 and made.json["quota"]["concurrent"] == 2
    token = made.json["token"]
    assert server.ask("POST", "/v1/runs", {"code": "1"}, **bearer(token)).status == 200
    assert token not in server.ask("GET", "/v1/keys", **admin).body.decode()
    assert server.ask("DELETE", made.headers["location"], **admin).json["revoked_at"]
    answer = server.ask("POST", "/v1/runs", {"code": "1"}, **bearer(token))
    assert answer.status == 401 and "revoked" in answer.json["detail"]
    assert server.ask("GET", made.headers["location"], **admin).json["name"] == "short"
    assert server.ask("GET", "/v1/keys/aaaaaaaaaaaa", **admin).status == 404


def test_runs_a_minute(server):
    token = make_key(server.vial, server.data, "--scope", "run", "--quota", "runs_per_minute=3")
    answers = [server.ask("POST", "/v1/runs", {"code": "1"}, **bearer(token)) for _ in range(5)]
    assert [a.status for a in answers] == [200, 200, 200, 429, 429]
    assert [a.headers["ratelimit-remaining"] for a in answers[:3]] == ["2", "1", "0"] and answers[0].headers["ratelimit-limit"] == "3"
    assert answers[3].json["code"] == "quota" and answers[3].json["retryable"] is True
    assert 1 <= int(answers[3].headers["retry-after"]) <= 61


def test_sessions_of_a_key(server):
    token = make_key(server.vial, server.data, "--scope", "session", "--quota", "sessions=2")
    made = [server.ask("POST", "/v1/sessions", {}, **bearer(token)) for _ in range(3)]
    assert [m.status for m in made] == [201, 201, 429]
    assert server.ask("DELETE", made[0].headers["location"], **bearer(token)).status == 200
    assert server.ask("POST", "/v1/sessions", {}, **bearer(token)).status == 201


def test_runs_at_once_wait_for_their_turn(server):
    token = make_key(server.vial, server.data, "--scope", "run", "--quota", "concurrent=1")
    begin = time.monotonic()
    threads = [threading.Thread(target=server.ask, args=("POST", "/v1/runs", {"code": "await new Promise(r => setTimeout(r, 200))"}),
                                kwargs=bearer(token)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert time.monotonic() - begin >= 0.8


def test_cpu_seconds_a_day(server):
    token = make_key(server.vial, server.data, "--scope", "run", "--quota", "cpu_seconds_per_day=1")
    spin = {"code": "for (;;) {}", "limits": {"cpu_ms_max": 1000, "wall_ms_max": 5000}}
    assert server.ask("POST", "/v1/runs", spin, **bearer(token)).json["status"] == "cpu_limit"
    answer = server.ask("POST", "/v1/runs", {"code": "1"}, **bearer(token))
    assert answer.status == 429 and "cpu" in answer.json["detail"].lower()


def test_one_key_does_not_starve_another(tmp_path):
    (tmp_path / "data").mkdir(mode=0o700)
    vial = Vial(BUILD)
    greedy = make_key(vial, tmp_path / "data", "--scope", "run", "--quota", "concurrent=100")
    modest = make_key(vial, tmp_path / "data", "--scope", "run")
    with serving(vial, tmp_path, "--workers", "2", insecure=False) as s:
        for _ in range(60):
            s.ask("POST", "/v1/runs", {"code": "await new Promise(r => setTimeout(r, 100))", "detach": True}, **bearer(greedy))
        begin = time.monotonic()
        assert s.ask("POST", "/v1/runs", {"code": "1"}, **bearer(modest)).status == 200
        assert time.monotonic() - begin < 1.5 # and not the three seconds of the others


def test_a_unix_socket_knows_its_user(tmp_path):
    path = tmp_path / "s.sock"
    s = Server(Vial(BUILD), tmp_path, insecure=False, listen=f"unix:{path}")
    try:
        def ask():
            c = socket.socket(socket.AF_UNIX)
            c.connect(str(path))
            c.sendall(b'POST /v1/runs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"code":"7"}')
            got = b"".join(iter(lambda: c.recv(65536), b""))
            c.close()
            return got

        assert b'"value":7' in ask()
        assert oct(path.stat().st_mode & 0o777) == "0o600"
        if os.geteuid() == 0:
            tmp_path.chmod(0o755)
            for parent in tmp_path.parents:
                if str(parent).startswith("/tmp/pytest"):
                    parent.chmod(0o755)
            path.chmod(0o666)
            done = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                                   "--unix-socket", str(path), "-H", "Content-Type: application/json", "-d", '{"code":"7"}', "http://x/v1/runs"],
                                  capture_output=True, text=True, check=False)
            assert done.stdout == "401", done
    finally:
        assert s.stop() == 0
    assert not path.exists()


def test_no_key_is_for_loopback_only(vial, tmp_path):
    done = vial("serve", "--insecure-local", "--listen", "0.0.0.0:0", "--data-dir", tmp_path / "d")
    assert done.returncode == 3 and "loopback" in done.stderr


def test_the_log_says_that_no_key_is_needed(tmp_path):
    with serving(Vial(BUILD), tmp_path) as s:
        line = next(line for line in s.log() if line["msg"] == "listening")
        assert line["level"] == "warn" and "INSECURE" in line["trust"]


def test_every_change_is_recorded(server):
    """Who, what, which and from where; never a value or a document."""
    admin, env = bearer(server.keys["admin"]), bearer(server.keys["env"])
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    implementation = """async function Initialize(agentId, backends) {}
async function Deinitialize() {}
/** @endowment
 *  @tool
 *  @description It does nothing. */
async function nothing(params = {}) { return 1; }"""
    steps = [("POST", "/v1/environments", {"name": "changed", "prefix": "'document words'"}, env), ("PUT", "/v1/environments/changed", {"name": "changed"}, env),
             ("DELETE", "/v1/environments/changed@1", None, env), ("DELETE", "/v1/environments/changed?force=true", None, env),
             ("PUT", "/v1/secrets/CHANGED", {"value": "a value nobody sees"}, admin), ("DELETE", "/v1/secrets/CHANGED", None, admin),
             ("POST", "/v1/keys", {"scopes": ["run"], "name": "changed"}, admin),
             ("POST", "/api/environments", {"environmentName": "Compat", "backendUrls": {}, "packageJson": "", "codeImplementation": implementation}, env),
             ("DELETE", "/api/environments/Compat", None, env)]
    for method, path, body, who in steps:
        answer = server.ask(method, path, body, User_Agent="changer", traceparent=trace, **who)
        assert answer.status in (200, 201, 204), (path, answer.body)
        if path == "/v1/keys":
            key = answer.json["id"]
    assert server.ask("DELETE", f"/v1/keys/{key}", User_Agent="changer", **admin).status == 200
    assert server.ask("PUT", "/v1/environments/unmade", {"name": "unmade"}, User_Agent="changer", **env).status == 404

    def got():
        items = server.ask("GET", "/v1/audit?limit=1000&kind=change", **admin).json["items"]
        return [i["record"] for i in reversed(items) if i["record"].get("agent") == "changer"]

    assert wait_until(lambda: len(got()) >= 10)
    records = got()
    assert [(r["what"], r.get("environment") or r.get("detail")) for r in records] == [
        ("environment.create", "changed@1"), ("environment.update", "changed@2"), ("environment.delete", "changed@1"), ("environment.delete", "changed"),
        ("secret.set", "CHANGED"), ("secret.delete", "CHANGED"), ("key.create", key), ("environment.create", "compat"), ("environment.delete", "compat"),
        ("key.revoke", key)]
    assert [r["key"] for r in records[:4]] == [server.keys["env"].split("_")[1]] * 4 and all(r["from"] for r in records)
    assert records[0]["trace"] == trace
    text = json.dumps(records)
    assert "nobody sees" not in text and "document words" not in text


def test_what_is_recorded(server):
    run_key, admin = server.keys["run"], bearer(server.keys["admin"])
    run = server.ask("POST", "/v1/runs", {"code": "throw 1", "agent": "audited"}, **bearer(run_key)).json["id"]
    server.ask("GET", "/v1/runs", **bearer("vial_" + run_key.split("_")[1] + "_" + "a" * 52))

    def records(**query):
        q = "&".join(f"{k}={v}" for k, v in query.items())
        return [item["record"] for item in server.ask("GET", "/v1/audit?limit=1000&" + q, **admin).json["items"]]

    assert wait_until(lambda: len(records(run=run)) >= 2)
    end, begin = records(run=run)[:2]
    assert begin["kind"] == "run_start" and end["kind"] == "run" and end["status"] == "exception"
    assert end["key"] == run_key.split("_")[1] and end["agent"] == "audited" and len(end["code_hash"] if "code_hash" in end else end["code_sha256"]) == 64
    assert wait_until(lambda: records(kind="key", status="denied"))
    assert any(r["what"] == "key.create" for r in records(kind="change"))
    text = json.dumps(records())
    assert "throw 1" not in text and run_key not in text
    assert run_key not in server.log_path.read_text() and "throw 1" not in server.log_path.read_text()
    server.ask("POST", "/v1/environments", {"name": "kept", "audit": {"code": True, "input": True, "output": True, "redact": ["*token*"]}}, **bearer(server.keys["env"]))
    run = server.ask("POST", "/v1/runs", {"code": "input.n + 1", "environment": "kept", "input": {"n": 1, "api_token": "hidden"}}, **bearer(run_key)).json["id"]
    assert wait_until(lambda: len(records(run=run)) >= 2)
    end = records(run=run)[0]
    assert end["input"] == {"n": 1, "api_token": "[redacted]"} and end["output"] == 2 and end["environment"] == "kept@1"
    entry = next(i for i in server.ask("GET", f"/v1/audit?code=true&kind=run&run={run}", **admin).json["items"])
    assert entry["code"] == "input.n + 1"
    done = server.vial("audit", "verify", "--data-dir", server.data)
    assert done.returncode == 0, done.stderr + done.stdout
