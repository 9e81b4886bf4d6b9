"""Threads that wait for guests on behalf of event loops, and a loop for async tools of programs that have none."""

import asyncio
import os
import threading
from collections import deque
from typing import Any, Awaitable, Callable, Deque, Optional, Tuple

# Each waits for one run. More runs than that at once wait for a thread; an engine has 64 by itself.
_THREADS_MAX = 256
_IDLE_SECONDS = 30.0


class _Waiters:
    """Threads that come and go as they are needed; they end with the program without being asked."""

    def __init__(self, threads_max: int = _THREADS_MAX, name: str = "vial-wait") -> None:
        self._threads_max, self._name = threads_max, name
        self._lock = threading.Lock()
        self._ready = threading.Condition(self._lock)
        self._jobs: Deque[Tuple[Any, ...]] = deque()
        self._idle = 0
        self._count = 0

    def submit(self, job: Callable[[], Any], done: Callable[[Any, Optional[BaseException]], None]) -> None:
        with self._lock:
            self._jobs.append((job, done))
            if self._idle >= len(self._jobs):
                self._ready.notify()
                return
            if self._count >= self._threads_max:
                return
            self._count += 1
        threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._jobs:
                    self._idle += 1
                    self._ready.wait(_IDLE_SECONDS)
                    self._idle -= 1
                if not self._jobs:
                    self._count -= 1
                    return
                job, done = self._jobs.popleft()
            try:
                value, error = job(), None
            except BaseException as raised:  # it is the waiting task's
                value, error = None, raised
            done(value, error)
            del job, done, value, error


_waiters = _Waiters()


def _reset_after_fork() -> None:
    global _waiters, _loop
    _waiters = _Waiters()
    _loop = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


async def in_thread(job: Callable[[], Any], cancel: Callable[[], None]) -> Any:
    """Does it in another thread. When the task is cancelled, calls cancel and waits for the end."""
    loop = asyncio.get_running_loop()
    future: "asyncio.Future[Any]" = loop.create_future()

    def settle(value: Any, error: Optional[BaseException]) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)

    def done(value: Any, error: Optional[BaseException]) -> None:
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            pass  # the loop is closed; nobody waits any more

    _waiters.submit(job, done)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        if not future.done():
            cancel()
            try:
                await asyncio.shield(future)
            except BaseException:
                pass
        elif not future.cancelled():
            future.exception()
        raise


_loop: Optional[asyncio.AbstractEventLoop] = None
_loop_lock = threading.Lock()


def background_loop() -> asyncio.AbstractEventLoop:
    """The loop in which async tools run that are called from code without one."""
    global _loop
    with _loop_lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="vial-loop", daemon=True).start()
        return _loop


def running_loop() -> Optional[asyncio.AbstractEventLoop]:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def start_in(loop: asyncio.AbstractEventLoop, awaitable: Awaitable[Any]) -> "Any":
    """Awaits it in a loop of another thread; a concurrent future."""

    async def wait() -> Any:
        return await awaitable

    return asyncio.run_coroutine_threadsafe(wait(), loop)
