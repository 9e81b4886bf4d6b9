"""A code tool for the OpenAI Agents SDK: ``Agent(..., tools=[code_tool()])``."""

from typing import Any

from ._code import code_functions


def code_tool(**options: Any) -> Any:
    """A FunctionTool that runs code. Options: vial, name, lang, description, and those of vial.run."""
    from agents import function_tool

    return function_tool(code_functions(**options)[1])
