"""test_files.py - files of a run: in with --file, worked on by node:fs, back out with --out."""

import json
import os
import subprocess

import pytest

FS = "const fs = require('node:fs');\n"


def run(vial, code, *args, **more):
    """The value of a program that must go well."""
    result = vial.result(*args, "-e", FS + code, **more)
    assert result["status"] == "ok", result["error"]
    return result.get("value")


# ---- in and out ----

@pytest.mark.everyone
def test_a_file_goes_in_and_one_comes_out(vial, folder):
    (folder / "in.txt").write_text("grüße 😀\n")
    folder.chmod(0o777)
    done = vial("run", "--file", folder / "in.txt", "--out", "*.upper", "--out-dir", folder, "-e",
                FS + "fs.writeFileSync('out.upper', fs.readFileSync('in.txt', 'utf8').toUpperCase());")
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "out.upper").read_text() == "GRÜSSE 😀\n"


def test_names_inside(vial, folder):
    (folder / "a.txt").write_text("a")
    (folder / "tool.sh").write_text("#!/bin/sh\n")
    (folder / "tool.sh").chmod(0o700)
    args = ["--file", folder / "a.txt", "--file", f"{folder}/a.txt:deep/er/b.txt", "--file",
            f"{folder}/a.txt:/home/vial/c.txt", "--file", f"{folder}/a.txt:dir/", "--file", folder / "tool.sh"]
    assert run(vial, "fs.readdirSync('.', {recursive: true}).sort()", *args) == [
        "a.txt", "c.txt", "deep", "deep/er", "deep/er/b.txt", "dir", "dir/a.txt", "tool.sh"]
    assert run(vial, "[fs.statSync('a.txt').mode & 0o777, fs.statSync('tool.sh').mode & 0o777]", *args) == [
        0o644, 0o755]


def test_a_directory_goes_in_without_its_links(vial, folder):
    source = folder / "tree"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "x").write_text("x")
    (source / "secret").symlink_to("/etc/passwd")
    (source / "loop").symlink_to(".")
    os.mkfifo(source / "fifo")
    done = vial("run", "--file", source, "-e", FS + "fs.readdirSync('.', {recursive: true}).sort().join()")
    assert done.stdout == "'tree,tree/sub,tree/sub/x'\n"
    assert "3 links or special files" in done.stderr
    done = vial("run", "--file", f"{source}:.", "-e", FS + "fs.readFileSync('sub/x', 'utf8')")
    assert done.stdout == "'x'\n"


def test_large_files_keep_every_byte(vial, folder):
    (folder / "big").write_bytes(bytes(range(256)) * 20000)
    done = vial("run", "--file", folder / "big", "--out", "copy", "--out-dir", folder, "-e",
                FS + "fs.copyFileSync('big', 'copy'); fs.statSync('copy').size")
    assert done.stdout == "5120000\n"
    assert (folder / "copy").read_bytes() == (folder / "big").read_bytes()


def test_outputs_by_pattern(vial, folder):
    code = FS + """
        fs.mkdirSync('out/deep', {recursive: true});
        for (const name of ['a.txt', 'b.csv', 'out/c.txt', 'out/deep/d.txt', '.hidden', 'out/.e.txt']) {
            fs.writeFileSync(name, name);
        }"""

    def names(*patterns):
        args = [word for pattern in patterns for word in ("--out", pattern)]
        out = vial("run", "--json", *args, "--out-dir", folder, "--force", "-e", code)
        return [f["name"] for f in json.loads(out.stdout)["files"]]

    assert names("*.txt") == ["a.txt"]
    assert names("**/*.txt") == ["a.txt", "out/c.txt", "out/deep/d.txt"]
    assert names("out/**") == ["out/c.txt", "out/deep/d.txt"]
    assert names("*.csv", "out/*") == ["b.csv", "out/c.txt"]
    assert names(".*", "**/.e.txt") == [".hidden", "out/.e.txt"]
    assert names("/home/vial/[ab].*") == ["a.txt", "b.csv"]
    assert names("nothing") == []


def test_outputs_say_their_size_and_what_is_missing(vial, folder):
    code = FS + """fs.writeFileSync('a', 'x'.repeat(1234)); fs.symlinkSync('/etc/passwd', 'b');
        fs.symlinkSync('a', 'c'); fs.linkSync('a', 'd'); fs.writeFileSync('e\\n', '')"""
    result = vial.result("--out", "*", "--out-dir", folder, "-e", code)
    assert result["files"] == [{"name": "a", "size": 1234}, {"name": "d", "size": 1234}]
    assert result["files_left_out"] == {"symlink": 2, "name": 1}
    assert sorted(p.name for p in folder.iterdir()) == ["a", "d"]


def test_outputs_come_also_after_an_exception_and_an_exit(vial, folder):
    for code, returncode in (("throw 1", 1), ("process.exit(7)", 7)):
        done = vial("run", "--out", "a", "--out-dir", folder, "--force", "-e",
                    FS + f"fs.writeFileSync('a', '{returncode}'); {code}")
        assert done.returncode == returncode
        assert (folder / "a").read_text() == str(returncode)


def test_a_run_that_is_killed_gives_nothing_back(vial, folder):
    done = vial("run", "--wall-ms", "300", "--out", "*", "--out-dir", folder, "-e",
                FS + "fs.writeFileSync('a', 'x'); for (;;);")
    assert done.returncode == 124
    assert "no files came back" in done.stderr
    assert not list(folder.iterdir())


def test_nothing_is_overwritten_unasked(vial, folder):
    (folder / "a").write_text("mine")
    args = ["run", "--out", "*", "--out-dir", folder, "-e", FS + "fs.writeFileSync('a', 'new'); fs.writeFileSync('b', '')"]
    done = vial(*args)
    assert done.returncode == 125
    assert "exists" in done.stderr and "--force" in done.stderr
    assert (folder / "a").read_text() == "mine" and (folder / "b").exists()
    (folder / "b").unlink()
    assert vial(*args[:1], "--force", *args[1:]).returncode == 0
    assert (folder / "a").read_text() == "new"


def test_outputs_never_go_through_links(vial, folder):
    outside = folder / "outside"
    target = folder / "target"
    outside.mkdir()
    target.mkdir()
    (target / "dir").symlink_to(outside)
    (target / "file").symlink_to(outside / "file")
    done = vial("run", "--force", "--out", "**", "--out-dir", target, "-e",
                FS + "fs.mkdirSync('dir'); fs.writeFileSync('dir/x', '1'); fs.writeFileSync('file', '2')")
    assert done.returncode == 125
    assert "symbolic link" in done.stderr or "Not a directory" in done.stderr
    assert not list(outside.iterdir())
    assert (target / "file").read_text() == "2" and not (target / "file").is_symlink()


# ---- which runs have files ----

def test_every_run_has_files_unless_it_is_told_otherwise(vial):
    code = "require('f' + 's').readFileSync('a')"
    for args in ([], ["--files"]):
        assert vial.result(*args, "-e", code)["error"]["message"].startswith("ENOENT")
    for call in ("readFileSync('a')", "writeFileSync('a', '')", "readdirSync('.')", "openSync('a')", "closeSync(4)"):
        result = vial.result("--no-files", "-e", f"{FS} fs.{call}")
        assert result["status"] == "exception"
        assert "this run has no files" in result["error"]["message"] and "--files" in result["error"]["message"]
    assert run(vial, "[fs.existsSync('/home/vial'), process.cwd(), process.umask()]", "--no-files") == [
        False, "/home/vial", 0o22]


@pytest.mark.parametrize("code", [
    "require('fs').writeFileSync('a', '1')", 'require("fs").writeFileSync("a", "1")',
    "require('node:fs').writeFileSync('a', '1')", "await require('fs/promises').writeFile('a', '1')"])
def test_by_whatever_name_there_is_one_fs(vial, code):
    assert vial.result("-e", code)["status"] == "ok"


def test_files_are_gone_with_the_run(vial):
    assert run(vial, "fs.writeFileSync('a', '1'); fs.readdirSync('.')") == ["a"]
    assert run(vial, "fs.readdirSync('.')") == []


# ---- bad usage ----

@pytest.mark.parametrize("args, words", [
    (["--file", "/no/such"], ["/no/such", "No such file"]),
    (["--file", ""], ["--file takes"]),
    (["--file", "/etc/passwd:"], ["--file takes"]),
    (["--file", "/etc/passwd:../x"], [".."]),
    (["--file", "/etc/passwd:/etc/x"], ["/home/vial"]),
    (["--file", "/etc/passwd:a/./b"], ["part"]),
    (["--out", "../*"], ["pattern"]),
    (["--out", "/etc/*"], ["/home/vial"]),
    (["--out", "[a"], ["["]),
    (["--out", ""], ["pattern"]),
    (["--out", "*", "--out-dir", "/no/such"], ["/no/such"]),
    (["--force"], ["--out"]),
    (["--force"], ["--out"]),
    (["--cwd", "/etc"], ["/home/vial"]),
    (["--cwd", "../x"], [".."]),
    (["--env", "A"], ["NAME=value"]),
    (["--env", "=x"], ["NAME=value"]),
    (["--stdin", "/no/such"], ["/no/such"]),
    (["--files", "--no-files"], ["either --files or --no-files"]),
    (["--no-files", "--cwd", "x"], ["--no-files"]),
    (["--files=1"], ["--files takes no value"]),
    (["--disk-mb", "1", "--file", "BIG"], ["--disk-mb"]),
])
def test_bad_values_are_refused_before_anything_starts(vial, folder, args, words):
    (folder / "big").write_bytes(b"x" * (2 << 20))
    args = [str(folder / "big") if arg == "BIG" else arg for arg in args]
    done = vial("run", *args, "-e", "1")
    assert done.returncode == 2, done.stderr
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1
    for word in words:
        assert word in done.stderr


# ---- limits ----

def test_a_full_disk_is_an_error_with_a_hint(vial):
    result = vial.result("--disk-mb", "1", "-e", FS + "fs.writeFileSync('a', Buffer.alloc(2 << 20))")
    assert result["status"] == "exception"
    assert result["error"]["message"].split(":")[0] in ("ENOSPC", "EFBIG")
    assert "--disk-mb" in result["error"]["hint"]
    assert run(vial, "try { fs.writeFileSync('a', Buffer.alloc(2 << 20)) } catch (e) { e.syscall }",
               "--disk-mb", "1") == "write"


def test_directories_of_inputs_count_too(vial, folder):
    (folder / "a").write_text("a")
    deep = "/".join("abcdefghij")
    result = vial.result("--file-count", "8", "--file", f"{folder}/a:{deep}/a", "-e", "1")
    assert result["status"] == "exception"
    assert result["error"]["message"] == f"ENOSPC: No space left on device, making the files up to '{deep}/a'"
    assert "--file-count" in result["error"]["hint"]


def test_a_hole_costs_nothing(vial):
    assert run(vial, "fs.writeFileSync('a', ''); fs.truncateSync('a', 2 ** 33); const s = fs.statSync('a');"
               "[s.size, s.blocks, fs.readSync(fs.openSync('a'), Buffer.alloc(5, 1), 0, 5, 2 ** 32)]",
               "--disk-mb", "10000", "--memory-mb", "16") == [2 ** 33, 0, 5]


def test_ten_thousand_files(vial):
    assert run(vial, "for (let i = 0; i < 10000; i++) fs.writeFileSync('f' + i, '' + i);"
               "[fs.readdirSync('.').length, fs.readFileSync('f9999', 'utf8')]", "--file-count", "20000") == [10000, "9999"]


def test_too_many_files_is_an_error(vial):
    code = "let n = 0; try { for (;;) fs.writeFileSync('f' + n++, '') } catch (e) { [n, e.code] }"
    count, name = run(vial, code, "--file-count", "20")
    assert name == "ENOSPC" and 15 <= count <= 20


def test_too_many_open_files_is_an_error(vial):
    code = "const l = []; try { for (;;) l.push(fs.openSync('f', 'w')) } catch (e) { [l.length, e.code] }"
    count, name = run(vial, code, "--open-files", "20")
    assert name == "EMFILE" and 10 <= count <= 17


def test_outputs_come_although_no_descriptor_is_left(vial, folder):
    code = FS + "fs.writeFileSync('a', 'x'); try { for (;;) fs.openSync('a') } catch {}"
    assert vial.result("--out", "a", "--out-dir", folder, "-e", code)["files"] == [{"name": "a", "size": 1}]


def test_a_file_too_large_for_its_limit_does_not_kill(vial):
    assert run(vial, "fs.writeFileSync('a', ''); try { fs.truncateSync('a', 1e12) } catch (e) { e.code }",
               "--disk-mb", "1") == "EFBIG"


# ---- node:fs ----

ERRORS = [
    ("fs.readFileSync('x')", "ENOENT", -2, "open", "ENOENT: no such file or directory, open 'x'"),
    ("fs.readFileSync('/home/vial/x')", "ENOENT", -2, "open",
     "ENOENT: no such file or directory, open '/home/vial/x'"),
    ("fs.readFileSync('.')", "EISDIR", -21, "read", "EISDIR: illegal operation on a directory, read"),
    ("fs.mkdirSync('d')", "EEXIST", -17, "mkdir", "EEXIST: file already exists, mkdir 'd'"),
    ("fs.rmdirSync('d')", "ENOTEMPTY", -39, "rmdir", "ENOTEMPTY: directory not empty, rmdir 'd'"),
    ("fs.readdirSync('f')", "ENOTDIR", -20, "scandir", "ENOTDIR: not a directory, scandir 'f'"),
    ("fs.renameSync('x', 'y')", "ENOENT", -2, "rename", "ENOENT: no such file or directory, rename 'x' -> 'y'"),
    ("fs.closeSync(99)", "EBADF", -9, "close", "EBADF: bad file descriptor, close"),
    ("fs.statSync('x')", "ENOENT", -2, "stat", "ENOENT: no such file or directory, stat 'x'"),
    ("fs.copyFileSync('f', 'd/g', 1)", "EEXIST", -17, "copyfile",
     "EEXIST: file already exists, copyfile 'f' -> 'd/g'"),
    ("fs.mkdirSync('f/x', {recursive: true})", "ENOTDIR", -20, "mkdir", "ENOTDIR: not a directory, mkdir 'f/x'"),
    ("fs.writeFileSync('f', '', {flag: 'wx'})", "EEXIST", -17, "open", "EEXIST: file already exists, open 'f'"),
    ("fs.readlinkSync('f')", "EINVAL", -22, "readlink", "EINVAL: invalid argument, readlink 'f'"),
    ("fs.accessSync('x')", "ENOENT", -2, "access", "ENOENT: no such file or directory, access 'x'"),
]


@pytest.mark.parametrize("call, code, errno, syscall, message", ERRORS)
def test_errors_look_like_nodes(vial, call, code, errno, syscall, message):
    setup = "fs.writeFileSync('f', ''); fs.mkdirSync('d'); fs.writeFileSync('d/g', '');"
    value = run(vial, f"{setup} try {{ {call}; 'nothing' }} catch (e) {{ "
                      "({code: e.code, errno: e.errno, syscall: e.syscall, message: e.message, name: e.name}) }")
    assert value == {"code": code, "errno": errno, "syscall": syscall, "message": message, "name": "Error"}


@pytest.mark.parametrize("call, code, part", [
    ("fs.readFileSync()", "ERR_INVALID_ARG_TYPE", '"path" argument must be of type string'),
    ("fs.readFile('x')", "ERR_INVALID_ARG_TYPE", '"cb" argument must be of type function'),
    ("fs.readFileSync('a\\0b')", "ERR_INVALID_ARG_VALUE", "without null bytes"),
    ("fs.openSync('x', 'zz')", "ERR_INVALID_ARG_VALUE", "'flags' is invalid"),
    ("fs.readFileSync('x', 'no-encoding')", "ERR_INVALID_ARG_VALUE", "encoding"),
    ("fs.writeFileSync('x', 5)", "ERR_INVALID_ARG_TYPE", '"data" argument'),
    ("fs.closeSync(-1)", "ERR_OUT_OF_RANGE", '"fd" is out of range'),
    ("fs.readSync(9, Buffer.alloc(3), 0, 10)", "ERR_OUT_OF_RANGE", '"length" is out of range'),
    ("fs.watch('.')", "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "watched"),
])
def test_nonsense_is_refused_like_in_node(vial, call, code, part):
    value = run(vial, f"try {{ {call}; 'nothing' }} catch (e) {{ [e.code, e.message] }}")
    assert value[0] == code and part in value[1]


WORKS = [
    ("fs.writeFileSync('a', '6869', 'hex'); fs.readFileSync('a', 'latin1')", "hi"),
    ("fs.writeFileSync('a', new Uint16Array([0x4241])); fs.readFileSync('a', {encoding: 'utf8'})", "AB"),
    ("fs.writeFileSync('a', 'x'); fs.appendFileSync('a', 'y'); fs.readFileSync('a').toString()", "xy"),
    ("fs.writeFileSync('a', 'x', {mode: 0o600}); fs.statSync('a').mode & 0o777", 0o600),
    ("fs.writeFileSync('a', 'abcdef'); const fd = fs.openSync('a', 'r+'); const b = Buffer.alloc(4);"
     "[fs.readSync(fd, b, 1, 2, 3), b.toString('hex'), fs.writeSync(fd, 'Z', 0), fs.closeSync(fd),"
     " fs.readFileSync('a', 'utf8')].join()", "2,00646500,1,,Zbcdef"),
    ("fs.mkdirSync('a/b/c', {recursive: true})", "a"),
    ("fs.mkdirSync('a'); fs.mkdirSync('a', {recursive: true}) === undefined", True),
    ("fs.mkdirSync('a/b', {recursive: true}); fs.writeFileSync('a/b/f', ''); fs.rmSync('a', {recursive: true});"
     "fs.existsSync('a')", False),
    ("fs.rmSync('nothing', {force: true}) === undefined", True),
    ("fs.writeFileSync('a', ''); fs.symlinkSync('a', 'l'); [fs.readlinkSync('l'), fs.lstatSync('l').isSymbolicLink(),"
     " fs.statSync('l').isFile(), fs.realpathSync('l')].join()", "a,true,true,/home/vial/a"),
    ("fs.writeFileSync('a', '1'); fs.linkSync('a', 'b'); fs.statSync('b').nlink", 2),
    ("fs.writeFileSync('a', 'abc'); fs.truncateSync('a', 1); fs.readFileSync('a', 'utf8')", "a"),
    ("fs.writeFileSync('a', ''); fs.utimesSync('a', 1, new Date(2500)); const s = fs.statSync('a');"
     "[s.atimeMs, s.mtimeMs, s.mtime.toISOString()].join()", "1000,2500,1970-01-01T00:00:02.500Z"),
    ("fs.writeFileSync('a', 'x'.repeat(10)); const s = fs.statSync('a', {bigint: true}); [typeof s.size, Number(s.size)].join()",
     "bigint,10"),
    ("fs.statSync('no', {throwIfNoEntry: false}) === undefined", True),
    ("fs.mkdirSync('d/e', {recursive: true}); fs.writeFileSync('d/f', ''); "
     "fs.readdirSync('d', {withFileTypes: true}).map((e) => e.name + e.isFile() + e.parentPath).join()",
     "efalsed,ftrued"),
    ("fs.mkdirSync('d/e', {recursive: true}); fs.writeFileSync('d/e/f', 'x'); fs.cpSync('d', 'c', {recursive: true});"
     "fs.readFileSync('c/e/f', 'utf8')", "x"),
    ("fs.mkdtempSync('t-').length", 8),
    ("fs.writeFileSync('/tmp/x', 'y'); [fs.readFileSync('/tmp/x', 'utf8'), require('os').tmpdir()].join()", "y,/tmp"),
    ("fs.writeFileSync(Buffer.from('by'), ''); fs.writeFileSync(new URL('file:///home/vial/a%20b'), '');"
     "fs.readdirSync('.').join()", "a b,by"),
    ("process.chdir('/home/vial'); fs.mkdirSync('d'); process.chdir('d'); fs.writeFileSync('x', '');"
     "[process.cwd(), fs.existsSync('/home/vial/d/x')].join()", "/home/vial/d,true"),
    ("const d = fs.opendirSync('.'); fs.writeFileSync('x', ''); [d.readSync(), d.closeSync()].join()", ","),
    ("const s = fs.statfsSync('.'); [s.bsize, s.blocks].join()", "4096,16384"),
    ("fs.writeSync(1, 'out'); fs.writeSync(2, Buffer.from('err'))", 3),
    ("const b = [Buffer.alloc(1), Buffer.alloc(2)]; fs.writeFileSync('a', 'xyz'); const fd = fs.openSync('a');"
     "fs.readvSync(fd, b) + b.join('|')", "3x|yz"),
]


@pytest.mark.parametrize("code, value", WORKS)
def test_synchronous(vial, code, value):
    assert run(vial, code) == value


ASYNCHRONOUS = """
const fsp = require('node:fs/promises');
const log = [];
const wait = () => new Promise((r) => setTimeout(r, 20));
fs.writeFile('a', 'one\\ntwo\\r\\nthree', (e) => {
    log.push(`written ${e}`);
    fs.readFile('a', 'utf8', (e, text) => log.push(text.length));
});
log.push('first');
await wait();
fs.readFile('no', (e) => log.push(e.code));
fs.stat('a', (e, s) => log.push(s.size));
fs.exists('a', (found) => log.push(found));
fs.read(fs.openSync('a'), Buffer.alloc(3), 0, 3, 0, (e, n, b) => log.push(`${n}${b}`));
fs.mkdir('d/e', {recursive: true}, (e, made) => log.push(made));
await wait();
await fsp.writeFile('p', 'x'); await fsp.appendFile('p', 'y'); log.push(await fsp.readFile('p', 'utf8'));
log.push(await fsp.readFile('no').catch((e) => e.message));
const handle = await fsp.open('a');
const lines = [];
for await (const line of handle.readLines()) lines.push(line);
log.push(lines.join('|'));
{
    const h = await fsp.open('h', 'w+');
    await h.write('hello'); await h.truncate(4);
    log.push((await h.read(Buffer.alloc(2), 0, 2, 1)).buffer.toString(), (await h.stat()).size);
    await h.close();
    log.push(await h.read().catch((e) => e.message));
}
let pieces = 0;
for await (const piece of fs.createReadStream('a', {highWaterMark: 4, encoding: 'utf8', start: 1, end: 8})) pieces += piece.length;
log.push(pieces);
const out = fs.createWriteStream('s');
out.write('12'); out.end(Buffer.from('34'));
await new Promise((r) => out.on('close', r));
log.push(fs.readFileSync('s', 'utf8') + out.bytesWritten);
await new Promise((r) => fs.createReadStream('a').pipe(fs.createWriteStream('b')).on('finish', r));
log.push(fs.readFileSync('b').equals(fs.readFileSync('a')));
fs.createReadStream('no').on('error', (e) => log.push(`stream ${e.code}`));
await wait();
for await (const entry of await fsp.opendir('d')) log.push(entry.name);
log.push((await fsp.readdir('.')).join());
__return(log);
"""


def test_asynchronous(vial):
    result = vial.result("-e", FS + ASYNCHRONOUS)
    assert result["status"] == "ok", result["error"]
    assert result["value"] == [
        "first", "written null", 14, "ENOENT", 14, True, "3one", "d", "xy",
        "ENOENT: no such file or directory, open 'no'", "one|two|three", "el", 4, "file closed", 8, "12344", True,
        "stream ENOENT", "e", "a,b,d,h,p,s"]


def test_the_control_socket_is_out_of_reach(vial):
    for fd in (3, 4, 5):
        result = vial.result("-e", FS + f"fs.writeSync({fd}, Buffer.alloc(64, 7))")
        assert result["status"] == "exception"
        assert result["error"]["message"] == "EBADF: bad file descriptor, write"
    assert run(vial, "try { fs.closeSync(3) } catch (e) { e.code }") == "EBADF"


def test_nothing_of_the_host_is_there(vial):
    for path in ("/etc/passwd", "/proc/self/environ", "/dev/null", "/usr", "/var/tmp"):
        assert run(vial, f"try {{ fs.readFileSync('{path}') }} catch (e) {{ e.code }}") == "ENOENT"
    for path in ("/x", "/home/x", "/home/vial/../x"):
        assert run(vial, f"try {{ fs.writeFileSync('{path}', '') }} catch (e) {{ e.code }}") in ("EROFS", "EACCES")


def test_without_a_private_root_there_are_files_all_the_same(vial, public_directory):
    script = 'echo 0 >/proc/sys/user/max_user_namespaces || exit 77; exec setpriv --inh-caps=-all --ambient-caps=-all "$@"'
    prefix = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--keep-caps", "sh", "-c", script, "sh"]
    if os.geteuid() == 0:
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *prefix]
    code = "const fs = require('fs'); fs.writeFileSync('a', 'x'); [fs.readdirSync('.'), fs.existsSync('/etc/passwd')]"
    done = subprocess.run([*prefix, public_directory / "vial", "run", "--json", "-e", code], capture_output=True,
                          encoding="utf-8", check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("user namespaces cannot be switched off here")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["isolation"]["level"] == "filtered"
    assert result["value"] == [["a"], False]


def test_refusals_of_node_itself(vial):
    assert vial.value("""
        const fs = require("fs"); const codes = [];
        const attempt = (f) => { try { f(); codes.push("done") } catch (error) { codes.push(error.code) } };
        fs.writeFileSync("f", "1"); fs.symlinkSync("f", "l"); fs.mkdirSync("d");
        attempt(() => fs.cpSync("f", "f")); attempt(() => fs.cpSync("f", "l")); attempt(() => fs.rmSync("d"));
        attempt(() => fs.cpSync("d", "e")); attempt(() => fs.cpSync("d", "d/in", {recursive: true}));
        codes.push(fs.readFileSync("f", "utf8")); codes""") == [
            "ERR_FS_CP_EINVAL", "ERR_FS_CP_EINVAL", "ERR_FS_EISDIR", "ERR_FS_EISDIR", "ERR_FS_CP_EINVAL", "1"]


def test_a_directory_that_the_program_locked_is_left_out(vial):
    result = vial.result("--out", "x", "-e", "require('fs').chmodSync('.', 0); 5")
    assert (result["status"], result["value"], result["files"]) == ("ok", 5, [])
    assert result["files_left_out"]["unreadable"] == 1


def test_outputs_are_kept_when_nobody_takes_our_output(vial, folder):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(vial.command("run", "--out", "x", "--out-dir", folder, "-e",
                                           "require('fs').writeFileSync('x', '1'); 5"), stdout=full, check=False,
                              stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 125
    assert (folder / "x").read_text() == "1"


def test_a_disk_that_is_full_does_not_cost_what_was_there(vial, folder):
    if not vial.is_root:
        pytest.skip("only root can mount a small file system")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "small", folder], check=True)
    try:
        (folder / "x").write_text("precious")
        done = vial("run", "--force", "--out", "x", "--out-dir", folder, "-e",
                    "require('fs').writeFileSync('x', Buffer.alloc(3 << 20)); 0")
        assert done.returncode == 125
        assert [path.name for path in folder.iterdir()] == ["x"]
        assert (folder / "x").read_text() == "precious"
    finally:
        subprocess.run(["umount", folder], check=True)
