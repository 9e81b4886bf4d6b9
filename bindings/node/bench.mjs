/* bench.mjs - what the binding costs beside the C library: node bindings/node/bench.mjs [rounds] [count].
 *
 * The C side is build/bindings/python/vial-bench-c, which does the same over vial.h. Rounds of both sides alternate,
 * so that both see the same machine; every round is shown. VIAL_BUILD names another build directory. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const build = path.resolve(root, process.env.VIAL_BUILD ?? "build");
const { tool, Vial } = await import(pathToFileURL(path.join(build, "node/vial/index.js")));
const rounds = Number(process.argv[2] ?? 5);
const count = Number(process.argv[3] ?? 100);
const PAUSE_MS = 2; // cells are made ahead of time: who makes no pause measures how fast they are made

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

async function medianUs(times, work) {
    const taken = [];
    for (let i = 0; i < times; i++) {
        const began = performance.now();
        await work();
        taken.push((performance.now() - began) * 1000);
        await pause();
    }
    return median(taken);
}

async function nodeSide(engine) {
    const echo = tool({ name: "echo", mode: "sync", input: true, execute: (x) => x });
    const run_us = await medianUs(count, async () => (await engine.run("1+1")).valueOrThrow());
    const calls = await medianUs(5, async () =>
        (await engine.run("for (let i = 0; i < 1000; i++) echo(i); 1", { tools: [echo], limits: { callsMax: 2000 }, timeout: 60000 })).valueOrThrow());
    return { run_us, thread_us: calls / 1000 };
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "vial-bench-"));
const document = path.join(folder, "document.json");
fs.writeFileSync(document, JSON.stringify({ name: "bench" }));
const engine = new Vial({ forSessions: true });
await engine.settle(1000);
await engine.run("1+1");
const all = [];
for (let i = 0; i < rounds; i++) {
    const c = JSON.parse(execFileSync(path.join(build, "bindings/python/vial-bench-c"), [document, String(count)], { encoding: "utf8" }));
    all.push({ c, node: await nodeSide(engine) });
}
for (const [key, what] of [["run_us", 'run("1+1"), fresh'], ["thread_us", "a call of a tool in another thread"]]) {
    const ratio = median(all.map((one) => one.node[key] / one.c[key]));
    const pairs = all.map((one) => `${one.node[key].toFixed(0)}/${one.c[key].toFixed(0)}`).join("  ");
    console.log(`${what.padEnd(36)} ${ratio.toFixed(2)}x   us, Node/C: ${pairs}`);
}
await engine.close();
fs.rmSync(folder, { recursive: true });
