"""Whole programs as agents' authors write them, with the import changed and a stand-in for the framework and its model."""

import asyncio
import inspect
import json
import subprocess
import warnings
from dataclasses import dataclass

import pytest
from conftest import environment

from vial.jsrun import HeapSizeWarning, JavaScriptError, Runtime, RuntimeConfig
from vial.sandbox import CodeSandbox, ExecutionResult, SandboxConfig, SandboxPool


class RunContext:
    """Is the first argument of tools that want one."""


@dataclass
class Answer:
    output: str


class Agent:
    """The part of such a framework that matters here: tools by decorator, and a model that calls one of them with
    arguments which it made up from the prompt."""

    def __init__(self, *said):
        self._said = said
        self._tools = {}

    def tool(self, function):
        takes = list(inspect.signature(function).parameters.values())
        assert takes[0].annotation is RunContext and function.__doc__ and inspect.iscoroutinefunction(function)
        self._tools[function.__name__] = function
        return function

    async def run(self, prompt):
        (tool,) = self._tools.values()
        outputs = []
        for arguments in self._said:
            # A model's arguments are JSON, whatever they were before.
            outputs.append(await tool(RunContext(), **json.loads(json.dumps(arguments))))
        return Answer("\n".join(outputs))


def run_agent(*codes, seconds=5.0):
    agent = Agent(*({"code": code} for code in codes))

    @agent.tool
    async def execute(context: RunContext, code: str) -> str:
        """Executes JavaScript."""
        try:
            config = RuntimeConfig(max_heap_size=10 * 1024 * 1024)
            with Runtime(config) as runtime:
                return f"value {await runtime.eval_async(code, timeout=seconds)}"
        except TimeoutError:
            return "too slow"
        except JavaScriptError as error:
            return f"wrong {error}"
        except Exception as error:
            return f"failed {error}"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeapSizeWarning)
        return asyncio.run(agent.run("the sum of squares")).output


def test_an_agent_that_computes():
    assert run_agent("const count = 100;\nconst sum = count * (count + 1) * (2 * count + 1) / 6;\nsum;") == "value 338350"
    assert run_agent("const n = 1;", "n") .splitlines()[1].startswith("wrong ReferenceError")  # each has a fresh runtime
    assert run_agent("for (;;);", seconds=0.2) == "too slow"
    assert run_agent("let m = new Map([['a', 2n ** 64n]]); m") == "value {'a': 18446744073709551616}"
    assert run_agent("throw new RangeError('far')").startswith("wrong RangeError: far")
    assert run_agent("const kept = []; for (;;) kept.push(new Array(1e5).fill(kept.length))").startswith("failed Heap limit")


def test_an_agent_that_analyses():
    rows = [{"name": "pen", "count": 10, "price": 2.5}, {"name": "ink", "count": 4, "price": 12.25},
            {"name": "pen", "count": 6, "price": 2.5}]
    agent = Agent(
        {"data": rows, "code": "data.reduce((sum, row) => sum + row.count * row.price, 0)"},
        {"data": rows, "code": "const by = {}; for (const r of data) by[r.name] = (by[r.name] ?? 0) + r.count; by"},
        {"data": rows, "code": "data.map(row => row.missing.deep)"})

    @agent.tool
    async def analyse(context: RunContext, data: list, code: str) -> str:
        """Analyses data."""
        try:
            with Runtime() as runtime:
                runtime.bind_object("items", {"data": data})
                return f"result {await runtime.eval_async(f'const data = items.data; {code}', timeout=10.0)}"
        except Exception as error:
            return f"error {error}"

    first, second, third = asyncio.run(agent.run(json.dumps(rows))).output.split("\n", 2)
    assert first == "result 89" and second == "result {'pen': 16, 'ink': 4}" and third.startswith("error TypeError")


@pytest.mark.parametrize("spelling", ["import vial.jsrun as jsrun", "from vial import jsrun"])
def test_the_functions_of_the_module(spelling):
    done = subprocess.run(["/usr/bin/python3", "-W", "error", "-c", f"""
{spelling}
print(jsrun.eval("Math.sqrt(25)"))
jsrun.bind_function("plus", lambda a, b: a + b)
print(jsrun.eval("plus(3, 4)"))
jsrun.eval("globalThis.lib = {{ pairs: (a) => a.length < 1 ? [] : [a.slice(0, 2), ...lib.pairs(a.slice(2))] }}")
jsrun.bind_object("given", {{"rows": list("abc")}})
print(jsrun.eval("lib.pairs(given.rows)"), jsrun.eval("let later; later") is jsrun.undefined)
"""], capture_output=True, text=True, env=environment())
    assert (done.stdout, done.stderr) == ("5\n7\n[['a', 'b'], ['c']] True\n", "")


def test_a_sandbox_and_a_pool_as_people_write_them():
    config = SandboxConfig(language="python", timeout_seconds=2, max_memory_mb=64, allowed_imports=["json", "math", "re"])
    sandbox = CodeSandbox(config)
    result = sandbox.execute("import math\nprint(math.comb(10, 3))")
    assert isinstance(result, ExecutionResult)
    assert (result.stdout, result.stderr, result.exit_code, result.timed_out) == ("120\n", "", 0, False)
    slow = CodeSandbox(SandboxConfig(timeout_seconds=1)).execute("print('on', flush=True)\nwhile True: pass")
    assert slow.timed_out and slow.exit_code == 1 and slow.stdout == "on\n" and "timed out" in slow.stderr
    pool = SandboxPool(pool_size=2)
    pool.initialize(config)
    lent = [pool.acquire(), pool.acquire()]
    assert pool.acquire() is None and pool.status() == {"total": 2, "available": 0, "in_use": 2}
    for number, one in enumerate(lent):
        assert one.execute(f"open('mine', 'w').write('{number}'); print(open('mine').read())").stdout == f"{number}\n"
        pool.release(one)
    assert pool.status() == {"total": 2, "available": 2, "in_use": 0}
    assert "FileNotFoundError" in pool.acquire().execute("open('mine')").stderr
    pool.close()
