"""test_serve_openapi.py - share/openapi.json is what the server does: every example in it is executed, every operation answers as it
says, and there is no route that it does not have."""

import json
import re

import jsonschema
import pytest

from conftest import BUILD, ROOT, Vial, wait_until
from server import next_event, serving

DOCUMENT = json.loads((ROOT / "share" / "openapi.json").read_text())
OPERATIONS = [(path, method, operation) for path, methods in DOCUMENT["paths"].items() for method, operation in methods.items()]
EXAMPLES = [(path, method, operation, name, example["value"]) for path, method, operation in OPERATIONS
            for name, example in operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("examples", {}).items()]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(Vial(BUILD), tmp_path_factory.mktemp("openapi")) as s:
        assert s.ask("POST", "/v1/environments", {"name": "example", "prefix": "const rate = 2", "tools": [{"name": "crm.find"}]}).status == 201
        s.run_id = s.run("const fs = require('fs'); fs.writeFileSync('out.txt', 'x'); display('shown'); 1", outs=["out.txt"], record=True)["id"]
        s.key_id = s.ask("POST", "/v1/keys", {"scopes": ["run"]}).json["id"]
        assert wait_until(lambda: s.ask("GET", f"/api/Audit/{s.run_id}").status == 200)
        yield s


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield


def checker(schema):
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def resolve(thing):
    while "$ref" in thing:
        at = DOCUMENT
        for part in thing["$ref"][2:].split("/"):
            at = at[part]
        thing = at
    return thing


def fill(server, path, operation):
    """The path with values that are there."""
    session = server.ask("POST", "/v1/sessions", {"files": {"out.txt": "x"}}).json["id"] if path.startswith("/v1/sessions/{id}") else None
    values = {"/v1/runs": {"id": server.run_id, "path": "out.txt", "artifact": "0", "representation": "0"}, "/v1/sessions": {"id": session, "path": "out.txt"},
              "/v1/environments": {"name": "example"}, "/v1/tools": {"name": "crm.find"}, "/v1/secrets": {"name": "EXAMPLE"}, "/v1/keys": {"id": server.key_id},
              "/api/environments": {"name": "compat-example"}, "/api/Provisioning": {"name": "compat-second"}, "/api/Execution": {"name": "compat-example"},
              "/api/Audit": {"id": server.run_id, "agent": "example", "name": "example", "is_error": "false"}}
    known = next((v for prefix, v in values.items() if path.startswith(prefix)), {})
    filled = re.sub(r"\{(\w+)\}", lambda m: known[m[1]], path)
    query = [f"{p['name']}={p['example']}" for p in map(resolve, operation.get("parameters", [])) if p["in"] == "query" and p.get("required")]
    return filled + ("?" + "&".join(query) if query else ""), session


def check(answer, operation):
    said = operation["responses"].get(str(answer.status))
    assert said is not None, f"{answer.status} is not among the responses: {answer.body[:300]}"
    content = resolve(said).get("content", {})
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind in content and answer.body and "json" in kind and kind != "application/x-ndjson":
        checker(content[kind].get("schema", {})).validate(answer.json)
    if kind == "application/x-ndjson":
        for event in answer.lines:
            checker({"$ref": "#/components/schemas/Event"}).validate(event)
        assert [e["type"] for e in answer.lines].count("end") == 1


def test_the_document_itself(server):
    assert DOCUMENT["openapi"] == "3.1.0"
    assert server.ask("GET", "/v1/openapi.json").json == DOCUMENT
    assert len({operation["operationId"] for _, _, operation in OPERATIONS}) == len(OPERATIONS)
    for name, schema in DOCUMENT["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
    for match in re.findall(r'"\$ref": "([^"]+)"', json.dumps(DOCUMENT)):
        resolve({"$ref": match})


def test_every_route_is_in_the_document():
    source = (ROOT / "src" / "http" / "routes.c").read_text()
    routes = {(m[1].replace("{path*}", "{path}"), m[0].lower()) for m in re.findall(r'\{"([A-Z]+)", "([^"]+)"', source)}
    assert routes == {(path, method) for path, method, _ in OPERATIONS}


def test_scopes_are_told_as_they_are():
    """The words "Scope: run or session." are what the table of routes has."""
    source = (ROOT / "src" / "http" / "routes.c").read_text().replace("\n       ", "")
    for method, path, scopes in re.findall(r'\{"([A-Z]+)", "([^"]+)", ([A-Z |0]+),', source):
        told = DOCUMENT["paths"][path.replace("{path*}", "{path}")][method.lower()].get("description", "")
        words = set(re.findall(r"run|session|env|admin", told.partition("Scope: ")[2].partition(";")[0]))
        assert words == (set() if scopes in ("0", "ANY") else {s.strip().lower() for s in scopes.split("|")}), (method, path, told)


@pytest.mark.parametrize("path, method, operation, name, value", EXAMPLES, ids=[f"{o['operationId']}-{n}" for _, _, o, n, _ in EXAMPLES])
def test_every_example(server, path, method, operation, name, value):
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    checker(schema).validate(value)
    if operation["operationId"] == "answerCall":
        tool = {"name": "f", "approve": name == "approval"}
        c, r = server.stream("/v1/runs", {"code": "try { await f() } catch (e) { e.name }", "tools": [tool], "stream": True})
        run, call = next_event(r, "start")["run"]["id"], next_event(r, "call")["call"]["id"]
        answer = server.ask("POST", f"/v1/runs/{run}/calls/{call}", value)
        assert next_event(r, "end")["status"] == "ok"
        c.close()
    else:
        where, _ = fill(server, path, operation)
        answer = server.ask(method.upper(), where, value)
    assert 200 <= answer.status < 300, answer.body
    check(answer, operation)
    if operation["operationId"] == "createRun" and name != "detached" and not value.get("stream"):
        assert answer.json["status"] == "ok"
    if operation["operationId"] in ("compatExecute", "compatExecution"):
        assert answer.json == {"isError": False, "executionResult": "3"}


# Those that have an example were done above; those that delete come last.
PLAIN = sorted(((p, m, o) for p, m, o in OPERATIONS if "examples" not in json.dumps(o.get("requestBody", {}))), key=lambda row: row[1] == "delete")


@pytest.mark.parametrize("path, method, operation", PLAIN, ids=[o["operationId"] for _, _, o in PLAIN])
def test_every_other_operation(server, path, method, operation):
    where, _ = fill(server, path, operation)
    if operation["operationId"] == "deleteEnvironment": # sessions of the examples are in the other one
        server.ask("POST", "/v1/environments", {"name": "unused"})
        where = where.replace("example", "unused")
    answer = server.ask(method.upper(), where, b"bytes" if method == "put" else None)
    check(answer, operation)
    assert answer.status < 300 or operation["operationId"] == "cancelRun", answer.body


@pytest.mark.parametrize("name", [n for n, s in DOCUMENT["components"]["schemas"].items() if n.endswith("Request")])
def test_unknown_members_are_refused_by_every_body(server, name):
    path, method, operation = next((p, m, o) for p, m, o in OPERATIONS if f"schemas/{name}\"" in json.dumps(o.get("requestBody", {})))
    where, _ = fill(server, path, operation)
    answer = server.ask(method.upper(), where, {"no_such_member": 1})
    assert answer.status == 422 and any(e["path"] == "/no_such_member" for e in answer.json["errors"]), answer.body


def test_without_a_key_each_closed_operation_is_refused(tmp_path):
    with serving(Vial(BUILD), tmp_path, insecure=False) as s:
        for path, method, operation in OPERATIONS:
            answer = s.ask(method.upper(), re.sub(r"\{\w+\}", "x", path), {} if method in ("post", "put") else None)
            assert (answer.status == 401) == (operation.get("security") != []), (path, method, answer.status)
