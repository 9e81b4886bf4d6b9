"""The same classes at a vial serve."""

import asyncio
import json
import os
import subprocess
import threading
import time

import pytest
from conftest import BUILD

import vial
from vial import _remote

PROGRAM = BUILD / "vial"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if subprocess.run([PROGRAM, "serve", "--help"], capture_output=True).returncode != 0:
        pytest.skip("this build has no vial serve")
    directory = tmp_path_factory.mktemp("serve")
    with open(directory / "log", "wb") as log:
        process = subprocess.Popen([PROGRAM, "serve", "--data-dir", directory / "data", "--insecure-local", "--listen",
                                    "127.0.0.1:0"], stderr=log, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 20
    address = None
    while address is None:
        assert process.poll() is None and time.monotonic() < until, (directory / "log").read_text()
        lines = [json.loads(line) for line in (directory / "log").read_text().splitlines() if line.startswith("{")]
        if any(line.get("msg") == "ready" for line in lines):
            address = next(line["address"] for line in lines if line.get("msg") == "listening")
        time.sleep(0.02)
    yield vial.Vial(f"http://127.0.0.1:{address.rpartition(':')[2]}")
    process.terminate()
    process.wait(20)


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
