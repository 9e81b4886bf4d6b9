/* tagged.js - values as a server sends them: JSON in which one member with a $ says what JSON cannot.
 * docs/values.md has the table; what comes out is what the same value is when it comes as CBOR. */
import { FunctionHandle } from "./cbor.js";

const LEVELS_MAX = 1024; // guests give 100, and a tag adds a level or two to each

const bytesOf = (text) => new Uint8Array(Buffer.from(text, "base64"));
const asText = (text) => String(text);

const arrays = Object.fromEntries([Int8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
    Float64Array, BigInt64Array, BigUint64Array].map((type) => [`$${type.name}`, (text) => new type(bytesOf(text).buffer)]));

function errorOf({ name, message, stack, ...rest }) {
    const error = new Error(String(message ?? ""), "cause" in rest ? { cause: rest.cause } : undefined);
    for (const [key, value] of [["name", String(name)], ["stack", String(stack ?? "")]]) {
        Object.defineProperty(error, key, { value, configurable: true, writable: true });
    }
    return error;
}

function sparse([length, pairs]) {
    const array = [];
    array.length = length;
    for (const [index, value] of pairs) {
        array[index] = value;
    }
    return array;
}

function regexpOf([source, flags]) {
    try {
        return new RegExp(source, flags);
    } catch {
        return source;
    }
}

const tags = {
    __proto__: null,
    ...arrays,
    $undefined: () => undefined,
    $number: Number,
    $bigint: (text) => (text.startsWith("~") ? -1n - BigInt(text.slice(1)) : BigInt(text)),
    $bytes: bytesOf,
    $ArrayBuffer: (text) => bytesOf(text).buffer,
    $date: (text) => new Date(text ?? NaN),
    $url: (text) => new URL(text),
    $regexp: regexpOf,
    $map: (pairs) => new Map(pairs),
    $set: (items) => new Set(items),
    $array: sparse,
    $error: errorOf,
    $complex: ([re, im]) => ({ re, im }),
    $fraction: ([above, below]) => `${above}/${below}`,
    $ndarray: ([shape, data]) => ({ shape, data }),
    $table: (parts) => parts,
    $timedelta: (seconds) => seconds * 1000,
    $decimal: asText, $datetime: asText, $day: asText, $time: asText, $uuid: asText,
};

function members(object, functionOf, level) {
    const made = {};
    for (const [key, value] of Object.entries(object)) {
        // Defined, not assigned: "__proto__" is a name like any other.
        Object.defineProperty(made, key, { value: read(value, functionOf, level), enumerable: true, configurable: true, writable: true });
    }
    return made;
}

function read(value, functionOf, level) {
    if (value === null || typeof value !== "object") {
        return value;
    }
    if (level > LEVELS_MAX) {
        throw new Error("vial: a value of the guest cannot be read: it is too deep");
    }
    if (Array.isArray(value)) {
        return value.map((inner) => read(inner, functionOf, level + 1));
    }
    const [name, ...others] = Object.keys(value);
    if (others.length > 0 || name === undefined || name[0] !== "$") {
        return members(value, functionOf, level + 1);
    }
    if (name === "$object") {
        return members(value.$object, functionOf, level + 1);
    }
    if (name === "$function") {
        return functionOf?.(value.$function) ?? new FunctionHandle(value.$function);
    }
    return tags[name] === undefined ? members(value, functionOf, level + 1) : tags[name](read(value[name], functionOf, level + 1));
}

/** The value of a result object; `functionOf` makes a function of a session of its number. */
export function valueOf(document, functionOf) {
    if (document.value_format !== "tagged") {
        return document.value;
    }
    try {
        return read(document.value, functionOf, 0);
    } catch (error) {
        throw error.message.startsWith("vial:") ? error : new Error(`vial: a value of the guest cannot be read: ${error.message}`);
    }
}
