"""vial.run, vial.arun, vial.start: what a run takes and what its result has."""

import asyncio
import threading
import time

import pytest

import vial


def test_a_value():
    result = vial.run("1+1")
    assert (result.ok, result.status, result.value, result.error) == (True, "ok", 2, None)
    assert result.value_or_raise() == 2


def test_what_a_result_has():
    result = vial.run("console.log('out'); console.error('err'); display.html('<b>x</b>'); 7",
                      limits={"wall_ms_max": 4000})
    assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 0)
    assert result.artifacts[0].data == {"text/html": b"<b>x</b>"}
    assert result.limits["wall_ms_max"] == 4000
    assert result.isolation["level"] in ("full", "rootless", "filtered")
    assert result.usage["wall_us"] > 0
    assert result.dropped == {"stdout": 0, "stderr": 0}
    assert result.to_dict()["value"] == 7
    assert "ok" in repr(result)


def test_a_guest_failure_is_a_result():
    result = vial.run("function f() {\n  throw new TypeError('no')\n}\nf()", name="bad.js")
    assert (result.status, result.value, result.exit_code) == ("exception", None, 1)
    assert (result.error.name, result.error.message, result.error.line) == ("TypeError", "no", 2)
    assert result.error.frames[0]["function"] == "f"
    with pytest.raises(vial.GuestError) as caught:
        result.value_or_raise()
    assert caught.value.name == "TypeError" and caught.value.result is result
    assert "TypeError: no" in str(caught.value)


@pytest.mark.parametrize("code, limits, status", [
    ("for (;;);", {"wall_ms_max": 100}, "wall_limit"),
    ("for (;;);", {"cpu_ms_max": 100}, "cpu_limit"),
    ("const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", {"memory_bytes_max": 32 << 20}, "memory_limit"),
])
def test_limits(code, limits, status):
    assert vial.run(code, limits=limits).status == status


def test_timeout_is_the_wall_limit():
    began = time.monotonic()
    assert vial.run("await new Promise(r => setTimeout(r, 60000))", timeout=0.2).status == "wall_limit"
    assert time.monotonic() - began < 5


def test_what_a_run_may_be_given():
    result = vial.run(
        "import { double } from './lib.js'; import { readFileSync } from 'node:fs';"
        "[double(input.n), readFileSync('../a.txt', 'utf8'), process.env.WHO, process.argv.slice(2), process.cwd()]",
        input={"n": 4}, files={"a.txt": "text"}, env={"WHO": "me"}, args=["x"], cwd="work",
        modules={"./lib.js": "export const double = n => 2 * n;"})
    assert result.value_or_raise() == [8, "text", "me", ["x"], "/home/vial/work"]


def test_files_come_back():
    code = "const fs = require('fs'); fs.writeFileSync('out/a.bin', Buffer.from([1, 2])); fs.writeFileSync('b', '')"
    result = vial.run("require('fs').mkdirSync('out');" + code, outs=["out/**"])
    assert result.files == {"out/a.bin": b"\x01\x02"}


def test_languages():
    assert vial.run("const x: number = 3; x", lang="typescript").value == 3
    assert vial.run("[x * x for x in range(3)]", lang="python").value == [0, 1, 4]
    assert vial.run("input()", lang="py", stdin="line\n").value == "line"
    assert vial.run("def main():\n    return 5", lang="python", main=True).value == 5
    assert vial.run("new Map([[1, 2]])", text=True).text == "Map(1) { 1 => 2 }"


def test_undefined_is_none_at_the_top():
    result = vial.run("undefined")
    assert result.value is None and result.is_undefined
    assert not vial.run("null").is_undefined


def test_output_as_it_comes():
    seen, text = [], []
    result = vial.run("console.log('a\u00e9'); console.error('b')", on_output=lambda stream, piece: seen.append((stream, piece)),
                      on_stdout=text.append)
    assert ("stdout", "a\u00e9\n") in seen and ("stderr", "b\n") in seen and text == ["a\u00e9\n"]
    assert result.stdout == "a\u00e9\n"


def test_an_exception_of_a_callback_is_raised():
    def fail(stream, text):
        raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        vial.run("console.log(1)", on_output=fail)
    assert vial.run("1").value == 1


async def test_arun_and_events():
    assert (await vial.arun("await Promise.resolve(3)")).value == 3
    run = vial.start("console.log('a'); await add({ a: 1, b: 2 }); console.error('b'); 9",
                     tools=[vial.tool(lambda a, b: a + b, name="add")])
    events = [event async for event in run.events()]
    assert [event.type for event in events] == ["stdout", "call", "stderr", "result"]
    assert events[1].data == ("add", {"a": 1, "b": 2})
    assert events[-1].data.value == 9 and (await run).value == 9


def test_events_without_a_loop():
    run = vial.start("console.log(1); 2")
    assert [event.type for event in run] == ["stdout", "result"]
    assert run.done and run.wait().value == 2


async def test_a_cancelled_task_cancels_the_run():
    task = asyncio.ensure_future(vial.arun("for (;;);", timeout=60))
    await asyncio.sleep(0.2)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 5


async def test_many_at_once():
    results = await asyncio.gather(*(vial.arun("input * 2", input=n) for n in range(40)))
    assert [one.value for one in results] == [2 * n for n in range(40)]


def test_cancel_from_a_thread():
    run = vial.start("for (;;);", timeout=60)
    threading.Timer(0.1, run.cancel).start()
    assert run.wait().status == "cancelled"


def test_threads():
    values = []

    def work(n):
        values.append(vial.run("input + 1", input=n).value)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(values) == list(range(1, 21))


def test_two_event_loops_at_once():
    async def work(n):
        return [(await vial.arun("await twice(input)", input=n, tools=[twice])).value for _ in range(5)]

    async def twice(x):
        await asyncio.sleep(0.001)
        return 2 * x

    found = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: asyncio.run(work(n))})) for n in (1, 2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {1: [2] * 5, 2: [4] * 5}


@pytest.mark.parametrize("call, error, words", [
    (lambda: vial.run(5), TypeError, "str"),
    (lambda: vial.run("1", lang="cobol"), ValueError, "cobol"),
    (lambda: vial.run("1", limits={"wall_ms": 3}), ValueError, "wall_ms"),
    (lambda: vial.run("1", limits={"wall_ms_max": -1}), ValueError, "wall_ms_max"),
    (lambda: vial.run("1", limits=[1]), TypeError, "limits"),
    (lambda: vial.run("1", limits={"memory_bytes_max": 1}), ValueError, "memory"),
    (lambda: vial.run("1", timeout="x"), TypeError, "timeout"),
    (lambda: vial.run("1", timeout=-1), ValueError, "timeout"),
    (lambda: vial.run("1", files=["a"]), TypeError, "files"),
    (lambda: vial.run("1", files={"../a": b""}), ValueError, ""),
    (lambda: vial.run("1", files={"a": 5.5}), TypeError, "bytes or a str"),
    (lambda: vial.run("1", files={"a": [1, 2]}), TypeError, "bytes or a str"),
    (lambda: vial.run("1", stdin=5), TypeError, "stdin must be bytes"),
    (lambda: vial.run("1", outs="*.txt"), TypeError, "outs must be a list"),
    (lambda: vial.run("1", args="abc"), TypeError, "args must be a list"),
    (lambda: vial.run("1", env=["A=b"]), TypeError, "env must be a dict"),
    (lambda: vial.run("1", env={"A=B": "c"}), ValueError, "A=B"),
    (lambda: vial.Session(env=5), TypeError, "env must be a dict"),
    (lambda: vial.Session(vial=5), TypeError, "vial.Vial"),
    (lambda: vial.Environment(5), TypeError, "dict or a str"),
    (lambda: vial.Environment(vial="x"), TypeError, "vial.Vial"),
    (lambda: vial.Runtime().bind_function(5, print), TypeError, "name"),
    (lambda: vial.Runtime().bind_object(5, {}), TypeError, "name"),
    (lambda: vial.run("1", no_such=1), TypeError, "run has no option 'no_such'"),
    (lambda: vial.run("1", name="a\0b"), ValueError, "null"),
    (lambda: vial.run("1", input=object()), TypeError, "input is an object of class object"),
    (lambda: vial.run("1", input={"rows": [1, {"f": print}]}), TypeError, "input['rows'][1]['f'] is a function"),
    (lambda: vial.run("1", tools=5), TypeError, "tools"),
    (lambda: vial.run("1", tools=[5]), TypeError, "callable"),
    (lambda: vial.run("1", tools=[lambda: 1]), ValueError, "name"),
    (lambda: vial.run("1", environment=5), TypeError, "Environment"),
    (lambda: vial.run("1", modules={"a": 1}), TypeError, "module"),
    (lambda: vial.Vial(no_such=1), TypeError, "no_such"),
    (lambda: vial.Vial(pool_count="x").run("1"), (ValueError, TypeError), "pool_count"),
    (lambda: vial.Vial(cell_path="/nowhere").run("1"), vial.VialError, ""),
    (lambda: vial.Vial(5), TypeError, "str"),
])
def test_wrong_use(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_a_closed_engine_says_so():
    engine = vial.Vial()
    assert engine.run("1").value == 1
    engine.close()
    engine.close()
    with pytest.raises(vial.ClosedError, match="closed"):
        engine.run("1")


def test_closing_an_engine_cancels_what_runs():
    engine = vial.Vial()
    engine.run("1")
    found = []
    thread = threading.Thread(target=lambda: found.append(engine.run("for (;;);", timeout=60).status))
    thread.start()
    time.sleep(0.3)
    engine.close()
    thread.join(10)
    assert found == ["cancelled"]


def test_an_engine_is_not_closed_from_inside():
    engine = vial.Vial()
    close = vial.tool(engine.close, name="close", inline=True)
    result = engine.run("try { await close() } catch (e) { e.message }", tools=[close])
    assert "cannot be closed" in result.value and engine.run("1").value == 1
    engine.close()


def test_an_engine_with_options():
    with vial.Vial(pool_count=1, require=["seccomp"]) as engine:
        assert engine.run("2").value == 2
        assert engine.isolation["layers"] and engine.stats()["run_count"] >= 1
