"""vial.jsrun: what users of jsrun know."""

import asyncio
import contextvars
import datetime
import gc
import inspect
import math
import pickle
import subprocess
import threading
import time
import warnings
import weakref

import pytest
from conftest import environment

import vial
from vial import jsrun
from vial.jsrun import (
    HeapSizeWarning, InspectorConfig, JavaScriptError, JsFunction, JsStream, Runtime, RuntimeConfig, RuntimeStats, RuntimeTerminated,
    SnapshotBuilder, undefined,
)


@pytest.fixture
def runtime():
    with Runtime() as made:
        yield made


# ---- evaluating ----

def test_state_stays(runtime):
    assert runtime.eval("var a = 1; let b = 2; const c = 3; function f() { return a + b + c }; f()") == 6
    assert runtime.eval("a = 10; f()") == 15
    assert runtime.eval("undefined") is undefined and runtime.eval("") is undefined and runtime.eval("null") is None
    assert vial.Runtime is Runtime and vial.JavaScriptError is JavaScriptError


async def test_eval_async(runtime):
    assert await runtime.eval_async("new Promise(r => setTimeout(r, 5, 'late'))") == "late"
    assert await runtime.eval_async("40 + 2", timeout=datetime.timedelta(seconds=5)) == 42
    assert await asyncio.gather(*(runtime.eval_async(f"Promise.resolve({n})") for n in range(5))) == [0, 1, 2, 3, 4]


def test_errors(runtime):
    with pytest.raises(JavaScriptError) as caught:
        runtime.eval("function outer() {\n  null.x\n}\nouter()")
    error = caught.value
    assert error.name == "TypeError" and error.message and "<eval>" in error.stack and str(error).startswith("TypeError")
    assert error.frames[0]["function_name"] == "outer" and error.frames[0]["line_number"] == 2
    with pytest.raises(JavaScriptError) as caught:
        runtime.eval("throw 'text'")
    assert caught.value.name is None
    with pytest.raises(JavaScriptError, match="SyntaxError"):
        runtime.eval("not a program {{")
    with pytest.raises(RuntimeError, match="circular"):
        runtime.eval("const o = {}; o.o = o; o")
    with pytest.raises(TypeError):
        runtime.eval(5)
    assert runtime.eval("1") == 1


async def test_frames_are_of_the_program_only(runtime):
    """However an error comes out, it says where in the program it was, and nothing of what is around it."""
    plain = runtime.eval("(function plain() { throw new TypeError('no') })")
    waits = runtime.eval("(async function waits() { throw new TypeError('no') })")
    later = runtime.eval("(async function later() { await new Promise(r => setTimeout(r, 1)); throw new TypeError('no') })")
    runtime.bind_function("fails", lambda: 1 / 0)
    runtime.add_static_module("lib", "export function f() { null.x }\nf()")

    async def value(of):
        return await of if inspect.isawaitable(of) else of

    for name, use in (("plain", plain), ("plain", plain.call_async), ("waits", waits), ("waits", waits.call_async),
                      ("later", later), ("later", later.call_async),
                      ("user", lambda: runtime.eval("function user() { fails() }\nuser()")),
                      ("f", lambda: runtime.eval_module("lib"))):
        with pytest.raises(JavaScriptError) as caught:
            await value(use())
        error = caught.value
        assert error.frames[0]["function_name"] == name and error.frames[0]["line_number"] == 1, (name, error.frames)
        assert {one["file_name"] for one in error.frames} <= {"<eval>", "lib"}
        assert set(error.frames[0]) == {"function_name", "file_name", "line_number", "column_number"}
        assert "prefix.js" not in error.stack and "[eval]" not in error.stack and f"at {name} (" in error.stack
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.name, copied.message, copied.stack, copied.frames) == (error.name, error.message, error.stack, error.frames)


async def test_timeouts_are_both_kinds_of_error(runtime):
    for kind in (TimeoutError, RuntimeError):
        with pytest.raises(kind, match="timed out"):
            await runtime.eval_async("for (;;);", timeout=0.1)
    with Runtime(RuntimeConfig(timeout=0.1)) as other, pytest.raises(TimeoutError):
        other.eval("for (;;);")
    with pytest.raises(RuntimeError, match="pending"):
        await runtime.eval_async("new Promise(() => {})", timeout=5)
    assert runtime.eval("1") == 1


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", [1], datetime.timedelta(0)])
async def test_timeouts_that_are_none(runtime, bad):
    with pytest.raises(ValueError, match="Timeout"):
        RuntimeConfig(timeout=bad)
    with pytest.raises(ValueError, match="Timeout"):
        await runtime.eval_async("1", timeout=bad)


def test_the_heap_has_a_limit():
    runtime = Runtime(RuntimeConfig(max_heap_size=24 * 1024 * 1024))
    with pytest.raises(RuntimeTerminated, match="(?i)heap limit"):
        runtime.eval("const kept = []; for (;;) kept.push(new Uint8Array(1e6).fill(1))")
    assert runtime.is_closed()
    with pytest.raises(RuntimeTerminated):
        runtime.eval("1")


def test_a_heap_that_is_too_small_is_said():
    """Programs of jsrun's users ask for 10 MB: they run, with the least that there is, and are told."""
    with pytest.warns(HeapSizeWarning, match=r"10485760.*16777216") as said:
        runtime = Runtime(RuntimeConfig(max_heap_size=10 * 1024 * 1024))
    assert said[0].filename == __file__
    assert runtime.eval("6 * 7") == 42
    with pytest.raises(RuntimeTerminated, match="16777216"):
        runtime.eval("const kept = []; for (;;) kept.push(new Uint8Array(1e5).fill(1))")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Runtime(RuntimeConfig(max_heap_size=16 * 1024 * 1024)).close()


async def test_terminate():
    runtime = Runtime()
    asyncio.get_running_loop().call_later(0.1, runtime.terminate)
    with pytest.raises(RuntimeTerminated, match="host request"):
        await runtime.eval_async("for (;;);")
    runtime.terminate()
    assert runtime.is_closed()
    with pytest.raises(RuntimeTerminated):
        runtime.bind_function("f", print)


def test_closed(runtime):
    function = runtime.eval("() => 1")
    runtime.close()
    runtime.close()
    assert runtime.is_closed()
    for use in (lambda: runtime.eval("1"), lambda: runtime.get_stats(), lambda: runtime.eval_module("m"), function,
                lambda: runtime.bind_object("o", {}), lambda: runtime.add_static_module("m", "")):
        with pytest.raises(RuntimeError, match="closed|shut down"):
            use()


async def test_a_cancelled_task(runtime):
    task = asyncio.ensure_future(runtime.eval_async("globalThis.began = true; for (;;);"))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert runtime.eval("began") is True


def test_configs():
    config = RuntimeConfig(max_heap_size=1 << 26, initial_heap_size=1 << 20, timeout=3, max_serialization_depth=5)
    assert (config.max_heap_size, config.timeout, config.max_serialization_depth) == (1 << 26, 3.0, 5)
    with pytest.raises(ValueError, match="positive integer"):
        config.max_serialization_bytes = 0
    with pytest.raises(RuntimeError, match="max_heap_size"):
        Runtime(RuntimeConfig(initial_heap_size=1))
    with pytest.raises(RuntimeError, match="inspector"):
        Runtime(RuntimeConfig(inspector=InspectorConfig()))
    with pytest.raises(TypeError):
        Runtime({"timeout": 1})
    with pytest.raises(JavaScriptError, match="bad"):
        Runtime(RuntimeConfig(bootstrap="throw new Error('bad')"))
    with Runtime(RuntimeConfig(bootstrap="globalThis.x = 7")) as made:
        assert made.eval("x") == 7


def test_limits_of_values():
    with Runtime(RuntimeConfig(max_serialization_bytes=64, max_serialization_depth=2)) as made:
        with pytest.raises(RuntimeError, match="exceeded maximum limit"):
            made.eval("'x'.repeat(100)")
        with pytest.raises(RuntimeError, match="Depth"):
            made.eval("[[[1]]]")
        identity = made.eval("x => x")
        with pytest.raises(RuntimeError, match="size limit exceeded"):
            identity("x" * 100)
        with pytest.raises(RuntimeError, match="Depth"):
            identity([[[[1]]]])


def test_console(capfd):
    done = subprocess.run(["/usr/bin/python3", "-c", """
from vial.jsrun import Runtime, RuntimeConfig
Runtime().eval("console.log('silent')")
Runtime(RuntimeConfig(enable_console=True)).eval("console.log('loud'); console.error('wrong')")
"""], capture_output=True, text=True, env=environment())
    assert (done.stdout, done.stderr) == ("loud\n", "wrong\n")


# ---- functions ----

def test_functions(runtime):
    add = runtime.eval("(a, b) => a + b")
    assert isinstance(add, JsFunction) and add(2, 3) == 5
    assert runtime.eval("({ n: 4, get() { return this.n } })")["get"]() == 4
    assert runtime.eval("(f, x) => f(x)")(runtime.eval("x => typeof x"), 2**70) == "bigint"
    assert runtime.eval("async x => x * 2")(4) == 8
    with pytest.raises(JavaScriptError, match="no 1"):
        runtime.eval("async x => { throw new Error('no ' + x) }")(1)
    with Runtime() as other, pytest.raises(TypeError, match="another runtime"):
        other.eval("f => 1")(add)
    with pytest.raises(TypeError, match=r"args\[1\]\[1\]\[0\] is a"):
        add(print)


async def test_functions_that_wait(runtime):
    later = runtime.eval("x => new Promise(r => setTimeout(r, 5, x + 1))")
    waiting = later(1)
    assert inspect.isawaitable(waiting) and await waiting == 2
    assert await later.call_async(2) == 3
    runtime.eval("let settle; 0")
    waiting = runtime.eval("() => new Promise(r => { settle = r })")()
    runtime.eval("settle('now')")
    assert await waiting == "now"
    with pytest.raises(TimeoutError):
        await runtime.eval("async () => { for (;;); }").call_async(timeout=0.1)


async def test_functions_are_let_go(runtime):
    function = runtime.eval("() => 1")
    assert runtime._debug_tracked_function_count() == 1
    await function.close()
    with pytest.raises(RuntimeError, match="closed"):
        function()
    function = runtime.eval("() => 1")
    reference = weakref.ref(function)
    del function
    gc.collect()
    assert reference() is None
    for _ in range(20_000 // 100):  # a session keeps 10,000
        runtime.eval("Array.from({ length: 100 }, () => () => 1)")


# ---- what Python gives ----

async def test_bind(runtime):
    @runtime.bind
    def double(x):
        return 2 * x

    @runtime.bind(name="later")
    async def slow(x):
        await asyncio.sleep(0.005)
        return x + 1

    runtime.bind_object("api", {"n": 2**60, "data": b"\x01\x02", "f": double, "deep": {"a": [1]}, "g": slow})
    assert runtime.eval("[double(4), api.n === 2n ** 60n, api.data[1], api.f(1), api.deep.a]") == [8, True, 2, 2, [1]]
    assert await runtime.eval_async("Promise.all([later(1), api.g(2)])") == [2, 3]
    assert runtime.eval("[1, 2].map(x => double(x))") == [2, 4]
    runtime.bind_object("odd']; globalThis.bad = 1; //", {"key'": 1})
    assert runtime.eval("typeof bad") == "undefined"


def test_ops(runtime):
    number = runtime.register_op("sum", lambda *args: sum(args))
    assert runtime.eval(f"__host_op_sync__({number}, 1, 2, 3)") == 6
    with pytest.raises(ValueError, match="Invalid mode"):
        runtime.register_op("x", len, mode="other")
    with pytest.raises(RuntimeError, match="async"):
        runtime.register_op("x", len, mode="async")
    with pytest.raises(JavaScriptError, match="no host op 99"):
        runtime.eval("__host_op_sync__(99)")
    runtime.bind_function("fails", lambda: 1 / 0)
    assert runtime.eval("try { fails() } catch (e) { e.name + ': ' + e.message }") == "ZeroDivisionError: division by zero"
    runtime.bind_function("odd", lambda: object())
    assert "cannot cross" in runtime.eval("try { odd() } catch (e) { e.message }")


def test_values_both_ways(runtime):
    seen = []
    runtime.bind_function("take", lambda value: seen.append(value))
    runtime.eval("take(new Map([[1, 2]])); take(new Date(0)); take(undefined); take(x => x); take(NaN)")
    assert seen[0] == {1: 2} and seen[1] == datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    assert seen[2] is undefined and isinstance(seen[3], JsFunction) and math.isnan(seen[4])
    naive = datetime.datetime(2024, 1, 1)
    assert runtime.eval("d => d.toISOString()")(naive) == "2024-01-01T00:00:00.000Z"


def test_evaluating_inside_of_a_function_that_it_called(runtime):
    runtime.bind_function("again", lambda: runtime.eval("1"))
    assert "busy" in runtime.eval("try { again() } catch (e) { e.message }")


async def test_evaluating_inside_of_an_async_function_that_it_called(runtime):
    async def again():
        return await runtime.eval_async("1")

    runtime.bind_function("again", again)
    assert "busy" in await runtime.eval_async("again().catch(e => e.message)", timeout=5)


# ---- modules ----

async def test_modules(runtime):
    runtime.add_static_module("lib", "export const n = 2; export const twice = x => 2 * x; export default 'd'")
    runtime.add_static_module("main", "import { n } from 'lib'; export const sum = n + 1;")
    space = runtime.eval_module("lib")
    assert space["n"] == 2 and space["default"] == "d" and space["twice"](4) == 8
    assert (await runtime.eval_module_async("static:main"))["sum"] == 3
    assert await runtime.eval_async("(async () => (await import('lib')).twice(5))()") == 10
    with pytest.raises(RuntimeError, match="failed"):
        runtime.eval_module("nowhere")
    runtime.add_static_module("bad", "export const x = ;")
    with pytest.raises(JavaScriptError):
        runtime.eval_module("bad")


async def test_resolver_and_loader(runtime):
    asked = []

    def resolve(specifier, referrer):
        asked.append((specifier, referrer))
        return f"file:///{specifier[2:]}" if specifier.startswith("./") else specifier if ":" in specifier else None

    async def load(url):
        await asyncio.sleep(0.001)
        return {"app:main": "import { x } from './x.js'; export const y = x + 1;", "file:///x.js": "export const x = 1;"}[url]

    runtime.set_module_resolver(resolve)
    runtime.set_module_loader(load)
    assert (await runtime.eval_module_async("app:main"))["y"] == 2
    assert ("./x.js", "app:main") in asked
    with pytest.raises(RuntimeError, match="failed"):
        await runtime.eval_module_async("app:other")
    with Runtime() as other:
        other.set_module_resolver(lambda specifier, referrer: "a:b")
        other.set_module_loader(load)
        with pytest.raises(RuntimeError, match="eval_module_async"):
            other.eval_module("x")
        other.set_module_loader(lambda url: "export default 1")
        assert other.eval_module("x")["default"] == 1


# ---- snapshots ----

def test_snapshots():
    builder = SnapshotBuilder(bootstrap="globalThis.base = 1;")
    builder.execute_script("lib", "const more = base + 1; function twice(x) { return 2 * x }")
    with pytest.raises(JavaScriptError):
        builder.execute_script("bad", "throw new Error('no')")
    data = builder.build()
    assert isinstance(data, bytes)
    for _ in range(2):
        with Runtime(RuntimeConfig(snapshot=data)) as made:
            assert made.eval("[base, more, twice(4)]") == [1, 2, 8]
            made.eval("base = 99")
    with pytest.raises(ValueError, match="snapshot"):
        RuntimeConfig(snapshot=data, bootstrap="1")
    with pytest.raises(ValueError, match="no snapshot"):
        Runtime(RuntimeConfig(snapshot=b"something else"))
    with pytest.raises(RuntimeError, match="built"):
        builder.build()


# ---- streams ----

async def test_streams_out(runtime):
    stream = runtime.eval("new ReadableStream({ start(c) { c.enqueue('a'); c.enqueue(new Uint8Array([1])); c.close() } })")
    assert isinstance(stream, JsStream)
    assert [piece async for piece in stream] == ["a", b"\x01"]
    failing = runtime.eval("new ReadableStream({ pull() { throw new Error('broken') } })")
    with pytest.raises(JavaScriptError, match="broken"):
        await failing.__anext__()
    stream = runtime.eval("globalThis.over = 0; new ReadableStream({ pull(c) { c.enqueue(1) }, cancel() { over = 1 } })")
    assert await stream.__anext__() == 1
    stream.close()
    assert runtime.eval("over") == 1 and runtime.get_stats().active_js_streams == 0


async def test_streams_in(runtime):
    closed = asyncio.Event()

    async def pieces():
        try:
            yield "x"
            yield {"n": 2**60}
            await asyncio.sleep(0.005)
            yield b"z"
        finally:
            closed.set()

    take = runtime.eval("s => { globalThis.s = s }")
    take(runtime.stream_from_async_iterable(pieces()))
    code = "(async () => { const got = []; for await (const p of s) got.push(p); return got })()"
    assert await runtime.eval_async(code) == ["x", {"n": 2**60}, b"z"]
    closed.clear()
    take(runtime.stream_from_async_iterable(pieces()))
    await runtime.eval_async("(async () => { const r = s.getReader(); await r.read(); await r.cancel() })()")
    await asyncio.wait_for(closed.wait(), 2)
    stats = runtime.get_stats()
    assert stats.total_py_streams == 2 and stats.active_py_streams == 0 and stats.bytes_streamed_py_to_js >= 3

    async def broken():
        yield 1
        raise RuntimeError("no more")

    take(runtime.stream_from_async_iterable(broken()))
    with pytest.raises(JavaScriptError, match="no more"):
        await runtime.eval_async(code)


# ---- about it ----

async def test_stats(runtime):
    before = runtime.get_stats()
    assert isinstance(before, RuntimeStats) and before.last_execution_kind is None and before.eval_sync_count == 0
    runtime.eval("setTimeout(() => {}, 1e6); setInterval(() => {}, 1e6); globalThis.kept = new Array(1e6).fill(1.5); 0")
    await runtime.eval_async("1")
    runtime.eval("() => 1")()
    after = runtime.get_stats()
    assert (after.eval_sync_count, after.eval_async_count, after.call_function_sync_count) == (2, 1, 1)
    assert (after.active_timers, after.active_intervals, after.open_resources) == (1, 1, 2)
    assert after.heap_used_bytes > before.heap_used_bytes + 4_000_000
    assert after.last_execution_kind == "call_function_sync"
    assert after.external_memory_bytes == 0 and after.heap_total_bytes >= after.heap_used_bytes
    assert after.physical_total_bytes >= after.heap_used_bytes


async def test_every_field_of_stats(runtime):
    counts = runtime.get_stats
    runtime.add_static_module("a", "export const x = 1")
    runtime.eval("for (const end = Date.now() + 30; Date.now() < end;);")
    assert counts().total_execution_time_ms >= 25 and counts().last_execution_time_ms >= 25
    runtime.eval_module("a")
    await runtime.eval_module_async("a")
    await runtime.eval("() => 1").call_async()
    found = counts()
    assert (found.eval_module_sync_count, found.eval_module_async_count, found.call_function_async_count) == (1, 1, 1)
    assert found.last_execution_kind == "call_function_async" and found.last_execution_time_ms < 25

    asked, answer = asyncio.Event(), asyncio.Event()

    async def slow():
        asked.set()
        await answer.wait()

    runtime.bind_function("slow", slow)
    task = asyncio.ensure_future(runtime.eval_async("slow()"))
    await asyncio.wait_for(asked.wait(), 5)
    assert counts().active_async_ops == 1
    answer.set()
    await task
    assert counts().active_async_ops == 0

    async def pieces():
        yield "four"
        yield b"56"

    stream = runtime.eval("new ReadableStream({ start(c) { c.enqueue('abc'); c.enqueue(new Uint8Array(5)); c.close() } })")
    runtime.eval("s => { globalThis.s = s }")(runtime.stream_from_async_iterable(pieces()))
    during = counts()
    assert (during.active_js_streams, during.active_py_streams, during.open_resources) == (1, 1, 2)
    assert [piece async for piece in stream] == ["abc", bytes(5)]
    await runtime.eval_async("(async () => { for await (const p of s); })()")
    after = counts()
    assert (after.active_js_streams, after.active_py_streams, after.total_js_streams, after.total_py_streams) == (0, 0, 1, 1)
    assert (after.bytes_streamed_js_to_py, after.bytes_streamed_py_to_js) == (8, 6)


def test_the_default_runtime():
    jsrun.close_default_runtime()
    jsrun.bind_function("plus", lambda a, b: a + b)
    jsrun.bind_object("settings", {"a": 1})
    assert jsrun.eval("plus(settings.a, 2)") == 3
    found = []
    thread = threading.Thread(target=lambda: (found.append(jsrun.eval("typeof plus")), jsrun.close_default_runtime()))
    thread.start()
    thread.join()
    assert found == ["undefined"]
    first = jsrun.get_default_runtime()
    jsrun.close_default_runtime()
    assert first.is_closed() and jsrun.eval("typeof plus") == "undefined"
    jsrun.close_default_runtime()


async def test_the_default_runtime_of_a_task():
    async def work(n):
        await jsrun.eval_async(f"globalThis.n = {n}")
        return await jsrun.eval_async("n"), jsrun.get_default_runtime()

    (a, first), (b, second) = await asyncio.gather(work(1), work(2))
    await asyncio.sleep(0)
    assert (a, b) == (1, 2) and first is not second and first.is_closed()


def test_from_the_command_line(tmp_path):
    def python(*args):
        return subprocess.run(["/usr/bin/python3", "-m", "vial", *args], capture_output=True, text=True, env=environment())

    assert python("-c", "1 + 1").stdout == "2\n"
    assert python("-c", "undefined").stdout == ""
    file = tmp_path / "a.js"
    file.write_text("console.log('x'); [1, 2]")
    assert python(str(file)).stdout == "x\n[1, 2]\n"
    failed = python("-c", "throw new TypeError('no')")
    assert failed.returncode == 1 and "JavaScript Error: TypeError: no" in failed.stderr
    assert python("/nowhere.js").returncode == 1 and python().returncode == 2


def test_many_runtimes_and_threads():
    found = []

    def work(n):
        with Runtime() as made:
            made.bind_function("f", lambda x: x + n)
            found.append(made.eval("f(1)"))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(found) == list(range(1, 17))


def test_runtimes_that_nobody_holds_are_ended():
    for _ in range(300):  # the engine has 256
        Runtime().eval("1")
    gc.collect()


def test_a_runtime_in_another_context():
    made = contextvars.copy_context().run(jsrun.get_default_runtime)
    assert made.eval("2") == 2
    time.sleep(0)
