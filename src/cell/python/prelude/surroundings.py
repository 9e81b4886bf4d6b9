"""What programs take for granted and Python has from elsewhere: exit(), help(), and hooks that tell of
exceptions which nobody can catch. Some functions that cannot work here say so.
"""
import builtins
import errno
import os
import sys
import threading
import time

from . import errors, imports

SLEEP_MAX = 1e6  # seconds at a time; more is slept in parts


def exit_(code=None):
    raise SystemExit(code)


exit_.__name__ = exit_.__qualname__ = "exit"


def help_(*arguments):
    import pydoc

    pydoc.help(*arguments) if arguments else print("help(something) tells about it")


help_.__name__ = help_.__qualname__ = "help"


def system(command):
    """In the place of os.system(), whose only sign of failure is a number that nobody looks at."""
    sys.audit("os.system", command)
    raise PermissionError(errno.EPERM, imports.PROCESSES)


def show(title, error):
    error.__traceback__ = errors.program_part(error.__traceback__)
    print(f"{title}\n{errors.format_exception(error)}", file=sys.stderr)


def thread_failed(args):
    """As threading.excepthook, with the lines of the program."""
    if args.exc_type is not SystemExit and args.exc_value is not None:
        name = args.thread.name if args.thread is not None else "?"
        show(f"Exception in thread {name}:", args.exc_value)


def ignored(args):
    """As sys.unraisablehook: for what __del__ and its like raise."""
    if args.exc_value is not None:
        show(f"{args.err_msg or 'Exception ignored in'}: {args.object!r}", args.exc_value)


def sleep(seconds):
    """In the place of time.sleep() in a session: waiting for a lock is waiting, too, and can be stopped."""
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        return plain_sleep(seconds)  # which says what is wrong with it
    until = monotonic() + seconds
    lock = threading.Lock()
    lock.acquire()
    while (left := until - monotonic()) > 0:
        lock.acquire(timeout=min(left, SLEEP_MAX))


plain_sleep, monotonic = time.sleep, time.monotonic


def stay():
    """For a session, which goes on after a program was stopped."""
    time.sleep = sleep


builtins.exit = builtins.quit = exit_
builtins.help = help_
os.system = system
threading.excepthook = thread_failed
sys.unraisablehook = ignored
# Nobody can load a locale here; without the variable, setlocale(LC_ALL, "") means C, which is always there.
os.environ.pop("LC_ALL", None)
