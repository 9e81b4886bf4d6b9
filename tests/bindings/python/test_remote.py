"""The same classes at a vial serve."""

import asyncio
import json
import os
import signal
import ssl
import subprocess
import threading
import time

import pytest
from conftest import BUILD, environment

import vial
from vial import _remote
from vial.adapters import e2b, pydantic_ai, smolagents
from vial.sandbox import CodeSandbox, SandboxConfig

PROGRAM = BUILD / "vial"


def start_server(directory, *options):
    """A vial serve, and its port."""
    with open(directory / "log", "wb") as log:
        process = subprocess.Popen([PROGRAM, "serve", "--data-dir", directory / "data", "--listen", "127.0.0.1:0", *options],
                                   stderr=log, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while True:
        assert process.poll() is None and time.monotonic() < until, (directory / "log").read_text()
        lines = [json.loads(line) for line in (directory / "log").read_text().splitlines() if line.startswith("{")]
        if any(line.get("msg") == "ready" for line in lines):
            address = next(line["address"] for line in lines if line.get("msg") == "listening")
            return process, int(address.rpartition(":")[2])
        time.sleep(0.02)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    process, port = start_server(tmp_path_factory.mktemp("serve"), "--insecure-local")
    yield vial.Vial(f"http://127.0.0.1:{port}")
    process.terminate()
    process.wait(20)


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    """A server with TLS by a certificate that nobody knows, and keys."""
    directory = tmp_path_factory.mktemp("secure")
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
                    certificate], check=True, capture_output=True)
    keys = [subprocess.run([PROGRAM, "key", "create", "--scope", scope, "--data-dir", directory / "data"], check=True,
                           capture_output=True, text=True).stdout.strip() for scope in ("run,session,env", "run")]
    process, port = start_server(directory, "--tls-certificate", certificate, "--tls-key", key)
    yield f"https://localhost:{port}", str(certificate), *keys
    process.terminate()
    process.wait(20)


def test_over_tls(secure):
    address, certificate, key, weak = secure

    def add(a: int, b: int) -> int:
        return a + b

    server = vial.Vial(address, key=key, cafile=certificate)
    assert server.run("await add(input, 2)", input=1, tools=[add]).value_or_raise() == 3
    assert asyncio.run(server.arun("6 * 7")).value == 42
    with server.session(tools=[add]) as session:
        assert session.eval("await add(1, 2)").value == 3
    context = ssl.create_default_context(cafile=certificate)
    assert vial.Vial(address, key=key, context=context).run("1").value == 1
    with pytest.raises(vial.VialError, match="(?i)certificate"):  # it is not known to the system
        vial.Vial(address, key=key).run("1")
    for wrong, words in (("vial_wrong", "not a valid key"), (None, "give a key")):
        with pytest.raises(vial.VialError, match=words):
            vial.Vial(address, key=wrong, cafile=certificate).run("1")
        with pytest.raises(vial.VialError, match=words):
            vial.Vial(address, key=wrong, cafile=certificate).session()
        with pytest.raises(vial.VialError, match=words):
            vial.Vial(address, key=wrong, cafile=certificate).environment(name="x")
    limited = vial.Vial(address, key=weak, cafile=certificate)
    assert limited.run("1").value == 1
    with pytest.raises(vial.VialError, match="scope session"):
        limited.session()
    with pytest.raises(vial.VialError):
        vial.Vial(address.replace("https", "http")).run("1")
    for options in ({"cafile": certificate, "context": context}, {"no_such": 1}, {"pool_count": 1}):
        with pytest.raises(TypeError):
            vial.Vial(address, key=key, **options)
    with pytest.raises(OSError):
        vial.Vial(address, key=key, cafile="/nowhere.pem")
    for bad in ("vial_\r\nX: y", "k\u00e9y", 5):
        with pytest.raises(ValueError, match="key"):
            vial.Vial(address, key=bad, cafile=certificate)


def test_runs(server):
    result = server.run("console.log('a'); [input.n * 2, 2n ** 70n, new Map([[1, new Uint8Array([1])]])]", input={"n": 4})
    assert result.value_or_raise() == [8, 2**70, {1: b"\x01"}] and result.stdout == "a\n"
    assert server.run("throw new TypeError('no')").error.name == "TypeError"
    assert server.run("for (;;);", timeout=0.2).status == "wall_limit"
    assert server.run("[x for x in range(3)]", lang="python").value == [0, 1, 2]
    files = server.run("require('fs').writeFileSync('b', require('fs').readFileSync('a'))", files={"a": b"\x00\xff"}, outs=["b"])
    assert files.files == {"b": b"\x00\xff"}
    assert isinstance(server, vial.Vial)


def test_output_and_tools(server):
    seen = []

    async def slow(x: int) -> int:
        await asyncio.sleep(0.01)
        return x + 1

    def fail():
        raise LookupError("gone")

    code = "console.log('x'); let e; try { await fail() } catch (error) { e = error.name } [await slow(1), e]"
    result = server.run(code, tools=[slow, fail], on_output=lambda stream, text: seen.append((stream, text)))
    assert result.value_or_raise() == [2, "LookupError"] and seen == [("stdout", "x\n")]
    assert [one["status"] for one in result.calls] == ["failed", "ok"]
    pay = vial.tool(lambda n: "paid", name="pay", approve=True)
    code = "try { await pay(1) } catch (e) { e.name }"
    assert server.run(code, tools=[pay], approve=lambda name, args: args == {"n": 1}).value == "paid"
    assert server.run(code, tools=[pay]).value == "DeniedError"


def test_following(server):
    async def main():
        assert (await server.arun("1 + 1")).value == 2
        run = server.start("console.log(1); 2")
        types = [event.type async for event in run.events()]
        task = asyncio.ensure_future(server.arun("for (;;);", limits={"wall_ms_max": 60000, "cpu_ms_max": 60000}))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return types

    assert asyncio.run(main()) == ["stdout", "result"]
    run = server.start("for (;;);", limits={"wall_ms_max": 60000, "cpu_ms_max": 60000})
    threading.Timer(0.3, run.cancel).start()
    assert run.wait().status == "cancelled"


def test_sessions_and_environments(server):
    def add(a: int, b: int) -> int:
        return a + b

    with vial.Session(vial=server, tools=[add]) as session:
        session.eval("let x = 40")
        assert session.eval("await add(x, 2)").value == 42
        branch = session.branch()
        branch.eval("x = 1")
        assert session.eval("x").value == 40 and branch.eval("x").value == 1
        branch.close()
        assert asyncio.run(session.aeval("x")).value == 40
    with pytest.raises(vial.ClosedError):
        session.eval("1")
    vial.Environment(vial=server, name="remote", prefix="const base = 4")
    with vial.Environment(vial=server, name="remote", prefix="const base = 5", tools=[add]) as environment:
        assert environment.start().ok and environment.run("await add(base, 1)").value == 6
        with environment.session() as inner:
            assert inner.eval("base").value == 5


def test_tools_of_an_environment(server):
    """However a program comes to run in it, they are called here."""
    def add(a: int, b: int) -> int:
        return a + b

    environment = server.environment(name="with-tools", prefix="const base = 40", tools=[add])
    for run in (environment.run, lambda code: server.run(code, environment=environment),
                lambda code: asyncio.run(server.arun(code, environment=environment)),
                lambda code: asyncio.run(environment.arun(code)),
                lambda code: server.start(code, environment=environment).wait(),
                lambda code: server.session(environment=environment).eval(code),
                lambda code: vial.Session(environment=environment).eval(code)):
        assert run("await add(base, 2)").value_or_raise() == 42
    assert server.run("base", environment="with-tools").value == 40
    assert asyncio.run(environment.astart()).ok
    failing = server.environment(name="failing", prefix="throw new Error('early')")
    assert "early" in failing.run("1").error.message
    with pytest.raises(TypeError, match="environment"):
        server.run("1", environment=vial.Environment(prefix="1"))
    environment.close()
    with pytest.raises(vial.ClosedError):
        server.run("1", environment=environment)
    with pytest.raises(ValueError, match="nonsense"):
        server.environment({"nonsense": 1})


def test_a_session_is_cancelled_and_lives_on(server):
    with server.session() as session:
        session.cancel()  # nothing is going on
        threading.Timer(0.3, session.cancel).start()
        began = time.monotonic()
        long = {"wall_ms_max": 60000, "cpu_ms_max": 60000}
        assert session.eval("globalThis.kept = 1; for (;;);", limits=long).status == "cancelled"
        assert time.monotonic() - began < 20 and session.eval("kept").value == 1
        assert len(session.branch(2)) == 2 and session.info["state"] == "idle" and "kept" in session.complete("kep")
        session.cancel()  # it has ended
        for bad in (dict(lang="python"), dict(tools=[print]), dict(text=True)):
            with pytest.raises(TypeError):
                session.eval("1", **bad)
        with pytest.raises(TypeError, match="count"):
            session.branch("2")

    async def follow():
        async with server.session(lang="python") as other:
            branch = await other.abranch()
            task = asyncio.ensure_future(branch.aeval("while True: pass", limits=long))
            await asyncio.sleep(0.3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await branch.aeval("1 + 1")).value

    assert asyncio.run(follow()) == 2


def test_ctrl_c(server):
    process = subprocess.Popen(["/usr/bin/python3", "-u", "-c", f"""
import vial
server = vial.Vial("http://127.0.0.1:{server._server.port}")
server.run("1")
print("ready")
try:
    server.run("for (;;);", name="endless", limits=dict(wall_ms_max=60000, cpu_ms_max=60000))
except KeyboardInterrupt:
    print("interrupted", server.run("2").value)
"""], stdout=subprocess.PIPE, text=True, env=environment())
    process.stdout.readline()
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == "interrupted 2\n"
    until = time.monotonic() + 10
    while any(one["status"] in ("running", "queued") for one in server._server.ask("GET", "/v1/runs?limit=100")["items"]):
        assert time.monotonic() < until, "the run goes on at the server"
        time.sleep(0.05)


def test_the_interpreter_ends(server):
    """Neither a tool that hangs keeps it, nor does a session stay behind at the server."""
    began = time.monotonic()
    done = subprocess.run(["/usr/bin/python3", "-c", f"""
import gc, time, vial
server = vial.Vial("http://127.0.0.1:{server._server.port}")
print(server.run("await f()", tools=[vial.tool(lambda: time.sleep(60), name="f")], timeout=0.3).status)
keep = server.session(name="left-alive")
branch = keep.branch()
server.session(name="left-alive").eval("1")
gc.collect()
keep.eval("1")
"""], capture_output=True, text=True, timeout=50, env=environment())
    assert (done.stdout, done.stderr) == ("wall_limit\n", "") and time.monotonic() - began < 40
    found = [one["state"] for one in server._server.ask("GET", "/v1/sessions")["items"] if one["name"] == "left-alive"]
    assert found == ["ended"] * 3


def test_sandboxes_and_adapters_at_a_server(server):
    sandbox = CodeSandbox(SandboxConfig(timeout_seconds=1), vial=server)
    sandbox.execute("open('kept', 'w').write('x')")
    assert sandbox.execute("print(open('kept').read())").stdout == "x\n"
    assert "ImportError" in sandbox.execute("import os").stderr and sandbox.execute("while True: pass").timed_out
    assert e2b.Sandbox(vial=server).run_code("{'a': [1]}").text == "{'a': [1]}"
    assert smolagents.VialPythonExecutor(vial=server)("6 * 7").output == 42
    assert asyncio.run(pydantic_ai.code_tool(vial=server)("6 * 7")) == "value: 42"


def test_after_a_fork(server):
    twice = vial.tool(lambda x: 2 * x, name="twice")
    assert server.run("await twice(1)", tools=[twice]).value == 2
    child = os.fork()
    if child == 0:
        os._exit(0 if server.run("await twice(2)", tools=[twice], timeout=5).value == 4 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_wrong_use(server):
    with pytest.raises(ValueError):
        server.run("1", limits={"wall_ms_max": 0})
    with pytest.raises(TypeError, match="JSON"):
        server.run("1", input=b"x")
    with pytest.raises(TypeError, match="no_such"):
        server.run("1", no_such=1)
    with pytest.raises(ValueError, match="https only"):
        vial.Vial("http://vial.example", key="k")
    for bad in ("ftp://x", "vial.example", "http://a:b@x"):
        with pytest.raises(ValueError):
            vial.Vial(bad)
    with pytest.raises(vial.VialError, match="key"):
        vial.Vial(f"http://127.0.0.1:{server._server.port}", key="vial_wrong").run("1")
    with pytest.raises(vial.VialError, match="cannot be reached"):
        vial.Vial("http://127.0.0.1:9").run("1")


def test_tagged_values():
    document = {"value_format": "tagged", "value": {
        "a": {"$bigint": "~0xff"}, "b": {"$number": "-0"}, "c": {"$set": [1, [2]]}, "d": {"$date": "2026-01-01T00:00:00.000Z"},
        "e": {"$object": {"$bigint": "no"}}, "f": {"$Float64Array": "AAAAAAAA+D8="}, "g": {"$array": [4_000_000_000, []]}}}
    value = _remote.read_value(document)
    assert value["a"] == -256 and str(value["b"]) == "-0.0" and value["c"] == {1, (2,)} and value["d"].year == 2026
    assert value["f"].tolist() == [1.5] and isinstance(value["g"], vial.Unknown)
