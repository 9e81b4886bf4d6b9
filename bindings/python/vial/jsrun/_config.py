"""How a runtime is set up, and what it tells about itself: the classes that users of jsrun know."""

import dataclasses
import json
import math
from datetime import timedelta
from typing import Any, Dict, List, Optional, Tuple, Union

from .._values import undefined  # noqa: F401

Timeout = Union[float, int, timedelta, None]

_DEPTH_DEFAULT = 64
_BYTES_DEFAULT = 10 * 1024 * 1024


def seconds_of(timeout: Any) -> float:
    """A timeout in seconds; ValueError when it is none."""
    if isinstance(timeout, timedelta):
        timeout = timeout.total_seconds()
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise ValueError("Timeout must be a number of seconds or a timedelta")
    if not math.isfinite(timeout):
        raise ValueError("Timeout must be finite")
    if timeout < 0:
        raise ValueError("Timeout cannot be negative")
    if timeout == 0:
        raise ValueError("Timeout cannot be zero")
    return float(timeout)


class JavaScriptError(Exception):
    """What JavaScript threw and nobody caught: name, message, stack and frames."""

    def __init__(self, message: str = "", *, name: Optional[str] = None, stack: Optional[str] = None,
                 frames: Optional[List[Dict[str, Any]]] = None) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.stack = stack
        self.frames: List[Dict[str, Any]] = frames or []

    def __str__(self) -> str:
        head = f"{self.name}: {self.message}" if self.name else self.message
        return self.stack if self.stack and self.stack.startswith(head) else head


class RuntimeTerminated(RuntimeError):
    """The runtime was stopped for good: by terminate(), or at its limit of memory."""


class RuntimeTimeout(TimeoutError, RuntimeError):
    """JavaScript took longer than it may."""


class HeapSizeWarning(RuntimeWarning):
    """A limit of the heap that was asked for is below what a runtime can have; it has the least that it can."""


class InspectorConfig:
    """A debugger's address. Cells have no network, so a runtime refuses it."""

    def __init__(self, host: str = "127.0.0.1", port: int = 9229, *, wait_for_connection: bool = False,
                 break_on_next_statement: bool = False, target_url: Optional[str] = None,
                 display_name: Optional[str] = None) -> None:
        self.host = host
        self.port = port
        self.wait_for_connection = wait_for_connection
        self.break_on_next_statement = break_on_next_statement
        self.target_url = target_url
        self.display_name = display_name

    def endpoint(self) -> str:
        return f"{self.host}:{self.port}"

    def __repr__(self) -> str:
        return f"InspectorConfig(host={self.host!r}, port={self.port})"


class InspectorEndpoints:
    """Only here to be named: there is no inspector."""


def _positive(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ValueError(f"{what} must be a positive integer")
    return value


class RuntimeConfig:
    """Limits and beginnings of a runtime."""

    def __init__(
        self,
        max_heap_size: Optional[int] = None,
        initial_heap_size: Optional[int] = None,
        bootstrap: Optional[str] = None,
        timeout: Timeout = None,
        enable_console: Optional[bool] = False,
        inspector: Optional[InspectorConfig] = None,
        snapshot: Optional[bytes] = None,
        max_serialization_depth: Optional[int] = None,
        max_serialization_bytes: Optional[int] = None,
    ) -> None:
        if snapshot is not None and bootstrap is not None:
            raise ValueError("a snapshot and a bootstrap exclude each other: run the bootstrap in the SnapshotBuilder")
        self.max_heap_size = max_heap_size
        self.initial_heap_size = initial_heap_size
        self.bootstrap = bootstrap
        self.timeout = timeout
        self.enable_console = enable_console
        self.inspector = inspector
        self.snapshot = snapshot
        self.max_serialization_depth = _DEPTH_DEFAULT if max_serialization_depth is None else max_serialization_depth
        self.max_serialization_bytes = _BYTES_DEFAULT if max_serialization_bytes is None else max_serialization_bytes

    @property
    def timeout(self) -> Optional[float]:
        return self._timeout

    @timeout.setter
    def timeout(self, value: Timeout) -> None:
        self._timeout = None if value is None else seconds_of(value)

    @property
    def max_heap_size(self) -> Optional[int]:
        return self._max_heap_size

    @max_heap_size.setter
    def max_heap_size(self, value: Optional[int]) -> None:
        self._max_heap_size = None if value is None else _positive(value, "max_heap_size")

    @property
    def initial_heap_size(self) -> Optional[int]:
        return self._initial_heap_size

    @initial_heap_size.setter
    def initial_heap_size(self, value: Optional[int]) -> None:
        self._initial_heap_size = None if value is None else _positive(value, "initial_heap_size")

    @property
    def max_serialization_depth(self) -> int:
        return self._depth

    @max_serialization_depth.setter
    def max_serialization_depth(self, value: int) -> None:
        self._depth = _positive(value, "max_serialization_depth")

    @property
    def max_serialization_bytes(self) -> int:
        return self._bytes

    @max_serialization_bytes.setter
    def max_serialization_bytes(self, value: int) -> None:
        self._bytes = _positive(value, "max_serialization_bytes")

    def __repr__(self) -> str:
        return (f"RuntimeConfig(max_heap_size={self.max_heap_size}, initial_heap_size={self.initial_heap_size}, "
                f"timeout={self.timeout}, enable_console={self.enable_console})")


@dataclasses.dataclass(frozen=True)
class RuntimeStats:
    """What a runtime has used and done so far."""

    heap_total_bytes: int = 0
    heap_used_bytes: int = 0
    external_memory_bytes: int = 0
    physical_total_bytes: int = 0
    total_execution_time_ms: int = 0
    last_execution_time_ms: int = 0
    last_execution_kind: Optional[str] = None
    eval_sync_count: int = 0
    eval_async_count: int = 0
    eval_module_sync_count: int = 0
    eval_module_async_count: int = 0
    call_function_async_count: int = 0
    call_function_sync_count: int = 0
    active_async_ops: int = 0
    open_resources: int = 0
    active_timers: int = 0
    active_intervals: int = 0
    active_js_streams: int = 0
    active_py_streams: int = 0
    total_js_streams: int = 0
    total_py_streams: int = 0
    bytes_streamed_js_to_py: int = 0
    bytes_streamed_py_to_js: int = 0


# ---- snapshots ----

_MAGIC = b"vial snapshot 1\n"


def pack_snapshot(scripts: List[Tuple[str, str]], console: bool) -> bytes:
    return _MAGIC + json.dumps({"scripts": scripts, "console": console}).encode()


def unpack_snapshot(data: Any) -> List[Tuple[str, str]]:
    """The scripts that were executed, by name; they are evaluated once for all runtimes with this snapshot."""
    if not isinstance(data, (bytes, bytearray)) or not bytes(data).startswith(_MAGIC):
        raise ValueError("these bytes are no snapshot that a SnapshotBuilder of vial made")
    try:
        return [(str(name), str(source)) for name, source in json.loads(bytes(data)[len(_MAGIC):])["scripts"]]
    except (ValueError, KeyError, TypeError) as broken:
        raise ValueError(f"the snapshot is damaged: {broken}") from None
