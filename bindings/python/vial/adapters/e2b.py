"""The shape of E2B's code interpreter on vial: ``Sandbox.create()``, ``sandbox.run_code(code)``."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional

from .._engine import Vial, default_engine
from .._session import Environment, Session

_NAMES = {"text/plain": "text", "text/html": "html", "text/markdown": "markdown", "image/svg+xml": "svg",
          "image/png": "png", "image/jpeg": "jpeg", "application/pdf": "pdf", "text/latex": "latex",
          "application/json": "json"}


@dataclass
class Logs:
    stdout: List[str] = field(default_factory=list)
    stderr: List[str] = field(default_factory=list)


@dataclass
class ExecutionError:
    name: str
    value: str
    traceback: str


@dataclass
class Result:
    """The value, or something that was shown; images are base64."""

    text: Optional[str] = None
    html: Optional[str] = None
    markdown: Optional[str] = None
    svg: Optional[str] = None
    png: Optional[str] = None
    jpeg: Optional[str] = None
    pdf: Optional[str] = None
    latex: Optional[str] = None
    json: Any = None
    data: Any = None
    is_main_result: bool = False

    def formats(self) -> List[str]:
        return [name for name in _NAMES.values() if getattr(self, name) is not None]


@dataclass
class Execution:
    results: List[Result] = field(default_factory=list)
    logs: Logs = field(default_factory=Logs)
    error: Optional[ExecutionError] = None
    execution_count: Optional[int] = None

    @property
    def text(self) -> Optional[str]:
        for one in self.results:
            if one.is_main_result:
                return one.text
        return None


def _shown(data: Dict[str, bytes]) -> Result:
    made = Result()
    for mime, content in data.items():
        name = _NAMES.get(mime)
        if name is None:
            continue
        if name in ("png", "jpeg", "pdf"):
            setattr(made, name, base64.b64encode(content).decode("ascii"))
        elif name == "json":
            made.json = json.loads(content)
        else:
            setattr(made, name, content.decode("utf-8", "replace"))
    return made


class Sandbox:
    """A session for each language, which keeps its names between calls."""

    def __init__(self, *, vial: Optional[Vial] = None, timeout: float = 300, envs: Optional[Dict[str, str]] = None,
                 packages: Optional[List[str]] = None) -> None:
        self._vial = vial or default_engine()
        self._timeout, self._envs, self._packages = timeout, envs, packages
        self._sessions: Dict[str, Session] = {}
        self._count = 0
        self._killed = False

    @classmethod
    def create(cls, **options: Any) -> "Sandbox":
        return cls(**options)

    def _session(self, language: str) -> Session:
        if self._killed:
            raise RuntimeError("the sandbox was killed")
        session = self._sessions.get(language)
        if session is None or session.closed:
            if self._packages and language == "python":
                environment = Environment(vial=self._vial, lang=language, packages=self._packages,
                                          env=self._envs or {})
                session = environment.session()
            else:
                session = Session(vial=self._vial, lang=language, env=self._envs)
            self._sessions[language] = session
        return session

    def run_code(
        self, code: str, language: Optional[str] = None, *, timeout: Optional[float] = None,
        on_stdout: Optional[Callable[[str], Any]] = None, on_stderr: Optional[Callable[[str], Any]] = None,
        on_result: Optional[Callable[[Result], Any]] = None, on_error: Optional[Callable[[ExecutionError], Any]] = None,
    ) -> Execution:
        """Runs code in the session of its language, Python unless said otherwise."""
        language = (language or "python").lower()
        session = self._session(language)
        self._count += 1
        done = Execution(execution_count=self._count)

        def out(text: str) -> None:
            done.logs.stdout.append(text)
            if on_stdout is not None:
                on_stdout(text)

        def err(text: str) -> None:
            done.logs.stderr.append(text)
            if on_stderr is not None:
                on_stderr(text)

        result = session.eval(code, timeout=timeout or self._timeout, text=True, on_stdout=out, on_stderr=err)
        done.results = [_shown(one.data) for one in result.artifacts]
        if result.ok and result.text is not None and result.text not in ("", "undefined"):
            done.results.append(Result(text=result.text, is_main_result=True))
        for one in done.results:
            if on_result is not None:
                on_result(one)
        error = result.error
        if error is not None:
            done.error = ExecutionError(error.name, error.message, error.stack or "")
            if on_error is not None:
                on_error(done.error)
        if not result.ok and not result.session_lives:
            self._sessions.pop(language).close()
        return done

    def kill(self) -> bool:
        self._killed = True
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        return True

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.kill()
