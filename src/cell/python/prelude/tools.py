"""The host's functions inside of a program: crm.find(id=3), and await crm.find_async(id=3).

C sends calls and gets answers by their numbers; here they become values, futures and exceptions. A
tool takes one value. Keyword arguments are the members of one object, and so are positional ones
when the tool says what its parameters are called.
"""
import builtins
import sys
import types

import _vial_host

from . import modules

ANSWER_ERROR = 3  # as wire/frame.h has it
TOOL_VALUES, TOOL_OBJECT, TOOL_MODULES = 2, 4, 8  # bits, as wire/field.h has them
NAMES_SHOWN = 3
ASYNC = "_async"


class ToolError(Exception):
    """A call of a tool failed. What the host told about it beside the message are fields of it."""

    def __init__(self, message="", name="ToolError", fields=None):
        super().__init__(message)
        self.name = name
        self.fields = dict(fields) if isinstance(fields, dict) else {}

    def __getattr__(self, name):
        fields = self.__dict__.get("fields", {})
        if name in fields:
            return fields[name]
        raise AttributeError(f"this error of a tool has no field {name!r}")


def error_of(told):
    """The exception that the host's {"name", "message", "fields"} means."""
    told = told if isinstance(told, dict) else {}
    name, message = told.get("name"), told.get("message")
    return ToolError(
        message if isinstance(message, str) else "the tool failed",
        name if isinstance(name, str) else "ToolError",
        told.get("fields"),
    )


names = []  # of all tools, for hints
waiting = {}  # futures by the number of the call


def settle(future, kind, value):
    if future.done():  # cancelled, as a rule
        return
    if kind == ANSWER_ERROR:
        future.set_exception(error_of(value))
    else:
        future.set_result(value)


def take_answers(seconds, loop):
    """Waits so long for answers, for ever when negative. Each lets somebody go on, in this loop or
    in one of another thread."""
    for number, kind, value in _vial_host.answers(seconds):
        future = waiting.pop(number, None)
        if future is None:
            continue
        owner = future.get_loop()
        if owner is loop:
            settle(future, kind, value)
        elif not owner.is_closed():
            owner.call_soon_threadsafe(settle, future, kind, value)


class Tool:
    """A function of the host, as one that blocks."""

    def __init__(self, number, bits, name, parameters):
        self.number, self.bits, self.parameters = number, bits, parameters
        self.__name__ = self.__qualname__ = name

    def __repr__(self):
        return f"<tool {self.__name__}({', '.join(self.parameters)})>"

    def input(self, positional, named):
        """The one value that the tool is given."""
        if positional and named and not self.bits & TOOL_OBJECT:
            raise TypeError(f"{self.__name__}() takes one value: keyword arguments, or positional ones, not both")
        if not self.bits & TOOL_OBJECT:
            if named:
                return dict(named)
            return None if not positional else positional[0] if len(positional) == 1 else list(positional)
        if len(positional) == 1 and not named and isinstance(positional[0], dict):
            return positional[0]
        if len(positional) > len(self.parameters):
            takes = ", ".join(self.parameters) or "no arguments"
            raise TypeError(f"{self.__name__}() takes {takes}; it was given {len(positional)} positional arguments")
        value = dict(zip(self.parameters, positional))
        for key in named:
            if key in value:
                raise TypeError(f"{self.__name__}() got multiple values for argument {key!r}")
        value.update(named)
        return value

    def begin(self, positional, named, is_waited_for):
        value = self.input(positional, named)
        return _vial_host.call(self.number, value, bool(self.bits & TOOL_VALUES), is_waited_for)

    def __call__(self, *positional, **named):
        kind, value = _vial_host.wait(self.begin(positional, named, True))
        if kind == ANSWER_ERROR:
            raise error_of(value)
        return value


class AsyncTool:
    """The same as one that is awaited."""

    def __init__(self, tool):
        self.tool = tool
        self.__name__ = self.__qualname__ = tool.__name__ + ASYNC

    def __repr__(self):
        return f"<tool {self.__name__}({', '.join(self.tool.parameters)})>"

    async def __call__(self, *positional, **named):
        from asyncio import get_running_loop

        future = get_running_loop().create_future()
        waiting[self.tool.begin(positional, named, False)] = future
        return await future


class Group(types.ModuleType):
    """What tools with dots in their names are members of; it can be imported like a module."""

    def __repr__(self):
        return f"<tools {self.__name__}>"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        path = name if self is tools else f"{self.__name__}.{name}"
        raise AttributeError(f"there is no tool {path}{nearest(path)}", name=name, obj=self)


def close_to(name, known, likeness):
    """Those of the names that are most like it; none when the library cannot be read."""
    try:
        import difflib
    except ImportError:
        return []
    return difflib.get_close_matches(name, known, NAMES_SHOWN, likeness)


def nearest(name):
    """A hint at the names that exist."""
    close = close_to(name.removeprefix("tools."), names, 0.5)
    if close:
        return "; did you mean " + " or ".join(close) + "?"
    return "; tools are " + ", ".join(names[:NAMES_SHOWN]) + (", ..." if len(names) > NAMES_SHOWN else "") if names else ""


tools = Group("tools")


def provide(number, bits, name, parameters):
    """Makes a tool, or the one of an environment anew, with all that its name goes through."""
    if bits & TOOL_MODULES:
        return  # it gives modules to JavaScript
    tool = Tool(number, bits, name, parameters)
    parts = name.split(".")
    group, path = tools, ""
    for part in parts[:-1]:
        path = path + "." + part if path else part
        inner = group.__dict__.get(part)
        if not isinstance(inner, Group):
            inner = Group(path)
            setattr(group, part, inner)
            if group is tools:
                offer(part, inner)
        group = inner
    setattr(group, parts[-1], tool)
    setattr(group, parts[-1] + ASYNC, AsyncTool(tool))
    if group is tools:
        offer(parts[-1], tool)
        offer(parts[-1] + ASYNC, group.__dict__[parts[-1] + ASYNC])
    if name not in names:
        names.append(name)
    offer("tools", tools)


def offer(name, value):
    """Everybody finds it, unless it would hide something of Python's own; a group can be imported, too, unless
    that is the name of a module, which a program then means. tools.NAME is always there."""
    if not hasattr(builtins, name) or isinstance(getattr(builtins, name), (Tool, AsyncTool, Group)):
        setattr(builtins, name, value)
    if not isinstance(value, Group) or name in sys.stdlib_module_names or modules.has(name):
        return
    if not isinstance(sys.modules.get(name), types.ModuleType) or isinstance(sys.modules[name], Group):
        sys.modules[name] = value


def step_aside(name):
    """A module of this name has come, which a program means when it imports it."""
    if isinstance(sys.modules.get(name), Group):
        del sys.modules[name]


def hint_at_error(error):
    """What a program could have done about a call that failed."""
    fields = f"; e.fields has {', '.join(sorted(map(str, error.fields))[:10])}" if error.fields else ""
    return f"it can be caught: except ToolError as e; e.name is {error.name}{fields}"


def hint(error):
    """What to say to an exception that has to do with tools; else nothing."""
    if not names:
        return ""
    if isinstance(error, ToolError):
        return hint_at_error(error)
    if isinstance(error, NameError) and isinstance(error.name, str):
        close = close_to(error.name, {*names, *(n.split(".")[0] for n in names)}, 0.6)
        return f"tools that exist: {', '.join(close)}" if close else ""
    if isinstance(error, ImportError) and isinstance(sys.modules.get(error.name or ""), Group):
        return f"tools that exist: {', '.join([n for n in names if n.startswith(error.name + '.')][:NAMES_SHOWN])}"
    if isinstance(error, TypeError) and "can't be used in 'await' expression" in str(error):
        return "tools are plain functions: call crm.find(...) without await, or await crm.find_async(...)"
    return ""


ToolError.__module__ = "builtins"
builtins.ToolError = ToolError
