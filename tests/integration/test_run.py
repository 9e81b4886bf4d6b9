"""test_run.py - `vial run` as a user drives it: programs, values, output, errors, limits, signals."""

import json
import os
import signal
import subprocess
import time

import pytest

from conftest import Vial, children_of, is_alive, wait_until

RESULT_KEYS = {"status", "value", "value_format", "error", "stdout", "stderr", "dropped", "calls", "files",
               "files_left_out", "artifacts", "artifacts_dropped", "findings", "exit_code", "usage", "limits", "isolation"}
ERROR_KEYS = {"name", "message", "stack", "file", "line", "column", "source_line", "frames",
              "hint"}
USAGE_KEYS = {"wall_us", "cpu_us", "memory_bytes_peak", "queue_us", "host_us", "approval_us"}
LIMIT_KEYS = {"wall_ms_max", "cpu_ms_max", "timers_max", "memory_bytes_max", "stdout_bytes_max",
              "stderr_bytes_max", "value_bytes_max", "disk_bytes_max", "files_max", "open_files_max", "calls_max", "calls_at_once_max", "call_bytes_max", "approval_ms_max",
              "requests_max", "requests_at_once_max", "request_ms_max", "redirects_max", "request_bytes_max", "response_bytes_max", "decoded_bytes_max"}


# ---- where the program and its input come from ----

@pytest.mark.everyone
def test_code_from_the_command_line(vial):
    done = vial("run", "-e", "[1, 2, 3].map(x => x * x)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "[ 1, 4, 9 ]\n", "")


def test_code_from_a_file(vial, folder):
    (folder / "program.js").write_text("#!/usr/bin/env vial\nconsole.log('hello')\n")
    done = vial("run", folder / "program.js")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")


def test_code_from_stdin(vial):
    done = vial("run", "-", stdin="console.log('from stdin'); 7")
    assert (done.returncode, done.stdout, done.stderr) == (0, "from stdin\n7\n", "")


def test_an_empty_program_is_fine(vial):
    done = vial("run", "-e", "")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_input_reaches_the_guest(vial, folder):
    assert vial.result("--input", '{"a": [1, "ü😀"]}', "-e", "input.a[1]")["value"] == "ü😀"
    (folder / "input.json").write_text('{"rows": [1, 2, 3]}')
    assert vial.result("--input-file", folder / "input.json", "-e", "input.rows.length")["value"] == 3
    done = vial("run", "--input-file", "-", "-e", "input.x", stdin='{"x": "y"}')
    assert done.stdout == "'y'\n"
    assert vial.value("typeof input") == "undefined"


# ---- the result object ----

@pytest.mark.everyone
def test_the_result_has_every_key(vial):
    result = vial.result("-e", "console.log('out'); console.error('err'); ({a: 1})")
    assert set(result) == RESULT_KEYS
    assert result["status"] == "ok"
    assert result["value"] == {"a": 1}
    assert result["error"] is None
    assert (result["stdout"], result["stderr"]) == ("out\n", "err\n")
    assert result["dropped"] == {"stdout": 0, "stderr": 0}
    assert result["calls"] == [] and result["files"] == []
    assert set(result["usage"]) == USAGE_KEYS
    assert set(result["limits"]) == LIMIT_KEYS
    assert all(isinstance(n, int) and (n > 0 or name == "redirects_max") for name, n in result["limits"].items())
    assert result["isolation"]["level"] in ("full", "rootless", "filtered")
    assert result["isolation"]["memory"] in ("cgroup-v1", "cgroup-v2", "polling")
    for layer in result["isolation"]["layers"]:
        assert layer["state"] in ("on", "proven", "off"), layer


def test_the_result_of_an_exception_has_every_key(vial):
    result = vial.result("-e", "function f() { null.x }\nf()")
    assert set(result) == RESULT_KEYS - {"value", "value_format"}
    assert set(result["error"]) == ERROR_KEYS
    assert result["status"] == "exception"
    assert result["error"]["name"] == "TypeError"
    assert result["error"]["source_line"] == "function f() { null.x }"
    assert [frame["function"] for frame in result["error"]["frames"]] == ["f", ""]
    assert [frame["line"] for frame in result["error"]["frames"]] == [1, 2]


def test_limits_in_force_are_reported(vial):
    result = vial.result("--wall-ms", 1234, "--memory-mb=64", "-e", "1")
    assert result["limits"]["wall_ms_max"] == 1234
    assert result["limits"]["memory_bytes_max"] == 64 << 20


def test_usage_is_plausible(vial):
    usage = vial.result("-e", "const t = Date.now(); while (Date.now() < t + 100); "
                              "new Uint8Array(20e6).fill(1).length")["usage"]
    assert 100_000 <= usage["wall_us"] < 5_000_000
    assert 10_000 <= usage["cpu_us"] <= usage["wall_us"] + 50_000 # less than it ran where others run too
    assert 15e6 < usage["memory_bytes_peak"] < 100e6


@pytest.mark.parametrize("code, value", [
    ("null", None), ("true", True), ("-1.5e300", -1.5e300), ("'a\\u0000b\\u2028'", "a\0b\u2028"),
    ("'😀ß\\u{10FFFF}'", "😀ß\U0010ffff"), ("[[[]]]", [[[]]]), ("({})", {}),
    ("({'': {'__proto__x': 1}})", {"": {"__proto__x": 1}}), 
    ("Promise.resolve(4)", 4), ("9007199254740993", 9007199254740992),
    ("__return(1); 2", 1), ("__return(1); __return(3)", 3), ("return 5", 5),
    ("if (true) { return {a: 1} }", {"a": 1}), ("await 1; 2", 2),
    ("const x = await Promise.resolve(3); x * 2", 6), ("for await (const x of [1]) {} 'done'", "done"),
    ("setTimeout(() => __return('late'), 5); 'early'", "late"),
    ("let n = 0; for (let i = 0; i < 1e6; i++) n += i; n", 499999500000),
])
def test_values(vial, code, value):
    assert vial.value(code) == value


def test_without_json_any_value_is_shown(vial):
    assert vial("run", "-e", "new Map([[1, {a: 2n}]])").stdout == "Map(1) { 1 => { a: 2n } }\n"
    assert vial("run", "-e", "'text'").stdout == "'text'\n"
    assert vial("run", "-e", "undefined").stdout == ""


def test_chance_differs_between_processes(vial):
    assert len({vial.value("Math.random()") for _ in range(4)}) == 4


def test_text_of_every_plane_survives(vial):
    text = "".join(map(chr, [0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff]))
    assert vial.result("--input", json.dumps(text, ensure_ascii=False), "-e", "input")["value"] == text
    assert vial.result("-e", f"const s = {json.dumps(text, ensure_ascii=False)}; console.log(s); s"
                       )["stdout"] == text + "\n"


# ---- output ----

@pytest.mark.everyone
def test_output_arrives_while_the_guest_still_runs(vial):
    started = time.monotonic()
    with vial.start("run", "-e", "console.log('first'); await new Promise(r => setTimeout(r, 1500)); "
                                 "console.error('second')") as process:
        assert process.stdout.readline() == "first\n"
        assert process.poll() is None
        assert time.monotonic() - started < 1.4
        assert process.stderr.read() == "second\n"
    assert process.returncode == 0


def test_output_beyond_its_limit_is_counted(vial):
    result = vial.result("--stdout-bytes", 10, "-e", "console.log('x'.repeat(30)); console.error('e')")
    assert result["stdout"] == "x" * 10
    assert result["dropped"] == {"stdout": 21, "stderr": 0}
    done = vial("run", "--stdout-bytes", 10, "-e", "console.log('x'.repeat(30))")
    assert done.returncode == 0
    assert "stdout was cut after 10 bytes, 21 more were dropped" in done.stderr


def test_much_output_comes_whole(vial):
    done = vial("run", "--stdout-bytes", 20_000_000, "-e",
                "for (let i = 0; i < 100000; i++) console.log('line', i, 'x'.repeat(80))")
    lines = done.stdout.splitlines()
    assert len(lines) == 100000 and lines[-1] == "line 99999 " + "x" * 80


def test_a_closed_pipe_does_not_hang_it(vial):
    with vial.start("run", "-e", "for (let i = 0; i < 3000; i++) console.log('x'.repeat(100))") as process:
        process.stdout.close()
        assert process.wait(30) is not None


# ---- the order of things ----

def test_timers_run_in_order(vial):
    result = vial.result("-e", """
        setTimeout(() => console.log("later"), 60);
        setTimeout(() => console.log("sooner"), 1);
        Promise.resolve().then(() => console.log("microtask"));
        queueMicrotask(() => console.log("another"));
        console.log("script");
        const t = setTimeout(() => console.log("never"), 1);
        clearTimeout(t);
        let n = 0;
        const i = setInterval(() => { console.log("tick"); if (++n === 2) clearInterval(i); }, 200);
        void 0""")
    assert result["stdout"].split("\n") == ["script", "microtask", "another", "sooner", "later", "tick",
                                            "tick", ""]


def test_the_run_ends_when_nothing_is_left_to_do(vial):
    assert vial.result("-e", "setTimeout(() => console.log('x'), 20); undefined")["stdout"] == "x\n"


# ---- errors ----

@pytest.mark.parametrize("code, name, line, column, source_line", [
    ("null.x", "TypeError", 1, 5, "null.x"),
    ("\n\n  missing()", "ReferenceError", 3, None, "  missing()"),
    ("await 1; null.x", "TypeError", 1, 14, "await 1; null.x"),
    ("await 1;\nnull.x", "TypeError", 2, 5, "null.x"),
    ("'😀'; null.x", "TypeError", 1, 11, "'😀'; null.x"),
    ("await 1; '😀😀'; null.x", "TypeError", 1, 22, "await 1; '😀😀'; null.x"),
    ("if (true) return null.x", "TypeError", 1, 22, "if (true) return null.x"),
    ("1 +\n* 2", "SyntaxError", 2, None, "* 2"),
    ("let a = 1;\nlet b = ;", "SyntaxError", 2, None, "let b = ;"),
    ("await 1;\nlet = 3 3", "SyntaxError", 2, None, "let = 3 3"),
    ("throw new RangeError('x')", "RangeError", 1, None, "throw new RangeError('x')"),
    ("Promise.reject(new Error('r'))", "Error", 1, 25, "Promise.reject(new Error('r'))"),
    ("setTimeout(() => {\n  null.x }, 1); void 0", "TypeError", 2, 7, "  null.x }, 1); void 0"),
    ("null.x\r\n2", "TypeError", 1, 5, "null.x"),
])
def test_errors_say_where(vial, code, name, line, column, source_line):
    result = vial.result("-e", code)
    assert result["status"] == "exception"
    error = result["error"]
    assert (error["name"], error["line"], error["source_line"]) == (name, line, source_line)
    assert column is None or error["column"] == column


@pytest.mark.parametrize("code, message", [
    ("throw null", "null"), ("throw undefined", "undefined"), ("throw 'text'", "text"), ("throw 1n", "1n"),
    ("throw new Proxy({}, {get() { throw 1 }, getPrototypeOf() { throw 2 }})", "{}"),
    ("throw {get stack() { throw 1 }, get message() { for (;;); }}", "Getter"),
    ("throw Object.create(null)", ""), ("throw function f() {}", "f"),
    ("class E extends Error { get message() { throw 1 } get name() { throw 2 } }; throw new E()", ""),
    ("const e = new Error('m'); Object.defineProperty(e, 'stack', {get() { throw 1 }}); throw e", "m"),
    ("throw new Error('x'.repeat(5e6))", "xxxx"), ("const e = new Error(); e.cause = e; throw e", ""),
    ("Object.prototype.name = 'evil'; Array.prototype.push = null; throw new Error('m')", "m"),
    ("delete globalThis.Error; JSON.stringify = null; null.x", "null"),
])
def test_whatever_is_thrown_is_reported(vial, code, message):
    result = vial.result("-e", code)
    assert result["status"] == "exception"
    assert message in result["error"]["message"]
    assert len(json.dumps(result)) < 300_000
    done = vial("run", "-e", code)
    assert done.returncode == 1
    assert len(done.stderr) > 0


def test_unhandled_rejections_end_the_run(vial):
    result = vial.result("-e", "Promise.reject(new Error('lost')); setTimeout(() => console.log(1), 50); 1")
    assert (result["status"], result["error"]["message"]) == ("exception", "lost")
    result = vial.result("-e", "const p = Promise.reject(1); p.catch(() => {}); 'fine'")
    assert result["value"] == "fine"


def test_a_promise_that_never_settles_is_said(vial):
    result = vial.result("-e", "await new Promise(() => {})")
    assert result["error"]["name"] == "DeadlockError"


def test_an_error_is_shown_with_its_line(vial, folder):
    (folder / "broken.js").write_text("let a = 1;\nnull.x;\n")
    done = vial("run", "broken.js", cwd=folder)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines()[:3] == ["broken.js:2", "null.x;", "    ^"]
    assert "    at broken.js:2:5" in done.stderr


def test_an_error_cannot_drive_the_terminal(vial):
    assert "\x1b" not in vial("run", "-e", "throw new Error('\\x1b[2J')").stderr


# ---- exit codes; and killed means dead ----

ENDS = [
    (0, "ok", ["-e", "1"]),
    (1, "exception", ["-e", "throw 1"]),
    (124, "wall_limit", ["--wall-ms", 200, "-e", "await new Promise(r => setTimeout(r, 60000))"]),
    (124, "wall_limit", ["--wall-ms", 200, "-e", "for (;;) {}"]),
    (152, "cpu_limit", ["--cpu-ms", 200, "-e", "for (;;) {}"]),
    (137, "memory_limit", ["--memory-mb", 32, "-e", "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))"]),
    (137, "memory_limit", ["--memory-mb", 32, "-e", "const a = []; for (;;) a.push({x: [a.length]})"]),
    (153, "output_limit", ["--stdout-bytes", 1000, "-e", "for (;;) console.log('x'.repeat(999))"]),
]


@pytest.mark.everyone
@pytest.mark.parametrize("code, status, args", ENDS, ids=[f"{e[1]}-{i}" for i, e in enumerate(ENDS)])
def test_each_end_has_its_exit_code(vial, code, status, args):
    started = time.monotonic()
    done = vial("run", "--json", *args)
    result = json.loads(done.stdout)
    assert (result["status"], done.returncode) == (status, code)
    assert time.monotonic() - started < 8
    if status.endswith("_limit"):
        assert "value" not in result
        assert "--" in result["error"]["hint"]  # which flag raises it
        assert any(character.isdigit() for character in result["error"]["message"])


@pytest.mark.parametrize("flags", [["--wall-ms", 700], ["--cpu-ms", 700]])
def test_at_a_limit_every_process_is_gone(vial, flags):
    with vial.start("run", *flags, "-e", "console.log('go'); for (;;) {}") as process:
        assert process.stdout.readline() == "go\n"
        family = children_of(process.pid)
        assert family, "a run has processes"
        process.wait(10)
        assert wait_until(lambda: not any(map(is_alive, family)), 1)
    assert process.returncode in (124, 152)


def test_output_before_a_limit_is_kept(vial):
    result = vial.result("--wall-ms", 300, "-e", "console.log('kept'); for (;;) {}")
    assert (result["status"], result["stdout"]) == ("wall_limit", "kept\n")


@pytest.mark.everyone
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_the_run(vial, number):
    with vial.start("run", "-e", "console.log('go'); for (;;) {}") as process:
        assert process.stdout.readline() == "go\n"
        family = children_of(process.pid)
        process.send_signal(number)
        sent = time.monotonic()
        process.wait(10)
        assert time.monotonic() - sent < 2
        assert "cancelled" in process.stderr.read()
    assert process.returncode == 130
    assert wait_until(lambda: not any(map(is_alive, family)), 1)


def test_killed_itself_it_takes_everything_along(vial):
    with vial.start("run", "-e", "console.log('go'); for (;;) {}") as process:
        assert process.stdout.readline() == "go\n"
        family = children_of(process.pid)
        process.kill()
        process.wait(10)
    assert family
    assert wait_until(lambda: not any(map(is_alive, family)), 5)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may kill a process of another user")
def test_a_cell_that_is_killed_has_crashed(vial):
    with vial.start("run", "-e", "console.log('go'); for (;;) {}") as process:
        assert process.stdout.readline() == "go\n"

        def burns(pid):
            fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
            return int(fields[11]) + int(fields[12]) > 5

        busy = []
        assert wait_until(lambda: busy.extend(filter(burns, children_of(process.pid))) or busy)
        os.kill(max(busy), signal.SIGKILL)
        assert "SIGKILL" in process.stderr.read()
        process.wait(10)
    assert process.returncode == 134


def test_a_required_layer_that_is_missing_is_126(vial):
    done = vial("run", "--require", "landlock>=99", "-e", "1")
    assert (done.returncode, done.stdout) == (126, "")
    assert len(done.stderr.splitlines()) == 1 and "landlock" in done.stderr


def test_without_the_cell_program_it_is_125(folder, public_directory):
    for path in public_directory.iterdir():
        if path.name != "vial-cell-js":
            os.link(path, folder / path.name, follow_symlinks=False)
    done = Vial(folder)("run", "-e", "1")
    if done.returncode == 0:
        pytest.skip("vial is also installed on this machine, and finds its cell program there")
    assert (done.returncode, len(done.stderr.splitlines())) == (125, 1)
    assert "vial-cell-js" in done.stderr


# ---- the guest's surface ----

def test_the_guest_sees_nothing_of_the_host(vial):
    names = vial.value("Object.getOwnPropertyNames(globalThis)")
    for name in ("Deno", "Bun", "load", "readFile", "print", "fetch",
                 "SharedArrayBuffer", "WebAssembly", "$vm", "native"):
        assert name not in names


def test_no_jit_gives_the_same(vial):
    code = "let s = 0; for (let i = 0; i < 300000; i++) s = (s * 31 + i) % 1000003; s"
    assert vial.result("--no-jit", "-e", code)["value"] == vial.value(code)


def test_the_engine_is_all_there(vial):
    assert vial.value("new Intl.NumberFormat('de-DE').format(1234.5)") == "1.234,5"
    assert vial.value("'aXbXc'.replaceAll('X', '-')") == "a-b-c"
    assert vial.value("[3, 1, 2].toSorted().join()") == "1,2,3"
    assert vial.value("new Date(0).toLocaleString('en-US', {timeZone: 'UTC'}).slice(0, 8)") == "1/1/1970"
    assert vial.value("Object.groupBy([1, 2, 3], x => x % 2 ? 'odd' : 'even').odd.length") == 2


@pytest.mark.slow
def test_deep_recursion_is_an_exception(vial):
    result = vial.result("-e", "(function f() { f() })()")
    assert (result["status"], result["error"]["name"]) == ("exception", "RangeError")


@pytest.mark.slow
def test_many_at_once(vial):
    processes = [vial.start("run", "-e", f"await new Promise(r => setTimeout(r, 100)); {n}")
                 for n in range(12)]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert outputs == [f"{n}\n" for n in range(12)]


def test_help_and_version(vial):
    done = vial("run", "--help")
    assert done.returncode == 0 and done.stderr == ""
    for flag in ("--wall-ms", "--memory-mb", "--require", "--json", "--input-file"):
        assert flag in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120
    assert vial("--help").returncode == 0
    assert vial("--version").stdout.startswith("vial ")
    assert vial().returncode == 2


def read_all(terminal):
    """Everything that was written to a terminal nobody else has open any more."""
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            return shown.decode()
        shown += piece


def test_a_terminal_gets_a_status_line(vial):
    """With a terminal on stderr, a run that takes long says so, and cleans up after itself."""
    parent, child = os.openpty()
    process = subprocess.Popen(vial.command("run", "-e", "await new Promise(r => setTimeout(r, 1300)); 5"),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=child)
    os.close(child)
    assert process.communicate(timeout=30)[0] == b"5\n"
    shown = read_all(parent)
    os.close(parent)
    assert "running for" in shown and " 1 s" in shown
    assert shown.endswith("\r\x1b[K")
