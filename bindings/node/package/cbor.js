/* cbor.js - values on their way to guests and back: JSON where it says all, else CBOR by the table in
 * docs/values.md. What comes from a guest is read as strictly as the bytes of a stranger. */

const DEPTH_MAX = 512; // of what goes in; guests give 100 levels at most
const typedArrays = [
    [64, Uint8Array], [68, Uint8ClampedArray], [69, Uint16Array], [70, Uint32Array], [71, BigUint64Array],
    [72, Int8Array], [77, Int16Array], [78, Int32Array], [79, BigInt64Array], [85, Float32Array], [86, Float64Array],
];
const arrayOfTag = new Map(typedArrays);
const utf8 = new TextEncoder();
const utf8Reader = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const twoTo32 = 4294967296;

/** A function of a guest in a session: its number there. */
export class FunctionHandle {
    constructor(number) {
        this.number = number;
    }
}

const member = (path, key) =>
    /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

const isWholeSparse = (array) => Object.keys(array).length !== array.length;

const isBinary = (value) => ArrayBuffer.isView(value) || value instanceof ArrayBuffer;

const isTagged = (value) =>
    isBinary(value) || value instanceof Date || value instanceof Map || value instanceof Set || value instanceof RegExp ||
    value instanceof URL || value instanceof Error || value instanceof FunctionHandle;

function refuse(path, what) {
    throw new TypeError(`${path} is ${what}, which cannot cross to the guest`);
}

/* Whether JSON says all of it. Throws for what cannot cross at all. */
function checkValue(value, path, above, handleOf) {
    switch (typeof value) {
    case "boolean":
    case "string":
        return true;
    case "number":
        return Number.isFinite(value) && !Object.is(value, -0);
    case "undefined":
    case "bigint":
        return false;
    case "function":
        if (handleOf?.(value)) {
            return false;
        }
        refuse(path, "a function");
    // falls through
    case "symbol":
        refuse(path, "a symbol");
    }
    if (value === null) {
        return true;
    }
    return checkObject(value, path, above, handleOf);
}

function checkObject(value, path, above, handleOf) {
    if (above.includes(value)) {
        refuse(path, "a reference to what it is in");
    }
    if (above.length >= DEPTH_MAX) {
        refuse(path, `deeper than ${DEPTH_MAX} levels`);
    }
    if (value instanceof Promise) {
        refuse(path, "a promise");
    }
    if (value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef || value instanceof DataView) {
        refuse(path, `a ${value.constructor.name}`);
    }
    above.push(value);
    let isJson = true;
    const check = (inner, innerPath) => {
        isJson = checkValue(inner, innerPath, above, handleOf) && isJson;
    };
    if (Array.isArray(value)) {
        isJson = !isWholeSparse(value);
        value.forEach((inner, i) => check(inner, `${path}[${i}]`));
    } else if (value instanceof Map) {
        let i = 0;
        for (const [key, inner] of value) {
            check(key, `${path} key ${i}`);
            check(inner, `${path} value ${i++}`);
        }
    } else if (value instanceof Set) {
        let i = 0;
        for (const inner of value) {
            check(inner, `${path} element ${i++}`);
        }
    } else if (value instanceof Error) {
        if (value.cause !== undefined) {
            check(value.cause, `${path}.cause`);
        }
    } else if (!isTagged(value)) {
        if (typeof value.toJSON === "function") {
            check(value.toJSON(), path);
            isJson = false;
        } else {
            for (const key of Object.keys(value)) {
                check(value[key], member(path, key));
            }
        }
    }
    above.pop();
    return isJson && !isTagged(value);
}

class Writer {
    constructor(handleOf) {
        this.handleOf = handleOf;
        this.bytes = Buffer.allocUnsafe(256);
        this.len = 0;
    }

    room(len) {
        if (this.len + len > this.bytes.length) {
            const larger = Buffer.allocUnsafe(Math.max(2 * this.bytes.length, this.len + len));
            this.bytes.copy(larger, 0, 0, this.len);
            this.bytes = larger;
        }
    }

    head(major, count) {
        this.room(9);
        const first = major << 5;
        if (count < 24) {
            this.bytes[this.len++] = first | count;
        } else if (count < 0x100) {
            this.bytes[this.len++] = first | 24;
            this.bytes[this.len++] = count;
        } else if (count < 0x10000) {
            this.bytes[this.len++] = first | 25;
            this.len = this.bytes.writeUInt16BE(count, this.len);
        } else if (count < twoTo32) {
            this.bytes[this.len++] = first | 26;
            this.len = this.bytes.writeUInt32BE(count, this.len);
        } else {
            this.bytes[this.len++] = first | 27;
            this.len = this.bytes.writeBigUInt64BE(BigInt(count), this.len);
        }
    }

    simple(byte) {
        this.room(1);
        this.bytes[this.len++] = byte;
    }

    raw(bytes) {
        this.head(2, bytes.length);
        this.room(bytes.length);
        this.bytes.set(bytes, this.len);
        this.len += bytes.length;
    }

    text(text) {
        const bytes = utf8.encode(text);
        this.head(3, bytes.length);
        this.room(bytes.length);
        this.bytes.set(bytes, this.len);
        this.len += bytes.length;
    }

    number(value) {
        if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
            this.head(value < 0 ? 1 : 0, value < 0 ? -1 - value : value);
            return;
        }
        this.room(9);
        this.bytes[this.len++] = 0xfb;
        this.len = this.bytes.writeDoubleBE(value, this.len);
    }

    bigint(value) {
        const size = value < 0n ? -1n - value : value;
        const hex = size.toString(16);
        this.head(6, value < 0n ? 3 : 2);
        this.raw(size === 0n ? Buffer.alloc(0) : Buffer.from(hex.length % 2 ? `0${hex}` : hex, "hex"));
    }

    object(name, ...parts) {
        this.head(6, 27);
        this.head(4, parts.length + 1);
        this.text(name);
        parts.forEach((part) => this.value(part));
    }

    date(value) {
        const seconds = value.getTime() / 1000;
        if (Number.isNaN(seconds) || Math.round(seconds * 1000) === value.getTime()) {
            this.head(6, 1);
            this.number(seconds);
        } else {
            this.head(6, 0);
            this.text(value.toISOString());
        }
    }

    binary(value) {
        if (value instanceof ArrayBuffer) {
            this.object("ArrayBuffer", new Uint8Array(value));
            return;
        }
        const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
        const tag = typedArrays.find(([, type]) => value instanceof type)?.[0];
        if (tag === undefined) {
            throw new TypeError(`a ${value.constructor.name} cannot cross to the guest`);
        }
        if (tag !== 64) {
            this.head(6, tag);
        }
        this.raw(bytes);
    }

    array(value) {
        if (isWholeSparse(value)) {
            this.head(6, 27);
            this.head(4, 3);
            this.text("Array");
            this.number(value.length);
            const keys = Object.keys(value).filter((key) => /^\d+$/.test(key));
            this.head(5, keys.length);
            for (const key of keys) {
                this.number(Number(key));
                this.value(value[key]);
            }
            return;
        }
        this.head(4, value.length);
        value.forEach((inner) => this.value(inner));
    }

    structure(value) {
        if (Array.isArray(value)) {
            this.array(value);
        } else if (isBinary(value)) {
            this.binary(value);
        } else if (value instanceof Date) {
            this.date(value);
        } else if (value instanceof Map) {
            this.head(6, 259);
            this.head(5, value.size);
            for (const [key, inner] of value) {
                this.value(key);
                this.value(inner);
            }
        } else if (value instanceof Set) {
            this.head(6, 258);
            this.head(4, value.size);
            value.forEach((inner) => this.value(inner));
        } else if (value instanceof RegExp) {
            this.head(6, 21066);
            this.value([value.source, value.flags]);
        } else if (value instanceof URL) {
            this.head(6, 32);
            this.text(value.href);
        } else if (value instanceof Error) {
            const parts = [String(value.name), String(value.message), String(value.stack ?? "")];
            this.object("Error", ...parts, ...(value.cause === undefined ? [] : [value.cause]));
        } else if (value instanceof FunctionHandle) {
            this.object("Function", value.number);
        } else if (typeof value.toJSON === "function") {
            this.value(value.toJSON());
        } else {
            const keys = Object.keys(value);
            this.head(5, keys.length);
            for (const key of keys) {
                this.text(key);
                this.value(value[key]);
            }
        }
    }

    value(value) {
        switch (typeof value) {
        case "boolean":
            return this.simple(value ? 0xf5 : 0xf4);
        case "string":
            return this.text(value);
        case "number":
            return this.number(value);
        case "undefined":
            return this.simple(0xf7);
        case "bigint":
            return this.bigint(value);
        case "function":
            return this.object("Function", this.handleOf(value));
        default:
            return value === null ? this.simple(0xf6) : this.structure(value);
        }
    }
}

/** { json } or { cbor }. `handleOf` tells the number of a function of the guest, if it is one. */
export function encodeValue(value, what, handleOf) {
    if (checkValue(value, what, [], handleOf)) {
        return { json: JSON.stringify(value) };
    }
    const writer = new Writer(handleOf);
    writer.value(value);
    return { cbor: writer.bytes.subarray(0, writer.len) };
}

/* ---- reading ---- */

const broken = (why) => new Error(`vial: a value of the guest cannot be read: ${why}`);

class Reader {
    constructor(bytes, functionOf) {
        this.bytes = bytes;
        this.at = 0;
        this.depth = 0;
        this.functionOf = functionOf;
    }

    take(len) {
        if (len > this.bytes.length - this.at) {
            throw broken("it is cut off");
        }
        const piece = this.bytes.subarray(this.at, this.at + len);
        this.at += len;
        return piece;
    }

    count(info) {
        if (info < 24) {
            return info;
        }
        switch (info) {
        case 24:
            return this.take(1)[0];
        case 25:
            return this.take(2).readUInt16BE(0);
        case 26:
            return this.take(4).readUInt32BE(0);
        case 27: {
            const large = this.take(8).readBigUInt64BE(0);
            return large <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(large) : large;
        }
        default:
            throw broken("it has no length");
        }
    }

    value() {
        if (++this.depth > DEPTH_MAX) {
            throw broken("it is too deep");
        }
        const first = this.take(1)[0];
        const major = first >> 5;
        const value = major === 7 ? this.simple(first & 31) : this.item(major, this.count(first & 31));
        this.depth--;
        return value;
    }

    simple(info) {
        switch (info) {
        case 20:
            return false;
        case 21:
            return true;
        case 22:
            return null;
        case 23:
            return undefined;
        case 26:
            return this.take(4).readFloatBE(0);
        case 27:
            return this.take(8).readDoubleBE(0);
        default:
            throw broken("it has an unknown simple value");
        }
    }

    item(major, count) {
        switch (major) {
        case 0:
            return count;
        case 1:
            return typeof count === "bigint" ? -1n - count : -1 - count;
        case 2:
            return new Uint8Array(this.take(Number(count)));
        case 3:
            try {
                return utf8Reader.decode(this.take(Number(count)));
            } catch {
                throw broken("it has text that is no UTF-8");
            }
        case 4: {
            const list = [];
            for (let i = 0; i < count; i++) {
                list.push(this.value());
            }
            return list;
        }
        case 5:
            return this.map(count);
        default:
            return this.tagged(Number(count));
        }
    }

    map(count) {
        const object = {};
        for (let i = 0; i < count; i++) {
            const key = this.value();
            if (typeof key !== "string") {
                throw broken("it has a member whose name is no text");
            }
            // Defined, not assigned: "__proto__" is a name like any other.
            Object.defineProperty(object, key, { value: this.value(), enumerable: true, configurable: true, writable: true });
        }
        return object;
    }

    pairs() {
        const first = this.take(1)[0];
        const pairs = [];
        if (first >> 5 !== 5) {
            throw broken("a map is none");
        }
        const count = this.count(first & 31);
        for (let i = 0; i < count; i++) {
            pairs.push([this.value(), this.value()]);
        }
        return pairs;
    }

    tagged(tag) {
        if (tag === 259) {
            return new Map(this.pairs());
        }
        if (tag === 27) {
            return this.named();
        }
        return fromTag(tag, this.value());
    }

    /* tag 27: [name, ...] */
    named() {
        const first = this.take(1)[0];
        const count = this.count(first & 31);
        if (first >> 5 !== 4 || !(count >= 1)) {
            throw broken("an object has no name");
        }
        const name = this.value();
        if (name === "Array" && count === 3) {
            const array = [];
            array.length = Number(this.value());
            for (const [index, value] of this.pairs()) {
                array[index] = value;
            }
            return array;
        }
        const parts = [];
        for (let i = 1; i < count; i++) {
            parts.push(this.value());
        }
        return this.fromName(name, parts);
    }

    fromName(name, parts) {
        switch (name) {
        case "Error": {
            const error = new Error(String(parts[1] ?? ""), parts.length > 3 ? { cause: parts[3] } : undefined);
            const fields = { name: String(parts[0]), stack: String(parts[2] ?? "") };
            for (const key of Object.keys(fields)) {
                Object.defineProperty(error, key, { value: fields[key], configurable: true, writable: true });
            }
            return error;
        }
        case "ArrayBuffer":
            return parts[0].buffer;
        case "Function":
            return this.functionOf ? this.functionOf(parts[0]) : new FunctionHandle(parts[0]);
        case "complex":
            return { re: parts[0], im: parts[1] };
        case "timedelta":
            return parts[0] * 86400000 + parts[1] * 1000 + parts[2] / 1000;
        default: // Decimal, datetime, time: text; a table: its parts
            return parts[0];
        }
    }
}

function hexOf(bytes) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}

function decimalText(exponent, mantissa) {
    const digits = String(mantissa < 0 ? -mantissa : mantissa);
    const sign = mantissa < 0 ? "-" : "";
    if (exponent >= 0) {
        return sign + digits + "0".repeat(Math.min(Number(exponent), 10000));
    }
    const padded = digits.padStart(1 - exponent, "0");
    return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

function typedArrayOf(tag, bytes) {
    const type = arrayOfTag.get(tag);
    if (!(bytes instanceof Uint8Array) || bytes.length % type.BYTES_PER_ELEMENT !== 0) {
        throw broken("a typed array has no whole number of elements");
    }
    return new type(bytes.buffer, bytes.byteOffset, bytes.length / type.BYTES_PER_ELEMENT);
}

function fromTag(tag, inner) {
    switch (tag) {
    case 0:
        return new Date(inner);
    case 1:
        return new Date(Math.round(inner * 1000));
    case 2:
    case 3: {
        const size = inner.length === 0 ? 0n : BigInt(`0x${hexOf(inner)}`);
        return tag === 2 ? size : -1n - size;
    }
    case 4:
        return decimalText(inner[0], inner[1]);
    case 30:
        return `${inner[0]}/${inner[1]}`;
    case 32:
        return new URL(inner);
    case 37:
        return hexOf(inner).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    case 40:
        return { shape: inner[0], data: inner[1] };
    case 258:
        return new Set(inner);
    case 1004:
        return inner;
    case 21066:
        try {
            return new RegExp(inner[0], inner[1]);
        } catch {
            return inner[0];
        }
    }
    if (arrayOfTag.has(tag)) {
        return typedArrayOf(tag, inner);
    }
    throw broken(`it has the unknown tag ${tag}`);
}

/** The value that CBOR bytes stand for. `functionOf` makes a function of a session of its number. */
export function decodeCbor(bytes, functionOf) {
    const reader = new Reader(bytes, functionOf);
    let value;
    try {
        value = reader.value();
    } catch (error) {
        throw error.message?.startsWith("vial:") ? error : broken(error.message);
    }
    if (reader.at !== bytes.length) {
        throw broken("something is behind it");
    }
    return value;
}
