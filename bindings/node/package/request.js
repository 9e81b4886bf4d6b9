/* request.js - what people give, checked and brought into the form of the addon. */
import { encodeValue } from "./cbor.js";

const languages = { javascript: 1, js: 1, typescript: 2, ts: 2, python: 3, py: 3 };
const kinds = { auto: 0, script: 1, module: 2 };
const scans = { auto: 0, warn: 1, block: 2, only: 3 };
const limitNames = new Set(["wall_ms_max", "cpu_ms_max", "timers_max", "memory_bytes_max", "stdout_bytes_max", "stderr_bytes_max",
    "value_bytes_max", "disk_bytes_max", "files_max", "open_files_max", "calls_max", "calls_at_once_max", "call_bytes_max",
    "approval_ms_max", "requests_max", "requests_at_once_max", "request_ms_max", "redirects_max", "request_bytes_max",
    "response_bytes_max", "decoded_bytes_max"]);
const wideLimits = new Set(["memory_bytes_max", "stdout_bytes_max", "stderr_bytes_max", "value_bytes_max", "disk_bytes_max",
    "call_bytes_max", "approval_ms_max", "request_bytes_max", "response_bytes_max", "decoded_bytes_max"]);
const optionNames = new Set(["lang", "input", "tools", "limits", "timeout", "files", "outs", "env", "args", "cwd", "stdin", "name",
    "modules", "kind", "main", "environment", "globals", "permissions", "net", "scan", "approve", "onOutput", "onStdout",
    "onStderr", "recordCalls", "text", "signal", "idleMs", "lifeMs", "engine"]);

const snake = (name) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
export const camel = (name) => name.replace(/_([a-z])/g, (_, c) => c.toUpperCase());

export function text(value, what) {
    if (typeof value !== "string") {
        throw new TypeError(`${what} must be a string`);
    }
    return value;
}

function plain(value, what) {
    const name = text(value, what);
    if (name.includes("\0")) {
        throw new TypeError(`${what} must not have a NUL in it`);
    }
    return name;
}

function pick(table, value, what) {
    if (typeof value !== "string" || !Object.hasOwn(table, value)) {
        throw new TypeError(`${what} must be one of ${Object.keys(table).map((k) => `"${k}"`).join(", ")}`);
    }
    return table[value];
}

function record(value, what) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
        throw new TypeError(`${what} must be an object`);
    }
    return value instanceof Map ? [...value] : Object.entries(value);
}

function bytes(value, what) {
    if (typeof value === "string" || Buffer.isBuffer(value)) {
        return value;
    }
    if (ArrayBuffer.isView(value)) {
        return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    if (value instanceof ArrayBuffer) {
        return Buffer.from(value);
    }
    throw new TypeError(`${what} must be a string or bytes`);
}

function list(value, what) {
    if (!Array.isArray(value)) {
        throw new TypeError(`${what} must be an array of strings`);
    }
    return value.map((one, i) => plain(one, `${what}[${i}]`));
}

/** Limits by name: { wallMsMax: 100 } or { wall_ms_max: 100 }. */
export function limitsOf(limits, timeout) {
    const made = {};
    for (const [key, value] of record(limits ?? {}, "limits")) {
        const name = snake(key);
        if (value === undefined) {
            continue;
        }
        if (!limitNames.has(name)) {
            throw new TypeError(`there is no limit ${key}`);
        }
        if (!Number.isSafeInteger(value) || value < 0 || (!wideLimits.has(name) && value > 0xffffffff)) {
            throw new RangeError(`the limit ${key} must be a whole number in its range, not ${String(value)}`);
        }
        made[name] = value;
    }
    if (timeout !== undefined) {
        if (typeof timeout !== "number" || !(timeout > 0) || timeout > 0xffffffff) {
            throw new RangeError("timeout must be a positive number of milliseconds");
        }
        made.wall_ms_max ??= Math.max(1, Math.round(timeout));
    }
    return made;
}

export function jsonOf(value, what) {
    const encoded = encodeValue(value, what);
    if (encoded.json === undefined) {
        throw new TypeError(`${what} must be what JSON can say`);
    }
    return encoded.json;
}

const makers = {
    lang: (r, v) => { r.language = pick(languages, v, "lang"); },
    files: (r, v) => {
        r.files = record(v, "files").flatMap(([name, b]) => [plain(name, "the name of a file"), bytes(b, `files[${JSON.stringify(name)}]`)]);
    },
    modules: (r, v) => {
        r.modules = record(v, "modules").flatMap(([name, s]) => [plain(name, "the name of a module"), text(s, `modules[${JSON.stringify(name)}]`)]);
    },
    env: (r, v) => {
        r.env = record(v, "env").filter(([, s]) => s !== undefined)
            .map(([name, s]) => `${plain(name, "a variable")}=${plain(s, `env.${name}`)}`);
    },
    outs: (r, v) => { r.outs = list(v, "outs"); },
    args: (r, v) => { r.args = list(v, "args"); },
    cwd: (r, v) => { r.cwd = plain(v, "cwd"); },
    name: (r, v) => { r.name = plain(v, "name"); },
    stdin: (r, v) => { r.stdin = bytes(v, "stdin"); },
    kind: (r, v) => { r.kind = pick(kinds, v, "kind"); },
    scan: (r, v) => { r.scan = pick(scans, v, "scan"); },
    globals: (r, v) => { r.globals = jsonOf(v, "globals"); },
    permissions: (r, v) => { r.permissions = jsonOf(v, "permissions"); },
    net: (r, v) => { r.net = jsonOf(v, "net"); },
    main: (r, v) => { r.main = v ? 1 : 0; },
    text: (r, v) => { r.text = v ? 1 : 0; },
    recordCalls: (r, v) => { r.recordCalls = v ? 1 : 0; },
    idleMs: (r, v) => { r.idleMs = v; },
    lifeMs: (r, v) => { r.lifeMs = v; },
};

function checkFunctions(options) {
    for (const name of ["onOutput", "onStdout", "onStderr"]) {
        if (options[name] !== undefined && typeof options[name] !== "function") {
            throw new TypeError(`${name} must be a function`);
        }
    }
    if (options.approve !== undefined && options.approve !== true && options.approve !== false &&
        typeof options.approve !== "function") {
        throw new TypeError("approve must be true, false or a function");
    }
    if (options.signal !== undefined && !(options.signal instanceof AbortSignal)) {
        throw new TypeError("signal must be an AbortSignal");
    }
}

/** The request of the addon, with `more` when it is more than a program and its input; tools, environment and callbacks are put in by who runs it. */
export function makeRequest(code, options = {}, handleOf = undefined) {
    const request = {};
    if (options === null || typeof options !== "object") {
        throw new TypeError("options must be an object");
    }
    if (code !== undefined) {
        request.source = text(code, "the code");
    }
    const keys = Object.keys(options);
    if (keys.length === 0) {
        return request;
    }
    for (const key of keys) {
        if (!optionNames.has(key)) {
            throw new TypeError(`there is no option ${key}`);
        }
        if (options[key] !== undefined && makers[key] !== undefined) {
            makers[key](request, options[key]);
            request.more = 1;
        }
    }
    checkFunctions(options);
    if (options.input !== undefined) {
        const encoded = encodeValue(options.input, "input", handleOf);
        request.input = encoded.json ?? encoded.cbor;
        request.inputIsCbor = encoded.cbor === undefined ? 0 : 1;
    }
    if (options.limits !== undefined || options.timeout !== undefined) {
        request.limits = limitsOf(options.limits, options.timeout);
        request.more = 1;
    }
    return request;
}
