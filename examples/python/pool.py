"""Lends out sandboxes for Python code, as people build them by hand."""

from vial.sandbox import SandboxConfig, SandboxPool

pool = SandboxPool(pool_size=2)
pool.initialize(SandboxConfig(timeout_seconds=1, max_memory_mb=64, allowed_imports=["math"]))
sandbox = pool.acquire()
for code in ("import math; print(math.factorial(10))", "import os", "while True: pass", "x = bytearray(1 << 30)"):
    result = sandbox.execute(code)
    last = (result.stdout + result.stderr).strip().splitlines()[-1]
    print(f"{result.exit_code} {'timed out' if result.timed_out else last}")
print(pool.status())
pool.release(sandbox)
print(pool.status())
pool.close()
