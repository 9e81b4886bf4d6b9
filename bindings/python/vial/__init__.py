"""vial runs code that a language model wrote, each run in a fresh process behind a kernel wall.

    import vial
    result = vial.run("input.rows.map(x => x * x)", input={"rows": [1, 2, 3]})
    print(result.value)

docs/python-binding.md tells the rest.
"""

import json as _json
import os as _os

try:
    from . import _vial
except ImportError as _error:
    raise ImportError(
        f"vial cannot load its library: {_error}. libvial.so.0 of the same version must be installed, or its folder "
        "named by LD_LIBRARY_PATH") from _error

from . import _errors, _values
from ._errors import ClosedError, VialError
from ._values import GuestError, JsUndefined, NdArray, RegExp, Table, Unknown, undefined

_vial.setup(
    VialError, ClosedError, _values.simplify, _values.restore, undefined, _json.JSONDecoder().decode,
    # A number of JavaScript with so many digits is a double, whose digits JSON has shortened.
    _json.JSONDecoder(parse_int=lambda text: int(text) if len(text) < 16 else int(float(text))).decode)

from ._engine import Event, Run, Vial, default_engine  # noqa: E402
from ._result import Artifact, ErrorInfo, Result  # noqa: E402
from ._session import Environment, GuestFunction, Session  # noqa: E402
from ._tools import Tool, tool  # noqa: E402

__version__: str = _vial.version()


def run(code: str, **options: object) -> Result:
    """Runs a program in a fresh process behind the wall, and waits for its end.

    Options: lang ("javascript", "typescript", "python"), input, tools, limits (a dict of names as in docs/result.md),
    timeout (seconds), files, outs, env, args, cwd, stdin, modules, kind, name, main, environment, globals,
    permissions, net, scan, approve, on_output, on_stdout, on_stderr, record_calls, text.
    """
    return default_engine().run(code, **options)


async def arun(code: str, **options: object) -> Result:
    """The same for tasks of an event loop. A task that is cancelled cancels the run."""
    return await default_engine().arun(code, **options)


def start(code: str, **options: object) -> Run:
    """Starts a program; ``async for event in run.events()`` and ``run.wait()`` are how it is followed."""
    return default_engine().start(code, **options)


def __getattr__(name: str) -> object:
    if name in _JSRUN:
        from . import jsrun
        return getattr(jsrun, name)
    if name in ("jsrun", "sandbox", "adapters"):
        import importlib
        return importlib.import_module(f"vial.{name}")
    raise AttributeError(f"module 'vial' has no attribute {name!r}")


_JSRUN = frozenset((
    "Runtime", "RuntimeConfig", "RuntimeStats", "RuntimeTerminated", "JavaScriptError", "JsFunction", "JsStream",
    "SnapshotBuilder", "InspectorConfig", "InspectorEndpoints"))

__all__ = [
    "Artifact", "ClosedError", "Environment", "ErrorInfo", "Event", "GuestError", "GuestFunction", "JsUndefined",
    "NdArray", "RegExp", "Result", "Run", "Session", "Table", "Tool", "Unknown", "Vial", "VialError", "arun", "default_engine",
    "run", "start", "tool", "undefined",
]
