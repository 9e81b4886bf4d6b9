"""test_serve_guard.py - `vial serve` and requests that no honest client sends: raw bytes on a socket."""

import re
import socket
import time

import pytest

from conftest import BUILD, Vial, wait_until
from server import serving

HOST = b"Host: localhost\r\n"
BODY = b'Content-Type: application/json\r\nContent-Length: 12\r\n\r\n{"code":"1"}'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(Vial(BUILD), tmp_path_factory.mktemp("guard"), "--receive-s", "2", "--body-max", "100K", "--header-max", "16K",
                 "--idle-s", "3") as s:
        yield s


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield


def status(got):
    return int(got.split(b" ", 2)[1]) if got.startswith(b"HTTP/1.1 ") else None


@pytest.mark.parametrize("name, data", [
    ("two hosts", b"POST /v1/runs HTTP/1.1\r\n" + HOST + HOST + BODY),
    ("no host", b"POST /v1/runs HTTP/1.1\r\n" + BODY),
    ("length and chunked", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n" + BODY),
    ("two lengths", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Content-Length: 12\r\n" + BODY),
    ("two other lengths", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n" + BODY),
    ("a signed length", b"POST /v1/runs HTTP/1.1\r\n" + HOST + BODY.replace(b": 12", b": +12")),
    ("a hexadecimal length", b"POST /v1/runs HTTP/1.1\r\n" + HOST + BODY.replace(b": 12", b": 0xc")),
    ("a list of lengths", b"POST /v1/runs HTTP/1.1\r\n" + HOST + BODY.replace(b": 12", b": 12, 12")),
    ("a huge length", b"POST /v1/runs HTTP/1.1\r\n" + HOST + BODY.replace(b": 12", b": 99999999999999999999")),
    ("another encoding", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip\r\nContent-Type: application/json\r\n\r\n0\r\n\r\n"),
    ("two encodings", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("chunked, chunked", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
    ("a space in a name", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"X Y: 1\r\n" + BODY),
    ("a space before the colon", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"X : 1\r\n" + BODY),
    ("a control character in a value", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"X: a\x01b\r\n" + BODY),
    ("a NUL in a value", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n" + BODY),
    ("a bare CR in a value", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"X: a\rb\r\n" + BODY),
    ("a folded line", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n" + BODY),
    ("another version", b"POST /v1/runs HTTP/1.2\r\n" + HOST + BODY),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("an absolute target", b"POST http://localhost/v1/runs HTTP/1.1\r\n" + HOST + BODY),
    ("no path", b"POST * HTTP/1.1\r\n" + HOST + BODY),
    ("a fragment", b"POST /v1/runs#a HTTP/1.1\r\n" + HOST + BODY),
    ("a raw byte in the target", b"POST /v1/runs\xff HTTP/1.1\r\n" + HOST + BODY),
    ("a long target", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("a long value", b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 9000 + b"\r\n\r\n"),
    ("many headers", b"GET /healthz HTTP/1.1\r\n" + HOST + b"".join(b"X%d: 1\r\n" % i for i in range(150)) + b"\r\n"),
    ("large headers", b"GET /healthz HTTP/1.1\r\n" + HOST + b"".join(b"X%d: %s\r\n" % (i, b"a" * 1000) for i in range(40)) + b"\r\n"),
    ("a bad chunk", b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n1\r\n0\r\n\r\n"),
])
def test_malformed(server, name, data):
    got = server.raw(data, timeout=4)
    assert b'"status":"ok"' not in got, name
    assert got == b"" or (400 <= status(got) < 600), (name, got[:200])


def test_unknown_methods(server):
    assert status(server.raw(b"BREW / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")) == 501
    assert status(server.raw(b"TRACE / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")) == 501


def test_the_good_one_is_good(server):
    """The same bytes without a fault pass, so that the tests above are about their faults."""
    got = server.raw(b"POST /v1/runs HTTP/1.1\r\nConnection: close\r\nX:1\r\n" + HOST + BODY)
    assert status(got) == 200 and b'"value":1' in got


def test_large_bodies(server):
    head = b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nConnection: close\r\n"
    assert status(server.raw(head + b"Content-Length: 200000\r\n\r\n" + b" " * 1000)) == 413
    chunks = b"".join(b"4000\r\n" + b" " * 0x4000 + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
    assert status(server.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)) == 413


@pytest.mark.parametrize("data", [b"", b"POST /v1/runs HTTP/1.1\r\n", b"POST /v1/runs HTTP/1.1\r\n" + HOST,
                                  b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Content-Length: 50\r\n\r\n{"])
def test_requests_that_stop(server, data):
    """A connection that goes no further is closed."""
    begin = time.monotonic()
    got = server.raw(data, timeout=12)
    assert time.monotonic() - begin < 10
    assert got == b"" or status(got) >= 400


def test_a_drip_of_body_is_cut(server):
    """One byte now and then keeps no connection open: the whole request has its time."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as s:
        s.sendall(b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Content-Length: 50\r\n\r\n")
        begin = time.monotonic()
        try:
            while time.monotonic() - begin < 8:
                s.sendall(b" ")
                time.sleep(0.2)
        except OSError:
            pass
        assert time.monotonic() - begin < 6


def test_a_page_of_another_origin_is_refused(server):
    body = {"code": "1"}
    assert server.ask("POST", "/v1/runs", body, Origin="https://evil.example").status == 403
    assert server.ask("POST", "/v1/runs", body, Origin="null").status == 403
    assert server.ask("POST", "/v1/runs", body, Origin=f"http://127.0.0.1:{server.port}").status == 200
    assert server.ask("POST", "/v1/runs", body, Host="evil.example").status == 401
    assert server.ask("POST", "/v1/runs", body, Host="localhost:1").status == 200


def test_the_server_is_unharmed(server):
    assert server.run("1 + 1")["value"] == 2


def test_no_connection_is_left(server):
    def count():
        return int(re.search(rb"\nvial_http_connections (\d+)", server.ask("GET", "/metrics").body).group(1))

    assert wait_until(lambda: count() <= 2, 10)
