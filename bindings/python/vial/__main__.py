"""python -m vial -c CODE, or a file: evaluates JavaScript in a runtime and prints its value."""

import argparse
import sys
from pathlib import Path

from .jsrun import JavaScriptError, Runtime, RuntimeConfig, undefined


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m vial", description="Evaluates JavaScript behind the wall.")
    parser.add_argument("-c", "--command", help="the code")
    parser.add_argument("file", nargs="?", help="a file with the code")
    args = parser.parse_args()
    if (args.command is None) == (args.file is None):
        parser.error("give either -c CODE or a file")
    try:
        code = args.command if args.command is not None else Path(args.file).read_text(encoding="utf-8")
        with Runtime(RuntimeConfig(enable_console=True)) as runtime:
            value = runtime.eval(code)
    except JavaScriptError as error:
        print(f"JavaScript Error: {error}", file=sys.stderr)
        return 1
    except (OSError, RuntimeError, ValueError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    if value is not undefined:
        print(value)
    return 0


if __name__ == "__main__":
    sys.exit(main())
