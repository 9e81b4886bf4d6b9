"""The process around: Ctrl-C, forks, the end of the interpreter, the library that is missing. Nothing is left behind."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import BUILD, PACKAGE, TELL_CHILDREN, environment, last_json, run_script, wait_until_gone


@pytest.fixture(autouse=True)
def none_left():
    """What a test that failed has started does not go on."""
    yield
    for process in STARTED:
        process.kill()
        process.wait()
    STARTED.clear()


STARTED = []


def start_script(source):
    process = subprocess.Popen(["/usr/bin/python3", "-u", "-c", TELL_CHILDREN + source], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment())
    STARTED.append(process)
    return process


def read_json_line(process):
    import json
    return json.loads(process.stdout.readline())


# ---- Ctrl-C ----

WAYS = {
    "run": "vial.run('for (;;);', **LONG)",
    "session": "vial.Session().eval('for (;;);', **LONG)",
    "waiting": "vial.run('await new Promise(r => setTimeout(r, 60000))', **LONG)",
    "tool": "vial.run('await f()', **LONG, tools=[vial.tool(lambda: time.sleep(60), name='f')])",
    "inline": "vial.run('await f()', **LONG, tools=[vial.tool(lambda: time.sleep(60), name='f', inline=True)])",
    "arun": "asyncio.run(vial.arun('for (;;);', **LONG))",
    "runtime": "Runtime().eval('for (;;);')",
    "call": "Runtime().eval('() => { for (;;); }')()",
    "aeval": "asyncio.run(vial.Session().aeval('for (;;);', **LONG))",
    "eval_async": "asyncio.run(Runtime().eval_async('for (;;);', timeout=60))",
    "many": "asyncio.run(gather())",
    "events": "asyncio.run(follow())",
    "iterating": "list(vial.start('for (;;);', **LONG))",
    "pool": "in_pool()",
    "joining": "in_thread()",
}


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_cancels(way):
    process = start_script(f"""
import asyncio, json, sys, threading, time, vial
LONG = dict(limits=dict(wall_ms_max=60000, cpu_ms_max=60000))
from concurrent.futures import ThreadPoolExecutor
from vial.jsrun import Runtime

async def gather():
    await asyncio.gather(*(vial.arun('for (;;);', **LONG) for _ in range(3)))

async def follow():
    async for event in vial.start('for (;;);', **LONG).events():
        pass

def in_pool():
    with ThreadPoolExecutor(2) as pool:  # which waits for its threads, whatever happens
        one = pool.submit(vial.run, 'for (;;);', **LONG)
        pool.submit(Runtime().eval, 'for (;;);')
        one.result()

def in_thread():
    thread = threading.Thread(target=vial.run, args=('for (;;);',), kwargs=LONG)
    thread.start()
    try:
        thread.join()
    finally:
        thread.join()

vial.run("1"); Runtime().eval("1")
print(json.dumps(descendants()))
try:
    {WAYS[way]}
except KeyboardInterrupt:
    print("interrupted")
print(vial.run("1+1").value)
""")
    pids = read_json_line(process)
    time.sleep(0.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert out.split() == ["interrupted", "2"], err
    assert time.monotonic() - began < 10
    assert process.returncode == 0 and not wait_until_gone(pids)


def test_imported_in_another_thread():
    process = start_script("""
import threading
thread = threading.Thread(target=lambda: __import__("vial").run("1"))
thread.start()
thread.join()
import vial
print("[]")
try:
    vial.run("for (;;);", limits=dict(wall_ms_max=60000, cpu_ms_max=60000))
except KeyboardInterrupt:
    print("interrupted", vial.run("2").value)
""")
    read_json_line(process)
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert out.split() == ["interrupted", "2"], err


def test_a_server_with_a_handler_of_its_own_lets_threads_end():
    process = start_script("""
import signal, threading, time, vial
stop = threading.Event()
signal.signal(signal.SIGINT, lambda *unused: stop.set())
vial.run("1")
thread = threading.Thread(target=lambda: print(vial.run("for (const e = Date.now() + 1500; Date.now() < e;); 5").value))
thread.start()
print("[]")
stop.wait()
print("stopping")
thread.join()
""")
    read_json_line(process)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert out.split() == ["stopping", "5"], err


def test_a_handler_of_ones_own_is_called_and_stays():
    process = start_script("""
import signal, vial
seen = []
signal.signal(signal.SIGINT, lambda *unused: seen.append(1))
vial.run("1")
print("[]")
print(vial.run("for (;;);", timeout=60).status, seen)
print(signal.getsignal(signal.SIGINT) is not signal.default_int_handler)
""")
    read_json_line(process)
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert out.split("\n")[:2] == ["cancelled [1]", "True"], err


# ---- forks ----

def test_fork_makes_a_new_engine():
    done = run_script("""
import json, os, vial
from vial.jsrun import Runtime
environment = vial.Environment(prefix="const x = 5")
session = vial.Session()
runtime = Runtime()
assert vial.run("1").value == 1 and environment.run("x").value == 5
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    said = []
    said.append(vial.run("2").value)
    said.append(environment.run("x").value)
    for use in (lambda: session.eval("1"), lambda: runtime.eval("1")):
        try:
            use()
            said.append("used")
        except RuntimeError as error:
            said.append("fork" in str(error))
    with Runtime() as other:
        said.append(other.eval("3"))
    pids = descendants()
    os.write(writer, json.dumps([said, pids]).encode())
    import sys
    sys.exit(0)
os.waitpid(child, 0)
from_child = json.loads(os.read(reader, 100000))
assert vial.run("4").value == 4 and session.eval("4").value == 4 and runtime.eval("4") == 4
print(json.dumps([from_child, descendants()]))
""")
    assert done.returncode == 0, done.stderr
    (said, child_pids), pids = last_json(done)
    assert said == [2, 5, True, True, 3]
    assert not wait_until_gone(child_pids + pids)


def test_fork_while_other_threads_run():
    done = run_script("""
import os, threading, time, vial
vial.run("1")
stop = threading.Event()
def work():
    while not stop.is_set():
        vial.run("1")
threads = [threading.Thread(target=work) for _ in range(3)]
for one in threads: one.start()
codes = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if vial.run("2").value == 2 else 1)
    codes.append(os.waitpid(child, 0)[1])
stop.set()
for one in threads: one.join()
print(codes)
""", timeout=90)
    assert done.returncode == 0 and last_json(done) == [0] * 5, done.stderr


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method, tmp_path):
    script = tmp_path / "many.py"
    script.write_text(TELL_CHILDREN + f"""
import json, multiprocessing, sys, vial

def work(n):
    value = vial.run("input * 2", input=n).value
    return value, descendants()

if __name__ == "__main__":
    vial.run("1")
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        found = pool.map(work, range(6))
        pool.close()
        pool.join()
    print(json.dumps([[value for value, _ in found], [pid for _, pids in found for pid in pids], descendants()]))
""")
    done = subprocess.run(["/usr/bin/python3", str(script)], capture_output=True, text=True, timeout=90,
                          env=environment())
    assert done.returncode == 0, done.stderr
    values, child_pids, pids = last_json(done)
    assert values == [0, 2, 4, 6, 8, 10]
    assert not wait_until_gone(child_pids + pids)


# ---- the end ----

ENDS = {
    "sessions": "keep = [vial.Session() for _ in range(3)]; [one.eval('let x = 1') for one in keep]",
    "cycle": "a = [vial.Session()]; a.append(a); a[0].eval('1')",
    "runtime": "from vial.jsrun import Runtime; keep = Runtime(); f = keep.eval('() => 1'); f()",
    "stream": "from vial.jsrun import Runtime; keep = Runtime(); s = keep.eval('new ReadableStream({})')",
    "environment": "keep = vial.Environment(prefix='const x = 1'); keep.run('x')",
    "daemon": "import threading; threading.Thread(target=vial.run, args=('for (;;);',), daemon=True).start(); "
              "import time; time.sleep(0.3)",
    "started": "keep = vial.start('for (;;);', timeout=60)",
    "hanging tool": "import threading, time; vial.run('await f()', timeout=0.2, "
                    "tools=[vial.tool(lambda: time.sleep(3), name='f')])",
    "async tool": "import asyncio\nasync def f(): await asyncio.sleep(60)\nvial.run('await f()', timeout=0.2, tools=[f])",
    "exception": "keep = vial.Session(); raise ValueError('x')",
    "exit": "keep = vial.Session(); sys.exit(0)",
    "default runtime": "from vial import jsrun; jsrun.eval('1')",
}


@pytest.mark.parametrize("way", ENDS)
def test_the_interpreter_ends_with_things_alive(way):
    done = run_script(f"""
import json, os, sys, vial
import atexit
vial.run("1")
atexit.register(lambda: print(json.dumps(descendants()), flush=True))
{ENDS[way]}
""")
    assert done.returncode == (1 if way == "exception" else 0), (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr or way == "exception"
    pids = last_json(done)
    assert pids and not wait_until_gone(pids)


def test_killed_at_once():
    process = start_script("""
import json, time, vial
keep = vial.Session()
vial.run("1")
print(json.dumps(descendants()), flush=True)
time.sleep(60)
""")
    pids = read_json_line(process)
    process.kill()
    process.wait()
    assert pids and not wait_until_gone(pids)


def test_a_forked_child_does_not_keep_cells_alive():
    process = start_script("""
import json, os, time, vial
vial.run("1")
child = os.fork()
if child == 0:
    time.sleep(20)
    os._exit(0)
print(json.dumps([child, [pid for pid in descendants() if pid != child]]), flush=True)
time.sleep(60)
""")
    child, pids = read_json_line(process)
    process.kill()
    process.wait()
    left = wait_until_gone(pids)
    os.kill(child, signal.SIGKILL)
    assert pids and not left


# ---- the library ----

def copy_package(tmp_path, with_library):
    target = tmp_path / "a" / "b"
    shutil.copytree(PACKAGE / "vial", target / "vial")
    if with_library:
        return target
    return target


def test_a_missing_library(tmp_path):
    target = copy_package(tmp_path, False)  # the module looks for it two folders up, where it is not
    done = subprocess.run(["/usr/bin/python3", "-c", "import vial"], capture_output=True, text=True,
                          env={**environment(), "PYTHONPATH": str(target)})
    assert done.returncode == 1
    assert "ImportError: vial cannot load its library" in done.stderr and "libvial.so.0" in done.stderr


def test_a_library_of_another_version(tmp_path):
    target = copy_package(tmp_path, True)
    source = tmp_path / "other.c"
    names = [line.split()[-1] for line in subprocess.run(
        ["nm", "-D", "--defined-only", str(BUILD / "libvial.so.0")], capture_output=True, text=True).stdout.splitlines()]
    functions = "".join(f"void {name}(void) {{}}\n" for name in names if name.startswith("vial_")
                        and name != "vial_version" and "@" not in name)
    source.write_text('const char *vial_version(void) { return "9.9.9"; }\n' + functions)
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-Wl,-soname,libvial.so.0", "-o", str(tmp_path / "libvial.so.0"), str(source)],
                   check=True)
    done = subprocess.run(["/usr/bin/python3", "-c", "import vial"], capture_output=True, text=True,
                          env={**environment(), "PYTHONPATH": str(target), "LD_LIBRARY_PATH": str(tmp_path)})
    assert done.returncode == 1 and "libvial is of version 9.9.9" in done.stderr


def other_pythons():
    found = []
    for version in ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14"):
        places = [shutil.which(f"python{version}")] + sorted(
            str(path) for path in pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
        found += [place for place in places if place and os.access(place, os.X_OK) and "shims" not in place][-1:]
    return [place for place in found if os.path.realpath(place) != os.path.realpath("/usr/bin/python3")]


def test_other_versions_of_python():
    pythons = other_pythons()
    if not pythons:
        pytest.skip("there is no other Python here")
    for python in pythons:
        done = run_script("""
import asyncio, vial
from vial.jsrun import Runtime
assert vial.run("await add(1, 2)", tools=[vial.tool(lambda a, b: a + b, name="add")]).value == 3
assert asyncio.run(vial.arun("2n ** 70n")).value == 2 ** 70
with Runtime() as runtime:
    runtime.bind_function("f", lambda x: x * 2)
    assert runtime.eval("f(21)") == 42
from vial.sandbox import CodeSandbox, SandboxConfig
assert CodeSandbox(SandboxConfig()).execute("print(1)").stdout == "1\\n"
import vial._remote
from vial.adapters import e2b, langgraph, openai_agents, pydantic_ai, smolagents
assert e2b.Sandbox().run_code("1 + 1").text == "2"
assert smolagents.VialPythonExecutor()("6 * 7").output == 42
""", python=python)
        assert done.returncode == 0, (python, done.stderr)


def test_the_stub_names_what_there_is():
    import ast
    from vial import _vial
    tree = ast.parse((PACKAGE / "vial" / "_vial.pyi").read_text())
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            assert hasattr(_vial, node.name), node.name
            for member in getattr(node, "body", []):
                if isinstance(node, ast.ClassDef) and isinstance(member, ast.FunctionDef):
                    assert hasattr(getattr(_vial, node.name), member.name), (node.name, member.name)
    named = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert named == {name for name in dir(_vial) if not name.startswith("_")}
    assert (PACKAGE / "vial" / "py.typed").exists()


def test_nothing_grows():
    done = run_script("""
import gc, json, os, vial
from vial.jsrun import Runtime

def memory():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

tools = [vial.tool(lambda a, b: {"s": {a, b}}, name="f"), vial.tool(lambda x: 1 / 0, name="g", inline=True)]
session, runtime = vial.Session(), Runtime()
runtime.bind_function("h", lambda x: x)

def once(n):
    vial.run("try { await g(1) } catch {} ; await f(1, 2n ** 70n)", tools=tools, input=[1, 2.5, b"y", {1: 2}]).value_or_raise()
    function = session.eval("(a, b) => [a, new Map([[b, 1]])]").value
    function([n], 2 ** 70)
    function.release()
    runtime.eval("h({ a: [1, 2, 3] })")
    runtime.eval("x => x")(5)
    try:
        vial.run("1", input=object())
    except TypeError:
        pass

for n in range(100): once(n)
before, objects = memory(), len(gc.get_objects())
for n in range(400): once(n)
print(json.dumps([memory() - before, len(gc.get_objects()) - objects, len(os.listdir("/proc/self/fd"))]))
""", timeout=120)
    assert done.returncode == 0, done.stderr
    grown, objects, descriptors = last_json(done)
    assert grown < 3_000_000 and objects < 300 and descriptors < 400
