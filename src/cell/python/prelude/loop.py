"""An event loop without sockets: what it waits for are timers, answers of tools, and threads.

asyncio's own base does all of the work. Only its selector, which would ask the kernel about
descriptors, is replaced by one that asks the host for answers.
"""
import asyncio
import errno
import sys
import threading
from asyncio import base_events, events

from . import errors, imports, tools
from .run import DURATIONS

FOREVER = -1
true_time = DURATIONS["monotonic"]
SLICE = 0.001  # threads cannot wake a loop that waits: there is neither a pipe nor a signal for it


class Selector:
    """Waits as asyncio wants its selector to; there are never events of descriptors."""

    def __init__(self, loop):
        self.loop = loop

    def select(self, timeout=None):
        seconds = FOREVER if timeout is None else max(timeout, 0)
        if threading.active_count() > 1 and not 0 <= seconds <= SLICE:
            seconds = SLICE
        elif seconds == FOREVER and not tools.waiting and len(sys._current_frames()) == 1:
            raise deadlock(self.loop)
        tools.take_answers(seconds, self.loop)
        return []

    def get_map(self):
        return {}

    def close(self):
        pass


def innermost(awaited):
    """The innermost frame of the program's in a chain of coroutines that wait for one another."""
    found = None
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None) or getattr(awaited, "ag_frame", None)
        if frame is not None and not frame.f_code.co_filename.startswith(imports.LIBRARY):
            found = frame
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None) or getattr(awaited, "ag_await", None)
    return found


def deadlock(loop):
    """The error that says where a program waits for ever."""
    error = errors.Deadlock("the program waits for what cannot happen: no timer, call of a tool or thread is left")
    for task in asyncio.all_tasks(loop):
        frame = innermost(task.get_coro())
        if frame is not None:
            error.lineno, error.filename = frame.f_lineno, frame.f_code.co_filename
    return error


async def no_processes(*_arguments, **_options):
    raise PermissionError(errno.EPERM, imports.PROCESSES)


async def no_network(*_arguments, **_options):
    raise PermissionError(errno.EPERM, imports.NETWORK)


class Loop(base_events.BaseEventLoop):
    subprocess_exec = subprocess_shell = no_processes
    create_connection = create_server = create_datagram_endpoint = getaddrinfo = getnameinfo = no_network
    create_unix_connection = create_unix_server = no_network

    def __init__(self):
        super().__init__()
        self._selector = Selector(self)

    def time(self):
        return true_time()  # also while the clock that the program sees stands still

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        pass

    def close(self):
        if not self.is_running():
            super().close()


class Policy(events.BaseDefaultEventLoopPolicy):
    _loop_factory = Loop


def run(awaitable):
    """Like asyncio.run, for anything that can be awaited."""

    async def wait():
        return await awaitable

    return asyncio.run(wait())


def run_in(loop, awaitable):
    """Runs it in a loop that stays, with whatever tasks are in it."""

    async def wait():
        return await awaitable

    asyncio.set_event_loop(loop)
    return loop.run_until_complete(wait())


asyncio.set_event_loop_policy(Policy())
