"""A code tool for LangGraph and LangChain: ``ToolNode([code_tool()])``, ``create_react_agent(model, [code_tool()])``."""

from typing import Any

from ._code import code_functions


def code_tool(**options: Any) -> Any:
    """A StructuredTool that runs code, plain and async. Options: vial, name, lang, description, and those of vial.run."""
    from langchain_core.tools import StructuredTool

    plain, later = code_functions(**options)
    return StructuredTool.from_function(func=plain, coroutine=later, name=plain.__name__, description=plain.__doc__)
