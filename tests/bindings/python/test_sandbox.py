"""vial.sandbox: every field is enforced."""

import pathlib
import threading

import pytest

from vial.sandbox import CodeSandbox, ExecutionResult, SandboxConfig, SandboxPool


def test_defaults():
    config = SandboxConfig()
    assert (config.language, config.timeout_seconds, config.max_memory_mb) == ("python", 30, 256)
    assert config.allowed_imports == ["json", "math", "re"] and config.allowed_imports is not SandboxConfig().allowed_imports
    assert ExecutionResult() == ExecutionResult("", "", 0, False)


def test_execute():
    sandbox = CodeSandbox(SandboxConfig())
    assert sandbox.execute("import json; print(json.dumps({'a': 1}))") == ExecutionResult('{"a": 1}\n', "", 0, False)
    failed = sandbox.execute("print('before')\n1 / 0")
    assert failed.stdout == "before\n" and failed.exit_code == 1 and "ZeroDivisionError" in failed.stderr
    assert sandbox.execute("raise SystemExit(3)").exit_code == 3
    assert CodeSandbox(SandboxConfig(language="javascript")).execute("console.log(1 + 1)").stdout == "2\n"
    with pytest.raises(TypeError):
        sandbox.execute(5)


def test_every_field_is_enforced():
    assert CodeSandbox(SandboxConfig(timeout_seconds=1)).execute("while True: pass") == ExecutionResult(
        "", "Execution timed out", 1, True)
    eater = CodeSandbox(SandboxConfig(max_memory_mb=64))
    result = eater.execute("kept = [bytearray(1 << 20) for _ in range(500)]\nprint('never')")
    assert result.exit_code != 0 and result.stdout == "" and not result.timed_out
    only_math = CodeSandbox(SandboxConfig(allowed_imports=["math"]))
    assert only_math.execute("import math; print(math.gcd(4, 6))").stdout == "2\n"
    for code in ("import os", "import json", "__import__('socket')", "import importlib", "from subprocess import run"):
        denied = only_math.execute(code)
        assert denied.exit_code == 1 and "ImportError" in denied.stderr, code
    none = CodeSandbox(SandboxConfig(allowed_imports=[]))
    assert none.execute("print(1)").stdout == "1\n" and none.execute("import math").exit_code == 1


@pytest.mark.parametrize("fields", [
    {"timeout_seconds": 0}, {"timeout_seconds": "x"}, {"max_memory_mb": 1}, {"max_memory_mb": True}, {"language": "cobol"},
    {"allowed_imports": "math"}, {"language": "javascript", "allowed_imports": ["fs"]},
])
def test_wrong_fields(fields):
    with pytest.raises((TypeError, ValueError)):
        CodeSandbox(SandboxConfig(**fields))


def test_files_stay_in_the_work_directory():
    sandbox = CodeSandbox(SandboxConfig())
    sandbox.execute("open('a.txt', 'w').write('kept')")
    assert (pathlib.Path(sandbox.work_dir) / "a.txt").read_text() == "kept"
    (pathlib.Path(sandbox.work_dir) / "b.txt").write_text("given")
    assert sandbox.execute("print(open('a.txt').read(), open('b.txt').read())").stdout == "kept given\n"
    where = sandbox.work_dir
    sandbox.close()
    assert not pathlib.Path(where).exists()


def test_a_config_that_is_changed_later_is_enforced():
    config = SandboxConfig(allowed_imports=["math"])
    sandbox = CodeSandbox(config)
    assert sandbox.execute("import math").exit_code == 0
    config.allowed_imports.append("json")
    config.timeout_seconds = 0.3
    assert sandbox.execute("import json; print(1)").stdout == "1\n" and sandbox.execute("while True: pass").timed_out
    config.max_memory_mb = 0
    with pytest.raises(ValueError, match="max_memory_mb"):
        sandbox.execute("1")


def test_a_pool_has_one_template():
    pool = SandboxPool(50)
    pool.initialize(SandboxConfig(timeout_seconds=7))
    assert len({id(one._environment) for one in pool.sandboxes}) == 1
    assert pool.acquire().execute("print(2)").stdout == "2\n"
    pool.close()


def test_pool():
    pool = SandboxPool(pool_size=2)
    pool.initialize(SandboxConfig())
    assert pool.status() == {"total": 2, "available": 2, "in_use": 0}
    first, second = pool.acquire(), pool.acquire()
    assert pool.acquire() is None and pool.status() == {"total": 2, "available": 0, "in_use": 2}
    first.execute("open('secret', 'w').write('x')")
    pool.release(first)
    assert pool.status()["available"] == 1
    assert pool.acquire() is first and "FileNotFoundError" in first.execute("open('secret')").stderr
    pool.release(second)
    with pytest.raises(ValueError, match="before"):
        pool.release(second)
    with pytest.raises(ValueError, match="not one"):
        pool.release(CodeSandbox(SandboxConfig()))
    with pytest.raises(RuntimeError):
        pool.initialize(SandboxConfig())
    with pytest.raises(ValueError):
        SandboxPool(0)
    pool.close()


def test_pool_and_threads():
    pool = SandboxPool(4)
    pool.initialize(SandboxConfig())
    found = []

    def work():
        sandbox = pool.acquire()
        if sandbox is not None:
            found.append(sandbox.execute("print(1)").stdout)
            pool.release(sandbox)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert set(found) == {"1\n"} and pool.status()["available"] == 4
    pool.close()
