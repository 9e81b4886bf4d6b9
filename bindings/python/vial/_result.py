"""What a run gives back."""

import base64
from typing import Any, Dict, List, NamedTuple, Optional

from ._values import GuestError, undefined


class ErrorInfo:
    """Why a run is not ok: what the guest threw, or the limit that it met."""

    __slots__ = ("name", "message", "stack", "file", "line", "column", "source_line", "frames", "hint")

    def __init__(self, fields: Dict[str, Any]) -> None:
        self.name: str = fields.get("name") or "Error"
        self.message: str = fields.get("message") or ""
        self.stack: Optional[str] = fields.get("stack")
        self.file: Optional[str] = fields.get("file")
        self.line: Optional[int] = fields.get("line")
        self.column: Optional[int] = fields.get("column")
        self.source_line: Optional[str] = fields.get("source_line")
        self.frames: List[Dict[str, Any]] = fields.get("frames") or []
        self.hint: Optional[str] = fields.get("hint")

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name

    def __repr__(self) -> str:
        place = f" at {self.file}:{self.line}" if self.line else ""
        return f"<ErrorInfo {self}{place}>"


class Artifact(NamedTuple):
    """Something that the program showed by display(): its representations by MIME type."""

    name: Optional[str]
    data: Dict[str, bytes]


class Result:
    """How a run ended. docs/result.md has every part; ``value`` is ``None`` unless it is ok."""

    __slots__ = ("_raw", "_json", "_value", "status")

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._json: Optional[Dict[str, Any]] = None
        self.status: str = raw.status
        self._value: Any = raw.value if self.status == "ok" else None

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def value(self) -> Any:
        """The value; ``undefined`` of JavaScript is ``None`` here, at the top only."""
        return None if self._value is undefined else self._value

    @property
    def is_undefined(self) -> bool:
        return self._value is undefined

    def _part(self, name: str) -> Any:
        if self._json is None:
            self._json = self._raw.json
        return self._json.get(name)

    @property
    def error(self) -> Optional[ErrorInfo]:
        if self.status == "ok":
            return None
        fields = self._part("error")
        return ErrorInfo(fields) if fields else None

    @property
    def stdout(self) -> str:
        return self._raw.stdout

    @property
    def stderr(self) -> str:
        return self._raw.stderr

    @property
    def exit_code(self) -> Optional[int]:
        return self._raw.exit_code

    @property
    def files(self) -> Dict[str, bytes]:
        return self._raw.files

    @property
    def artifacts(self) -> List[Artifact]:
        return [Artifact(name, data) for name, data in self._raw.artifacts]

    @property
    def usage(self) -> Dict[str, int]:
        return self._raw.usage

    @property
    def text(self) -> Optional[str]:
        """The value as a REPL would print it, when ``text=True`` was asked for."""
        return self._raw.text

    @property
    def calls(self) -> List[Dict[str, Any]]:
        return self._part("calls") or []

    @property
    def limits(self) -> Dict[str, int]:
        return self._part("limits") or {}

    @property
    def isolation(self) -> Dict[str, Any]:
        return self._part("isolation") or {}

    @property
    def findings(self) -> List[Dict[str, Any]]:
        return self._part("findings") or []

    @property
    def dropped(self) -> Dict[str, int]:
        return self._part("dropped") or {"stdout": 0, "stderr": 0}

    @property
    def session_lives(self) -> bool:
        """Whether the session that this was evaluated in can be used further."""
        return bool(self._raw.session_lives)

    def to_dict(self) -> Dict[str, Any]:
        """The result object of docs/result.md."""
        self._part("status")
        return dict(self._json or {})

    def value_or_raise(self) -> Any:
        """The value, or a GuestError that says why there is none."""
        if self.status == "ok":
            return self.value
        error = self.error
        if error is None:
            raise GuestError(self.status, "", "", None, self)
        raise GuestError(error.name, error.message, error.stack or "", None, self)

    def __repr__(self) -> str:
        if self.status == "ok":
            return f"<Result ok {self.value!r:.80}>"
        return f"<Result {self.status}: {self.error}>"


class JsonResult:
    """What Result asks for, out of the result object of a server."""

    def __init__(self, document: Dict[str, Any], value: Any, files: Dict[str, bytes]) -> None:
        self.json = document
        self.status = document.get("status", "crashed")
        self.value = value
        self.files = files
        self.stdout = document.get("stdout") or ""
        self.stderr = document.get("stderr") or ""
        self.exit_code = document.get("exit_code")
        self.usage = document.get("usage") or {}
        self.text = document.get("text")
        self.session_lives = document.get("session_lives", True)

    @property
    def artifacts(self) -> List[Any]:
        made = []
        for one in self.json.get("artifacts") or []:
            data = {r["mime"]: r["text"].encode() if "text" in r else base64.b64decode(r["base64"])
                    for r in one["representations"]}
            made.append((one.get("name"), data))
        return made
