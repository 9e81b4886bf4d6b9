"""test_serve_compat.py - the API of JSCodeSandbox: provisioning, execution, audit, and the messages that name its rules."""

import http.server
import json
import threading

import pytest

from conftest import BUILD, Vial, wait_until
from server import serving

CODE = """
let agent, base, log = [];

// A client of ours.
async function Initialize(agentId, backends) {
  if (!backends['shop']) throw new Error('shop backend URL not found');
  agent = agentId; base = backends['shop'];
}

async function Deinitialize() { await fetch(base + '/bye?agent=' + agent); }

/**
 * @endowment
 * @tool Shop_Find
 * @description Finds "an" order: /[}]/ and `${1}` are no trouble.
 * @inputSchema FindParams
 * @outputSchema Order
 */
async function Shop_Find(params = {}) {
  const regexp = /function {[}/]/; const text = `a ${`b ${'}'}`} function x() {`;
  const response = await fetch(base + '/find?id=' + params.id);
  return { ...(await response.json()), agent, globals: typeof process };
}

/** @endowment */
async function Fail(params = {}) { throw new RangeError('out of ' + (params.what ?? 'range')); }

/* @endowment */
async function Elsewhere(params = {}) { return (await fetch('http://127.0.0.1:1/')).status; }

function helper() {}
"""


class Backend(http.server.BaseHTTPRequestHandler):
    seen = []

    def do_GET(self):
        Backend.seen.append(self.path)
        body = json.dumps({"order": self.path.partition("id=")[2]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def backend():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend) as b:
        threading.Thread(target=b.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{b.server_address[1]}/api"
        b.shutdown()


@pytest.fixture(scope="module")
def server(tmp_path_factory, backend):
    with serving(Vial(BUILD), tmp_path_factory.mktemp("compat"), "--compat-private") as s:
        made = s.ask("POST", "/api/environments", {"environmentName": "My-Shop", "backendUrls": {"shop": backend}, "packageJson": "{\"dependencies\": {}}",
                                                   "codeImplementation": CODE})
        assert made.status == 201, made.body
        yield s


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield


def execute(server, code, agent="agent-7"):
    answer = server.ask("POST", "/api/execute", {"environmentName": "My-Shop", "code": code, "userAgentId": agent})
    assert answer.status == 200, answer.body
    return answer.json


def test_a_program_calls_endowments(server):
    """Without await as well; and Deinitialize comes afterwards."""
    Backend.seen.clear()
    code = "async function main() { const a = Shop_Find({ id: 5 }); const b = await Shop_Find({ id: 6 }); return `${a.order} ${b.order} ${a.agent}`; }"
    assert execute(server, code) == {"isError": False, "executionResult": "5 6 agent-7"}
    assert Backend.seen == ["/api/find?id=5", "/api/find?id=6", "/api/bye?agent=agent-7"]
    answer = server.ask("POST", "/api/Execution/my-shop", {"code": "async function main() { return { n: Shop_Find({ id: 1 }).order } }", "userAgentId": "x"})
    assert answer.json == {"isError": False, "executionResult": '{"n":"1"}'}


def test_errors_of_endowments_and_programs(server):
    assert execute(server, "async function main() { try { Fail({ what: 'reach' }) } catch (e) { return e.name + ': ' + e.message } }")["executionResult"] == "RangeError: out of reach"
    assert execute(server, "async function main() { Fail() }") == {"isError": True, "executionResult": "out of range"}
    result = execute(server, "async function main() { return Shop_Fnd({}) }")
    assert result["isError"] is True and "Shop_Fnd" in result["executionResult"]


def test_the_implementation_is_in_another_cell(server):
    """The program sees neither its names nor its network; it reaches its backends and nothing else."""
    code = "async function main() { return [typeof agent, typeof base, typeof Initialize, typeof helper, typeof fetch, typeof vial_backends].join() }"
    assert execute(server, code)["executionResult"] == ",".join(["undefined"] * 6)
    result = execute(server, "async function main() { return Elsewhere() }")
    assert result["isError"] is True and "only public addresses" in result["executionResult"]


@pytest.mark.parametrize("code, rule", [
    ("1", "Initialize"),
    ("async function Initialize(a) {}\nasync function Deinitialize() {}", "exactly two parameters"),
    ("function Initialize(a, b) {}\nasync function Deinitialize() {}", "exactly two parameters"),
    ("async function Initialize(a, b) {}", "Deinitialize"),
    ("async function Initialize(a, b) {}\nasync function Deinitialize(x) {}", "without parameters"),
    ("async function Initialize(a, b) {}\nasync function Deinitialize() {}\nasync function f(params = {}) {}", "annotated with @endowment"),
    ("async function Initialize(a, b) {}\nasync function Deinitialize() {}\n/** @endowment */ function f(params = {}) {}", "params = {}"),
    ("async function Initialize(a, b) {}\nasync function Deinitialize() {}\n/** @endowment */ async function f(params) {}", "params = {}"),
    ("async function Initialize(a, b) {}\nasync function Deinitialize() {}\n/** @endowment */ async function f(params = {}, x) {}", "params = {}"),
    ("const a = require('axios');\nasync function Initialize(a, b) {}\nasync function Deinitialize() {}\n/** @endowment */ async function f(params = {}) {}", "does not start"),
])
def test_rules_of_implementations(server, code, rule):
    answer = server.ask("POST", "/api/Provisioning", {"environmentName": "bad", "backendUrls": {}, "codeImplementation": code})
    assert answer.status == 400 and answer.json["errorType"] == "InvalidRequest" and rule in answer.json["error"], answer.body
    assert server.ask("GET", "/v1/environments/bad").status == 404


def test_other_refusals(server, backend):
    good = {"environmentName": "other", "backendUrls": {"shop": backend}, "codeImplementation": CODE}
    for change, part in [({"packageJson": '{"dependencies": {"axios": "^1"}}'}, "dependencies"), ({"packageJson": "nonsense"}, "packageJson"),
                         ({"environmentName": "a b"}, "rule for names"), ({"environmentName": "My-Shop"}, "exists"), ({"backendUrls": {"x": "ftp://y"}}, "backend URL"),
                         ({"extra": 1}, "extra"), ({"codeImplementation": ""}, "codeImplementation")]:
        answer = server.ask("POST", "/api/environments", {**good, **change})
        assert answer.status == 400 and part in answer.json["error"], (change, answer.body)
    for code in ("1", "function main() {}", "async function main(x) {}", "async function other() {}", "const main = 1"):
        answer = server.ask("POST", "/api/execute", {"environmentName": "My-Shop", "code": code})
        assert answer.status == 400 and answer.json["errorType"] == "InvalidCodeToRun" and "main" in answer.json["error"]
    assert server.ask("POST", "/api/execute", {"environmentName": "nowhere", "code": "async function main() {}"}).status == 404


def test_stubs_are_made_from_the_comments(server):
    types = server.ask("GET", "/v1/environments/my-shop/types").body.decode()
    assert "Shop_Find" in types and "Finds" in types and "FindParams" in types


def test_audit(server):
    execute(server, "async function main() { return 'audited' }", agent="auditor")
    assert wait_until(lambda: server.ask("GET", "/api/Audit/by-user-agent/auditor").json["totalCount"] == 1)
    item = server.ask("GET", "/api/Audit/by-user-agent/auditor").json["items"][0]
    assert item["environmentName"] == "my-shop" and item["executionResult"] == "audited" and item["isExecutionError"] is False
    assert "'audited'" in item["codeToRun"] and item["startedOnUTC"] <= item["completedOnUTC"]
    assert server.ask("GET", "/api/Audit/" + item["id"]).json == item
    assert server.ask("HEAD", "/api/Audit/" + item["id"]).status == 200
    assert server.ask("GET", "/api/Audit/nothing").status == 404
    errors = server.ask("GET", "/api/Audit/by-error-status/true?pageSize=100").json
    assert errors["totalCount"] == len(errors["items"]) > 0 and all(i["isExecutionError"] for i in errors["items"])
    page = server.ask("GET", "/api/Audit/by-environment/My-Shop?pageNumber=2&pageSize=2").json
    assert page["pageNumber"] == 2 and len(page["items"]) == 2 and page["totalCount"] > 4
    assert server.ask("GET", "/api/Audit?pageNumber=0").status == 400


def test_delete(server, backend):
    body = {"environmentName": "gone", "backendUrls": {"shop": backend}, "codeImplementation": CODE}
    assert server.ask("POST", "/api/Provisioning", body).status == 201
    assert server.ask("DELETE", "/api/Provisioning/Gone").status == 204
    assert server.ask("DELETE", "/api/environments/Gone").status == 400
    assert server.ask("GET", "/v1/environments/gone--impl").status == 404
    assert server.ask("POST", "/api/environments", body).status == 201
    assert server.ask("DELETE", "/api/environments/gone").status == 204
