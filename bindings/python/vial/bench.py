"""python -m vial.bench: what the binding costs beside the C library, measured in the same run.

The C side is a small program that does the same over vial.h (build/bindings/python/vial-bench-c; --c names another).
Rounds of both sides alternate, so that both see the same machine; every round is shown.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Callable, Dict, List

import vial
from vial.jsrun import Runtime, _runtime

_PAUSE_S = 0.002  # cells are made ahead of time: who makes no pause measures how fast they are made


def _median_us(work: Callable[[], object], count: int) -> float:
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1e6)
        time.sleep(_PAUSE_S)
    return statistics.median(taken)


def _fresh_runtime() -> None:
    with Runtime() as runtime:
        runtime.eval("1+1")


def _tool_us(engine: vial.Vial, inline: bool) -> float:
    echo = vial.tool(lambda x: x, name="echo", mode="sync", input_schema=True, inline=inline)
    source = "for (let i = 0; i < 1000; i++) echo(i); 1"
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        engine.run(source, tools=[echo], limits={"calls_max": 2000, "wall_ms_max": 60000}).value_or_raise()
        taken.append((time.perf_counter() - began) * 1e6 / 1000)
    return statistics.median(taken)


def python_side(count: int) -> Dict[str, float]:
    engine = _runtime._get_home().vial
    engine.settle(1.0)
    _fresh_runtime()
    return {
        "session_us": _median_us(_fresh_runtime, count),
        "run_us": _median_us(lambda: engine.run("1+1"), count),
        "inline_us": _tool_us(engine, True),
        "thread_us": _tool_us(engine, False),
    }


def c_side(program: str, count: int) -> Dict[str, float]:
    document = _runtime.environment_document(False, [])
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        done = subprocess.run([program, file.name, str(count)], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"bench: {program} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


_ROWS = (("session_us", "Runtime().eval(\"1+1\"), fresh", 1.5), ("run_us", "run(\"1+1\"), fresh", 1.5),
         ("inline_us", "a call of an inline tool", 2.0), ("thread_us", "a call of a tool in a thread", 2.0))


def main() -> int:
    default = os.path.join(os.path.dirname(__file__), "..", "..", "bindings", "python", "vial-bench-c")
    parser = argparse.ArgumentParser(prog="python -m vial.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--c", default=os.path.normpath(default), help="the C side")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=100, help="of fresh runs in a round")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rounds: List[Dict[str, Dict[str, float]]] = []
    for _ in range(args.rounds):
        rounds.append({"c": c_side(args.c, args.count), "python": python_side(args.count)})
    if args.json:
        print(json.dumps(rounds))
        return 0
    for key, what, aim in _ROWS:
        ratios = [one["python"][key] / one["c"][key] for one in rounds]
        pairs = "  ".join(f"{one['python'][key]:.0f}/{one['c'][key]:.0f}" for one in rounds)
        print(f"{what:32} {statistics.median(ratios):.2f}x (aim {aim}x)   us, Python/C: {pairs}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
