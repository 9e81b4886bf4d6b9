"""test_serve_kept.py - what runs left, when they are not in memory any more: files and artifacts on the disk, bounded, after restarts."""

import signal

from conftest import wait_until
from server import Server, serving

PROGRAM = """require('fs').mkdirSync('out'); require('fs').writeFileSync('out/a b.bin', Buffer.from([0, 255, 10]));
require('fs').writeFileSync('c.txt', 'x'.repeat(input ?? 1)); display.html('<i>é</i>', {name: 'n'}); display({'text/plain': 'p', 'image/png': new Uint8Array([1, 2])}); 1"""


def leave(s, size=1):
    """A run with two files and two artifacts, which is stored when this returns."""
    run = s.run(PROGRAM, outs=["**"], input=size)
    assert run["status"] == "ok" and len(run["files"]) == 2, run
    return run["id"]


def look(s, run, path, **headers):
    answer = s.ask("GET", f"/v1/runs/{run}/{path}", **headers)
    return (answer.status, answer.headers["content-type"], answer.body) if answer.status == 200 else (answer.status, answer.json["code"])


ALL = {"files/out/a%20b.bin": (200, "application/octet-stream", b"\x00\xff\n"), "files/c.txt": (200, "application/octet-stream", b"x"),
       "artifacts/0/0": (200, "text/html", "<i>é</i>".encode()), "artifacts/1/0": (200, "text/plain", b"p"), "artifacts/1/1": (200, "image/png", b"\x01\x02")}


def outputs_of(s):
    return sorted(p.name for p in (s.data / "outputs").iterdir())


def test_files_stay_after_the_run_left_memory(vial, folder):
    with serving(vial, folder, "--kept-runs-max", "16") as s:
        run = leave(s)
        for i in range(20):
            s.run(str(i))
        assert wait_until(lambda: outputs_of(s) == [run])
        assert {path: look(s, run, path) for path in ALL} == ALL
        answer = s.ask("GET", f"/v1/runs/{run}/artifacts/0/0")
        assert "sandbox" in answer.headers["content-security-policy"] and answer.headers["content-disposition"] == "attachment"
        assert look(s, run, "files/none") == (404, "not_found") and look(s, run, "artifacts/7/0") == (404, "not_found")
        assert look(s, run, "files/..%2f..%2fkeys.db")[0] in (400, 404)
        assert look(s, "run_" + "0" * 26, "files/c.txt") == (404, "not_found")


def test_files_survive_a_kill_and_a_restart(vial, folder):
    s = Server(vial, folder)
    run = leave(s)
    assert wait_until(lambda: outputs_of(s) == [run] and run in {r["id"] for r in s.ask("GET", "/v1/runs").json["items"]})
    s.stop(signal.SIGTERM)
    s = Server(vial, folder)
    assert {path: look(s, run, path) for path in ALL} == ALL
    (s.data / "outputs" / (run + ".new")).write_bytes(b"half")
    s.stop(signal.SIGKILL)
    with serving(vial, folder) as s:
        assert outputs_of(s) == [run] and look(s, run, "files/c.txt") == ALL["files/c.txt"]
        with open(s.data / "outputs" / run, "r+b") as f:
            f.truncate(60)
        assert look(s, run, "files/c.txt") == (503, "store") # never a part of it


def test_the_disk_that_files_take_is_bounded(vial, folder):
    with serving(vial, folder, "--outputs-run-max", "20K", "--outputs-max", "50K", "--kept-runs-max", "16") as s:
        runs = [leave(s, 15000) for _ in range(5)]
        large = leave(s, 30000)
        for i in range(20):
            s.run(str(i))
        assert wait_until(lambda: outputs_of(s) == sorted(runs[-3:])), outputs_of(s)
        assert sum(p.stat().st_size for p in (s.data / "outputs").iterdir()) <= 50 * 1024
        assert [look(s, r, "files/c.txt")[0] for r in runs] == [410, 410, 200, 200, 200]
        assert look(s, large, "files/c.txt") == (410, "ended")
        assert any("more than is kept" in line["msg"] and line["run_id"] == large for line in s.log())


def test_files_are_for_those_who_may_see_the_run(vial, folder):
    keys = [vial("key", "create", "--scope", scope, "--name", f"k{i}", "--data-dir", folder / "data") for i, scope in enumerate(("run", "run", "admin"))]
    owner, other, admin = [{"Authorization": "Bearer " + next(w for w in k.stdout.split() if w.startswith("vial_"))} for k in keys]
    with serving(vial, folder, insecure=False) as s:
        answer = s.ask("POST", "/v1/runs", {"code": PROGRAM, "outs": ["**"]}, **owner)
        run = answer.json["id"]
    with serving(vial, folder, insecure=False) as s:
        assert look(s, run, "files/c.txt", **owner) == look(s, run, "files/c.txt", **admin) == ALL["files/c.txt"]
        assert look(s, run, "files/c.txt", **other) == (404, "not_found")
        assert look(s, run, "artifacts/0/0", **other) == (404, "not_found")
