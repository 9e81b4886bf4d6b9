"""The adapters, against stand-ins of what the frameworks ask of a tool or an executor."""

import asyncio
import inspect
import sys
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
        assert sandbox.run_code("while True: pass", timeout=0.3).error.name == "WallLimit"
        assert sandbox.run_code("x").text == "20"
    with pytest.raises(RuntimeError, match="killed"):
        sandbox.run_code("1")


def test_e2b_beside_a_loop():
    async def work():
        sandbox = e2b.Sandbox()
        return await asyncio.to_thread(lambda: sandbox.run_code("1 + 1").text)

    assert asyncio.run(work()) == "2"
