"""test_python_tools.py - functions of the host as Python programs call them: arguments, errors, limits, threads, approval."""

import json
import time

import pytest

from python_runs import result_of

pytestmark = pytest.mark.guest
CAT = {"exec": {"command": ["/bin/cat"]}}
OBJECT = {"type": "object", "properties": {"id": {"type": "integer"}, "orders": {"type": "boolean"}}, "required": ["id"],
          "additionalProperties": False}
TOOLS = [
    {"name": "crm.find", "input": OBJECT, **CAT},
    {"name": "crm.people.count", **CAT},
    {"name": "echo", **CAT},
    {"name": "anything", "input": {"type": "object"}, **CAT},
    {"name": "now", "mode": "sync", **CAT},
    {"name": "slow", "exec": {"command": ["/bin/sh", "-c", "sleep 0.4; cat"]}},
    {"name": "fail", "exec": {"command": ["/bin/sh", "-c", "echo no such thing >&2; exit 4"]}},
    {"name": "late", "timeout_ms": 200, "exec": {"command": ["/bin/sleep", "5"]}},
    {"name": "twice", "calls_max": 2, **CAT},
    {"name": "single", "concurrency_max": 1, "exec": {"command": ["/bin/sh", "-c", "sleep 0.2; cat"]}},
    {"name": "ask", "approve": True, **CAT},
    {"name": "wrong", "output": {"type": "string"}, "exec": {"command": ["/bin/echo", "1"]}},
    {"name": "json.parse", **CAT},
    {"name": "csv.read", **CAT},
    {"name": "print", **CAT},
]


@pytest.fixture
def call(vial, folder):
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    return lambda code, *args: result_of(vial, code, "--tools", folder / "tools.json", "--record-calls", *args)


@pytest.fixture
def value(call):
    def value_of(code, *args):
        result = call(code, *args)
        assert result["status"] == "ok", result["error"]
        return result.get("value")

    return value_of


@pytest.fixture
def error(call):
    def error_of(code, *args):
        result = call(code, *args)
        assert result["status"] == "exception", result
        return result["error"]

    return error_of


# ---- arguments ----

@pytest.mark.parametrize("code, answer", [
    ("crm.find(id=3)", {"id": 3}), ("crm.find(3)", {"id": 3}), ("crm.find(3, True)", {"id": 3, "orders": True}),
    ("crm.find(3, orders=False)", {"id": 3, "orders": False}), ("crm.find({'id': 3})", {"id": 3}), ("crm.find(**{'id': 3})", {"id": 3}),
    ("await crm.find_async(id=3)", {"id": 3}), ("await crm.find_async(3)", {"id": 3}), ("crm.find_async(3)", {"id": 3}),
    ("tools.crm.find(3)", {"id": 3}), ("crm.people.count(2)", 2), ("import crm\ncrm.find(3)", {"id": 3}),
    ("from crm import find, find_async\n[find(3), await find_async(4)]", [{"id": 3}, {"id": 4}]), ("import tools\ntools.echo(1)", 1),
    ("echo()", None), ("echo(None)", None), ("echo(1, 2)", [1, 2]), ("echo(a=1, b='ü')", {"a": 1, "b": "ü"}), ("echo([1, {'x': 2.5}])", [1, {"x": 2.5}]),
    ("anything()", {}), ("anything(x=1)", {"x": 1}), ("now(5)", 5), ("await now_async(5)", 5), ("list(map(echo, [1, 2]))", [1, 2]),
    ("import functools\nfunctools.partial(echo, 5)()", 5), ("echo = 3\n[echo, tools.echo(4)]", [3, 4]), ("def f():\n    return echo(6)\nf()", 6),
    ("[repr(crm), repr(crm.find), repr(crm.find_async), crm.find.__name__, callable(crm.find)]",
     ["<tools crm>", "<tool crm.find(id, orders)>", "<tool crm.find_async(id, orders)>", "crm.find", True]),
])
def test_a_tool_is_a_function(value, code, answer):
    assert value(code) == answer


@pytest.mark.parametrize("code, name, words", [
    ("crm.find(3, id=4)", "TypeError", "multiple values for argument 'id'"), ("crm.find(1, 2, 3)", "TypeError", "takes id, orders"),
    ("echo(1, a=2)", "TypeError", "not both"), ("crm.find(id='x')", "ToolError", "crm.find: id: must be an integer, is a string"),
    ("crm.find()", "ToolError", "id"), ("crm.find(id=1, z=2)", "ToolError", "z: is not a known property"),
    ("crm.fnd(id=1)", "AttributeError", "did you mean crm.find?"), ("tools.ecoh(1)", "AttributeError", "did you mean echo?"),
    ("crm.people.cont(1)", "AttributeError", "did you mean crm.people.count?"),
])
def test_arguments_that_are_wrong(error, code, name, words):
    told = error(code)
    assert told["name"] == name and words in told["message"] and (told["line"], told["column"]) == (1, 1)


@pytest.mark.parametrize("code, words", [
    ("ecoh(1)", "tools that exist: echo"), ("crn.find(1)", "crm"), ("from crm import fnd", "crm.find"), ("await crm.find(3)", "find_async"),
    ("fail(1)", "except ToolError as e; e.name is ExecError; e.fields has exit_code, stderr"),
])
def test_hints(error, code, words):
    assert words in error(code)["hint"]


# ---- errors ----

def test_errors_have_a_name_and_fields(value):
    assert value("try:\n    fail(1)\nexcept ToolError as e:\n    x = [e.name, str(e), e.fields, e.exit_code, e.stderr]\nx") == [
        "ExecError", "the program of the tool ended with exit code 4: no such thing", {"exit_code": 4, "stderr": "no such thing\n"},
        4, "no such thing\n"]
    assert value("try:\n    crm.find(id='x', z=1)\nexcept ToolError as e:\n    x = [e.name, e.problems]\nx") == ["TypeError", [
        {"path": "/id", "message": "must be an integer, is a string"},
        {"path": "/z", "message": 'is not a known property; known are "id", "orders"'}]]
    assert value("try:\n    await fail_async(1)\nexcept Exception as e:\n    x = [isinstance(e, ToolError), hasattr(e, 'nothing')]\nx") == [True, False]
    assert value("import copy, pickle\ntry:\n    fail(1)\nexcept ToolError as e:\n    x = [copy.copy(e).name, pickle.loads(pickle.dumps(e)).exit_code]\nx") == [
        "ExecError", 4]


@pytest.mark.parametrize("code, name, status", [
    ("late(1)", "TimeoutError", "timeout"), ("wrong(1)", "AnswerError", "invalid"), ("ask(1)", "DeniedError", "denied"),
    ("echo('x' * 2000000)", "LimitError", "limit"), ("twice(1); twice(2); twice(3)", "LimitError", "limit"),
    ("import asyncio\nawait asyncio.gather(single_async(1), single_async(2))", "LimitError", "limit"),
    ("fail(1)", "ExecError", "failed"),
])
def test_failures_and_what_calls_say_of_them(call, code, name, status):
    indented = "\n    ".join(code.splitlines())
    result = call(f"try:\n    {indented}\nexcept ToolError as e:\n    x = e.name\nx")
    assert result.get("value") == name, result["error"]
    assert status in [made["status"] for made in result["calls"]]


def test_an_error_shows_the_programs_own_lines(error):
    told = error("async def g():\n    return await fail_async(1)\n\nawait g()")
    assert told["name"] == "ToolError" and [frame["line"] for frame in told["frames"]] == [2, 4]
    assert "/usr/" not in told["stack"] and "<vial>" not in told["stack"]


# ---- calls ----

def test_calls_are_in_the_result(call):
    result = call("crm.find(3)\ntry:\n    fail(1)\nexcept ToolError:\n    pass")
    assert [(c["name"], c["status"], c["input"]) for c in result["calls"]] == [("crm.find", "ok", {"id": 3}), ("fail", "failed", 1)]
    result = call("import asyncio\nt = asyncio.create_task(slow_async(1))\nawait asyncio.sleep(0.1)\n1")
    assert result["value"] == 1 and [c["status"] for c in result["calls"]] == ["cancelled"]


@pytest.mark.parametrize("code", [
    "import asyncio\nx = await asyncio.gather(*[slow_async(i) for i in range(5)])",
    "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(5) as pool: x = list(pool.map(slow, range(5)))",
    "import asyncio\nx = await asyncio.gather(*[asyncio.to_thread(slow, i) for i in range(5)])",
    "import asyncio\nasync def f(): return await asyncio.gather(*[slow_async(i) for i in range(5)])\nx = asyncio.run(f())",
])
def test_calls_are_made_at_the_same_time(value, code):
    numbers, seconds = value(f"import time\nstart = time.monotonic()\n{code}\n[x, time.monotonic() - start]")
    assert numbers == [0, 1, 2, 3, 4] and seconds < 1.6


def test_calls_in_threads_and_loops_of_their_own(value):
    assert value("import asyncio, threading\nout = []\nasync def f(): return await slow_async(3)\n"
                 "t = threading.Thread(target=lambda: out.append(asyncio.run(f())))\nt.start()\nx = slow(4)\nt.join()\nout + [x]") == [3, 4]


def test_timers_go_on_while_a_call_is_awaited(value):
    assert value("import asyncio\nseen = []\nasync def tick():\n    for i in range(3):\n        await asyncio.sleep(0.02); seen.append(i)\n"
                 "await asyncio.gather(tick(), slow_async(1))\nseen") == [0, 1, 2]


def test_a_call_can_be_given_up(value):
    assert value("import asyncio\ntry:\n    async with asyncio.timeout(0.1): await slow_async(1)\nexcept TimeoutError:\n    x = 'late'\n"
                 "[x, await echo_async(2)]") == ["late", 2]


def test_limits_of_a_run(call):
    result = call("for i in range(3): echo(i)", "--calls", "2")
    assert result["error"]["name"] == "ToolError" and "--calls" in result["error"]["message"]
    started = time.monotonic()
    result = call("slow(1)\nlate(2)", "--wall-ms", "300")
    assert result["status"] == "wall_limit" and time.monotonic() - started < 5


@pytest.mark.everyone
def test_approval(call):
    assert call("ask(1)", "--approve", "yes")["value"] == 1
    assert "was not approved" in call("ask(1)", "--approve", "no")["error"]["message"]
    assert call("await ask_async(2)", "--approve", "yes")["value"] == 2


# ---- names ----

def test_a_tool_hides_neither_python_nor_its_library(value):
    assert value("import json, csv\n[json.dumps([1]), callable(csv.reader), tools.json.parse(2), tools.csv.read(3)]") == ["[1]", True, 2, 3]
    assert value("print('x')\n[json.parse(1), tools.print(2)]") == [1, 2]


def test_a_module_named_like_a_tool(vial, folder):
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    (folder / "crm.py").write_text("X = 5\n")
    result = result_of(vial, "before = crm.find(1)\nimport crm\n[before, crm.X, tools.crm.find(2)]", "--tools", folder / "tools.json",
                       "--module-file", f"crm.py={folder}/crm.py")
    assert result["value"] == [{"id": 1}, 5, {"id": 2}], result["error"]


def test_without_tools_their_error_is_there_all_the_same(vial):
    assert result_of(vial, "try:\n    1 / 0\nexcept ToolError:\n    x = 1\nexcept ZeroDivisionError:\n    x = 2\nx")["value"] == 2
