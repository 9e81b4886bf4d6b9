"""The shape of E2B's code interpreter on vial: ``Sandbox.create()``, ``sandbox.run_code(code)``, and ``AsyncSandbox``."""

import base64
import json as _json
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Union

from .. import _aio
from .._engine import Vial, default_engine, language_number
from .._session import Environment, Session, _is_remote

_NAMES = {"text/plain": "text", "text/html": "html", "text/markdown": "markdown", "image/svg+xml": "svg",
          "image/png": "png", "image/jpeg": "jpeg", "application/pdf": "pdf", "text/latex": "latex",
          "application/json": "json", "application/javascript": "javascript"}
_BINARY = ("png", "jpeg", "pdf")
_TIMEOUT = 300.0  # of one run_code, and of a sandbox, unless told otherwise
_DAY = 86400.0
_HOME = "/home/vial"


class OutputMessage(str):
    """A piece of output: a str that also has line, timestamp (in nanoseconds) and error."""

    line: str
    timestamp: int
    error: bool

    def __new__(cls, line: str, timestamp: int = 0, error: bool = False) -> "OutputMessage":
        made = super().__new__(cls, line)
        made.line, made.timestamp, made.error = line, timestamp, error
        return made


@dataclass
class Logs:
    stdout: List[str] = field(default_factory=list)
    stderr: List[str] = field(default_factory=list)

    def to_json(self) -> str:
        return _json.dumps({"stdout": self.stdout, "stderr": self.stderr})


@dataclass
class ExecutionError:
    name: str
    value: str
    traceback: str

    def to_json(self) -> str:
        return _json.dumps({"name": self.name, "value": self.value, "traceback": self.traceback})


@dataclass
class Result:
    """The value, or something that was shown; images are base64."""

    text: Optional[str] = None
    html: Optional[str] = None
    markdown: Optional[str] = None
    svg: Optional[str] = None
    png: Optional[str] = None
    jpeg: Optional[str] = None
    pdf: Optional[str] = None
    latex: Optional[str] = None
    json: Any = None
    javascript: Optional[str] = None
    data: Any = None
    chart: Any = None
    is_main_result: bool = False
    extra: Optional[Dict[str, Any]] = None

    def formats(self) -> List[str]:
        return [name for name in _NAMES.values() if getattr(self, name) is not None] + list(self.extra or ())

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __str__(self) -> str:
        return f"Result({self.text})" if self.text else f"Result(Formats: {', '.join(self.formats())})"

    def _repr_html_(self) -> Optional[str]:
        return self.html

    def _repr_png_(self) -> Optional[str]:
        return self.png


@dataclass
class Execution:
    results: List[Result] = field(default_factory=list)
    logs: Logs = field(default_factory=Logs)
    error: Optional[ExecutionError] = None
    execution_count: Optional[int] = None

    @property
    def text(self) -> Optional[str]:
        for one in self.results:
            if one.is_main_result:
                return one.text
        return None

    def to_json(self) -> str:
        results = [{**{name: one[name] for name in one.formats() if hasattr(one, name)}, "text": one.text}
                   for one in self.results]
        return _json.dumps({"results": results, "logs": self.logs.to_json(),
                            "error": self.error.to_json() if self.error is not None else None})


@dataclass
class Context:
    """A session of its own, beside the ones that the languages have."""

    id: str
    language: str
    cwd: str = _HOME


def _shown(data: Dict[str, bytes]) -> Result:
    made = Result()
    for mime, content in data.items():
        name = _NAMES.get(mime)
        if name is None:
            made.extra = {**(made.extra or {}), mime: content.decode("utf-8", "replace")}
        elif name in _BINARY:
            setattr(made, name, base64.b64encode(content).decode("ascii"))
        elif name == "json":
            made.json = _json.loads(content)
        else:
            setattr(made, name, content.decode("utf-8", "replace"))
    return made


class _Output:
    """Keeps the output of a run and tells it as it comes."""

    def __init__(self, done: Execution, on_stdout: Any, on_stderr: Any) -> None:
        self._done, self._on_stdout, self._on_stderr = done, on_stdout, on_stderr

    def out(self, text: str) -> None:
        self._done.logs.stdout.append(text)
        if self._on_stdout is not None:
            self._on_stdout(OutputMessage(text, time.time_ns(), False))

    def err(self, text: str) -> None:
        self._done.logs.stderr.append(text)
        if self._on_stderr is not None:
            self._on_stderr(OutputMessage(text, time.time_ns(), True))


class Sandbox:
    """A session for each language, which keeps its names between calls.

    timeout is the life of the sandbox in seconds, as E2B has it; run_code has one of its own.
    """

    def __init__(self, *, vial: Optional[Vial] = None, timeout: Optional[float] = None,
                 envs: Optional[Dict[str, str]] = None, packages: Optional[List[str]] = None) -> None:
        self._vial = vial or default_engine()
        self._envs, self._packages = envs, packages
        self._sessions: Dict[str, Session] = {}
        self._contexts: Dict[str, Context] = {}
        self._count = 0
        self._killed = False
        self._now: Optional[Session] = None
        self.set_timeout(_TIMEOUT if timeout is None else timeout)

    @classmethod
    def create(cls, **options: Any) -> Any:
        return cls(**options)

    def set_timeout(self, timeout: float) -> None:
        """The sandbox is killed so many seconds from now."""
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= _DAY:
            raise ValueError(f"timeout must be more than 0 and at most {_DAY:.0f} seconds, not {timeout!r}")
        self._until = time.monotonic() + timeout

    def is_running(self) -> bool:
        if not self._killed and time.monotonic() >= self._until:
            self.kill()
        return not self._killed

    def _check(self) -> None:
        if not self.is_running():
            raise RuntimeError("the sandbox was killed, or its timeout is over")

    def _session(self, context: Context) -> Session:
        session = self._sessions.get(context.id)
        if session is None or session.closed:
            if self._packages and context.language == "python":
                environment = Environment(vial=self._vial, lang=context.language, packages=self._packages,
                                          env=self._envs or {})
                session = environment.session()
            else:
                session = Session(vial=self._vial, lang=context.language, env=self._envs)
            self._sessions[context.id] = session
        return session

    def run_code(
        self, code: str, language: Optional[str] = None, context: Optional[Context] = None,
        on_stdout: Optional[Callable[[OutputMessage], Any]] = None,
        on_stderr: Optional[Callable[[OutputMessage], Any]] = None,
        on_result: Optional[Callable[[Result], Any]] = None, on_error: Optional[Callable[[ExecutionError], Any]] = None,
        envs: Optional[Dict[str, str]] = None, timeout: Optional[float] = None, request_timeout: Optional[float] = None,
    ) -> Execution:
        """Runs code in the session of its language, Python unless said otherwise, or in a context.

        timeout is in seconds, 0 for none but that of the sandbox. What takes longer is an execution with an error.
        """
        self._check()
        if language and context is not None:
            raise ValueError("give a language or a context, not both: a context has its language")
        if envs:
            raise ValueError("envs belong to the sandbox here: a process has them from its beginning")
        name = (language or "python").lower()
        language_number(name)
        place = context if context is not None else Context(name, name)
        if context is not None and self._contexts.get(context.id) is None:
            raise ValueError(f"the sandbox has no context {context.id}")
        session = self._session(place)
        self._count += 1
        done = Execution(execution_count=self._count)
        output = _Output(done, on_stdout, on_stderr)
        left = max(0.001, self._until - time.monotonic())
        seconds = left if timeout == 0 else min(_TIMEOUT if timeout is None else timeout, left)
        options: Dict[str, Any] = {} if _is_remote(self._vial) else {"text": True}
        milliseconds = max(1, round(seconds * 1000))
        self._now = session
        try:
            result = session.eval(code, limits={"wall_ms_max": milliseconds, "cpu_ms_max": milliseconds},
                                  on_stdout=output.out, on_stderr=output.err, **options)
        finally:
            self._now = None
        done.results = [_shown(one.data) for one in result.artifacts]
        text = result.text
        if text is None and _is_remote(self._vial) and result.value is not None:
            text = repr(result.value) if place.language in ("python", "py") else _json.dumps(result.value, default=repr)
        if result.ok and text is not None and text not in ("", "undefined"):
            done.results.append(Result(text=text, is_main_result=True))
        for one in done.results:
            if on_result is not None:
                on_result(one)
        error = result.error
        if error is not None:
            done.error = ExecutionError(error.name, error.message, error.stack or "")
            if on_error is not None:
                on_error(done.error)
        if not result.ok and not result.session_lives:
            self._sessions.pop(place.id).close()
        return done

    # ---- contexts ----

    def create_code_context(self, cwd: Optional[str] = None, language: Optional[str] = None,
                            request_timeout: Optional[float] = None) -> Context:
        """A session of its own for run_code(..., context=...)."""
        self._check()
        if cwd is not None and cwd.rstrip("/") != _HOME:
            raise ValueError(f"programs begin in {_HOME}; os.chdir() is there")
        name = (language or "python").lower()
        language_number(name)
        made = Context(f"context-{len(self._contexts) + 1}-{time.monotonic_ns():x}", name)
        self._contexts[made.id] = made
        return made

    def list_code_contexts(self) -> List[Context]:
        return list(self._contexts.values())

    def remove_code_context(self, context: Union[Context, str]) -> None:
        place = context if isinstance(context, str) else context.id
        if self._contexts.pop(place, None) is None:
            raise ValueError(f"the sandbox has no context {place}")
        self._end(place)

    def restart_code_context(self, context: Union[Context, str]) -> None:
        place = context if isinstance(context, str) else context.id
        if place not in self._contexts:
            raise ValueError(f"the sandbox has no context {place}")
        self._end(place)

    def _end(self, place: str) -> None:
        session = self._sessions.pop(place, None)
        if session is not None:
            session.close()

    # ---- the end ----

    def kill(self) -> bool:
        self._killed = True
        for place in list(self._sessions):
            self._end(place)
        return True

    def _cancel(self) -> None:
        session = self._now
        if session is not None:
            session.cancel()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.kill()


class AsyncSandbox:
    """The same for tasks: every method is awaited. A task that is cancelled cancels what it runs."""

    def __init__(self, **options: Any) -> None:
        self._sandbox = Sandbox(**options)

    @classmethod
    async def create(cls, **options: Any) -> "AsyncSandbox":
        return cls(**options)

    async def run_code(self, code: str, language: Optional[str] = None, context: Optional[Context] = None,
                       **options: Any) -> Execution:
        for name in ("on_stdout", "on_stderr", "on_result", "on_error"):
            if options.get(name) is not None:
                options[name] = _in_loop(options[name])
        return await _aio.in_thread(lambda: self._sandbox.run_code(code, language, context, **options),
                                    self._sandbox._cancel)

    async def create_code_context(self, **options: Any) -> Context:
        return self._sandbox.create_code_context(**options)

    async def list_code_contexts(self) -> List[Context]:
        return self._sandbox.list_code_contexts()

    async def remove_code_context(self, context: Union[Context, str]) -> None:
        self._sandbox.remove_code_context(context)

    async def restart_code_context(self, context: Union[Context, str]) -> None:
        self._sandbox.restart_code_context(context)

    async def set_timeout(self, timeout: float) -> None:
        self._sandbox.set_timeout(timeout)

    async def is_running(self) -> bool:
        return self._sandbox.is_running()

    async def kill(self) -> bool:
        return self._sandbox.kill()

    async def __aenter__(self) -> "AsyncSandbox":
        return self

    async def __aexit__(self, *unused: Any) -> None:
        self._sandbox.kill()


def _in_loop(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Calls it in the loop of now, and waits for it; it may be async."""
    loop = _aio.running_loop()
    assert loop is not None

    async def call(given: Any) -> None:
        said = function(given)
        if hasattr(said, "__await__"):
            await said

    return lambda given: _aio.start_in(loop, call(given)).result()
