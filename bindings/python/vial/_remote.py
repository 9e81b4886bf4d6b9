"""The same classes at a vial serve: ``Vial("https://vial.example", key="vial_...")``.

Runs and evaluations are streamed, so that output comes as it is printed, tools are called here, and a client that
leaves cancels what it asked for. Values cross as JSON with the tags of docs/values.md.
"""

import asyncio
import base64
import datetime
import decimal
import fractions
import http.client
import json
import math
import os
import ssl
import threading
import urllib.parse
import uuid
import weakref
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from . import _aio, _vial
from ._engine import Event, Run, Vial, _limits, _words, env_list, language_number, milliseconds
from ._errors import ClosedError, VialError
from ._result import JsonResult, Result
from ._session import Environment, Session, _file_document
from ._tools import CallContext, Tool, as_tools, tool_documents
from ._values import GuestError, NdArray, RegExp, Table, Unknown, _array, _hashable, _sparse, _utc, undefined

_LANGUAGES = (None, "javascript", "typescript", "python")
_LINE_BYTES_MAX = 512 << 20  # of one event; a result may have its value in it
_ANSWER_BYTES_MAX = 512 << 20
_TOOL_THREADS_MAX = 32
_END_SECONDS_MAX = 2.0  # that a server may take to end a session which nobody holds any more
_TYPED = {"Int8Array": 72, "Uint8Array": 68, "Uint8ClampedArray": 68, "Int16Array": 77, "Uint16Array": 69,
          "Int32Array": 78, "Uint32Array": 70, "Float32Array": 85, "Float64Array": 86, "BigInt64Array": 79,
          "BigUint64Array": 71}


# ---- tagged JSON ----

def _big(text: str) -> int:
    return ~int(text[1:], 16) if text.startswith("~") else int(text, 0)


_TAGS: Dict[str, Callable[[Any], Any]] = {
    "$undefined": lambda value: undefined, "$bigint": _big, "$bytes": base64.b64decode, "$ArrayBuffer": base64.b64decode,
    "$number": lambda text: -0.0 if text == "-0" else float(text.replace("Infinity", "inf")),
    "$date": lambda text: None if text is None else _utc(text), "$datetime": datetime.datetime.fromisoformat,
    "$day": datetime.date.fromisoformat, "$time": datetime.time.fromisoformat, "$url": str,
    "$timedelta": lambda seconds: datetime.timedelta(seconds=seconds), "$decimal": decimal.Decimal,
    "$uuid": uuid.UUID, "$regexp": lambda pair: RegExp(*pair), "$object": lambda members: members,
    "$map": lambda pairs: {_hashable(key): value for key, value in pairs},
    "$set": lambda items: {_hashable(item) for item in items}, "$complex": lambda pair: complex(*pair),
    "$fraction": lambda pair: fractions.Fraction(*pair), "$ndarray": lambda pair: NdArray(*pair),
    "$array": lambda pair: _sparse(pair[0], dict(pair[1])),
    "$table": lambda t: Table(t["columns"], t["index"], t["rows"], t["row_count"]),
    "$function": lambda handle: Unknown(27, ["Function", handle]),
    "$error": lambda e: GuestError(e.get("name", "Error"), e.get("message", ""), e.get("stack") or "", e.get("cause")),
}


def _untag(members: Dict[str, Any]) -> Any:
    if len(members) != 1:
        return members
    (name, value), = members.items()
    try:
        if name in _TAGS:
            return _TAGS[name](value)
        if name[:1] == "$" and name[1:] in _TYPED:
            return _array(_TYPED[name[1:]], base64.b64decode(value))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return Unknown(0, members)
    return members


def read_value(document: Mapping[str, Any]) -> Any:
    """The value of a result object."""
    if "value" not in document:
        return undefined
    if document.get("value_format") != "tagged":
        return document["value"]
    return json.loads(json.dumps(document["value"]), object_hook=_untag)


def _plain(value: Any, what: str) -> Any:
    """A value that JSON says all of; TypeError for others, which cannot go to a server."""
    is_cbor, data = _vial.encode(value, None)
    if is_cbor:
        raise TypeError(f"{what} has a value that JSON cannot say, and to a server only JSON goes")
    return json.loads(data)


# ---- HTTP ----

class _Server:
    def __init__(self, address: str, key: Optional[str], timeout: float, context: Optional[ssl.SSLContext]) -> None:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the address of a server is http://HOST:PORT or https://HOST, not {address!r}")
        if parts.username or parts.query or parts.fragment:
            raise ValueError("the address of a server has neither user nor query; the key is given as key=")
        if key is not None and (not isinstance(key, str) or not key.isascii() or not key.isprintable()):
            raise ValueError("the key must be printable text")
        if key is not None and parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
            raise ValueError("a key is sent over https only, or to this machine")
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path.rstrip("/")
        self.timeout = timeout
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.tls = (context or ssl.create_default_context()) if parts.scheme == "https" else None

    def connect(self, timeout: Optional[float] = None) -> http.client.HTTPConnection:
        wait = self.timeout if timeout is None else timeout
        if self.tls is not None:
            return http.client.HTTPSConnection(self.host, self.port, timeout=wait, context=self.tls)
        return http.client.HTTPConnection(self.host, self.port, timeout=wait)

    def send(self, connection: http.client.HTTPConnection, method: str, path: str, body: Any,
             headers: Optional[Mapping[str, str]] = None) -> http.client.HTTPResponse:
        data = None if body is None else json.dumps(body).encode()
        sent = {**self.headers, **(headers or {})}
        if data is not None:
            sent["Content-Type"] = "application/json"
        try:
            connection.request(method, self.path + path, data, sent)
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise _failed(f"the server at {self.host} cannot be reached: {error}") from error

    def ask(self, method: str, path: str, body: Any = None, timeout: Optional[float] = None) -> Any:
        connection = self.connect(timeout)
        try:
            response = self.send(connection, method, path, body)
            data = response.read(_ANSWER_BYTES_MAX)
        except (OSError, http.client.HTTPException) as error:
            raise _failed(f"the server at {self.host} broke off: {error}") from error
        finally:
            connection.close()
        if response.status >= 400:
            raise _problem(response.status, data)
        kind = response.headers.get_content_type()
        return json.loads(data) if data and kind.endswith("json") else data


def _failed(text: str, code: int = -3) -> VialError:
    made = VialError(text)
    made.code = code
    return made


def _problem(status: int, data: bytes) -> Exception:
    try:
        said = json.loads(data)
        text = said.get("detail") or said.get("title") or f"status {status}"
    except (ValueError, AttributeError):
        text = f"the server answered with status {status}"
    if status in (400, 413, 415, 422):
        return ValueError(text)
    if status in (404, 410):
        return ClosedError(text)
    return _failed(text, -4 if status in (409, 429, 503) else -3)


class _Stream:
    """The events of one run, as lines."""

    def __init__(self, server: _Server, path: str, body: Dict[str, Any]) -> None:
        wait = (body.get("limits") or {}).get("wall_ms_max", 60_000) / 1000 + 60
        self._server = server
        self._connection = server.connect(wait)
        self._response = server.send(self._connection, "POST", path, {**body, "stream": True},
                                     {"Accept": "application/x-ndjson"})
        self.cancelled = False
        if self._response.status >= 400:
            data = self._response.read(_ANSWER_BYTES_MAX)
            self._connection.close()
            raise _problem(self._response.status, data)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        try:
            while True:
                line = self._response.readline(_LINE_BYTES_MAX)
                if not line:
                    return
                if line.strip():
                    yield json.loads(line)
        except (OSError, ValueError, http.client.HTTPException) as error:
            if not self.cancelled:
                raise _failed(f"the server at {self._server.host} broke off: {error}") from error
        finally:
            self._connection.close()

    def close(self) -> None:
        """Leaves: the server cancels what nobody listens to."""
        self.cancelled = True
        sock = self._connection.sock
        if sock is not None:
            try:
                sock.shutdown(2)
            except OSError:
                pass


# ---- runs ----

class _RemoteRun:
    """What Run asks of the extension module, at a server."""

    def __init__(self, vial: "RemoteVial", path: str, body: Dict[str, Any], tools: List[Tool], context: CallContext,
                 output: Optional[Callable[[str, str], None]], approve: Any) -> None:
        self._vial, self._tools, self._context = vial, {one.name: one for one in tools}, context
        self._output, self._judge = output, approve
        self._stream = _Stream(vial._server, path, body)
        self._outs = bool(body.get("outs"))
        self._id = ""
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True
        if self._id:
            try:
                self._vial._server.ask("POST", f"/v1/runs/{self._id}/cancel")
                return
            except Exception:
                pass  # it is over, or there is no server any more
        self._stream.close()

    def wait(self) -> JsonResult:
        document = None
        try:
            for event in self._stream:
                kind = event["type"]
                if kind == "start":
                    self._id = event["run"]["id"]
                    if self._cancelled:
                        self.cancel()
                elif kind in ("stdout", "stderr") and self._output is not None:
                    self._output(kind, event["text"])
                elif kind == "call":
                    self._take_call(event["call"])
                elif kind == "result":
                    document = event["result"]
        except BaseException:
            self._stream.close()
            raise
        if document is None:
            if self._cancelled:
                return JsonResult({"status": "cancelled", "error": {"name": "Cancelled", "message": "cancelled"}}, None, {})
            raise _failed("the server ended the stream without a result")
        files = {one["name"]: self._file(one["name"]) for one in document.get("files") or []} if self._outs else {}
        return JsonResult(document, read_value(document), files)

    def _file(self, name: str) -> bytes:
        data = self._vial._server.ask("GET", f"/v1/runs/{self._id}/files/{urllib.parse.quote(name)}")
        return data if isinstance(data, bytes) else json.dumps(data).encode()

    # ---- calls ----

    def _say(self, call_id: str, answer: Dict[str, Any]) -> None:
        try:
            self._vial._server.ask("POST", f"/v1/runs/{self._id}/calls/{call_id}", answer)
        except (ClosedError, VialError):
            pass  # the call is over
        except ValueError as refused:
            if "value" in answer:
                self._say(call_id, {"error": {"name": "AnswerError", "message": str(refused)}})

    def _take_call(self, call: Dict[str, Any]) -> None:
        work = self._approval if call.get("approval") else self._do
        self._vial._threads().submit(lambda: work(call), lambda value, error: None)

    def _await(self, value: Any) -> Any:
        if hasattr(value, "__await__"):
            return _aio.start_in(self._context.loop or _aio.background_loop(), value).result()
        return value

    def _approval(self, call: Dict[str, Any]) -> None:
        yes = False
        try:
            one = self._tools.get(call["tool"])
            judge = one.approve if one is not None and callable(one.approve) else self._judge
            yes = bool(self._await(judge(call["tool"], call.get("args"))) if callable(judge) else judge)
        finally:
            self._say(call["id"], {"approve": yes})

    def _do(self, call: Dict[str, Any]) -> None:
        one = self._tools.get(call["tool"])
        try:
            if one is None:
                raise LookupError(f"there is no function for the tool {call['tool']}")
            if self._context.on_call is not None:
                self._context.on_call(one.name, call.get("args"))
            answer = {"value": _plain(self._await(one.call(call.get("args"))), "the answer")}
        except BaseException as error:
            answer = {"error": {"name": type(error).__name__[:64], "message": str(error)[:8192] or "the tool failed"}}
        self._say(call["id"], answer)


def _body(options: Dict[str, Any], code: str) -> Tuple[Dict[str, Any], List[Tool]]:
    """The request of the API for the options of run."""
    o = dict(options)
    tools = as_tools(o.pop("tools", None))
    body: Dict[str, Any] = {"code": code}
    if not isinstance(code, str):
        raise TypeError("the code must be a str")
    lang = o.pop("lang", None)
    if lang is not None and language_number(lang):
        body["language"] = _LANGUAGES[language_number(lang)]
    given = o.pop("input", undefined)
    if given is not undefined:
        body["input"] = _plain(given, "input")
    limits = _limits(o.pop("limits", None), o.pop("timeout", None))
    if limits:
        body["limits"] = limits
    files = o.pop("files", None)
    if files is not None:
        body["files"] = {name: _file_document(data) for name, data in files.items()}
    environment = o.pop("environment", None)
    if environment is not None:
        if not isinstance(environment, (str, RemoteEnvironment)):
            raise TypeError("environment must be a vial.Environment of this server, or the name of one, not "
                            f"{type(environment).__name__}")
        body["environment"] = environment if isinstance(environment, str) else environment.reference
    if tools:
        body["tools"] = tool_documents(tools)
    if o.pop("main", False):
        body["entry"] = "main"
    for name in ("outs", "args"):
        if o.get(name) is not None:
            o[name] = _words(o[name], name)
    if o.get("env") is not None:
        env_list(o["env"])  # what is wrong with it is the same here
        o["env"] = {key: str(value) for key, value in o["env"].items()}
    for name in ("outs", "env", "args", "cwd", "stdin", "modules", "kind", "name", "globals", "permissions", "net", "scan",
                 "record_calls"):
        value = o.pop(name, None)
        if value is not None and value is not False:
            body[name] = value
    if o.pop("text", False):
        raise TypeError("text is for engines here: a server tells values, not how a REPL shows them")
    for name in ("on_output", "on_stdout", "on_stderr", "approve"):
        o.pop(name, None)
    if o:
        raise TypeError(f"run has no option {next(iter(o))!r}")
    return body, tools


def _environment_tools(environment: Any, vial: Any) -> List[Tool]:
    """Who does the tools of an environment; its declarations are at the server."""
    if environment is None or isinstance(environment, str):
        return []
    if environment._vial is not vial:
        raise ValueError("the environment is one of another engine")
    environment._check()
    return list(environment._tools)


def _output_of(options: Mapping[str, Any]) -> Optional[Callable[[str, str], None]]:
    both, out, err = options.get("on_output"), options.get("on_stdout"), options.get("on_stderr")
    if both is None and out is None and err is None:
        return None

    def give(stream: str, text: str) -> None:
        if both is not None:
            both(stream, text)
        single = out if stream == "stdout" else err
        if single is not None:
            single(text)

    return give


class RemoteVial(Vial):
    """Vial at a server. It is made by ``Vial(address, key=...)``."""

    def __init__(self, address: str = "", *, key: Optional[str] = None, timeout: float = 30.0,
                 cafile: Optional[str] = None, context: Optional[ssl.SSLContext] = None) -> None:
        if cafile is not None and context is not None:
            raise TypeError("cafile is for a context that is made here; give one of them")
        if cafile is not None:
            context = ssl.create_default_context(cafile=cafile)
        self._server = _Server(address, key, timeout, context)
        self._lock = threading.Lock()
        self._pool: Optional[_aio._Waiters] = None
        self._pid = os.getpid()
        self._closed = False
        self._c = None

    def _engine(self) -> Any:
        raise TypeError("this engine is at a server")

    def _threads(self) -> _aio._Waiters:
        """Threads for tools. One that hangs does not keep the program from its end."""
        if self._pid != os.getpid():  # threads stay behind at a fork, and so may a lock that one of them held
            self._lock, self._pool, self._pid = threading.Lock(), None, os.getpid()
        with self._lock:
            if self._pool is None:
                self._pool = _aio._Waiters(_TOOL_THREADS_MAX, "vial-tool")
            return self._pool

    def _begin(self, code: str, options: Dict[str, Any], context: CallContext, path: str = "/v1/runs",
               more: Optional[List[Tool]] = None) -> _RemoteRun:
        if self._closed:
            raise ClosedError("the engine is closed")
        body, tools = _body(options, code)
        known = tools + (more or []) + _environment_tools(options.get("environment"), self)
        return _RemoteRun(self, path, body, known, context, _output_of(options), options.get("approve"))

    def run(self, code: str, **options: Any) -> Result:
        context = CallContext()
        return Result(self._begin(code, options, context).wait())

    async def arun(self, code: str, **options: Any) -> Result:
        context = CallContext()
        context.loop = asyncio.get_running_loop()
        return await _in_thread(lambda: self._begin(code, options, context))

    def start(self, code: str, **options: Any) -> Run:
        context = CallContext()
        context.loop = _aio.running_loop()
        holder: List[Run] = []
        also = options.pop("on_output", None)

        def watch(stream: str, text: str) -> None:
            holder[0]._emit(Event(stream, text))
            if also is not None:
                also(stream, text)

        context.on_call = lambda name, args: holder[0]._emit(Event("call", (name, args)))
        run = Run(self._begin(code, {**options, "on_output": watch}, context), context)
        holder.append(run)
        return run

    def session(self, **options: Any) -> "RemoteSession":
        return RemoteSession(vial=self, **options)

    def environment(self, document: Any = None, **options: Any) -> "RemoteEnvironment":
        return RemoteEnvironment(document, vial=self, **options)

    @property
    def isolation(self) -> Dict[str, Any]:
        return self.run("1").isolation

    def settle(self, seconds: float = 1.0) -> None:
        pass

    def stats(self) -> Dict[str, Any]:
        return self._server.ask("GET", "/version")

    def close(self) -> None:
        self._closed = True


async def _in_thread(begin: Callable[[], _RemoteRun]) -> Result:
    holder: List[_RemoteRun] = []
    left = threading.Event()

    def work() -> Result:
        holder.append(begin())
        if left.is_set():  # while it was asked for
            holder[0].cancel()
        return Result(holder[0].wait())

    def cancel() -> None:
        left.set()
        if holder:
            holder[0].cancel()

    return await _aio.in_thread(work, cancel)


def _end_session(server: _Server, path: str, pid: int) -> None:
    """Ends a session that nobody has any more, at the latest when the program ends."""
    if pid != os.getpid():
        return  # it is the parent's
    try:
        server.ask("DELETE", path, timeout=_END_SECONDS_MAX)
    except Exception:
        pass  # it had ended, or the server has; nobody could do anything about it


class RemoteSession(Session):
    """Session at a server."""

    def __init__(self, *, vial: Optional[RemoteVial] = None, lang: Optional[str] = None, environment: Any = None, tools: Any = None,
                 limits: Optional[Mapping[str, int]] = None, timeout: Any = None,
                 files: Optional[Mapping[str, Union[bytes, str]]] = None, modules: Optional[Mapping[str, str]] = None,
                 env: Optional[Mapping[str, str]] = None, globals: Optional[Mapping[str, Any]] = None,
                 permissions: Any = None, name: Optional[str] = None, idle: Any = None, life: Any = None) -> None:
        vial = vial or environment._vial
        if not isinstance(vial, RemoteVial):
            raise TypeError("the environment is at a server, and the engine is not")
        self._remote = vial
        body, made = _body({"lang": lang, "environment": environment, "tools": tools, "limits": limits,
                            "timeout": timeout, "files": files, "modules": modules, "env": env, "globals": globals,
                            "permissions": permissions, "name": name}, "")
        del body["code"]
        for key, value in (("idle_s", idle), ("life_s", life)):
            if value is not None:
                body[key] = max(1, math.ceil(milliseconds(value, key) / 1000))
        self._remote_tools = made + _environment_tools(environment, vial)
        self.id: str = vial._server.ask("POST", "/v1/sessions", body)["id"]
        self._begin_life()

    def _begin_life(self) -> None:
        self._open = True
        self._now: Optional[_RemoteRun] = None
        self._finalizer = weakref.finalize(self, _end_session, self._remote._server, self._where(), os.getpid())

    def _where(self) -> str:
        if not self._open:
            raise ClosedError("the session is closed")
        return f"/v1/sessions/{self.id}"

    def _begin(self, code: str, options: Dict[str, Any], loop: Any) -> _RemoteRun:
        for name in ("tools", "files", "modules", "env", "globals", "environment", "lang"):
            if options.get(name) is not None:
                raise TypeError(f"{name} belongs to the session, not to one of its programs")
        context = CallContext()
        context.loop = loop
        made = self._remote._begin(code, options, context, self._where() + "/eval", self._remote_tools)
        self._now = made
        return made

    def eval(self, code: str, **options: Any) -> Result:
        return Result(self._begin(code, options, None).wait())

    async def aeval(self, code: str, **options: Any) -> Result:
        loop = asyncio.get_running_loop()
        return await _in_thread(lambda: self._begin(code, options, loop))

    def branch(self, count: Optional[int] = None) -> Any:
        if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
            raise TypeError(f"count must be a whole number, not {type(count).__name__}")
        said = self._remote._server.ask("POST", self._where() + "/branch", {"count": 1 if count is None else count})
        made = []
        for one in said["items"]:
            branch = RemoteSession.__new__(RemoteSession)
            branch._remote, branch._remote_tools, branch.id = self._remote, self._remote_tools, one["id"]
            branch._begin_life()
            made.append(branch)
        return made[0] if count is None else made

    def cancel(self) -> None:
        if self._now is not None:
            self._now.cancel()  # one that has ended does not mind

    def complete(self, text: str) -> List[str]:
        return self._remote._server.ask("POST", self._where() + "/complete", {"text": text})["names"]

    @property
    def info(self) -> Dict[str, Any]:
        return self._remote._server.ask("GET", self._where())

    @property
    def closed(self) -> bool:
        return not self._open

    def close(self) -> None:
        if self._open:
            where = self._where()
            self._open = False
            self._finalizer.detach()
            try:
                self._remote._server.ask("DELETE", where)
            except (ClosedError, VialError):
                pass  # it had ended


class RemoteEnvironment(Environment):
    """Environment at a server, where it is stored under its name: a new version each time it is made."""

    def _use(self, vial: Any) -> Any:
        return None

    def __init__(self, document: Any = None, *, vial: RemoteVial, **options: Any) -> None:
        super().__init__(document, vial=vial, **options)
        try:
            said = vial._server.ask("POST", "/v1/environments", self.document)
        except VialError as there_is_one:
            if there_is_one.code != -4:
                raise
            said = vial._server.ask("PUT", f"/v1/environments/{self.name}", self.document)
        self.reference = f"{self.name}@{said['version']}"

    def _check(self) -> None:
        if self._closed:
            raise ClosedError("the environment is closed")

    def run(self, code: str, **options: Any) -> Result:
        return self._vial.run(code, environment=self, **options)

    async def arun(self, code: str, **options: Any) -> Result:
        return await self._vial.arun(code, environment=self, **options)

    def session(self, **options: Any) -> RemoteSession:
        self._check()
        return RemoteSession(vial=self._vial, environment=self, **options)

    def start(self) -> Result:
        self._check()
        document = self._vial._server.ask("POST", f"/v1/environments/{self.reference}/test")
        return Result(JsonResult(document, read_value(document), {}))
