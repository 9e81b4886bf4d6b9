"""test_serve_ops.py - running `vial serve`: settings, stopping, reading settings anew, TLS, the service manager, overload,
callbacks, crashes, a database that is held."""

import contextlib
import hashlib
import hmac
import http.client
import http.server
import json
import os
import signal
import socket
import sqlite3
import ssl
import subprocess
import threading
import time

import pytest

from conftest import BUILD, Vial, wait_until
from server import Server, next_event, serving

SLEEP = "await new Promise(r => setTimeout(r, {})); 'slept'"


def write(path, text):
    path.write_text(text)
    return path


def test_settings_come_from_flag_environment_file_default(vial, folder):
    conf = write(folder / "vial.conf", "[serve]\nqueue_max = 7\nworkers = 3\npool = 2 ; a remark\n")
    (folder / "vial.conf.d").mkdir()
    write(folder / "vial.conf.d" / "10-a.conf", "[serve]\npool = 4\nbody_max = 2M\n")
    done = vial("serve", "--config", conf, "--print-config", "--workers", "5", env={**os.environ, "VIAL_SERVE_QUEUE_MAX": "9"})
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(" = ", 1) for line in done.stdout.splitlines() if " = " in line)
    assert lines["workers"] == "5  ; flag"
    assert lines["queue_max"] == "9  ; VIAL_SERVE_QUEUE_MAX"
    assert lines["pool"] == f"4  ; {folder}/vial.conf.d/10-a.conf"
    assert lines["body_max"].startswith("2097152  ; ")
    assert lines["idle_s"] == "60  ; default"
    again = write(folder / "again.conf", done.stdout)
    assert vial("serve", "--config", again, "--check-config").returncode == 0


@pytest.mark.parametrize("text, part", [
    ("[serve]\nqueu_max = 7\n", 'there is no setting "queu_max"; did you mean queue_max?'), ("[server]\nx = 1\n", "no section [server]"),
    ("[serve]\nworkers = 0\n", "from 1 to 1024"), ("[serve]\nworkers = many\n", "workers takes a number"), ("[serve]\nplayground = maybe\n", "yes or no"),
    ("[serve]\nnonsense\n", "line 2"), ("[serve]\ntls_key = /x\n", "belong together"), ("workers = 1\n", "no section []"),
    ("[serve]\nlog_level = loud\n", "error, warn, info or debug")])
def test_bad_settings(vial, folder, text, part):
    done = vial("serve", "--config", write(folder / "c.conf", text), "--check-config")
    assert done.returncode == 3 and part in done.stderr, done.stderr


def test_bad_flags(vial, folder):
    assert vial("serve", "--config", folder / "none.conf", "--check-config").returncode == 3
    done = vial("serve", "--wrokers", "1")
    assert done.returncode == 2 and "--workers" in done.stderr
    assert vial("serve", "word").returncode == 2
    assert vial("serve", "--listen", "nowhere", "--data-dir", folder / "d").returncode == 3


def test_a_port_that_is_taken(vial, folder):
    with serving(vial, folder) as s:
        done = vial("serve", "--listen", f"127.0.0.1:{s.port}", "--data-dir", folder / "other")
        assert done.returncode == 69 and "listening at" in done.stderr


def test_stopping_waits_for_what_runs(vial, folder):
    s = Server(vial, folder, "--grace-s", "10")
    got = []
    t = threading.Thread(target=lambda: got.append(s.run(SLEEP.format(800))))
    t.start()
    time.sleep(0.3)
    s.process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    with pytest.raises(OSError):
        s.ask("GET", "/healthz")
    assert s.process.wait(20) == 0
    t.join()
    assert got[0]["value"] == "slept"


def test_new_runs_are_refused_while_it_stops(vial, folder):
    s = Server(vial, folder, "--grace-s", "10")
    c = s.connect()
    assert s.ask("GET", "/healthz", connection=c).status == 200
    t = threading.Thread(target=s.run, args=(SLEEP.format(1000),))
    t.start()
    time.sleep(0.2)
    s.process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    answer = s.ask("POST", "/v1/runs", {"code": "1"}, connection=c)
    assert answer.status == 503 and answer.json["code"] == "stopping" and answer.json["retryable"] is True and "retry-after" in answer.headers
    assert s.ask("GET", "/readyz", connection=c).status == 503
    assert s.ask("GET", "/healthz", connection=c).status == 200
    t.join()
    assert s.process.wait(20) == 0


def test_after_the_grace_time_runs_are_cancelled(vial, folder):
    s = Server(vial, folder, "--grace-s", "1", "--workers", "1")
    got = []

    def ask(code):
        got.append(s.ask("POST", "/v1/runs", {"code": code, "limits": {"wall_ms_max": 60000}}).json)

    threads = [threading.Thread(target=ask, args=(SLEEP.format(50000),)) for _ in range(3)] # one runs, two wait
    for t in threads:
        t.start()
        time.sleep(0.2)
    begin = time.monotonic()
    assert s.stop(signal.SIGINT) == 0
    assert time.monotonic() - begin < 6
    for t in threads:
        t.join()
    assert [g["status"] for g in got] == ["cancelled"] * 3
    assert {g["cancel_reason"] for g in got} == {"server_stopping"}


def test_a_second_signal_does_not_wait(vial, folder):
    s = Server(vial, folder, "--grace-s", "60")
    s.ask("POST", "/v1/runs", {"code": SLEEP.format(30000), "detach": True, "limits": {"wall_ms_max": 60000}})
    s.process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    begin = time.monotonic()
    assert s.stop() == 0
    assert time.monotonic() - begin < 5


def test_settings_are_read_anew(vial, folder):
    conf = write(folder / "c.conf", "[serve]\nbody_max = 1M\n")
    with serving(vial, folder, "--config", str(conf)) as s:
        big = {"code": "1", "stdin": "x" * 5000}
        assert s.ask("POST", "/v1/runs", big).status == 200
        write(conf, "[serve]\nbody_max = nonsense\n")
        s.process.send_signal(signal.SIGHUP)
        assert wait_until(lambda: any("not read anew" in line["msg"] for line in s.log()))
        assert s.ask("POST", "/v1/runs", big).status == 200
        write(conf, "[serve]\nbody_max = 2K\nworkers = 3\n")
        s.process.send_signal(signal.SIGHUP)
        assert wait_until(lambda: any(line["msg"] == "the configuration was read anew" for line in s.log()))
        assert s.ask("POST", "/v1/runs", big).status == 413
        assert any(line.get("setting") == "workers" for line in s.log())


def test_killed_and_started_again(vial, folder):
    """Environments are there, what was left is cancelled with a reason, the audit is whole."""
    s = Server(vial, folder)
    assert s.ask("POST", "/v1/environments", {"name": "kept", "prefix": "const k = 7"}).status == 201
    done = s.run("1 + 2")["id"]
    left = s.ask("POST", "/v1/runs", {"code": SLEEP.format(30000), "detach": True, "limits": {"wall_ms_max": 60000}}).json["id"]
    assert wait_until(lambda: {r["id"] for r in s.ask("GET", "/v1/runs").json["items"]} >= {done, left})
    time.sleep(0.3)
    s.process.kill()
    s.process.wait()
    with serving(vial, folder) as s:
        assert s.ask("GET", f"/v1/runs/{done}").json["value"] == 3
        old = s.ask("GET", f"/v1/runs/{left}").json
        assert old["status"] == "cancelled" and old["cancel_reason"] == "server_ended"
        assert [e["type"] for e in s.ask("GET", f"/v1/runs/{done}/events").lines] == ["result", "end"]
        assert s.run("k", environment="kept")["value"] == 7
    verified = vial("audit", "verify", "--data-dir", folder / "data")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_tls(vial, folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)
    with serving(vial, folder, "--tls-certificate", folder / "cert.pem", "--tls-key", folder / "key.pem") as s:
        context = ssl.create_default_context(cafile=folder / "cert.pem")
        c = http.client.HTTPSConnection("localhost", s.port, context=context, timeout=10)
        c.request("POST", "/v1/runs", json.dumps({"code": "5", "stream": True}), {"Content-Type": "application/json"})
        assert json.loads(c.getresponse().read().splitlines()[1])["result"]["value"] == 5
        assert c.sock is None or c.sock.version() in ("TLSv1.2", "TLSv1.3")
        c.close()
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        with __import__("warnings").catch_warnings():
            __import__("warnings").simplefilter("ignore")
            old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with pytest.raises(OSError), socket.create_connection(("127.0.0.1", s.port), timeout=5) as raw:
            old.wrap_socket(raw)
        assert not s.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", timeout=3).startswith(b"HTTP/1.1 200")
    bad = vial("serve", "--listen", "127.0.0.1:0", "--data-dir", folder / "d2", "--tls-certificate", folder / "key.pem", "--tls-key", folder / "cert.pem")
    assert bad.returncode in (3, 69) and "PEM" in bad.stderr


def make_certificate(folder, name):
    """A certificate for localhost and its key; who signed it is itself."""
    paths = folder / f"{name}-cert.pem", folder / f"{name}-key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", paths[1], "-out", paths[0]], check=True, capture_output=True)
    return [p.read_text() for p in paths]


def test_the_certificate_is_read_anew(vial, folder):
    """By SIGHUP, for new connections; those that are open go on. Bad files change nothing, of the other settings neither."""
    names = ["first", "second", "third"]
    certificates = {name: make_certificate(folder, name) for name in names}
    cert, key, conf = folder / "cert.pem", folder / "key.pem", folder / "c.conf"

    def put(name, other=None):
        write(cert, certificates[name][0])
        write(key, certificates[other or name][1])

    def served(name):
        """Does a new connection get this certificate?"""
        context = ssl.create_default_context(cadata=certificates[name][0])
        try:
            with socket.create_connection(("127.0.0.1", s.port), timeout=10) as raw, context.wrap_socket(raw, server_hostname="localhost"):
                return True
        except ssl.SSLCertVerificationError:
            return False

    def hangup(text):
        before = len(s.log())
        s.process.send_signal(signal.SIGHUP)
        assert wait_until(lambda: any(text in line["msg"] for line in s.log()[before:])), s.log()

    put("first")
    write(conf, f"[serve]\ntls_certificate = {cert}\ntls_key = {key}\nbody_max = 1M\n")
    with serving(vial, folder, "--config", str(conf)) as s:
        open_one = http.client.HTTPSConnection("localhost", s.port, context=ssl.create_default_context(cadata=certificates["first"][0]), timeout=20)

        def ask_open(code):
            open_one.request("POST", "/v1/runs", json.dumps({"code": code}), {"Content-Type": "application/json"})
            return json.loads(open_one.getresponse().read())["value"]

        assert ask_open("1 + 1") == 2
        waiting = threading.Thread(target=lambda: got.append(ask_open(SLEEP.format(1200))))
        got = []
        waiting.start()
        time.sleep(0.3)
        put("second")
        hangup("was read anew")
        assert served("second") and not served("first")
        waiting.join()
        assert got == ["slept"] and ask_open("2 + 2") == 4 # the connection that was open lives on
        for bad in (lambda: put("third", "first"), lambda: write(cert, "nonsense"), lambda: cert.unlink(), lambda: write(cert, "")):
            bad()
            write(conf, conf.read_text().replace("1M", "2K"))
            hangup("not read anew")
            assert served("second")
            assert ask_open("'" + "x" * 5000 + "'.length") == 5000 # body_max is what it was
            write(conf, conf.read_text().replace("2K", "1M"))
            put("second")
        for i in range(20): # more often than old settings and old certificates are kept
            put(names[i % 3])
            hangup("was read anew")
            assert served(names[i % 3])
        open_one.close()
    for line in s.log():
        assert "PRIVATE" not in json.dumps(line)


def test_the_watchdog(vial, folder):
    """The loop says that it turns, twice in the time that it is given; while the process stands still nobody says so."""
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(str(folder / "notify"))
    notify.settimeout(5)
    with serving(vial, folder, env={"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "400000"}) as s:
        assert notify.recv(100) == b"READY=1"
        begin = time.monotonic()
        assert [notify.recv(100) for _ in range(5)] == [b"WATCHDOG=1"] * 5
        assert 0.8 < time.monotonic() - begin < 3
        s.process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        notify.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while notify.recv(100):
                pass
        time.sleep(0.8)
        with pytest.raises(BlockingIOError):
            notify.recv(100)
        s.process.send_signal(signal.SIGCONT)
        notify.settimeout(5)
        assert notify.recv(100) == b"WATCHDOG=1"
    for usec, pid in (("0", None), ("nonsense", None), ("400000", "1")): # not asked for, or not of us
        notify.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while notify.recv(100):
                pass
        notify.settimeout(5)
        with serving(vial, folder, env={"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": usec, **({"WATCHDOG_PID": pid} if pid else {})}):
            assert notify.recv(100) == b"READY=1"
            notify.settimeout(0.6)
            with pytest.raises(TimeoutError):
                notify.recv(100)


def test_the_service_manager(vial, folder):
    """sd_notify, and a socket that is there already."""
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(str(folder / "notify"))
    notify.settimeout(15)
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]

    def in_child():
        os.dup2(listening.fileno(), 3)
        os.environ["LISTEN_PID"] = str(os.getpid())

    # The number of the process is known only in the child, so a shell sets it.
    command = ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *vial.command("serve", "--insecure-local", "--data-dir", folder / "data")]
    with open(folder / "log", "wb") as log:
        p = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL, pass_fds=(3,) if listening.fileno() == 3 else (3,),
                             preexec_fn=lambda: os.dup2(listening.fileno(), 3), env={**os.environ, "NOTIFY_SOCKET": str(folder / "notify"), "LISTEN_FDS": "1"})
    try:
        assert notify.recv(100) == b"READY=1"
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        c.request("GET", "/healthz")
        assert c.getresponse().status == 200
        c.close()
        p.send_signal(signal.SIGHUP)
        assert notify.recv(100) == b"RELOADING=1" and notify.recv(100) == b"READY=1"
    finally:
        p.terminate()
        assert p.wait(20) == 0
    assert notify.recv(100) == b"STOPPING=1"


def test_overload_is_refused_at_once(vial, folder):
    with serving(vial, folder, "--workers", "1", "--queue-max", "3") as s:
        for _ in range(4):
            assert s.ask("POST", "/v1/runs", {"code": SLEEP.format(700), "detach": True}).status == 202
        begin = time.monotonic()
        answer = s.ask("POST", "/v1/runs", {"code": "1"})
        assert time.monotonic() - begin < 0.3
        assert answer.status in (429, 503) and answer.json["retryable"] is True and int(answer.headers["retry-after"]) >= 1
        assert wait_until(lambda: s.ask("POST", "/v1/runs", {"code": "1"}).status == 200, 10)
        assert 'vial_refusals_total{code=' in s.ask("GET", "/metrics").body.decode()


def test_memory_is_counted_before_a_run_starts(vial, folder):
    with serving(vial, folder, "--memory-max", "300M") as s:
        big = {"memory_bytes_max": 200 << 20}
        begin = time.monotonic()
        threads = [threading.Thread(target=s.run, args=(SLEEP.format(400),), kwargs={"limits": big}) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert time.monotonic() - begin >= 1.2 # one after the other
        assert s.ask("POST", "/v1/runs", {"code": "1", "limits": {"memory_bytes_max": 400 << 20}}).status == 422


def test_heartbeats(vial, folder):
    with serving(vial, folder, "--heartbeat-s", "1") as s:
        c, r = s.stream("/v1/runs", {"code": SLEEP.format(3400), "stream": True})
        types = [json.loads(line)["type"] for line in r]
        assert types.count("ping") >= 2 and types[-1] == "end" and types.count("end") == 1
        c.close()


def test_slow_readers_hold_nobody(vial, folder):
    with serving(vial, folder) as s:
        slow = []
        for _ in range(8):
            c = socket.create_connection(("127.0.0.1", s.port))
            c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            body = json.dumps({"code": "for (let i = 0; i < 1000; i++) console.log('x'.repeat(400)); 'y'.repeat(1e6)", "stream": True}).encode()
            c.sendall(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            slow.append(c)
        time.sleep(0.5)
        begin = time.monotonic()
        assert s.run("1 + 1")["value"] == 2
        assert time.monotonic() - begin < 3
        for c in slow:
            c.close()


def test_events_are_bounded(vial, folder):
    with serving(vial, folder, "--events-max", "8K") as s:
        events = s.ask("POST", "/v1/runs", {"code": "for (let i = 0; i < 2000; i++) console.log('x'.repeat(40))", "stream": True,
                                            "limits": {"stdout_bytes_max": 1 << 20}}).lines
        assert events[-1]["events_dropped"] > 0 and events[-1]["type"] == "end"
        assert len(events[-2]["result"]["stdout"]) == 2000 * 41


class Receiver(http.server.BaseHTTPRequestHandler):
    answers = []
    got = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.got.append((dict(self.headers), body))
        self.send_response(Receiver.answers.pop(0) if Receiver.answers else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def receiver(answers):
    Receiver.answers, Receiver.got = list(answers), []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as r:
        threading.Thread(target=r.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{r.server_address[1]}/hook"
        r.shutdown()


def test_callbacks_are_signed_and_tried_again(vial, folder):
    secret = "0123456789abcdef"
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with receiver([500]) as url, serving(vial, folder, "--callback-private") as s:
        run = s.ask("POST", "/v1/runs", {"code": "40 + 2", "detach": True, "callback_url": url, "callback_secret": secret}, traceparent=trace).json["id"]
        assert wait_until(lambda: len(Receiver.got) == 2, 10)
        headers, body = Receiver.got[1]
        assert json.loads(body)["value"] == 42 and json.loads(body)["id"] == run == headers["Vial-Run-Id"]
        parts = dict(part.split("=", 1) for part in headers["Vial-Signature"].split(","))
        assert abs(int(parts["t"]) - time.time()) < 60
        assert hmac.new(secret.encode(), parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest() == parts["v1"]
        assert headers["traceparent"] == trace
        assert secret not in s.log_path.read_text()


TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("given, passed", [(TRACE, TRACE), (TRACE.upper(), None), (TRACE[:-1] + "g", None), ("00-" + "0" * 32 + TRACE[35:], None), (None, None)])
def test_the_trace_goes_along_to_tools(vial, folder, given, passed):
    """As a header to servers, as a variable to programs; from runs and from evaluations in sessions. What is none is ignored."""
    headers = {"traceparent": given} if given else {}
    with receiver([]) as url, serving(vial, folder) as s:
        made = s.ask("POST", "/v1/environments", {"name": "traced", "tools": [
            {"name": "ask", "http": {"url": url}}, {"name": "env", "exec": {"command": ["sh", "-c", 'echo "\\"$TRACEPARENT\\""']}}]})
        assert made.status == 201, made.body
        code = "await ask({}); await env({})"
        run = s.ask("POST", "/v1/runs", {"code": code, "environment": "traced"}, **headers).json
        assert run["value"] == (passed or ""), run
        session = s.ask("POST", "/v1/sessions", {"environment": "traced"}).json["id"]
        assert s.ask("POST", f"/v1/sessions/{session}/eval", {"code": code}, **headers).json["value"] == (passed or "")
        assert [h.get("traceparent") for h, _ in Receiver.got] == [passed, passed]


def test_callbacks_go_to_public_addresses_only(vial, folder):
    with receiver([]) as url, serving(vial, folder) as s:
        for bad in (url, url.replace("http://", "https://"), "https://localhost/x", "https://2130706433/", "ftp://example.com/", "nonsense"):
            answer = s.ask("POST", "/v1/runs", {"code": "1", "detach": True, "callback_url": bad, "callback_secret": "0123456789abcdef"})
            if bad == "https://localhost/x": # a name: found out when it is looked up
                assert answer.status == 202
                assert wait_until(lambda: any(line.get("refused") for line in s.log()), 10)
            else:
                assert answer.status == 422, bad
        assert s.ask("POST", "/v1/runs", {"code": "1", "callback_url": "https://example.com/", "callback_secret": "0123456789abcdef"}).status == 422
        assert s.ask("POST", "/v1/runs", {"code": "1", "detach": True, "callback_url": "https://example.com/"}).status == 422
        assert Receiver.got == []


def test_a_database_that_is_held(vial, folder):
    """Somebody else writes for long: runs go on, health is fast."""
    with serving(vial, folder) as s:
        s.run("1")
        held = []
        for name in ("vial.db", "runs.db", "audit.db"):
            if (s.data / name).exists():
                db = sqlite3.connect(s.data / name, isolation_level=None)
                db.execute("BEGIN IMMEDIATE")
                held.append(db)
        assert held
        begin = time.monotonic()
        assert s.run("2")["value"] == 2
        assert s.ask("GET", "/healthz").status == 200
        assert time.monotonic() - begin < 2
        for db in held:
            db.execute("ROLLBACK")
            db.close()
        last = s.run("3")["id"]
        assert wait_until(lambda: last in {r["id"] for r in s.ask("GET", "/v1/runs").json["items"]}, 15)


def test_a_database_of_a_newer_vial(vial, folder):
    with serving(vial, folder):
        pass
    for name in ("vial.db", "runs.db", "audit.db", "environments.db"):
        if (folder / "data" / name).exists():
            db = sqlite3.connect(folder / "data" / name)
            db.execute("PRAGMA user_version = 999")
            db.commit()
            db.close()
    done = vial("serve", "--listen", "127.0.0.1:0", "--data-dir", folder / "data")
    assert done.returncode == 69 and "newer" in done.stderr, done.stderr


def test_logs_are_json_without_content(vial, folder):
    with serving(vial, folder, "--log-level", "debug") as s:
        s.ask("POST", "/v1/runs", {"code": "'hidden' + 'words'", "input": "private words"})
    lines = [json.loads(line) for line in s.log_path.read_text().splitlines()]
    assert all({"ts", "level", "msg"} <= set(line) for line in lines)
    assert any(line.get("route") == "/v1/runs" for line in lines)
    text = s.log_path.read_text()
    assert "hidden" not in text and "private" not in text


def test_many_clients_at_once(vial, folder):
    """A small version of the load test (tests/load/http_load.py)."""
    with serving(vial, folder, "--queue-max", "2000") as s:
        answers, lock = [], threading.Lock()

        def client():
            c = s.connect()
            for i in range(10):
                a = s.ask("POST", "/v1/runs", {"code": str(i)}, connection=c)
                with lock:
                    answers.append((a.status, a.json.get("value"), i))
            c.close()

        threads = [threading.Thread(target=client) for _ in range(40)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(answers) == 400 and all(status == 200 and value == i for status, value, i in answers)
