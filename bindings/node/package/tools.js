/* tools.js - functions of the host as tools of the guest. */
import { decodeCbor, encodeValue } from "./cbor.js";

const INLINE_VALUES = 4; // VIAL_TOOL_VALUES
const APPROVE = 2;
const MODULES = 8;
const NAME_BYTES_MAX = 64; // of an error, as the library has it
const TOOL = Symbol("vial.tool");

/** Describes a tool: tool({ name, description, input, output, execute, ... }), or tool(function, options). */
export function tool(what, options = {}) {
    const description = typeof what === "function" ? { ...options, execute: what } : { ...what };
    if (typeof description.execute !== "function") {
        throw new TypeError("tool() takes a function, or an object whose execute is one");
    }
    for (const [key, type] of [["name", "string"], ["description", "string"], ["timeoutMs", "number"], ["callsMax", "number"],
        ["concurrencyMax", "number"]]) {
        if (description[key] !== undefined && typeof description[key] !== type) {
            throw new TypeError(`${key} of a tool must be a ${type}`);
        }
    }
    if (description.mode !== undefined && description.mode !== "async" && description.mode !== "sync") {
        throw new TypeError('mode of a tool must be "async" or "sync"');
    }
    description[TOOL] = true;
    return description;
}

/* How many parameters a function takes, those with defaults included. */
function parameterCount(f) {
    const source = Function.prototype.toString.call(f);
    if (source.includes("[native code]")) {
        return Math.max(f.length, 1);
    }
    if (/^(async\s+)?[\w$]+\s*=>/.test(source)) {
        return 1;
    }
    let depth = 0;
    let count = 0;
    let isEmpty = true;
    for (let i = source.indexOf("("); i >= 0 && i < source.length; i++) {
        const c = source[i];
        if ("([{".includes(c)) {
            depth++;
        } else if (")]}".includes(c)) {
            if (--depth === 0) {
                break;
            }
        } else if (depth === 1 && c === "," ) {
            count++;
        } else if (depth === 1 && source.startsWith("...", i)) {
            return Infinity;
        } else if (!/\s/.test(c)) {
            isEmpty = false;
            continue;
        }
        isEmpty &&= depth <= 1;
    }
    return isEmpty ? 0 : count + 1;
}

/* A plain function gets the arguments it was called with; vial sends several of them as an array. */
function plainCaller(f) {
    const count = parameterCount(f);
    return (args) => (count > 1 && Array.isArray(args) ? f(...args) : args === null && count !== 1 ? f() : f(args));
}

/** A list of { name, ... , execute(args) } of what people give: an array, or an object of names. */
export function toolList(tools) {
    if (tools === undefined || tools === null) {
        return [];
    }
    if (typeof tools !== "object") {
        throw new TypeError("tools must be an array of tools, or an object of names and functions");
    }
    const entries = Array.isArray(tools) ? tools.map((t) => [undefined, t]) : Object.entries(tools);
    return entries.map(([key, what]) => {
        const isPlain = typeof what === "function";
        const made = isPlain ? tool(what) : what?.[TOOL] ? what : tool(what ?? {});
        const name = key ?? made.name ?? (isPlain ? what.name : made.execute.name);
        if (typeof name !== "string" || name === "") {
            throw new TypeError("a tool has no name: name the function, or use tool({ name, ... })");
        }
        const hasSchema = made.input !== undefined;
        return { ...made, name, call: isPlain && !hasSchema ? plainCaller(what) : made.execute };
    });
}

const schemaText = (schema) => (schema === undefined ? undefined : JSON.stringify(schema));

/** The form that the addon takes. */
export function nativeTool(made, number) {
    let flags = INLINE_VALUES;
    flags |= made.approve ? APPROVE : 0;
    flags = made.isModuleLoader ? MODULES : flags;
    return {
        name: made.name, description: made.description, input: schemaText(made.input), output: schemaText(made.output),
        mode: made.mode === "sync" ? 1 : 0, flags, timeoutMs: made.timeoutMs, callsMax: made.callsMax,
        concurrencyMax: made.concurrencyMax, inputBytesMax: made.inputBytesMax, outputBytesMax: made.outputBytesMax, number,
    };
}

/** What an environment's document says of it. */
export function documentTool(made) {
    const document = {
        name: made.name, description: made.description, input: made.input, output: made.output, mode: made.mode,
        timeout_ms: made.timeoutMs, calls_max: made.callsMax, concurrency_max: made.concurrencyMax,
        input_bytes_max: made.inputBytesMax, output_bytes_max: made.outputBytesMax, approve: made.approve ? true : undefined,
    };
    return JSON.parse(JSON.stringify(document));
}

export const readArgs = (args) => (typeof args === "string" ? JSON.parse(args) : args === undefined ? null : decodeCbor(args));

function errorText(value) {
    try {
        return String(value);
    } catch {
        return "the tool failed";
    }
}

/* What the guest gets of something that was thrown. */
function failureOf(error) {
    let name = error instanceof Error ? errorText(error.name) : "Error";
    if (Buffer.byteLength(name) > NAME_BYTES_MAX || name === "") {
        name = "Error";
    }
    const clean = (text) => text.replaceAll("\0", "\ufffd");
    const message = error instanceof Error ? errorText(error.message) : errorText(error);
    const fields = error instanceof Error && typeof error.code === "string" ? JSON.stringify({ code: error.code }) : undefined;
    return [clean(name), clean(message), fields];
}

/** Calls a tool and answers through the port (the addon, or what takes its place at a server), now or when its promise
 * settles. Never throws. */
export function answerCall(port, engine, made, callId, argsOf) {
    const fail = (error) => {
        try {
            port.fail(engine, callId, ...failureOf(error));
        } catch {
            // the engine is closed, and the run with it
        }
    };
    const settle = (value) => {
        try {
            const encoded = value === undefined ? {} : encodeValue(value, `the answer of ${made.name}`);
            port.answer(engine, callId, encoded.json, encoded.cbor);
        } catch (error) {
            fail(error);
        }
    };
    try {
        const value = made.call(argsOf());
        if (typeof value?.then === "function") {
            value.then(settle, fail);
        } else {
            settle(value);
        }
    } catch (error) {
        fail(error);
    }
}
