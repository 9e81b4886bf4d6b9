"""server.py - a `vial serve` for a test: started, asked over real sockets, and stopped."""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import time


class Answer:
    """What the server said: status, headers by lower-case name, body."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def lines(self):
        return [json.loads(line) for line in self.body.splitlines() if line]


class Server:
    """A running server. Without more it listens on a free port of loopback and needs no key."""

    def __init__(self, vial, directory, *args, insecure=True, listen="127.0.0.1:0", env=None, **more):
        self.log_path = pathlib.Path(directory) / "serve.log"
        self.data = pathlib.Path(directory) / "data"
        command = vial.command("serve", "--data-dir", self.data, *(["--insecure-local"] if insecure else []), *args)
        if listen is not None:
            command += ["--listen", listen]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                                            env={**os.environ, **(env or {})}, **more)
        end = time.monotonic() + 20
        while not any(line.get("msg") == "ready" for line in self.log()):
            assert self.process.poll() is None, self.log_path.read_text()
            assert time.monotonic() < end, self.log_path.read_text()
            time.sleep(0.01)
        addresses = [line["address"] for line in self.log() if line.get("msg") == "listening"]
        self.unix = next((a[5:] for a in addresses if a.startswith("unix:")), None)
        tcp = next((a for a in addresses if not a.startswith("unix:")), None)
        self.port = int(tcp.rpartition(":")[2]) if tcp else None

    def log(self):
        lines = []
        for line in self.log_path.read_text().splitlines():
            with contextlib.suppress(ValueError):
                lines.append(json.loads(line))
        return lines

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, connection=None, timeout=30, **headers):
        """One request; a body that is not bytes is sent as JSON."""
        c = connection or self.connect(timeout)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        c.request(method, path, body, headers)
        r = c.getresponse()
        answer = Answer(r.status, r.getheaders(), r.read())
        if connection is None:
            c.close()
        return answer

    def run(self, code, **members):
        """Runs a program; the result, which must have come with 200."""
        answer = self.ask("POST", "/v1/runs", {"code": code, **members})
        assert answer.status == 200, answer.body
        return answer.json

    def raw(self, data, timeout=10, half_close=False):
        """Sends bytes as they are, and reads until the server closes or a while has passed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as s:
            s.sendall(data)
            if half_close:
                s.shutdown(socket.SHUT_WR)
            got = b""
            with contextlib.suppress(TimeoutError, ConnectionError):
                while True:
                    piece = s.recv(65536)
                    if not piece:
                        break
                    got += piece
            return got

    def stream(self, path, body=None, method="POST", **headers):
        """Opens a stream: a connection and its response, whose lines can be read one by one."""
        c = self.connect()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        data = json.dumps(body).encode() if body is not None else None
        c.request(method, path, data, {"Content-Type": "application/json", **headers})
        return c, c.getresponse()

    def stop(self, sig=signal.SIGTERM, timeout=30):
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(timeout)


def next_event(response, kind=None):
    """The next event of a stream, or the next of that type."""
    while True:
        line = response.readline()
        assert line, "the stream ended"
        event = json.loads(line)
        if kind is None or event["type"] == kind:
            return event


@contextlib.contextmanager
def serving(vial, directory, *args, **more):
    server = Server(vial, directory, *args, **more)
    try:
        yield server
    finally:
        code = server.stop()
        assert code == 0, server.log_path.read_text()
