"""python -m vial.bench: what the binding costs beside the C library, measured in the same run.

The C side is a small program that does the same over vial.h (build/bindings/python/vial-bench-c; --c names another).
Both sides take turns, ten measurements each, so that both see the same machine and neither only what the other left
in the processor's caches; the medians are compared, and the ratio of every round is shown.
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

_TURN = 10
_PAUSE_S = 0.004  # cells are made ahead of time: who makes no pause measures how fast they are made
_CALLS = "for (let i = 0; i < 1000; i++) echo(i); 1"


class _CSide:
    """The program that measures the C library."""

    def __init__(self, program: str) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(_runtime.environment_document(False, []), file)
            file.flush()
            self._process = subprocess.Popen([program, file.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             text=True, bufsize=1)
            self.measure("r")  # it has read the file when it answers

    def measure(self, letter: str) -> float:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(letter + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("bench: the C side ended")
        return float(line)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def _fresh_runtime() -> None:
    with Runtime() as runtime:
        runtime.eval("1+1")


def _calls(engine: vial.Vial, inline: bool) -> Callable[[], None]:
    echo = vial.tool(lambda x: x, name="echo", mode="sync", input_schema=True, inline=inline)

    def work() -> None:
        engine.run(_CALLS, tools=[echo], limits={"calls_max": 2000, "wall_ms_max": 60000}).value_or_raise()

    return work


def _python_us(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1e6


def measure(program: str, rounds: int, count: int) -> List[Dict[str, Dict[str, float]]]:
    """Medians of each round, in microseconds; of a tool for one of its 1,000 calls."""
    engine = _runtime._get_home().vial
    _fresh_runtime()
    engine.settle(1.0)
    c = _CSide(program)
    rows = (("session_us", "s", _fresh_runtime, count, 1), ("run_us", "r", lambda: engine.run("1+1"), count, 1),
            ("inline_us", "i", _calls(engine, True), max(1, count // 10), 1000),
            ("thread_us", "t", _calls(engine, False), max(1, count // 10), 1000))
    made = []
    for _ in range(rounds):
        one: Dict[str, Dict[str, float]] = {"c": {}, "python": {}}
        for name, letter, work, times, divisor in rows:
            taken: Dict[str, List[float]] = {"c": [], "python": []}
            for at in range(0, times, _TURN):
                for side, measured in (("c", lambda: c.measure(letter)), ("python", lambda: _python_us(work))):
                    for _ in range(min(_TURN, times - at)):
                        taken[side].append(measured())
                        time.sleep(_PAUSE_S)
            for side, all_of_them in taken.items():
                one[side][name] = statistics.median(all_of_them) / divisor
        made.append(one)
    c.close()
    return made


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
    rounds = measure(args.c, args.rounds, args.count)
    if args.json:
        print(json.dumps(rounds))
        return 0
    for key, what, aim in _ROWS:
        ratios = [one["python"][key] / one["c"][key] for one in rounds]
        pairs = "  ".join(f"{one['python'][key]:.0f}/{one['c'][key]:.0f}" for one in rounds)
        print(f"{what:30} {min(ratios):.2f} to {max(ratios):.2f}x, median {statistics.median(ratios):.2f}x (aim {aim}x); "
              f"us, Python/C: {pairs}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
