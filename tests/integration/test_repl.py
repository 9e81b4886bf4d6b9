"""test_repl.py - `vial repl`: from a pipe, and for somebody at a terminal, which is a pseudo-terminal here."""

import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import stat
import struct
import subprocess
import termios
import time

import pytest


def lines(done):
    return done.stdout.splitlines()


# ---- from a pipe ----


@pytest.mark.everyone
def test_statements_are_evaluated_one_by_one(vial):
    done = vial("repl", stdin="let a = 20\na + 1\nconst f = (x) => {\n  return x * 2;\n}\nf(a + 1)\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(done) == ["21", "42"]


def test_values_are_there_before_the_next_statement_is(vial):
    process = subprocess.Popen(vial.command("repl"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        for text, answer in [("let n = 1\nn\n", "1\n"), ("n +\n1\n", "2\n"), ("'x'\n", "'x'\n")]:
            process.stdin.write(text)
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.close()
        assert process.wait(20) == 0


def test_output_and_values_are_on_lines_of_their_own(vial):
    done = vial("repl", stdin="process.stdout.write('a'); 1\nconsole.log('b')\nundefined\nawait Promise.resolve(2)\n")
    assert lines(done) == ["a", "1", "b", "2"]


def test_types_are_taken_out(vial):
    assert lines(vial("repl", stdin="const n: number = 4\nn\n")) == ["4"]
    assert lines(vial("repl", "--lang", "ts", stdin="enum E { A = 3 }\nE.A\n")) == ["3"]
    assert vial("repl", "--lang", "js", stdin="const n: number = 4\n").returncode == 1


@pytest.mark.parametrize("source, code, error", [
    ("1\nnull.x\n2\n", 1, "TypeError"),
    ("1\nlet let = 2\n2\n", 1, "SyntaxError"),
    ("1\nfunction f() {\n", 1, "SyntaxError"),
    ("1\n.nosuch\n2\n", 2, "there is no command .nosuch"),
    ("1\n.use nosuch\n2\n", 2, 'there is no branch "nosuch"'),
    ("1\nfor (;;);\n2\n", 124, "WallLimit"),
])
def test_the_first_error_ends_it(vial, source, code, error):
    done = vial("repl", "--wall-ms", "700", stdin=source)
    assert (done.returncode, lines(done)) == (code, ["1"])
    assert error in done.stderr


def test_it_can_go_on_after_errors(vial):
    done = vial("repl", "--keep-going", "--wall-ms", "1000", stdin="let a = 1\nnull.x\nfor (;;);\na\n")
    assert (done.returncode, lines(done)) == (1, ["1"])
    assert "TypeError" in done.stderr and "WallLimit" in done.stderr


HOG = "let hog = []; for (;;) hog.push(new Array(1e5).fill(1.5))\n"


@pytest.mark.slow
def test_a_hard_limit_ends_it_or_leads_back_to_the_state_before(vial):
    done = vial("repl", stdin=f"let a = 1\n{HOG}a\n")
    assert (done.returncode, done.stdout) == (137, "")
    assert "MemoryLimit" in done.stderr
    done = vial("repl", "--keep-going", stdin=f"let a = 1\n{HOG}a\ntypeof hog\n")
    assert (done.returncode, lines(done)) == (137, ["1", "'undefined'"])
    assert "ended by its memory limit (--memory-mb); back to the state before this input" in done.stderr
    done = vial("repl", "--keep-going", "--no-checkpoints", stdin=f"let a = 1\n{HOG}typeof a\n")
    assert (done.returncode, lines(done)) == (137, ["'undefined'"])
    assert "this is a fresh one" in done.stderr


def test_the_program_can_say_with_which_code_it_ends(vial):
    done = vial("repl", stdin="1\nprocess.exit(7)\n2\n")
    assert (done.returncode, lines(done)) == (7, ["1"])


def test_an_exit_code_that_was_set_counts_when_the_program_ends_the_session(vial):
    done = vial("repl", stdin="process.exitCode = 5\nprocess.exit()\n2\n")
    assert (done.returncode, lines(done)) == (5, ["5"])
    done = vial("repl", stdin="process.exitCode = 5\n2\n")
    assert (done.returncode, lines(done)) == (0, ["5", "2"])


def test_json_is_one_result_for_each_input(vial):
    done = vial("repl", "--json", "--keep-going", stdin="1 + 1\nconsole.log('x')\nnull.x\n")
    results = [json.loads(line) for line in lines(done)]
    assert [result["status"] for result in results] == ["ok", "ok", "exception"]
    assert results[0]["value"] == 2 and results[1]["stdout"] == "x\n"
    assert done.returncode == 1 and done.stderr == ""


def test_a_long_input_is_refused_and_one_of_many_lines_is_not(vial):
    done = vial("repl", stdin="let a = '" + "x" * (1 << 20) + "'\n1\n")
    assert done.returncode == 2 and "1048576 bytes" in done.stderr
    table = "[\n" + "  [1, 2, 3],\n" * 60000 + "].length\n2\n"
    started = time.monotonic()
    assert lines(vial("repl", stdin=table)) == ["60000", "2"]
    assert time.monotonic() - started < 20


@pytest.mark.slow
def test_a_session_lives_on_after_seconds_of_computing(vial):
    burn = "while (process.cpuUsage().user < %d);\n"
    done = vial("repl", stdin=f"{burn % 1300000}1\n{burn % 3300000}2\n")
    assert (done.returncode, lines(done), done.stderr) == (0, ["1", "2"], "")


def test_branches_from_a_pipe(vial):
    done = vial("repl", stdin="let a = 1; const get = () => a\n.branch before\na = 2\n.use before\nget()\na = 3\n"
                              ".use main\nget()\n.drop before\n.branches\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(done)[:4] == ["2", "1", "3", "2"]
    assert lines(done)[4].startswith("* main") and len(lines(done)) == 5


@pytest.mark.parametrize("commands, why", [
    (".branch main", 'there is a branch "main" already'),
    (".branch a/b", "may have letters"),
    (".branch " + "x" * 33, "up to 32 characters"),
    (".drop main", "is where we are"),
    (".drop", "say which branch"),
    (".exit now", "takes nothing behind it"),
    (".undo", "no earlier states are kept"),
    (".load /no/such/file", "cannot read /no/such/file"),
    (".save", "say where to"),
    ("\n".join([".branch"] * 30), "30 branches, which is the maximum"),
])
def test_commands_that_cannot_be_done_say_why(vial, commands, why):
    done = vial("repl", stdin=commands + "\n")
    assert done.returncode == 2
    assert why in done.stderr


def test_an_input_can_be_undone_once(vial):
    done = vial("repl", "--keep-going", stdin="let a = 1\na = 2\n.undo\na\n.undo\n.undo\n")
    assert lines(done) == ["2", "1"]
    assert "there is no earlier state" in done.stderr


def test_files_limits_and_info(vial):
    done = vial("repl", "--wall-ms", "1234", stdin="require('fs').writeFileSync('d.txt', 'abc')\n.files\n.limits\n.info\n")
    assert lines(done)[0].split() == ["3", "B", "d.txt"]
    assert ["--wall-ms", "1234"] in [line.split()[:2] for line in lines(done)]
    assert "\nfiles        4.0 KB, " in done.stdout and "\ninputs       1\n" in done.stdout


def test_inputs_are_saved_and_loaded(vial, folder):
    path = folder / "inputs.js"
    done = vial("repl", "--keep-going", stdin=f"let a = 1\nnull.x\nfunction f() {{\n  return a + 1;\n}}\n.save {path}\n"
                                              f".save {path}\n.save -f {path}\n")
    assert "overwrites it" in done.stderr
    assert path.read_text() == "let a = 1\nfunction f() {\n  return a + 1;\n}\n"
    assert lines(vial("repl", stdin=f".load {path}\nf()\n")) == ["2"]
    path.write_text("let x = 1;\nx();\n")
    done = vial("repl", stdin=f".load {path}\n")
    assert done.returncode == 1 and f"{path}:2" in done.stderr


def test_in_an_environment(vial, folder):
    document = {"name": "shop", "prefix": "const price = n => n * 3", "globals": {"user": {}}}
    (folder / "shop.json").write_text(json.dumps(document))
    store = ["--data-dir", folder / "data"]
    assert vial("env", "create", folder / "shop.json", *store).returncode == 0
    done = vial("repl", "--in", "shop", *store, "--set", 'user="u1"', stdin="price(2)\nuser\n")
    assert (done.returncode, lines(done), done.stderr) == (0, ["6", "'u1'"], "")
    assert vial("repl", "--in", "nosuch", *store, stdin="1\n").returncode == 1


def test_an_environment_is_in_use_meanwhile(vial, folder):
    (folder / "shop.json").write_text(json.dumps({"name": "shop"}))
    store = ["--data-dir", folder / "data"]
    assert vial("env", "create", folder / "shop.json", *store).returncode == 0
    process = subprocess.Popen(vial.command("repl", "--in", "shop", *store), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    with process:
        process.stdin.write("1\n")
        process.stdin.flush()
        assert process.stdout.readline() == "1\n"
        assert vial("env", "delete", "shop", *store).returncode == 1
        process.stdin.close()
        assert process.wait(20) == 0
    assert vial("env", "delete", "shop", *store).returncode == 0


@pytest.mark.parametrize("args, why", [
    (["x.js"], "takes no program"),
    (["--nope"], "there is no option --nope"),
    (["--keep-goin"], "did you mean --keep-going"),
    (["--lang", "perl"], "--lang takes js, ts or python"),
    (["--wall-ms", "0"], "--wall-ms"),
    (["--main"], "there is no option --main"),
])
def test_bad_usage(vial, args, why):
    done = vial("repl", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr


def test_a_signal_ends_it(vial):
    process = subprocess.Popen(vial.command("repl"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    with process:
        process.stdin.write("1\n")
        process.stdin.flush()
        assert process.stdout.readline() == "1\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 130


# ---- at a terminal ----


class Terminal:
    """The program in a pseudo-terminal of 100 columns."""

    def __init__(self, vial, folder, *args, **variables):
        environment = {**os.environ, "TERM": "xterm", "XDG_STATE_HOME": str(folder), "HOME": str(folder), **variables}
        self.controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.process = subprocess.Popen(
            vial.command("repl", *args), stdin=terminal, stdout=terminal, stderr=terminal, env=environment,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(terminal)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        os.close(self.controller)

    def wait_for(self, expected, seconds=15):
        """Reads until the text has come: all that came up to its end."""
        end = time.monotonic() + seconds
        while expected not in self.text:
            left = end - time.monotonic()
            assert left > 0, f"{expected!r} did not come, but {self.text!r}"
            if select.select([self.controller], [], [], left)[0]:
                try:
                    self.text += os.read(self.controller, 65536).decode()
                except OSError:
                    assert expected in self.text, f"it ended; what came is {self.text!r}"
        at = self.text.index(expected) + len(expected)
        seen, self.text = self.text[:at], self.text[at:]
        return seen

    def type(self, text):
        os.write(self.controller, text.encode())

    def say(self, text, expected="\nmain> "):
        """Types a line: what is shown up to the next prompt."""
        self.type(text + "\n")
        return self.wait_for(expected)

    def end(self):
        """The exit code, once it has ended by itself."""
        os.set_blocking(self.controller, False)
        return self.process.wait(20)


@pytest.fixture
def terminal(vial, folder):
    with Terminal(vial, folder) as opened:
        opened.wait_for("main> ")
        yield opened


def test_a_prompt_answers(terminal):
    assert "\r\n2\r\n" in terminal.say("1 + 1")
    assert "'hällo'" in terminal.say("'hällo'")
    assert "TypeError" in terminal.say("null.x")
    assert "\r\nafter a while\r\n" in terminal.say(
        "await new Promise(done => setTimeout(() => done(), 50)); console.log('after a while')")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_an_input_may_have_several_lines(terminal):
    terminal.say("function f() {", " ... ")
    terminal.say("  return 5", " ... ")
    terminal.say("}")
    assert "\r\n5\r\n" in terminal.say("f()")


def test_output_without_a_line_end_does_not_spoil_the_prompt(terminal):
    assert "abc\r\nmain> " in terminal.say("process.stdout.write('abc'); undefined")


def test_tab_completes_names_commands_and_branches(terminal):
    terminal.say("const greeting = 'hello'")
    terminal.type("greet\t")
    terminal.wait_for("ing")
    assert "'hello'" in terminal.say("")
    terminal.type("Math.a\t")
    assert "Math.acosh" in terminal.wait_for("Math.atan2")
    terminal.wait_for("main> Math.a")
    terminal.type("\x03")
    terminal.wait_for("\nmain> ")
    terminal.type(".branc\t")
    terminal.wait_for("h")
    terminal.say(" before")
    terminal.type(".use be\t")
    terminal.wait_for("fore")
    terminal.say("", "\nbefore> ")


def test_tab_at_the_beginning_of_a_word_indents(terminal):
    terminal.type("(\"\t")
    assert "\r\n4\r\n" in terminal.say('").length')


def test_completion_runs_nothing_and_cannot_end_the_session(terminal):
    terminal.say("var trap = { get boom() { console.log('it ran'); return {} }, big: new Array(3e6).fill(0) }")
    terminal.type("trap.boom.\ttrap.big.len\t\x15")
    assert "it ran" not in terminal.say("typeof trap")
    assert "\r\n3000000\r\n" in terminal.say("trap.big.length")


def test_history_is_there_the_next_time(vial, folder):
    with Terminal(vial, folder) as first:
        first.wait_for("main> ")
        first.say("let kept =", " ... ")
        first.say("  41 + 1")
        first.say("kept")
        first.type("\x1b[A\x1b[A")
        first.wait_for("41 + 1")
        first.type("\x15\x04")
        assert first.end() == 0
    path = folder / "vial" / "history"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "let kept =\\n  41 + 1\nkept\n"
    with Terminal(vial, folder) as second:
        second.wait_for("main> ")
        second.type("\x1b[A\x1b[A")
        second.wait_for("41 + 1")
        second.say("")
        assert "\r\n42\r\n" in second.say("kept")


def test_without_a_place_for_history_it_works(vial, folder):
    (folder / "vial").write_text("no directory")
    with Terminal(vial, folder) as terminal:
        terminal.wait_for("main> ")
        assert "\r\n3\r\n" in terminal.say("1 + 2")


def test_without_libedit_lines_can_be_typed(vial, folder):
    maps = pathlib.Path("/proc/self/maps").read_text().split()
    (folder / "libedit.so.2").symlink_to(next(path for path in maps if path.endswith("/libc.so.6")))
    with Terminal(vial, folder, LD_LIBRARY_PATH=str(folder)) as terminal:
        assert "is no libedit" in terminal.wait_for("main> ")
        assert "\r\n3\r\n" in terminal.say("1 + 2")
        terminal.say("function f() {", " ... ")
        terminal.type("\x03")
        terminal.wait_for("\nmain> ")
        terminal.type("\x04")
        assert terminal.end() == 0


def test_control_c_clears_the_line_and_ends_the_second_time(terminal):
    terminal.type("some text\x03")
    terminal.wait_for("\nmain> ")
    terminal.say("function f() {", " ... ")
    terminal.type("\x03")
    terminal.wait_for("\nmain> ")
    assert "\r\n4\r\n" in terminal.say("4")
    terminal.type("\x03")
    terminal.wait_for("once more")
    terminal.wait_for("main> ")
    terminal.type("\x03")
    assert terminal.end() == 0


def test_control_c_stops_a_loop_and_the_session_lives(terminal):
    terminal.say("let kept = 5")
    terminal.type("for (;;) kept++\n")
    terminal.wait_for("running for")
    terminal.type("\x03")
    assert "Cancelled" in terminal.wait_for("main> ")
    assert "'number'" in terminal.say("typeof kept")


def start_stubborn(vial, folder):
    """A terminal where something runs that the engine does not look up from for some seconds."""
    terminal = Terminal(vial, folder, "--memory-mb", "1000", "--cpu-ms", "60000", "--wall-ms", "60000")
    terminal.wait_for("main> ")
    terminal.say("let kept = 5, list = new Float64Array(3e7); for (let i = 0; i < 3e7; i++) list[i] = Math.random()")
    terminal.type("console.log('sor' + 'ting'); list.sort()\n")
    terminal.wait_for("sorting")
    time.sleep(0.3)  # or it is stopped before it has begun
    terminal.type("\x03")
    return terminal


@pytest.mark.slow
def test_control_c_leads_back_when_the_program_does_not_stop(vial, folder):
    with start_stubborn(vial, folder) as terminal:
        assert "ended by Ctrl-C, since it did not stop by itself; back to the state" in terminal.wait_for("main> ")
        assert "\r\n5\r\n" in terminal.say("kept")


@pytest.mark.slow
def test_control_c_twice_ends_at_once(vial, folder):
    with start_stubborn(vial, folder) as terminal:
        time.sleep(0.05)
        terminal.type("\x03")
        assert terminal.end() == 130


def test_the_prompt_has_the_name_of_the_branch(terminal):
    terminal.say("let list = [1]")
    assert ".use before" in terminal.say(".branch before")
    terminal.say("list.push(2)")
    assert "\r\n[ 1 ]\r\n" in terminal.say(".use before\nlist", "]\r\nbefore> ")
    branches = terminal.say(".branches", "\nbefore> ")
    assert "* before" in branches and "  main" in branches
    assert "\r\n[ 1, 2 ]\r\n" in terminal.say(".use main\nlist", "]\r\nmain> ")
    assert "Back to the state" in terminal.say("list = 0\n.undo", "input.\r\nmain> ")
    assert "[ 1, 2 ]" in terminal.say("list")


@pytest.mark.slow
def test_a_limit_leads_back_to_the_state_before(terminal):
    terminal.say("let kept = 'yes'")
    assert "back to the state before this input" in terminal.say(HOG.strip())
    assert "'yes'" in terminal.say("kept")
    assert "'undefined'" in terminal.say("typeof hog")


def test_the_program_can_end_it(terminal):
    terminal.type("process.exit(9)\n")
    assert terminal.end() == 9


def test_a_terminal_that_goes_away_ends_it(terminal):
    terminal.process.send_signal(signal.SIGHUP)
    assert terminal.end() == 130
