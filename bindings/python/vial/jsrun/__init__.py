"""What users of jsrun know, on vial: ``from vial.jsrun import Runtime`` in the place of ``from jsrun import Runtime``."""

import asyncio
import atexit
import contextvars
import threading
from typing import Any, Callable, Mapping, Optional

from .._values import JsUndefined, undefined
from ._config import (
    HeapSizeWarning, InspectorConfig, InspectorEndpoints, JavaScriptError, RuntimeConfig, RuntimeStats,
    RuntimeTerminated, RuntimeTimeout,
)
from ._runtime import Runtime, SnapshotBuilder
from ._values import JsFunction, JsStream, PyStreamSource


class _Slot:
    """The runtime of a task or a thread."""

    def __init__(self, runtime: Runtime, owner: object) -> None:
        self.runtime = runtime
        self.owner = owner

    def close(self) -> None:
        if not self.runtime.is_closed():
            self.runtime.close()


_slot: "contextvars.ContextVar[Optional[_Slot]]" = contextvars.ContextVar("vial_jsrun_default", default=None)


def _owner() -> object:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return task if task is not None else threading.current_thread()


def get_default_runtime() -> Runtime:
    """The runtime of this task, or of this thread where there is none; made when it is first asked for."""
    slot, owner = _slot.get(), _owner()
    if slot is None or slot.runtime.is_closed() or slot.owner is not owner:
        slot = _Slot(Runtime(), owner)
        _slot.set(slot)
        if isinstance(owner, asyncio.Task):
            made = slot
            owner.add_done_callback(lambda _: made.close())
    return slot.runtime


def close_default_runtime() -> None:
    """Closes it, if there is one."""
    slot = _slot.get()
    if slot is None:
        return
    if slot.owner is not _owner():
        raise RuntimeError("Default runtime can only be closed from its owner context.")
    slot.close()
    _slot.set(None)


def _close_at_exit() -> None:
    try:
        close_default_runtime()
    except RuntimeError:
        pass


atexit.register(_close_at_exit)


def eval(code: str) -> Any:  # noqa: A001 - it is what users of jsrun call
    """Evaluates JavaScript in the default runtime."""
    return get_default_runtime().eval(code)


async def eval_async(code: str, **kwargs: Any) -> Any:
    return await get_default_runtime().eval_async(code, **kwargs)


def bind_function(name: str, handler: Callable[..., Any]) -> None:
    get_default_runtime().bind_function(name, handler)


def bind_object(name: str, obj: Mapping[str, Any]) -> None:
    get_default_runtime().bind_object(name, obj)


__all__ = [
    "HeapSizeWarning", "InspectorConfig", "InspectorEndpoints", "JavaScriptError", "JsFunction", "JsStream", "JsUndefined",
    "PyStreamSource", "Runtime", "RuntimeConfig", "RuntimeStats", "RuntimeTerminated", "RuntimeTimeout",
    "SnapshotBuilder", "bind_function", "bind_object", "close_default_runtime", "eval", "eval_async",
    "get_default_runtime", "undefined",
]
