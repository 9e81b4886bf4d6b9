"""test_serve_things.py - the other resources of `vial serve`: sessions, environments, tools, secrets."""

import json
import threading
import time

import pytest

from conftest import BUILD, Vial, wait_until
from server import next_event, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(Vial(BUILD), tmp_path_factory.mktemp("things")) as s:
        yield s


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield


def make(server, **members):
    answer = server.ask("POST", "/v1/sessions", members)
    assert answer.status == 201, answer.body
    assert answer.headers["location"] == "/v1/sessions/" + answer.json["id"]
    return answer.headers["location"]


def evaluate(server, where, code, **members):
    answer = server.ask("POST", where + "/eval", {"code": code, **members})
    assert answer.status == 200, answer.body
    return answer.json


def test_a_session_keeps_its_variables(server):
    where = make(server, name="mine", files={"a.txt": "A"}, env={"X": "1"}, modules={"./m.js": "export const m = 5"})
    assert evaluate(server, where, "let x = 40; x")["value"] == 40
    result = evaluate(server, where, "import { m } from './m.js'; x + m + Number(process.env.X)")
    assert result["value"] == 46 and result["session_lives"] is True and result["session"] == where.rpartition("/")[2]
    about = server.ask("GET", where).json
    assert about["name"] == "mine" and about["state"] == "idle" and about["evals"] >= 2
    assert where.rpartition("/")[2] in [s["id"] for s in server.ask("GET", "/v1/sessions").json["items"]]


def test_a_session_tells_its_language(server):
    assert server.ask("POST", "/v1/environments", {"name": "snake", "language": "python"}).status == 201
    made = {"javascript": make(server), "python": make(server, language="python"), "typescript": make(server, language="typescript")}
    for language, where in made.items():
        assert server.ask("GET", where).json["language"] == language
        branch = server.ask("POST", where + "/branch", {}).json["items"][0]
        assert branch["language"] == language
        assert server.ask("DELETE", where).status in (200, 204)
        assert server.ask("GET", where).json["language"] == language # when it has ended, too
    assert server.ask("GET", make(server, environment="snake")).json["language"] == "python"
    assert {s["language"] for s in server.ask("GET", "/v1/sessions").json["items"]} == set(made)


def test_branches(server):
    where = make(server)
    evaluate(server, where, "let rows = [3, 1, 2]")
    made = server.ask("POST", where + "/branch", {"count": 2})
    assert made.status == 201
    one, two = ["/v1/sessions/" + b["id"] for b in made.json["items"]]
    evaluate(server, one, "rows.length = 0")
    assert evaluate(server, two, "rows.sort()")["value"] == [1, 2, 3]
    assert evaluate(server, one, "rows")["value"] == []
    assert server.ask("GET", one).json["parent"] == where.rpartition("/")[2]
    assert server.ask("POST", where + "/branch", {"count": 99}).status == 422
    assert len(server.ask("POST", where + "/branch", {}).json["items"]) == 1


def test_the_end_of_a_session(server):
    where = make(server)
    assert server.ask("DELETE", where).json["state"] == "ended"
    for method, path, body in [("POST", "/eval", {"code": "1"}), ("POST", "/branch", {}), ("DELETE", "", None), ("GET", "/files", None)]:
        answer = server.ask(method, where + path, body)
        assert answer.status == 410 and "ended by its client" in answer.json["detail"]
    assert server.ask("GET", where).json["ended"]
    where = make(server)
    assert evaluate(server, where, "process.exit(3)")["session_lives"] is False
    assert server.ask("POST", where + "/eval", {"code": "1"}).status == 410
    assert server.ask("GET", "/v1/sessions/ses_nothing").status == 404


def test_idle_sessions_end(server):
    where = make(server, idle_s=1)
    assert wait_until(lambda: server.ask("GET", where).json["state"] == "ended", 10)


def test_soft_limits_and_cancellation_leave_the_session(server):
    where = make(server)
    evaluate(server, where, "let kept = 1")
    result = evaluate(server, where, "for (;;) {}", limits={"wall_ms_max": 200})
    assert result["status"] == "wall_limit" and result["session_lives"] is True
    got = []
    t = threading.Thread(target=lambda: got.append(evaluate(server, where, "for (;;) {}", limits={"wall_ms_max": 2000, "cpu_ms_max": 2000})))
    t.start()
    assert wait_until(lambda: server.ask("GET", where).json["state"] == "busy")
    time.sleep(0.2)
    busy = server.ask("POST", where + "/eval", {"code": "1"})
    assert busy.status == 409 and busy.json["retryable"] is True
    c, r = server.stream(where + "/eval", {"code": "1", "stream": True})
    assert r.status == 409
    c.close()
    t.join(30)
    assert got[0]["status"] in ("wall_limit", "cpu_limit")
    # A stream that is closed cancels its evaluation.
    c, r = server.stream(where + "/eval", {"code": "console.log(1); for (;;) {}", "stream": True, "limits": {"wall_ms_max": 20000, "cpu_ms_max": 20000}})
    assert next_event(r, "stdout")
    r.close()
    c.close()
    assert wait_until(lambda: server.ask("GET", where).json["state"] == "idle", 5)
    assert evaluate(server, where, "kept")["value"] == 1


def test_files_of_a_session(server):
    for language in ("javascript", "python"):
        where = make(server, language=language)
        content = bytes(range(256)) * 10
        evaluate(server, where, "1")
        assert server.ask("PUT", where + "/files/d/a%20b.bin", content).status == 204
        assert server.ask("GET", where + "/files/d/a%20b.bin").body == content
        assert server.ask("GET", where + "/files").json["items"] == [{"name": "d/a b.bin", "size": 2560}]
        assert server.ask("PUT", where + "/files/../x", b"").status == 422
        assert server.ask("GET", where + "/files/none").status == 404
        assert server.ask("GET", where).json["evals"] == 1 # files are looked at by evaluations that do not count
        branch = server.ask("POST", where + "/branch", {}).json["items"][0]
        assert branch["evals"] == 1 and server.ask("GET", f"/v1/sessions/{branch['id']}/files").status == 200
        assert server.ask("GET", f"/v1/sessions/{branch['id']}").json["evals"] == 1
        assert server.ask("DELETE", where + "/files/d/a%20b.bin").status == 204
        assert server.ask("DELETE", where + "/files/d/a%20b.bin").status == 422
        assert server.ask("GET", where + "/files").json["items"] == []


def test_tools_in_sessions_and_branches(server):
    """Branches share their tools; each call goes to the evaluation that made it."""
    where = make(server, tools=[{"name": "ask"}])
    branch = "/v1/sessions/" + server.ask("POST", where + "/branch", {}).json["items"][0]["id"]
    streams = [server.stream(w + "/eval", {"code": f"await ask('{w[-4:]}')", "stream": True}) for w in (where, branch)]
    for w, (c, r) in zip((where, branch), streams):
        run = next_event(r, "start")["run"]["id"]
        call = next_event(r, "call")["call"]
        assert call["args"] == w[-4:]
        assert server.ask("POST", f"/v1/runs/{run}/calls/{call['id']}", {"value": "to " + w[-4:]}).status == 204
        assert next_event(r, "result")["result"]["value"] == "to " + w[-4:]
        c.close()


def test_completion(server):
    where = make(server)
    evaluate(server, where, "let alphabet = [1]; let alpine = 2")
    assert set(server.ask("POST", where + "/complete", {"text": "alp"}).json["names"]) >= {"alphabet", "alpine"}


# ---- environments ----

ENVIRONMENT = {"name": "shop", "prefix": "const rate = 2", "tools": [
    {"name": "crm.find", "description": "Finds a customer.", "input": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}}],
    "globals": {"currency": "EUR"}, "limits": {"max": {"wall_ms_max": 5000}}}


def test_environments(server):
    made = server.ask("POST", "/v1/environments", ENVIRONMENT)
    assert made.status == 201 and made.json["version"] == 1 and made.headers["location"] == "/v1/environments/shop@1"
    assert server.ask("POST", "/v1/environments", ENVIRONMENT).status == 409
    result = server.run("[rate, currency]", environment="shop", globals={"currency": "USD"})
    assert result["value"] == [2, "USD"] and result["environment"] == "shop@1"
    assert server.ask("PUT", "/v1/environments/shop", {**ENVIRONMENT, "prefix": "const rate = 3"}).json["version"] == 2
    assert server.run("rate", environment="shop")["value"] == 3
    assert server.run("rate", environment="shop@1")["value"] == 2
    assert server.ask("PUT", "/v1/environments/other", ENVIRONMENT).status == 422
    assert [v["version"] for v in server.ask("GET", "/v1/environments/shop/versions").json["items"]] == [2, 1]
    assert server.ask("GET", "/v1/environments/shop@1").json == ENVIRONMENT
    assert "shop" in [e["name"] for e in server.ask("GET", "/v1/environments").json["items"]]
    assert "function find(input: { id: number }): Promise<unknown>;" in server.ask("GET", "/v1/environments/shop/types").body.decode()
    assert "def find" in server.ask("GET", "/v1/environments/shop/types?lang=python").body.decode()
    assert server.ask("POST", "/v1/environments/shop/test").json["status"] == "ok"
    assert server.ask("POST", "/v1/runs", {"code": "1", "environment": "shop", "limits": {"wall_ms_max": 9000}}).status == 422
    tools = server.ask("GET", "/v1/tools?environment=shop").json["items"]
    assert [t["name"] for t in tools] == ["crm.find"] and tools[0]["input"]["required"] == ["id"]
    assert server.ask("GET", "/v1/tools?environment=shop&search=customer").json["items"] == tools
    assert server.ask("GET", "/v1/tools/crm.find?environment=shop").json == tools[0]
    # What is escaped in the query means the same.
    assert server.ask("GET", "/v1/tools?environment=%73hop&search=custom%65r").json["items"] == tools
    for bad in ("%zz", "%00", "%ff", "%4"):
        assert server.ask("GET", f"/v1/tools?environment={bad}").status == 400, bad
    assert server.ask("GET", "/v1/tools").status == 422
    assert server.ask("DELETE", "/v1/environments/shop").status == 204
    assert server.ask("POST", "/v1/runs", {"code": "1", "environment": "shop"}).status == 404
    assert server.ask("POST", "/v1/runs", {"code": "1", "environment": "shop@1"}).status == 404


def test_documents_with_faults(server):
    answer = server.ask("POST", "/v1/environments", {"name": "Bad Name", "prefx": "", "tools": [{"name": "if"}]})
    assert answer.status == 422
    assert {e["path"] for e in answer.json["errors"]} >= {"/name", "/prefx", "/tools/0/name"}


def test_an_environment_in_use_is_not_deleted(server):
    server.ask("POST", "/v1/environments", {"name": "busy"})
    where = make(server, environment="busy")
    assert server.ask("DELETE", "/v1/environments/busy").status == 409
    server.ask("DELETE", where)
    assert wait_until(lambda: server.ask("DELETE", "/v1/environments/busy").status in (204, 404), 10)


def test_pages_of_environments(server):
    for i in range(5):
        server.ask("POST", "/v1/environments", {"name": f"page-{i}"})
    names, cursor = [], ""
    while cursor is not None:
        page = server.ask("GET", f"/v1/environments?limit=2{cursor and '&cursor=' + cursor}").json
        names += [e["name"] for e in page["items"]]
        cursor = page["next_cursor"]
    assert names == sorted(set(names)) and {f"page-{i}" for i in range(5)} <= set(names)


def test_tools_of_an_environment_are_answered_by_the_client(server):
    server.ask("POST", "/v1/environments", {**ENVIRONMENT, "name": "asking"})
    c, r = server.stream("/v1/runs", {"code": "(await crm.find(3)).name", "environment": "asking", "stream": True})
    run = next_event(r, "start")["run"]["id"]
    call = next_event(r, "call")["call"]
    assert call["args"] == {"id": 3}
    server.ask("POST", f"/v1/runs/{run}/calls/{call['id']}", {"value": {"name": "Ada"}})
    assert next_event(r, "result")["result"]["value"] == "Ada"
    c.close()
    assert "nobody answers" in server.run("try { await crm.find(3) } catch (e) { e.message }", environment="asking")["value"]


def test_secrets_go_in_only(server):
    answer = server.ask("PUT", "/v1/secrets/API_TOKEN", {"value": "s3cret-value"})
    assert answer.status == 200 and answer.json["version"] == 1 and b"s3cret" not in answer.body
    assert server.ask("PUT", "/v1/secrets/API_TOKEN", {"value": "other-value"}).json["version"] == 2
    listed = server.ask("GET", "/v1/secrets")
    assert [s["name"] for s in listed.json["items"]] == ["API_TOKEN"] and b"value" not in listed.body
    assert server.ask("GET", "/v1/secrets/API_TOKEN").status == 405
    assert server.ask("DELETE", "/v1/secrets/API_TOKEN").status == 204
    assert server.ask("DELETE", "/v1/secrets/API_TOKEN").status == 404
    assert server.ask("PUT", "/v1/secrets/bad%20name", {"value": "x"}).status == 422
    assert "s3cret" not in server.log_path.read_text()
