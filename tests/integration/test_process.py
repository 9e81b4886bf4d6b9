"""test_process.py - the process as a program sees it: variables, arguments, directories, streams, its end."""

import pytest


@pytest.mark.everyone
def test_variables_are_the_declared_ones(vial):
    assert vial.value("({...process.env})") == {}
    result = vial.result("--env", "A=1", "--env", "B=x=y", "--env", "Ü=", "-e", "({...process.env})")
    assert result["value"] == {"A": "1", "B": "x=y", "Ü": ""}
    code = ("process.env.N = 5; process.env.U = undefined; delete process.env.A; "
            "[process.env.N, process.env.U, 'A' in process.env, Object.keys(process.env)]")
    assert vial.result("--env", "A=1", "-e", code)["value"] == ["5", "undefined", False, ["N", "U"]]


def test_variables_of_ours_do_not_leak(vial):
    done = vial("run", "-e", "process.env.SECRET_OF_OURS", env={"SECRET_OF_OURS": "x", "PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stdout) == (0, "")


def test_arguments_follow_two_dashes(vial, folder):
    (folder / "main.js").write_text("console.log(JSON.stringify(process.argv))")
    done = vial("run", folder / "main.js", "--", "a", "--json", "-e", "", "ü")
    assert done.stdout == '["/usr/bin/vial","/home/vial/main.js","a","--json","-e","","ü"]\n'
    assert vial.result("-e", "process.argv.slice(2)", "--", "x")["value"] == ["x"]
    assert vial.value("process.argv.slice(2)") == []
    done = vial("run", folder / "main.js", "a")
    assert done.returncode == 2


def test_directories(vial):
    assert vial.value("process.cwd()") == "/home/vial"
    assert vial.result("--cwd", "a/b", "-e", "process.cwd()")["value"] == "/home/vial/a/b"
    assert vial.result("--cwd", "/home/vial/x", "-e", "require('fs').writeFileSync('f', ''); process.chdir('..');"
                       "require('fs').readdirSync('x')")["value"] == ["f"]
    result = vial.result("--files", "-e", "process.chdir('no')")
    assert result["error"]["message"] == "ENOENT: no such file or directory, chdir '/home/vial' -> 'no'"


# ---- standard streams ----

READERS = {
    "async iteration": "let s = ''; for await (const c of process.stdin) s += c; s",
    "events": "await new Promise((r) => { let s = ''; process.stdin.setEncoding('utf8'); "
              "process.stdin.on('data', (c) => { s += c; }).on('end', () => r(s)); })",
    "fs.readFileSync(0)": "require('fs').readFileSync(0, 'utf8')",
    "/dev/stdin": "require('fs').readFileSync('/dev/stdin', 'utf8')",
    "fs.readSync": "const b = Buffer.alloc(9); const n = require('fs').readSync(0, b); "
                   "b.subarray(0, n).toString() + require('fs').readFileSync(0, 'utf8')",
}


@pytest.mark.parametrize("how", READERS)
def test_standard_input(vial, folder, how):
    text = "grüße\n" * 30000
    (folder / "text").write_text(text)
    assert vial.result("--stdin", folder / "text", "-e", READERS[how])["value"] == text
    assert vial.result("--stdin", "-", "-e", READERS[how], stdin="piped")["value"] == "piped"
    assert vial.result("-e", READERS[how], stdin="not given")["value"] == ""


def test_standard_input_works_without_files(vial):
    assert vial.result("--no-files", "--stdin", "-", "-e", READERS["fs.readFileSync(0)"], stdin="x")["value"] == "x"


def test_only_one_comes_from_our_stdin(vial):
    done = vial("run", "-", "--stdin", "-", stdin="1")
    assert done.returncode == 2 and "stdin" in done.stderr


def test_output_streams(vial):
    code = """console.log(1); process.stdout.write('two\\n'); process.stdout.write(Buffer.from([0x33, 10]));
        process.stderr.write('err\\n', () => console.log('written')); console.log(process.stdout.isTTY, process.stdout.fd);
        process.stdout.write('c3a4', 'hex'); void 0"""
    result = vial.result("-e", code)
    assert result["status"] == "ok", result["error"]
    assert result["stdout"] == "1\ntwo\n3\nfalse 1\näwritten\n"
    assert result["stderr"] == "err\n"


# ---- the end ----

@pytest.mark.parametrize("code, returncode", [
    ("process.exit()", 0), ("process.exit(0)", 0), ("process.exit(3)", 3), ("process.exit(256 + 7)", 7),
    ("process.exit(-1)", 255), ("process.exitCode = 4", 4), ("process.exitCode = 4; process.exit()", 4),
    ("process.exitCode = 4; process.exit(5)", 5), ("try { process.exit(6) } catch {} finally { for (;;); }", 6),
    ("(function f() { try { process.exit(8) } catch { f() } })()", 8),
    ("setTimeout(() => process.exit(9), 1); setInterval(() => {}, 1)", 9),
    ("Promise.resolve().then(() => process.exit(10))", 10), ("await 1; process.exit(11)", 11),
    ("process.on('exit', () => { process.exitCode = 12 })", 12),
    ("process.on('exit', () => process.exit(13)); process.exit(1)", 13),
    ("throw new Error('x')", 1), ("process.exitCode = 5; throw 1", 1),
    ("process.on('exit', () => { throw new Error('late') }); process.exit(0)", 1),
])
def test_exit_codes(vial, code, returncode):
    done = vial("run", "-e", code + "; void 0")
    assert done.returncode == returncode, done.stderr
    assert vial.result("-e", code + "; void 0")["exit_code"] == returncode


def test_an_exit_keeps_what_was_printed_and_has_no_value(vial):
    result = vial.result("-e", "console.log('a'); __return(1); process.stderr.write('b'); process.exit(2); console.log('c')")
    assert (result["status"], result["exit_code"], result["stdout"], result["stderr"]) == ("ok", 2, "a\n", "b")
    assert "value" not in result


def test_a_run_that_is_killed_has_no_exit_code(vial):
    result = vial.result("--wall-ms", "200", "-e", "for (;;);")
    assert (result["status"], result["exit_code"]) == ("wall_limit", None)


def test_a_bad_exit_code_is_refused(vial):
    result = vial.result("-e", "process.exit('a')")
    assert result["error"]["message"] == 'The "code" argument must be of type number. Received type string (\'a\')'


def test_handlers_of_the_end(vial):
    code = """let rounds = 0;
        process.on('beforeExit', (c) => {
            console.log('beforeExit', c);
            if (rounds++ < 2) setTimeout(() => console.log('more'), 1);
        });
        process.on('exit', (c) => console.log('exit', c));
        console.log('main');"""
    assert vial.result("-e", code)["stdout"] == "main\nbeforeExit 0\nmore\nbeforeExit 0\nmore\nbeforeExit 0\nexit 0\n"
    assert vial.result("-e", code + "process.exit(3)")["stdout"] == "main\nexit 3\n"
    result = vial.result("-e", code + "throw new Error('x')")
    assert (result["stdout"], result["status"]) == ("main\nexit 1\n", "exception")


def test_a_program_may_end_with_a_handler(vial):
    result = vial.result("-e", "process.on('exit', () => console.log('bye'))")
    assert (result["status"], result["stdout"]) == ("ok", "bye\n") and "value" not in result


def test_ticks_come_before_promises(vial):
    code = """Promise.resolve().then(() => console.log('promise'));
        process.nextTick((x) => { console.log('tick', x); process.nextTick(() => console.log('nested')); }, 1);
        setImmediate(() => {
            Promise.resolve().then(() => console.log('promise 2'));
            process.nextTick(() => console.log('tick 2'));
        });
        console.log('main'); void 0"""
    assert vial.result("-e", code)["stdout"] == "main\ntick 1\nnested\npromise\ntick 2\npromise 2\n"
    result = vial.result("-e", "process.nextTick(() => { throw new Error('in a tick') }); 1")
    assert result["error"]["message"] == "in a tick"


# ---- nothing of the host ----

def test_the_machine_is_always_the_same(vial):
    code = """const os = require('os'); ({host: os.hostname(), cpus: os.cpus().length, user: os.userInfo(), net: os.networkInterfaces(),
        total: os.totalmem(), load: os.loadavg(), home: os.homedir(), tmp: os.tmpdir(), type: os.type(), up: os.uptime() < 60,
        release: os.release(), pid: process.pid, uid: process.getuid(), platform: process.platform, arch: process.arch,
        exec: process.execPath, major: process.versions.node.split('.')[0], now: process.uptime() < 60})"""
    assert vial.value(code) == {
        "host": "vial", "cpus": 1, "net": {}, "total": 536870912, "load": [0, 0, 0], "home": "/home/vial", "tmp": "/tmp",
        "user": {"uid": 1000, "gid": 1000, "username": "vial", "homedir": "/home/vial", "shell": None},
        "type": "Linux", "up": True, "release": "6.1.0", "pid": 1, "uid": 1000, "platform": "linux", "arch": "x64",
        "exec": "/usr/bin/vial", "major": "20", "now": True}


def test_files_show_no_owner_and_no_device_of_the_host(vial):
    assert vial.value("require('fs').writeFileSync('a', ''); const s = require('fs').statSync('a'); [s.uid, s.gid, s.dev]"
                      ) == [1000, 1000, 1]


@pytest.mark.parametrize("code, error", [
    ("process.kill(1, 'SIGKILL')", "EPERM"), ("process.setuid(0)", "EPERM"),
    ("process.binding('fs')", "ERR_INVALID_MODULE"), ("process.dlopen({}, 'x')", "ERR_DLOPEN_FAILED")])
def test_what_a_process_cannot_do(vial, code, error):
    assert vial.value(f"try {{ {code} }} catch (e) {{ e.code }}") == error
