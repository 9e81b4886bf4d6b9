/* drop-in.test.mjs - vial/iso4 and vial/secure-exec: programs for the originals with only the import changed. */
import assert from "node:assert/strict";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { iso4, root, secureExec } from "./helpers.mjs";

const { createSafeFetch, createSandbox } = iso4;
const { NodeRuntime } = secureExec;
let server, base, sandbox, folder;

before(async () => {
    server = http.createServer((request, response) => {
        if (request.url === "/away") {
            response.writeHead(302, { location: "http://localhost:1/x" }).end();
        } else if (request.url === "/near") {
            response.writeHead(302, { location: "/users" }).end();
        } else {
            response.setHeader("content-type", "application/json");
            response.end(JSON.stringify(request.url === "/echo" ? { method: request.method, key: request.headers["x-key"] } : Array.from({ length: 42 }, (_, i) => i)));
        }
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    base = `http://127.0.0.1:${server.address().port}`;
    sandbox = await createSandbox();
    folder = fs.mkdtempSync(path.join(os.tmpdir(), "vial-node-"));
});

after(async () => {
    server.close();
    await sandbox.dispose();
    fs.rmSync(folder, { recursive: true });
});

const localFetch = (options = {}) => createSafeFetch({ policy: ({ host }) => host === "127.0.0.1", addresses: ["127.0.0.1"], ...options });

test("iso4: the quick start", async () => {
    const prefix = await sandbox.precompile({
        code: `
            const config = { apiBase: '${base}' }
            globalThis.config = config
        `,
        globals: { fetch: localFetch() },
    });
    const result = await prefix.run({
        code: `
            const res = await fetch(config.apiBase + '/users')
            export default { count: res.length }
        `,
        limits: { cpuTimeMs: 200, wallTimeMs: 5_000, memoryMb: 64 },
    });
    assert.equal(result.ok, true, result.error?.message);
    assert.deepEqual([result.exports.default, result.stdout, result.stderr], [{ count: 42 }, [], []]);
    assert.equal(result.durationMs > 0, true);
    await prefix.dispose();
});

test("iso4: arguments and answers are exactly what was given", async () => {
    const globals = { show: async (...args) => args, db: { get: (key) => key + 1 }, limit: 5, mixed: () => ({ a: 1, f() {} }) };
    const prefix = await sandbox.precompile({ globals });
    const result = await prefix.run({
        code: "export default [await show(), await show([1]), await show(1, [2]), await show(null), await db.get(1), limit, await mixed()]; export const n = 1; export function f() {}; console.log('a'); console.log('b'); console.error('c')",
    });
    assert.deepEqual(result.exports, { default: [[], [[1]], [1, [2]], [null], 2, 5, { a: 1 }], n: 1 });
    assert.deepEqual([result.stdout, result.stderr], [["a", "b"], ["c"]]);
});

test("iso4: only declared globals are bound anew, and only in that run", async () => {
    const prefix = await sandbox.precompile({ globals: { who: async () => "default", other: async () => 1, limit: 5 } });
    const code = "export default [await who(), await other(), limit]";
    assert.deepEqual((await prefix.run({ code, globals: { who: async () => "ada", limit: 6 } })).exports.default, ["ada", 1, 6]);
    assert.deepEqual((await prefix.run({ code })).exports.default, ["default", 1, 5]);
    await assert.rejects(prefix.run({ code, globals: { unknown: () => 1 } }), /was not declared/);
    await assert.rejects(prefix.run({ code, globals: { who: 5 } }), /was declared as a function/);
    await assert.rejects(sandbox.precompile({ globals: { console: () => 1 } }), /reserved/);
});

test("iso4: a run never rejects for what the program does", async () => {
    const prefix = await sandbox.precompile({ globals: { t: async () => 1, bad() { throw new RangeError("far"); } } });
    const code = async (options) => (await prefix.run(options)).error?.code;
    assert.equal(await code({ code: "throw new TypeError('x')" }), "RUNTIME_ERROR");
    assert.equal(await code({ code: "export default {" }), "SYNTAX_ERROR");
    assert.equal(await code({ code: "for (;;);", limits: { cpuTimeMs: 100 } }), "CPU_TIMEOUT");
    assert.equal(await code({ code: "await new Promise((r) => setTimeout(r, 5000))", limits: { wallTimeMs: 100 } }), "WALL_TIMEOUT");
    assert.equal(await code({ code: "const a = []; for (;;) a.push(new Array(1e5).fill(1))", limits: { memoryMb: 32 } }), "MEMORY_LIMIT");
    assert.equal(await code({ code: "for (let i = 0; i < 20; i++) await t()", limits: { maxBridgeCalls: 5 } }), "BRIDGE_LIMIT");
    assert.equal(await code({ code: "await t('x'.repeat(10000))", limits: { maxBridgePayloadBytes: 1000 } }), "BRIDGE_LIMIT");
    const { ok, error } = await prefix.run({ code: "await bad()" });
    assert.deepEqual([ok, error.name, error.message], [false, "RangeError", "far"]);
    const five = await Promise.all([1, 2, 3, 4, 5].map(() => prefix.run({ code: "export default await t()" })));
    assert.deepEqual(five.map((r) => r.exports.default), [1, 1, 1, 1, 1]);
});

test("iso4: a safe fetch asks for every hop, and private addresses stay private", async () => {
    const prefix = await sandbox.precompile({
        globals: {
            fetch: localFetch(), careless: createSafeFetch({ policy: () => true }),
            ruled: createSafeFetch({ rules: [{ host: "127.0.0.1", scheme: "http", port: Number(new URL(base).port), path: "/users", addresses: ["127.0.0.1"] }] }),
        },
    });
    const said = async (code) => (await prefix.run({ code: `export default await (async () => ${code})().catch((e) => e.name + ": " + e.message)` })).exports.default;
    assert.equal(await said(`(await fetch("${base}/near")).length`), 42);
    assert.match(await said(`await fetch("${base}/away")`), /^DeniedError: the policy does not allow GET http:\/\/localhost:1/);
    assert.match(await said(`await fetch("http://example.com/")`), /^DeniedError: the policy/);
    assert.match(await said(`await careless("${base}/users")`), /^DeniedError: .*public addresses/);
    assert.match(await said(`await fetch("file:///etc/passwd")`), /only http and https/);
    assert.equal(await said(`(await ruled("${base}/users")).length`), 42);
    assert.match(await said(`await ruled("${base}/echo")`), /^DeniedError/);
    assert.deepEqual(await said(`{ const r = await fetch("${base}/echo", { method: "POST", headers: new Headers({ "x-key": "k" }), body: "b" }); return [r.status, r.ok, await r.json()]; }`), [200, true, { method: "POST", key: "k" }]);
    assert.throws(() => createSafeFetch({}), TypeError);
});

test("secure-exec: the program of its documentation", async () => {
    const untrustedCode = `
const fib = [0, 1];
while (fib.length < 20) {
fib.push(fib[fib.length - 1] + fib[fib.length - 2]);
}
console.log("computed", fib.length, "fibonacci numbers");
// Hand a JSON-serializable value back to the host.
globalThis.__return({ fibonacci: fib, sum: fib.reduce((a, b) => a + b, 0) });
`;
    const rt = await NodeRuntime.create();
    try {
        const result = await rt.run(untrustedCode, { timeout: 5000 });
        assert.deepEqual([result.exitCode, result.stdout.trim(), result.value.sum, result.value.fibonacci.length], [0, "computed 20 fibonacci numbers", 10945, 20]);
        const escapeAttempt = await rt.exec(`import os from "node:os";\nconsole.log("guest hostname:", os.hostname());`, { timeout: 5000 });
        assert.deepEqual([escapeAttempt.exitCode, escapeAttempt.stdout.trim()], [0, "guest hostname: vial"]);
    } finally {
        await rt.dispose();
    }
    await assert.rejects(rt.run("1"), /disposed/);
});

test("secure-exec: files stay, processes do not", async () => {
    const rt = await NodeRuntime.create({ files: { "a.txt": "hello", "sub/b": new Uint8Array([1]) }, env: { A: "1" }, cwd: "/home/vial/sub" });
    await rt.exec('import fs from "fs"; globalThis.x = 1; fs.writeFileSync("c", fs.readFileSync("../a.txt", "utf8") + process.env.A + process.env.B); fs.rmSync("../a.txt")', { env: { B: "2" } });
    assert.deepEqual([await rt.readDir(), await rt.readDir("sub"), await rt.readFile("sub/c", "utf8")], [["sub"], ["b", "c"], "hello12"]);
    await rt.writeFile("/home/vial/d", "new");
    assert.deepEqual((await rt.run('import fs from "fs"; globalThis.__return([fs.readFileSync("../d", "utf8"), typeof x])')).value, ["new", "undefined"]);
    await assert.rejects(rt.readFile("none"), { code: "ENOENT" });
    await assert.rejects(rt.writeFile("/etc/passwd", ""), /outside of/);
    await assert.rejects(rt.writeFile("../../x", ""), /outside of/);
    await rt.dispose();
});

test("secure-exec: ends, output and input", async () => {
    const rt = await NodeRuntime.create();
    assert.deepEqual(await rt.run("process.exit(3)"), { value: undefined, stdout: "", stderr: "", exitCode: 3 });
    const thrown = await rt.run("throw new Error('x')");
    assert.deepEqual([thrown.exitCode, thrown.stderr.startsWith("Error: x")], [1, true]);
    assert.equal((await rt.run("for (;;);", { timeout: 100 })).exitCode, 124);
    assert.equal((await rt.run("for (;;);", { signal: AbortSignal.timeout(50) })).exitCode, 130);
    assert.equal((await rt.exec("() => 1")).exitCode, 0);
    const pieces = [];
    await rt.exec("console.log('o'); console.error('e')", { onStdout: (p) => pieces.push(p), onStderr: (p) => pieces.push(p) });
    assert.deepEqual(pieces.sort(), ["e\n", "o\n"]);
    assert.equal((await rt.exec("import fs from 'fs'; console.log(fs.readFileSync(0, 'utf8'))", { stdin: "in" })).stdout, "in\n");
    const child = rt.spawn("process.stdin.on('data', (d) => console.log('got ' + d))");
    child.writeStdin("x");
    child.writeStdin("y");
    child.closeStdin();
    assert.equal((await child.wait()).stdout, "got xy\n");
    assert.throws(() => child.writeStdin("z"), /has started/);
    const endless = rt.spawn("for (;;);");
    setTimeout(() => endless.kill(), 50);
    assert.equal((await endless.wait()).exitCode, 130);
    await rt.dispose();
});

test("secure-exec: permissions merge over the defaults", async () => {
    const probe = 'import fs from "fs"; let w; try { fs.writeFileSync("w", ""); w = "ok" } catch (e) { w = e.code } globalThis.__return([typeof fetch, w])';
    const value = async (permissions) => {
        const rt = await NodeRuntime.create({ permissions });
        const result = await rt.run(probe);
        await rt.dispose();
        return result.value;
    };
    assert.deepEqual(await value(undefined), ["undefined", "ok"]);
    assert.deepEqual(await value({ network: "allow" }), ["function", "ok"]);
    assert.deepEqual(await value({ fs: { default: "allow", rules: [{ mode: "deny", operations: ["write"], paths: ["/home/vial/**"] }] } }), ["undefined", "EACCES"]);
    await assert.rejects(NodeRuntime.create({ permissions: { disk: "allow" } }), /there is no permission disk/);
    await assert.rejects(NodeRuntime.create({ sockets: 1 }), /has no option sockets/);
});

test("secure-exec: tools, mounts and packages of the host", async () => {
    const write = (name, text) => {
        fs.mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
        fs.writeFileSync(path.join(folder, name), text);
    };
    write("node_modules/esm/package.json", '{"exports": {".": {"import": "./m.mjs"}}}');
    write("node_modules/esm/m.mjs", 'import { two } from "./two.mjs"; import c from "cjs"; export default two + c.three;');
    write("node_modules/esm/two.mjs", "export const two = 2;");
    write("node_modules/cjs/package.json", '{"main": "./lib"}');
    write("node_modules/cjs/lib.js", 'const os = require("os"); exports.three = require("./x").x; exports.host = os.hostname()');
    write("node_modules/cjs/x.js", 'exports.x = require("./y.json").y');
    write("node_modules/cjs/y.json", '{"y": 3}');
    write("secret.mjs", "export default 'secret'");
    fs.symlinkSync("../../secret.mjs", path.join(folder, "node_modules/esm/leak.mjs"));
    const rt = await NodeRuntime.create({
        mounts: { docs: path.join(root, "docs") }, nodeModules: path.join(folder, "node_modules"),
        tools: { add: { description: "Adds.", inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } }, execute: ({ a, b }) => a + b } },
    });
    rt.registerTools({ shout: (text) => text.toUpperCase() });
    const result = await rt.run('import fs from "fs"; import sum from "esm"; import { host } from "cjs"; globalThis.__return([sum, host, await add({ a: 1, b: 2 }), await shout("x"), fs.existsSync("docs/values.md")])');
    assert.deepEqual(result.value, [5, "vial", 3, "X", true], result.stderr);
    assert.match((await rt.exec('import "esm/leak.mjs"')).stderr, /esm\/leak\.mjs/);
    assert.match((await rt.exec('import "../secret.mjs"')).stderr, /Error/);
    await rt.dispose();
});

test("secure-exec: what is not possible says so", async () => {
    const rt = await NodeRuntime.create();
    await assert.rejects(rt.startServer(), /guests cannot be servers/);
    await assert.rejects(rt.openShell(), /there are no shells/);
    assert.match((await rt.exec('import cp from "node:child_process"; cp.execSync("ls")')).stderr, /child_process\.execSync is not available in vial/);
    assert.match((await rt.exec('import http from "node:http"; http.createServer().listen(1)')).stderr, /http\.createServer is not available in vial/);
    await rt.dispose();
});
