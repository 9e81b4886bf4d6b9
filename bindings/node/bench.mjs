/* bench.mjs - what the binding costs beside the C library: node build/node/bench.mjs [rounds] [count] [--json].
 *
 * The C side is build/bindings/python/vial-bench-c, which does the same over vial.h. Both sides take turns, so that
 * both see the same machine, ten runs each: what asks the C side is a lot of JavaScript, and the run behind it would
 * find nothing of its own in the processor's caches. Every round is shown. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath } from "node:url";
import { tool, Vial } from "vial";

const build = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const isJson = process.argv.includes("--json");
const [rounds = 5, count = 100] = process.argv.slice(2).filter((one) => one !== "--json").map(Number);
const TURN = 10;
const PAUSE_MS = 2; // cells are made ahead of time: who makes no pause measures how fast they are made

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "vial-bench-"));
fs.writeFileSync(path.join(folder, "document.json"), JSON.stringify({ name: "bench" }));
const child = spawn(path.join(build, "bindings/python/vial-bench-c"), [path.join(folder, "document.json")], { stdio: ["pipe", "pipe", "inherit"] });
const lines = readline.createInterface({ input: child.stdout });

/* How many microseconds the C side took for what the letter stands for. */
async function cSide(letter) {
    child.stdin.write(`${letter}\n`);
    return Number((await once(lines, "line"))[0]);
}

const engine = new Vial({ forSessions: true });
const echo = tool({ name: "echo", mode: "sync", input: true, execute: (x) => x });
const work = {
    r: () => engine.run("1+1"),
    t: () => engine.run("for (let i = 0; i < 1000; i++) echo(i); 1", { tools: [echo], limits: { callsMax: 2000 }, timeout: 60000 }),
};

async function nodeSide(letter) {
    const began = performance.now();
    (await work[letter]()).valueOrThrow();
    return (performance.now() - began) * 1000;
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

async function round(letter, times) {
    const c = [];
    const node = [];
    for (let i = 0; i < times; i += TURN) {
        for (let k = i; k < times && k < i + TURN; k++) {
            c.push(await cSide(letter));
            await pause();
        }
        for (let k = i; k < times && k < i + TURN; k++) {
            node.push(await nodeSide(letter));
            await pause();
        }
    }
    return [median(node), median(c)];
}

await engine.settle(1000);
await nodeSide("r");
await cSide("r");
const rows = [["run_us", "r", count, 1, 'run("1+1"), fresh'], ["tool_us", "t", Math.max(1, count / 20), 1000, "a call of a tool"]];
const made = Array.from({ length: rounds }, () => ({ c: {}, node: {} }));
for (const [key, letter, times, divisor, what] of rows) {
    for (const one of made) {
        [one.node[key], one.c[key]] = (await round(letter, times)).map((us) => us / divisor);
    }
    if (!isJson) {
        const pairs = made.map((one) => `${one.node[key].toFixed(0)}/${one.c[key].toFixed(0)}`).join("  ");
        console.log(`${what.padEnd(20)} ${median(made.map((one) => one.node[key] / one.c[key])).toFixed(2)}x   us, Node/C: ${pairs}`);
    }
}
if (isJson) {
    console.log(JSON.stringify(made));
}
child.stdin.end();
await engine.close();
fs.rmSync(folder, { recursive: true });
