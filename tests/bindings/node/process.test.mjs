/* process.test.mjs - ends of processes and threads: nothing crashes, and no process is left. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { folder, isAlive, isGone, runProgram } from "./helpers.mjs";

/* A program that has a session with a busy evaluation, a run and a tool that never answers, and tells the pid of
 * its template. */
const busy = `import { run, Session, defaultEngine } from "vial";
const session = new Session(); await session.eval("var x = 1"); const branch = await session.branch();
session.eval("for (;;);", { timeout: 60000 }); run("for (;;);", { timeout: 60000 });
run("await never()", { tools: { never: () => new Promise(() => {}) }, timeout: 60000 });
await new Promise((resolve) => setTimeout(resolve, 100));
console.log((await defaultEngine().stats()).templatePid);
`;

const ends = {
    "process.exit()": ["process.exit(3);", 3],
    "an exception": ["throw new Error('end');", 1],
    "an exit in a callback": ["setTimeout(() => process.exit(4), 20); await new Promise(() => {});", 4],
    "an exit as soon as a run is over": ["await defaultEngine().settle(1000); await run('1'); process.exit(6);", 6],
    "an exception as soon as a run is over": ["await defaultEngine().settle(1000); run('1').then(() => { throw new Error('end'); });", 1],
    "an exit in a tool": ["await run('await t()', { tools: { t: () => process.exit(5) } });", 5],
};

for (const [name, [end, code]] of Object.entries(ends)) {
    test(`${name} with live sessions leaves no process`, async () => {
        const ended = runProgram(busy + end);
        assert.equal(ended.signal, null, ended.stderr);
        assert.equal(ended.status, code, ended.stderr);
        const pid = Number(ended.stdout.trim());
        assert.equal(pid > 0, true);
        assert.equal(await isGone(pid), true);
    });
}

test("a process that is killed leaves no process", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", `${busy} setInterval(() => {}, 1000);`], { cwd: folder });
    const [data] = await once(child.stdout, "data");
    const pid = Number(String(data).trim());
    assert.equal(isAlive(pid), true);
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.equal(await isGone(pid), true);
});

test("a program ends by itself when nothing is under way, though a session is open", () => {
    const begin = Date.now();
    const ended = runProgram('import { run, Session } from "vial"; const s = new Session(); console.log((await s.eval("1+1")).value, (await run("2")).value)');
    assert.deepEqual([ended.status, ended.signal, ended.stdout], [0, null, "2 2\n"]);
    assert.equal(Date.now() - begin < 20000, true);
});

test("engines that nobody uses any more are collected", () => {
    const ended = runProgram(`import { Vial } from "vial"; let pids = [];
for (let i = 0; i < 5; i++) { const v = new Vial({ quick: true, poolCount: 1 }); await v.run("1");
if (i % 2) { const t = { t: () => v.isClosed }; await v.session({ tools: t }).eval("await t()"); await v.environment({ tools: t }).run("await t()"); await v.run("await t()", { tools: t }); } pids.push((await v.stats()).templatePid); }
for (let i = 0; i < 40 && pids.length > 1; i++) { globalThis.gc?.(); await new Promise((r) => setTimeout(r, 50));
pids = pids.filter((p) => { try { process.kill(p, 0); return true; } catch { return false; } }); }
console.log(pids.length <= 1)`.replace("import", "import v8 from 'node:v8'; v8.setFlagsFromString('--expose-gc'); import vm from 'node:vm'; globalThis.gc = vm.runInNewContext('gc'); import"));
    assert.deepEqual([ended.status, ended.signal, ended.stdout], [0, null, "true\n"], ended.stderr);
});

const worker = (source) => {
    const file = path.join(folder, `worker-${process.pid}-${Math.random().toString(36).slice(2)}.mjs`);
    fs.writeFileSync(file, source);
    const thread = new Worker(file);
    thread.once("exit", () => fs.rmSync(file, { force: true }));
    return thread;
};

test("worker threads run side by side, each with an engine of its own", async () => {
    const source = `import { parentPort } from "node:worker_threads"; import { run } from "vial";
const values = await Promise.all([1, 2, 3].map((n) => run("await t(input)", { input: n, tools: { t: async (x) => x * 2 } })));
parentPort.postMessage(values.map((r) => r.value));`;
    const threads = [1, 2, 3].map(() => worker(source));
    const answers = await Promise.all(threads.map((thread) => once(thread, "message")));
    assert.deepEqual(answers.map(([m]) => m), [[2, 4, 6], [2, 4, 6], [2, 4, 6]]);
    const codes = await Promise.all(threads.map(async (thread) => thread.threadId === -1 ? 0 : (await Promise.race([once(thread, "exit"), new Promise((r) => setTimeout(r, 5000, ["late"]))]))[0]));
    assert.deepEqual(codes, [0, 0, 0]);
});

test("a worker that exits, or fails, as soon as a run is over", async () => {
    for (const [end, code] of [["process.exit(7)", 7], ["throw new Error('end')", 1]]) {
        const thread = worker(`import { parentPort } from "node:worker_threads"; import { run, defaultEngine } from "vial";
await defaultEngine().settle(1000); parentPort.postMessage((await defaultEngine().stats()).templatePid); await run("1"); ${end};`);
        thread.on("error", () => {});
        const exit = new Promise((resolve) => thread.once("exit", resolve));
        const [pid] = await once(thread, "message");
        assert.deepEqual([await exit, await isGone(pid)], [code, true]);
    }
});

test("a worker that is terminated in the middle of it all leaves no process", async () => {
    const thread = worker(busy.replace("console.log(", "import { parentPort } from 'node:worker_threads'; parentPort.postMessage(") + "setInterval(() => {}, 1000);");
    const [pid] = await once(thread, "message");
    assert.equal(isAlive(pid), true);
    await thread.terminate();
    assert.equal(await isGone(pid), true);
});

test("a missing or foreign library is told", () => {
    const copy = fs.mkdtempSync(path.join(os.tmpdir(), "vial-node-"));
    try {
        fs.cpSync(path.join(folder, "vial"), copy, { recursive: true });
        const go = () => runProgram(`await import(${JSON.stringify(path.join(copy, "index.js"))}).then(() => console.log("loaded"), (e) => console.log(e.name, e.message))`);
        assert.match(go().stdout, /^VialError vial cannot load its addon: .*libvial\.so\.0/); // it is not beside the copy
        fs.rmSync(path.join(copy, "vial.node"));
        assert.match(go().stdout, /^VialError vial cannot load its addon: /);
    } finally {
        fs.rmSync(copy, { recursive: true });
    }
});

test("a library of another version, and one without what is needed, are refused", () => {
    const place = fs.mkdtempSync(path.join(os.tmpdir(), "vial-node-"));
    const go = () => runProgram('await import("vial").then((v) => console.log("loaded", v.version), (e) => console.log(e.name, e.message))', { env: { ...process.env, LD_LIBRARY_PATH: place } });
    try {
        const library = fs.readFileSync(path.join(folder, "../libvial.so.0"));
        fs.writeFileSync(path.join(place, "libvial.so.0"), library);
        const { version } = JSON.parse(fs.readFileSync(path.join(folder, "vial/package.json")));
        assert.equal(go().stdout, `loaded ${version}\n`); // so it is this copy that is loaded
        const said = Buffer.from(`\0${version}\0`);
        const other = Buffer.from(`\0${version.replace(/^\d/, "9")}\0`);
        for (let at = 0; (at = library.indexOf(said, at)) >= 0; at++) {
            other.copy(library, at);
        }
        fs.writeFileSync(path.join(place, "libvial.so.0"), library);
        const refused = go();
        assert.match(refused.stdout, /^VialError vial cannot load its addon: libvial is of version 9\.\S+, and this addon was made for version \S+; install both of one version\n$/);
        assert.deepEqual([refused.status, refused.signal], [0, null]);
        fs.writeFileSync(path.join(place, "old.c"), "const char *vial_version(void) { return \"0.1.0\"; }\n");
        execFileSync("cc", ["-shared", "-fPIC", "-Wl,-soname,libvial.so.0", "-o", path.join(place, "libvial.so.0"), path.join(place, "old.c")]);
        const old = go();
        assert.match(old.stdout, /^VialError vial cannot load its addon: .*undefined symbol: vial_.*of the same version installed/);
        assert.deepEqual([old.status, old.signal], [0, null]);
    } finally {
        fs.rmSync(place, { recursive: true });
    }
});
