"""The way of a program through a Python cell: read, compiled, executed, and what came of it.

C (run.c) calls evaluate() once for a run, and once for each evaluation of a session. The value of a
program is that of its last statement when this is an expression, or what __return() was given, or
what main() returns when the environment wants that. A value that can be awaited is awaited.
"""
import atexit
import builtins
import linecache
import os
import sys
import threading
import time
import types

from . import display, errors, imports, modules, source, surroundings, tools

CO_COROUTINE, CO_ITERABLE_COROUTINE = 128, 256  # as inspect has them
NO_MAIN = (
    "the program has no function main: write `async def main():` or `def main():` and return the "
    "value from it"
)
HOME = "/home/vial"
NAMES_MAX = 1000  # that a completion shows; nobody reads more
OK, FAILED, EXITED, MEMORY = 0, 1, 2, 3
SESSION_EVAL = 1  # as wire/field.h has it; else the program is the last one
REHEARSAL = -1  # no program of anybody's
LONG_MAX = 2**63
NO_FRAME = "error return without exception set"  # what Python 3.11 says when there is no memory for a call


class Return(BaseException):
    """Ends a program early; what it was given is the value."""


def return_value(value=None):
    raise Return(value)


def new_main():
    """A module for a program to be in, as Python makes __main__."""
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    module.__file__ = "/home/vial/main.py"
    return module


main = new_main()
scratch = new_main()
running = None  # the event loop of a session, which stays between its evaluations


def await_(awaitable, session):
    """Runs the event loop until there is a value."""
    global running
    from . import loop

    if not session:
        return loop.run(awaitable)
    if running is None:
        running = loop.Loop()
    return loop.run_in(running, awaitable)


def execute(text, name, scope, session):
    """Gives the value of the last statement."""
    check = imports.check if imports.allowed is not None else None
    parts = source.compile_parts(text, name) if check is None else None
    if parts is not None:
        for part in parts:
            value = eval(part, scope)
        return value
    code = source.compile_whole(text, name, check)
    value = eval(code, scope)
    if code.co_flags & CO_COROUTINE:
        await_(value, session)
    return scope.pop(source.VALUE, None)


def settle(value, session):
    """A value that is still to come is waited for."""
    if value is None or isinstance(value, (int, str, list, dict, tuple)):
        return value
    # As inspect.isawaitable() has it.
    if (
        isinstance(value, types.CoroutineType)
        or isinstance(value, types.GeneratorType)
        and value.gi_code.co_flags & CO_ITERABLE_COROUTINE
        or hasattr(type(value), "__await__")
    ):
        return await_(value, session)
    return value


def call_main(scope, session):
    function = scope.get("main")
    if not callable(function):
        raise NameError(NO_MAIN)
    return settle(function(), session)


len, getattr = len, getattr  # a program may replace those that there are


def handlers():
    """The handlers of logging, which it goes through at the end."""
    return getattr(sys.modules.get("logging"), "_handlerList", ())


# What the library itself has to do at the end, which comes to nothing when the program adds nothing.
ENDS, THREAD_ENDS, HANDLERS = atexit._ncallbacks(), len(threading._threading_atexits), len(handlers())


def has_ends():
    """Is there anything to be done at the end: threads, functions, lines that wait in handlers?"""
    return (
        len(threading._active) > 1
        or len(threading._limbo) > 0
        or len(threading._threading_atexits) != THREAD_ENDS
        or atexit._ncallbacks() != ENDS
        or len(handlers()) != HANDLERS
    )


def finish(stays):
    """What Python does at the end of a program: threads end, handlers run, output goes out."""
    display.collect_figures()
    if not stays and has_ends():
        threading._shutdown()
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):  # replaced or closed by the program
            pass


def exit_code(error):
    """The code that SystemExit means, and what it prints."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 255 if -LONG_MAX <= code < LONG_MAX else 255
    print(code, file=sys.stderr)
    return 1


def begin(name, variables, arguments, given, provided, allowed):
    """What a program finds when it starts: all in bytes, as the start message has it."""
    for variable in variables:
        key, _, value = variable.partition(b"=")
        os.environb[key] = value
    file = name.rpartition("/")[2]  # where it lies on the host is of no use here
    sys.argv[:] = [file] + [os.fsdecode(argument) for argument in arguments]
    main.__file__ = f"{HOME}/{file}"
    if HOME not in sys.path:  # where the program is said to be: modules among its files are found
        sys.path.insert(0, HOME)
    sys.modules["__main__"] = main
    for file, text in given:
        tools.step_aside(modules.add(file, text))
    imports.restrict(allowed)
    for number, tool in enumerate(provided):
        texts = tool[4:].decode().split("\0")
        imports.given.add(texts[0].partition(".")[0])
        tools.provide(number, int.from_bytes(tool[:4], sys.byteorder), texts[0], texts[1:-1])


DURATIONS = {
    name: getattr(time, name)
    for name in (
        "monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns thread_time thread_time_ns"
    ).split()
}


def stand_still(name):
    zero = 0 if name.endswith("_ns") else 0.0

    def stands():
        return zero

    stands.__name__ = stands.__qualname__ = name
    return stands


def permit(gone, stands, reads):
    """What the program may not see: variables, how long something takes, modules among its files."""
    for variable in gone:
        os.environb.pop(variable, None)
    for name, function in DURATIONS.items():
        setattr(time, name, stand_still(name) if stands else function)
    if not reads:
        sys.path[:] = [directory for directory in sys.path if directory != HOME]
    elif HOME not in sys.path:
        sys.path.insert(0, HOME)


def evaluate(program, name, session, entry_is_main):
    """Runs a program. (OK, value), (FAILED, description), (EXITED, code) or (MEMORY, description)."""
    scope = main.__dict__
    stays = session in (SESSION_EVAL, REHEARSAL)
    if session == SESSION_EVAL:
        surroundings.stay()
    try:
        try:
            text = modules.decode(program)
            modules.remember(text, name)
            value = settle(execute(text, name, scope, session), session)
            if entry_is_main:
                value = call_main(scope, session)
        except Return as early:
            value = settle(early.args[0], session)
        finally:
            scope.pop(source.VALUE, None)
        finish(stays)
        if session == SESSION_EVAL and value is not None:
            builtins._ = value  # as at Python's own prompt
        return OK, value
    except SystemExit as error:
        code = exit_code(error)
        finish(stays)
        return EXITED, code
    except MemoryError as error:
        return MEMORY, errors.describe_in_need(error, name)
    except BaseException as error:
        if isinstance(error, SystemError) and error.args == (NO_FRAME,):
            return MEMORY, errors.describe_in_need(MemoryError().with_traceback(error.__traceback__), name)
        try:
            finish(stays)
        except BaseException:
            pass
        return FAILED, errors.describe(error, name)


def rehearse(program):
    """Goes the way of a run in a module that no program sees, and forgets it."""
    global main
    kept, main = main, scratch
    try:
        return evaluate(program, "rehearsal.py", REHEARSAL, 0)[1]
    finally:
        main = kept
        del linecache.cache["rehearsal.py"]


def call(function, arguments):
    """Calls a function that the host was given earlier."""
    name = "<host>"
    try:
        value = settle(function(*arguments), True)
        finish(True)
        return OK, value
    except SystemExit as error:
        return EXITED, exit_code(error)
    except BaseException as error:
        finish(True)
        if isinstance(error, MemoryError):
            return MEMORY, errors.describe_in_need(error, name)
        return FAILED, errors.describe(error, name)


def members(value):
    """The names in a value. Nothing of the program's is asked: neither __dir__ nor __getattr__."""
    kind = type(value)
    if issubclass(kind, type):
        return type.__dir__(value)
    own = value.__dict__ if issubclass(kind, types.ModuleType) else None
    try:
        own = own if own is not None else object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    return {*own, *type.__dir__(kind)} if not issubclass(kind, types.ModuleType) else own


def member(value, name):
    """What a name in a value is, None when it would have to be computed."""
    import inspect

    found = inspect.getattr_static(value, name, None)
    plain = isinstance(value, types.ModuleType) or not hasattr(type(found), "__get__")
    return found if plain or isinstance(found, types.FunctionType) else None


def complete(text):
    """Names that begin like the text, which may have dots in it."""
    import keyword

    path, dot, start = text.rpartition(".")
    if not dot:
        found = [*main.__dict__, *vars(builtins), *keyword.kwlist]
    else:
        first, *rest = path.split(".")
        value = main.__dict__.get(first, vars(builtins).get(first))
        for part in rest:
            value = member(value, part)
        found = members(value) if value is not None else []
    fitting = {
        name
        for name in found
        if isinstance(name, str) and name.startswith(start) and (start.startswith("_") or not name.startswith("_"))
    }
    return [path + dot + name for name in sorted(fitting)][:NAMES_MAX]


def own_loop():
    """Sockets and pipes are what asyncio's own loops begin with."""
    from . import loop  # noqa: F401 (it installs itself)


imports.after("asyncio", own_loop)
builtins.__return = return_value
# What a program has printed when it is stopped is kept by the line.
sys.stdout.reconfigure(line_buffering=True)
