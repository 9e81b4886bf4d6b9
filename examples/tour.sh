#!/bin/sh
# tour.sh - shows vial in half a minute: a value, output as it comes, an error, a limit, and the wall.
#
# Usage: examples/tour.sh [PROGRAM]. `make run` calls it with the program from the build tree.
set -u
vial=${1:-build/vial}

say() {
    printf '\n\033[1m%s\033[0m\n' "$*"
}

# Runs a command, shows it first, and checks that it ends with the expected exit code.
show() {
    expected=$1
    shift
    printf '$ vial'
    for word in "$@"; do
        case $word in
        *[!A-Za-z0-9_./=-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$vial" "$@"
    code=$?
    if [ "$code" -ne "$expected" ]; then
        echo "tour: expected exit code $expected, got $code" >&2
        exit 1
    fi
}

say "A value: the last expression, promises awaited, with the host's JSON as \`input\`"
show 0 run --input '{"rows": [3, 1, 2]}' -e 'input.rows.toSorted().map(x => ({x, square: x * x}))'

say "TypeScript, modules, files and values that JSON does not have"
show 0 run -e 'import { createHash } from "node:crypto"; import fs from "node:fs/promises";
type Entry = { name: string; hash: string };
await fs.writeFile("note.txt", "hello");
const entry: Entry = { name: "note.txt", hash: createHash("sha256").update(await fs.readFile("note.txt")).digest("hex") };
export default new Map([["entry", entry], ["size", (await fs.stat("note.txt")).size as number]]);'

say "Python, with tools of the host"
show 0 run --tools examples/tools.json --input '{"ids": [1, 2]}' examples/report.py

say "Output arrives while the program runs"
show 0 run examples/countdown.js

say "An error says where, in the source as it was submitted"
show 1 run examples/broken.js

say "A limit is enforced by the kernel, and what was printed before is kept"
show 137 run --memory-mb 32 -e 'console.log("filling memory"); const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))'
show 124 run --wall-ms 200 -e 'console.log("waiting"); await new Promise(resolve => setTimeout(resolve, 60000))'

say "Which layers of the wall hold on this machine"
show 0 doctor
