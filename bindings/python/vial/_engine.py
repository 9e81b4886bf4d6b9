"""Engines, and runs in them."""

import asyncio
import atexit
import codecs
import inspect
import json
import os
import queue
import signal
import sys
import threading
import weakref
from typing import Any, AsyncIterator, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Union

from . import _aio, _vial
from ._errors import ClosedError
from ._result import Result
from ._tools import CallContext, Tool, as_tools, tool_rows
from ._values import undefined

LANGUAGES = {
    None: 0, "auto": 0, "javascript": 1, "js": 1, "typescript": 2, "ts": 2, "python": 3, "py": 3,
}
KINDS = {None: 0, "auto": 0, "script": 1, "module": 2}
SCANS = {None: 0, "auto": 0, "warn": 1, "block": 2, "only": 3}
STREAMS = {1: "stdout", 2: "stderr"}
APPROVAL_LATER, APPROVAL_YES, APPROVAL_NO = 0, 1, 2


def _choose(table: Mapping[Any, int], value: Any, what: str) -> int:
    try:
        return table[value.lower() if isinstance(value, str) else value]
    except (KeyError, TypeError):
        known = ", ".join(repr(name) for name in table if name)
        raise ValueError(f"{what} is {value!r}; there are {known}") from None


def language_number(lang: Optional[str]) -> int:
    return _choose(LANGUAGES, lang, "lang")


def milliseconds(seconds: Any, what: str = "timeout") -> int:
    """A time in seconds, or as a timedelta, as whole milliseconds of at least one."""
    if hasattr(seconds, "total_seconds"):
        seconds = seconds.total_seconds()
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{what} must be a number of seconds, not {type(seconds).__name__}")
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{what} must be more than 0 and finite, not {seconds!r}")
    return max(1, round(seconds * 1000))


def _json_text(value: Any) -> Optional[str]:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _limits(limits: Optional[Mapping[str, int]], timeout: Any) -> Optional[Dict[str, int]]:
    if limits is not None and not isinstance(limits, Mapping):
        raise TypeError(f"limits must be a dict of names and numbers, not {type(limits).__name__}")
    if timeout is None:
        return dict(limits) if limits else None
    return {**(limits or {}), "wall_ms_max": milliseconds(timeout)}


def env_list(env: Any) -> List[str]:
    """The environment variables as NAME=value."""
    if not isinstance(env, Mapping):
        raise TypeError(f"env must be a dict of names and values, not {type(env).__name__}")
    for name in env:
        if not isinstance(name, str) or not name or "=" in name:
            raise ValueError(f"{name!r} cannot be the name of an environment variable")
    return [f"{name}={value}" for name, value in env.items()]


def _words(value: Any, what: str) -> List[str]:
    """A list of str; a single str would be a list of letters."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{what} must be a list of str, not one {type(value).__name__}")
    return list(value)


class Event(NamedTuple):
    """Something that a run did: type is "stdout", "stderr" (data: str), "call" (data: (name, args)) or "result"."""

    type: str
    data: Any


def _output_to(stdout: Optional[Callable[[str], Any]], stderr: Optional[Callable[[str], Any]],
               both: Optional[Callable[[str, str], Any]]) -> Optional[Callable[[int, bytes], None]]:
    """What the library calls with pieces of bytes, for functions that take text."""
    if stdout is None and stderr is None and both is None:
        return None
    for one in (stdout, stderr, both):
        if one is not None and not callable(one):
            raise TypeError("on_output, on_stdout and on_stderr must be callable")
    decoders = {number: codecs.getincrementaldecoder("utf-8")("replace") for number in STREAMS}

    def give(number: int, data: bytes) -> None:
        text = decoders[number].decode(data)
        single = stdout if number == 1 else stderr
        if not text:
            return
        if both is not None:
            both(STREAMS[number], text)
        if single is not None:
            single(text)

    return give


def _approver(approve: Any, tools: Sequence[Tool], context: CallContext) -> Optional[Callable[..., int]]:
    asked = {one.name: one.approve for one in tools if callable(one.approve)}
    if approve is None and not asked:
        return None
    if approve is not None and not callable(approve) and not isinstance(approve, bool):
        raise TypeError("approve must be True, False or a function of a tool's name and arguments")

    def settle(call_id: int, finished: Any) -> None:
        yes = not finished.cancelled() and finished.exception() is None and bool(finished.result())
        try:
            _vial.approve(context.engine, call_id, yes, None)
        except RuntimeError:
            pass  # the engine is closed

    def ask(name: str, args: Any, call_id: int) -> int:
        judge = asked.get(name, approve)
        said = judge(name, args) if callable(judge) else judge
        if inspect.isawaitable(said):
            future = _aio.start_in(context.loop or _aio.background_loop(), said)
            future.add_done_callback(lambda finished: settle(call_id, finished))
            return APPROVAL_LATER
        return APPROVAL_YES if said else APPROVAL_NO

    return ask


def run_options(
    context: Any,
    *,
    lang: Optional[str] = None,
    input: Any = undefined,
    tools: Any = None,
    limits: Optional[Mapping[str, int]] = None,
    timeout: Any = None,
    files: Optional[Mapping[str, Union[bytes, str]]] = None,
    outs: Optional[Sequence[str]] = None,
    env: Optional[Mapping[str, str]] = None,
    args: Optional[Sequence[str]] = None,
    cwd: Optional[str] = None,
    stdin: Union[bytes, str, None] = None,
    modules: Optional[Mapping[str, str]] = None,
    kind: Optional[str] = None,
    name: Optional[str] = None,
    main: bool = False,
    environment: Any = None,
    globals: Optional[Mapping[str, Any]] = None,
    permissions: Any = None,
    net: Any = None,
    scan: Optional[str] = None,
    approve: Any = None,
    on_output: Optional[Callable[[str, str], Any]] = None,
    on_stdout: Optional[Callable[[str], Any]] = None,
    on_stderr: Optional[Callable[[str], Any]] = None,
    record_calls: bool = False,
    text: bool = False,
    **unknown: Any,
) -> Dict[str, Any]:
    """The options of the extension module for those of ``run``."""
    if unknown:
        raise TypeError(f"run has no option {next(iter(unknown))!r}")
    o: Dict[str, Any] = {"context": context}
    if lang is not None:
        o["language"] = language_number(lang)
    if input is not undefined:
        o["input"] = input
    made = as_tools(tools) if tools is not None else []
    if made:
        o["tools"] = _vial.Tools(tool_rows(made, context), context)
    if limits is not None or timeout is not None:
        o["limits"] = _limits(limits, timeout)
    if env is not None:
        o["env"] = env_list(env)
    if approve is not None or made:
        o["on_approve"] = _approver(approve, made, context)
    if on_output is not None or on_stdout is not None or on_stderr is not None:
        o["on_output"] = _output_to(on_stdout, on_stderr, on_output)
    for key, value in (("outs", outs), ("args", args)):
        if value is not None:
            o[key] = _words(value, key)
    for key, value in (("files", files), ("cwd", cwd), ("stdin", stdin), ("modules", modules), ("name", name),
                       ("environment", environment)):
        if value is not None:
            o[key] = dict(value) if isinstance(value, Mapping) else value
    for key, value in (("globals", globals), ("permissions", permissions), ("net", net)):
        if value is not None:
            o[key] = _json_text(value)
    if kind is not None:
        o["kind"] = _choose(KINDS, kind, "kind")
    if scan is not None:
        o["scan"] = _choose(SCANS, scan, "scan")
    if main or record_calls or text:
        o.update(main=main, record_calls=record_calls, want_text=text)
    return o


class Run:
    """A run that was started: wait for it, watch it, cancel it."""

    def __init__(self, raw: Any, context: CallContext) -> None:
        self._raw = raw
        self._context = context
        self._events: "queue.SimpleQueue[Event]" = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._watcher: Optional[Callable[[Event], None]] = None
        self._result: Optional[Result] = None
        self._error: Optional[BaseException] = None
        self._done = threading.Event()
        self._has_begun = False

    def _emit(self, event: Event) -> None:
        with self._lock:
            if self._watcher is None:
                self._events.put(event)
                return
            watcher = self._watcher
        watcher(event)

    def _wait(self) -> None:
        try:
            self._result = Result(self._raw.wait())
        except BaseException as raised:
            self._error = raised
        self._context.cancel()
        self._done.set()
        self._emit(Event("result", self._result))

    def _begin(self, in_thread: bool) -> None:
        with self._lock:
            if self._has_begun:
                return
            self._has_begun = True
        if in_thread:
            _aio._waiters.submit(self._wait, lambda value, error: None)
        else:
            self._wait()

    def _outcome(self) -> Result:
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def wait(self) -> Result:
        """Waits for the end, here."""
        self._begin(in_thread=False)
        self._done.wait()
        return self._outcome()

    def cancel(self) -> None:
        """Stops the run, from any thread; its result then has the status "cancelled"."""
        self._raw.cancel()

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def __iter__(self) -> Iterator[Event]:
        """Events as they come; the last one is the result."""
        self._begin(in_thread=True)
        while True:
            event = self._events.get()
            if event.type == "result":
                yield Event("result", self._outcome())
                return
            yield event

    async def events(self) -> AsyncIterator[Event]:
        """The same for ``async for``. Leaving the loop early does not stop the run."""
        loop = asyncio.get_running_loop()
        incoming: "asyncio.Queue[Event]" = asyncio.Queue()

        def watch(event: Event) -> None:
            try:
                loop.call_soon_threadsafe(incoming.put_nowait, event)
            except RuntimeError:
                pass  # the loop is closed

        with self._lock:
            self._watcher = watch
            while not self._events.empty():
                incoming.put_nowait(self._events.get())
        self._begin(in_thread=True)
        try:
            while True:
                event = await incoming.get()
                if event.type == "result":
                    yield Event("result", self._outcome())
                    return
                yield event
        except asyncio.CancelledError:
            self.cancel()
            raise

    async def result(self) -> Result:
        """Waits for the end, in a task."""
        self._begin(in_thread=True)
        if not self._done.is_set():
            await _aio.in_thread(self._done.wait, self.cancel)
        return self._outcome()

    def __await__(self) -> Any:
        return self.result().__await__()


_all_engines: "weakref.WeakSet[Vial]" = weakref.WeakSet()


class Vial:
    """An engine of one's own. It starts when it is first used, once in each process.

    Options: pool_count, runs_max, queue_count_max, queue_ms_max, no_jit, quick, cell_path, require, sessions_max,
    tool_threads_max, for_sessions, language, env_bytes_max; struct vial_engine_options in vial.h says what they are.
    With an address, ``Vial("https://...", key=...)``, all of it happens at a vial serve.
    """

    _OPTIONS = frozenset((
        "pool_count", "runs_max", "queue_count_max", "queue_ms_max", "no_jit", "quick", "cell_path", "require",
        "sessions_max", "tool_threads_max", "for_sessions", "language", "env_bytes_max"))

    def __new__(cls, address: Optional[str] = None, **options: Any) -> Any:
        if address is not None and cls is Vial:
            if not isinstance(address, str):
                raise TypeError(f"the address of a server must be a str, not {type(address).__name__}")
            from ._remote import RemoteVial
            return super().__new__(RemoteVial)
        return super().__new__(cls)

    def __init__(self, address: Optional[str] = None, **options: Any) -> None:
        for name in options:
            if name not in self._OPTIONS:
                raise TypeError(f"an engine has no option {name!r}; there are {', '.join(sorted(self._OPTIONS))}")
        if isinstance(options.get("language"), str):
            options["language"] = language_number(options["language"])
        if isinstance(options.get("require"), (list, tuple)):
            options["require"] = ",".join(options["require"])
        self._options = options
        self._lock = threading.Lock()
        self._c: Any = None
        self._closed = False
        _all_engines.add(self)

    def _engine(self) -> Any:
        """The engine of this process."""
        engine = self._c
        if engine is not None and engine.is_usable():
            return engine
        with self._lock:
            if self._closed:
                raise ClosedError("the engine is closed")
            if self._c is None or not self._c.is_usable():
                self._c = _vial.Engine(self._options)
                _watch_interrupts()
                _close_with_process(self)
            return self._c

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        self._c = None

    def close(self) -> None:
        """Cancels what runs, ends all sessions and cells. It cannot be used afterwards."""
        with self._lock:
            engine = self._c
        if engine is not None:
            engine.close()
        with self._lock:
            self._closed = True
            self._c = None

    @property
    def closed(self) -> bool:
        return self._closed

    def __enter__(self) -> "Vial":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    async def __aenter__(self) -> "Vial":
        return self

    async def __aexit__(self, *unused: Any) -> None:
        self.close()

    # ---- runs ----

    def run(self, code: str, **options: Any) -> Result:
        """Runs a program in a fresh process and waits for its end."""
        engine = self._engine()
        context = CallContext()
        context.engine = engine
        _take_environment(self, options, context)
        raw = engine.start(code, run_options(context, **options))
        try:
            return Result(raw.wait())
        finally:
            context.cancel()

    async def arun(self, code: str, **options: Any) -> Result:
        """The same for tasks. A task that is cancelled cancels the run."""
        engine = self._c if self._c is not None and self._c.is_usable() else await _aio.in_thread(self._engine, _nothing)
        context = CallContext()
        context.engine = engine
        context.loop = asyncio.get_running_loop()
        _take_environment(self, options, context)
        raw = engine.start(code, run_options(context, **options))
        try:
            return await _aio.in_thread(lambda: Result(raw.wait()), raw.cancel)
        finally:
            context.cancel()

    def start(self, code: str, **options: Any) -> Run:
        """Starts a program; the Run that is returned is waited for, watched or cancelled."""
        engine = self._engine()
        context = CallContext()
        context.engine = engine
        context.loop = _aio.running_loop()
        _take_environment(self, options, context)
        holder: List[Run] = []
        also = options.pop("on_output", None)

        def watch(stream: str, text: str) -> None:
            holder[0]._emit(Event(stream, text))
            if also is not None:
                also(stream, text)

        context.on_call = lambda name, args: holder[0]._emit(Event("call", (name, args)))
        made = run_options(context, on_output=watch, **options)
        run = Run.__new__(Run)
        holder.append(run)
        run.__init__(engine.start(code, made), context)  # type: ignore[misc]
        return run

    # ---- what stays ----

    def session(self, **options: Any) -> Any:
        """A session in this engine: see Session."""
        from ._session import Session
        return Session(vial=self, **options)

    def environment(self, document: Any = None, **options: Any) -> Any:
        """An environment in this engine: see Environment."""
        from ._session import Environment
        return Environment(document, vial=self, **options)

    @property
    def isolation(self) -> Dict[str, Any]:
        """Which layers of the wall hold on this machine."""
        return json.loads(self._engine().isolation())

    def settle(self, seconds: float = 1.0) -> None:
        """Waits until the pool is full, for measuring or for warming up on purpose."""
        self._engine().settle(milliseconds(seconds, "seconds"))

    def stats(self) -> Dict[str, int]:
        return self._engine().stats()


def _nothing() -> None:
    pass


def _take_environment(vial: Vial, options: Dict[str, Any], context: CallContext) -> None:
    """Lets the environment of a run say what it is for the extension module, and who does its tools."""
    environment = options.get("environment")
    if environment is None:
        return
    if not hasattr(environment, "_prepare"):
        raise TypeError(f"environment must be a vial.Environment, not {type(environment).__name__}")
    environment._prepare(vial, options)


# ---- Ctrl-C, for threads ----

_watching = False


def _cancel_in_threads(number: int) -> None:
    """Waits for SIGINTs. With Python's own handler, which ends the program, runs in other threads end, too.

    A server that has a handler of its own may want to let them come to their end.
    """
    while True:
        try:
            os.read(number, 8)
        except OSError:
            return
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            for one in list(_all_engines):
                engine = one._c
                if engine is not None:
                    engine.interrupt()


def _watch_interrupts() -> None:
    global _watching
    if not _watching:
        _watching = True
        threading.Thread(target=_cancel_in_threads, args=(_vial.interrupts(),), name="vial-interrupt", daemon=True).start()


# ---- one for everybody ----

_default: Optional[Vial] = None
_default_lock = threading.Lock()


def default_engine() -> Vial:
    """The engine behind vial.run() and all that is not given one."""
    global _default
    if _default is None or _default.closed:
        with _default_lock:
            if _default is None or _default.closed:
                _default = Vial()
    return _default


def _reset_after_fork() -> None:
    global _default_lock, _watching
    _default_lock = threading.Lock()
    _watching = False
    _vial.after_fork()
    for one in list(_all_engines):
        one._after_fork()


def _close_all() -> None:
    _vial.stop()
    for one in list(_all_engines):
        try:
            one.close()
        except Exception:
            pass  # nobody could do anything about it any more


def _close_with_process(vial: Vial) -> None:
    """Children of multiprocessing end without atexit, but call what is registered here."""
    if "multiprocessing.process" in sys.modules:
        import multiprocessing
        from multiprocessing import util
        if multiprocessing.parent_process() is not None:
            util.Finalize(None, _close_all, exitpriority=10)


os.register_at_fork(after_in_child=_reset_after_fork)
atexit.register(_close_all)
