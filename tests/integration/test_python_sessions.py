"""test_python_sessions.py - sessions in Python, through `vial repl`: names that stay, blocks, errors, stops, branches."""

import json
import subprocess

import pytest

from test_repl import Terminal

pytestmark = pytest.mark.guest


@pytest.fixture
def repl(vial):
    return lambda text, *args: vial("repl", "--lang", "python", *args, stdin=text)


def lines(done):
    assert (done.returncode, done.stderr) == (0, ""), (done.stdout, done.stderr)
    return done.stdout.splitlines()


@pytest.mark.everyone
@pytest.mark.parametrize("text, shown", [
    ("a = 20\na + 1\ndef f(x):\n    return x * 2\n\nf(a + 1)\n", ["21", "42"]),
    ("def f(x):\n    return x\nf(4)\nf(5)\nfor i in range(2): f(i)\n6\n", ["4", "5", "6"]),
    ("import json\njson.dumps([1])\nfrom math import *\nfloor(pi)\n", ["'[1]'", "3"]),
])
def test_names_stay(repl, text, shown):
    assert lines(repl(text)) == shown


@pytest.mark.parametrize("text, shown", [
    ("if True:\n    x = 1\nelse:\n    x = 2\nx\n", ["1"]), ("for i in range(2):\n  print(i)\n\n5\n", ["0", "1", "5"]),
    ("x = [1,\n2]\nx\n", ["[1, 2]"]), ("'''a\nb'''\n", ["'a\\nb'"]), ("x = 1 + \\\n2\nx\n", ["3"]),
    ("class A:\n  x = 1\n  def f(self):\n    return self.x\nA().f()\n", ["1"]), ("@staticmethod\ndef f(): return 1\nf()\n", ["1"]),
    ("try:\n  1/0\nexcept ZeroDivisionError:\n  print('c')\nfinally:\n  print('f')\n5\n", ["c", "f", "5"]),
    ("match 5:\n  case 5:\n    print('five')\n6\n", ["five", "6"]), ("def f(\n  a,\n  b):\n  return a + b\nf(1,\n2)\n", ["3"]),
    ("def f():\n\n  return 5\n\nf()\n", ["5"]), ("# comment\n\n5 # more\nNone\nprint('x', end='')\n6\n", ["5", "x", "6"]), ("with open('f', 'w') as f:\n  n = f.write('x')\n\nopen('f').read()\n", ["'x'"]),
])
def test_inputs_of_several_lines(repl, text, shown):
    assert lines(repl(text)) == shown


def test_await_and_tasks_that_go_on(repl):
    assert lines(repl("import asyncio\nawait asyncio.sleep(0.01, 5)\nasync def g(): return 7\nawait g()\ng()\nasyncio.run(g())\n")) == [
        "5", "7", "7", "7"]
    assert lines(repl("import asyncio\nasync def start(): return asyncio.create_task(asyncio.sleep(0.05, 8))\nt = await start()\nt.done()\n"
                      "await t\n")) == ["False", "8"]


def test_the_last_value_has_a_name(repl):
    assert lines(repl("5\n_ + 1\nx = 1\n_\n")) == ["5", "6", "6"]


def test_values_are_there_before_the_next_statement_is(vial):
    process = subprocess.Popen(vial.command("repl", "--lang", "python"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        for text, answer in [("n = 1\nn\n", "1\n"), ("n + (\n1)\n", "2\n"), ("def f():\n  return 3\n\nf()\n", "3\n")]:
            process.stdin.write(text)
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.close()
        assert process.wait(20) == 0


@pytest.mark.parametrize("text, code, words", [
    ("1\n1/0\n2\n", 1, "ZeroDivisionError"), ("1\ndef\n2\n", 1, "SyntaxError"), ("1\nx = (\n", 1, "was never closed"),
    ("1\n.nosuch\n2\n", 2, "there is no command .nosuch"), ("1\nwhile True: pass\n2\n", 124, "WallLimit"), ("1\nexit(7)\n2\n", 7, ""),
    ("1\nraise KeyboardInterrupt\n2\n", 1, "KeyboardInterrupt"),
])
def test_the_first_error_ends_it_from_a_pipe(repl, text, code, words):
    done = repl(text, "--wall-ms", "700")
    assert (done.returncode, done.stdout) == (code, "1\n") and words in done.stderr


def test_errors_do_not_end_a_session(repl):
    done = repl("a = 1\n1/0\na\ndef f():\n  return b\n\nf()\nb = 5\nf()\n", "--keep-going")
    assert done.stdout == "1\n5\n" and done.returncode == 1
    assert 'File "eval-2.py", line 1' in done.stderr and 'File "eval-4.py", line 2, in f' in done.stderr


@pytest.mark.parametrize("loop", [
    "while True: pass", "sum(i for i in range(10**12))", "import time; time.sleep(30)", "import asyncio; await asyncio.sleep(30)",
    "import threading; threading.Event().wait()", "import queue; queue.Queue().get()",
])
def test_a_limit_stops_what_runs_and_the_session_lives(repl, loop):
    done = repl(f"a = 1\nb = 2\n{loop}\na + b\n", "--keep-going", "--no-checkpoints", "--wall-ms", "600")
    assert (done.returncode, done.stdout) == (124, "3\n")
    assert "the session and what it holds are still there" in done.stderr


def test_what_a_program_catches_does_not_save_it(repl):
    done = repl("try:\n  while True: pass\nexcept BaseException:\n  print('caught')\n\n5\n", "--keep-going", "--wall-ms", "600")
    assert "5\n" in done.stdout and done.returncode == 124


@pytest.mark.slow
def test_one_long_operation_ends_the_process_and_leads_back(repl):
    done = repl("a = 1\nimport re; re.match('(a+)+b', 'a' * 40)\na\n", "--keep-going", "--wall-ms", "600")
    assert (done.returncode, done.stdout) == (124, "1\n") and "back to the state before this input" in done.stderr
    done = repl("a = 1\nb = []\nwhile True: b.append('x' * 10**6)\n\n[a, len(b)]\n", "--keep-going", "--memory-mb", "64")
    assert (done.returncode, done.stdout) == (137, "[1, 0]\n")


def test_branches(repl):
    assert lines(repl("l = [1]\ndef f(): return l\n\n.branch before\nl.append(2)\nf()\n.use before\nf()\n.use main\nf()\n")) == [
        "[1, 2]", "[1]", "[1, 2]"]
    one, two = lines(repl("import random\n.branch a\n.branch b\n.use a\nrandom.random()\n.use b\nrandom.random()\n"))
    assert one != two
    assert lines(repl("import asyncio\nasync def start(): return asyncio.create_task(asyncio.sleep(0.05, 8))\nt = await start()\n.branch b\n"
                      "await t\n.use b\nawait t\n")) == ["8", "8"]


def test_an_input_can_be_undone(repl):
    done = repl("a = [1]\na.append(2)\n.undo\na\n", "--keep-going")
    assert (done.returncode, done.stdout) == (0, "[1]\n")


def test_a_session_with_threads_is_not_branched(repl):
    for _ in range(5):
        done = repl("import threading\ne = threading.Event(); t = threading.Thread(target=e.wait); t.start()\n.branch b\ne.set(); t.join()\n"
                    ".branch b\n.use b\n5\n", "--keep-going")
        assert done.stdout == "5\n" and done.returncode != 0, done.stderr
        assert done.stderr == ("vial: no cell can be made: the process has threads, which a branch of it would not have; "
                               "let them end first\n")


def test_files_of_a_session(repl):
    assert lines(repl("n = open('f', 'w').write('hello')\nopen('f').read()\n.files\n")) == ["'hello'", "       5 B  f"]


def test_json_and_files_to_load(repl, folder):
    done = repl("x = 5\nx\nprint(1)\n1/0\n", "--json", "--keep-going")
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["status"] for r in results] == ["ok", "ok", "ok", "exception"] and results[1]["value"] == 5
    (folder / "l.py").write_text("class A:\n    x = 1\n\n    y = 2\n\nz = A.y\nz * 2\n")
    assert lines(repl(f".load {folder}/l.py\nz\n")) == ["4", "2"]


def test_in_an_environment_with_tools(vial, folder):
    document = {"name": "shop", "language": "python", "prefix": "def price(n):\n    return n * rate(2)\n", "globals": {"user": None},
                "tools": [{"name": "rate", "exec": {"command": ["/bin/cat"]}}]}
    store = ["--data-dir", folder / "data"]
    assert vial("env", "create", "-", *store, stdin=json.dumps(document)).returncode == 0
    done = vial("repl", "--in", "shop", *store, "--set", 'user="u1"', stdin="price(3)\nuser\nawait rate_async(1)\n")
    assert lines(done) == ["6", "'u1'", "1"]


# ---- at a terminal ----

@pytest.fixture
def terminal(vial, folder):
    with Terminal(vial, folder, "--lang", "python") as opened:
        opened.wait_for("main> ")
        yield opened


def test_a_prompt_answers(terminal):
    assert "\r\n2\r\n" in terminal.say("1 + 1")
    terminal.say("def f():", " ... ")
    terminal.say("  return 5", " ... ")
    terminal.say("")
    assert "\r\n5\r\n" in terminal.say("f()")
    assert "ZeroDivisionError" in terminal.say("1/0")
    terminal.type("\x04")
    assert terminal.end() == 0


@pytest.mark.parametrize("loop", [
    "print('star' + 'ted')\nwhile True: pass", "print('star' + 'ted')\nimport time; time.sleep(60)"], ids=["loop", "sleep"])
def test_ctrl_c_stops_what_runs_and_the_session_lives(terminal, loop):
    terminal.say("a = 5")
    terminal.type(f"exec({loop!r})\n")
    terminal.wait_for("started")
    terminal.type("\x03")
    terminal.wait_for("main> ")
    assert "\r\n5\r\n" in terminal.say("a")


def test_names_are_completed_without_running_anything(terminal):
    terminal.say("customers = [1]")
    terminal.type("custo\t")
    terminal.wait_for("mers")
    terminal.type("\x15")
    terminal.say("ran = []")
    terminal.say("Trap = type('Trap', (), {'__dir__': lambda s: ran.append(1), '__getattr__': lambda s, n: ran.append(2),"
                 " 'inner': property(lambda s: ran.append(3)), 'beautiful': 1})")
    terminal.say("trap = Trap()")
    terminal.type("trap.beau\t")
    terminal.wait_for("tiful")
    terminal.type("\x15trap.inner.x\t\x15")
    assert "\r\n[]\r\n" in terminal.say("ran")
