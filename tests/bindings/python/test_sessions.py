"""Sessions, branches, functions of the guest, environments."""

import asyncio
import gc
import threading
import time

import pytest

import vial


def add(a: int, b: int) -> int:
    return a + b


def test_what_stays_and_what_branches():
    with vial.Session() as session:
        assert session.eval("const rows = [3, 1, 2]; rows.length").value == 3
        one, two = session.branch(2)
        assert one.eval("rows.length = 0; rows").value == []
        assert two.eval("rows.sort()").value == [1, 2, 3]
        assert session.eval("rows").value == [3, 1, 2]
        assert session.info["branch_count"] == 2 and one.info["parent_id"] == session.info["id"]
        single = session.branch()
        assert single.eval("rows[0]").value == 3
        for branch in (one, two, single):
            branch.close()
    assert session.closed


async def test_async_sessions():
    async with vial.Session(lang="python", tools=[vial.tool(add)]) as session:
        assert (await session.aeval("x = 20; await add_async(x, 1)")).value == 21
        branch = await session.abranch()
        async with branch:
            assert (await branch.aeval("add(x, 2)")).value == 22


def test_options_of_a_session():
    with vial.Session(files={"a": "1"}, modules={"m": "export default 2"}, env={"K": "v"}, tools=[add],
                      limits={"wall_ms_max": 3000}, name="mine", idle=60, life=600) as session:
        code = "import m from 'm'; [require('fs').readFileSync('a', 'utf8'), m, process.env.K, await add(1, 2)]"
        assert session.eval(code).value_or_raise() == ["1", 2, "v", 3]
        assert session.info["name"] == "mine" and session.info["state"] == "idle"
        assert "process" in session.complete("proce")


def test_limits_are_soft():
    with vial.Session() as session:
        session.eval("let n = 1")
        result = session.eval("n = 2; for (;;);", timeout=0.2)
        assert result.status == "wall_limit" and result.session_lives
        assert session.eval("n").value == 2


def test_functions_of_the_guest():
    with vial.Session() as session:
        made = session.eval("({ by: 3, times(x) { return this.by * x }, apply: (f, x) => f(x) })").value
        assert made["times"](5) == 15
        assert made["apply"](session.eval("x => typeof x").value, 2**70) == "bigint"
        failing = session.eval("() => { throw new RangeError('far') }").value
        assert failing.call().status == "exception"
        with pytest.raises(vial.GuestError, match="far"):
            failing()
        failing.release()
        with pytest.raises(vial.GuestError):
            failing()
        with vial.Session() as other, pytest.raises(TypeError, match="another session"):
            other.eval("f => 1").value(made["times"])


async def test_functions_awaited():
    with vial.Session() as session:
        later = session.eval("async x => { await new Promise(r => setTimeout(r, 5)); return x + 1 }").value
        assert (await later.acall(1)).value == 2


def test_bad_use():
    session = vial.Session()
    with pytest.raises(TypeError, match="belongs to the session"):
        session.eval("1", tools=[add])
    with pytest.raises(TypeError, match="count"):
        session.branch("two")
    with pytest.raises(ValueError):
        session.branch(0)
    with pytest.raises(TypeError, match="Environment"):
        vial.Session(environment="x")
    session.close()
    session.close()
    with pytest.raises(vial.ClosedError, match="closed"):
        session.eval("1")
    with pytest.raises(vial.ClosedError):
        session.branch()


def test_a_second_evaluation_meanwhile():
    with vial.Session() as session:
        thread = threading.Thread(target=session.eval, args=("await new Promise(r => setTimeout(r, 600))",))
        thread.start()
        time.sleep(0.2)
        with pytest.raises(vial.VialError) as caught:
            session.eval("1")
        assert caught.value.code == -4
        thread.join()


def test_closing_a_session_that_is_busy():
    session = vial.Session()
    found = []

    def work():
        try:
            found.append(session.eval("for (;;);", timeout=60).status)
        except vial.VialError as error:
            found.append(type(error).__name__)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    session.close()
    thread.join(10)
    assert not thread.is_alive() and found


def test_process_exit_ends_it():
    session = vial.Session()
    result = session.eval("process.exit(3)")
    assert result.exit_code == 3 and not result.session_lives
    with pytest.raises(vial.ClosedError):
        session.eval("1")


def test_environments():
    with vial.Environment(prefix="import { twice } from 'lib'; const base = 20;", tools=[add], files={"a": b"\x01"},
                          modules={"lib": "export const twice = x => 2 * x"}, globals={"who": "x"},
                          limits={"wall_ms_max": 2000}, max_limits={"wall_ms_max": 5000}) as environment:
        assert environment.start().ok
        code = "[await add(base, 1), twice(base), who, require('fs').readFileSync('a')[0]]"
        assert environment.run(code).value_or_raise() == [21, 40, "x", 1]
        assert environment.run("who", globals={"who": "y"}).value == "y"
        assert vial.run("base", environment=environment).value == 20
        with pytest.raises(ValueError, match="5000"):
            environment.run("1", timeout=10)
        with environment.session() as session:
            assert session.eval("await add(base, 2)").value == 22
    with pytest.raises(vial.ClosedError):
        environment.run("1")


async def test_environments_async():
    async def slow(x: int) -> int:
        await asyncio.sleep(0.01)
        return x + 1

    async with vial.Environment(prefix="const one = 1", tools=[slow]) as environment:
        assert (await environment.arun("await slow(one)")).value == 2


def test_environments_of_documents():
    assert vial.Environment.check({"name": "X", "toolz": 1})[0]["message"]
    with pytest.raises(ValueError):
        vial.Environment({"name": "x", "toolz": []})
    made = vial.Environment({"name": "sums", "language": "python", "allowed_imports": ["math"]})
    assert made.run("import math; math.comb(49, 6)").value == 13983816
    assert made.run("import os").error.name == "ImportError"
    with made.session() as session:  # the rule is one of sessions, too, and of the prefix
        assert session.eval("import math; math.gcd(4, 6)").value == 2
        assert session.eval("import os").error.name == "ImportError"
        assert session.branch().eval("__import__('os')").error.name == "ImportError"
    assert not vial.Environment(lang="python", allowed_imports=["math"], prefix="import os").start().ok
    assert not vial.Environment(prefix="throw new Error('x')").start().ok


def test_sessions_that_nobody_holds_are_ended():
    with vial.Vial() as engine:
        kept = [engine.session() for _ in range(3)]
        kept.clear()
        gc.collect()
        for _ in range(70):  # an engine has 64
            engine.session().eval("1")
