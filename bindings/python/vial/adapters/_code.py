"""The function behind the tool that agents of several frameworks get: runs code, and says in words how it went."""

import json
from typing import Any, Awaitable, Callable, Optional, Tuple

from .. import default_engine
from .._engine import Vial
from .._result import Result

_TEXT_MAX = 20_000  # characters that a model gets; more would only fill its context


def _shown(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)


def describe(result: Result) -> str:
    """A result as a model should read it: the value, what was printed, or what to do about the error."""
    parts = []
    if result.stdout:
        parts.append(f"stdout:\n{result.stdout.rstrip()}")
    if result.stderr:
        parts.append(f"stderr:\n{result.stderr.rstrip()}")
    if result.ok:
        if not result.is_undefined and (result.value is not None or not parts):
            parts.append(f"value: {_shown(result.value)}")
    else:
        error = result.error
        parts.append(f"{result.status}: {(error.stack or str(error)) if error else ''}".rstrip())
        if error is not None and error.hint:
            parts.append(f"hint: {error.hint}")
    text = "\n".join(parts) or "done, without a value"
    return text if len(text) <= _TEXT_MAX else text[:_TEXT_MAX] + "\n... (cut)"


def code_functions(
    vial: Optional[Vial] = None, name: str = "run_code", lang: str = "javascript", description: Optional[str] = None,
    **options: Any,
) -> Tuple[Callable[[str], str], Callable[[str], Awaitable[str]]]:
    """A plain and an async function of one argument, code, that run it with the options of vial.run."""
    engine = vial or default_engine()
    about = description or (
        f"Runs a program in {lang.capitalize() if lang != 'javascript' else 'JavaScript'} in a sandbox without network "
        "and files, and returns what it printed and the value of its last expression.")
    doc = f"{about}\n\nArgs:\n    code: The program.\n"

    def run_code(code: str) -> str:
        return describe(engine.run(code, lang=lang, **options))

    async def run_code_async(code: str) -> str:
        return describe(await engine.arun(code, lang=lang, **options))

    for one in (run_code, run_code_async):
        one.__name__ = one.__qualname__ = name
        one.__doc__ = doc
    return run_code, run_code_async


