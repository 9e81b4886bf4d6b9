"""What a runtime gives that stays in it: functions and streams."""

import weakref
from typing import Any, AsyncIterable, Awaitable, Optional

from .._values import Tagged

STREAM_JS = "vial-stream:js:"
STREAM_PY = "vial-stream:py:"


class JsFunction:
    """A function of a runtime. It can be called, and passed back in."""

    def __init__(self, runtime: Any, handle: int) -> None:
        self._runtime = runtime
        self._handle = handle
        self._closed = False
        self._finalizer = weakref.finalize(self, runtime._forget_later, handle)
        self._finalizer.atexit = False

    def _check(self) -> None:
        if self._closed:
            raise RuntimeError("Function has been closed")
        if self._runtime._is_shut:
            raise RuntimeError("Runtime has been shut down")

    def __call__(self, *args: Any, timeout: Any = None) -> Any:
        """The value, or an awaitable when JavaScript returned a promise that is not settled yet."""
        self._check()
        return self._runtime._call_function(self, list(args), timeout)

    def call_async(self, *args: Any, timeout: Any = None) -> Awaitable[Any]:
        """The same, always awaited."""
        self._check()
        return self._runtime._call_function_async(self, list(args), timeout)

    async def close(self) -> None:
        """Lets go of the function."""
        if not self._closed:
            self._closed = True
            self._finalizer()

    def _vial_crossing_(self, context: Any) -> Any:
        self._check()
        if getattr(context, "runtime", None) is not self._runtime:
            raise TypeError("is a function of another runtime, where it stays")
        return Tagged(27, ["Function", self._handle])

    def __repr__(self) -> str:
        return f"<JsFunction {self._handle}{' (closed)' if self._closed else ''}>"


class JsStream:
    """A ReadableStream of a runtime, as an async iterator."""

    def __init__(self, runtime: Any, number: int) -> None:
        self._runtime = runtime
        self._number = number
        self._closed = False

    def __aiter__(self) -> "JsStream":
        return self

    async def __anext__(self) -> Any:
        if self._closed:
            raise StopAsyncIteration
        try:
            piece = await self._runtime._read_stream(self._number)
        except BaseException:
            self._end()
            raise
        if piece.get("done"):
            self._end()
            raise StopAsyncIteration
        return piece.get("value")

    def _end(self) -> None:
        if not self._closed:
            self._closed = True
            self._runtime._active_js_streams -= 1

    def close(self) -> None:
        """Cancels the stream."""
        if not self._closed:
            self._end()
            self._runtime._cancel_stream(self._number)

    def __repr__(self) -> str:
        return f"<JsStream {self._number}{' (closed)' if self._closed else ''}>"


class PyStreamSource:
    """An async iterable of Python's that a runtime sees as a ReadableStream."""

    def __init__(self, runtime: Any, number: int, iterable: AsyncIterable[Any]) -> None:
        self._runtime = runtime
        self._number = number
        self._iterator: Optional[Any] = iterable.__aiter__()

    async def next(self) -> Any:
        """[done, value], as the glue takes it."""
        if self._iterator is None:
            return [True, None]
        try:
            return [False, await self._iterator.__anext__()]
        except StopAsyncIteration:
            self.close()
            return [True, None]
        except BaseException:
            self.close()
            raise

    async def cancel(self) -> None:
        iterator = self._iterator
        self.close()
        closing = getattr(iterator, "aclose", None)
        if closing is not None:
            await closing()

    def close(self) -> None:
        if self._iterator is not None:
            self._iterator = None
            self._runtime._drop_py_stream(self._number)

    def _vial_crossing_(self, context: Any) -> Any:
        if getattr(context, "runtime", None) is not self._runtime:
            raise TypeError("is a stream of another runtime, where it stays")
        context.has_streams = True
        return Tagged(32, STREAM_PY + str(self._number))

    def __repr__(self) -> str:
        return f"<PyStreamSource {self._number}>"


class StreamFlag:
    """Stands behind a value and is written after it: whether there was a stream in it."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def _vial_crossing_(self, context: Any) -> bool:
        return bool(self._context.has_streams)
