"""test_python_sources.py - what Python cells make of sources, good and bad; of modules that come along; of the library."""

import pytest

from python_runs import failure, place, result_of, run

pytestmark = pytest.mark.guest


def of_bytes(vial, folder, source, *args):
    (folder / "p.py").write_bytes(source)
    return vial.result(folder / "p.py", *args)


# ---- sources ----

@pytest.mark.parametrize("code, name, line, column", [
    ("x = 1\nif x\n    y = 2", "SyntaxError", 2, 5), ("a = 1\n  b = 2", "IndentationError", 2, 2), ("x = (1,\n\n", "SyntaxError", 1, 5),
    ("if 1:\n\tx = 1\n        y = 2", "TabError", 3, 1), ("if 1:", "IndentationError", 1, 6), ("print 'a'", "SyntaxError", 1, 1),
    ("x = 'a\ny = 1", "SyntaxError", 1, 5), ("ä = 1 +", "SyntaxError", 1, 8), ("def f():\n    await x", "SyntaxError", 2, 5),
    ("x = 1\n“quoted”", "SyntaxError", 2, 1), ("type X = int", "SyntaxError", 1, 6), ("9" * 5000, "SyntaxError", 1, None),
])
def test_a_source_that_python_cannot_read(vial, code, name, line, column):
    error = failure(vial, code)
    assert (error["name"], error["line"], error["frames"]) == (name, line, [])
    assert column is None or error["column"] == column
    assert error["stack"].splitlines()[-1] == f"{name}: {error['message']}"
    assert error["stack"].splitlines()[0] == f'  File "[eval]", line {line}'


@pytest.mark.parametrize("source, value", [
    (b"\xef\xbb\xbfx = 1\nx", 1), (b"#!/usr/bin/python3\n5", 5), (b"x = 1\r\ny = 2\r\nx + y\r\n", 3), (b"x = 1\ry = 2\rx + y", 3),
    (b"\x0c\nx = 1\nx", 1), (b"# -*- coding: utf-8 -*-\nlen('\xc3\xa4')", 1), (b"# -*- coding: latin-1 -*-\nlen('\xc3\xa4')", 1),
    (b"# -*- coding: no-such-thing -*-\nlen('\xc3\xa4')", 1), (b"\xef\xbb\xbf# coding: latin-1\n2", 2), ("größe = 3\ngröße".encode(), 3),
    (b"from __future__ import annotations\nx: Y = 5\nx", 5), (b"match 5:\n    case 5: x = 'five'\nx", "five"),
])
def test_a_source_is_utf_8_whatever_it_says(vial, folder, source, value):
    result = of_bytes(vial, folder, source)
    assert result.get("value") == value, result["error"]


def test_another_encoding_is_refused_before_anything_starts(vial, folder):
    (folder / "p.py").write_bytes(b"# -*- coding: latin-1 -*-\nlen('\xe4')")
    done = vial("run", folder / "p.py")
    assert (done.returncode, done.stdout) == (2, "") and "p.py is not UTF-8 (at byte 31)" in done.stderr


@pytest.mark.parametrize("source, line, column", [(b"\0", 1, 1), (b"x = 1\ny = '\0'\n", 2, 6)])
def test_a_nul_is_a_syntax_error(vial, folder, source, line, column):
    error = of_bytes(vial, folder, source)["error"]
    assert (error["name"], error["line"], error["column"]) == ("SyntaxError", line, column)


@pytest.mark.parametrize("source, name", [
    (b"(" * 100000 + b")" * 100000, "SyntaxError"), (b"[" * 100000, "SyntaxError"), (b"-" * 100000 + b"1", "SyntaxError"),
    (b"not " * 20000 + b"1", "SyntaxError"), (b"a" + b".b" * 100000, "RecursionError"), (b"1" + b"+1" * 100000, "RecursionError"),
    (b"lambda: " * 10000 + b"1", "SyntaxError"), (b"\n".join(b" " * i + b"if 1:" for i in range(200)), "IndentationError"),
], ids=["round", "square", "minus", "not", "members", "sum", "lambda", "blocks"])
def test_a_source_that_is_nested_without_end(vial, folder, source, name):
    result = of_bytes(vial, folder, source)
    assert (result["status"], result["error"]["name"]) == ("exception", name)
    assert len(result["error"]["stack"]) < 70000 and result["error"]["stack"].endswith(result["error"]["message"])


@pytest.mark.slow
def test_a_source_of_ten_megabytes(vial, folder):
    limits = ("--wall-ms", "60000", "--cpu-ms", "60000")
    assert of_bytes(vial, folder, b"#" * 10_000_000 + b"\n7", *limits)["value"] == 7
    assert of_bytes(vial, folder, b"x = '" + b"a" * 10_000_000 + b"'\nlen(x)", *limits)["value"] == 10_000_000
    result = of_bytes(vial, folder, b"x = 1\n" * 1_700_000, *limits)
    assert (result["status"], result["error"]["name"]) == ("memory_limit", "MemoryError")


@pytest.mark.slow
def test_a_recursion_without_a_limit_ends(vial):
    result = result_of(vial, "import sys\nsys.setrecursionlimit(10**9)\nx = []\nfor i in range(10**6): x = [x]\nrepr(x)")
    assert result["status"] in ("crashed", "exception", "memory_limit")


def test_what_can_be_read_of_a_program_while_it_runs(vial):
    assert run(vial, "import inspect\ndef f():\n    return 5\ninspect.getsource(f)") == "def f():\n    return 5\n"
    assert run(vial, "import pickle\nclass A:\n    x = 1\npickle.loads(pickle.dumps(A())).x") == 1
    assert run(vial, "import __main__\nx = 6\n[__main__.x, [n for n in globals() if not n.startswith('__')]]") == [6, ["x"]]
    assert run(vial, "exec('y = 7')\ny") == 7


# ---- modules that come along ----

@pytest.fixture
def given(vial, folder):
    """Runs a program with modules, given as names and texts."""
    def call(code, modules, *args):
        for number, (name, text) in enumerate(modules.items()):
            (folder / f"m{number}.py").write_text(text)
            args = ("--module-file", f"{name}={folder}/m{number}.py", *args)
        return result_of(vial, code, *args)

    return call


@pytest.mark.parametrize("name", ["lib.py", "./lib.py", "lib"])
def test_a_module_is_imported_by_its_name(given, name):
    result = given("import lib\nfrom lib import twice\n[twice(lib.X), lib.__name__]", {name: "X = 4\ndef twice(n): return 2 * n\n"})
    assert result["value"] == [8, "lib"], result["error"]


def test_packages_and_relative_imports(given):
    package = {"pkg/__init__.py": "from . import part\nfrom .part import P\n", "pkg/part.py": "from .deep.leaf import L\nP = L + 1\n",
               "pkg/deep/leaf.py": "from ..other import O\nL = O + 1\n", "pkg/other.py": "O = 1\n"}
    result = given("import pkg, pkg.deep.leaf\nfrom pkg.deep import leaf\n[pkg.P, leaf.L, pkg.part.__package__]", package)
    assert result["value"] == [3, 2, "pkg"], result["error"]
    assert given("from a.b import c\nc.X", {"a/b/c.py": "X = 5"})["value"] == 5  # folders need no __init__.py


def test_modules_in_a_circle(given):
    assert given("import a\n[a.A, a.b.B]", {"a.py": "import b\nA = 1\n", "b.py": "import a\nB = 2\n"})["value"] == [1, 2]
    error = given("import a", {"a.py": "import b\nA = 1\n", "b.py": "from a import A\n"})["error"]
    assert "partially initialized module 'a'" in error["message"] and (error["file"], error["line"]) == ("b.py", 1)


def test_exceptions_in_modules(given):
    error = given("import lib\nlib.f()", {"lib.py": "def f():\n    return 1 / 0\n"})["error"]
    assert (error["file"], *place(error)) == ("lib.py", 2, 12, "    return 1 / 0")
    assert [frame["file"] for frame in error["frames"]] == ["lib.py", "[eval]"]
    error = given("import lib", {"lib.py": "x = = 1\n"})["error"]
    assert (error["name"], error["file"], *place(error)) == ("SyntaxError", "lib.py", 1, 5, "x = = 1")
    error = given("import lib", {"lib.py": "x = 1\nraise ValueError('at import')\n"})["error"]
    assert (error["message"], error["file"], error["line"]) == ("at import", "lib.py", 2) and "importlib" not in error["stack"]


def test_a_module_named_as_one_of_the_library_takes_its_place(given):
    for name in ["csv", "json", "random"]:
        assert given(f"import {name}\n{name}.X", {f"{name}.py": "X = 1"})["value"] == 1
    for name in ["sys", "builtins", "os", "time"]:
        assert given(f"import {name}\nhasattr({name}, 'X')", {f"{name}.py": "X = 1"})["value"] is False


@pytest.mark.parametrize("name", ["_vial.py", "_vial/run.py", "_vial_host.py", "__main__.py", "a..py", ".py", "__init__.py", "a b.py",
                                  "x.js", "é.py"])
def test_a_module_with_a_hostile_name_harms_nobody(given, name):
    result = given("async def f(): return 3\n[1 + 1, await f()]", {name: "raise SystemExit(9)"})
    assert result["value"] == [2, 3], result["error"]


@pytest.mark.parametrize("name", ["asyncio", "linecache", "traceback", "threading", "keyword"])
def test_a_module_that_our_own_code_needs_harms_the_program_only(given, name):
    text = {f"{name}.py": "raise ValueError('mine')"}
    assert given("1 + 1", text)["value"] == 2
    error = given("x = 1\n1 / 0", text)["error"]
    assert (error["name"], error["line"]) == ("ZeroDivisionError", 2)


@pytest.mark.parametrize("name, words", [("../x.py", ".."), ("/etc/x.py", "absolute"), ("http://x/y.py", "URL"), ("a/../b.py", ".."),
                                         ("C:\\x.py", "backslash")])
def test_a_module_name_that_is_none(vial, folder, name, words):
    (folder / "m.py").write_text("")
    done = vial("run", "--lang", "python", "--module-file", f"{name}={folder}/m.py", "-e", "1")
    assert done.returncode == 2 and words in done.stderr


# ---- the library ----

LIBRARY = """abc argparse array ast asyncio base64 binascii bisect bz2 calendar cmath codecs collections colorsys configparser
contextlib copy csv dataclasses datetime decimal difflib dis doctest email enum fnmatch fractions functools gc getpass glob graphlib gzip
hashlib heapq hmac html http importlib inspect io ipaddress itertools json keyword linecache locale logging lzma math mimetypes
numbers operator os pathlib pickle platform pprint queue random re sched secrets select shelve shlex shutil signal sqlite3 statistics
string struct symtable sys tarfile tempfile textwrap threading time timeit tokenize tomllib traceback types typing unicodedata unittest
urllib.parse uuid warnings weakref xml.etree.ElementTree xml.dom.minidom zipfile zlib zoneinfo""".split()


def test_the_library_is_there(vial):
    assert len(LIBRARY) > 90
    assert run(vial, f"import importlib\nfor name in {LIBRARY!r}: importlib.import_module(name)", "--cpu-ms", "30000", "--wall-ms", "60000") is None


@pytest.mark.parametrize("code, words", [
    ("import subprocess", "ask the host for a tool"), ("import socket", "no network"), ("import urllib.request", "no network"),
    ("from urllib import request", "no network"), ("from http import client", "no network"), ("import http.server", "no network"),
    ("import requests", "no network"), ("import ctypes", "native code"), ("import tkinter", "display()"), ("import pdb", "terminal"),
    ("import multiprocessing.pool", "ThreadPoolExecutor"), ("from concurrent.futures import ProcessPoolExecutor", "ThreadPoolExecutor"),
    ("import pip", "the environment decides"), ("import imaplib", "no network"), ("__import__('socket')", "no network"),
    ("import importlib\nimportlib.import_module('ssl')", "no network"), ("exec('import socket')", "no network"),
])
def test_a_module_that_cannot_work_says_why(vial, code, words):
    error = failure(vial, code)
    assert error["name"] == "ImportError" and words in error["message"] and "cannot be used here" in error["message"]
    assert run(vial, f"try:\n    exec({code!r})\nexcept ImportError as e:\n    x = str(e)\nx") == error["message"]


def test_the_library_itself_imports_what_it_likes(vial):
    assert run(vial, "import logging.handlers, unittest.mock, asyncio, platform, uuid\n1") == 1


@pytest.mark.parametrize("code, words", [
    ("import os\nos.system('ls')", "cannot start other programs"), ("import os\nos.popen('ls')", "not permitted"),
    ("import os\nos.kill(1, 9)", "not permitted"), ("import asyncio\nawait asyncio.create_subprocess_exec('ls')", "cannot start other programs"),
    ("import asyncio\nawait asyncio.open_connection('a.example', 80)", "no network"),
])
def test_what_cannot_work_fails_with_a_reason(vial, code, words):
    error = failure(vial, code)
    assert error["name"] == "PermissionError" and words in error["message"] and error["line"] == 2
