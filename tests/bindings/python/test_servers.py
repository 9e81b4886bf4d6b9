"""Servers that fork: gunicorn and celery for real, with code that used vial before the fork. Nothing is left behind."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import TELL_CHILDREN, environment, wait_until_gone

PYTHON = "/usr/bin/python3"
SECONDS_MAX = 60  # until a server is there; on a machine with nothing else to do it is one

# What both do before the fork and after it.
WORK = TELL_CHILDREN + """
import os
import vial
from vial.jsrun import Runtime

before = vial.run("1 + 1").value
shared = vial.Environment(prefix="const base = 40;")
assert shared.run("base").value == 40
with Runtime() as runtime:
    runtime.eval("1")


def square(x: int) -> int:
    return x * x


def work(n):
    with Runtime() as runtime:
        runtime.bind_function("twice", lambda x: 2 * x)
        values = [before, vial.run("input + 1", input=n).value, shared.run("base + 2").value, runtime.eval(f"twice({n})"),
                  vial.run(f"await square({n})", tools=[square]).value, vial.run("for (;;);", timeout=0.05).status]
    return {"pid": os.getpid(), "values": values, "processes": descendants()}
"""


def expected(n):
    return [2, n + 1, 42, 2 * n, n * n, "wall_limit"]


def have(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode == 0


def descendants(pid):
    source = TELL_CHILDREN.replace("os.getpid()", str(pid)) + "\nimport json; print(json.dumps(descendants()))"
    return json.loads(subprocess.run([PYTHON, "-c", source], capture_output=True, text=True, check=True).stdout)


def end(process, log):
    """Asks a server to end as its service manager would, and says which of its processes are left."""
    pids = descendants(process.pid)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, pathlib.Path(log).read_text()
    return wait_until_gone(pids)


def start(command, directory, **more):
    with open(directory / "log", "wb") as log:
        return subprocess.Popen([PYTHON, "-m", *command], cwd=directory, stdout=log, stderr=log, start_new_session=True,
                                env={**environment(), **more})


# ---- gunicorn ----

def get(port, n):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/?{n}", timeout=20) as answer:
        return json.loads(answer.read())


def test_gunicorn(tmp_path):
    if not have("gunicorn"):
        pytest.skip("gunicorn is not installed (Debian: gunicorn)")
    (tmp_path / "served.py").write_text(WORK + """
import json

def application(request, start_response):
    body = json.dumps(work(int(request["QUERY_STRING"]))).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
""")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = start(["gunicorn", "--preload", "--workers", "2", "--bind", f"127.0.0.1:{port}", "served:application"], tmp_path)
    try:
        until = time.monotonic() + SECONDS_MAX
        seen, processes = set(), set()
        while len(seen) < 2:  # until both workers have answered
            assert time.monotonic() < until and process.poll() is None, (tmp_path / "log").read_text()
            try:
                with ThreadPoolExecutor(4) as threads:
                    answers = list(threads.map(lambda n: get(port, n), range(4)))
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)  # it has not begun to listen
                continue
            assert [one["values"] for one in answers] == [expected(n) for n in range(4)]
            seen |= {one["pid"] for one in answers}
            processes |= {pid for one in answers for pid in one["processes"]}
        assert process.pid not in seen and processes
        # A worker that is killed is replaced, and what it had goes with it.
        victim = next(iter(seen))
        orphans = descendants(victim)
        os.kill(victim, signal.SIGKILL)
        assert orphans and not wait_until_gone(orphans)
        assert get(port, 7)["values"] == expected(7)
    finally:
        left = end(process, tmp_path / "log")
    assert not left and not wait_until_gone(processes)


# ---- celery ----

def test_celery(tmp_path):
    if not have("celery"):
        pytest.skip("celery is not installed (Debian: python3-celery)")
    for name in ("queue", "results"):
        (tmp_path / name).mkdir()
    # Messages and results are files: there is no broker to be set up.
    (tmp_path / "jobs.py").write_text(WORK + f"""
from celery import Celery

app = Celery("jobs", broker="filesystem://", backend="file://{tmp_path}/results")
app.conf.broker_transport_options = {{"data_folder_in": "{tmp_path}/queue", "data_folder_out": "{tmp_path}/queue",
                                      "polling_interval": 0.05}}
app.conf.worker_prefetch_multiplier = 1

@app.task
def job(n):
    return work(n)
""")
    (tmp_path / "ask.py").write_text("""
import json
import jobs
asked = [jobs.job.delay(n) for n in range(6)]
print(json.dumps([one.get(timeout=60, interval=0.05) for one in asked]))
""")
    process = start(["celery", "-A", "jobs", "worker", "--pool", "prefork", "--concurrency", "2", "--without-gossip",
                     "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"], tmp_path, C_FORCE_ROOT="1")
    try:
        done = subprocess.run([PYTHON, "ask.py"], cwd=tmp_path, capture_output=True, text=True, timeout=90, env=environment())
        assert done.returncode == 0, done.stderr + (tmp_path / "log").read_text()
        answers = json.loads(done.stdout)
        assert [one["values"] for one in answers] == [expected(n) for n in range(6)]
        assert process.pid not in {one["pid"] for one in answers}
    finally:
        left = end(process, tmp_path / "log")
    assert not left and not wait_until_gone({pid for one in answers for pid in one["processes"]})
