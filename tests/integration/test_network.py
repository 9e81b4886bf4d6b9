"""test_network.py - requests of programs to the network: a real server on the loopback, which the operator
allows by its exact address, and everything that a hostile program or server might try."""

import contextlib
import gzip
import http.server
import json
import re
import socketserver
import subprocess
import sys
import threading
import time

import pytest

LIMIT = 3  # seconds that no test of a hostile server takes


class Handler(http.server.BaseHTTPRequestHandler):
    """A server that does what the path says."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status=200, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def echo(self):
        told = {"method": self.command, "path": self.path, "headers": dict(self.headers.items()),
                "body": self.body.decode("latin-1")}
        self.answer(200, json.dumps(told).encode(), [("Content-Type", "application/json"), ("X-Two", "a"), ("X-Two", "b")])

    def drip(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        for _ in range(1000):
            self.wfile.write(b"x")
            self.wfile.flush()
            self.server.stopping.wait(0.05)

    def endless(self):
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        while not self.server.stopping.is_set():
            self.wfile.write(b"x" * 65536)

    def bomb(self):
        self.answer(200, self.server.bomb, [("Content-Encoding", "gzip")])

    def raw(self, text):
        self.wfile.write(text)
        self.wfile.flush()
        self.close_connection = True

    def chunks(self):
        """The body of an upload that comes in chunks, with the time of each."""
        while size := int(self.rfile.readline(), 16):
            self.server.arrived.append(time.monotonic())
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def do_any(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            self.server.arrived = []
            if self.path.startswith("/late"):
                self.server.stopping.wait(0.6)
            if self.path.startswith("/refuse"):
                self.close_connection = True
                return self.answer(413, b"too much", [("Connection", "close")])
            if self.path.startswith(("/count", "/late")):
                return self.answer(200, str(sum(map(len, self.chunks()))).encode())
            self.body = b"".join(self.chunks())
        else:
            self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, dict(self.headers.items())))
        path, _, query = self.path.partition("?")
        word, _, rest = path[1:].partition("/")
        if word == "redirect":  # /redirect/302?where
            self.answer(int(rest), b"moved", [("Location", query)])
        elif word == "loop":
            self.answer(302, b"", [("Location", "/loop")])
        elif word == "status":
            self.answer(int(rest), b"" if rest == "204" else b"told")
        elif word == "gzip":
            self.answer(200, gzip.compress(b"text " * 1000), [("Content-Encoding", "gzip")])
        elif word == "size":
            self.answer(200, bytes(i % 251 for i in range(int(rest))))
        elif word in ("drip", "endless", "bomb"):
            getattr(self, word)()
        elif word == "headers":
            self.raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * int(rest) + b"\r\n")
        elif word == "interim":
            self.raw(b"HTTP/1.1 102 Wait\r\n\r\n" * int(rest) + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        elif word == "lying":
            self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort")
        elif word == "chunks":
            self.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnonsense")
        elif word == "nonsense":
            self.raw(b"SSH-2.0-something\r\n\r\n")
        elif word == "upgrade":
            self.raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nother")
        elif word == "encoded":
            self.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
        elif word == "silent":
            self.server.stopping.wait(30)
        else:
            self.echo()

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_any


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    bomb = gzip.compress(bytes(20 * 1024 * 1024))

    def handle_error(self, request, address):
        pass  # clients hang up, as they should


@contextlib.contextmanager
def serving():
    server = Server(("127.0.0.1", 0), Handler)
    server.stopping, server.seen = threading.Event(), []
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def server():
    with serving() as one:
        yield one


@pytest.fixture(scope="module")
def other():
    """A server that no rule allows."""
    with serving() as one:
        yield one


def base(server):
    return f"http://127.0.0.1:{server.server_port}"


def run(vial, server, code, *args, lang="js"):
    """A program that may ask the server; its result."""
    return vial.result("--net", base(server) + "/*", "--net-address", "127.0.0.1", "--lang", lang, *args, "-e",
                       re.sub(r'URL(?=[/"])', base(server), code))


def value(vial, server, code, *args, lang="js"):
    result = run(vial, server, code, *args, lang=lang)
    assert result["status"] == "ok", result["error"]
    return result["value"]


def failures(vial, server, paths, *args, init="{}"):
    """What a fetch of each path fails with, and its record."""
    began = time.monotonic()
    result = run(vial, server, f"""
        const all = [];
        for (const path of {json.dumps(paths)}) {{
            try {{ all.push(await (await fetch(path, {init})).text()); }}
            catch (e) {{ all.push({{ name: e.name, code: e.code, rule: e.rule, message: e.message }}); }}
        }}
        all""", *args)
    assert result["status"] == "ok", result["error"]
    assert time.monotonic() - began < LIMIT
    assert all(isinstance(told, dict) for told in result["value"]), result["value"]
    return list(zip(result["value"], result["calls"]))


def failure(vial, server, path, *args, init="{}"):
    return failures(vial, server, [path], *args, init=init)[0]


# ---- what works ----


def test_methods_headers_and_bodies_go_both_ways(vial, server):
    methods = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    answers = value(vial, server, f"""
        const all = [];
        for (const method of {json.dumps(methods)}) {{
            const body = method === "GET" ? undefined : "h\u00e9llo";
            const r = await fetch("URL/x?a=1", {{ method, body, headers: {{ "X-A": "b" }} }});
            all.push({{ ...(await r.json()), ok: r.ok, url: r.url, two: r.headers.get("x-two") }});
        }}
        all""")
    for method, told in zip(methods, answers):
        assert told["method"] == method and told["path"] == "/x?a=1" and told["ok"]
        assert told["headers"]["x-a"] == "b" and told["two"] == "a, b"
        assert told["body"] == ("" if method == "GET" else "h\u00c3\u00a9llo")
        assert told["headers"]["Host"] == f"127.0.0.1:{server.server_port}"


def test_every_request_is_in_calls_without_values_of_its_query(vial, server):
    result = run(vial, server, 'await fetch("URL/x?key=hidden&b=2", { method: "POST", body: "12345" }); 1')
    call = result["calls"][0]
    assert call["name"] == "fetch" and call["status"] == "ok" and call["input_bytes"] == 5
    assert call["request"]["method"] == "POST" and call["request"]["status"] == 200
    assert call["request"]["url"] == base(server) + "/x?key=*&b=*"
    assert call["request"]["rule"] == base(server) + "/*" and call["request"]["bytes_up"] == 5
    assert "hidden" not in json.dumps(result["calls"])


def test_statuses_are_answers(vial, server):
    assert value(vial, server, """
        const missing = await fetch("URL/status/404"), empty = await fetch("URL/status/204");
        const head = await fetch("URL/x", { method: "HEAD" });
        [missing.status, await missing.text(), empty.status, empty.body, await empty.text(), head.status, await head.text()]
        """) == [404, "told", 204, None, "", 200, ""]


def test_compressed_answers_are_decoded(vial, server):
    got = value(vial, server, """
        const r = await fetch("URL/gzip"); const t = await r.text();
        [t.length, t.slice(0, 10), r.headers.get("content-encoding"), r.headers.get("content-length")]""")
    assert got == [5000, "text text ", None, None]


def test_long_bodies_are_streamed(vial, server):
    got = value(vial, server, """
        const r = await fetch("URL/size/3000000"); let n = 0, sum = 0, pieces = 0;
        for await (const piece of r.body) { pieces++; n += piece.length; for (const b of piece) sum += b; }
        [n, sum, pieces > 1]""")
    assert got == [3000000, sum(i % 251 for i in range(3000000)), True]
    assert value(vial, server, '(await (await fetch("URL/size/3000000")).bytes()).length') == 3000000


def test_many_at_once_wait_for_their_turn(vial, server):
    got = value(vial, server, """
        const all = await Promise.all(Array.from({ length: 20 }, (_, i) => fetch("URL/" + i)));
        (await Promise.all(all.map((r) => r.json()))).map((r) => r.path)""", "--requests-at-once", "2")
    assert got == [f"/{i}" for i in range(20)]


def test_answers_that_are_read_late_do_not_hold_up_others(vial, server):
    got = value(vial, server, """
        const all = await Promise.all(Array.from({ length: 6 }, () => fetch("URL/size/1000000")));
        (await Promise.all(all.map((r) => r.bytes()))).map((b) => b.length)""", "--requests-at-once", "1")
    assert got == [1000000] * 6


def test_a_body_that_is_not_read_does_not_keep_the_rest(vial, server):
    result = run(vial, server, 'await fetch("URL/size/5000000"); "done"')
    assert result["value"] == "done"


def test_connections_are_kept_within_a_run(vial, server):
    begun = len(server.seen)
    got = value(vial, server, 'const t = []; for (let i = 0; i < 5; i++) t.push((await fetch("URL/x")).status); t')
    assert got == [200] * 5 and len(server.seen) == begun + 5


# ---- Python ----


def test_urllib_and_requests_and_fetch_of_python(vial, server):
    got = value(vial, server, """
import json, urllib.request, urllib.error
r = urllib.request.urlopen("URL/x?a=1")
told = json.load(r)
posted = json.load(urllib.request.urlopen(urllib.request.Request("URL/y", data=b"hi", headers={"X-A": "b"}, method="PUT")))
try:
    urllib.request.urlopen("URL/status/404")
    missing = None
except urllib.error.HTTPError as error:
    missing = (error.code, error.read().decode())
try:
    urllib.request.urlopen("https://example.com/")
    denied = None
except urllib.error.URLError as error:
    denied = error.reason.code
[r.status, told["path"], posted["method"], posted["body"], posted["headers"]["X-a"], missing, denied]""", lang="python")
    assert got == [200, "/x?a=1", "PUT", "hi", "b", [404, "told"], "rule"]
    got = value(vial, server, """
import requests
r = requests.post("URL/x", params={"q": "a b"}, json={"n": 1}, headers={"X-A": "b"}, timeout=5)
with requests.Session() as s:
    s.headers["X-S"] = "t"
    second = s.get("URL/y", auth=("u", "p"))
try:
    requests.get("URL/status/500").raise_for_status()
    raised = None
except requests.exceptions.HTTPError as error:
    raised = error.response.status_code
try:
    requests.get("https://example.com/")
    denied = None
except requests.ConnectionError as error:
    denied = str(error)
big = requests.get("URL/size/1000000", stream=True)
[r.status_code, r.ok, r.json()["path"], r.json()["body"], r.headers["content-type"], second.json()["headers"]["X-S"],
 second.json()["headers"]["Authorization"], raised, "no rule" in denied, sum(len(p) for p in big.iter_content(65536))]""",
                lang="python")
    assert got == [200, True, "/x?q=a+b", '{"n": 1}', "application/json", "t", "Basic dTpw", 500, True, 1000000]
    got = value(vial, server, """
import asyncio
answers = await asyncio.gather(*[fetch(f"URL/{i}", json={"i": i}) for i in range(5)])
[(a.status, a.ok, (await a.json())["body"]) for a in answers]""", lang="python")
    assert got == [[200, True, f'{{"i": {i}}}'] for i in range(5)]


def test_without_rules_there_is_no_network(vial):
    assert vial.value("typeof fetch") == "undefined"
    result = vial.result("--lang", "python", "-e", "import urllib.request")
    assert result["status"] == "exception" and "no network" in result["error"]["message"]
    result = vial.result("--lang", "python", "-e", "fetch")
    assert result["error"]["name"] == "NameError"


# ---- N02, N04: where it may not go ----

SPELLINGS = ["http://127.0.0.1:1/", "http://localhost/", "http://0.0.0.0/", "http://[::1]/", "http://[::]/", "http://127.1/",
             "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.0.0.1./",
             "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.0.1/",
             "http://100.64.0.1/", "http://[fd00:ec2::254]/", "http://[fe80::1]/", "http://224.0.0.1/",
             "http://255.255.255.255/", "http://192.0.2.1/", "http://192.0.0.1/", "http://[::ffff:127.0.0.1]/",
             "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://168.63.129.16/"]


def test_addresses_that_are_not_public_are_refused_in_every_spelling(vial):
    code = """
import json
from _vial import net
def code_of(url):
    try:
        net.ask("GET", url)
        return "went"
    except net.DeniedError as error:
        return error.code
json.dumps([code_of(url) for url in input])"""
    result = vial.result("--net", "http://*", "--lang", "python", "--input", json.dumps(SPELLINGS), "-e", code)
    assert result["status"] == "ok", result["error"]
    assert dict(zip(SPELLINGS, json.loads(result["value"]))) == dict.fromkeys(SPELLINGS, "address")
    assert {call["status"] for call in result["calls"]} == {"denied"}


def test_a_name_that_leads_here_is_refused_unless_the_address_is_named(vial, server):
    url = f"http://localhost:{server.server_port}/"
    code = f'try {{ (await fetch("{url}")).status }} catch (e) {{ [e.name, e.code] }}'
    assert vial.result("--net", url + "*", "-e", code)["value"] == ["DeniedError", "address"]
    # One address of the name that is not named is enough.
    both = vial.result("--net", url + "*", "--net-address", "127.0.0.1", "--net-address", "::1", "-e", code)
    assert both["value"] == 200
    assert vial.result("--net", url + "*", "--net-address", "127.0.0.2", "-e", code)["value"] == ["DeniedError", "address"]


def test_hosts_paths_ports_and_schemes_are_judged_by_the_rules(vial, server, other):
    urls = ["https://example.com/", base(other) + "/", base(server).replace("http", "https") + "/"]
    for told, call in failures(vial, server, urls):
        assert told["name"] == "DeniedError" and told["code"] in ("rule", "address")
        assert call["status"] == "denied" and call["request"]["code"] == told["code"]
    narrow = vial.result("--net", base(server) + "/v1/*", "--net-address", "127.0.0.1", "-e", f"""
        const t = []; for (const p of ["/v1/x", "/v2/x", "/v1/../v2", "/v1/%2e%2e/v2", "/v1/%2e%2e%2fv2"])
            try {{ t.push((await fetch("{base(server)}" + p)).status) }} catch (e) {{ t.push(e.code) }}
        t""")
    assert narrow["value"] == [200, "address", "address", "address", "url"]
    assert other.seen == []


def test_an_error_has_the_name_of_the_rule(vial, server, folder):
    document = {"name": "net-test", "permissions": {"net": [
        {"effect": "allow", "name": "loop", "match": {"scheme": "http", "host": "127.0.0.1", "port": server.server_port},
         "addresses": ["127.0.0.1"]},
        {"effect": "deny", "name": "no-admin", "match": {"host": "127.0.0.1", "path": "/admin"}}]},
        "limits": {"default": {"requests_max": 3}}}
    (folder / "env.json").write_text(json.dumps(document))
    data = ["--data-dir", str(folder / "data")]
    done = vial("env", "create", *data, str(folder / "env.json"))
    assert done.returncode == 0, done.stderr
    result = vial.result(*data, "--in", "net-test", "-e", f"""
        const t = []; for (const p of ["/x", "/admin/x", "/%61dmin", "/y", "/z", "/w"])
            try {{ t.push((await fetch("{base(server)}" + p)).status) }} catch (e) {{ t.push([e.code, e.rule]) }}
        t""")
    assert result["status"] == "ok", result["error"]
    denied = ["rule", "no-admin"]
    assert result["value"] == [200, denied, denied, 200, 200, ["requests_max", "loop"]]
    assert [c["request"]["rule"] for c in result["calls"]][:2] == ["loop", "no-admin"]


@pytest.fixture
def narrowed(vial, server, folder):
    """An environment whose rules allow /v1 of the server, and what a run in it is called with."""
    rule = {"effect": "allow", "name": "given", "match": {"scheme": "http", "host": "127.0.0.1", "port": server.server_port, "path": "/v1"},
            "addresses": ["127.0.0.1"]}

    def make(language):
        (folder / "env.json").write_text(json.dumps({"name": "narrowed", "language": language, "permissions": {"net": [rule]}}))
        done = vial("env", "create", "--data-dir", str(folder / "data"), str(folder / "env.json"))
        assert done.returncode == 0, done.stderr
        return ["--data-dir", str(folder / "data"), "--in", "narrowed"]

    return make


ASK_ALL = {
    "javascript": """const t = []; for (const [m, p] of %s)
        try { t.push((await fetch("%s" + p, {method: m})).status) } catch (e) { t.push([e.name, e.code, e.rule ?? null, e.message]) }
        t""",
    "python": """t = []
for m, p in %s:
    try:
        t.append((await fetch("%s" + p, method=m)).status)
    except Exception as e:
        t.append([e.name, e.code, getattr(e, "rule", None), str(e)])
t"""}


@pytest.mark.parametrize("language", ["javascript", "python"])
def test_a_run_divides_the_network_by_rules_of_its_own(vial, server, narrowed, language):
    """A request must be allowed by the rules of the environment and by those of the run."""
    inside = narrowed(language)
    here = {"scheme": "http", "host": "127.0.0.1", "port": server.server_port}
    own = [{"effect": "allow", "name": "read", "match": {**here, "methods": ["GET"]}},
           {"effect": "deny", "name": "no-b", "match": {**here, "path": "/v1/b"}}]
    asked = [["GET", "/v1/a"], ["GET", "/v1/b"], ["POST", "/v1/a"], ["GET", "/v2"]]
    code = ASK_ALL[language] % (json.dumps(asked), base(server))
    before = len(server.seen)
    result = vial.result(*inside, "--permissions", json.dumps({"net": own}), "-e", code)
    assert result["status"] == "ok", result["error"]
    first, second, third, fourth = result["value"]
    assert first == 200
    assert second[:3] == ["DeniedError", "rule", "no-b"] and second[3].endswith("by the rule no-b of the run")
    assert third[:3] == ["DeniedError", "rule", None] and third[3].startswith("no rule of the network of the run allows POST")
    assert fourth[0] == "DeniedError"
    assert [c["request"]["rule"] for c in result["calls"]] == ["given", "no-b", None, None]
    assert [path for _, path, _ in server.seen[before:]] == ["/v1/a"]
    whole = vial.result(*inside, "--permissions", '{"net": "allow"}', "-e", code)
    assert [v if v == 200 else v[0] for v in whole["value"]] == [200, 200, 200, "DeniedError"]


@pytest.mark.parametrize("net, words", [
    ([{"effect": "allow", "match": {"scheme": "http", "host": "127.0.0.1"}, "addresses": ["127.0.0.1"]}], "has addresses"),
    ([{"effect": "allow", "match": {"host": "a.example"}, "inject": {"bearer": "KEY"}}], "has a secret")])
def test_the_rules_of_a_run_give_nothing(vial, server, narrowed, net, words):
    done = vial("run", *narrowed("javascript"), "--permissions", json.dumps({"net": net}), "-e", "1")
    assert done.returncode != 0 and words in done.stderr and "can only take away" in done.stderr


def test_the_rules_of_a_run_hold_beside_those_of_its_command(vial, server):
    command = ["--net", base(server) + "/*", "--net-address", "127.0.0.1"]
    code = f'try {{ (await fetch("{base(server)}/x")).status }} catch (e) {{ e.code }}'
    rule = {"effect": "allow", "match": {"scheme": "http", "host": "127.0.0.1", "port": server.server_port, "path": "/y"}}
    before = len(server.seen)
    assert vial.result(*command, "-e", code)["value"] == 200
    assert vial.result(*command, "--permissions", json.dumps({"net": [rule]}), "-e", code)["value"] == "rule"
    assert vial.result(*command, "--permissions", '{"net": "deny"}', "-e", "typeof fetch")["value"] == "undefined"
    assert len(server.seen) == before + 1


def test_explaining_shows_the_rules_of_both(vial, server, narrowed, folder):
    narrowed("javascript")
    rule = {"effect": "allow", "name": "mine", "match": {"scheme": "http", "host": "127.0.0.1", "port": server.server_port, "path": "/v1/a"}}

    def explain(path, net):
        done = vial("policy", "explain", str(folder / "env.json"), "--net", base(server) + path, "--permissions", json.dumps({"net": net}))
        return done.stdout.strip()

    assert explain("/v1/a", [rule]).endswith('by net "given" of the environment and net "mine" of the run')
    assert explain("/v1/b", [rule]).startswith("denied") and explain("/v1/b", [rule]).endswith('by net "none" of the run')
    assert explain("/v1/b", "allow").endswith('by net "given" of the environment')
    assert explain("/v1/b", "deny").endswith('by net: "deny" of the run')


def test_a_stored_secret_is_sent_and_never_seen(vial, server, folder):
    data = ["--data-dir", str(folder / "data")]
    assert vial("secret", "set", "API_KEY", *data, stdin="very-hidden-value").returncode == 0
    rule = {"effect": "allow", "match": {"scheme": "http", "host": "127.0.0.1", "port": server.server_port},
            "addresses": ["127.0.0.1"], "inject": {"header": "X-Key", "secret": "API_KEY"}}
    document = {"name": "secret-test", "permissions": {"net": [rule]}}
    (folder / "env.json").write_text(json.dumps(document))
    assert vial("env", "create", *data, str(folder / "env.json")).returncode == 0
    result = vial.result(*data, "--in", "secret-test", "-e", f'(await (await fetch("{base(server)}/x")).json()).headers["X-Key"]')
    assert result["value"] == "[secret API_KEY]", result["error"]
    assert server.seen[-1][2]["X-Key"] == "very-hidden-value"
    assert "very-hidden" not in json.dumps(result)


# ---- N06: redirects ----


def test_redirects_are_not_followed_unless_allowed(vial, server):
    told, call = failure(vial, server, "URL/redirect/302?/x")
    assert told["name"] == "LimitError" and told["code"] == "redirect" and "/x" in told["message"]
    assert value(vial, server, """
        const r = await fetch("URL/redirect/302?/x", { redirect: "manual" }); [r.status, r.headers.get("location")]
        """) == [302, "/x"]


def test_redirects_within_the_rules_are_followed_up_to_the_limit(vial, server):
    got = value(vial, server, """
        const t = [];
        for (const s of [301, 302, 303, 307, 308]) {
            const r = await fetch(`URL/redirect/${s}?/end`, { method: "POST", body: "b" });
            const told = await r.json(); t.push([s, told.method, told.body, r.redirected, r.url.endsWith("/end")]);
        }
        t""", "--redirects", "1")
    assert got == [[301, "GET", "", True, True], [302, "GET", "", True, True], [303, "GET", "", True, True],
                   [307, "POST", "b", True, True], [308, "POST", "b", True, True]]
    told, _ = failure(vial, server, "URL/redirect/302?/redirect/302?/x", "--redirects", "1")
    assert told["code"] == "redirect"
    told, call = failure(vial, server, "URL/loop", "--redirects", "20")
    assert told["code"] == "redirect" and call["request"]["redirects"] == 20
    told, call = failure(vial, server, "URL/loop", "--redirects", "20", "--requests", "5")
    assert told["code"] == "requests_max"


def test_every_hop_is_judged_again(vial, server, other):
    begun = len(other.seen)
    denied = [base(other) + "/", "http://127.0.0.1:1/", "http://169.254.169.254/", "http://10.0.0.1/", "http://[::1]/",
              "https://example.com/", "http://localhost/", "http://2130706433/"]
    no_urls = ["file:///etc/passwd", "gopher://127.0.0.1/", "data:text/plain,x", "ftp://127.0.0.1/"]
    told = failures(vial, server, [f"URL/redirect/302?{where}" for where in denied + no_urls], "--redirects", "5")
    for where, (error, call) in zip(denied + no_urls, told):
        assert error["name"] == "DeniedError" and call["request"]["redirects"] == 1, where
        assert (error["code"] == "url") == (where in no_urls), where
    assert len(other.seen) == begun


def test_credentials_stay_with_their_origin(vial, server, other):
    code = """
        const h = { Authorization: "Bearer mine", Cookie: "a=b", "X-Other": "c" };
        const there = await (await fetch("URL/redirect/307?OTHER/x", { headers: h })).json();
        const here = await (await fetch("URL/redirect/307?/x", { headers: h })).json();
        [there.headers, here.headers].map((t) => [t.authorization, t.cookie, t["x-other"]])"""
    result = vial.result("--net", base(server) + "/*", "--net", base(other) + "/*", "--net-address", "127.0.0.1", "--redirects",
                         "3", "-e", code.replace("URL", base(server)).replace("OTHER", base(other)))
    assert result["status"] == "ok", result["error"]
    missing = {"$undefined": True}
    assert result["value"] == [[missing, missing, "c"], ["Bearer mine", "a=b", "c"]]


# ---- N08: what is sent ----


def test_what_would_smuggle_something_is_refused(vial, server):
    begun = len(server.seen)
    code = """
import json
from _vial import net
def code_of(method, path, headers):
    try:
        net.HOST_SETS.clear()
        net.ask(method, "URL" + path, headers)
        return "went"
    except net.DeniedError as error:
        return error.code
json.dumps([
    code_of("CONNECT", "/", []), code_of("TRACE", "/", []), code_of("GET / HTTP/1.1\\r\\nX: y", "/", []), code_of("", "/", []),
    code_of("GET", "/\\r\\nX: y", []), code_of("GET", "/ HTTP/1.1", []), code_of("GET", "/\\0", []),
    code_of("GET", "/", [("X", "y\\r\\nZ: w")]), code_of("GET", "/", [("X\\r\\nY", "z")]), code_of("GET", "/", [("X:", "z")]),
    code_of("GET", "/", [("X", "y\\n")]), code_of("GET", "/", [("X", "\\0")]),
    *(code_of("GET", "/", [(n, "1")]) for n in ("Host", "host", "Connection", "Transfer-Encoding", "Content-Length", "Upgrade",
        "TE", "Proxy-Authorization", "Proxy-Connection", "Expect", "Keep-Alive", "Trailer"))])"""
    codes = json.loads(value(vial, server, code, lang="python"))
    assert len(codes) == 24 and set(codes) == {"request", "url"}, codes
    assert len(server.seen) == begun


# ---- N09: what comes back ----


def test_a_bomb_goes_off_nowhere(vial, server):
    told, call = failure(vial, server, "URL/bomb", "--decoded-bytes", "1000000")
    assert told["name"] == "LimitError" and told["code"] == "decoded_bytes_max"
    assert call["status"] == "limit" and call["request"]["bytes_decoded"] <= 1000000


def test_endless_and_long_answers_are_cut_off(vial, server):
    told, call = failure(vial, server, "URL/endless", "--response-bytes", "1000000")
    assert told["code"] == "response_bytes_max" and call["status"] == "limit"
    assert call["request"]["bytes_down"] < 2000000
    told, _ = failure(vial, server, "URL/size/2000", "--response-bytes", "1000")
    assert told["code"] == "response_bytes_max"


def test_slow_answers_are_cut_off(vial, server):
    told, call = failure(vial, server, "URL/drip", "--request-ms", "200")
    assert told["name"] == "TimeoutError" and call["status"] == "timeout"
    told, _ = failure(vial, server, "URL/silent", "--request-ms", "100")
    assert told["name"] == "TimeoutError" and "100 ms" in told["message"]


def test_answers_that_are_none_are_errors(vial, server):
    codes = {"headers/100000": "headers", "interim/100000": "headers", "lying": "broken", "chunks": None, "nonsense": None,
             "upgrade": None, "encoded": "encoding"}
    told = failures(vial, server, ["URL/" + path for path in codes])
    for (path, code), (error, call) in zip(codes.items(), told):
        assert error["name"] in ("NetworkError", "LimitError") and error["code"] == (code or error["code"]), path
        assert call["status"] in ("failed", "limit"), path


def test_uploads_have_a_limit(vial, server):
    told, call = failure(vial, server, "URL/x", "--request-bytes", "100", init="{ method: 'POST', body: 'x'.repeat(101) }")
    assert told["code"] == "request_bytes_max" and call["status"] == "limit"


# ---- uploads that are streams ----

UPLOADS = {
    "javascript": """
        const wait = (ms) => new Promise((r) => setTimeout(r, ms));
        async function* pieces() { for (let i = 0; i < %(count)d; i++) { %(log)s if (%(pause)s) await wait(%(pause)s); yield new Uint8Array(%(size)d).fill(97 + i); } }
        const began = performance.now(); let produced = 0, last = 0;
        try {
            const r = await fetch("%(url)s", {method: "POST", duplex: "half", body: ReadableStream.from(pieces())});
            [r.status, await r.text(), produced, last];
        } catch (e) { [e.name, e.code, produced, last] }""",
    "requests": """
import requests, time
began, produced, last = time.monotonic(), 0, 0
def pieces():
    global produced, last
    for i in range(%(count)d):
        produced, last = i, (time.monotonic() - began) * 1000
        time.sleep(%(pause)s / 1000)
        yield bytes([97 + i %% 26]) * %(size)d
try:
    r = requests.post("%(url)s", data=pieces())
    out = [r.status_code, r.text, produced, last]
except requests.RequestException as e:
    e = e.__cause__
    out = [e.name, e.code, produced, last]
out""",
    "fetch": """
import asyncio, time
began, produced, last = time.monotonic(), 0, 0
async def pieces():
    global produced, last
    for i in range(%(count)d):
        produced, last = i, (time.monotonic() - began) * 1000
        await asyncio.sleep(%(pause)s / 1000)
        yield bytes([97 + i %% 26]) * %(size)d
try:
    r = await fetch("%(url)s", method="POST", body=pieces())
    out = [r.status, await r.text(), produced, last]
except NetworkError as e:
    out = [e.name, e.code, produced, last]
out"""}


def net(server):
    return ["--net", base(server) + "/*", "--net-address", "127.0.0.1"]


def upload(vial, server, how, path, count, size, pause=0, more=()):
    code = UPLOADS[how] % {"url": base(server) + path, "count": count, "size": size, "pause": pause,
                           "log": "produced = i; last = performance.now() - began;"}
    result = vial.result("--lang", "js" if how == "javascript" else "python", *net(server), *more, "-e", code)
    assert result["status"] == "ok", result["error"]
    return result


@pytest.mark.parametrize("how", UPLOADS)
def test_a_stream_is_sent_as_it_is_produced(vial, server, how):
    result = upload(vial, server, how, "/x", 3, 1000, pause=150)
    assert json.loads(result["value"][1])["body"] == "a" * 1000 + "b" * 1000 + "c" * 1000
    assert server.arrived[-1] - server.arrived[0] >= 0.2, server.arrived
    assert result["calls"][0]["request"]["bytes_up"] >= 3000


@pytest.mark.parametrize("how", UPLOADS)
def test_a_server_that_reads_late_holds_up_who_produces(vial, server, how):
    """Of 24 MiB not even half fits between the two; so the last piece is produced when the server reads at last."""
    result = upload(vial, server, how, "/late", 384, 65536, more=["--request-bytes", str(32 << 20)])
    status, text, produced, last = result["value"]
    assert (status, produced) == (200, 383) and last >= 400, result["value"]


@pytest.mark.parametrize("how", UPLOADS)
def test_a_stream_has_the_limit_of_a_body(vial, server, how):
    result = upload(vial, server, how, "/count", 10000, 65536, more=["--request-bytes", "1000000"])
    name, code, produced, _ = result["value"]
    assert (name, code) == ("LimitError", "request_bytes_max") and produced < 40
    assert result["calls"][0]["status"] == "limit"


@pytest.mark.parametrize("how", UPLOADS)
def test_a_server_that_wants_no_more_gets_no_more(vial, server, how):
    status, text, produced, _ = upload(vial, server, how, "/refuse", 1000, 65536, more=["--request-bytes", str(64 << 20)])["value"]
    assert produced < 500
    assert (status, text) == (413, "too much") or (status, text) == ("NetworkError", "broken")


def test_a_stream_that_fails_takes_the_request_along(vial, server):
    js = f"""const body = new ReadableStream({{ pull(c) {{ c.error(new RangeError("mine")) }} }});
        try {{ await fetch("{base(server)}/x", {{method: "POST", duplex: "half", body}}) }} catch (e) {{ `${{e.name}} ${{e.message}}` }}"""
    result = vial.result(*net(server), "-e", js)
    assert result["value"] == "RangeError mine", result["error"]
    assert result["calls"][0]["status"] == "cancelled"
    python = f"""
import requests
def pieces():
    yield b"a"
    raise ValueError("mine")
try:
    requests.post("{base(server)}/x", data=pieces())
except ValueError as e:
    out = str(e)
out, requests.get("{base(server)}/y").status_code"""
    result = vial.result("--lang", "python", *net(server), "-e", python)
    assert result["value"] == ["mine", 200] or result["value"] == ("mine", 200), result["error"]


def test_files_and_requests_are_bodies(vial, server):
    python = f"""
import io, requests, urllib.request
open("f", "w").write("from a file" * 9000)
one = requests.post("{base(server)}/count", data=open("f", "rb")).text
two = urllib.request.urlopen(urllib.request.Request("{base(server)}/count", data=io.BytesIO(b"x" * 70000), method="PUT")).read()
[one, two.decode()]"""
    result = vial.result("--lang", "python", *net(server), "-e", python)
    assert result["value"] == ["99000", "70000"], result["error"]
    js = f"""const r = new Request("{base(server)}/x", {{method: "POST", body: "whole"}});
        const told = await (await fetch(r)).json(); [told.body, told.headers["Content-Length"]]"""
    assert vial.result(*net(server), "-e", js)["value"] == ["whole", "5"]


def test_a_stream_is_not_sent_twice(vial, server):
    code = f"""const body = (async function* () {{ yield new Uint8Array(10) }})();
        try {{ await fetch("{base(server)}/redirect/307?/x", {{method: "POST", duplex: "half", body}}) }} catch (e) {{ [e.name, e.code] }}"""
    assert vial.result(*net(server), "--redirects", "2", "-e", code)["value"] == ["NetworkError", "redirect"]


def test_certificates_are_verified(vial, folder):
    key, certificate = folder / "key.pem", folder / "cert.pem"
    done = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                           "-days", "1", "-subj", "/CN=127.0.0.1"], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("there is no openssl to make a certificate with")
    program = ("import http.server, ssl, sys; s = http.server.HTTPServer(('127.0.0.1', 0), http.server.BaseHTTPRequestHandler);"
               "c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); c.load_cert_chain(sys.argv[1], sys.argv[2]);"
               "s.socket = c.wrap_socket(s.socket, server_side=True); print(s.server_port, flush=True); s.serve_forever()")
    with subprocess.Popen([sys.executable, "-c", program, certificate, key], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, encoding="utf-8") as server:
        try:
            url = f"https://127.0.0.1:{server.stdout.readline().strip()}/"
            result = vial.result("--net", url + "*", "--net-address", "127.0.0.1", "-e",
                                 f'try {{ await fetch("{url}") }} catch (e) {{ [e.name, e.code] }}')
        finally:
            server.kill()
    assert result["value"] == ["NetworkError", "certificate"]


def test_nothing_of_the_hosts_own_goes_along(vial, server, folder):
    import os

    (folder / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    environment = {**os.environ, "HOME": str(folder), "http_proxy": "http://127.0.0.1:1/", "ALL_PROXY": "http://127.0.0.1:1/"}
    done = vial("run", "--json", "--net", base(server) + "/*", "--net-address", "127.0.0.1", "-e",
                f'(await (await fetch("{base(server)}/x")).json()).headers', env=environment)
    headers = json.loads(done.stdout)["value"]
    assert not {name.lower() for name in headers} & {"authorization", "cookie", "proxy-connection"}


# ---- N12: how much, and when it ends ----


def test_requests_are_counted(vial, server):
    got = value(vial, server, """
        const t = []; for (let i = 0; i < 4; i++) try { t.push((await fetch("URL/x")).status) } catch (e) { t.push(e.code) }
        t""", "--requests", "2")
    assert got == [200, 200, "requests_max", "requests_max"]


def test_a_program_that_never_stops_asking_is_stopped(vial, server):
    result = run(vial, server, 'for (;;) { try { await fetch("URL/x"); } catch {} }', "--requests", "1")
    assert result["status"] == "call_limit"


def test_a_signal_ends_a_request(vial, server):
    got = value(vial, server, """
        const c = new AbortController(); setTimeout(() => c.abort(), 20);
        const t = [];
        try { await fetch("URL/silent", { signal: c.signal }) } catch (e) { t.push(e.name) }
        try { await fetch("URL/silent", { signal: AbortSignal.timeout(20) }) } catch (e) { t.push(e.name) }
        try { await fetch("URL/x", { signal: AbortSignal.abort() }) } catch (e) { t.push(e.name) }
        const d = new AbortController(); const r = await fetch("URL/drip", { signal: d.signal });
        setTimeout(() => d.abort(), 20);
        try { await r.text() } catch (e) { t.push(e.name) }
        t""")
    assert got == ["AbortError", "TimeoutError", "AbortError", "AbortError"]


def test_a_run_that_ends_takes_its_requests_along(vial, server):
    began = time.monotonic()
    result = run(vial, server, 'fetch("URL/silent").catch(() => {}); __return("over")')
    assert result["value"] == "over" and result["calls"][0]["status"] == "cancelled"
    result = run(vial, server, 'await fetch("URL/silent")', "--wall-ms", "300")
    assert result["status"] == "wall_limit" and result["calls"][0]["status"] == "cancelled"
    assert time.monotonic() - began < LIMIT
    process = vial.start("run", "--json", "--net", base(server) + "/*", "--net-address", "127.0.0.1", "-e",
                         f'console.log("x"); await fetch("{base(server)}/silent?wait")')
    deadline = time.monotonic() + 5
    while not any(path == "/silent?wait" for _, path, _ in server.seen) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.terminate()
    out, _ = process.communicate(timeout=5)
    assert json.loads(out)["status"] == "cancelled"


# ---- the command line ----


@pytest.mark.parametrize("args, words", [
    (("--net", "ftp://a/"), "scheme"), (("--net", "https://a:x/"), "port"), (("--net", "https://127.1/"), "host"),
    (("--net", "https://a/b*c"), "path"), (("--net-address", "127.0.0.1"), "--net"),
    (("--net", "https://a/", "--net-address", "10.0.0.0/8"), "address")])
def test_rules_that_are_none_are_said_to_be(vial, args, words):
    done = vial("run", *args, "-e", "1")
    assert done.returncode == 2 and words in done.stderr
