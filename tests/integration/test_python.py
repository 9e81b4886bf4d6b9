"""test_python.py - Python programs: what their value is, await, input and output, exceptions, ends and limits."""

import subprocess
import time

import pytest

from conftest import ROOT
from python_runs import failure, place, result_of, run

pytestmark = pytest.mark.guest


# ---- where a program comes from, and its value ----

@pytest.mark.everyone
def test_the_value_is_that_of_the_last_expression(vial):
    done = vial("run", "--lang", "python", "-e", "x = 20\nx + 1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "21\n", "")


def test_a_file_says_by_its_name_what_it_is(vial, folder):
    (folder / "p.py").write_text("#!/usr/bin/env python3\nimport sys\n[__name__, __file__, sys.argv]\n")
    assert vial.result(folder / "p.py", "--", "a", "-b")["value"] == [
        "__main__", "/home/vial/p.py", ["p.py", "a", "-b"]]
    assert vial("run", "--lang", "python", "-", stdin="print(1)\n2").stdout == "1\n2\n"


@pytest.mark.parametrize("code, value", [
    ("", None), ("# nothing", None), ("x = 1", None), ("None", None), ("for i in range(3): i", None), ("pass", None),
    ("x = 5; x", 5), ("(x := 5)", 5), ("x: int = 5\nx", 5), ("'''doc'''\n__doc__", "doc"), ("5 if 1 else 6", 5),
    ("[i * i for i in range(3)]", [0, 1, 4]), ("'%s-%s' % (1, 2)", "1-2"),
])
def test_what_the_value_is(vial, code, value):
    result = result_of(vial, code)
    assert (result["status"], result["exit_code"], result.get("value")) == ("ok", 0, value), result["error"]


def test_nothing_is_printed_for_none(vial):
    done = vial("run", "--lang", "python", "-e", "print('a')\nNone")
    assert (done.returncode, done.stdout) == (0, "a\n")


def test_a_value_can_be_returned_early(vial):
    assert run(vial, "__return([1]); print('not reached')") == [1]
    assert run(vial, "def f():\n    try:\n        __return(2)\n    except Exception:\n        pass\nf()\n3") == 2
    assert run(vial, "async def f(): return 4\n__return(f())") == 4
    assert run(vial, "__return()") is None
    error = failure(vial, "x = 1\nreturn x")
    assert (error["name"], place(error)) == ("SyntaxError", (2, 1, "return x"))
    assert "__return(value)" in error["hint"] and "    return x\n" in error["stack"]


def test_the_value_of_main(vial):
    assert run(vial, "def main(): return 3\n9", "--main") == 3
    assert run(vial, "import asyncio\nasync def main():\n    await asyncio.sleep(0.01)\n    return 4", "--main") == 4
    assert run(vial, "main = lambda: 5", "--main") == 5
    for code in ["1", "main = 5"]:
        assert failure(vial, code, "--main")["message"].startswith("the program has no function main")
    error = failure(vial, "def main():\n    return [][1]", "--main")
    assert (error["name"], place(error)) == ("IndexError", (2, 12, "    return [][1]"))


# ---- await ----

@pytest.mark.parametrize("code, value", [
    ("import asyncio\nawait asyncio.sleep(0.01)\n5", 5),
    ("async def g():\n    for i in range(3): yield i\n[x async for x in g()]", [0, 1, 2]),
    ("async def g():\n    for i in range(3): yield i\nout = []\nasync for x in g(): out.append(x)\nout", [0, 1, 2]),
    ("async def f(): return 4\nf()", 4),
    ("import asyncio\nasync def f(n): return n\nasyncio.gather(f(1), f(2)) if 0 else await asyncio.gather(f(1), f(2))", [1, 2]),
    ("import asyncio\nasync with asyncio.TaskGroup() as group:\n    t = group.create_task(asyncio.sleep(0.01, 7))\nt.result()", 7),
    ("import asyncio\ntry:\n    async with asyncio.timeout(0.01): await asyncio.sleep(9)\nexcept TimeoutError:\n    x = 'late'\nx",
     "late"),
    ("import asyncio\nq = asyncio.Queue()\nasync def put():\n    for i in range(3): await q.put(i)\n    await q.put(None)\n"
     "t = asyncio.create_task(put())\nout = []\nwhile (x := await q.get()) is not None: out.append(x)\nout", [0, 1, 2]),
    ("import asyncio, contextlib\n@contextlib.asynccontextmanager\nasync def c(): yield 6\nasync with c() as x: pass\nx", 6),
    ("import asyncio\nasync def f(): return await asyncio.sleep(0.01, 4)\nasyncio.run(f())", 4),
    ("import asyncio\nasync def f(): return 4\nasyncio.new_event_loop().run_until_complete(f())", 4),
    ("import asyncio\nwith asyncio.Runner() as r: x = r.run(asyncio.sleep(0, 4))\nx", 4),
    ("import asyncio, threading\nout = []\nt = threading.Thread(target=lambda: out.append(asyncio.run(asyncio.sleep(0.01, 5))))\n"
     "t.start(); t.join()\nout", [5]),
    ("import asyncio, threading\nloop = asyncio.get_running_loop() if 0 else None\nasync def f():\n"
     "    loop = asyncio.get_running_loop(); done = loop.create_future()\n"
     "    threading.Timer(0.05, lambda: loop.call_soon_threadsafe(done.set_result, 3)).start()\n    return await done\nawait f()", 3),
    ("import asyncio\nt = asyncio.create_task(asyncio.sleep(0, 8))\nawait asyncio.sleep(0)\nawait t", 8),
])
def test_waiting(vial, code, value):
    assert run(vial, code) == value


def test_things_are_waited_for_at_the_same_time(vial):
    code = "import asyncio, time\nt = time.monotonic()\nx = await asyncio.gather(*[{} for i in range(5)])\n[x, time.monotonic() - t < 1]"
    assert run(vial, code.format("asyncio.sleep(0.3, i)")) == [[0, 1, 2, 3, 4], True]
    assert run(vial, code.format("asyncio.to_thread(lambda n: time.sleep(0.3) or n, i)")) == [[0, 1, 2, 3, 4], True]


def test_what_was_never_awaited_is_told(vial):
    result = result_of(vial, "async def f(): return 4\nf()\n1")
    assert result["value"] == 1 and "coroutine 'f' was never awaited" in result["stderr"]


def test_a_program_that_waits_for_nothing_is_told_so_at_once(vial):
    start = time.monotonic()
    for code, line in [("import asyncio\nawait asyncio.Future()", 2),
                       ("import asyncio\nasync def f():\n    await asyncio.Event().wait()\nasyncio.run(f())", 3)]:
        error = failure(vial, code)
        assert (error["name"], error["line"]) == ("DeadlockError", line)
    assert time.monotonic() - start < 5


def test_a_loop_in_a_loop_is_refused_as_ever(vial):
    error = failure(vial, "import asyncio\nasync def f(): return 4\nawait f()\nasyncio.run(f())")
    assert error["message"] == "asyncio.run() cannot be called from a running event loop" and error["line"] == 4
    assert "await" in failure(vial, "import asyncio\nasyncio.create_task(asyncio.sleep(0))")["hint"]


# ---- input and output ----

def test_input_is_the_hosts_value_or_pythons_function(vial, folder):
    (folder / "in").write_text("one\ntwo\n")
    assert run(vial, "input['rows'][1]", "--input", '{"rows": [1, "ü😀"]}') == "ü😀"
    assert run(vial, "[input('name? '), input()]", "--stdin", folder / "in") == ["one", "two"]
    assert run(vial, "import sys\n[input, sys.stdin.readline()]", "--input", "5", "--stdin", folder / "in") == [5, "one\n"]
    assert "--input JSON" in failure(vial, "input['rows']")["hint"]
    assert "sys.stdin" in failure(vial, "input()", "--input", "{}")["hint"]
    assert failure(vial, "input()")["name"] == "EOFError"


def test_output_is_there_while_the_program_runs(vial):
    process = vial.start("run", "--lang", "python", "-e", "import time\nprint('first')\ntime.sleep(3)\nprint('second')")
    start = time.monotonic()
    assert process.stdout.readline() == "first\n" and time.monotonic() - start < 2.5
    assert process.communicate(timeout=20)[0] == "second\n"


def test_all_ways_of_output_come_in_order(vial):
    code = ("import logging, sys, warnings\nprint('a', end='')\nprint('b', flush=True)\nsys.stdout.write('c\\n')\n"
            "sys.stdout.buffer.write(b'd\\n')\nsys.stdout.flush()\nlogging.warning('e %s', 1)\nwarnings.warn('f')\n"
            "print('g', file=sys.stderr)\nprint('h')\nNone")
    done = subprocess.run(vial.command("run", "--lang", "python", "-e", code), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", check=True, timeout=60)
    assert done.stdout == "ab\nc\nd\nWARNING:root:e 1\n[eval]:8: UserWarning: f\n  warnings.warn('f')\ng\nh\n"


def test_what_happens_at_the_end(vial):
    result = result_of(vial, "import atexit, threading, time\natexit.register(print, 'bye')\ndef late():\n    time.sleep(0.1)\n"
                             "    print('late')\nthreading.Thread(target=late).start()\n1")
    assert (result["value"], result["stdout"]) == (1, "late\nbye\n")
    assert result_of(vial, "import atexit\natexit.register(print, 'bye')\n1/0")["stdout"] == "bye\n"


# ---- exceptions ----

def test_an_exception_says_where(vial):
    error = failure(vial, "def f(x):\n    return 1 / x\ndef g():\n    return f(0)\ng()")
    assert (error["name"], error["message"], error["file"]) == ("ZeroDivisionError", "division by zero", "[eval]")
    assert place(error) == (2, 12, "    return 1 / x")
    assert error["frames"] == [{"function": "f", "file": "[eval]", "line": 2, "column": 12},
                               {"function": "g", "file": "[eval]", "line": 4, "column": 12},
                               {"function": "<module>", "file": "[eval]", "line": 5, "column": 1}]
    assert error["stack"] == """Traceback (most recent call last):
  File "[eval]", line 5, in <module>
    g()
  File "[eval]", line 4, in g
    return f(0)
           ^^^^
  File "[eval]", line 2, in f
    return 1 / x
           ~~^~~
ZeroDivisionError: division by zero"""


def test_columns_are_counted_in_characters(vial):
    error = failure(vial, "s = '日本語'; nothing")
    assert error["column"] == 12 and "\n    s = '日本語'; nothing\n               ^^^^^^^\n" in error["stack"]


@pytest.mark.parametrize("code", ["import json\njson.loads('{')", "import json\nsorted([1], key=lambda x: json.loads('{'))",
                                  "import re\nre.compile('(')", "import asyncio, json\nawait asyncio.to_thread(json.loads, '{')"])
def test_frames_are_those_of_the_program_only(vial, code):
    error = failure(vial, code)
    assert {frame["file"] for frame in error["frames"]} == {"[eval]"} and error["line"] == 2
    assert "/usr/" not in error["stack"] and "<vial>" not in error["stack"]


@pytest.mark.parametrize("code, name, message", [
    ("{}['k']", "KeyError", "'k'"), ("raise ValueError", "ValueError", ""), ("assert 1 == 2, 'no'", "AssertionError", "no"),
    ("class Own(Exception): pass\nraise Own('x', 3)", "Own", "('x', 3)"), ("raise KeyboardInterrupt('x')", "KeyboardInterrupt", "x"),
    ("class Own(Exception):\n    def __str__(self): return 1 / 0\nraise Own", "Own", "<the message could not be made: ZeroDivisionError>"),
    ("raise BaseException('x')", "BaseException", "x"), ("raise GeneratorExit", "GeneratorExit", ""), ("next(iter([]))", "StopIteration", ""),
    ("raise ValueError('ü😀')", "ValueError", "ü😀"), ("raise ValueError('a\\0b')", "ValueError", "a\\0b"),
    ("raise ValueError('\\udc80')", "ValueError", "?"), ("import asyncio\nraise asyncio.CancelledError", "CancelledError", ""),
    ("def f(): f()\nf()", "RecursionError", "maximum recursion depth exceeded"),
    ("raise 5", "TypeError", "exceptions must derive from BaseException"),
])
def test_names_and_messages(vial, code, name, message):
    error = failure(vial, code)
    assert (error["name"], error["message"]) == (name, message) and error["line"] is not None
    last = f"{name}: {message}" if message else name
    assert error["stack"].endswith(last) or "could not" in message or name == "CancelledError"


def test_exceptions_that_led_to_one_another(vial):
    code = "try:\n    {{}}['k']\nexcept KeyError as e:\n    raise ValueError('bad'){}"
    error = failure(vial, code.format(" from e"))
    assert "KeyError: 'k'\n\nThe above exception was the direct cause" in error["stack"] and error["line"] == 4
    assert "KeyError: 'k'\n\nDuring handling of the above" in failure(vial, code.format(""))["stack"]
    assert "KeyError" not in failure(vial, code.format(" from None"))["stack"]
    error = failure(vial, "e = ValueError('x')\ne.__cause__ = e\ne.add_note('noted')\nraise e")
    assert error["stack"].endswith("ValueError: x\nnoted")


def test_groups_of_exceptions(vial):
    error = failure(vial, "import asyncio\nasync def f(): 1 / 0\nasync def g(): {}['k']\n"
                          "async with asyncio.TaskGroup() as t:\n    t.create_task(f())\n    t.create_task(g())")
    assert error["name"] == "ExceptionGroup" and error["message"] == "unhandled errors in a TaskGroup (2 sub-exceptions)"
    assert "ZeroDivisionError: division by zero" in error["stack"] and "KeyError: 'k'" in error["stack"]
    assert "/usr/" not in error["stack"]


def test_a_deep_recursion_is_shown_from_both_ends(vial):
    error = failure(vial, "def f(n): return g(n)\ndef g(n):\n    if n > 400: return 1 / 0\n    return f(n + 1)\n\nf(0)")
    assert len(error["frames"]) == 50 and error["frames"][-1]["line"] == 6 and error["line"] == 3
    assert len(error["stack"]) < 10000


def test_exceptions_that_nobody_can_catch_are_printed(vial):
    result = result_of(vial, "import threading\ndef f():\n    raise ValueError('in a thread')\nt = threading.Thread(target=f)\n"
                             "t.start(); t.join()\nclass A:\n    def __del__(self): raise KeyError('in del')\nA()\n1")
    assert result["value"] == 1
    assert '  File "[eval]", line 3, in f\n    raise ValueError(\'in a thread\')\nValueError: in a thread\n' in result["stderr"]
    assert "KeyError: 'in del'" in result["stderr"] and "/usr/" not in result["stderr"]


@pytest.mark.parametrize("code, hint", [
    ("import math\nmath.sqroot(2)", "sqrt"), ("lenn([1])", "len"), ("total = 1\ntota + 1", "total"), ("json.dumps(1)", "import json"),
    ("class A:\n    def __init__(self): self.name = 1\nA().nam", "name"), ("import xml\nxml.dom", "import xml.dom"),
    ("import os\nos.fork()", "neither start processes"), ("import numpy", "--in data"), ("import nothing_like_it", "own library"),
])
def test_a_hint_says_what_was_probably_meant(vial, code, hint):
    assert hint in failure(vial, code)["hint"]


def test_hints_do_not_trip_over_hostile_objects(vial):
    error = failure(vial, "class A:\n    def __dir__(self): raise SystemExit(3)\n    def __repr__(self): 1 / 0\nA().x")
    assert (error["name"], error["message"]) == ("AttributeError", "'A' object has no attribute 'x'")


# ---- ends ----

@pytest.mark.parametrize("code, exit_code, stderr", [
    ("raise SystemExit", 0, ""), ("import sys\nsys.exit(3)", 3, ""), ("import sys\nsys.exit('bye')", 1, "bye\n"), ("exit(4)", 4, ""),
    ("quit()", 0, ""), ("import sys\nsys.exit(1000)", 232, ""), ("import sys\nsys.exit(-1)", 255, ""), ("raise SystemExit(10**30)", 255, ""),
    ("import sys\nsys.exit(True)", 1, ""), ("import sys\nasync def f(): sys.exit(5)\nawait f()", 5, ""),
    ("import sys\ntry:\n    sys.exit(6)\nexcept Exception:\n    pass", 6, ""), ("raise SystemExit([1])", 1, "[1]\n"),
])
def test_an_exit_is_no_error(vial, code, exit_code, stderr):
    result = result_of(vial, code)
    assert (result["status"], result["error"], result["exit_code"], result["stderr"]) == ("ok", None, exit_code, stderr)
    assert vial("run", "--lang", "python", "-e", code).returncode == exit_code


@pytest.mark.parametrize("args, code, status, exit_code", [
    (["--wall-ms", "500"], "print('x')\nwhile True: pass", "wall_limit", 124),
    (["--wall-ms", "500"], "print('x')\nimport time\ntime.sleep(20)", "wall_limit", 124),
    (["--wall-ms", "500"], "print('x')\ntry:\n    while True: pass\nexcept BaseException: print('caught')", "wall_limit", 124),
    (["--wall-ms", "500"], "print('x')\nimport threading\nthreading.Thread(target=threading.Event().wait).start()", "wall_limit", 124),
    (["--cpu-ms", "300"], "print('x')\nwhile True: pass", "cpu_limit", 152),
    (["--stdout-bytes", "100"], "while True: print('x')", "output_limit", 153),
])
def test_limits(vial, args, code, status, exit_code):
    result = result_of(vial, code, *args)
    assert result["status"] == status and result["stdout"].startswith("x\n") and "caught" not in result["stdout"]
    assert vial("run", "--lang", "python", *args, "-e", code).returncode == exit_code


@pytest.mark.slow
@pytest.mark.parametrize("code", [
    "kept = []\nwhile True: kept.append('x' * 1000000)", "kept = []\nwhile True: kept.append([0])", "kept = [0] * 10**10",
    "kept = {}\nfor i in range(10**9): kept[i] = i", "kept = bytearray(10**9)",
    "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
])
def test_memory_that_is_used_up(vial, code):
    result = result_of(vial, code, "--memory-mb", "64", "--cpu-ms", "20000")
    assert (result["status"], result["error"]["name"]) == ("memory_limit", "MemoryError")
    assert "--memory-mb" in result["error"]["hint"]
    assert vial("run", "--lang", "python", "--memory-mb", "64", "-e", code).returncode == 137


@pytest.mark.slow
def test_memory_can_be_given_back(vial):
    code = "kept = []\ntry:\n    while True: kept.append('x' * 1000000)\nexcept MemoryError:\n    n, kept = len(kept), None\nn > 20"
    assert run(vial, code, "--memory-mb", "64") is True


# ---- what a program finds around it ----

def test_chance_differs_between_runs(vial):
    code = ("import os, random, secrets, tempfile, uuid\n"
            "[random.random(), str(uuid.uuid4()), secrets.token_hex(8), os.urandom(8).hex()]")
    first, second = run(vial, code), run(vial, code)
    assert all(a != b for a, b in zip(first, second))


def test_time_and_variables_are_nobodys(vial):
    assert run(vial, "import datetime, locale, os, time\n[time.tzname, str(datetime.datetime.now().astimezone().tzinfo), dict(os.environ),"
                     " locale.setlocale(locale.LC_ALL, '')]", "--env", "A=b") == [
        ["UTC", "UTC"], "UTC", {"TZ": "UTC", "HOME": "/home/vial", "A": "b"}, "C"]
    assert run(vial, "import datetime, zoneinfo\n"
                     "str(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset())") == "2:00:00"


def test_threads_work_up_to_a_bound(vial):
    assert run(vial, "from concurrent.futures import ThreadPoolExecutor\n"
                     "with ThreadPoolExecutor(4) as pool: x = list(pool.map(lambda n: n * n, range(9)))\nx") == [n * n for n in range(9)]
    count, message = run(vial, "import threading\nend = threading.Event(); all = []\ntry:\n    for i in range(1000):\n"
                               "        t = threading.Thread(target=end.wait); t.start(); all.append(t)\nexcept RuntimeError as e: said = str(e)\n"
                               "end.set()\n[len(all), said]")
    assert 8 <= count <= 64 and message == "can't start new thread"
    assert f"up to {count} threads" in (ROOT / "docs/python.md").read_text()


def test_what_the_interactive_names_do(vial):
    assert "Return the number of items" in result_of(vial, "help(len)")["stdout"]
    assert run(vial, "callable(exit) and callable(quit) and issubclass(ToolError, Exception)") is True
    result = result_of(vial, "breakpoint()\n5")
    assert result["value"] == 5
