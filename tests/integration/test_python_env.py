"""test_python_env.py - environments whose language is Python: prefix, globals, files, modules, allowed_imports, and data."""

import base64
import json
import subprocess

import pytest

pytestmark = pytest.mark.guest
MISSING = [name for name in ("numpy", "pandas", "matplotlib")
           if subprocess.run(["/usr/bin/python3", "-c", f"import {name}"], capture_output=True, check=False).returncode != 0]
needs_data = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")


@pytest.fixture
def within(vial, folder):
    """Runs programs in an environment that is made of a document."""
    folder.chmod(0o777)
    store = ("--data-dir", folder / "data")
    made = []

    def call(document, code, *args):
        if document not in made:
            vial("env", "delete", "a", *store)
            done = vial("env", "create", "-", *store, stdin=json.dumps({"name": "a", "language": "python", **document}))
            assert done.returncode == 0, done.stderr
            made[:] = [document]
        done = vial("run", "--json", "--in", "a", *store, "-e", code, *args)
        return json.loads(done.stdout) if done.stdout else done

    return call


def value(result):
    assert not isinstance(result, subprocess.CompletedProcess), result.stderr
    assert result["status"] == "ok", result["error"]
    return result.get("value")


# ---- the prefix ----

PREFIX = {"prefix": "import random\nfrom mod import twice\nn = 1\nseen = []\nstarted = random.random()\ndef add(x):\n    global n\n    n += x\n"
                    "    return n\nprint('not in the output of runs')\nopen('/home/vial/made', 'w').write('x')\n",
          "modules": {"mod.py": "def twice(x): return 2 * x\n", "./pkg/part.py": "P = 5\n"}, "globals": {"tenant": "none", "limits": {"a": [1]}},
          "env": {"MODE": "test"}, "cwd": "work", "files": {"data.txt": "hello"}}


@pytest.mark.everyone
def test_each_run_begins_with_what_the_prefix_left(within):
    for _ in range(2):
        result = within(PREFIX, "seen.append(1)\n[add(1), n, seen, twice(4), tenant, limits]")
        assert value(result) == [2, 2, [1], 8, "none", {"a": [1]}] and result["stdout"] == ""
    code = "import uuid\n[random.random(), str(uuid.uuid4())]"
    first, second = value(within(PREFIX, code)), value(within(PREFIX, code))
    assert first[0] != second[0] and first[1] != second[1]


def test_what_a_run_finds_and_may_say(within, folder):
    code = "import os\n[dict(os.environ), os.getcwd(), open('../data.txt').read(), os.path.exists('../made')]"
    assert value(within(PREFIX, code)) == [{"TZ": "UTC", "HOME": "/home/vial", "MODE": "test"}, "/home/vial/work", "hello", True]
    assert value(within(PREFIX, "from pkg import part\n[tenant, part.P]", "--set", 'tenant="acme"')) == ["acme", 5]
    assert value(within(PREFIX, "[input, add(2)]", "--input", "[1]")) == [[1], 3]
    (folder / "more.py").write_text("M = 6\n")
    assert value(within(PREFIX, "import more\nmore.M", "--module-file", f"more.py={folder}/more.py")) == 6
    done = within(PREFIX, "1", "--set", "other=1")
    assert done.returncode == 2 and "declares no global other" in done.stderr
    done = within(PREFIX, "1", "--lang", "js")
    assert done.returncode == 2 and "written in Python" in done.stderr


def test_the_frames_of_the_prefix_are_named(within):
    error = within(PREFIX, "x = 1\nadd('x')")["error"]
    assert (error["name"], error["file"], error["line"]) == ("TypeError", "prefix.py", 8)
    assert [frame["file"] for frame in error["frames"]] == ["prefix.py", "[eval]"]


def test_the_ends_of_a_run_are_those_of_any_program(within):
    result = within({"prefix": "import atexit, threading, time"},
                    "atexit.register(print, 'bye')\ndef f():\n    time.sleep(0.1); print('late')\nthreading.Thread(target=f).start()\n1")
    assert (value(result), result["stdout"]) == (1, "late\nbye\n")
    assert within({"prefix": "x = 1"}, "exit(3)")["exit_code"] == 3
    code = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool: x = list(pool.map(abs, [-1]))\nx"
    assert value(within({"prefix": "x = 1"}, code)) == [1]


def test_await_in_a_prefix_and_after_it(within):
    document = {"prefix": "import asyncio\nq = asyncio.Queue()\nawait q.put(1)\nasync def get(): return await q.get()\n"}
    assert value(within(document, "await get()")) == 1
    assert value(within(document, "asyncio.run(asyncio.sleep(0.01, 5))")) == 5
    assert value(within(document, "async with asyncio.timeout(1): x = await asyncio.gather(get(), asyncio.sleep(0, 2))\nx")) == [1, 2]


@pytest.mark.parametrize("prefix, words", [
    ("x = 1\n1 / 0", "ZeroDivisionError: division by zero (line 2)"), ("def f(:", "SyntaxError"), ("import sys\nsys.exit(3)", "sys.exit()"),
    ("import socket", "no network"),
])
def test_a_prefix_that_fails_says_where(within, prefix, words):
    done = within({"prefix": prefix}, "1")
    assert done.returncode == 2 and words in done.stderr and "prefix" in done.stderr


def test_a_prefix_may_not_leave_threads(within):
    done = within({"prefix": "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"}, "1")
    assert done.returncode == 125 and "no cell can be made" in done.stderr


def test_the_value_of_main(within):
    document = {"entry": "main", "prefix": "base = 40"}
    assert value(within(document, "def main(): return base + 2")) == 42
    assert value(within(document, "async def main(): return base + 3\n'not this'")) == 43
    assert "no function main" in within(document, "5")["error"]["message"]


def test_mounts_are_read_only(within, folder):
    (folder / "served").mkdir()
    (folder / "served/a.txt").write_text("hello")
    (folder / "served/lib.py").write_text("X = 5\n")
    document = {"mounts": {"data": {"from": str(folder / "served")}}}
    assert value(within(document, "import os\n[open('data/a.txt').read(), sorted(os.listdir('data'))]")) == ["hello", ["a.txt", "lib.py"]]
    assert value(within(document, "import sys\nsys.path.append('data')\nimport lib\nlib.X")) == 5
    assert "[Errno 30]" in within(document, "open('data/b', 'w')")["error"]["message"]


def test_permissions_and_tools(within):
    tools = [{"name": name, "exec": {"command": ["/bin/cat"]}} for name in ("crm.find", "crm.drop", "echo")]
    document = {"prefix": "def drop():\n    try:\n        return crm.drop(1)\n    except ToolError as error:\n        return error.name\nearly, answer = drop(), echo(7)", "tools": tools, "permissions": {"tools": [{"effect": "allow", "match": name} for name in ("crm.find", "echo")], "fs": "deny"}}
    assert value(within(document, "[early, answer, drop(), crm.find(1), await echo_async(2)]")) == ["DeniedError", 7, "DeniedError", 1, 2]
    assert 'fs: "deny" of the environment' in within(document, "open('x', 'w')")["error"]["message"]


# ---- allowed_imports ----

ALLOWED = {"allowed_imports": ["json", "math", "collections", "os.path"], "prefix": "from json import dumps",
           "tools": [{"name": "crm.find", "exec": {"command": ["/bin/cat"]}}], "modules": {"lib.py": "import json\nR = 5\n", "bad.py": "import re\n"}}


@pytest.mark.parametrize("code, answer", [
    ("import json, math as m\njson.dumps(m.pi)", "3.141592653589793"), ("from collections import abc, OrderedDict\n1", 1), ("import json.decoder\n1", 1),
    ("import os.path\nfrom os import path\npath.join('a', 'b')", "a/b"), ("from __future__ import annotations\n2", 2), ("import lib\nlib.R", 5),
    ("import crm\ncrm.find(3)", 3), ("dumps([1])", "[1]"), ("async def f(): return 4\nawait f()", 4),
    ("try:\n    import re\nexcept ImportError:\n    re = None\nre", None), ("from json import *\ndumps(1)", "1"),
])
def test_what_is_allowed_can_be_imported(within, code, answer):
    assert value(within(ALLOWED, code)) == answer  # and the library imports what it needs


@pytest.mark.parametrize("code, name, line, column", [
    ("print('began')\nimport json\nimport re", "re", 3, 1), ("print('began')\ndef f():\n    import re\n", "re", 3, 5), ("import os", "os", 1, 1),
    ("from os import system", "os", 1, 1), ("import json, sys", "sys", 1, 1), ("if 0:\n    from subprocess import run", "subprocess", 2, 5),
    ("import importlib", "importlib", 1, 1), ("try:\n    import re\nexcept ValueError: pass", "re", 2, 5), ("import jsonn", "jsonn", 1, 1),
    ("from os import *", "os", 1, 1),
])
def test_what_is_not_allowed_is_found_before_the_program_runs(within, code, name, line, column):
    result = within(ALLOWED, code)
    error = result["error"]
    assert (result["status"], result["stdout"], error["name"]) == ("exception", "", "ImportError")
    assert error["message"] == f"{name} may not be imported here; the environment allows collections, json, math, os.path"
    assert (error["line"], error["column"], error["file"], error["source_line"]) == (line, column, "[eval]", code.splitlines()[line - 1])


@pytest.mark.parametrize("code", [
    "__import__('re')", "exec('import re')", "eval('__import__(\"re\")')", "import json\njson.codecs.sys.modules['importlib'].import_module('re')",
    "import bad", "getattr(__builtins__, '__import__')('re')",
])
def test_what_is_not_allowed_cannot_be_imported_in_other_ways(within, code):
    error = within(ALLOWED, code)["error"]
    assert error["name"] == "ImportError" and error["message"].startswith("re may not be imported here")


def test_no_imports_at_all(within):
    document = {"allowed_imports": []}
    assert value(within(document, "print('x')\nsorted([2, 1])")) == [1, 2]
    assert "the environment allows no imports" in within(document, "import json")["error"]["message"]


@pytest.mark.parametrize("document, path", [
    ({"language": "pyton"}, "/language"), ({"language": "javascript", "allowed_imports": []}, "/allowed_imports"),
    ({"language": "python", "allowed_imports": ["a b"]}, "/allowed_imports/0"), ({"language": "python", "allowed_imports": "json"}, "/allowed_imports"),
    ({"language": "python", "packages": ["nope"]}, "/packages/0"), ({"language": "javascript", "packages": ["numpy"]}, "/packages"),
])
def test_documents_that_break_rules(vial, folder, document, path):
    done = vial("env", "create", "-", "--data-dir", folder / "data", stdin=json.dumps({"name": "b", **document}))
    assert done.returncode == 3 and f"\n{path}: " in done.stderr


# ---- the environment data ----

@pytest.fixture
def data(vial, folder):
    def call(code, *args, **more):
        return vial.result("--in", "data", "--data-dir", folder / "store", "-e", code, *args, **more)

    return call


@needs_data
def test_the_packages_are_there_at_once(data):
    code = "import numpy, pandas, matplotlib.pyplot\n[numpy is np, pandas is pd, int(np.arange(5).sum()), int(pd.Series([1, 2]).sum())]"
    assert value(data(code)) == [True, True, 10, 3]
    assert value(data("np.linalg.solve(np.eye(2) * 2, np.ones(2)).tolist()")) == [0.5, 0.5]
    assert value(data("import io\npd.read_csv(io.StringIO('a,b\\n1,2\\n3,4')).sum().to_dict()['b']")) == 6
    first, second = value(data("float(np.random.rand())")), value(data("float(np.random.rand())"))
    assert first != second


@needs_data
def test_figures_come_back_as_images(data):
    for ending in ["", "plt.show()\n"]:
        result = data(f"plt.plot([1, 2, 3])\nplt.title('x')\n{ending}5")
        assert value(result) == 5
        (shown,) = result["artifacts"]
        images = [r for r in shown["representations"] if r["mime"] == "image/png"]
        assert base64.b64decode(images[0]["base64"]).startswith(b"\x89PNG")
    assert data("plt.plot([1]); plt.close('all')\n1")["artifacts"] == []
    assert len(data("for i in range(3):\n    plt.figure(); plt.plot([i])\n")["artifacts"]) == 3


@needs_data
def test_errors_in_packages_are_at_the_programs_line(data):
    error = data("df = pd.DataFrame({'a': [1]})\ndf['missing']")["error"]
    assert (error["name"], error["line"]) == ("KeyError", 2)
    assert {frame["file"] for frame in error["frames"]} == {"[eval]"} and "/usr/" not in error["stack"]


@needs_data
def test_one_thread_of_linear_algebra(data):
    assert value(data("import os, threading\nx = np.random.rand(300, 300); y = x @ x\n[threading.active_count(), os.environ['OPENBLAS_NUM_THREADS']]")) == [1, "1"]


def test_without_the_packages_a_hint_names_the_environment(vial):
    error = vial.result("--lang", "python", "-e", "import pandas")["error"]
    assert error["name"] == "ModuleNotFoundError" and "vial run --in data" in error["hint"]
