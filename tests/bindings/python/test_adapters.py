"""The adapters, against stand-ins of what the frameworks ask of a tool or an executor."""

import abc
import asyncio
import inspect
import json
import sys
import time
import types
from dataclasses import dataclass

import pytest

import vial
from vial.adapters import e2b, langgraph, openai_agents, pydantic_ai, smolagents


def stand_in(monkeypatch, name, **members):
    module = types.ModuleType(name)
    for key, value in members.items():
        setattr(module, key, value)
    parts = name.split(".")
    for i in range(1, len(parts)):
        monkeypatch.setitem(sys.modules, ".".join(parts[:i]), types.ModuleType(".".join(parts[:i])))
    monkeypatch.setitem(sys.modules, name, module)


def read_signature(function):
    """What these frameworks read of a function: its name, docstring and hints."""
    signature = inspect.signature(function)
    assert function.__doc__ and list(signature.parameters) == ["code"]
    assert all(parameter.annotation is str for parameter in signature.parameters.values())
    return function.__name__


async def test_pydantic_ai():
    class Agent:  # takes plain async functions
        def __init__(self, tools):
            self.tools = {read_signature(one): one for one in tools}

    agent = Agent([pydantic_ai.code_tool(lang="python", name="run_python"), pydantic_ai.code_tool()])
    assert await agent.tools["run_python"]("print('a'); 6 * 7") == "stdout:\na\nvalue: 42"
    assert await agent.tools["run_code"]("[1, 2].map(x => x * 2)") == "value: [2, 4]"
    said = await agent.tools["run_code"]("nope()")
    assert said.startswith("exception: ReferenceError")
    limited = pydantic_ai.code_tool(timeout=0.1)
    assert (await limited("for (;;);")).startswith("wall_limit")


async def test_langgraph(monkeypatch):
    @dataclass
    class StructuredTool:
        func: object
        coroutine: object
        name: str
        description: str

        @classmethod
        def from_function(cls, func=None, coroutine=None, name=None, description=None):
            return cls(func, coroutine, name, description)

        def invoke(self, given):
            return self.func(**given)

        async def ainvoke(self, given):
            return await self.coroutine(**given)

    stand_in(monkeypatch, "langchain_core.tools", StructuredTool=StructuredTool)
    tool = langgraph.code_tool(tools=[vial.tool(lambda a: a + 1, name="next")])
    assert tool.name == "run_code" and "JavaScript" in tool.description
    assert tool.invoke({"code": "await next(1)"}) == "value: 2"
    assert await tool.ainvoke({"code": "await next(2)"}) == "value: 3"


async def test_openai_agents(monkeypatch):
    @dataclass
    class FunctionTool:
        name: str
        on_invoke_tool: object

    def function_tool(function):
        return FunctionTool(read_signature(function), function)

    stand_in(monkeypatch, "agents", function_tool=function_tool)
    tool = openai_agents.code_tool(description="Computes.")
    assert tool.name == "run_code" and await tool.on_invoke_tool("2 ** 10") == "value: 1024"


def test_without_the_frameworks():
    for make in (langgraph.code_tool, openai_agents.code_tool):
        with pytest.raises(ImportError):
            make()


class Weather:
    """A tool as smolagents has them."""

    name = "weather"
    description = "The weather of a place."
    inputs = {"place": {"type": "string", "description": "where"},
              "day": {"type": "integer", "description": "when", "nullable": True}}

    def __call__(self, place, day=None):
        return f"{place} {day}"


def run_agent(executor, steps):
    """The loop of a CodeAgent around its executor: until an answer is final."""
    for code in steps:
        try:
            output = executor(code)
        except Exception as error:
            return "error", str(error), executor.state["_print_outputs"]
        if output.is_final_answer:
            return "final", output.output, output.logs
    return "none", output.output, output.logs


def test_smolagents():
    executor = smolagents.VialPythonExecutor(timeout=2)
    executor.send_variables({"rows": [1, 2, 3], "data": {"a": b"x"}})
    executor.send_tools({"weather": Weather(), "final_answer": lambda answer: answer})
    assert run_agent(executor, ["total = sum(rows)\nprint(weather('Rome'), weather(place='Oslo', day=2))"]) == (
        "none", None, "Rome None Oslo 2\n")
    assert run_agent(executor, ["print(total)\nfinal_answer({'total': total})\nprint('never')"]) == (
        "final", {"total": 6}, "6\n")
    kind, words, logs = run_agent(executor, ["print('before')\nundefined_name"])
    assert kind == "error" and "NameError" in words and logs == "before\n"
    assert run_agent(executor, ["while True: pass"])[0] == "error"
    executor.send_variables({"more": 5})
    assert run_agent(executor, ["more + total"])[1] == 11
    assert run_agent(executor, ["import subprocess"])[0] == "error"
    executor.cleanup()


def test_smolagents_own_class_is_used(monkeypatch):
    @dataclass
    class CodeOutput:
        output: object
        logs: str
        is_final_answer: bool

    stand_in(monkeypatch, "smolagents.local_python_executor", CodeOutput=CodeOutput)
    executor = smolagents.VialPythonExecutor(allowed_imports=["math"])
    assert executor("import math; math.floor(2.5)") == CodeOutput(2, "", False)
    with pytest.raises(RuntimeError, match="ImportError"):
        executor("import os")


def test_smolagents_inputs_of_all_kinds(monkeypatch):
    """Arguments come to a tool as the program gave them; what a single dict means, the tool decides. Managed agents are
    tools, too."""
    class PythonExecutor(abc.ABC):
        @abc.abstractmethod
        def send_tools(self, tools): ...

    stand_in(monkeypatch, "smolagents.local_python_executor", PythonExecutor=PythonExecutor,
             CodeOutput=smolagents.CodeOutput)

    class Tool:
        description = "takes things"

        def __init__(self, inputs, function):
            self.inputs, self._function = inputs, function

        def __call__(self, *args, sanitize_inputs_outputs=False, **named):
            if len(args) == 1 and not named and isinstance(args[0], dict) and all(key in self.inputs for key in args[0]):
                args, named = (), args[0]
            return self._function(*args, **named)

    executor = smolagents.VialPythonExecutor(timeout=20)
    assert isinstance(executor, PythonExecutor)
    executor.send_tools({
        "either": Tool({"x": {"type": ["string", "integer"]}}, lambda x: f"{x!r}"),
        "whatever": Tool({"x": {"type": "any"}, "y": {"type": "image", "nullable": True}}, lambda x, y=None: [x, y]),
        "whole": Tool({"data": {"type": "object", "description": "all"}}, lambda data: sorted(data)),
        "none": Tool({}, lambda: "nothing"),
        "manager": Tool({"task": {"type": "string"}, "additional_args": {"type": "object", "nullable": True}},
                        lambda task, additional_args=None: f"{task}: {additional_args}"),
        "final_answer": Tool({"answer": {"type": "any"}}, lambda answer: answer),
    })
    assert executor("[either(1), either('a')]").output == ["1", "'a'"]
    assert executor("[whatever(None), whatever(x=[1], y=2)]").output == [[None, None], [[1], 2]]
    for call in ("whole(data={'b': 1, 'a': 2})", "whole({'b': 1, 'a': 2})", "whole({'data': {'b': 1, 'a': 2}})"):
        assert executor(call).output == ["a", "b"]
    assert executor("none()").output == "nothing"
    assert executor("manager('go', additional_args={'k': 1})").output == "go: {'k': 1}"
    for call, answer in (("final_answer('x')", "x"), ("final_answer(answer=[1])", [1]), ("final_answer({'total': 6})", {"total": 6}),
                         ("final_answer({'answer': 5})", 5), ("if True:\n    final_answer(None)\nprint('never')", None)):
        assert executor(call) == (answer, "", True)
    with pytest.raises(RuntimeError, match="unexpected keyword argument 'z'"):
        executor("either(z=1)")
    with pytest.raises(ValueError, match="name"):
        executor.send_tools({"not a name": print})
        executor("1")
    executor.cleanup()


def test_e2b():
    printed = []
    with e2b.Sandbox.create() as sandbox:
        done = sandbox.run_code("x = 20\nprint('hi')\nx + 1", on_stdout=printed.append)
        assert done.text == "21" and done.logs.stdout == ["hi\n"] == printed and done.error is None
        done = sandbox.run_code("display({'image/png': b'\\x89PNG'}); x")
        assert done.results[0].png == "iVBORw==" and done.results[0].formats() == ["png"] and done.text == "20"
        failed = sandbox.run_code("1 / 0")
        assert failed.error.name == "ZeroDivisionError" and "line 1" in failed.error.traceback and failed.text is None
        assert failed.execution_count == 3
        assert sandbox.run_code("[1, 2].length", language="javascript").text == "2"
        assert sandbox.run_code("while True: pass", timeout=0.3).error.name in ("WallLimit", "CpuLimit")
        assert sandbox.run_code("x").text == "20"
        assert json.loads(failed.to_json())["error"] and json.loads(done.to_json())["results"][-1]["text"] == "20"
        assert done.results[0]["png"] == "iVBORw==" and "png" in str(done.results[0])
    with pytest.raises(RuntimeError, match="killed"):
        sandbox.run_code("1")


def test_e2b_arguments_in_their_order():
    """run_code(code, language, context, on_stdout, on_stderr, on_result, on_error, envs, timeout, request_timeout)."""
    seen = []
    sandbox = e2b.Sandbox(envs={"TOKEN": "t"})
    done = sandbox.run_code("import os, sys\nprint('o')\nprint('e', file=sys.stderr)\nos.environ['TOKEN']", None, None,
                            lambda m: seen.append((m.line, m.error, m.timestamp > 10**18)),
                            lambda m: seen.append((str(m), m.error, m.timestamp > 10**18)), seen.append, seen.append)
    assert seen[:2] == [("o\n", False, True), ("e\n", True, True)] and seen[2] is done.results[0] and done.text == "'t'"
    sandbox.run_code("1 / 0", on_error=seen.append)
    assert seen[3].name == "ZeroDivisionError"
    first, second = sandbox.create_code_context(), sandbox.create_code_context(language="javascript")
    assert sandbox.run_code("x = 5; x", context=first).text == "5" and sandbox.run_code("typeof x", context=second).text
    assert sandbox.run_code("x").error.name == "NameError"
    sandbox.restart_code_context(first)
    assert sandbox.run_code("x", context=first).error.name == "NameError"
    sandbox.remove_code_context(first.id)
    assert sandbox.list_code_contexts() == [second]
    for wrong in (dict(context=first), dict(context=second, language="python"), dict(language="cobol"), dict(envs={"A": "b"})):
        with pytest.raises(ValueError):
            sandbox.run_code("1", **wrong)
    assert sandbox.run_code("1", timeout=0).text == "1"
    sandbox.set_timeout(0.2)
    began = time.monotonic()
    assert sandbox.run_code("while True: pass").error is not None and time.monotonic() - began < 5
    with pytest.raises(RuntimeError, match="timeout"):
        sandbox.run_code("1")
    assert not sandbox.is_running()


async def test_e2b_for_tasks():
    seen = []

    async def take(piece):
        await asyncio.sleep(0)
        seen.append(piece)

    async with await e2b.AsyncSandbox.create() as sandbox:
        done = await sandbox.run_code("print('a')\n6 * 7", on_stdout=take, on_result=take)
        assert done.text == "42" and seen == ["a\n", done.results[0]]
        task = asyncio.ensure_future(sandbox.run_code("while True: pass"))
        await asyncio.sleep(0.3)
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 5 and await sandbox.is_running()
        assert (await sandbox.run_code("1")).text == "1"


def test_e2b_beside_a_loop():
    async def work():
        sandbox = e2b.Sandbox()
        return await asyncio.to_thread(lambda: sandbox.run_code("1 + 1").text)

    assert asyncio.run(work()) == "2"
