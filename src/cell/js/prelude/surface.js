/* surface.js - the way to the web and Node surface: globals that appear when they are first used,
 * and the modules behind require() and import.
 *
 * The surface is bundled code (cell/js/surface/), a text for each module. A text is evaluated when
 * its module is first asked for: in the template for what warmSurface() lists, in the run for the
 * rest. It runs in the guest's realm and only does what guest code could do itself; nothing that
 * decides what the host receives depends on it. */

/* Global name: the bundled module that has it as an export of that name. */
const surfaceGlobals = {
    __proto__: null,
    AbortController: "web/events",
    AbortSignal: "web/events",
    Blob: "web/blob",
    Buffer: "node/buffer",
    ByteLengthQueuingStrategy: "web/streams",
    CompressionStream: "web/streams",
    CountQueuingStrategy: "web/streams",
    Crypto: "web/crypto",
    CryptoKey: "web/subtle",
    CustomEvent: "web/events",
    DOMException: "web/events",
    DecompressionStream: "web/streams",
    Event: "web/events",
    EventTarget: "web/events",
    File: "web/blob",
    FormData: "web/blob",
    Headers: "web/fetch",
    PerformanceEntry: "web/performance",
    PerformanceMark: "web/performance",
    PerformanceMeasure: "web/performance",
    ReadableByteStreamController: "web/streams",
    ReadableStream: "web/streams",
    ReadableStreamBYOBReader: "web/streams",
    ReadableStreamBYOBRequest: "web/streams",
    ReadableStreamDefaultController: "web/streams",
    ReadableStreamDefaultReader: "web/streams",
    Request: "web/fetch",
    Response: "web/fetch",
    SubtleCrypto: "web/subtle",
    TextDecoder: "web/encoding",
    TextDecoderStream: "web/streams",
    TextEncoder: "web/encoding",
    TextEncoderStream: "web/streams",
    TransformStream: "web/streams",
    TransformStreamDefaultController: "web/streams",
    URL: "web/url",
    URLSearchParams: "web/url",
    WritableStream: "web/streams",
    WritableStreamDefaultController: "web/streams",
    WritableStreamDefaultWriter: "web/streams",
    atob: "web/encoding",
    btoa: "web/encoding",
    crypto: "web/crypto",
    process: "node/process",
    structuredClone: "web/clone",
};

/* Name of a Node module: the bundled module that it is. */
const surfaceModules = {
    __proto__: null,
    assert: "node/assert",
    "assert/strict": "node/assert_strict",
    async_hooks: "node/async_hooks",
    buffer: "node/buffer",
    console: "node/console",
    constants: "node/constants",
    crypto: "node/crypto",
    diagnostics_channel: "node/diagnostics_channel",
    events: "node/events",
    fs: "node/fs",
    "fs/promises": "node/fs_promises",
    module: "node/module",
    os: "node/os",
    path: "node/path",
    "path/posix": "node/path_posix",
    "path/win32": "node/path_win32",
    perf_hooks: "node/perf_hooks",
    process: "node/process",
    punycode: "node/punycode",
    querystring: "node/querystring",
    stream: "node/stream",
    "stream/consumers": "node/stream_consumers",
    "stream/promises": "node/stream_promises",
    "stream/web": "node/stream_web",
    string_decoder: "node/string_decoder",
    sys: "node/util",
    timers: "node/timers",
    "timers/promises": "node/timers_promises",
    tty: "node/tty",
    url: "node/url",
    util: "node/util",
    "util/types": "node/util_types",
    zlib: "node/zlib",
};

/* Members of performance besides the clock. */
const performanceMembers = ["mark", "measure", "getEntries", "getEntriesByName", "getEntriesByType",
    "clearMarks", "clearMeasures"];

/* Modules that cannot exist here: they can be imported, and say so when they are used. */
const absentModules = {
    __proto__: null,
    child_process: true, cluster: true, dgram: true, dns: true, "dns/promises": true, http: true,
    http2: true, https: true, inspector: true, "inspector/promises": true, net: true,
    readline: true, "readline/promises": true, repl: true, sqlite: true, test: true, tls: true,
    v8: true, vm: true, wasi: true, worker_threads: true,
};

const surfaceBuiltinNames = listOf(objectKeys(surfaceModules));
for (const name of objectKeys(absentModules)) {
    surfaceBuiltinNames[surfaceBuiltinNames.length] = name;
}

/* Bundled name: its module object, from the moment that its evaluation begins. */
const loadedTexts = { __proto__: null };

/* The same values as the guest's globals have, whatever the guest has done to those since. The
 * bundled code uses these: `const { URL } = require("url")` declares a URL that is not there yet
 * while it is evaluated. */
const ownGlobals = { __proto__: null };

/* What the bundled code is given besides require. */
const surfaceTools = {
    __proto__: null,
    builtinNames: objectKeys(surfaceModules).concat(objectKeys(absentModules)),
    console: guestConsole,
    createRequire: () => makeRequire(undefined),
    es: { __proto__: null }, /* the names of the language, as they were */
    fail: recordUncaught,
    formatArguments,
    g: ownGlobals,
    inspect: guestInspect,
    isLoaded: (name) => loadedTexts[name] !== undefined,
    isProxy: (value) => isObject(value) && nativeProxyTarget(value) !== null,
    kindOf,
    load: loadText,
    native: {
        __proto__: null, decode: native.decode, encode: native.encode, write: native.writeText,
        byteLength: native.byteLength, random: native.random, domainToASCII: native.domainToASCII,
        domainToUnicode: native.domainToUnicode, files: native.files, process: native.process,
        lifecycle,
    },
    net: netCall,
    now: coarseNow,
    performance: guestPerformance,
    print: (stream, text) => {
        if (!muted) {
            nativeWrite(stream === STDERR ? STDERR : STDOUT, text);
        }
    },
    require: surfaceRequire,
    setCallbackWrapper: (wrapper) => {
        wrapCallback = wrapper;
    },
    /* A class without instances, for packages that ask whether something is one. */
    SharedArrayBuffer: class {
        get byteLength() {
            return 0;
        }
    },
    timers: guestTimers,
};

/* Where a name is in use twice in a text, the bundler adds to it ("URL2", "_Blob"); the classes are called by
 * their names again here. Exports of web texts are getters of the bundler; others may be lazy. */
function restoreNames(text, exports) {
    const keys = objectKeys(exports);
    for (let i = 0; i < keys.length; i++) {
        const value = stringStartsWith(text, "web/") ? exports[keys[i]] : ownData(exports, keys[i]);
        const name = typeof value === "function" ? ownData(value, "name") : undefined;
        if (name !== undefined && name !== keys[i] && (name === `_${keys[i]}` || name === `${keys[i]}2` ||
            name === `${keys[i]}3`)) {
            defineProperty(value, "name", { __proto__: null, value: keys[i], configurable: true });
        }
    }
}

/* A URL crosses the wall as one; its href tells it from what only looks like it. */
function registerUrl(Class) {
    mapSet(builtinPrototypes, Class.prototype, "URL");
    kindProbes.URL = getterOf(Class.prototype, "href");
}

function makeUrl(text) {
    return new ownGlobals.URL(text);
}

/* The exports of a bundled module, evaluated at the first call. Cycles work as they do in Node. */
function loadText(name) {
    const loaded = loadedTexts[name];
    if (loaded !== undefined) {
        return loaded.exports;
    }
    const evaluate = native.surfaceText(name);
    if (evaluate === undefined) {
        throw new ErrorClass(`${name} is missing from the surface`);
    }
    const module = { exports: {} };
    loadedTexts[name] = module;
    try {
        evaluate(module, module.exports, surfaceRequire, surfaceTools);
        restoreNames(name, module.exports);
        if (name === "web/url") {
            registerUrl(module.exports.URL);
        }
    } catch (error) {
        deleteProperty(loadedTexts, name);
        throw error;
    }
    return module.exports;
}

/* A Node module by its name without "node:"; undefined when there is none. */
function surfaceBuiltin(name) {
    const text = surfaceModules[name];
    if (text !== undefined) {
        return loadText(text);
    }
    return absentModules[name] === true ? loadText("node/absent")(name) : undefined;
}

/* What require() is inside of the bundled code; packages also ask for "process/". */
function surfaceRequire(name) {
    let plain = stringStartsWith(name, "node:") ? stringSlice(name, 5) : name;
    plain = stringEndsWith(plain, "/") ? stringSlice(plain, 0, -1) : plain;
    const found = surfaceBuiltin(plain);
    if (found === undefined) {
        throw new ErrorClass(`the surface has no module ${name}`);
    }
    return found;
}

/* Guests come by the process object here or by its module, and from then on it has a say. */
function touchProcess(name) {
    if (name === "process") {
        lifecycle.isTouched = true;
    }
}

function guestBuiltin(name) {
    touchProcess(name);
    return surfaceBuiltin(name);
}

function guestGlobal(name) {
    touchProcess(name);
    return ownGlobals[name];
}

function surfaceGlobal(name) {
    const exported = loadText(surfaceGlobals[name]);
    return surfaceGlobals[name] === "node/process" ? exported : exported[name];
}

/* Makes a name of object whose value is found when it is first read. A value that is assigned
 * before that takes its place. */
function defineLazily(object, name, find) {
    defineProperty(object, name, {
        __proto__: null,
        get: () => {
            const value = find(name);
            defineHidden(object, name, value);
            return value;
        },
        set: (value) => {
            defineHidden(object, name, value);
        },
        enumerable: false,
        configurable: true,
    });
}

function installSurface() {
    const builtins = getOwnPropertyNames(globalThis);
    for (let i = 0; i < builtins.length; i++) {
        surfaceTools.es[builtins[i]] = ownData(globalThis, builtins[i]);
    }
    const names = objectKeys(surfaceGlobals);
    for (let i = 0; i < names.length; i++) {
        defineLazily(ownGlobals, names[i], surfaceGlobal);
        defineLazily(globalThis, names[i], guestGlobal);
    }
    defineHidden(globalThis, "global", globalThis);
    defineHidden(globalThis, "performance", guestPerformance);
    for (const name of performanceMembers) {
        defineLazily(Performance.prototype, name, () => loadText("web/performance").members[name]);
    }
    ownGlobals.performance = guestPerformance;
    for (const name of ["dispose", "asyncDispose"]) { /* as Node 20 has them; the engine does not yet */
        if (Symbol[name] === undefined) {
            defineProperty(Symbol, name, { __proto__: null, value: Symbol(`Symbol.${name}`) });
        }
    }
    ownGlobals.console = guestConsole;
    defineLazily(guestConsole, "Console", () => {
        loadText("node/console");
        return ownData(guestConsole, "Console");
    });
    const timers = objectKeys(guestTimers);
    for (let i = 0; i < timers.length; i++) {
        ownGlobals[timers[i]] = guestTimers[timers[i]];
    }
    findBuiltin = guestBuiltin;
    builtinNames = surfaceBuiltinNames;
}

let hasNet = false;

/* The run may use the network. */
function provideNet() {
    if (!hasNet) {
        hasNet = true;
        defineLazily(globalThis, "fetch", () => loadText("web/net").fetch);
    }
}

/* In the template: loads what many programs use and calls it once, so that runs find it compiled. What is large
 * and rare (streams, compression, requests, ciphers) stays a text: every megabyte of heap costs each cell time. */
function warmSurface() {
    const names = ["AbortController", "AbortSignal", "Buffer", "DOMException", "Event", "EventTarget", "TextDecoder",
        "TextEncoder", "URL", "URLSearchParams", "atob", "btoa", "crypto", "structuredClone"];
    for (let i = 0; i < names.length; i++) {
        globalThis[names[i]];
    }
    ownGlobals.process;
    warmWeb(ownGlobals);
    warmNode(ownGlobals);
}

function warmWeb({ URL, URLSearchParams, TextEncoder, TextDecoder, AbortController, structuredClone, crypto, atob, btoa }) {
    const url = new URL("../b?x=1&y=%20#z", "https://user@example.org:8080/a/c");
    url.searchParams.append("q", "a b");
    url.pathname = "/p";
    `${url.href}${url.host}${url.origin}${url.protocol}${url.search}${url.hash}`;
    `${new URLSearchParams({ a: "1" })}`;
    const params = new URLSearchParams("a=1&b=2");
    params.get("a");
    params.forEach(() => {});
    new TextDecoder().decode(new TextEncoder().encode("t\u00e9xt"));
    const controller = new AbortController();
    controller.signal.addEventListener("abort", () => {});
    controller.abort();
    structuredClone({ a: [1, new Map([[1, new Set([2])]]), new Date(0)], b: new Uint8ArrayClass(2) });
    crypto.randomUUID();
    crypto.getRandomValues(new Uint8ArrayClass(4));
    atob(btoa("text"));
}

function warmNode({ Buffer }) {
    const bytes = Buffer.concat([Buffer.from("t\u00e9xt"), Buffer.from("dGV4dA==", "base64"), Buffer.alloc(2)]);
    `${bytes}${bytes.toString("hex")}${bytes.toString("base64")}`;
    bytes.readUInt16BE(0);
    bytes.writeUInt8(1, 0);
    bytes.subarray(1).equals(bytes.slice(1));
    const path = surfaceBuiltin("path");
    path.resolve(path.join("a", "..", "b"), path.basename("/c/d.js", ".js"));
    path.relative("/a/b", "/a/c");
    path.extname(path.dirname("/a/b.c/d"));
    const EventEmitter = surfaceBuiltin("events");
    class Emitter extends EventEmitter {}
    const emitter = new Emitter();
    emitter.once("x", () => {});
    emitter.on("x", () => {});
    emitter.emit("x", 1);
    emitter.off("x", () => {});
    const util = surfaceBuiltin("util");
    util.inspect({ a: util.format("%s", 1) }, { depth: 0 });
    util.promisify((callback) => callback(null, 1))();
    util.isDeepStrictEqual({ a: [1] }, { a: [1] });
    const assert = surfaceBuiltin("assert");
    assert.deepStrictEqual({ a: 1 }, { a: 1 });
    assert.strictEqual(1, 1);
    assert.throws(() => {
        throw new TypeErrorClass("warm");
    }, TypeErrorClass);
    const fs = surfaceBuiltin("fs");
    if (!fs.existsSync("warm")) { /* in files that are there for this alone */
        fs.writeFileSync("warm", "text");
        fs.readFileSync("warm", "utf8");
        fs.statSync("warm").isFile();
        fs.readdirSync(".");
        fs.rmSync("warm");
    }
    try {
        fs.readFileSync("warm");
    } catch {
        fs.statSync("warm", { throwIfNoEntry: false });
    }
    surfaceBuiltin("url").parse("http://a.b/c?d=e");
    surfaceBuiltin("querystring").parse("a=1");
    surfaceBuiltin("crypto").createHash("sha256").update("text").digest("hex");
    surfaceBuiltin("crypto").createHash("md5").update("text").digest("base64");
}
