"""What people build by hand to run code of a model, with every field enforced.

    config = SandboxConfig(language="python", timeout_seconds=5, allowed_imports=["math"])
    result = CodeSandbox(config).execute("import math; print(math.pi)")
"""

import shutil
import tempfile
import threading
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from ._engine import Vial, default_engine
from ._session import Environment

_MIB = 1024 * 1024
_MEMORY_MIN_MB = 16  # below that a cell could not work at all
_FILES_MAX = 4096
_IMPORTS = ["json", "math", "re"]


@dataclass
class SandboxConfig:
    """What programs are written in and what they may use."""

    language: str = "python"
    timeout_seconds: float = 30
    max_memory_mb: int = 256
    allowed_imports: List[str] = field(default_factory=lambda: list(_IMPORTS))

    def _check(self) -> None:
        if not isinstance(self.timeout_seconds, (int, float)) or not 0 < self.timeout_seconds <= 86400:
            raise ValueError(f"timeout_seconds must be more than 0 and at most 86400, not {self.timeout_seconds!r}")
        if isinstance(self.max_memory_mb, bool) or not isinstance(self.max_memory_mb, int) \
                or self.max_memory_mb < _MEMORY_MIN_MB:
            raise ValueError(f"max_memory_mb must be a whole number from {_MEMORY_MIN_MB} on, not {self.max_memory_mb!r}")
        if isinstance(self.allowed_imports, str) or not all(isinstance(one, str) for one in self.allowed_imports):
            raise TypeError("allowed_imports must be a list of names of modules")
        if not isinstance(self.language, str):
            raise TypeError(f"language must be a str, not {type(self.language).__name__}")
        if self.language.lower() not in ("python", "py") and list(self.allowed_imports) != _IMPORTS:
            raise ValueError("allowed_imports is enforced for Python; programs in JavaScript have no modules but those "
                             "that are built in, which have no power")


@dataclass
class ExecutionResult:
    """What a program printed and how it ended."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    timed_out: bool = False


def _fields(config: SandboxConfig) -> Tuple[Any, ...]:
    return config.language, config.timeout_seconds, config.max_memory_mb, tuple(config.allowed_imports)


# Sandboxes with the same fields begin in one environment: one template process for a whole pool.
_environments: "weakref.WeakValueDictionary[Tuple[Any, ...], Environment]" = weakref.WeakValueDictionary()


def _environment(config: SandboxConfig, vial: Vial) -> Environment:
    config._check()
    key = (id(vial), *_fields(config))
    found = _environments.get(key)
    if found is None or found._vial is not vial:
        found = _environments[key] = _make_environment(config, vial)
    return found


def _make_environment(config: SandboxConfig, vial: Vial) -> Environment:
    limits = {"wall_ms_max": max(1, round(config.timeout_seconds * 1000)),
              "cpu_ms_max": max(1, round(config.timeout_seconds * 1000)),
              "memory_bytes_max": config.max_memory_mb * _MIB}
    options = {}
    if config.language.lower() in ("python", "py"):
        options["allowed_imports"] = list(config.allowed_imports)
    return Environment(vial=vial, lang=config.language, limits=limits, max_limits=limits, **options)


class CodeSandbox:
    """Runs programs one after the other, each in a fresh process; files in work_dir are there for the next one."""

    def __init__(self, config: SandboxConfig, *, vial: Optional[Vial] = None) -> None:
        if not isinstance(config, SandboxConfig):
            raise TypeError(f"a CodeSandbox takes a SandboxConfig, not {type(config).__name__}")
        self.config = config
        self._vial = vial or default_engine()
        self._environment, self._made_for = _environment(config, self._vial), _fields(config)
        self.work_dir = tempfile.mkdtemp(prefix="vial-sandbox-")

    def _use(self) -> Environment:
        """The environment for the config as it is now: programs may have changed its fields."""
        if self._made_for != _fields(self.config):
            made = _environment(self.config, self._vial)
            self._environment, self._made_for = made, _fields(self.config)
        return self._environment

    def _files(self) -> Dict[str, bytes]:
        base = Path(self.work_dir)
        return {str(path.relative_to(base)): path.read_bytes() for path in sorted(base.rglob("*"))
                if path.is_file() and not path.is_symlink()}

    def _save(self, files: Dict[str, bytes]) -> None:
        base = Path(self.work_dir).resolve()
        for name, data in list(files.items())[:_FILES_MAX]:
            path = (base / name).resolve()
            if base not in path.parents:
                continue  # the library gives no such names
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def execute(self, code: str) -> ExecutionResult:
        """Runs a program to its end. What goes wrong in it is in the result."""
        if not isinstance(code, str):
            raise TypeError(f"the code must be a str, not {type(code).__name__}")
        name = "main.py" if self.config.language.lower() in ("python", "py") else "main.js"
        result = self._use().run(code, name=name, files=self._files(), outs=["**"])
        self._save(result.files)
        if result.ok:
            return ExecutionResult(result.stdout, result.stderr, result.exit_code or 0)
        error = result.error
        stderr = result.stderr + (f"{error.stack or error}\n" if error is not None else f"{result.status}\n")
        if result.status in ("wall_limit", "cpu_limit"):
            return ExecutionResult(result.stdout, result.stderr + "Execution timed out", 1, True)
        return ExecutionResult(result.stdout, stderr, result.exit_code if result.exit_code else 1)

    def cleanup(self) -> None:
        """Removes what programs have written."""
        for item in Path(self.work_dir).iterdir():
            if item.is_dir() and not item.is_symlink():
                shutil.rmtree(item, ignore_errors=True)
            else:
                item.unlink()

    def close(self) -> None:
        shutil.rmtree(self.work_dir, ignore_errors=True)

    def __enter__(self) -> "CodeSandbox":
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "work_dir", None):
            shutil.rmtree(self.work_dir, ignore_errors=True)


class SandboxPool:
    """Sandboxes that are lent out. One that is given back has nothing of who had it."""

    def __init__(self, pool_size: int = 3) -> None:
        if isinstance(pool_size, bool) or not isinstance(pool_size, int) or not 1 <= pool_size <= 1000:
            raise ValueError(f"pool_size must be a whole number from 1 to 1000, not {pool_size!r}")
        self.pool_size = pool_size
        self.sandboxes: List[CodeSandbox] = []
        self.available: List[int] = []
        self._lock = threading.Lock()

    def initialize(self, config: SandboxConfig) -> None:
        """Makes the sandboxes, and has their environment ready before the first program."""
        with self._lock:
            if self.sandboxes:
                raise RuntimeError("the pool is initialized already")
            made = [CodeSandbox(config) for _ in range(self.pool_size)]
            self.sandboxes = made
            self.available = list(range(self.pool_size))
        made[0]._environment.start()  # it is the one of all

    def acquire(self) -> Optional[CodeSandbox]:
        """A sandbox, or None when all are lent."""
        with self._lock:
            if not self.available:
                return None
            return self.sandboxes[self.available.pop(0)]

    def release(self, sandbox: CodeSandbox) -> None:
        """Takes one back and clears it."""
        with self._lock:
            index = next((i for i, one in enumerate(self.sandboxes) if one is sandbox), -1)
            if index < 0:
                raise ValueError("the sandbox is not one of this pool")
            if index in self.available:
                raise ValueError("the sandbox was given back before")
            sandbox.cleanup()
            self.available.append(index)

    def status(self) -> Dict[str, int]:
        with self._lock:
            return {"total": self.pool_size, "available": len(self.available),
                    "in_use": (len(self.sandboxes) or self.pool_size) - len(self.available)}

    def close(self) -> None:
        with self._lock:
            for one in self.sandboxes:
                one.close()
            self.sandboxes, self.available = [], []
