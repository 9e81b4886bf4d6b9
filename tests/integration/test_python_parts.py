"""test_python_parts.py - a Python program that is compiled in two parts is the program that it is as a whole.

The module of the cell that cuts programs (src/cell/python/prelude/source.py) needs nothing of the cell, and is tested
with the Python that runs the tests: where it cuts must be in front of the last statement, by Python's own reading.
"""

import ast
import importlib.util
import pathlib
import sysconfig

import pytest

from python_runs import failure, place, result_of, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY_FILES = 400  # of about 600; the time is spent by Python compiling them
FILE_CHARS = 60000

SPEC = importlib.util.spec_from_file_location("vial_source", ROOT / "src/cell/python/prelude/source.py")
source = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(source)


def flat(code):
    """A code and those in it: what they do, and for which places in the text."""
    inner = [part for const in code.co_consts if hasattr(const, "co_code") for part in flat(const)]
    places = [at for at in code.co_positions() if at[0]]
    return [(code.co_name, code.co_names, code.co_code, places[1:]), *inner]  # the first one is the code's own


def by_tree(text):
    """The parts as they have to be."""
    tree = ast.parse(text)
    *before, last = tree.body
    if isinstance(last, ast.Expr):
        end = compile(ast.Expression(last.value), "m", "eval", source.FLAGS, dont_inherit=True)
    else:
        end = compile(ast.Module([last], []), "m", "exec", source.FLAGS, dont_inherit=True)
    start = compile(ast.Module(before, []), "m", "exec", source.FLAGS, dont_inherit=True)
    return [start, end]


def same(text):
    """Is it cut, and if so rightly?"""
    parts = source.compile_parts(text, "m")
    if parts is None:
        return False
    assert len(parts) == 2 or len(ast.parse(text).body) == 1
    assert [flat(part) for part in parts] == [flat(part) for part in by_tree(text)[-len(parts):]], text
    return True


@pytest.mark.filterwarnings("ignore")
def test_the_library_of_python_is_cut_in_front_of_last_statements():
    cut = 0
    for path in sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))[:LIBRARY_FILES]:
        text = path.read_text(encoding="utf-8", errors="replace")
        if len(text) <= FILE_CHARS:
            lines = text.splitlines(True)
            cut += sum(same("".join(lines[:n])) for n in (len(lines), len(lines) // 2, len(lines) // 3))
    assert cut > LIBRARY_FILES / 4


@pytest.mark.parametrize("text", [
    "5", "'a'", "a, b", "x = 1\nx", "x = 1\nprint(x)\n\n\n", "for i in x:\n  pass\nelsewhere", "for i in x:\n  pass\nelse:\n  pass",
    "if a: b; c", "f(\n  1,\n)", "@d\ndef f(): pass\nf()", "x # c\n# d\n   # e\n", "try: a\nexcept: b\nfinally:\n c\n", "class A: pass",
    "x: int = 3\nx", '"""of it"""\nx', "with_ = 1\nwith_", "if(3): 4", "except_", "ä = 1\nä", "match = 3\nmatch",
])
def test_programs_that_are_cut(text):
    assert same(text)


@pytest.mark.parametrize("text", [
    "", "\n", "# c\n", "*a, b", "x = 1", "a; b", "import a; b", "for i in x: a\rb", "for i in x: a\n\fb", "a\0", '"""\nfor\n  """',
    '"""\nfor x in y:\n  pass\n"""', "x = '''\nfoo\n'''", "@d\ndef f(): pass", "x = 1 + \\\n2", "match x:\n case 1: pass", "\tx", "(a\n",
    "if a:\n  b\n)", "yield 1", "return 3", "f();", "from __future__ import annotations\nx", "await a\nb", "async def f(): pass\nf",
])
def test_programs_that_are_not(text):
    assert source.compile_parts(text, "m") is None


# ---- in a cell ----

@pytest.mark.guest
@pytest.mark.parametrize("code, value", [
    ("x = 2\nx * 3", 6), ("x = 2\nfor i in range(3):\n  x += i", None), ("def f():\n  return 4\nf()", 4), ("a = 1; a + 1", 2),
    ("'''\nfor\n  '''", "\nfor\n  "), ("x = [\n1,\n2]\nx", [1, 2]), ("5;", 5), ("x = 1\n[x,\n 2\n]\n# end", [1, 2]),
])
def test_the_value_of_a_program(vial, code, value):
    result = result_of(vial, code)
    assert result["status"] == "ok", result["error"]
    assert result.get("value") == value


@pytest.mark.guest
def test_an_error_in_the_second_part_is_where_it_is(vial):
    assert place(failure(vial, "x = 1\n\n# so\nx.y")) == (4, 1, "x.y")
    assert place(failure(vial, "x = 1\n\nif x:\n    x.y\n")) == (4, 5, "    x.y")
    assert place(failure(vial, "def f():\n    return 1 / 0\n\nf()\n"))[0] == 2


@pytest.mark.guest
def test_ends_of_programs_are_still_gone_through(vial):
    at_end = "import atexit\natexit.register(print, 'at the end')\n1"
    assert result_of(vial, at_end)["stdout"] == "at the end\n"
    thread = "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()"
    assert result_of(vial, thread)["stdout"] == "thread\n"
    waiting = ("import logging, logging.handlers, sys\nlog = logging.getLogger()\n"
               "log.addHandler(logging.handlers.MemoryHandler(100, 100, logging.StreamHandler(sys.stdout)))\nlog.warning('kept')")
    assert result_of(vial, waiting)["stdout"] == "kept\n"
    finalizer = "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'gone')\n1"
    assert result_of(vial, finalizer)["stdout"] == "gone\n"
    assert run(vial, "import concurrent.futures as c\np = c.ThreadPoolExecutor(2)\np.submit(pow, 2, 3).result()") == 8
