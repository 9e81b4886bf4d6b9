"""smolagents' PythonExecutor on vial: ``CodeAgent(..., executor=VialPythonExecutor())``.

Code of the agent is evaluated in a Python session behind the wall; its tools are called on this side.
"""

import keyword
import sys
from typing import Any, Dict, List, NamedTuple, Optional

from .._engine import Vial
from .._result import Result
from .._session import Environment, Session
from .._tools import Tool
from ._code import describe

_FINAL = "final_answer"
# The guest's side of a tool: arguments cross as they were given, and smolagents' tool takes them apart. The final
# answer ends the program, as it does in smolagents' own executors.
_SOURCE = """
def {name}(*args, **named):
    return {host}([list(args), named])
"""
_FINAL_SOURCE = """
def {name}(*args, **named):
    __return({host}([list(args), named]))
"""


class CodeOutput(NamedTuple):
    """What smolagents expects of an executor; its own class of this name is used when it is there."""

    output: Any
    logs: str
    is_final_answer: bool


def _register() -> None:
    """Lets isinstance(executor, PythonExecutor) be true where smolagents is there."""
    module = sys.modules.get("smolagents.local_python_executor")
    theirs = getattr(module, "PythonExecutor", None)
    if theirs is not None and hasattr(theirs, "register"):
        theirs.register(VialPythonExecutor)


def _output(output: Any, logs: str, is_final_answer: bool) -> Any:
    try:
        from smolagents.local_python_executor import CodeOutput as Theirs
    except ImportError:
        return CodeOutput(output, logs, is_final_answer)
    return Theirs(output=output, logs=logs, is_final_answer=is_final_answer)


def _host_name(name: str) -> str:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} cannot be the name of a tool in Python")
    return f"smolagents_{name}"


class VialPythonExecutor:
    """send_tools, send_variables and __call__, as smolagents' PythonExecutor has them."""

    def __init__(self, *, vial: Optional[Vial] = None, timeout: Optional[float] = 30,
                 limits: Optional[Dict[str, int]] = None, allowed_imports: Optional[List[str]] = None,
                 packages: Optional[List[str]] = None) -> None:
        _register()
        self._options: Dict[str, Any] = {"vial": vial} if vial is not None else {}
        self._timeout, self._limits = timeout, limits
        self._allowed, self._packages = allowed_imports, packages
        self._tools: Dict[str, Any] = {}
        self._variables: Dict[str, Any] = {}
        self._session: Optional[Session] = None
        self._environment: Optional[Environment] = None
        self._is_final = False
        self.state: Dict[str, Any] = {"_print_outputs": ""}

    def send_tools(self, tools: Dict[str, Any]) -> None:
        if {**self._tools, **tools} != self._tools:
            self._tools.update(tools)
            self._close_session()

    def send_variables(self, variables: Dict[str, Any]) -> None:
        self._variables.update(variables)
        if self._session is not None:
            self._set(variables)

    def _tool_of(self, name: str, one: Any) -> Tool:
        def call(given: Any) -> Any:
            args, named = given
            self._is_final = self._is_final or name == _FINAL
            return one(*args, **named)

        return Tool(call, name=_host_name(name), description=getattr(one, "description", None) or "", input_schema=True,
                    mode="sync")

    def _begin(self) -> Session:
        if self._session is None:
            made = [self._tool_of(name, one) for name, one in self._tools.items()]
            options: Dict[str, Any] = {}
            if self._allowed is not None:
                options["allowed_imports"] = self._allowed
            if self._packages is not None:
                options["packages"] = self._packages
            self._environment = Environment(lang="python", tools=made, **self._options, **options)
            self._session = self._environment.session(limits=self._limits, timeout=self._timeout)
            for name in self._tools:
                source = _FINAL_SOURCE if name == _FINAL else _SOURCE
                self._session.eval(source.format(name=name, host=_host_name(name))).value_or_raise()
            self._set(self._variables)
        return self._session

    def _set(self, variables: Dict[str, Any]) -> None:
        assert self._session is not None
        if variables:
            source = "globals().update(input)\ndel input"
            self._session.eval(source, input=dict(variables)).value_or_raise()

    def __call__(self, code_action: str) -> Any:
        session = self._begin()
        self._is_final = False
        result: Result = session.eval(code_action)
        logs = result.stdout + result.stderr
        self.state["_print_outputs"] = logs
        if not result.session_lives and not result.ok:
            self._close_session()
        if not result.ok:
            raise RuntimeError(describe(result))
        return _output(result.value, logs, self._is_final)

    def _close_session(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
        if self._environment is not None:
            self._environment.close()
            self._environment = None

    def cleanup(self) -> None:
        self._close_session()
