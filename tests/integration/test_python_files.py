"""test_python_files.py - files of Python programs: the library works on the run's own files."""

import pathlib
import re
import subprocess

import pytest

from conftest import BUILD

pytestmark = pytest.mark.guest
LIBRARY = pathlib.Path("/usr/lib/x86_64-linux-gnu")


def run(vial, code, *args, **more):
    """The value of a program that must go well."""
    result = vial.result("--lang", "python", *args, "-e", code, **more)
    assert result["status"] == "ok", result["error"]
    return result.get("value")


def failure(vial, code, *args):
    result = vial.result("--lang", "python", *args, "-e", code)
    assert result["status"] == "exception", result
    return result["error"]


# ---- in and out ----

@pytest.mark.everyone
def test_a_file_goes_in_and_one_comes_out(vial, folder):
    (folder / "in.txt").write_text("grüße 😀\n")
    folder.chmod(0o777)
    done = vial("run", "--lang", "python", "--file", folder / "in.txt", "--out", "*.upper", "--out-dir", folder, "-e",
                "n = open('out.upper', 'w').write(open('in.txt').read().upper())")
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "out.upper").read_text() == "GRÜSSE 😀\n"


def test_a_module_among_the_files_is_found(vial, folder):
    (folder / "helper.py").write_text("X = 42\n")
    assert run(vial, "import helper; helper.X", "--file", folder / "helper.py") == 42
    assert run(vial, "open('later.py', 'w').write('Y = 7'); import later; later.Y") == 7


def test_where_it_is(vial):
    assert run(vial, "import os; [os.getcwd(), os.path.expanduser('~'), os.environ['HOME']]") == ["/home/vial"] * 3
    assert run(vial, "import os; os.getcwd()", "--cwd", "a/b") == "/home/vial/a/b"


def test_standard_input(vial, folder):
    (folder / "in").write_text("one\ntwo\n")
    args = ["--stdin", folder / "in"]
    assert run(vial, "import sys; sys.stdin.read()", *args) == "one\ntwo\n"
    assert run(vial, "import sys; [line for line in sys.stdin]", *args) == ["one\n", "two\n"]
    assert run(vial, "[input(), open('/dev/stdin').read()]", *args) == ["one", ""]  # the buffer has taken the rest
    assert run(vial, "import os; [os.read(0, 3).decode(), os.read(0, 99).decode(), os.read(0, 9).decode()]", *args) == [
        "one", "\ntwo\n", ""]
    assert run(vial, "import sys; sys.stdin.read()") == ""


# ---- output ----

def test_output_comes_in_the_order_it_was_printed(vial):
    code = "import os, sys\nprint('a')\nprint('b', file=sys.stderr)\nos.write(1, b'c\\n')\nprint('d', end='')\n"
    done = subprocess.run(vial.command("run", "--lang", "python", "-e", code), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", check=True, timeout=60)
    assert done.stdout == "a\nb\nc\nd"


def test_what_is_no_text_is_printed_all_the_same(vial):
    done = vial("run", "--lang", "python", "-e", "import os\nprint('\\udcff')\nn = os.write(1, b'\\xff\\n')")
    assert (done.returncode, done.stdout) == (0, "\\udcff\n\udcff\n")


def test_output_before_a_limit_is_kept(vial):
    result = vial.result("--lang", "python", "--wall-ms", "1000", "-e", "print('kept')\nwhile True: pass")
    assert (result["status"], result["stdout"]) == ("wall_limit", "kept\n")


def test_output_can_be_closed_and_redirected(vial):
    done = vial("run", "--lang", "python", "-e", "import sys\nprint('a')\nsys.stdout.close()\nsys.stderr.write('b')\n5")
    assert (done.returncode, done.stderr) == (0, "b")
    assert done.stdout.startswith("a\n")
    assert run(vial, """
import os
kept = os.dup(1)
os.dup2(os.open('log', os.O_CREAT | os.O_WRONLY), 1)
print('into the log')
os.dup2(kept, 1)
os.close(1)
try:
    print('nowhere')
except OSError as error:
    number = error.errno
[open('log').read(), number]""") == ["into the log\n", 9]


# ---- the library ----

def test_ways_to_open(vial):
    assert run(vial, """
got = []
with open('f', 'x') as f: f.write('one\\n')
with open('f', 'a') as f: f.write('two\\n')
with open('f', 'r+') as f:
    f.seek(4); f.write('2'); f.seek(0); got.append(f.read())
with open('f', 'rb', buffering=0) as f: got.append([f.read(3).decode(), f.tell(), f.seek(-2, 2)])
with open('f', 'w') as f: got.append(f.truncate(3))
got.append(open('f').read())
for mode in ('x', 'q'):
    try:
        open('f', mode)
    except Exception as error:
        got.append(type(error).__name__)
got""") == ["one\n2wo\n", ["one", 3, 6], 3, "\0\0\0", "FileExistsError", "ValueError"]


def test_paths(vial):
    assert run(vial, """
from pathlib import Path
Path('a/b').mkdir(parents=True)
Path('a/b/f.txt').write_text('x')
Path('a/link').symlink_to('b/f.txt')
[sorted(map(str, Path('.').rglob('*'))), Path('a/link').resolve().as_posix(), Path('a/link').readlink().as_posix(),
 Path('a/b/f.txt').stat().st_size, Path('none').exists(), Path('a').rename('c').is_dir(), Path('/').is_dir()]""") == [
        ["a", "a/b", "a/b/f.txt", "a/link"], "/home/vial/a/b/f.txt", "b/f.txt", 1, False, True, True]


def test_directories(vial):
    assert run(vial, """
import glob, os
os.makedirs('d/e'); open('d/f', 'w').close(); open('d/e/g', 'w').close()
with os.scandir('d') as entries:
    seen = sorted((e.name, e.is_dir(), e.inode() == e.stat().st_ino) for e in entries)
[seen, [[a, b, c] for a, b, c in os.walk('.')], [[a, b, c] for a, b, c, fd in os.fwalk('d')],
 sorted(glob.glob('**/*', recursive=True)), sorted(os.listdir('d'))]""") == [
        [["e", True, True], ["f", False, True]], [[".", ["d"], []], ["./d", ["e"], ["f"]], ["./d/e", [], ["g"]]],
        [["d", ["e"], ["f"]], ["d/e", [], ["g"]]], ["d", "d/e", "d/e/g", "d/f"], ["e", "f"]]


def test_paths_from_an_open_directory(vial):
    assert run(vial, """
import os
os.mkdir('d'); fd = os.open('d', os.O_RDONLY)
os.mkdir('x', dir_fd=fd)
os.rename('d', 'e')
os.close(os.open('f', os.O_CREAT | os.O_WRONLY, dir_fd=fd))
os.symlink('f', 's', dir_fd=fd)
os.link('f', 'h', src_dir_fd=fd, dst_dir_fd=fd)
os.rename('f', 'top', src_dir_fd=fd)
got = [sorted(os.listdir(fd)), os.stat('h', dir_fd=fd).st_nlink, os.readlink('s', dir_fd=fd), os.path.exists('top')]
os.unlink('s', dir_fd=fd); os.rmdir('x', dir_fd=fd)
os.fchdir(fd)
got + [os.getcwd(), os.listdir('.')]""") == [["h", "s", "x"], 2, "f", True, "/home/vial/e", ["h"]]


def test_temporary_files(vial):
    assert run(vial, """
import os, tempfile
with tempfile.TemporaryDirectory() as t:
    open(t + '/x', 'w').close()
    inside = t.startswith('/tmp/') and os.listdir(t) == ['x']
with tempfile.NamedTemporaryFile('w+') as f:
    f.write('abc'); f.seek(0); named = f.read()
with tempfile.TemporaryFile() as f:
    f.write(b'abc'); f.seek(1); unnamed = f.read().decode()
[tempfile.gettempdir(), inside, os.path.exists(t), named, unnamed, os.listdir('/tmp')]""") == [
        "/tmp", True, False, "abc", "bc", []]


def test_tables_and_archives(vial):
    assert run(vial, """
import csv, gzip, os, tarfile, zipfile
with open('t.csv', 'w', newline='') as f: csv.writer(f).writerows([[1, 2], [3, 'x,y']])
with zipfile.ZipFile('z.zip', 'w', zipfile.ZIP_DEFLATED) as z: z.write('t.csv'); z.writestr('q/w', 'hi')
zipfile.ZipFile('z.zip').extractall('unzipped')
with tarfile.open('a.tar.gz', 'w:gz') as t: t.add('unzipped')
tarfile.open('a.tar.gz').extractall('untarred')
with gzip.open('g.gz', 'wt') as f: f.write('packed')
[list(csv.reader(open('t.csv'))), open('unzipped/q/w').read(), sorted(os.listdir('untarred/unzipped')),
 gzip.open('g.gz', 'rt').read()]""") == [[["1", "2"], ["3", "x,y"]], "hi", ["q", "t.csv"], "packed"]


def test_copying_and_moving(vial):
    assert run(vial, """
import os, shutil
os.makedirs('d/e'); open('d/e/f', 'w').write('x' * 100000); os.chmod('d/e/f', 0o640); os.utime('d/e/f', (1, 2))
shutil.copytree('d', 'd2'); shutil.copy2('d/e/f', 'g'); shutil.move('d2', 'd3'); shutil.copyfile('g', 'h')
st = os.stat('g')
got = [os.path.getsize('d3/e/f'), st.st_mode & 0o777, st.st_mtime, os.path.exists('d2'), os.path.getsize('h')]
shutil.rmtree('d3')
got + [os.path.exists('d3'), shutil.disk_usage('.').total]""", "--disk-mb", "3") == [
        100000, 0o640, 2, False, 100000, False, 3 << 20]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_on_the_disk(vial, mode):
    assert run(vial, f"""
import os, sqlite3
one = sqlite3.connect('t.db'); two = sqlite3.connect('t.db')
got = [one.execute('pragma journal_mode={mode}').fetchone()[0]]
with one:
    one.execute('create table t(a)')
    one.executemany('insert into t values(?)', [(i,) for i in range(1000)])
got.append(two.execute('select sum(a) from t').fetchone()[0])
one.execute('delete from t')
got.append(two.execute('select count(*) from t').fetchone()[0])
one.rollback()
got.append(one.execute('select count(*) from t').fetchone()[0])
one.execute('begin immediate')
three = sqlite3.connect('t.db', timeout=0)
try:
    three.execute('begin immediate')
except sqlite3.OperationalError as error:
    got.append(str(error))
one.close(); two.close(); three.close()
got + [os.listdir('.'), sqlite3.connect('t.db').execute('pragma integrity_check').fetchone()[0]]""") == [
        mode, 499500, 1000, 1000, "database is locked", ["t.db"], "ok"]


def test_files_as_memory(vial):
    assert run(vial, """
import mmap
f = open('m', 'w+b'); f.write(b'0123456789' * 1000); f.flush()
m = mmap.mmap(f.fileno(), 0)
m[0:3] = b'abc'
f.seek(0); got = [f.read(5).decode()]
f.seek(5); f.write(b'ZZ'); f.flush(); got.append(m[:8].decode())
m.resize(20000); got.append([len(m), f.seek(0, 2)])
m[19999] = 33; m.close()
got + [open('m', 'rb').read()[-2:].decode()]""") == ["abc34", "abc34ZZ7", [20000, 20000], "\0!"]


def test_memory_without_a_file(vial):
    assert run(vial, """
import mmap
m = mmap.mmap(-1, 1 << 20)
m[5] = 1; m.write(b'abc'); before = m[:6]
m.madvise(mmap.MADV_DONTNEED, 0, 4096)
[before.hex(), m[:6].hex()]""") == ["616263000001", "000000000000"]  # it is the run's own, and goes when it is let go of


def test_memory_that_is_open_at_the_end_comes_out(vial, folder):
    done = vial("run", "--lang", "python", "--out", "m", "--out-dir", folder, "-e",
                "import mmap\nf = open('m', 'w+b'); f.truncate(4)\nm = mmap.mmap(f.fileno(), 0); m[:] = b'mine'")
    assert done.returncode == 0, done.stderr
    assert (folder / "m").read_bytes() == b"mine"


def test_descriptors(vial):
    assert run(vial, """
import fcntl, os
a = os.open('f', os.O_CREAT | os.O_RDWR); b = os.dup(a)
os.write(a, b'abcdef'); os.lseek(b, 1, 0)
out = os.open('g', os.O_CREAT | os.O_RDWR)
fcntl.flock(a, fcntl.LOCK_EX); fcntl.lockf(a, fcntl.LOCK_EX)
[a, os.read(a, 2).decode(), os.sendfile(out, a, 0, 99), os.copy_file_range(a, out, 2, 0), os.get_inheritable(a),
 os.pread(out, 9, 0).decode(), os.isatty(1), os.path.samestat(os.fstat(a), os.stat('f')), os.fstat(1).st_mode >> 12]""") == [
        4, "bc", 6, 2, False, "abcdefab", False, True, 1]


# ---- what there is not ----

@pytest.mark.parametrize("code,name,number", [
    ("open('/etc/passwd')", "FileNotFoundError", 2),
    ("open('/proc/self/maps')", "FileNotFoundError", 2),
    ("open('/home/x', 'w')", "OSError", 30),
    ("import os; os.mkdir('/x')", "OSError", 30),
    ("import os; os.write(3, b'x')", "OSError", 9),
    ("import os; os.close(3)", "OSError", 9),
    ("import os; os.dup2(1, 3)", "OSError", 9),
    ("import os; os.mkfifo('p')", "PermissionError", 1),
    ("import os; os.chown('.', 0, 0)", "PermissionError", 1),
    ("import os; os.pipe()", "PermissionError", 1),
    ("import os; os.getxattr('.', 'user.a')", "OSError", 95),
    ("open('d' * 300, 'w')", "OSError", 36),
    ("open('.', 'w')", "IsADirectoryError", 21),
])
def test_what_cannot_be_had(vial, code, name, number):
    error = failure(vial, code)
    assert error["name"] == name
    assert f"[Errno {number}]" in error["message"]


def test_limits(vial):
    error = failure(vial, "for i in range(9): open(f'f{i}', 'wb').write(b'x' * 500000)", "--disk-mb", "1")
    assert "[Errno 28]" in error["message"] and "--disk-mb" in error["hint"]
    error = failure(vial, "for i in range(99): open(f'f{i}', 'w').close()", "--file-count", "20")
    assert "[Errno 28]" in error["message"] and "--file-count" in error["hint"]
    error = failure(vial, "kept = [open(f'f{i}', 'w') for i in range(2000)]", "--file-count", "5000")
    assert "[Errno 24]" in error["message"]
    error = failure(vial, "import sqlite3; db = sqlite3.connect('t'); db.execute('create table t(a)')\n"
                          "for i in range(99): db.execute('insert into t values(?)', ['x' * 100000]); db.commit()",
                    "--disk-mb", "1")
    assert "full" in error["message"] or "disk I/O" in error["message"]


def test_without_files(vial):
    error = failure(vial, "print('printed'); open('f', 'w')", "--no-files")
    assert "[Errno 1]" in error["message"] and "--files" in error["hint"]
    assert run(vial, "import os, sys; print('x'); [open(os.devnull, 'w').write('x'), sys.stdin.read()]", "--no-files") == [
        1, ""]


def test_nothing_tells_about_the_host(vial):
    assert run(vial, """
import getpass, os, platform, pwd
[list(os.uname())[:3], platform.node(), getpass.getuser(), os.getlogin(), os.getuid(),
 list(pwd.getpwuid(os.getuid()))[5:], [p.pw_name for p in pwd.getpwall()], os.cpu_count(), list(os.sched_getaffinity(0)),
 list(os.getloadavg()), os.getpid()]""") == [
        ["Linux", "vial", "6.1.0"], "vial", "vial", "vial", 1000, ["/home/vial", "/bin/sh"], ["vial"], 1, [0],
        [0, 0, 0], 1]


def test_a_session_and_its_branches_keep_their_files(vial):
    done = vial("repl", "--lang", "python", stdin="f = open('f', 'w+')\nf.write('a')\n.branch b\n.use b\nf.write('b')\n"
                "f.seek(0)\nf.read()\n.use main\nf.seek(0)\nf.read()\n")
    assert (done.stdout, done.stderr) == ("1\n1\n0\n'ab'\n0\n'a'\n", "")


# ---- the way there ----

# Functions of libc that take paths or descriptors of files, as libraries may be linked to them.
FILE_FUNCTIONS = re.compile(r"""_*(
    f?l?(stat|chmod|chown|getxattr|setxattr|listxattr|removexattr|truncate|sync|datasync)(at|fs|vfs|v)?(64)?|
    (l|f)?xstat(at)?(64)?|statx|open(at)?(64)?(_2)?|creat(64)?|close|close_range|closefrom|
    p?(read|write)v?(64)?(v2)?(_chk)?|lseek(64)?|dup[23]?|fcntl(64)?|ioctl|flock|lockf(64)?|posix_f(allocate|advise)(64)?|
    fallocate(64)?|sendfile(64)?|copy_file_range|splice|isatty|ttyname(_r)?|mmap(64)?|munmap|mremap|msync|
    f?access(at)?|f?chdir|getcwd(_chk)?|get_current_dir_name|realpath(_chk)?|canonicalize_file_name|
    (mk|rm)dir(at)?|mkfifo(at)?|mknod(at)?|unlink(at)?|remove|rename(at2?)?|sym?link(at)?|link(at)?|readlink(at)?(_chk)?|
    utimes?|utimensat|f?utimens|umask|f?opendir|fdopendir|readdir(64)?(_r)?|closedir|rewinddir|seekdir|telldir|dirfd|
    scandir(64)?|fopen(64)?|fdopen|freopen(64)?|tmpfile(64)?|mkdtemp|mko?stemps?(64)?|f?pathconf|
    uname|gethostname|getlogin(_r)?|getpw(uid|nam|ent)(_r)?|getgr(gid|nam|ent)(_r)?|getloadavg|sched_getaffinity|sysconf|
    get(res|e)?[ug]id|getppid|getgroups|getgrouplist
)""", re.X)
LIBRARIES = [LIBRARY / "libpython3.11.so.1.0", LIBRARY / "libsqlite3.so.0",
             *pathlib.Path("/usr/lib/python3.11/lib-dynload").glob("*.so")]


def symbols(path, *args):
    done = subprocess.run(["nm", "-D", *args, path], capture_output=True, encoding="utf-8", check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def test_every_function_that_the_libraries_call_is_the_programs_own():
    own = symbols(BUILD / "vial-cell-python", "--defined-only")
    wanted = set().union(*(symbols(path, "--undefined-only") for path in LIBRARIES if path.exists()))
    assert {"open64", "read", "fopen64", "stat64"} <= wanted
    assert {name for name in wanted if FILE_FUNCTIONS.fullmatch(name)} - own == set()
