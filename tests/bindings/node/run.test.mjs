/* run.test.mjs - runs, values, tools, events and cancelling through the package. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { cbor, core, vial } from "./helpers.mjs";

const { Environment, run, Session, start, tool, Vial, VialError, ClosedError, GuestError } = vial;
after(() => vial.defaultEngine().close());

test("a value comes back, and what was printed", async () => {
    const result = await run("console.log('out'); console.error('err'); input.rows.map(x => x * x)", { input: { rows: [1, 2, 3] } });
    assert.deepEqual([result.status, result.ok, result.value, result.stdout, result.stderr, result.exitCode],
        ["ok", true, [1, 4, 9], "out\n", "err\n", 0]);
    assert.equal(result.isolation.level.length > 0, true);
    assert.equal(result.usage.wallUs > 0, true);
    assert.equal((await run("1", { lang: "python" })).value, 1);
    assert.equal((await run("const x: number = 3; x", { lang: "typescript" })).value, 3);
});

test("a failure of the guest is a result and no exception", async () => {
    const thrown = await run("throw new RangeError('too far')");
    assert.deepEqual([thrown.status, thrown.error.name, thrown.error.line, thrown.value], ["exception", "RangeError", 1, undefined]);
    assert.throws(() => thrown.valueOrThrow(), (e) => e instanceof GuestError && e.name === "RangeError" && e.message === "too far");
    assert.equal((await run("for (;;);", { timeout: 100 })).status, "wall_limit");
    assert.equal((await run("for (;;);", { limits: { cpuMsMax: 50 } })).status, "cpu_limit");
    assert.equal((await run("const a = []; for (;;) a.push(new Array(1e5).fill(1))", { limits: { memoryBytesMax: 32 << 20 } })).status, "memory_limit");
    assert.equal((await run("process.exit(7)")).exitCode, 7);
});

const values = [
    null, true, "text \u{1f600}", 0, -1, 1.5, -0, NaN, Infinity, -Infinity, 2 ** 53, 10n ** 30n, -(10n ** 30n), 0n, -1n,
    [1, [2, [3]]], { a: { b: null } }, [undefined, 1], { u: undefined }, new Date(0), new Date(1767225600123), new Uint8Array([1, 2, 255]),
    new Float64Array([1.5, NaN]), new Int16Array([-5]), new BigUint64Array([2n ** 60n]), new Uint8Array([9]).buffer, new Map([[1, "a"], ["b", new Map()]]),
    new Set([1, "x", new Date(5)]), /a+/gi, new URL("https://example.com/x?y#z"), JSON.parse('{"__proto__": 1, "a": 2}'), [, 1, , 2], { $bigint: "no" },
];

test("values go in and come back as they were", async () => {
    for (const value of values) {
        const result = await run("input", { input: value });
        assert.equal(result.status, "ok", result.error?.message);
        assert.deepStrictEqual(result.value, value);
    }
    assert.equal(Number.isNaN((await run("input", { input: new Date(NaN) })).value.getTime()), true);
    const { value } = await run("({ e: new TypeError('m', { cause: new Error('c') }), n: [1n] })");
    assert.deepEqual([value.e.name, value.e.message, value.e.cause.message, value.e instanceof Error, value.n], ["TypeError", "m", "c", true, [1n]]);
    const python = await run("import decimal, datetime, uuid\n[decimal.Decimal('1.10'), 2**70, {1: 2}, {3}, b'x', datetime.date(2026, 1, 1), 1j, uuid.UUID(int=5), decimal.Decimal('-0.05')]", { lang: "python" });
    assert.deepEqual(python.value, ["1.10", 2n ** 70n, new Map([[1, 2]]), new Set([3]), new Uint8Array([120]), "2026-01-01", { re: 0, im: 1 },
        "00000000-0000-0000-0000-000000000005", "-0.05"]);
});

test("what cannot cross is told with its place", async () => {
    const ring = { a: {} };
    ring.a.ring = ring;
    for (const [input, text] of [[{ rows: [1, { f() {} }] }, "input.rows[1].f is a function"], [Symbol("x"), "input is a symbol"],
        [ring, "input.a.ring is a reference to what it is in"], [{ p: Promise.resolve() }, "input.p is a promise"]]) {
        await assert.rejects(run("1", { input }), (e) => e instanceof TypeError && e.message.startsWith(text));
    }
    assert.match((await run("({ f() {} })")).error.message, /value\.f is a function/);
});

test("bytes that are no value of the table are refused", () => {
    for (const hex of ["", "ff", "9f01ff", "a101", "61ff", "d8ff00", "c2", "0001", "5affffffff", "9b00ffffffffffffff", "d81b80", "f8ff", "d84545010203", "1c"]) {
        assert.throws(() => cbor.decodeCbor(Buffer.from(hex, "hex")), /cannot be read/, hex);
    }
    assert.throws(() => cbor.decodeCbor(Buffer.alloc(5000, 0x81)), /too deep/);
});

test("tools are functions of ours, plain and async, by array and by name", async () => {
    const find = tool({
        name: "crm.find", description: "Finds.", input: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
        execute: async ({ id }) => ({ name: `Ada ${id}` }),
    });
    const many = { add: (a, b = 10) => a + b, none: () => "none", list: (xs) => xs.length, all: (...xs) => xs, now: tool(() => 5, { mode: "sync" }) };
    const result = await run("[await add(1, 2), await add(1), await none(), await list([1, 2, 3]), await all(1, 2), now()]", { tools: many });
    assert.deepEqual(result.value, [3, 11, "none", 3, [1, 2], 5]);
    assert.deepEqual((await run("[await crm.find(1), await crm.find({ id: 2 })]", { tools: [find] })).value, [{ name: "Ada 1" }, { name: "Ada 2" }]);
    assert.match((await run("await crm.find('x')", { tools: [find] })).error.message, /must be an integer/);
    const rich = await run("await f(new Map([[1, 2n]]))", { tools: { f: (m) => new Set([m.get(1)]) } });
    assert.deepEqual(rich.value, new Set([2n]));
    assert.deepEqual((await run("crm.find(id=3)", { lang: "python", tools: [find] })).value, { name: "Ada 3" });
    assert.deepEqual(result.calls.map((c) => c.status), ["ok", "ok", "ok", "ok", "ok", "ok"]);
});

test("a tool that throws, or gives what cannot cross, is an error in the guest", async () => {
    const tools = {
        a() { throw new RangeError("far"); }, b: async () => { throw Object.assign(new Error("no"), { code: "E_NO" }); }, c: () => () => 1,
        d() { throw null; }, e: () => Promise.reject(), f: () => ({ then() { throw new Error("then"); } }), g() { throw { toString() { throw 1; } }; }, h: () => undefined,
    };
    const result = await run("const out = []; for (const it of [a, b, c, d, e, f, g]) { try { await it(); out.push(0) } catch (x) { out.push(x.name + ': ' + x.message) } } [...out, await h()]", { tools });
    assert.deepEqual(result.value.slice(0, 2), ["RangeError: far", "Error: no"]);
    assert.match(result.value[2], /the answer of c is a function/);
    assert.deepEqual(result.value.slice(3), ["Error: null", "Error: undefined", "Error: then", "Error: the tool failed", undefined]);
});

test("calls wait for approval", async () => {
    const pay = tool({ name: "pay", approve: true, execute: (n) => n });
    assert.equal((await run("await pay(5)", { tools: [pay], approve: true })).value, 5);
    assert.equal((await run("await pay(5)", { tools: [pay] })).error.name, "DeniedError");
    const asked = [];
    const result = await run("[await pay(1), await pay(2).catch(e => e.name)]", { tools: [pay], approve: async (name, args) => asked.push([name, args]) && args === 1 });
    assert.deepEqual([result.value, asked], [[1, "DeniedError"], [["pay", 1], ["pay", 2]]]);
});

test("events come as they happen, in order", async () => {
    const seen = [];
    for await (const event of start("console.log('a'); await t(1); console.error('b'); 5", { tools: { t: () => 0 } })) {
        seen.push(event.type === "result" ? event.data.value : event.type === "call" ? event.data.args : event.data);
    }
    assert.deepEqual(seen, ["a\n", 1, "b\n", 5]);
    let text = "";
    await run("for (let i = 0; i < 1000; i++) console.log('ä'.repeat(50))", { onStdout: (piece) => { text += piece; } });
    assert.equal(text, `${"ä".repeat(50)}\n`.repeat(1000));
});

test("a signal cancels, before, while and after", async () => {
    assert.equal((await run("for (;;);", { signal: AbortSignal.abort() })).status, "cancelled");
    assert.equal((await run("for (;;);", { signal: AbortSignal.timeout(50) })).status, "cancelled");
    const controller = new AbortController();
    assert.equal((await run("1", { signal: controller.signal })).value, 1);
    controller.abort();
    const going = start("for (;;);");
    going.cancel();
    assert.equal((await going.wait()).status, "cancelled");
});

test("many at once", async () => {
    const results = await Promise.all(Array.from({ length: 60 }, (_, i) => run("await t(input)", { input: i, tools: { t: async (n) => n * 2 } })));
    assert.deepEqual(results.map((r) => r.value), Array.from({ length: 60 }, (_, i) => i * 2));
});

test("files, variables, modules, stdin", async () => {
    const result = await run("import { two } from './lib.js'; import fs from 'fs'; fs.writeFileSync('out/b.bin', fs.readFileSync('a.txt')); [two, process.env.A, process.argv[2], fs.readFileSync(0, 'utf8')]",
        { files: { "a.txt": "hi", "out/x": new Uint8Array([1]) }, outs: ["out/*"], env: { A: "1" }, args: ["arg"], stdin: "in", modules: { "./lib.js": "export const two = 2" } });
    assert.deepEqual(result.value, [2, "1", "arg", "in"]);
    assert.deepEqual(Object.keys(result.files), ["out/b.bin", "out/x"]);
    assert.equal(result.files["out/b.bin"].toString(), "hi");
});

test("sessions keep what there is, branch, and call functions", async () => {
    const session = new Session({ tools: { t: async (n) => n + 1 } });
    await session.eval("var x = 5; const times = (y) => x * y");
    const f = (await session.eval("({ f: times })")).value.f;
    assert.equal(await f(8), 40);
    assert.equal((await session.eval("input(2)", { input: f })).value, 10);
    const [a, b] = await session.branch(2);
    await a.eval("x = 7");
    assert.deepEqual([(await session.eval("x")).value, (await a.eval("await t(x)")).value, (await b.eval("x")).value], [5, 8, 5]);
    const all = await Promise.all([1, 2, 3].map((n) => session.eval("input", { input: n })));
    assert.deepEqual(all.map((r) => r.value), [1, 2, 3]);
    const stopped = await session.eval("for (;;);", { signal: AbortSignal.timeout(50) });
    assert.deepEqual([stopped.status, stopped.sessionLives, (await session.eval("x")).value], ["cancelled", true, 5]);
    assert.equal((await session.info()).state, "idle");
    await assert.rejects(f(() => 1), /the arguments\[0\] is a function/);
    await Promise.all([session.close(), a.close(), b[Symbol.asyncDispose]()]);
    await assert.rejects(session.eval("1"), ClosedError);
    await assert.rejects(f(1), ClosedError);
});

test("tools are let go of when nobody can call them any more", async () => {
    const before = core.toolCount();
    const tools = { a: () => 1, b: () => 2 };
    await run("await a()", { tools });
    assert.equal(core.toolCount(), before);
    const session = new Session({ tools });
    await session.eval("await a()");
    const [first, second] = await session.branch(2);
    assert.equal(core.toolCount(), before + 2);
    await session.close();
    assert.equal((await first.eval("await b()")).value, 2); // branches still have them
    await first.close();
    await first.close();
    assert.equal(core.toolCount(), before + 2);
    assert.equal((await second.eval("await a(); process.exit(0)")).sessionLives, false); // it has ended by itself
    assert.equal(core.toolCount(), before);
    await second.close();
    await assert.rejects(new Session({ tools, files: { "../x": "" } }).eval("1"), VialError);
    await assert.rejects(new Environment({ tools, nme: 1 }).run("1"), VialError);
    const environment = new Environment({ tools });
    await environment.run("await a()");
    assert.equal(core.toolCount(), before + 2);
    await environment.close();
    assert.equal(core.toolCount(), before);
});

test("limits are kept while Node's own thread is busy with something else", async () => {
    const engine = new Vial();
    await engine.settle(5000);
    const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    for (const [limits, status] of [[{ wallMsMax: 200 }, "wall_limit"], [{ cpuMsMax: 200 }, "cpu_limit"]]) {
        const going = engine.run("for (;;);", { limits });
        const small = engine.run("for (;;);", { limits });
        block(1500);
        for (const result of [await going, await small]) {
            assert.equal(result.status, status);
            const used = limits.cpuMsMax ? result.usage.cpuUs : result.usage.wallUs;
            assert.equal(used < 1000000, true, `it went on for ${used} us`);
        }
    }
    const results = [];
    for (const code of ["console.log('x'); 1", "1", "throw 1", "await new Promise((r) => setTimeout(r, 20)); 2", "process.exit(3)", "for (let i = 0; i < 1e5; i++); console.log('y')", "process.kill(process.pid, 'SIGKILL')"]) {
        const texts = [];
        const result = await engine.run(code, { onStdout: (text) => texts.push(text) });
        assert.equal(texts.join(""), result.stdout);
        results.push(result.status + (result.value ?? ""));
    }
    assert.deepEqual(results.slice(0, 6), ["ok1", "ok1", "exception", "ok2", "ok", "ok"]);
    await engine.close();
});

test("environments have a prefix, tools and sessions", async () => {
    const environment = new Environment({ prefix: "const q = 3;", tools: { t: async () => 9 }, globals: { who: "x" } });
    assert.deepEqual((await environment.run("[q, await t(), who]", { globals: { who: "y" } })).value, [3, 9, "y"]);
    const session = environment.session();
    assert.equal((await session.eval("q + await t()")).value, 12);
    await session.close();
    await environment.close();
    await assert.rejects(environment.run("1"), ClosedError);
    assert.equal((await new Environment({ prefix: "throw new Error('p')" }).ready()).status, "exception");
    await assert.rejects(new Environment({ nme: 1 }).run("1"), VialError);
    assert.equal(Environment.check({ name: "a", nme: 1 })[0].path.includes("nme"), true);
});

test("wrong use is told", async () => {
    for (const [args, text] of [[[5], "the code must be a string"], [["1", 5], "options must be an object"], [["1", { inptu: 1 }], "there is no option inptu"],
        [["1", { limits: { wal: 1 } }], "there is no limit wal"], [["1", { limits: { wallMsMax: -1 } }], "wallMsMax must be"], [["1", { lang: "cobol" }], "lang must be one of"],
        [["1", { tools: 5 }], "tools must be"], [["1", { tools: [5] }], "tool() takes"], [["1", { tools: [() => 1] }], "has no name"], [["1", { files: ["x"] }], "files must be an object"],
        [["1", { files: { a: 5 } }], 'files["a"] must be'], [["1", { signal: {} }], "AbortSignal"], [["1", { environment: {} }], "must be an Environment"], [["1", { timeout: -1 }], "timeout must be"],
        [["1", { env: { A: 5 } }], "env.A must be"], [["1", { name: "a\0b" }], "NUL"], [["1", { onStdout: 5 }], "onStdout must be"]]) {
        await assert.rejects(run(...args), (e) => e.message.includes(text) || assert.fail(e.message), text);
    }
    await assert.rejects(run("1", { files: { "../x": "" } }), VialError);
    assert.throws(() => new Vial({ pools: 1 }), /there is no option pools/);
    await assert.rejects(new Vial({ cellPath: "/nowhere" }).run("1"), VialError);
});

test("an engine that is closed says so, and takes its runs along", async () => {
    const engine = new Vial({ quick: true, poolCount: 1 });
    const going = engine.run("for (;;);", { timeout: 60000 });
    const session = engine.session();
    await session.eval("1");
    const evaluation = session.eval("for (;;);", { timeout: 60000 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await engine.close();
    assert.equal((await going).status, "cancelled");
    assert.equal((await evaluation.catch((e) => e)).status ?? "gone", (await evaluation.catch(() => ({}))).status ?? "gone");
    await assert.rejects(engine.run("1"), ClosedError);
    await assert.rejects(session.eval("1"), ClosedError);
    await engine.close();
});
