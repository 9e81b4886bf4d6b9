"""The network of a program that may use it: fetch(), urllib.request, and the module requests.

The host makes requests and judges them; there is no socket here. A request goes out as a head of
JSON and the bytes of its body, and its answer comes back the same way: the beginning of the body
with the head, the rest piece by piece as it is read. A body that is a file or an iterator goes out
piece by piece as well, when the host has room for it. See wire/fetch.h.
"""
import asyncio
import builtins
import importlib.machinery
import io
import json
import struct
import sys

import _vial_host

from . import imports, modules, tools

OPEN, READ, CLOSE, SEND = 0, 1, 2, 3
END, STREAMED = 1, 2
PIECE_BYTES = 256 * 1024  # of a body, in one call
FILE_BYTES = 64 * 1024  # that are read of a file at once
REPLY = struct.Struct("=II")
NAMES = ("urllib.request", "http.client", "http.cookiejar", "requests")  # that can be imported now
# The host sets these; urllib.request and programs that copy headers would set them, too.
HOST_SETS = {"host", "connection", "content-length", "transfer-encoding", "accept-encoding"}


class NetworkError(OSError):
    """A request failed. name says how, code says why in one word, rule is that of the policy."""

    def __init__(self, message="", name="NetworkError", code="", rule=None):
        super().__init__(message)
        self.name, self.code, self.rule = name, code, rule


class DeniedError(NetworkError, PermissionError):
    """The rules of the network do not allow it."""


class NetworkTimeout(NetworkError, TimeoutError):
    """The answer was not there in time."""


CLASSES = {"DeniedError": DeniedError, "TimeoutError": NetworkTimeout}


def error_of(told):
    told = told if isinstance(told, dict) else {}
    fields = told.get("fields") or {}
    name = told.get("name", "NetworkError")
    return CLASSES.get(name, NetworkError)(
        told.get("message", "the request failed"), name, fields.get("code", ""), fields.get("rule")
    )


def head_of(method, url, headers, redirect, timeout):
    if timeout is not None and not timeout > 0:
        raise ValueError("a timeout must be more than 0 seconds")
    return json.dumps(
        {
            "url": url,
            "method": method.upper(),
            "headers": [[name, value] for name, value in headers if name.lower() not in HOST_SETS],
            "redirect": redirect,
            "timeout_ms": None if timeout is None else max(1, round(timeout * 1000)),
        },
        ensure_ascii=False,
    ).encode()


class Answer:
    """What a server said: its head, and its body as it is read."""

    def __init__(self, number, reply):
        self.number = number
        self.ended = False
        head, self.first = self.take(reply)
        told = json.loads(head)
        self.status, self.reason, self.url = told["status"], told["reason"], told["url"]
        self.redirected = told["redirected"]
        self.headers = [(name, value) for name, value in told["headers"]]

    def take(self, reply):
        head_len, flags = REPLY.unpack_from(reply)
        self.ended = self.ended or bool(flags & END)
        at = REPLY.size + head_len
        return reply[REPLY.size : at], reply[at:]

    def piece(self):
        """The next bytes; none when the body is over."""
        if self.first:
            piece, self.first = self.first, b""
            return piece
        while not self.ended:
            piece = self.take(wait(READ, self.number))[1]
            if piece:
                return piece
        return b""

    async def piece_async(self):
        if self.first:
            return self.piece()
        while not self.ended:
            piece = self.take((await wait_async(READ, self.number))[1])[1]
            if piece:
                return piece
        return b""

    def read(self):
        return b"".join(iter(self.piece, b""))

    async def read_async(self):
        pieces = []
        while piece := await self.piece_async():
            pieces.append(piece)
        return b"".join(pieces)

    def close(self):
        if not self.ended:
            self.ended = True
            _vial_host.fetch(CLOSE, self.number, b"", b"", False, 0)

    def __del__(self):  # nobody will read the rest
        try:
            self.close()
        except Exception:
            pass


def wait_for(call):
    kind, value = _vial_host.wait(call)
    if kind == tools.ANSWER_ERROR:
        raise error_of(value)
    return value


def wait(op, number, head=b"", body=b"", flags=0):
    """Makes a call and blocks until its answer is there."""
    call = _vial_host.fetch(op, number, head, body, True, flags)
    value = wait_for(call)
    return (call, value) if op == OPEN else value


async def wait_async(op, number, head=b"", body=b"", flags=0):
    future = asyncio.get_running_loop().create_future()
    call = _vial_host.fetch(op, number, head, body, False, flags)
    tools.waiting[call] = future
    try:
        return call, await future
    except tools.ToolError as error:
        raise error_of({"name": error.name, "message": str(error), "fields": error.fields}) from None
    except asyncio.CancelledError:
        _vial_host.fetch(CLOSE, call if op == OPEN else number, b"", b"", False, 0)
        raise


# ---- bodies that are streams ----


def is_whole(body):
    return body is None or isinstance(body, (bytes, bytearray, memoryview))


def pieces_of(body, encoding="utf-8"):
    """What a file or an iterator gives, in pieces that can be sent."""
    for piece in iter(lambda: body.read(FILE_BYTES), None) if hasattr(body, "read") else body:
        if hasattr(body, "read") and not piece:
            return
        piece = piece.encode(encoding) if isinstance(piece, str) else bytes(piece)
        for at in range(0, len(piece), PIECE_BYTES):
            yield piece[at : at + PIECE_BYTES]


async def pieces_async(body):
    if hasattr(body, "__aiter__"):
        async for piece in body:
            for part in pieces_of((piece,)):
                yield part
    else:
        for part in pieces_of(body):
            yield part


def is_wanted(reply):
    """Does somebody want another piece? Not when the request is over, one way or another."""
    return not REPLY.unpack_from(reply)[1] & END


def open_stream(head, body):
    """A request whose body is sent as it comes, blocking."""
    call = _vial_host.fetch(OPEN, 0, head, b"", True, STREAMED)
    try:
        for piece in pieces_of(body):
            if not is_wanted(wait(SEND, call, b"", piece)):
                break
        else:
            wait(SEND, call, b"", b"", END)
    except BaseException:
        _vial_host.fetch(CLOSE, call, b"", b"", False, 0)
        _vial_host.wait(call)  # says that it was closed
        raise
    return call, wait_for(call)


async def open_stream_async(head, body):
    opened = asyncio.get_running_loop().create_future()
    call = _vial_host.fetch(OPEN, 0, head, b"", False, STREAMED)
    tools.waiting[call] = opened
    try:
        async for piece in pieces_async(body):
            if not is_wanted((await wait_async(SEND, call, b"", piece))[1]):
                break
        else:
            await wait_async(SEND, call, b"", b"", END)
        return call, await opened
    except tools.ToolError as error:
        raise error_of({"name": error.name, "message": str(error), "fields": error.fields}) from None
    except BaseException:
        opened.cancel()
        _vial_host.fetch(CLOSE, call, b"", b"", False, 0)
        raise


def ask(method, url, headers=(), body=b"", redirect="follow", timeout=None):
    """One request, blocking."""
    head = head_of(method, url, headers, redirect, timeout)
    return Answer(*(wait(OPEN, 0, head, bytes(body or b"")) if is_whole(body) else open_stream(head, body)))


# ---- fetch() ----


class Headers(dict):
    """Headers by their names, whatever the case; those that came more than once are joined."""

    def __init__(self, pairs):
        super().__init__()
        for name, value in pairs:
            key = name.lower()
            super().__setitem__(key, f"{super().__getitem__(key)}, {value}" if key in self else value)

    def __getitem__(self, name):
        return super().__getitem__(name.lower())

    def __contains__(self, name):
        return isinstance(name, str) and super().__contains__(name.lower())

    def get(self, name, default=None):
        return super().get(name.lower(), default)


class Response:
    """What fetch() gives: its body is awaited, as in JavaScript."""

    def __init__(self, answer):
        self.answer = answer
        self.status, self.reason, self.url = answer.status, answer.reason, answer.url
        self.redirected, self.headers = answer.redirected, Headers(answer.headers)
        self.body = None

    @property
    def ok(self):
        return 200 <= self.status <= 299

    async def bytes(self):
        if self.body is None:
            self.body = await self.answer.read_async()
        return self.body

    async def text(self):
        return (await self.bytes()).decode("utf-8-sig", "replace")

    async def json(self):
        return json.loads(await self.bytes())

    def __repr__(self):
        return f"<Response {self.status} {self.url}>"


def body_of(body, value, headers):
    """The bytes of a body, and the type that goes with it when the headers say none."""
    kind = None
    if value is not None:
        body, kind = json.dumps(value).encode(), "application/json"
    elif isinstance(body, str):
        body, kind = body.encode(), "text/plain;charset=UTF-8"
    elif isinstance(body, dict):
        from urllib.parse import urlencode

        body, kind = urlencode(body, doseq=True).encode(), "application/x-www-form-urlencoded"
    if kind is not None and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", kind))
    return body if body is not None and not is_whole(body) else bytes(body or b"")


async def fetch(url, *, method=None, headers=None, body=None, json=None, redirect="follow", timeout=None):
    """Asks the network: response = await fetch(url); data = await response.json()."""
    pairs = [(str(name), str(value)) for name, value in (headers or {}).items()]
    content = body_of(body, json, pairs)
    method = method or ("POST" if content else "GET")
    head = head_of(method, url, pairs, redirect, timeout)
    opened = wait_async(OPEN, 0, head, content) if is_whole(content) else open_stream_async(head, content)
    return Response(Answer(*await opened))


# ---- urllib.request ----


class Body(io.RawIOBase):
    """A body as a file."""

    def __init__(self, answer):
        self.answer, self.rest = answer, b""

    def readable(self):
        return True

    def readinto(self, into):
        if not self.rest:
            self.rest = self.answer.piece()
        n = min(len(into), len(self.rest))
        into[:n] = self.rest[:n]
        self.rest = self.rest[n:]
        return n

    def close(self):
        self.answer.close()
        super().close()


def do_open(self, http_class, request, **arguments):
    """In the place of urllib.request.AbstractHTTPHandler.do_open."""
    import http.client
    import urllib.error
    import urllib.response

    if request.has_proxy():
        raise urllib.error.URLError("there are no proxies here")
    headers = dict(request.unredirected_hdrs)
    headers.update((name, value) for name, value in request.headers.items() if name not in headers)
    timeout = request.timeout if isinstance(request.timeout, (int, float)) else None
    try:
        answer = ask(
            request.get_method(), request.full_url, [(k, str(v)) for k, v in headers.items()],
            request.data, "follow", timeout,
        )
    except OSError as error:
        raise urllib.error.URLError(error) from error
    told = http.client.HTTPMessage()
    for name, value in answer.headers:
        told[name] = value
    response = urllib.response.addinfourl(io.BufferedReader(Body(answer)), told, answer.url, answer.status)
    response.msg = response.reason = answer.reason
    return response


def no_connection(self, *arguments):
    raise NetworkError("there are no sockets here; use urllib.request.urlopen, requests or fetch", code="socket")


def adapt_client():
    """http.client is loaded: what it would connect by is not there."""
    import http.client as client

    client.HTTPConnection.connect = no_connection
    # Without ssl there is none; urllib.request asks whether there is.
    client.HTTPSConnection = type("HTTPSConnection", (client.HTTPConnection,), {"default_port": 443})


def adapt_request():
    """urllib.request is loaded: its way to the network becomes ours."""
    import urllib.request as request

    base = request.AbstractHTTPHandler
    base.do_open = do_open

    class HTTPSHandler(base):
        https_request = base.do_request_

        def __init__(self, debuglevel=None, context=None, check_hostname=None):
            base.__init__(self, debuglevel or 0)

        def https_open(self, asked):
            return self.do_open(None, asked)

    request.HTTPSHandler = HTTPSHandler


# ---- the module requests ----


class Finder:
    """Finds requests, unless the program came with one of its own."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in ("requests", "requests.exceptions"):
            return None
        return importlib.machinery.ModuleSpec(name, Finder, origin="<vial>", is_package=name == "requests")

    @staticmethod
    def create_module(spec):
        from . import requests

        return requests if spec.name == "requests" else requests.exceptions

    @staticmethod
    def exec_module(module):
        pass


provided = False


def provide():
    """The program may use the network."""
    global provided
    if provided:
        return
    provided = True
    for name in NAMES:
        imports.BLOCKED.pop(name, None)
    imports.after("http.client", adapt_client)
    imports.after("urllib.request", adapt_request)
    sys.meta_path.insert(sys.meta_path.index(modules.Finder) + 1, Finder)
    for name, value in (
        ("fetch", fetch), ("NetworkError", NetworkError), ("DeniedError", DeniedError),
    ):
        if not hasattr(builtins, name):
            setattr(builtins, name, value)


for error_class in (NetworkError, DeniedError, NetworkTimeout):
    error_class.__module__ = "builtins"
