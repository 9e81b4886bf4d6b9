"""What to say beside an error that programs often make here: what was probably meant, and what to do.

Everything is looked up after the program has failed, and a hint that cannot be made is none.
"""
import errno
import os
import sys
import types

from . import imports, tools

NAMES_SHOWN = 3
NAMES_MAX = 5000  # that are compared
NO_FILES = "this run has no files; --files (in the API: files_mode = VIAL_FILES_ON) gives it a private directory"
NO_ROOM = "--disk-mb (disk_bytes_max) and --file-count (files_max) say how much room a run has for files"
NOT_PERMITTED = "a cell can neither start processes nor reach a network, a device or another process"
NO_INPUT = "input is Python's own function here, because the run was given no input: --input JSON (in the API: input)"
INPUT_GIVEN = "input is the value that the host gave to this run; sys.stdin.readline() reads standard input"
RETURN = "return belongs into a function; __return(value) ends the program with a value"
NO_LOOP = "there is a loop while the program awaits: use await in the same program, or asyncio.run()"


def near(name, names):
    """The names most like it."""
    import difflib

    return difflib.get_close_matches(name, list(names)[:NAMES_MAX], NAMES_SHOWN, 0.6)


def meant(names):
    return f"did you mean {' or '.join(names)}?" if names else ""


def innermost(error):
    """The frame in which it happened."""
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return tb.tb_frame if tb is not None else None


def of_name(error):
    name = error.name
    if name in sys.stdlib_module_names and imports.is_allowed(name):
        return imports.blocked_reason(name) or f"{name} is a module: import {name}"
    frame = innermost(error)
    if frame is None:
        return ""
    return meant(near(name, {*frame.f_locals, *frame.f_globals, *frame.f_builtins}))


def of_attribute(error):
    value, name = error.obj, error.name
    if isinstance(value, tools.Group):
        return ""  # it has said so itself
    if isinstance(value, types.ModuleType) and hasattr(value, "__path__"):
        import importlib.util

        inner = f"{value.__name__}.{name}"
        if importlib.util.find_spec(inner) is not None:
            return imports.blocked_reason(inner) or f"{inner} is a module: import {inner}"
    return meant(near(name, (n for n in dir(value) if isinstance(n, str))))


def of_os(error):
    if error.errno in (errno.ENOSPC, errno.EFBIG):
        return NO_ROOM
    if error.errno == errno.EPERM:
        try:
            os.stat("/")
        except OSError:
            return NO_FILES
        return NOT_PERMITTED if error.filename is None and error.strerror == os.strerror(errno.EPERM) else ""
    return ""


def of_type(error):
    """The variable input has the name of a function."""
    frame, text = innermost(error), str(error)
    if frame is None:
        return ""
    uses_input = "input" in frame.f_code.co_names
    if uses_input and text.endswith("object is not callable") and "input" in frame.f_globals:
        return INPUT_GIVEN
    if uses_input and text.startswith("'builtin_function_or_method' object ") and "input" not in frame.f_globals:
        return NO_INPUT
    return ""


def by_kind(error):
    if isinstance(error, NameError) and isinstance(error.name, str):
        return of_name(error)
    if isinstance(error, AttributeError) and isinstance(error.name, str):
        return of_attribute(error)
    if isinstance(error, OSError):
        return of_os(error)
    if isinstance(error, TypeError):
        return of_type(error)
    if isinstance(error, SyntaxError) and error.msg == "'return' outside function":
        return RETURN
    if isinstance(error, RuntimeError) and str(error) == "no running event loop":
        return NO_LOOP
    return ""


def of(error):
    try:
        return imports.hint(error) or tools.hint(error) or by_kind(error)
    except BaseException:
        return ""
