"""Sessions and environments: processes that stay between programs, and what programs run in."""

import asyncio
import json
import threading
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

from . import _aio, _vial
from ._engine import Vial, default_engine, env_list, language_number, milliseconds, run_options, _limits, _nothing
from ._errors import ClosedError
from ._result import Result
from ._tools import CallContext, as_tools, tool_documents, tool_rows
from ._values import GuestError, Tagged


class GuestFunction:
    """A function that a session gave. Calling it calls the guest's, as a method of what held it."""

    __slots__ = ("_session", "handle", "_released", "__weakref__")

    def __init__(self, session: "Session", handle: int) -> None:
        self._session = session
        self.handle = handle
        self._released = False

    def call(self, *args: Any, timeout: Any = None) -> Result:
        """Calls it: a Result."""
        return self._session._call(self, list(args), timeout)

    async def acall(self, *args: Any, timeout: Any = None) -> Result:
        return await _aio.in_thread(lambda: self.call(*args, timeout=timeout), self._session.cancel)

    def __call__(self, *args: Any, timeout: Any = None) -> Any:
        """Calls it: the value, or a GuestError."""
        return self.call(*args, timeout=timeout).value_or_raise()

    def release(self) -> None:
        """Lets go of it; otherwise it lives as long as the session."""
        if not self._released:
            self._released = True
            self._session._use().release(self.handle)

    def _vial_crossing_(self, context: Any) -> Any:
        if self._released:
            raise ValueError("the function was released, so it cannot be passed")
        if getattr(context, "session", None) is not self._session:
            raise TypeError("is a function of another session, where it stays")
        return Tagged(27, ["Function", self.handle])

    def __repr__(self) -> str:
        return f"<GuestFunction {self.handle}>"


class _SessionContext(CallContext):
    """What makes functions of handles; it must not keep the session alive."""

    def __init__(self) -> None:
        super().__init__()
        self._reference: Any = lambda: None

    @property
    def session(self) -> Any:
        return self._reference()

    def make_function(self, handle: int) -> GuestFunction:
        session = self.session
        if session is None:
            raise TypeError("a function of a session with branches cannot be given to a tool")
        return GuestFunction(session, handle)


class Session:
    """A process that evaluates programs one after the other, and can be branched alive."""

    def __new__(cls, **options: Any) -> Any:
        if cls is Session and _is_remote(options.get("vial") or getattr(options.get("environment"), "_vial", None)):
            from ._remote import RemoteSession
            return super().__new__(RemoteSession)
        return super().__new__(cls)

    def __init__(
        self,
        *,
        vial: Optional[Vial] = None,
        lang: Optional[str] = None,
        environment: Optional["Environment"] = None,
        tools: Any = None,
        limits: Optional[Mapping[str, int]] = None,
        timeout: Any = None,
        files: Optional[Mapping[str, Union[bytes, str]]] = None,
        modules: Optional[Mapping[str, str]] = None,
        env: Optional[Mapping[str, str]] = None,
        globals: Optional[Mapping[str, Any]] = None,
        permissions: Any = None,
        name: Optional[str] = None,
        idle: Any = None,
        life: Any = None,
    ) -> None:
        if environment is not None and not isinstance(environment, Environment):
            raise TypeError(f"environment must be a vial.Environment, not {type(environment).__name__}")
        _check_vial(vial)
        owner = vial or (environment._vial if environment is not None else default_engine())
        self._vial = owner
        context = _SessionContext()
        context._reference = weakref.ref(self)
        engine = owner._engine()
        context.engine = engine
        self._tools = as_tools(tools) + (environment._tools if environment is not None else [])
        # Calls come with a context of their own, which a session shares with its branches.
        calls = _SessionContext()
        calls._reference = weakref.ref(self)
        calls.engine = engine
        self._calls = calls
        o: Dict[str, Any] = {"context": context, "files": files and dict(files), "modules": modules and dict(modules),
                             "name": name}
        if self._tools:
            o["tools"] = _vial.Tools(tool_rows(self._tools, calls), calls)
        if lang is not None:
            o["language"] = language_number(lang)
        if limits is not None or timeout is not None:
            o["limits"] = _limits(limits, timeout)
        if env is not None:
            o["env"] = env_list(env)
        for key, value in (("globals", globals), ("permissions", permissions)):
            if value is not None:
                o[key] = value if isinstance(value, str) else json.dumps(value)
        if idle is not None:
            o["idle_ms_max"] = milliseconds(idle, "idle")
        if life is not None:
            o["life_ms_max"] = milliseconds(life, "life")
        if environment is not None:
            o["environment"] = environment._use(owner)
        self._context = context
        self._environment = environment
        self._c = engine.session(o)

    @classmethod
    def _of(cls, parent: "Session", raw: Any) -> "Session":
        made = cls.__new__(cls)
        made._vial = parent._vial
        made._tools = parent._tools
        made._environment = parent._environment
        made._calls = parent._calls
        context = _SessionContext()
        context.engine = parent._context.engine
        context._reference = weakref.ref(made)
        made._context = context
        made._c = raw
        return made

    def _use(self) -> Any:
        if self._c is None:
            raise ClosedError("the session is closed")
        return self._c

    def _options(self, options: Dict[str, Any]) -> Dict[str, Any]:
        for name in ("tools", "files", "modules", "env", "globals", "environment", "lang"):
            if options.get(name) is not None:
                raise TypeError(f"{name} belongs to the session, not to one of its programs")
        made = run_options(self._context, **options)
        if options.get("approve") is None and self._tools:
            from ._engine import _approver
            made["on_approve"] = _approver(None, self._tools, self._calls)
        return made

    def eval(self, code: str, **options: Any) -> Result:
        """Evaluates a program; what it leaves behind is there for the next one."""
        self._calls.loop = None
        return Result(self._use().eval(code, self._options(options)))

    async def aeval(self, code: str, **options: Any) -> Result:
        """The same for tasks. A task that is cancelled cancels the evaluation."""
        self._calls.loop = asyncio.get_running_loop()
        raw, made = self._use(), self._options(options)
        return await _aio.in_thread(lambda: Result(raw.eval(code, made)), raw.cancel)

    def _call(self, function: GuestFunction, args: List[Any], timeout: Any) -> Result:
        o: Dict[str, Any] = {"context": self._context}
        if timeout is not None:
            o["limits"] = {"wall_ms_max": milliseconds(timeout)}
        return Result(self._use().call(function.handle, args, o, 0, 0))

    def branch(self, count: Optional[int] = None) -> Any:
        """A session with everything that this one has; with a count, a list of so many."""
        if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
            raise TypeError(f"count must be a whole number, not {type(count).__name__}")
        self._calls._reference = lambda: None
        made = [Session._of(self, raw) for raw in self._use().branch(1 if count is None else count)]
        return made[0] if count is None else made

    async def abranch(self, count: Optional[int] = None) -> Any:
        return await _aio.in_thread(lambda: self.branch(count), _nothing)

    def cancel(self) -> None:
        """Stops the evaluation in progress, from any thread."""
        if self._c is not None:
            self._c.cancel()

    def complete(self, text: str) -> List[str]:
        """How a name such as "rows.le" could go on."""
        return self._use().complete(text)

    @property
    def info(self) -> Dict[str, Any]:
        """state, id, parent_id, eval_count, memory_bytes, file_count, file_bytes, branch_count, name, ended."""
        made = self._use().info()
        made["state"] = ("idle", "busy", "ended")[made["state"]]
        return made

    @property
    def closed(self) -> bool:
        return self._c is None

    def close(self) -> None:
        """Ends it. Branches of it live on."""
        raw, self._c = self._c, None
        if raw is not None:
            raw.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    async def __aenter__(self) -> "Session":
        return self

    async def __aexit__(self, *unused: Any) -> None:
        self.close()


_unnamed = 0


def _is_remote(vial: Any) -> bool:
    return hasattr(vial, "_server")


def _check_vial(vial: Any) -> None:
    if vial is not None and not isinstance(vial, Vial):
        raise TypeError(f"vial must be a vial.Vial, not {type(vial).__name__}")


class Environment:
    """What programs run in: prefix code, modules, tools, limits, files. docs/environments.md has every key."""

    def __new__(cls, document: Any = None, **options: Any) -> Any:
        if cls is Environment and _is_remote(options.get("vial")):
            from ._remote import RemoteEnvironment
            return super().__new__(RemoteEnvironment)
        return super().__new__(cls)

    def __init__(
        self,
        document: Union[Mapping[str, Any], str, None] = None,
        *,
        vial: Optional[Vial] = None,
        name: Optional[str] = None,
        lang: Optional[str] = None,
        prefix: Optional[str] = None,
        modules: Optional[Mapping[str, str]] = None,
        tools: Any = None,
        globals: Optional[Mapping[str, Any]] = None,
        limits: Optional[Mapping[str, int]] = None,
        max_limits: Optional[Mapping[str, int]] = None,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[str] = None,
        files: Optional[Mapping[str, Union[bytes, str]]] = None,
        mounts: Optional[Mapping[str, Any]] = None,
        permissions: Any = None,
        packages: Optional[List[str]] = None,
        allowed_imports: Optional[List[str]] = None,
        scan: Optional[Mapping[str, Any]] = None,
        main: bool = False,
        description: Optional[str] = None,
    ) -> None:
        global _unnamed
        _check_vial(vial)
        if document is not None and not isinstance(document, (str, Mapping)):
            raise TypeError(f"the document of an environment must be a dict or a str, not {type(document).__name__}")
        made: Dict[str, Any] = dict(json.loads(document) if isinstance(document, str) else document or {})
        if name is not None or "name" not in made:
            _unnamed += 1
            made["name"] = name or f"environment-{_unnamed}"
        if lang is not None:
            made["language"] = ("javascript", "javascript", "typescript", "python")[language_number(lang)]
        for key, value in (("prefix", prefix), ("modules", modules), ("globals", globals), ("env", env), ("cwd", cwd),
                           ("mounts", mounts), ("permissions", permissions), ("packages", packages),
                           ("allowed_imports", allowed_imports), ("scan", scan), ("description", description)):
            if value is not None:
                made[key] = value
        if limits is not None or max_limits is not None:
            both = {"default": limits, "max": max_limits}
            made["limits"] = {key: dict(value) for key, value in both.items() if value is not None}
        if files is not None:
            made["files"] = {key: _file_document(value) for key, value in files.items()}
        if main:
            made["entry"] = "main"
        self._tools = as_tools(tools)
        if self._tools:
            declared = {one["name"] for one in made.get("tools", [])}
            made["tools"] = list(made.get("tools", [])) + tool_documents(
                one for one in self._tools if one.name not in declared)
        self.document = made
        self.name: str = made["name"]
        self._vial = vial or default_engine()
        self._lock = threading.Lock()
        self._c: Any = None
        self._engine: Any = None
        self._closed = False
        self._use(self._vial)

    @staticmethod
    def check(document: Union[Mapping[str, Any], str]) -> List[Dict[str, str]]:
        """Everything that is wrong with a document: path and message of each."""
        return _vial.check_document(document if isinstance(document, str) else json.dumps(document))

    def _use(self, vial: Vial) -> Any:
        if self._closed:
            raise ClosedError("the environment is closed")
        if vial is not self._vial:
            raise ValueError("the environment is one of another engine")
        engine = vial._engine()
        if self._engine is not engine:  # the first time, or the first time in this process
            context = CallContext()
            context.engine = engine
            tools = _vial.Tools(tool_rows(self._tools, context), context) if self._tools else None
            self._c = _vial.Environment(engine, json.dumps(self.document), tools)
            self._engine = engine
        return self._c

    def _prepare(self, vial: Vial, options: Dict[str, Any]) -> None:
        options["environment"] = self._use(vial)
        if self._tools:
            given = as_tools(options.get("tools"))
            names = {one.name for one in given}
            options["tools"] = given + [one for one in self._tools if one.name not in names]

    def run(self, code: str, **options: Any) -> Result:
        """Runs a program that begins with what the prefix left."""
        return self._vial.run(code, environment=self, **options)

    async def arun(self, code: str, **options: Any) -> Result:
        return await self._vial.arun(code, environment=self, **options)

    def session(self, **options: Any) -> Session:
        return Session(vial=self._vial, environment=self, **options)

    def start(self) -> Result:
        """Starts the template now and tells how the prefix went."""
        return Result(self._use(self._vial).start())

    async def astart(self) -> Result:
        return await _aio.in_thread(self.start, _nothing)

    def close(self) -> None:
        """Nothing can be run in it afterwards. What is in it goes on; its template ends with the last of that."""
        self._closed = True
        self._c = None

    def __enter__(self) -> "Environment":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    async def __aenter__(self) -> "Environment":
        return self

    async def __aexit__(self, *unused: Any) -> None:
        self.close()


def _file_document(value: Union[bytes, str]) -> Any:
    if isinstance(value, str):
        return value
    import base64
    return {"base64": base64.b64encode(value).decode("ascii")}
