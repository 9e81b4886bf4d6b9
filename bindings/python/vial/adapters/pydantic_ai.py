"""A code tool for Pydantic AI: ``Agent(..., tools=[code_tool(lang="python")])``.

Pydantic AI takes plain async functions and reads their signature and docstring.
"""

from typing import Any, Awaitable, Callable

from ._code import code_functions


def code_tool(**options: Any) -> Callable[[str], Awaitable[str]]:
    """An async function of code. Options: vial, name, lang, description, and those of vial.run."""
    return code_functions(**options)[1]
