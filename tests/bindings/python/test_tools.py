"""Functions of Python as tools."""

import asyncio
import enum
import json
import threading
import time
from dataclasses import dataclass
from typing import Any, Dict, List, Literal, Optional

import pytest

import vial


def find(id: int, orders: bool = False) -> dict:
    """Finds a customer.

    Args:
        id: The number of the customer.
        orders: Whether the orders are wanted,
            too.

    Returns:
        What was found.
    """
    if id != 1:
        raise LookupError("there is no such customer")
    return {"name": "Ada", **({"orders": 2} if orders else {})}


def test_schema_from_hints_and_docstring():
    one = vial.tool(find)
    assert one.description == "Finds a customer."
    assert one.input_schema == {
        "type": "object", "required": ["id"], "additionalProperties": False,
        "properties": {"id": {"type": "integer", "description": "The number of the customer."},
                       "orders": {"type": "boolean", "default": False,
                                  "description": "Whether the orders are wanted, too."}}}


class Kind(enum.Enum):
    A = "a"


@dataclass
class Row:
    n: int
    note: str = ""


@pytest.mark.parametrize("hint, schema", [
    (str, {"type": "string"}), (float, {"type": "number"}), (List[int], {"type": "array", "items": {"type": "integer"}}),
    (Dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}), (Any, {}),
    (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}), (Literal["x", "y"], {"enum": ["x", "y"]}),
    (Kind, {"enum": ["a"]}), (bytes, {}),
    (Row, {"type": "object", "properties": {"n": {"type": "integer"}, "note": {"type": "string"}}, "required": ["n"]}),
])
def test_schemas_of_hints(hint, schema):
    def f(x: hint):
        return x

    assert vial.tool(f).input_schema["properties"]["x"] == schema


def test_calls():
    result = vial.run("[await find(1), await find({ id: 1, orders: true }), await find(1, true)]", tools=[find],
                      record_calls=True)
    assert result.value_or_raise() == [{"name": "Ada"}, {"name": "Ada", "orders": 2}, {"name": "Ada", "orders": 2}]
    assert [one["status"] for one in result.calls] == ["ok"] * 3 and result.calls[0]["input"] == {"id": 1}


def test_in_python_guests():
    assert vial.run("find(id=1)", lang="python", tools=[find]).value == {"name": "Ada"}
    assert vial.run("(await find_async(1))['name']", lang="python", tools=[find]).value == "Ada"


def test_errors_reach_the_guest():
    code = "try { await find(2) } catch (e) { [e.name, e.message] }"
    result = vial.run(code, tools=[find])
    assert result.value == ["LookupError", "there is no such customer"]
    assert result.calls[0]["status"] == "failed"
    assert vial.run("await find('x')", tools=[find]).error.message.startswith("find: id: must be an integer")


@pytest.mark.parametrize("bad, words", [
    (lambda: object(), "the answer is an object of class object"), (lambda: [print], "the answer[0] is a function"),
    (lambda: circular(), "circular"), (lambda: "x" * (2 << 20), "answer"),
])
def test_an_answer_that_cannot_cross(bad, words):
    result = vial.run("try { await f() } catch (e) { e.message }", tools=[vial.tool(bad, name="f")])
    assert words in result.value_or_raise()


async def test_an_async_answer_that_cannot_cross():
    async def f():
        return object()

    result = await vial.arun("try { await f() } catch (e) { e.message }", tools=[f])
    assert "cannot cross" in result.value_or_raise()


def circular():
    made = []
    made.append(made)
    return made


def test_values_of_every_kind_cross():
    seen = []

    def take(value):
        seen.append(value)
        return {2**70: {1}}

    result = vial.run("await take(new Map([[1n, new Uint8Array([1])]]))",
                      tools=[vial.tool(take, input_schema=True)])
    assert seen == [{1: b"\x01"}] and result.value == {2**70: {1}}


def test_sync_mode_and_dotted_names():
    tools = {"math.add": lambda a, b: a + b}
    assert vial.run("await math.add(1, 2)", tools=tools).value == 3
    one = vial.tool(lambda a: a + 1, name="next", mode="sync")
    assert vial.run("next(1) + next(2)", tools=[one]).value == 5


async def test_async_tools_run_in_the_callers_loop():
    loop = asyncio.get_running_loop()
    seen = []

    async def where():
        seen.append(asyncio.get_running_loop() is loop)
        await asyncio.sleep(0.01)
        return threading.current_thread().name

    result = await vial.arun("await Promise.all([where(), where(), where()])", tools=[where])
    assert result.value == ["MainThread"] * 3 and seen == [True] * 3


def test_async_tools_without_a_loop():
    async def slow(x):
        await asyncio.sleep(0.01)
        return x + 1

    assert vial.run("await slow(1)", tools=[slow]).value == 2


def test_tools_wait_at_the_same_time():
    def sleep():
        time.sleep(0.3)
        return 1

    began = time.monotonic()
    assert vial.run("(await Promise.all([1, 2, 3, 4].map(() => sleep()))).length", tools=[sleep]).value == 4
    assert time.monotonic() - began < 1.1


def test_a_limit_strikes_while_a_tool_works():
    release = threading.Event()

    def hang():
        release.wait(20)

    began = time.monotonic()
    result = vial.run("await hang()", tools=[hang], timeout=0.3)
    release.set()
    assert result.status == "wall_limit" and time.monotonic() - began < 10
    assert result.calls[0]["status"] == "cancelled"


def test_inline_tools_are_called_in_the_thread_that_waits():
    one = vial.tool(lambda: threading.get_ident(), name="where", inline=True)
    assert vial.run("await where()", tools=[one]).value == threading.get_ident()


def test_a_run_inside_of_a_tool():
    one = vial.tool(lambda n: vial.run("input * 2", input=n).value, name="inner", inline=True)
    assert vial.run("await inner(21)", tools=[one]).value == 42


@pytest.mark.parametrize("inline", [True, False])
def test_a_tool_that_exits(inline):
    def leave():
        raise SystemExit(3)

    if inline:
        with pytest.raises(SystemExit):
            vial.run("await leave()", tools=[vial.tool(leave, inline=True)])
    else:
        assert vial.run("await leave()", tools=[leave]).error.name == "SystemExit"


def test_timeout_and_limits_of_a_tool():
    slow = vial.tool(lambda: time.sleep(1), name="slow", timeout=0.1)
    assert vial.run("try { await slow() } catch (e) { e.name }", tools=[slow]).value == "TimeoutError"
    once = vial.tool(lambda: 1, name="once", calls_max=1)
    assert vial.run("await once(); try { await once() } catch (e) { e.name }", tools=[once]).value == "LimitError"


def test_approval():
    refund = vial.tool(lambda order: "paid", name="refund", approve=True)
    code = "try { await refund('A') } catch (e) { e.name }"
    assert vial.run(code, tools=[refund]).value == "DeniedError"
    assert vial.run(code, tools=[refund], approve=True).value == "paid"
    asked = []

    def ask(name, args):
        asked.append((name, args))
        return args["order"] == "A"

    assert vial.run(code, tools=[refund], approve=ask).value == "paid" and asked == [("refund", {"order": "A"})]
    one = vial.tool(lambda: "yes", name="refund", approve=lambda name, args: False)
    assert vial.run("try { await refund() } catch (e) { e.name }", tools=[one]).value == "DeniedError"


async def test_approval_later():
    async def ask(name, args):
        await asyncio.sleep(0.05)
        return True

    refund = vial.tool(lambda: "paid", name="refund", approve=True)
    assert (await vial.arun("await refund()", tools=[refund], approve=ask)).value == "paid"


def test_the_decorator():
    @vial.tool(name="say", description="Says it.", mode="sync", output_schema={"type": "string"})
    def f(word: str):
        return word

    assert f("x") == "x" and f.__name__ == "f"
    assert json.loads(f.schema_texts[1]) == {"type": "string"}
    assert vial.run("say('a')", tools=[f]).value == "a"
    with pytest.raises(ValueError, match="mode"):
        vial.tool(lambda: 1, name="x", mode="other")


def test_arguments_of_every_form():
    def f(a, /, b, *, c=3, **rest):
        return [a, b, c, rest]

    assert vial.run("await f({ a: 1, b: 2, d: 4 })", tools=[f]).value == [1, 2, 3, {"d": 4}]

    def g(*args):
        return list(args)

    assert vial.run("[await g(), await g(1), await g(1, 2)]", tools=[g]).value == [[], [1], [1, 2]]
