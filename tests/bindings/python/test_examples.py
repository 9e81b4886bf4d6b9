"""The examples say what they should, and the code in docs/python-binding.md and README.md runs."""

import re
import subprocess

import pytest
from conftest import BUILD, ROOT, environment

EXPECTED = {
    "run.py": """\
ok [1, 4, 9]
exception thinking | ReferenceError: Can't find variable: undefined_name
wall_limit | the run took longer than its limit of 200 ms
6
True {'a': {1}}
""",
    "tools.py": """\
printed: Ada, Grace, KeyError
ok {'order': 'A-1', 'paid': 995}
[('find', 'ok'), ('find', 'ok'), ('find', 'failed'), ('shop.refund', 'ok')]
""",
    "sessions.py": """\
sorted(rows) -> [1, 2, 3]
rows.clear() or rows -> []
rows[10] -> IndexError: list index out of range
still [3, 1, 2]
108
""",
    "agent.py": """\
result: 480
result: 22.95
error: TypeError
error: it took longer than a second
error: Heap limit exceeded
""",
    "pool.py": """\
0 3628800
1 ImportError: os may not be imported here; the environment allows math
1 timed out
1 MemoryError
{'total': 2, 'available': 1, 'in_use': 1}
{'total': 2, 'available': 2, 'in_use': 0}
""",
}


@pytest.mark.parametrize("path", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda path: path.name)
def test_examples(path):
    done = subprocess.run(["/usr/bin/python3", str(path)], capture_output=True, text=True, timeout=60, env=environment())
    assert (done.returncode, done.stdout) == (0, EXPECTED[path.name]), done.stderr


@pytest.mark.parametrize("document, count", [("docs/python-binding.md", 10), ("README.md", 1)])
def test_the_code_of_the_document(document, count):
    text = (ROOT / document).read_text()
    source = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    assert source.count("assert") >= count
    done = subprocess.run(["/usr/bin/python3", "-c", source], capture_output=True, text=True, timeout=60,
                          env=environment())
    assert done.returncode == 0, done.stderr


def test_the_bench_measures():
    done = subprocess.run(["/usr/bin/python3", "-m", "vial.bench", "--rounds", "1", "--count", "3", "--json", "--c",
                           str(BUILD / "bindings/python/vial-bench-c")],
                          capture_output=True, text=True, timeout=120, env=environment())
    assert done.returncode == 0, done.stderr
    import json
    (one,) = json.loads(done.stdout)
    assert set(one["c"]) == set(one["python"]) == {"session_us", "run_us", "inline_us", "thread_us"}
    assert all(value > 0 for side in one.values() for value in side.values())
