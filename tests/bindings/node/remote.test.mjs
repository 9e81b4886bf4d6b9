/* remote.test.mjs - the same classes at a real vial serve: in the clear, with keys, over TLS, through a Unix socket. */
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { after, before, test } from "node:test";
import { runProgram, vial } from "./helpers.mjs";
import { makeCertificate, makeKey, startServer, temporaryFolder } from "./serve.mjs";

const { ClosedError, Environment, run, Session, tool, Vial, VialError } = vial;
const long = { limits: { wallMsMax: 60000, cpuMsMax: 60000 } };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let server;
let engine;

before(async () => {
    server = await startServer(["--insecure-local"]);
    engine = new Vial(`http://${server.addresses[0]}`);
});

after(async () => {
    await engine?.close();
    await server?.stop();
});

test("runs: values, output, failures, limits", async () => {
    const result = await engine.run("console.log('out'); console.error('err'); input.rows.map(x => x * x)", { input: { rows: [1, 2, 3] } });
    assert.deepEqual([result.status, result.ok, result.value, result.stdout, result.stderr, result.exitCode], ["ok", true, [1, 4, 9], "out\n", "err\n", 0]);
    assert.equal(result instanceof vial.Result && engine instanceof Vial && engine.isRemote, true);
    assert.equal(result.usage.wallUs > 0 && result.limits.wallMsMax > 0 && result.isolation.level.length > 0, true);
    const thrown = await engine.run("throw new RangeError('too far')");
    assert.deepEqual([thrown.status, thrown.error.name, thrown.error.line, thrown.value], ["exception", "RangeError", 1, undefined]);
    assert.throws(() => thrown.valueOrThrow(), (e) => e instanceof vial.GuestError && e.message === "too far");
    assert.equal((await engine.run("for (;;);", { timeout: 100 })).status, "wall_limit");
    assert.equal((await engine.run("process.exit(7)")).exitCode, 7);
    assert.equal((await engine.run("[x for x in range(3)][2]", { lang: "python" })).value, 2);
    assert.equal((await engine.run("undefined")).value, undefined);
    assert.equal((await run("1 + 1", { engine })).value, 2);
    assert.equal((await engine.run("function main() { return 5 }", { main: true })).value, 5);
});

test("values come back as they do from an engine of this process", async () => {
    const code = `[undefined, -0, NaN, -Infinity, 10n ** 30n, -(2n ** 2000n), new Date(5), new Uint8Array([1, 255]), new Float64Array([1.5]), new BigUint64Array([2n ** 60n]),
new Uint8ClampedArray([3]), new Uint8Array([9]).buffer, new Map([[1, new Map([["a", [1n]]])]]), new Set([1, "x"]), /a+/gi, new URL("https://example.com/x?y#z"), [, 1, , 2],
JSON.parse('{"__proto__": 1, "a": 2}'), { $bigint: "no" }, { $object: { $x: 1 } }, { a: undefined }, "text \\u{1f600}", null, 2 ** 53]`;
    assert.deepStrictEqual((await engine.run(code)).value, (await run(code)).value);
    const python = `import decimal, datetime, uuid, fractions, re
[decimal.Decimal('1.10'), 2**70, {1: 2}, {3}, b'x', datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1), datetime.time(1), datetime.timedelta(seconds=1.5), 1j,
uuid.UUID(int=5), fractions.Fraction(1, 3), re.compile('a', re.I), {'$date': 5}]`;
    assert.deepStrictEqual((await engine.run(python, { lang: "python" })).value, (await run(python, { lang: "python" })).value);
    assert.equal(Number.isNaN((await engine.run("new Date(NaN)")).value.getTime()), true);
    const { value } = await engine.run("({ e: new TypeError('m', { cause: new Error('c') }), n: [1n] })");
    assert.deepEqual([value.e.name, value.e.message, value.e.cause.message, value.e instanceof Error, value.n], ["TypeError", "m", "c", true, [1n]]);
});

test("only JSON goes there, and it is said", async () => {
    await assert.rejects(engine.run("1", { input: { n: 1n } }), (e) => e instanceof TypeError && e.message.includes("only JSON goes"));
    await assert.rejects(engine.run("1", { stdin: new Uint8Array([255]) }), /stdin has bytes that are no UTF-8/);
    assert.match((await engine.run("await f()", { tools: { f: () => 1n } })).error.message, /the answer of f has a value that JSON cannot say/);
});

test("tools are called here", async () => {
    const find = tool({
        name: "crm.find", input: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] }, execute: async ({ id }) => ({ name: `Ada ${id}` }),
    });
    assert.deepEqual((await engine.run("[await crm.find(1), await crm.find({ id: 2 })]", { tools: [find] })).value, [{ name: "Ada 1" }, { name: "Ada 2" }]);
    assert.match((await engine.run("await crm.find('x')", { tools: [find] })).error.message, /must be an integer/);
    const tools = {
        add: (a, b = 10) => a + b, none: () => undefined, now: tool(() => 5, { mode: "sync" }), text: (x) => x,
        fail: async () => { throw Object.assign(new RangeError("far"), { code: "E_FAR" }); }, cut: () => () => 1,
    };
    const result = await engine.run("[await add(1, 2), await add(1), await none(), now(), await text('x'), await fail().catch((e) => [e.name, e.message, e.code]), await cut().catch((e) => e.message)]",
        { tools, recordCalls: true });
    assert.deepEqual(result.value.slice(0, 6), [3, 11, null, 5, "x", ["RangeError", "far", "E_FAR"]]);
    assert.match(result.value[6], /the answer of cut is a function/);
    assert.deepEqual([result.calls[0].name, result.calls[0].status, result.calls[0].output], ["add", "ok", 3]);
    const strict = tool({ name: "f", output: { type: "string" }, execute: () => 5 });
    assert.match((await engine.run("await f()", { tools: [strict] })).error.message, /string/);
    const many = await Promise.all(Array.from({ length: 30 }, (_, i) => engine.run("await t(input)", { input: i, tools: { t: async (n) => n * 2 } })));
    assert.deepEqual(many.map((r) => r.value), Array.from({ length: 30 }, (_, i) => i * 2));
});

test("calls wait for approval", async () => {
    const pay = tool({ name: "pay", approve: true, execute: (n) => n });
    assert.equal((await engine.run("await pay(5)", { tools: [pay], approve: true })).value, 5);
    assert.equal((await engine.run("await pay(5)", { tools: [pay] })).error.name, "DeniedError");
    const result = await engine.run("[await pay(1), await pay(2).catch(e => e.message)]", { tools: [pay], approve: async (name, n) => n === 1 || "too much" });
    assert.equal(result.value[0], 1);
    assert.match(result.value[1], /too much/);
});

test("events come as they happen, in order", async () => {
    const seen = [];
    for await (const event of engine.start("console.log('a'); await t(1); console.error('b'); 5", { tools: { t: () => 0 } })) {
        seen.push(event.type === "result" ? event.data.value : event.type === "call" ? event.data.args : event.data);
    }
    assert.deepEqual(seen, ["a\n", 1, "b\n", 5]);
    let first;
    const began = Date.now();
    await engine.run("console.log('now'); await new Promise((r) => setTimeout(r, 1500))", { onStdout: () => { first ??= Date.now() - began; } });
    assert.equal(first < 1000, true, `the first output came after ${first} ms`);
    let text = "";
    await engine.run("for (let i = 0; i < 1000; i++) console.log('ä'.repeat(50))", { onStdout: (piece) => { text += piece; } });
    assert.equal(text, `${"ä".repeat(50)}\n`.repeat(1000));
});

test("a signal cancels, before, while and after", async () => {
    assert.equal((await engine.run("for (;;);", { ...long, signal: AbortSignal.abort() })).status, "cancelled");
    assert.equal((await engine.run("for (;;);", { ...long, signal: AbortSignal.timeout(100) })).status, "cancelled");
    const controller = new AbortController();
    assert.equal((await engine.run("1", { signal: controller.signal })).value, 1);
    controller.abort();
    const going = engine.start("console.log('on'); for (;;);", long);
    for await (const event of going) {
        assert.equal(event.type === "stdout" || event.data.status === "cancelled", true);
        going.cancel();
    }
    assert.deepEqual([(await going.wait()).status, (await going.wait()).stdout], ["cancelled", "on\n"]);
    for (const until = Date.now() + 5000; (await engine.stats()).busyCount > 0;) {
        assert.equal(Date.now() < until, true, "programs go on that were cancelled");
        await pause(20);
    }
});

test("files, variables, modules, stdin", async () => {
    const result = await engine.run("import { two } from './lib.js'; import fs from 'fs'; fs.writeFileSync('out/b %.bin', fs.readFileSync('a.bin')); [two, process.env.A, process.argv[2], fs.readFileSync(0, 'utf8')]",
        { files: { "a.bin": new Uint8Array([0, 255]), "out/x": "{}" }, outs: ["out/*"], env: { A: "b=c", B: undefined }, args: ["arg"], stdin: Buffer.from("in"), modules: { "./lib.js": "export const two = 2" } });
    assert.deepEqual(result.value, [2, "b=c", "arg", "in"]);
    assert.deepEqual(result.files, { "out/b %.bin": Buffer.from([0, 255]), "out/x": Buffer.from("{}") });
});

test("sessions keep what there is, branch, and end", async () => {
    const session = new Session({ engine, tools: { t: async (n) => n + 1 }, files: { "a.txt": "hi" }, name: "notes", idleMs: 60000 });
    assert.equal((await session.eval("var x = 5; require('fs').readFileSync('a.txt', 'utf8')")).value, "hi");
    const [a, b] = await session.branch(2);
    await a.eval("x = 7");
    assert.deepEqual([(await session.eval("x")).value, (await a.eval("await t(x)")).value, (await b.eval("x")).value], [5, 8, 5]);
    const all = await Promise.all([1, 2, 3].map((n) => session.eval("input", { input: n })));
    assert.deepEqual(all.map((r) => r.value), [1, 2, 3]);
    const stopped = await session.eval("for (;;);", { ...long, signal: AbortSignal.timeout(100) });
    assert.deepEqual([stopped.status, stopped.sessionLives, (await session.eval("x")).value], ["cancelled", true, 5]);
    const info = await session.info();
    assert.deepEqual([info.state, info.name, info.branchCount], ["idle", "notes", 2]);
    const f = (await session.eval("() => 1")).value;
    await assert.rejects(f(), (e) => e instanceof VialError && e.message.includes("stays there"));
    assert.deepEqual((await session.eval("require('fs').writeFileSync('o', 'x'); 1", { outs: ["o"] })).files, { o: Buffer.from("x") });
    assert.equal((await b.eval("process.exit(2)")).sessionLives, false);
    await assert.rejects(b.eval("1"), ClosedError);
    const going = session.eval("for (;;);", long).catch((error) => error);
    await pause(100);
    await Promise.all([session.close(), a.close(), b[Symbol.asyncDispose]()]);
    assert.equal(["cancelled", undefined].includes((await going).status), true);
    await assert.rejects(session.eval("1"), ClosedError);
    await assert.rejects(engine.session().eval("1", { tools: {} }), /are the session's/);
    assert.equal((await engine.session({ lang: "python" }).eval("1 // 1")).value, 1);
    const many = await engine.session().branch(18);
    assert.equal(many.length, 18);
    await Promise.all(many.map((one) => one.close()));
});

test("environments are stored there, and their tools answered here", async () => {
    const environment = new Environment({ name: "rates", prefix: "const q = 3;", tools: { t: async () => 9 }, globals: { who: "x" } }, { engine });
    assert.deepEqual((await environment.run("[q, await t(), who]", { globals: { who: "y" } })).value, [3, 9, "y"]);
    const session = environment.session();
    assert.equal((await session.eval("q + await t()")).value, 12);
    await session.close();
    const second = engine.environment({ name: "rates", prefix: "const q = 4;" });
    assert.deepEqual([(await second.run("q")).value, (await environment.run("q")).value], [4, 3]);
    assert.equal((await engine.run("q", { environment: "rates@1" })).value, 3);
    assert.equal((await engine.session({ environment: "rates" }).eval("q")).value, 4);
    assert.equal((await engine.environment({ name: "bad", prefix: "throw new Error('p')" }).ready()).status, "exception");
    assert.equal((await environment.ready()).status, "ok");
    await environment.close();
    await assert.rejects(environment.run("1"), ClosedError);
    await assert.rejects(engine.environment({ nme: 1 }).run("1"), (e) => e instanceof VialError && e.code === "invalid" && e.message.includes("nme"));
    await assert.rejects(engine.run("1", { environment: "nowhere" }), ClosedError);
    await assert.rejects(run("1", { environment: second }), /another engine/);
    await assert.rejects(run("1", { environment: "rates" }), /must be an Environment/);
});

test("what the server refuses is an error of the same classes", async () => {
    await assert.rejects(engine.run("1", { files: { "../x": "" } }), (e) => e instanceof VialError && e.code === "invalid" && e.message.includes("../x"));
    await assert.rejects(engine.run("1", { lang: "cobol" }), TypeError);
    await assert.rejects(engine.run("1", { inptu: 1 }), TypeError);
    await assert.rejects(engine.session().eval("1", { cwd: "/home/vial" }), (e) => e instanceof VialError && e.code === "invalid" && e.errors[0].path === "/cwd");
    const closed = new Vial(`http://${server.addresses[0]}`);
    await closed.close();
    await assert.rejects(closed.run("1"), ClosedError);
    await assert.rejects(new Vial("http://127.0.0.1:9").run("1"), (e) => e instanceof VialError && e.code === "sys" && e.message.includes("cannot be reached"));
});

test("wrong addresses and options are told at once", () => {
    for (const [args, text] of [[["ftp://x"], "https://HOST"], [["nonsense"], "https://HOST"], [["http://u:p@h"], "neither user nor query"], [["unix:relative"], "unix:/PATH"],
        [["http://example.com", { key: "k" }], "over https only"], [["https://h", { key: "a\nb" }], "printable"], [["https://h", { poolCount: 1 }], "no option poolCount"],
        [["https://h", { timeout: -1 }], "timeout must be"], [["http://localhost", { ca: "x" }], "ca is for https"]]) {
        assert.throws(() => new Vial(...args), (e) => e.message.includes(text) || assert.fail(e.message), text);
    }
});

test("the engine itself: isolation, stats, settle", async () => {
    await engine.settle(5000);
    assert.equal((await engine.isolation()).layers.length > 5, true);
    const { runCount } = await engine.stats();
    await engine.run("1");
    assert.equal((await engine.stats()).runCount, runCount + 1);
});

test("keys: what they may, and refusals", async () => {
    const guarded = await startServer([]);
    try {
        const at = `http://${guarded.addresses[0]}`;
        const mine = new Vial(at, { key: makeKey(guarded.data, "run", "session") });
        assert.equal((await mine.run("1 + await t()", { tools: { t: () => 1 } })).value, 2);
        assert.equal((await mine.session().eval("1")).value, 1);
        const denied = (e) => e instanceof VialError && e.code === "denied";
        await assert.rejects(mine.environment({ name: "a" }).run("1"), denied);
        await assert.rejects(mine.stats(), denied);
        await assert.rejects(new Vial(at).run("1"), (e) => denied(e) && e.status === 401);
        await assert.rejects(new Vial(at, { key: "vial_wrong" }).run("1"), (e) => denied(e) && e.status === 401);
    } finally {
        await guarded.stop();
    }
});

test("TLS: with the certificate that is given, and with no other", async () => {
    const files = makeCertificate();
    const guarded = await startServer(["--tls-certificate", files.certificate, "--tls-key", files.key]);
    try {
        const key = makeKey(guarded.data, "run", "session");
        const at = `https://localhost:${guarded.addresses[0].split(":").at(-1)}`;
        const trusting = new Vial(new URL(at), { key, ca: fs.readFileSync(files.certificate) });
        assert.equal((await trusting.run("1 + await t()", { tools: { t: () => 1 } })).value, 2);
        assert.equal((await trusting.session().eval("2")).value, 2);
        await assert.rejects(new Vial(at, { key }).run("1"), (e) => e instanceof VialError && e.code === "sys" && /certificate/.test(e.message));
    } finally {
        await guarded.stop();
    }
});

test("a Unix socket", async () => {
    const socket = path.join(temporaryFolder(), "vial.sock");
    const there = await startServer([], { listen: `unix:${socket}` });
    try {
        const mine = new Vial(`unix:${socket}`);
        assert.equal((await mine.run("1 + await t()", { tools: { t: () => 1 } })).value, 2);
        await assert.rejects(new Vial("unix:/nowhere/vial.sock").run("1"), /cannot be reached/);
    } finally {
        await there.stop();
    }
});

test("a server that is killed in the middle is told of", async () => {
    const there = await startServer(["--insecure-local"]);
    const mine = new Vial(`http://${there.addresses[0]}`);
    const going = mine.run("console.log(1); for (;;);", { ...long, onStdout: () => there.stop("SIGKILL") });
    await assert.rejects(going, (e) => e instanceof VialError && e.code === "sys");
});

test("a server that says nothing, or nonsense", async () => {
    const answers = {
        "/none": (response) => response.end("{}"), "/cut": (response) => response.end('{"type":"start","run":{"id":"r"}}\n'), "/text": (response) => response.end("hello\n"),
        "/page": (response) => { response.statusCode = 502; response.end("<html>"); },
        "/moved": (response) => { response.writeHead(302, { Location: "https://example.com/" }); response.end(); }, "/hang": () => {},
    };
    const strange = http.createServer((request, response) => answers[`/${request.url.split("/")[1]}`](response)).listen(0, "127.0.0.1");
    await new Promise((resolve) => strange.once("listening", resolve));
    const at = (name) => new Vial(`http://127.0.0.1:${strange.address().port}${name}`, { timeout: 300 });
    const isSys = (e) => e instanceof VialError && e.code === "sys";
    await assert.rejects(at("/none").run("1"), /without a result/);
    await assert.rejects(at("/cut").run("1"), /without a result/);
    await assert.rejects(at("/text").run("1"), isSys);
    await assert.rejects(at("/page").run("1"), /status 502/);
    await assert.rejects(at("/moved").run("1"), /status 302/); // a key goes nowhere else
    await assert.rejects(at("/hang").isolation(), /silent/);
    const began = Date.now();
    assert.equal((await at("/hang").run("1", { signal: AbortSignal.timeout(50) })).status, "cancelled");
    assert.equal(Date.now() - began < 5000, true);
    strange.closeAllConnections?.();
    strange.close();
});

test("a program ends when nothing is under way, though connections and sessions are open", () => {
    const began = Date.now();
    const ended = runProgram(`import { Vial } from "vial"; const v = new Vial("http://${server.addresses[0]}"); const s = v.session(); console.log((await s.eval("1+1")).value, (await v.run("2")).value)`);
    assert.deepEqual([ended.status, ended.signal, ended.stdout], [0, null, "2 2\n"], ended.stderr);
    assert.equal(Date.now() - began < 20000, true);
});

test("an engine that is closed takes its runs along", async () => {
    const mine = new Vial(`http://${server.addresses[0]}`);
    const going = mine.run("for (;;);", long);
    const session = mine.session();
    await session.eval("1");
    await mine.close();
    assert.equal((await going).status, "cancelled");
    await assert.rejects(session.eval("1"), ClosedError);
});
