"""test_tools.py - `vial run` with tools and in environments: programs and servers as tools, approval, globals,
mounts, main(), and that an environment is in use while a program runs in it.
"""

import http.server
import json
import os
import pty
import select
import subprocess
import threading
import time

import pytest

CAT = {"name": "sys.cat", "exec": {"command": ["/bin/cat"]},
       "input": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}}


@pytest.fixture
def run(vial, folder):
    """Runs a program with tools, or in an environment that is made of a document."""
    folder.chmod(0o777)

    def call(code, *args, tools=None, document=None):
        if tools is not None:
            (folder / "tools.json").write_text(json.dumps(tools))
            args = ("--tools", folder / "tools.json", *args)
        if document is not None:
            vial("env", "create", "-", "--data-dir", folder / "data", stdin=json.dumps(document))
            args = ("--in", document["name"], "--data-dir", folder / "data", *args)
        return vial.result("-e", code, "--record-calls", *args)

    call.folder = folder
    return call


@pytest.fixture
def server():
    """A server that remembers what it was asked, and answers by path."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # noqa: N802 (the name is http.server's)
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.asked.append((self.path, self.headers.get("Authorization"), json.loads(body)))
            answers = {"/ok": (200, b'{"name":"Ada"}'), "/missing": (404, b'{"error":"no such customer"}'),
                       "/away": (302, b""), "/text": (200, b"not json")}
            code, answer = answers[self.path]
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            if code == 302:
                self.send_header("Location", "http://127.0.0.1:1/secret?token=1")
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args):
            pass

    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.asked = []
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield served
    served.shutdown()


def http_tool(server, path):
    return {"name": path[1:], "http": {"url": f"http://127.0.0.1:{server.server_port}{path}",
                                       "headers": {"Authorization": "Bearer secret-token"}}}


@pytest.mark.everyone
def test_a_program_as_a_tool(run):
    result = run("[await sys.cat(3), await sys.cat({x: 4})]", tools=[CAT])
    assert result["value"] == [{"x": 3}, {"x": 4}], result["error"]
    assert [(c["name"], c["status"], c["input"], c["output"]) for c in result["calls"]] == [
        ("sys.cat", "ok", {"x": 3}, {"x": 3}), ("sys.cat", "ok", {"x": 4}, {"x": 4})]


@pytest.mark.everyone
def test_arguments_are_judged_before_the_tool_is_started(run):
    error = run("await sys.cat({x: 'a', y: 1})", tools=[CAT])["error"]
    assert error["name"] == "TypeError" and "x: must be a number" in error["message"] and error["line"] == 1


def test_a_server_as_a_tool(run, server):
    result = run("await ok({id: 1})", tools=[http_tool(server, "/ok")])
    assert result["value"] == {"name": "Ada"}, result["error"]
    assert server.asked == [("/ok", "Bearer secret-token", {"id": 1})]
    assert "secret" not in json.dumps(result)


def test_what_servers_do_wrong_reaches_the_program_as_errors(run, server):
    tools = [http_tool(server, path) for path in ["/missing", "/away", "/text"]]
    result = run("const said = []; for (const f of [missing, away, text]) await f({}).catch(e => "
                 "said.push([e.name, e.status ?? null, String(e.message).includes('token')])); said", tools=tools)
    assert result["value"] == [["HttpError", 404, False], ["HttpError", 302, False], ["AnswerError", None, False]]
    assert [c["status"] for c in result["calls"]] == ["failed"] * 3


@pytest.mark.everyone
def test_approval_without_a_terminal_is_a_denial(run):
    tools = [{**CAT, "approve": True}]
    assert run("await sys.cat(1).catch(e => e.name)", tools=tools)["value"] == "DeniedError"
    assert run("await sys.cat(1)", "--approve", "yes", tools=tools)["value"] == {"x": 1}
    assert run("await sys.cat(1).catch(e => e.name)", "--approve", "no", tools=tools)["value"] == "DeniedError"


def test_approval_is_asked_for_at_the_terminal(vial, folder):
    (folder / "tools.json").write_text(json.dumps([{**CAT, "approve": True}]))
    for typed, expected in [(b"y\n", b"{ x: 1 }"), (b"n\n", b"DeniedError")]:
        pid, fd = pty.fork()
        if pid == 0:
            os.execv(vial.command()[0], vial.command("run", "--tools", folder / "tools.json", "-e", "await sys.cat(1)"))
        seen, answered, end = b"", False, time.time() + 30
        while time.time() < end and select.select([fd], [], [], 30)[0]:
            try:
                piece = os.read(fd, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
            if not answered and b"allow it? [y/N]" in seen:
                os.write(fd, typed)
                answered = True
        os.waitpid(pid, 0)
        os.close(fd)
        assert b'sys.cat with {"x":1}' in seen and expected in seen, seen


@pytest.mark.everyone
def test_an_environment_is_prepared_once_and_the_same_for_all(run):
    document = {"name": "a", "prefix": "let n = 1; const late = new Promise(r => setTimeout(() => r(7), 5));"
                "export function add(x) { return (n += x) }", "globals": {"tenant": "none"}, "env": {"MODE": "test"},
                "files": {"data.txt": "hello"}, "modules": {"./lib.js": "export const twice = x => 2 * x"}}
    code = ("import {twice} from './lib.js'; import {readFileSync} from 'node:fs';\n"
            "export default [add(1), await late, tenant, process.env.MODE, readFileSync('data.txt', 'utf8'), twice(4)]")
    result = run(code, document=document)
    assert result["value"] == [2, 7, "none", "test", "hello", 8], result["error"]
    result = run(code, "--set", 'tenant="acme"', document=document)
    assert result["value"] == [2, 7, "acme", "test", "hello", 8], result["error"]


@pytest.mark.everyone
def test_only_declared_globals_can_be_set(run, vial):
    run("1", document={"name": "a", "globals": {"tenant": 1}})
    done = vial("run", "--in", "a", "--data-dir", run.folder / "data", "--set", "other=1", "-e", "1")
    assert done.returncode == 2 and "declares no global other" in done.stderr
    done = vial("run", "--in", "a", "--data-dir", run.folder / "data", "--set", "tenant=nope", "-e", "1")
    assert done.returncode == 2 and "NAME=JSON" in done.stderr


@pytest.mark.everyone
def test_limits_of_the_environment_hold(run, vial):
    document = {"name": "a", "limits": {"default": {"wall_ms_max": 700}, "max": {"wall_ms_max": 2000}}}
    assert run("1", document=document)["limits"]["wall_ms_max"] == 700
    done = vial("run", "--in", "a", "--data-dir", run.folder / "data", "--wall-ms", "3000", "-e", "1")
    assert done.returncode == 2 and "allows up to 2000" in done.stderr


@pytest.mark.everyone
def test_a_prefix_that_fails_says_where(run, vial):
    for prefix, expected in [("let a = 1;\nnull.x", "TypeError"), ("syntax error here", "SyntaxError"),
                             ("const a = []; for (;;) a.push(new Array(1000).fill(0))", "MemoryLimit")]:
        document = {"name": "a", "prefix": prefix}
        vial("env", "delete", "a", "--data-dir", run.folder / "data")
        vial("env", "create", "-", "--data-dir", run.folder / "data", stdin=json.dumps(document))
        done = vial("run", "--in", "a", "--data-dir", run.folder / "data", "-e", "1")
        assert done.returncode != 0 and expected in done.stderr and "prefix" in done.stderr, done.stderr


@pytest.mark.everyone
def test_the_value_of_main(run):
    document = {"name": "a", "entry": "main", "prefix": "const base = 40"}
    assert run("async function main() { return base + 2 }", document=document)["value"] == 42
    assert run("const main = () => 7; 'not this'", document=document)["value"] == 7
    error = run("1 + 1", document=document)["error"]
    assert "no function main" in error["message"]
    assert run("function main() { return 5 }", "--main")["value"] == 5


@pytest.mark.everyone
def test_mounts_are_read_only_and_have_walls(run):
    data = run.folder / "served"
    (data / "sub").mkdir(parents=True)
    (data / "a.txt").write_text("hello")
    (data / "sub" / "b.bin").write_bytes(bytes(range(256)) * 1000)
    (data / "out").symlink_to("/etc/passwd")
    for index in range(3000):
        (data / "sub" / f"file-number-{index}").touch()
    result = run("""
        const fs = require('fs');
        const code = (f) => { try { return f() } catch (e) { return e.code } };
        [fs.readFileSync('data/a.txt', 'utf8'), fs.readdirSync('data').sort(), fs.readdirSync('data/sub').length,
         fs.readFileSync('data/sub/b.bin').reduce((a, b) => a + b), code(() => fs.readFileSync('data/out', 'utf8')),
         code(() => fs.writeFileSync('data/new', '')), code(() => fs.unlinkSync('data/a.txt')),
         fs.statSync('data/sub').isDirectory(), code(() => fs.readFileSync('data/../../../etc/passwd'))]
        """, document={"name": "a", "mounts": {"data": {"from": str(data)}}})
    assert result["value"] == ["hello", ["a.txt", "out", "sub"], 3001, 256 * 255 // 2 * 1000, "EACCES", "EROFS",
                               "EROFS", True, "ENOENT"], result["error"]


@pytest.mark.everyone
def test_an_environment_in_use_is_not_deleted(run, vial):
    run("1", document={"name": "a"})
    data = ("--data-dir", run.folder / "data")
    running = vial.start("run", "--in", "a", *data, "-e", "console.log(1); await new Promise(r => setTimeout(r, 5000))")
    assert running.stdout.readline() == "1\n"
    done = vial("env", "delete", "a", *data)
    assert done.returncode == 1 and "in use" in done.stderr
    assert vial("env", "delete", "a", "--force", *data).returncode == 0
    running.terminate()
    running.wait(timeout=30)
    assert vial("run", "--in", "a", *data, "-e", "1").returncode == 1


@pytest.mark.parametrize("args, expected", [
    (["--in", "a@x"], "no version"), (["--in", "none"], "none"), (["--set", "a=1"], "--in"),
    (["--approve", "maybe"], "ask, yes or no"), (["--tools", "/none"], "/none")])
def test_bad_options_are_named(vial, folder, args, expected):
    done = vial("run", "--data-dir", folder / "data", *args, "-e", "1")
    assert done.returncode in (1, 2) and expected in done.stderr, done.stderr


def test_bad_tools_are_all_named(vial, folder):
    (folder / "tools.json").write_text(json.dumps([{"name": "then", "exec": {"command": ["/bin/cat"]}}]))
    done = vial("run", "--tools", folder / "tools.json", "-e", "1")
    assert done.returncode == 2 and "/tools/0/name" in done.stderr
    assert subprocess.run(vial.command("run", "--help"), capture_output=True, check=True).stdout.count(b"--tools") == 1
