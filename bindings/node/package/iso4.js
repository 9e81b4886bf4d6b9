/* iso4.js - what users of @iso4/sandbox and @iso4/fetch know: vial/iso4 in the place of both.
 *
 * A prefix is an environment. Functions among the globals are behind one tool, which the stubs in the prefix
 * call with a name and the arguments, exactly as given. The program is a module beside a small one that collects
 * what it exports. */
import { GuestError, Vial } from "./index.js";
import { tool } from "./tools.js";

const BRIDGE = "__iso4";
const RESPONSE = "vial.iso4.response";
const REDIRECTS_MAX = 5;
const MIB = 1024 * 1024;
const reserved = new Set(["globalThis", "undefined", "NaN", "Infinity", "eval", "Object", "Function", "Array", "Promise", "JSON",
    "console", "__proto__", "constructor", "prototype", "input", BRIDGE]);
const codes = {
    exception: "RUNTIME_ERROR", wall_limit: "WALL_TIMEOUT", cpu_limit: "CPU_TIMEOUT", memory_limit: "MEMORY_LIMIT",
    output_limit: "OUTPUT_LIMIT", call_limit: "BRIDGE_LIMIT", disk_limit: "DISK_LIMIT", denied: "DENIED", cancelled: "CANCELLED",
    crashed: "CRASHED",
};

/* Exports with what cannot cross left out: functions, as in bridge values. */
const collector = `import * as all from "./program.mjs";
const keep = (v, depth) => {
    if (v === null || typeof v !== "object" || depth > 90) return v;
    if (Array.isArray(v)) return v.map((x) => typeof x === "function" ? null : keep(x, depth + 1));
    const p = Object.getPrototypeOf(v);
    if (p !== Object.prototype && p !== null) return v;
    return Object.fromEntries(Object.entries(v).filter(([, x]) => typeof x !== "function").map(([k, x]) => [k, keep(x, depth + 1)]));
};
export default keep({ ...all }, 0);`;

/* Runs in the guest, before the prefix. An answer of createSafeFetch is its data, as JSON has it, and has the
 * methods of a Response beside them. */
const stubs = (paths, values) => `{ const bridge = ${BRIDGE}; const respond = (r) => {
    const text = new TextDecoder().decode(r.body); let data; try { data = JSON.parse(text); } catch { data = undefined; }
    const target = data !== null && typeof data === "object" ? data : {};
    const extra = { status: r.status, statusText: r.statusText, ok: r.status >= 200 && r.status < 300, url: r.url, headers: new Headers(r.headers),
        text: async () => text, json: async () => JSON.parse(text), bytes: async () => r.body, arrayBuffer: async () => r.body.slice().buffer };
    for (const k of Object.keys(extra)) if (!Object.hasOwn(target, k)) Object.defineProperty(target, k, { value: extra[k], configurable: true });
    return target; };
    const plain = (a) => a.map((x) => x instanceof URL ? x.href : x instanceof Headers ? Object.fromEntries(x) :
        x !== null && typeof x === "object" && x.headers instanceof Headers ? { ...x, headers: Object.fromEntries(x.headers) } : x);
    const stub = (name) => async (...args) => { const r = await bridge([name, plain(args)]); return r && r.kind === "${RESPONSE}" ? respond(r) : r; };
    const put = (path, value) => { const parts = path.split("."); let at = globalThis;
        for (const p of parts.slice(0, -1)) at = at[p] ??= {};
        Object.defineProperty(at, parts.at(-1), { value, configurable: true, writable: true, enumerable: true }); };
    for (const [path, value] of ${values}) put(path, value);
    for (const path of ${JSON.stringify(paths)}) put(path, stub(path)); }
`.replaceAll("\n", " ");

/* Functions by path ("db.query"), and values by name. */
function sortGlobals(globals, functions = new Map(), values = new Map(), prefix = "") {
    if (globals === null || typeof globals !== "object") {
        throw new TypeError("globals must be an object of names and functions or values");
    }
    for (const [key, value] of Object.entries(globals)) {
        if (!/^[A-Za-z_$][\w$]*$/.test(key) || reserved.has(key)) {
            throw new TypeError(`globals.${prefix}${key}: this name is reserved, or no identifier`);
        }
        const isPlain = value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;
        if (typeof value === "function") {
            functions.set(prefix + key, value);
        } else if (isPlain && Object.values(value).some((inner) => typeof inner === "function")) {
            sortGlobals(value, functions, values, `${prefix}${key}.`);
        } else {
            values.set(prefix + key, value);
        }
    }
    return { functions, values };
}

/* Functions in what a function of the host gives are left out. */
function plainData(value, depth = 0) {
    if (value === null || typeof value !== "object" || depth > 90) {
        return value;
    }
    if (Array.isArray(value)) {
        return value.map((inner) => (typeof inner === "function" ? null : plainData(inner, depth + 1)));
    }
    if (Object.getPrototypeOf(value) !== Object.prototype) {
        return value;
    }
    return Object.fromEntries(Object.entries(value).filter(([, inner]) => typeof inner !== "function")
        .map(([key, inner]) => [key, plainData(inner, depth + 1)]));
}

function bridgeTool(functions) {
    return tool({
        name: BRIDGE,
        callsMax: 1000000,
        concurrencyMax: 1000,
        timeoutMs: 3600000,
        inputBytesMax: 64 * MIB,
        outputBytesMax: 64 * MIB,
        execute: async ([path, args]) => {
            const f = functions.get(path);
            if (f === undefined) {
                throw new ReferenceError(`there is no global ${path}`);
            }
            return plainData(await f(...args));
        },
    });
}

function limitsOf(limits = {}) {
    const known = {
        cpuTimeMs: ["cpuMsMax", 1], wallTimeMs: ["wallMsMax", 1], memoryMb: ["memoryBytesMax", MIB],
        maxBridgeCalls: ["callsMax", 1], maxBridgePayloadBytes: ["callBytesMax", 1],
    };
    const made = {};
    for (const [key, value] of Object.entries(limits)) {
        if (known[key] === undefined) {
            throw new TypeError(`there is no limit ${key}`);
        }
        if (value !== undefined && (typeof value !== "number" || !(value >= 0))) {
            throw new RangeError(`the limit ${key} must be a number`);
        }
        if (value > 0) {
            const [name, factor] = known[key];
            made[name] = Math.max(1, Math.round(value * factor));
        }
    }
    return made;
}

const lines = (output) => (output === "" ? [] : output.replace(/\n$/, "").split("\n"));

/** Host set-up that is evaluated once. */
class Prefix {
    #environment;
    #engine;
    #declared;

    constructor(engine, environment, declared) {
        this.#engine = engine;
        this.#environment = environment;
        this.#declared = declared;
    }

    /** Runs a program. Never rejects for what the program does. */
    async run({ code, globals = {}, limits = {}, signal } = {}) {
        if (typeof code !== "string") {
            throw new TypeError("code must be a string");
        }
        const given = sortGlobals(globals);
        for (const [path] of [...given.functions, ...given.values]) {
            if (!this.#declared.functions.has(path) && !this.#declared.values.has(path)) {
                throw new TypeError(`globals.${path} was not declared in precompile(), so it cannot be bound anew`);
            }
            if (this.#declared.functions.has(path) !== given.functions.has(path)) {
                throw new TypeError(`globals.${path} was declared as ${given.functions.has(path) ? "a value" : "a function"}`);
            }
        }
        const functions = new Map([...this.#declared.functions, ...given.functions]);
        const source = given.values.size === 0 ? collector :
            `import "./globals.mjs";\n${collector}`;
        const modules = { "./program.mjs": code };
        if (given.values.size > 0) {
            modules["./globals.mjs"] = [...given.values].map(([path, value]) => `globalThis.${path} = ${literal(value, path)};`).join("\n");
        }
        const begin = performance.now();
        const result = await this.#environment.run(source, {
            kind: "module", modules, tools: [bridgeTool(functions)], limits: limitsOf(limits), signal,
        });
        const shared = { stdout: lines(result.stdout), stderr: lines(result.stderr), durationMs: performance.now() - begin };
        if (result.ok) {
            return { ok: true, exports: result.value ?? {}, ...shared };
        }
        const { name, message, stack } = result.error ?? { name: "Error", message: result.status };
        const special = { SyntaxError: "SYNTAX_ERROR", LimitError: "BRIDGE_LIMIT", DeniedError: "DENIED" };
        const code_ = (result.status === "exception" && special[name]) || codes[result.status];
        return { ok: false, error: { code: code_, name, message, stack: stack ?? undefined }, ...shared };
    }

    async dispose() {
        await this.#environment.close();
    }

    [Symbol.asyncDispose]() {
        return this.dispose();
    }
}

function literal(value, path) {
    let json;
    try {
        json = JSON.stringify(value);
    } catch (error) {
        throw new TypeError(`globals.${path} cannot cross to the guest: ${error.message}`);
    }
    if (json === undefined && value !== undefined) {
        throw new TypeError(`globals.${path} cannot cross to the guest`);
    }
    return json === undefined ? "undefined" : `JSON.parse(${JSON.stringify(json)})`;
}

class Sandbox {
    #engine;

    constructor(options) {
        this.#engine = new Vial({ forSessions: true, ...(options.maxIsolates ? { runsMax: options.maxIsolates } : {}) });
    }

    async open() {
        await this.#engine.stats();
        return this;
    }

    /** Evaluates host set-up once; a failure of it is thrown. */
    async precompile({ code = "", globals = {} } = {}) {
        if (typeof code !== "string") {
            throw new TypeError("code must be a string");
        }
        const declared = sortGlobals(globals);
        const values = `[${[...declared.values].map(([path, value]) => `[${JSON.stringify(path)}, ${literal(value, path)}]`).join(", ")}]`;
        const environment = this.#engine.environment({
            name: "iso4", prefix: stubs([...declared.functions.keys()], values) + code, tools: [bridgeTool(declared.functions)],
        });
        const started = await environment.ready();
        if (!started.ok) {
            await environment.close();
            throw new GuestError(started);
        }
        return new Prefix(this.#engine, environment, declared);
    }

    /** A program without a prefix. */
    async run({ code, globals = {}, limits, signal } = {}) {
        const prefix = await this.precompile({ globals });
        try {
            return await prefix.run({ code, limits, signal });
        } finally {
            await prefix.dispose();
        }
    }

    async dispose() {
        await this.#engine.close();
    }

    [Symbol.asyncDispose]() {
        return this.dispose();
    }
}

export async function createSandbox(options = {}) {
    return new Sandbox(options).open();
}

/* ---- fetch ---- */

/* In a cell of its own: the host of vial judges the address, so that no name leads to a private one. */
const fetcher = `const r = await fetch(input.url, { ...input.init, redirect: "manual" });
({ status: r.status, statusText: r.statusText, url: r.url || input.url, headers: Object.fromEntries(r.headers), body: new Uint8Array(await r.arrayBuffer()) })`;

let fetchEngine;

function requestOf(what, init = {}) {
    const url = new URL(typeof what === "object" && what !== null && "url" in what ? what.url : String(what));
    if (url.protocol !== "https:" && url.protocol !== "http:") {
        throw new TypeError(`only http and https can be fetched, not ${url.protocol}`);
    }
    const { method = "GET", headers = {}, body } = init ?? {};
    return { url, init: { method: String(method).toUpperCase(), headers: { ...headers }, body: body ?? undefined } };
}

/* The rules of vial that let exactly this origin through, or those that were given. */
function rulesFor(url, rules, addresses) {
    if (rules !== undefined) {
        return rules.map((rule) => {
            const { effect = "allow", match, name, addresses: own = addresses, ...rest } = rule;
            return { effect, ...(name === undefined ? {} : { name }), match: match ?? rest, ...(effect === "allow" && own.length > 0 ? { addresses: own } : {}) };
        });
    }
    const match = { host: url.hostname, scheme: url.protocol.slice(0, -1) };
    if (url.port !== "") {
        match.port = Number(url.port);
    }
    return [{ effect: "allow", match, ...(addresses.length > 0 ? { addresses } : {}) }];
}

/** A fetch for guests: `policy` says yes to each request, redirects included, or `rules` do (docs/network.md). */
export function createSafeFetch({ policy, rules, addresses = [], maxResponseBytes, timeoutMs, maxRedirects = REDIRECTS_MAX, engine } = {}) {
    if ((typeof policy === "function") === Array.isArray(rules)) {
        throw new TypeError("createSafeFetch takes either policy, a function, or rules, an array");
    }
    const one = async (url, init) => {
        const question = {
            url: url.href, host: url.hostname, hostname: url.hostname, port: url.port, protocol: url.protocol, path: url.pathname,
            method: init.method, headers: init.headers,
        };
        if (policy !== undefined && (await policy(question)) !== true) {
            throw Object.assign(new Error(`the policy does not allow ${init.method} ${url.origin}`), { name: "DeniedError" });
        }
        fetchEngine = engine ?? (fetchEngine?.isClosed === false ? fetchEngine : new Vial({ poolCount: 2 }));
        const result = await fetchEngine.run(fetcher, {
            input: { url: url.href, init: Object.fromEntries(Object.entries(init).filter(([, value]) => value !== undefined)) },
            net: rulesFor(url, rules, addresses), limits: { requestMsMax: timeoutMs, responseBytesMax: maxResponseBytes },
        });
        if (!result.ok) {
            throw Object.assign(new Error(result.error.message), { name: result.error.name });
        }
        return result.value;
    };
    return async (what, options) => {
        let { url, init } = requestOf(what, options);
        for (let hop = 0; ; hop++) {
            const answer = await one(url, init);
            const location = answer.headers.location;
            if (answer.status < 300 || answer.status > 399 || location === undefined || options?.redirect === "manual") {
                return { kind: RESPONSE, ...answer };
            }
            if (hop >= maxRedirects) {
                throw new Error(`more than ${maxRedirects} redirects`);
            }
            const next = new URL(location, url);
            const headers = next.origin === url.origin ? init.headers :
                Object.fromEntries(Object.entries(init.headers).filter(([key]) => !/^(authorization|cookie)$/i.test(key)));
            const keeps = answer.status === 307 || answer.status === 308;
            url = next;
            init = keeps ? { ...init, headers } : { method: init.method === "HEAD" ? "HEAD" : "GET", headers };
        }
    };
}
