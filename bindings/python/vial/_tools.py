"""Python functions as tools: what the guest sees of them, and how they are called."""

import asyncio
import enum
import functools
import inspect
import json
import re
import sys
import threading
import types
import typing
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from . import _aio, _vial

ASYNC, SYNC = 0, 1
INLINE, APPROVE, VALUES, MODULES = 1, 2, 4, 8


class Tool:
    """A function of the host that programs can call. Made by the decorator ``tool``, or of any callable."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: Optional[str] = None,
        description: Optional[str] = None,
        input_schema: Union[Mapping[str, Any], bool, None] = None,
        output_schema: Union[Mapping[str, Any], bool, None] = None,
        mode: str = "async",
        timeout: Optional[float] = None,
        calls_max: int = 0,
        concurrency_max: int = 0,
        approve: Union[bool, Callable[..., Any]] = False,
        inline: bool = False,
    ) -> None:
        if not callable(function):
            raise TypeError(f"a tool must be callable, not {type(function).__name__}")
        if mode not in ("async", "sync"):
            raise ValueError(f"the mode of a tool is \"async\" or \"sync\", not {mode!r}")
        self.function = function
        self.name = name or getattr(function, "__name__", "")
        if not self.name or self.name == "<lambda>":
            raise ValueError("a tool needs a name: vial.tool(function, name=\"...\")")
        self.mode = mode
        self.timeout = timeout
        self.calls_max = calls_max
        self.concurrency_max = concurrency_max
        self.approve = approve
        self.inline = inline
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None))
        about, parameters = parse_docstring(inspect.getdoc(function) or "")
        self.description = about if description is None else description
        self._plan = _Plan(function)
        # A schema of one's own that names no properties is that of the one argument.
        self._plan.takes_whole = input_schema is not None and not (
            isinstance(input_schema, Mapping) and "properties" in input_schema)
        self.input_schema = self._plan.schema(parameters) if input_schema is None else input_schema
        self.output_schema = output_schema
        self.schema_texts = tuple(
            None if one is None else json.dumps(one) for one in (self.input_schema, output_schema))
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def call(self, args: Any) -> Any:
        """Calls the function with what the guest gave: an object of the schema, or anything."""
        return self._plan.call(self.function, args)


def tool(function: Optional[Callable[..., Any]] = None, **options: Any) -> Any:
    """Makes a Tool of a function: ``@tool``, ``@tool(name="crm.find")`` or ``tool(f, mode="sync")``.

    Options: name, description, input_schema, output_schema, mode ("async", "sync"), timeout (seconds),
    calls_max, concurrency_max, approve (True, or a function that is asked), inline (called in the thread that
    waits for the run: quickest, for functions that wait for nothing).
    """
    if function is None:
        return lambda found: Tool(found, **options)
    return Tool(function, **options)


# ---- from a signature to a schema ----

_PLAIN: Dict[Any, Dict[str, Any]] = {
    str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"},
    type(None): {"type": "null"}, list: {"type": "array"}, tuple: {"type": "array"}, dict: {"type": "object"},
}


def schema_of(hint: Any) -> Dict[str, Any]:
    """JSON Schema of a type hint; one that says nothing where there is no way."""
    if hint in (Any, inspect.Parameter.empty, object):
        return {}
    plain = _PLAIN.get(hint) if isinstance(hint, type) else None
    if plain is not None:
        return dict(plain)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Union or origin is getattr(types, "UnionType", Union):
        return {"anyOf": [schema_of(arg) for arg in args]}
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in (list, set, frozenset) or (origin is not None and _is_sequence(origin)):
        return {"type": "array", "items": schema_of(args[0])} if args and origin not in (set, frozenset) else {}
    if origin is tuple:
        if len(args) == 2 and args[1] is Ellipsis:
            return {"type": "array", "items": schema_of(args[0])}
        return {"type": "array", "minItems": len(args), "maxItems": len(args),
                "prefixItems": [schema_of(arg) for arg in args]}
    if origin is dict or (origin is not None and isinstance(origin, type) and issubclass(origin, Mapping)):
        return {"type": "object", "additionalProperties": schema_of(args[1]) if len(args) == 2 else True}
    if origin is not None and hasattr(hint, "__metadata__"):
        return _annotated(hint)
    if isinstance(hint, type):
        return _schema_of_class(hint)
    return {}


def _is_sequence(origin: Any) -> bool:
    import collections.abc
    return origin in (collections.abc.Sequence, collections.abc.Iterable, collections.abc.MutableSequence)


def _annotated(hint: Any) -> Dict[str, Any]:
    made = schema_of(hint.__origin__)
    for note in hint.__metadata__:
        if isinstance(note, str):
            made["description"] = note
    return made


def _schema_of_class(hint: Any) -> Dict[str, Any]:
    if issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if hasattr(hint, "model_json_schema"):
        return hint.model_json_schema()
    if hasattr(hint, "__annotations__") and (hasattr(hint, "__dataclass_fields__") or hasattr(hint, "__total__")):
        hints = _hints(hint)
        needed = getattr(hint, "__required_keys__", None)
        if needed is None:
            import dataclasses
            needed = [field.name for field in dataclasses.fields(hint) if field.default is dataclasses.MISSING
                      and field.default_factory is dataclasses.MISSING]
        return {"type": "object", "properties": {name: schema_of(one) for name, one in hints.items()},
                "required": sorted(needed)}
    return {}


def _hints(target: Any) -> Dict[str, Any]:
    try:
        if sys.version_info >= (3, 9):
            return typing.get_type_hints(target, include_extras=True)
    except Exception:  # a hint that cannot be read says nothing
        pass
    return dict(getattr(target, "__annotations__", {}))


_SECTION = re.compile(r"^(args|arguments|parameters|params)\s*:?\s*$", re.I)
_OTHER_SECTION = re.compile(r"^(returns?|raises|yields|examples?|notes?|attributes)\s*:?\s*$", re.I)
_PARAMETER = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_FIELD = re.compile(r"^:param\s+(?:[\w\[\], |]+\s+)?(\w+)\s*:\s*(.*)$")


def parse_docstring(text: str) -> Tuple[str, Dict[str, str]]:
    """What a docstring says of the function, and of each parameter (Google's and Sphinx's styles)."""
    about: List[str] = []
    found: Dict[str, str] = {}
    where, last = "about", ""
    for line in text.splitlines():
        field = _FIELD.match(line.strip())
        if field:
            where, last = "field", field.group(1)
            found[last] = field.group(2).strip()
        elif _SECTION.match(line):
            where, last = "parameters", ""
        elif _OTHER_SECTION.match(line) or line.strip().startswith(":return"):
            where = "other"
        elif where == "parameters":
            one = _PARAMETER.match(line)
            if one:
                last = one.group(1)
                found[last] = one.group(2).strip()
            elif line.strip() and last:
                found[last] += " " + line.strip()
        elif where == "about":
            about.append(line)
    return "\n".join(about).strip(), found


class _Plan:
    """How the members of the one object that a tool takes become arguments of the function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.names: List[str] = []
        self.positional: List[str] = []
        self.takes_any = False
        self.takes_whole = False
        self.parameters: Dict[str, inspect.Parameter] = {}
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            self.takes_any = True
            return
        self.hints = _hints(function)
        for name, parameter in signature.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                self.takes_any = True
            elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
                self.parameters[name] = parameter
                if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                    self.positional.append(name)
        self.has_extra = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values())

    def schema(self, descriptions: Mapping[str, str]) -> Optional[Dict[str, Any]]:
        if self.takes_any:
            return None
        properties: Dict[str, Any] = {}
        required = []
        for name, parameter in self.parameters.items():
            made = schema_of(self.hints.get(name, parameter.annotation))
            if name in descriptions and "description" not in made:
                made["description"] = descriptions[name]
            if parameter.default is inspect.Parameter.empty:
                required.append(name)
            elif isinstance(parameter.default, (str, int, float, bool)):
                made.setdefault("default", parameter.default)
            properties[name] = made
        schema: Dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if not self.has_extra:
            schema["additionalProperties"] = False
        return schema

    def call(self, function: Callable[..., Any], args: Any) -> Any:
        if self.takes_whole and not self.takes_any:
            return function(args) if self.parameters else function()
        if self.takes_any or not isinstance(args, dict):
            if args is None:
                return function()
            return function(*args) if isinstance(args, list) else function(args)
        if self.positional:
            first = [args[name] for name in self.positional if name in args]
            return function(*first, **{k: v for k, v in args.items() if k not in self.positional})
        return function(**args)


# ---- calls ----

def as_tool(value: Any) -> Tool:
    return value if isinstance(value, Tool) else Tool(value)


def as_tools(tools: Any) -> List[Tool]:
    """Tools of a list of functions, or of a dict of names and functions."""
    if tools is None:
        return []
    if isinstance(tools, Mapping):
        made = []
        for name, function in tools.items():
            one = as_tool(function) if isinstance(function, Tool) else Tool(function, name=name)
            made.append(one)
        return made
    if isinstance(tools, (str, bytes)) or not isinstance(tools, Iterable):
        raise TypeError("tools must be a list of functions, or a dict of names and functions")
    return [as_tool(one) for one in tools]


class CallContext:
    """Where calls of one run or session come from: the engine that is answered, the loop of async tools."""

    answer_bytes_max = 0  # as many as a call may have

    def __init__(self) -> None:
        self.engine: Any = None
        self.loop: Optional[asyncio.AbstractEventLoop] = None
        self.on_call: Optional[Callable[..., None]] = None
        self.tasks: "set[Any]" = set()
        self.lock = threading.Lock()

    def cancel(self) -> None:
        """The run is over: coroutines that still work for it have nobody to answer."""
        with self.lock:
            tasks, self.tasks = self.tasks, set()
        for task in tasks:
            task.cancel()


def _answer_later(context: CallContext, one: Tool, args: Any, call_id: int) -> None:
    loop = context.loop or _aio.background_loop()
    future = _aio.start_in(loop, one.call(args))
    with context.lock:
        context.tasks.add(future)

    def done(finished: Any) -> None:
        with context.lock:
            context.tasks.discard(finished)
        answer_with(context, call_id, finished)

    future.add_done_callback(done)


def answer_with(context: Any, call_id: int, finished: Any) -> None:
    """Answers a call with how a future ended."""
    try:
        if finished.cancelled():
            _vial.fail(context.engine, call_id, "AbortError", "the tool was cancelled")
            return
        error = finished.exception()
        if error is not None:
            _vial.fail(context.engine, call_id, type(error).__name__, _message(error))
            return
        try:
            _vial.answer(context.engine, call_id, finished.result(), context)
        except (TypeError, ValueError, RecursionError) as refused:
            _vial.fail(context.engine, call_id, type(refused).__name__, str(refused))
    except RuntimeError:
        pass  # the engine is closed; nobody waits for this answer


def _message(error: BaseException) -> str:
    return str(error).replace("\0", "") or type(error).__name__


def _function_for(one: Tool, context: CallContext) -> Tuple[Callable[..., Any], bool]:
    if one.is_async:
        def later(args: Any, call_id: int, run_id: int) -> None:
            if context.on_call is not None:
                context.on_call(one.name, args)
            _answer_later(context, one, args, call_id)
        return later, True

    plan, function = one._plan, one.function

    def now(args: Any) -> Any:
        if context.on_call is not None:
            context.on_call(one.name, args)
        value = plan.call(function, args)
        if inspect.isawaitable(value):
            loop = context.loop or _aio.background_loop()
            return _aio.start_in(loop, value).result()
        return value
    return now, False


def tool_rows(tools: Iterable[Tool], context: CallContext) -> List[Tuple[Any, ...]]:
    rows = []
    for one in tools:
        function, is_later = _function_for(one, context)
        flags = VALUES | (APPROVE if one.approve else 0) | (INLINE if one.inline or is_later else 0)
        rows.append((
            one.name, one.description or None, *one.schema_texts,
            SYNC if one.mode == "sync" else ASYNC, flags, round((one.timeout or 0) * 1000), one.calls_max,
            one.concurrency_max, function, is_later))
    return rows


def tool_documents(tools: Iterable[Tool]) -> List[Dict[str, Any]]:
    """The tools as an environment's document has them."""
    made = []
    for one in tools:
        entry: Dict[str, Any] = {"name": one.name, "mode": one.mode}
        if one.description:
            entry["description"] = one.description
        if one.input_schema is not None:
            entry["input"] = one.input_schema
        if one.output_schema is not None:
            entry["output"] = one.output_schema
        if one.timeout:
            entry["timeout_ms"] = round(one.timeout * 1000)
        if one.calls_max:
            entry["calls_max"] = one.calls_max
        if one.concurrency_max:
            entry["concurrency_max"] = one.concurrency_max
        if one.approve:
            entry["approve"] = True
        made.append(entry)
    return made
