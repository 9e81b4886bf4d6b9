"""What the host is told about an exception: its name, message, place and traceback.

Only frames of the program itself are shown, neither those of this package nor those of the library,
and all of it is bounded: an exception is made by the program, and may be as large as it likes.
"""
import collections
import linecache
import mmap
import traceback

from . import hints, imports

FRAMES_MAX = 50
FRAMES_FIRST = 10  # of these: where a deep recursion came from; the others are where it went
TEXT_MAX = 16384
LINE_MAX = 2000  # of a traceback: a program may be one line of a megabyte
STACK_MAX = 65536
CHAIN_MAX = 100  # exceptions that led to one another
NO_MEMORY = "there is no more memory: the limit of the run is reached"

# What is set free when memory is gone, so that the error can be told: some arenas of Python's own
# allocator, which come from the kernel as this does. Nobody writes to it, so it takes no memory, but
# it counts as if it did.
RESERVE_BYTES = 4 << 20


reserve = mmap.mmap(-1, RESERVE_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def cut(text, maximum):
    return text if len(text) <= maximum else text[: maximum - 3] + "..."


def text_of(error):
    try:
        return cut(str(error), TEXT_MAX).replace("\0", "\\0")  # a NUL would end it on the way
    except BaseException as second:
        return f"<the message could not be made: {type(second).__name__}>"


def is_program(tb):
    return not tb.tb_frame.f_code.co_filename.startswith(imports.LIBRARY)


def program_part(tb):
    """A traceback without the frames of others, and without the middle when it is long. When there are
    no frames of the program's at all, those of the library stay: they are better than nothing."""
    first, last = [], collections.deque(maxlen=FRAMES_MAX - FRAMES_FIRST)
    at = tb
    while at is not None:
        if is_program(at):
            if len(first) < FRAMES_FIRST:
                first.append(at)
            else:
                last.append(at)
        at = at.tb_next
    if not first:
        while tb is not None and tb.tb_frame.f_code.co_filename.startswith(imports.OWN):
            tb = tb.tb_next
        return tb
    after = None
    for at in reversed([*first, *last]):  # from the end: setting one goes along all that follow
        if at.tb_next is not after:
            at.tb_next = after
        after = at
    return first[0]


def trim(error, seen):
    """Leaves the program's own frames in the tracebacks of an exception, those behind it and those in it."""
    while error is not None and id(error) not in seen and len(seen) < CHAIN_MAX:
        seen.add(id(error))
        error.__traceback__ = program_part(error.__traceback__)
        if error.__cause__ is not None:
            trim(error.__cause__, seen)
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                trim(inner, seen)
        error = error.__context__


def column_of(code, lasti, line):
    """Counted in characters from 1, where Python has bytes; 0 when it is not known."""
    if lasti < 0:
        return 0
    for at, position in enumerate(code.co_positions()):
        if 2 * at == lasti:
            offset = position[2] or 0
            text = linecache.getline(code.co_filename, line).encode("utf-8", "replace")
            return len(text[:offset].decode("utf-8", "replace")) + 1 if offset <= len(text) else offset + 1
        if 2 * at > lasti:
            break
    return 0


def guest_frames(tb):
    """(function, line, column, file) of the program's frames, the innermost last."""
    frames = []
    while tb is not None and len(frames) < FRAMES_MAX:
        code = tb.tb_frame.f_code
        if is_program(tb):
            column = column_of(code, tb.tb_lasti, tb.tb_lineno)
            frames.append((code.co_qualname, tb.tb_lineno, column, code.co_filename))
        tb = tb.tb_next
    return frames


def format_exception(error):
    """The text that Python would print, within bounds."""
    shown = traceback.TracebackException.from_exception(error, limit=-FRAMES_MAX, compact=True)
    lines, size = [], 0
    for text in shown.format():
        for line in text.splitlines():
            line = cut(line, LINE_MAX)
            lines.append(line)
            size += len(line) + 1
        if size > STACK_MAX:
            lines.append("...")
            break
    return cut("\n".join(lines), STACK_MAX + TEXT_MAX).replace("\0", "\\0")


def stack_of(error):
    try:
        return format_exception(error)
    except BaseException:
        return ""


def complete_syntax_error(error):
    """The compiler knows no line when it was given a tree."""
    if isinstance(error, SyntaxError) and not error.text and isinstance(error.lineno, int):
        error.text = linecache.getline(str(error.filename), error.lineno) or error.text


def place_of(error, frames):
    """(line, column, file) of where it happened."""
    if isinstance(error, (SyntaxError, imports.ImportDenied, Deadlock)) and isinstance(error.lineno, int) and error.lineno > 0:
        column = error.offset if isinstance(error.offset, int) and error.offset > 0 else 0
        return error.lineno, column, getattr(error, "filename", "") or ""
    if frames:
        _, line, column, file = frames[-1]
        return line, column, file
    return 0, 0, ""


class Deadlock(RuntimeError):
    """The program waits for what cannot happen; it says where."""

    lineno, offset, filename = 0, 0, ""


Deadlock.__name__ = Deadlock.__qualname__ = "DeadlockError"
Deadlock.__module__ = "builtins"


def message_of(error):
    if isinstance(error, SyntaxError) and isinstance(error.msg, str):
        return cut(error.msg, TEXT_MAX).replace("\0", "\\0")
    message = text_of(error)
    return NO_MEMORY if isinstance(error, MemoryError) and not message else message


def describe(error, name):
    """(name, message, stack, hint, line, column, file, frames); files are empty for the program."""
    try:
        trim(error, set())
        complete_syntax_error(error)
    except BaseException:
        pass
    frames = guest_frames(error.__traceback__)
    line, column, file = place_of(error, frames)
    told = [(cut(function, 256), at, where, "" if source == name else cut(source, 1024)) for function, at, where, source in frames]
    told.reverse()
    return (
        cut(type(error).__qualname__, 256),
        message_of(error),
        stack_of(error),
        hints.of(error),
        line,
        column,
        "" if file == name else cut(file, 1024),
        told,
    )


def describe_in_need(error, name):
    """The same when there may be no memory left. It is the last that a process is asked for."""
    reserve.close()
    if error.__traceback__ is None:  # there was no memory for one, which was an error of its own, and so on
        error.__context__ = None
    try:
        return describe(error, name)
    except MemoryError:
        return "MemoryError", NO_MEMORY, "MemoryError", "", 0, 0, "", []
