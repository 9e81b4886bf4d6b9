"""Runtime: a session of vial with the methods that users of jsrun know.

A runtime is a process behind the wall. What Python binds into it are host ops: numbers that two hidden tools are
called with. docs/python-binding.md says what is the same as in jsrun and what is not.
"""

import asyncio
import contextvars
import functools
import hashlib
import inspect
import json
import os
import pkgutil
import re
import sys
import threading
import time
import warnings
import weakref
from collections import OrderedDict
from typing import Any, AsyncIterable, Callable, Dict, List, Mapping, Optional, Set, Tuple

from .. import _aio, _vial
from .._engine import Vial, milliseconds
from .._errors import ClosedError
from .._tools import INLINE, MODULES, SYNC, ASYNC, VALUES, answer_with
from .._values import GuestError, undefined
from ._config import (
    HeapSizeWarning, JavaScriptError, RuntimeConfig, RuntimeStats, RuntimeTerminated, RuntimeTimeout, pack_snapshot,
    seconds_of, unpack_snapshot,
)
from ._values import STREAM_JS, JsFunction, JsStream, PyStreamSource, StreamFlag

_DAY_MS = 86_400_000
_MIB = 1024 * 1024
_HEAP_DEFAULT = 1024 * _MIB
_HEAP_MIN = 16 * _MIB  # below that a cell could not work at all
_SESSIONS_MAX = 256
_ENVIRONMENTS_MAX = 16  # snapshots that are kept ready; the one not used for longest goes
_FILE = "[eval]"

_HIDDEN = ("__vial_sync", "__vial_async", "__vial_modules")
_TOOL = {"timeout_ms": _DAY_MS, "calls_max": 1_000_000, "concurrency_max": 1000,
         "input_bytes_max": 64 * _MIB, "output_bytes_max": 64 * _MIB}

_inside: "contextvars.ContextVar[Any]" = contextvars.ContextVar("vial_jsrun_inside", default=None)


def _source(name: str) -> str:
    data = pkgutil.get_data(__package__, name)
    assert data is not None
    return data.decode()


# ---- the engine and its environments ----

def environment_document(console: bool, scripts: List[Tuple[str, str]], digest: str = "") -> Dict[str, Any]:
    """What runtimes begin in."""
    prefix = [_source("glue.js")] + ([] if console else [_source("quiet.js")])
    prefix += [source for _, source in scripts]
    return {
        "name": f"jsrun{'-console' if console else ''}{'-' + digest[:16] if digest else ''}",
        "prefix": ";\n".join(prefix),
        "tools": [{"name": name, "mode": "async" if name == "__vial_async" else "sync", **_TOOL} for name in _HIDDEN],
    }


@functools.lru_cache(maxsize=None)
def _glue_lines() -> int:
    """So many lines at the beginning of the prefix are glue.js, which is in nobody's program."""
    return _source("glue.js").count("\n")


class _Home:
    """The engine of all runtimes, and the environments that they begin in."""

    def __init__(self) -> None:
        self.vial = Vial(for_sessions=1, sessions_max=_SESSIONS_MAX)
        self._lock = threading.Lock()
        self._made: "OrderedDict[Tuple[Any, ...], Any]" = OrderedDict()
        self._engine: Any = None

    def _after_fork(self) -> None:
        self._lock = threading.Lock()

    def environment(self, console: bool, scripts: List[Tuple[str, str]]) -> Tuple[Any, Any]:
        if not scripts and self._engine is not None and self._engine is self.vial._c and self._engine.is_usable():
            made = self._made.get((console, ""))  # the usual case
            if made is not None:
                return self._engine, made
        key = (console, hashlib.sha256(json.dumps(scripts).encode()).hexdigest() if scripts else "")
        with self._lock:
            engine = self.vial._engine()
            if engine is not self._engine:
                self._made.clear()
                self._engine = engine
            made = self._made.get(key)
            if made is None:
                document = environment_document(console, scripts, key[1])
                made = _vial.Environment(engine, json.dumps(document), _vial.Tools(_Calls(lambda: None).rows(), None))
                self._made[key] = made
                if len(self._made) > _ENVIRONMENTS_MAX:
                    self._made.popitem(last=False)
            self._made.move_to_end(key)
            return engine, made



class _Calls:
    """The hidden tools. They hold no runtime, so that one that nobody uses any more can go."""

    __slots__ = ("_reference",)

    def __init__(self, reference: Callable[[], Any]) -> None:
        self._reference = reference

    def _runtime(self) -> Any:
        found = self._reference()
        if found is None:
            raise RuntimeError("the runtime is gone")
        return found

    def _ask(self, args: Any) -> Any:
        return self._runtime()._sync_op(args)

    def _ask_later(self, args: Any, call_id: int, run_id: int) -> None:
        self._runtime()._async_op(args, call_id)

    def _module(self, question: Any) -> Any:
        return self._runtime()._find_module(question["specifier"], question["referrer"])

    def rows(self) -> List[Tuple[Any, ...]]:
        return [(_HIDDEN[0], None, None, None, SYNC, INLINE | VALUES, 0, 0, 0, self._ask, False),
                (_HIDDEN[1], None, None, None, ASYNC, INLINE | VALUES, 0, 0, 0, self._ask_later, True),
                (_HIDDEN[2], None, None, None, SYNC, MODULES, 0, 0, 0, self._module, False)]


_home: Optional[_Home] = None
_home_lock = threading.Lock()


def _get_home() -> _Home:
    global _home
    if _home is None or _home.vial.closed:
        with _home_lock:
            if _home is None or _home.vial.closed:
                _home = _Home()
    return _home


def _reset_after_fork() -> None:
    global _home_lock
    _home_lock = threading.Lock()
    if _home is not None:
        _home._after_fork()


os.register_at_fork(after_in_child=_reset_after_fork)


class _Context:
    """Makes Python objects of what stays in the runtime, and holds it weakly."""

    naive_is_utc = True

    def __init__(self, runtime: "Runtime") -> None:
        self._reference = weakref.ref(runtime)
        self.has_streams = False
        self.engine: Any = None
        self.answer_bytes_max = runtime._bytes_max

    @property
    def runtime(self) -> Any:
        return self._reference()

    def make_function(self, handle: int) -> JsFunction:
        return self.runtime._make_function(handle)

    def make_url(self, text: str) -> Any:
        if text.startswith(STREAM_JS):
            return self.runtime._make_stream(int(text[len(STREAM_JS):]))
        return text


class _Op:
    __slots__ = ("name", "handler", "is_async")

    def __init__(self, name: str, handler: Callable[..., Any], is_async: bool) -> None:
        self.name = name
        self.handler = handler
        self.is_async = is_async


def _is_async(handler: Any) -> bool:
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None))


def _depth(value: Any, limit: int) -> bool:
    """Is it nested deeper than that?"""
    level = [value]
    for _ in range(limit + 1):
        inner: List[Any] = []
        for item in level:
            if isinstance(item, (list, set, tuple)):
                inner.extend(item)
            elif isinstance(item, dict):
                inner.extend(item.values())
        if not inner:
            return False
        level = inner
    return True


class Runtime:
    """A JavaScript runtime in a process of its own, behind the wall."""

    # What most runtimes never change; those that do have their own.
    _is_shut = False
    _terminated = ""
    _owner: Optional[int] = None
    _resolver: Optional[Callable[[str, str], Optional[str]]] = None
    _loader: Optional[Callable[[str], Any]] = None
    _is_async = False  # what is evaluated now, in a thread beside a loop
    _loop: Optional[asyncio.AbstractEventLoop] = None
    _functions: "Optional[weakref.WeakSet[JsFunction]]" = None
    _glue: Optional[int] = None
    _total_us = _last_us = 0
    _last_kind: Optional[str] = None
    _active_ops = _active_js_streams = _total_js_streams = _total_py_streams = 0
    _bytes_js_to_py = _bytes_py_to_js = 0

    def __init__(self, config: Optional[RuntimeConfig] = None) -> None:
        if config is None:
            config = _DEFAULT
        elif not isinstance(config, RuntimeConfig):
            raise TypeError(f"a Runtime takes a RuntimeConfig, not {type(config).__name__}")
        _check(config)
        if config.max_heap_size is not None and config.max_heap_size < _HEAP_MIN:
            warnings.warn(f"max_heap_size is {config.max_heap_size} bytes; a runtime here is a process with all its "
                          f"memory, and its limit is the least there is, {_HEAP_MIN} bytes", HeapSizeWarning, stacklevel=2)
        self._console = bool(config.enable_console)
        self._depth_max = config._depth
        self._bytes_max = config._bytes
        self._lock = threading.RLock()
        self._ops: List[_Op] = []
        self._static: Dict[str, str] = {}
        self._given: Set[str] = set()
        self._forgotten: List[int] = []
        self._py_streams: Dict[int, PyStreamSource] = {}
        self._counts: Dict[str, int] = {}
        context = self._context = _Context(self)
        scripts = unpack_snapshot(config.snapshot) if config.snapshot is not None else []
        engine, environment = _get_home().environment(self._console, scripts)
        context.engine = engine
        self._limits = _limits_of(config)
        self._session = engine.session({
            "environment": environment, "tools": _vial.Tools(_Calls(context._reference).rows(), context),
            "limits": self._limits, "context": context, "idle_ms_max": 7 * _DAY_MS, "life_ms_max": 7 * _DAY_MS})
        self._options: Dict[str, Any] = {"context": context, "name": _FILE}
        if self._console:
            self._options["on_output"] = _print
        if config.bootstrap is not None:
            try:
                self._evaluate(config.bootstrap, None, None)
            except BaseException:
                self.close()
                raise

    # ---- life ----

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(self, *unused: Any) -> bool:
        self.close()
        return False

    def __repr__(self) -> str:
        return f"<Runtime{' (closed)' if self._is_shut else ''}>"

    def is_closed(self) -> bool:
        return self._is_shut

    def close(self) -> None:
        """Ends the runtime; functions and streams of it cannot be used afterwards."""
        self._is_shut = True
        if self._py_streams:
            for stream in list(self._py_streams.values()):
                stream.close()
        if self._functions is not None:
            for function in list(self._functions):
                function._finalizer.detach()
            self._functions = None
        self._session.close()

    def terminate(self) -> None:
        """Stops what runs, from any thread, and the runtime with it."""
        if not self._is_shut:
            self._terminated = "Runtime terminated by host request"
            self.close()

    def _use(self) -> Any:
        if self._terminated:
            raise RuntimeTerminated(self._terminated)
        if self._is_shut:
            raise RuntimeError("Runtime is closed")
        return self._session

    # ---- one thing at a time ----

    def _enter(self) -> None:
        if _inside.get() is self or self._owner == threading.get_ident():
            raise RuntimeError("the runtime is busy: a function that JavaScript called cannot evaluate in it")
        self._lock.acquire()
        self._owner = threading.get_ident()
        try:
            session = self._use()
            while self._forgotten:
                session.release(self._forgotten.pop())
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        self._owner = None
        self._lock.release()

    def _do(self, kind: Optional[str], work: Callable[[], Any]) -> Any:
        """Does something in the session and takes its result apart."""
        self._enter()
        began = time.perf_counter()
        try:
            try:
                raw = work()
            except ClosedError as gone:
                if self._terminated:
                    raise RuntimeTerminated(self._terminated) from None
                self._is_shut = True
                raise RuntimeError(f"Runtime is closed: {gone}") from None
            if kind is not None:
                self._last_us = int((time.perf_counter() - began) * 1_000_000)
                self._total_us += self._last_us
                self._last_kind = kind
                name = kind + "_count"
                self._counts[name] = self._counts.get(name, 0) + 1
            if raw.status == "ok":
                return self._take(raw)
        finally:
            self._leave()
        return self._raise(raw)

    def _take(self, raw: Any) -> Any:
        if raw.value_bytes > self._bytes_max:
            raise RuntimeError(f"Size ({raw.value_bytes} bytes) exceeded maximum limit of {self._bytes_max} bytes")
        value = raw.value
        if isinstance(value, (list, dict, set)) and _depth(value, self._depth_max):
            raise RuntimeError(f"Depth exceeded maximum limit of {self._depth_max}")
        return value

    def _raise(self, raw: Any) -> Any:
        status, error = raw.status, raw.json.get("error") or {}
        if self._terminated:
            raise RuntimeTerminated(self._terminated)
        if not raw.session_lives:
            self.close()
        if status == "wall_limit" or status == "cpu_limit":
            raise RuntimeTimeout(f"Evaluation timed out: {error.get('message')}")
        if status == "memory_limit":
            self._terminated = f"Heap limit exceeded: {error.get('message')}"
            raise RuntimeTerminated(self._terminated)
        if status == "cancelled":
            raise RuntimeTerminated("Evaluation cancelled")
        name, message = error.get("name"), error.get("message") or ""
        if status != "exception":
            raise RuntimeError(f"Evaluation failed: {status}: {message}")
        if name == "DeadlockError":
            raise RuntimeError(f"Evaluation failed: the promise is still pending: {message}")
        if name == "TypeError" and "cannot cross to the host" in message:
            what = "circular reference: " if " is a cycle " in message else ""
            raise RuntimeError(f"Evaluation failed: {what}{message}")
        raise _error_of(error)

    def _limited(self, timeout: Any) -> Dict[str, Any]:
        if timeout is None:
            return self._options
        return {**self._options, "limits": {**self._limits, "wall_ms_max": milliseconds(seconds_of(timeout))}}

    def _evaluate(self, code: str, kind: Optional[str], timeout: Any) -> Any:
        if not isinstance(code, str):
            raise TypeError(f"the code must be a str, not {type(code).__name__}")
        options = self._limited(timeout)
        return self._do(kind, lambda: self._session.eval(code, options))

    def _glue_call(self, kind: Optional[str], name: str, args: List[Any], timeout: Any = None) -> Any:
        """Calls one of the operations of glue.js."""
        options = self._limited(timeout)

        def work() -> Any:
            if self._glue is None:
                self._glue = self._session.eval("vial$glue", {"context": _Plain()}).value
            self._context.has_streams = False
            try:
                # Two levels are ours.
                return self._session.call(self._glue, [name, args, StreamFlag(self._context)], options,
                                          self._depth_max + 3, self._bytes_max)
            except ValueError as refused:
                raise RuntimeError(str(refused)) from None

        return self._do(kind, work)

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        """Does it in a thread, and stops it when the task is cancelled."""
        if _inside.get() is self:
            raise RuntimeError("the runtime is busy: a function that JavaScript called cannot evaluate in it")
        state = {"began": False, "abandoned": False}
        loop = asyncio.get_running_loop()

        def job() -> Any:
            with self._lock:
                if state["abandoned"]:
                    return None
                state["began"] = True
                self._loop = loop
                self._is_async = True
                try:
                    return work()
                finally:
                    self._is_async = False

        def cancel() -> None:
            state["abandoned"] = True
            if state["began"]:
                self._session.cancel()

        return await _aio.in_thread(job, cancel)

    # ---- evaluating ----

    def eval(self, code: str) -> Any:
        """Evaluates JavaScript and waits for its value; a promise stands for what it settles with."""
        return self._evaluate(code, "eval_sync", None)

    async def eval_async(self, code: str, *, timeout: Any = None) -> Any:
        """The same without blocking the event loop."""
        if timeout is not None:
            seconds_of(timeout)
        self._use()
        return await self._in_thread(lambda: self._evaluate(code, "eval_async", timeout))

    def eval_module(self, specifier: str) -> Any:
        """Imports a module; a dict of what it exports."""
        return self._import(specifier, "eval_module_sync", None)

    async def eval_module_async(self, specifier: str, *, timeout: Any = None) -> Any:
        if timeout is not None:
            seconds_of(timeout)
        self._use()
        return await self._in_thread(lambda: self._import(specifier, "eval_module_async", timeout))

    def _import(self, specifier: str, kind: str, timeout: Any) -> Any:
        if not isinstance(specifier, str):
            raise TypeError(f"a specifier must be a str, not {type(specifier).__name__}")
        try:
            return self._glue_call(kind, "module", [specifier], timeout)
        except JavaScriptError as error:
            if error.name == "Error" and error.message.startswith("Cannot "):
                raise RuntimeError(f"Module loading failed: {error.message}") from None
            if error.name == "ModuleLoaderError":
                raise RuntimeError(f"Module loading failed: {error.message}") from None
            raise

    # ---- functions of JavaScript ----

    def _make_function(self, handle: int) -> JsFunction:
        made = JsFunction(self, handle)
        if self._functions is None:
            self._functions = weakref.WeakSet()
        self._functions.add(made)
        return made

    def _forget_later(self, handle: int) -> None:
        self._forgotten.append(handle)

    def _debug_tracked_function_count(self) -> int:
        return len(self._functions) if self._functions is not None else 0

    def _call_function(self, function: JsFunction, args: List[Any], timeout: Any) -> Any:
        if timeout is not None:
            seconds_of(timeout)
        box = self._glue_call("call_function_sync", "call", [function._handle, args], timeout)
        if box["state"] == "pending":
            return _Pending(self, box["id"], timeout)
        return _opened(box)

    async def _call_function_async(self, function: JsFunction, args: List[Any], timeout: Any) -> Any:
        if timeout is not None:
            seconds_of(timeout)
        return await self._in_thread(lambda: self._glue_call(
            "call_function_async", "callAndWait", [function._handle, args], timeout))

    # ---- ops ----

    def register_op(self, name: str, handler: Callable[..., Any], *, mode: str = "sync") -> int:
        """Gives a function of Python a number for __host_op_sync__ and __host_op_async__."""
        self._use()
        if not isinstance(name, str):
            raise TypeError(f"the name of a function must be a str, not {type(name).__name__}")
        if mode not in ("sync", "async"):
            raise ValueError(f"Invalid mode: {mode!r}; it is \"sync\" or \"async\"")
        if not callable(handler):
            raise TypeError("the handler of an op must be callable")
        if (mode == "async") != _is_async(handler):
            raise RuntimeError(f"the handler of the op {name} is "
                               f"{'not ' if mode == 'async' else ''}async, but its mode is {mode}")
        self._ops.append(_Op(name, handler, mode == "async"))
        return len(self._ops) - 1

    def _op(self, number: Any) -> _Op:
        if not isinstance(number, int) or not 0 <= number < len(self._ops):
            raise RuntimeError(f"there is no host op {number}")
        return self._ops[number]

    def _wrap(self, value: Any) -> List[Any]:
        """What glue.js opens: the value, and whether there are streams in it."""
        return [value, StreamFlag(self._context)]

    def _sync_op(self, args: List[Any]) -> Any:
        number, given = args
        op = self._op(number)
        if op.is_async:
            raise RuntimeError(f"the host op {op.name} is async; call it by __host_op_async__")
        self._context.has_streams = False
        value = op.handler(*given)
        if inspect.isawaitable(value):
            raise RuntimeError(f"the host op {op.name} returned an awaitable; bind it as an async function")
        return self._wrap(value)

    def _async_op(self, args: List[Any], call_id: int) -> None:
        number, given = args
        if number == -1:
            coroutine = self._next_piece(given)
        elif number == -2:
            coroutine = self._cancel_py_stream(given)
        else:
            op = self._op(number)
            coroutine = self._run_op(op, given)
        loop = self._loop if self._loop is not None and not self._loop.is_closed() else _aio.background_loop()
        self._active_ops += 1

        def done(finished: Any) -> None:
            self._active_ops -= 1
            answer_with(self._context, call_id, finished)

        asyncio.run_coroutine_threadsafe(coroutine, loop).add_done_callback(done)

    async def _run_op(self, op: _Op, given: List[Any]) -> Any:
        _inside.set(self)  # of this task only
        value = op.handler(*given)
        if inspect.isawaitable(value):
            value = await value
        return self._wrap(value)

    # ---- binding ----

    def bind_function(self, name: str, handler: Callable[..., Any]) -> None:
        """Makes a function of Python a global function of JavaScript."""
        if not callable(handler):
            raise TypeError("bind_function expects a callable")
        is_async = _is_async(handler)
        number = self.register_op(name, handler, mode="async" if is_async else "sync")
        self._glue_call(None, "bind", [name, False, [["", number, is_async, None]]])

    def bind_object(self, name: str, obj: Mapping[str, Any]) -> None:
        """Makes a mapping a global object of JavaScript: a copy, in which callables are functions."""
        self._use()
        if not isinstance(name, str):
            raise TypeError(f"the name of an object must be a str, not {type(name).__name__}")
        if not isinstance(obj, Mapping):
            raise TypeError(f"bind_object expects a mapping, not {type(obj).__name__}")
        rows = []
        for key, value in obj.items():
            if not isinstance(key, str):
                raise TypeError(f"the keys of a bound object must be str, not {type(key).__name__}")
            if callable(value) and not isinstance(value, JsFunction):
                is_async = _is_async(value)
                number = self.register_op(f"{name}.{key}", value, mode="async" if is_async else "sync")
                rows.append([key, number, is_async, None])
            else:
                rows.append([key, -1, False, value])
        self._glue_call(None, "bind", [name, True, rows])

    def bind(self, func: Any = None, /, *, name: Optional[str] = None) -> Any:
        """bind_function as a decorator, with or without a name."""

        def register(target: Any) -> Any:
            binding = name if name is not None else getattr(target, "__name__", None)
            if not binding:
                raise ValueError("A function name is required when binding to JavaScript")
            self.bind_function(binding, target)
            return target

        if func is None:
            return register
        if not callable(func):
            raise TypeError("runtime.bind expects a callable or to be used as a decorator")
        return register(func)

    # ---- modules ----

    def add_static_module(self, name: str, source: str) -> None:
        """A module that can be imported by that name."""
        self._use()
        if not isinstance(name, str) or not isinstance(source, str):
            raise TypeError("the name and the source of a module must be str")
        self._static[name] = source

    def set_module_resolver(self, resolver: Callable[[str, str], Optional[str]]) -> None:
        """Is asked (specifier, referrer) first; a URL, or nothing for "not mine"."""
        if not callable(resolver):
            raise TypeError("a module resolver must be callable")
        self._resolver = resolver

    def set_module_loader(self, loader: Callable[[str], Any]) -> None:
        """Is asked for the source of a URL; it may be async."""
        if not callable(loader):
            raise TypeError("a module loader must be callable")
        self._loader = loader

    def _find_module(self, specifier: str, referrer: Optional[str]) -> Any:
        url = self._resolver(specifier, referrer or "") if self._resolver is not None else None
        if url is not None and not isinstance(url, str):
            raise TypeError(f"the module resolver returned {type(url).__name__}, not a str")
        name = url or specifier
        for start in ("jsrun://static/", "static:"):
            if name.startswith(start):
                name = name[len(start):]
        if name in self._static:
            return self._give_module(name, self._static[name])
        if url and self._loader is not None:
            return {"name": url} if url in self._given else self._give_module(url, self._load(url))
        return None

    def _give_module(self, name: str, source: Any) -> Any:
        if not isinstance(source, str):
            raise TypeError(f"the module loader returned {type(source).__name__}, not a str")
        self._given.add(name)
        return {"name": name, "source": source}

    def _load(self, url: str) -> Any:
        assert self._loader is not None
        try:
            source = self._loader(url)
        except Exception as failed:
            raise ModuleLoaderError(f"the loader failed for {url}: {failed}") from failed
        if not inspect.isawaitable(source):
            return source
        if self._loop is None or not self._is_async:
            if inspect.iscoroutine(source):
                source.close()
            raise ModuleLoaderError("an async module loader cannot be used in a synchronous evaluation; use "
                                    "eval_module_async or eval_async")
        try:
            return _aio.start_in(self._loop, source).result()
        except Exception as failed:
            raise ModuleLoaderError(f"the loader failed for {url}: {failed!r}") from failed

    # ---- streams ----

    def stream_from_async_iterable(self, iterable: AsyncIterable[Any]) -> PyStreamSource:
        """An async iterable as something that JavaScript sees as a ReadableStream."""
        self._use()
        if not hasattr(iterable, "__aiter__"):
            raise TypeError("stream_from_async_iterable expects an async iterable")
        self._total_py_streams += 1
        made = PyStreamSource(self, self._total_py_streams, iterable)
        self._py_streams[made._number] = made
        return made

    def _drop_py_stream(self, number: int) -> None:
        self._py_streams.pop(number, None)

    async def _next_piece(self, number: int) -> Any:
        _inside.set(self)
        stream = self._py_streams.get(number)
        piece = await stream.next() if stream is not None else [True, None]
        self._bytes_py_to_js += _size(piece[1])
        return self._wrap(piece)

    async def _cancel_py_stream(self, number: int) -> Any:
        stream = self._py_streams.get(number)
        if stream is not None:
            await stream.cancel()
        return self._wrap(None)

    def _make_stream(self, number: int) -> JsStream:
        self._active_js_streams += 1
        self._total_js_streams += 1
        return JsStream(self, number)

    async def _read_stream(self, number: int) -> Any:
        piece = await self._in_thread(lambda: self._glue_call(None, "read", [number]))
        self._bytes_js_to_py += _size(piece.get("value"))
        return piece

    def _cancel_stream(self, number: int) -> None:
        if not self._is_shut:
            self._glue_call(None, "cancel", [number])

    # ---- about it ----

    def get_stats(self) -> RuntimeStats:
        """What it uses now, and has done so far."""
        self._use()
        inside: Dict[str, Any] = {}
        if self._owner is None:
            inside = self._glue_call(None, "stats", [])
        memory = self._session.info()["memory_bytes"]
        timers, intervals = int(inside.get("timers", 0)), int(inside.get("intervals", 0))
        return RuntimeStats(
            heap_total_bytes=memory, heap_used_bytes=memory, external_memory_bytes=0, physical_total_bytes=memory,
            total_execution_time_ms=self._total_us // 1000, last_execution_time_ms=self._last_us // 1000,
            last_execution_kind=self._last_kind, active_async_ops=self._active_ops,
            open_resources=timers + intervals + self._active_js_streams + len(self._py_streams),
            active_timers=timers, active_intervals=intervals, active_js_streams=self._active_js_streams,
            active_py_streams=len(self._py_streams), total_js_streams=self._total_js_streams,
            total_py_streams=self._total_py_streams, bytes_streamed_js_to_py=self._bytes_js_to_py,
            bytes_streamed_py_to_js=self._bytes_py_to_js, **self._counts)

    def inspector_endpoints(self) -> None:
        """There is no inspector."""
        return None


_DEFAULT = RuntimeConfig()


def _limits_of(config: RuntimeConfig) -> Dict[str, int]:
    timeout, heap = config.timeout, config.max_heap_size
    return {
        "wall_ms_max": _DAY_MS if timeout is None else milliseconds(timeout), "cpu_ms_max": _DAY_MS,
        "memory_bytes_max": _HEAP_DEFAULT if heap is None else max(heap, _HEAP_MIN), "calls_max": 1_000_000,
        "calls_at_once_max": 1000, "call_bytes_max": 64 * _MIB, "value_bytes_max": 256 * _MIB,
    }


class ModuleLoaderError(RuntimeError):
    """A module loader failed; JavaScript sees it by this name."""


class _Plain:
    """Makes numbers of functions."""

    @staticmethod
    def make_function(handle: int) -> int:
        return handle


class _Pending:
    """A call whose promise was not settled when it returned."""

    def __init__(self, runtime: Runtime, number: int, timeout: Any) -> None:
        self._runtime = runtime
        self._number = number
        self._timeout = timeout

    def __await__(self) -> Any:
        runtime = self._runtime
        return runtime._in_thread(
            lambda: runtime._glue_call(None, "wait", [self._number], self._timeout)).__await__()


def _opened(box: Dict[str, Any]) -> Any:
    value = box.get("value", undefined)
    if box["state"] != "failed":
        return value
    if isinstance(value, GuestError):
        raise _error_of({"name": value.name, "message": value.message, "stack": value.stack})
    raise JavaScriptError(str(value))


# A line of a stack: function, file, line and column.
_FRAME = re.compile(r"^\s+at (?:(.*) \()?(.*?):(\d+)(?::(\d+))?\)?$")


def _frame_of(line: str) -> Optional[Dict[str, Any]]:
    found = _FRAME.match(line)
    return found and {"function": found[1], "file": found[2], "line": int(found[3]),
                      "column": int(found[4]) if found[4] else None}


def _is_glue(frame: Optional[Dict[str, Any]]) -> bool:
    return frame is not None and frame.get("file") == "prefix.js" and (frame.get("line") or 0) <= _glue_lines()


def _error_of(error: Dict[str, Any]) -> JavaScriptError:
    stack = error.get("stack") or ""
    lines = [(line, _frame_of(line)) for line in stack.split("\n")]
    given = error.get("frames") or [frame for _, frame in lines if frame is not None]
    frames = [{"function_name": one.get("function") or None, "file_name": (one.get("file") or "").replace(_FILE, "<eval>"),
               "line_number": one.get("line"), "column_number": one.get("column")} for one in given if not _is_glue(one)]
    shown = "\n".join(line for line, frame in lines if not _is_glue(frame)).replace(_FILE, "<eval>")
    name = error.get("name")
    return JavaScriptError(error.get("message") or "", name=None if name == "Thrown value" else name,
                           stack=shown or None, frames=frames)


def _check(config: RuntimeConfig) -> None:
    if config.initial_heap_size is not None:
        if config.max_heap_size is None:
            raise RuntimeError("initial_heap_size needs max_heap_size to be set, too")
        if config.initial_heap_size > config.max_heap_size:
            raise RuntimeError("initial_heap_size cannot exceed max_heap_size")
    if config.inspector is not None:
        raise RuntimeError("there is no inspector: a cell has no network for one")


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-8", "replace"))
    return len(value) if isinstance(value, (bytes, bytearray)) else 0


def _print(stream: int, data: bytes) -> None:
    target = sys.stdout if stream == 1 else sys.stderr
    target.write(data.decode("utf-8", "replace"))
    target.flush()


class SnapshotBuilder:
    """Runs scripts whose globals runtimes then begin with, without running them again."""

    def __init__(self, *, bootstrap: Optional[str] = None, enable_console: Optional[bool] = False) -> None:
        self._console = bool(enable_console)
        self._runtime: Optional[Runtime] = Runtime(RuntimeConfig(enable_console=enable_console))
        self._scripts: List[Tuple[str, str]] = []
        if bootstrap is not None:
            self.execute_script("bootstrap", bootstrap)

    def execute_script(self, name: str, source: str) -> None:
        if self._runtime is None:
            raise RuntimeError("the snapshot was built already")
        self._runtime.eval(source + "\n;void 0")
        self._scripts.append((name, source))

    def build(self) -> bytes:
        """The snapshot. It can be used once the builder is gone, and in other processes."""
        if self._runtime is None:
            raise RuntimeError("the snapshot was built already")
        self._runtime.close()
        self._runtime = None
        return pack_snapshot(self._scripts, self._console)
