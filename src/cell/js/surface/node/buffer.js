/* buffer.js - the package buffer, with text conversions by the cell's natives and the parts of the
 * class that are younger than the package. */
import { Buffer as PackageBuffer, kMaxLength, SlowBuffer, INSPECT_MAX_BYTES } from "package-buffer";
import { ASCII, LATIN1, UTF16LE, UTF8, bytesOf, decode, encode } from "../lib/encodings.js";
import { checkInteger, invalidArgType, makeError, outOfRange, received } from "../lib/errors.js";

const Buffer = PackageBuffer;
Object.defineProperty(Buffer, "name", { value: "Buffer", configurable: true }); /* the bundler renames it */
const kStringMaxLength = 536870888;

const inspectSymbol = Symbol.for("nodejs.util.inspect.custom");
const HEX = 10;
const BASE64 = 11;
const BASE64URL = 12;
const ENCODINGS = {
    __proto__: null,
    utf8: UTF8, "utf-8": UTF8, latin1: LATIN1, binary: LATIN1, ascii: ASCII, ucs2: UTF16LE,
    "ucs-2": UTF16LE, utf16le: UTF16LE, "utf-16le": UTF16LE, hex: HEX, base64: BASE64,
    base64url: BASE64URL,
};
const counts = new Uint32Array(1);

function encodingOf(name) {
    if (name === undefined || name === null || name === "") {
        return UTF8;
    }
    const known = ENCODINGS[name] ?? ENCODINGS[`${name}`.toLowerCase()];
    if (known === undefined) {
        throw makeError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${name}`);
    }
    return known;
}

/* Hex up to the first pair that is none. */
function hexBytes(text) {
    const valid = /^(?:[0-9a-fA-F]{2})*/.exec(text)[0];
    return Uint8Array.fromHex(valid);
}

/* Node takes both alphabets at once, stops at the padding and skips what is no digit. */
function base64Bytes(text) {
    try {
        return Uint8Array.fromBase64(text);
    } catch {
        const end = text.indexOf("=");
        let digits = (end < 0 ? text : text.slice(0, end)).replace(/-/g, "+").replace(/_/g, "/")
            .replace(/[^A-Za-z0-9+/]/g, "");
        digits = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
        return Uint8Array.fromBase64(digits);
    }
}

function textBytes(text, encoding) {
    switch (encoding) {
    case HEX:
        return hexBytes(text);
    case BASE64:
    case BASE64URL:
        return base64Bytes(text);
    case ASCII:
        return encode(LATIN1, text);
    default:
        return encode(encoding, text);
    }
}

function asBuffer(bytes) {
    return Object.setPrototypeOf(bytes, Buffer.prototype);
}

function define(object, members) {
    for (const [name, value] of Object.entries(members)) {
        Object.defineProperty(object, name, { value, writable: true, configurable: true,
            enumerable: object === Buffer.prototype });
    }
}

const packageIndexOf = Buffer.prototype.indexOf;
const packageFill = Buffer.prototype.fill;

function noSource(value) {
    return makeError(TypeError, "ERR_INVALID_ARG_TYPE", "The first argument must be of type string or an " +
        `instance of Buffer, ArrayBuffer, or Array or an Array-like Object.${received(value)}`);
}

define(Buffer, {
    from(value, encoding = undefined, length = undefined) {
        if (typeof value === "string") {
            return asBuffer(textBytes(value, encodingOf(encoding)));
        }
        if (value instanceof ArrayBuffer) {
            const offset = Math.trunc(Number(encoding)) || 0;
            if (offset < 0 || offset > value.byteLength) {
                throw makeError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS",
                    '"offset" is outside of buffer bounds');
            }
            const room = value.byteLength - offset;
            const count = length === undefined ? room : Math.max(Math.trunc(Number(length)) || 0, 0);
            if (count > room) {
                throw makeError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS",
                    '"length" is outside of buffer bounds');
            }
            return asBuffer(new Uint8Array(value, offset, count));
        }
        if (value === null || value === undefined || typeof value === "number" ||
            typeof value === "boolean" || typeof value === "bigint" || typeof value === "symbol" ||
            typeof value === "function") {
            throw noSource(value);
        }
        if (value instanceof Uint8Array) {
            return asBuffer(new Uint8Array(value));
        }
        if (!Array.isArray(value) && !ArrayBuffer.isView(value)) {
            const primitive = value.valueOf?.();
            if (primitive !== null && primitive !== undefined && primitive !== value &&
                (typeof primitive === "string" || typeof primitive === "object")) {
                return Buffer.from(primitive, encoding, length);
            }
            if (value.type === "Buffer" && Array.isArray(value.data)) {
                return asBuffer(new Uint8Array(value.data));
            }
            if (typeof value[Symbol.toPrimitive] === "function") {
                return Buffer.from(value[Symbol.toPrimitive]("string"), encoding);
            }
            if (typeof value.length !== "number") {
                throw noSource(value);
            }
        }
        return asBuffer(new Uint8Array(value.length > 0 ? Array.from(value) : 0));
    },
    of(...items) {
        return asBuffer(new Uint8Array(items));
    },
    alloc(size, fill = undefined, encoding = undefined) {
        checkInteger(size, "size", 0, kMaxLength);
        const buffer = asBuffer(new Uint8Array(size));
        return fill === undefined || fill === 0 || size === 0 ? buffer : buffer.fill(fill, encoding);
    },
    /* Memory of the engine is always zero when it is given out. */
    allocUnsafe(size) {
        checkInteger(size, "size", 0, kMaxLength);
        return asBuffer(new Uint8Array(size));
    },
    allocUnsafeSlow(size) {
        return Buffer.allocUnsafe(size);
    },
    byteLength(value, encoding = undefined) {
        if (typeof value !== "string") {
            const bytes = bytesOf(value);
            if (bytes === undefined) {
                throw invalidArgType("string", ["string", "Buffer", "ArrayBuffer"], value);
            }
            return bytes.length;
        }
        const known = ENCODINGS[`${encoding}`.toLowerCase()] ?? UTF8;
        if (known < HEX) {
            return vial.native.byteLength(known, value);
        }
        if (known === HEX) {
            return value.length >>> 1;
        }
        const end = value.length - (value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0);
        return end * 3 >>> 2;
    },
    concat(list, length = undefined) {
        if (!Array.isArray(list)) {
            throw invalidArgType("list", "Array", list);
        }
        let size = 0;
        for (const [i, item] of list.entries()) {
            if (!(item instanceof Uint8Array)) {
                throw invalidArgType(`list[${i}]`, ["Buffer", "Uint8Array"], item);
            }
            size += item.length;
        }
        const joined = Buffer.alloc(length === undefined ? size : length);
        let at = 0;
        for (const item of list) {
            if (at >= joined.length) {
                break;
            }
            joined.set(item.length > joined.length - at ? item.subarray(0, joined.length - at) : item, at);
            at += item.length;
        }
        return joined;
    },
    copyBytesFrom(view, offset = 0, length = undefined) {
        if (!ArrayBuffer.isView(view)) {
            throw invalidArgType("view", "TypedArray", view);
        }
        const part = view.subarray(offset, length === undefined ? undefined : offset + length);
        return asBuffer(bytesOf(part).slice());
    },
    isEncoding(encoding) {
        return typeof encoding === "string" && ENCODINGS[encoding.toLowerCase()] !== undefined;
    },
    isBuffer(value) {
        return value instanceof Buffer;
    },
    compare(a, b) {
        for (const [value, name] of [[a, "buf1"], [b, "buf2"]]) {
            if (!(value instanceof Uint8Array)) {
                throw invalidArgType(name, ["Buffer", "Uint8Array"], value);
            }
        }
        return compareBytes(a, b);
    },
});
Buffer.poolSize = 8192;

function compareBytes(a, b) {
    const length = Math.min(a.length, b.length);
    for (let i = 0; i < length; i++) {
        if (a[i] !== b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return Math.sign(a.length - b.length);
}

function bytesToText(buffer, encoding, start, end) {
    if (encoding < HEX) {
        return decode(encoding, buffer, start, end);
    }
    const part = new Uint8Array(buffer.buffer, buffer.byteOffset + start, end - start);
    if (encoding === HEX) {
        return part.toHex();
    }
    return encoding === BASE64 ? part.toBase64()
        : part.toBase64({ alphabet: "base64url", omitPadding: true });
}

function writeText(buffer, text, offset, length, encoding) {
    const room = Math.min(length, buffer.length - offset);
    if (encoding < HEX) {
        return vial.native.write(encoding === ASCII ? LATIN1 : encoding, text, buffer, offset, offset + room, counts);
    }
    const bytes = textBytes(text, encoding).subarray(0, room);
    buffer.set(bytes, offset);
    return bytes.length;
}

define(Buffer.prototype, {
    toString(encoding = undefined, start = 0, end = this.length) {
        const from = Math.min(Math.max(Math.trunc(start) || 0, 0), this.length);
        const to = Math.min(Math.max(Math.trunc(end) || 0, 0), this.length);
        return to <= from ? "" : bytesToText(this, encodingOf(encoding), from, to);
    },
    write(text, offset = 0, length = undefined, encoding = undefined) {
        if (typeof text !== "string") {
            throw invalidArgType("argument", "string", text);
        }
        if (typeof offset === "string") {
            return writeText(this, text, 0, this.length, encodingOf(offset));
        }
        checkInteger(offset, "offset", 0, this.length);
        if (typeof length === "string") {
            return writeText(this, text, offset, this.length, encodingOf(length));
        }
        if (length !== undefined) {
            checkInteger(length, "length", 0, this.length - offset);
        }
        return writeText(this, text, offset, length ?? this.length, encodingOf(encoding));
    },
    fill(value, offset = undefined, end = undefined, encoding = undefined) {
        if (typeof value === "string") {
            const name = typeof offset === "string" ? offset : typeof end === "string" ? end : encoding;
            const bytes = textBytes(value, encodingOf(name));
            const from = typeof offset === "number" ? offset : 0;
            const to = typeof end === "number" ? end : this.length;
            if (bytes.length === 0 && value.length > 0) {
                throw makeError(TypeError, "ERR_INVALID_ARG_VALUE",
                    `The argument 'value' is invalid. Received '${value}'`);
            }
            checkInteger(from, "offset", 0, this.length);
            checkInteger(to, "end", 0, this.length);
            return Reflect.apply(packageFill, this, [value === "" ? 0 : asBuffer(bytes), from, to]);
        }
        return Reflect.apply(packageFill, this, [value, offset, end, encoding]);
    },
    equals(other) {
        if (!(other instanceof Uint8Array)) {
            throw invalidArgType("otherBuffer", ["Buffer", "Uint8Array"], other);
        }
        return this === other || compareBytes(this, other) === 0;
    },
    compare(target, targetStart = 0, targetEnd = target?.length, start = 0, end = this.length) {
        if (!(target instanceof Uint8Array)) {
            throw invalidArgType("target", ["Buffer", "Uint8Array"], target);
        }
        return compareBytes(this.subarray(start, end), target.subarray(targetStart, targetEnd));
    },
    indexOf(value, offset = undefined, encoding = undefined) {
        return value === "" ? Math.min(Math.max(Math.trunc(offset) || 0, 0), this.length)
            : Reflect.apply(packageIndexOf, this, [value, offset, encoding]);
    },
    toLocaleString(...args) {
        return this.toString(...args);
    },
    latin1Slice(start, end) {
        return this.toString("latin1", start, end);
    },
    utf8Slice(start, end) {
        return this.toString("utf8", start, end);
    },
    hexSlice(start, end) {
        return this.toString("hex", start, end);
    },
    base64Slice(start, end) {
        return this.toString("base64", start, end);
    },
});

Object.defineProperty(Buffer.prototype, inspectSymbol, {
    value: function inspectBuffer(depth, options, inspect) {
        const shown = this.subarray(0, 50);
        let text = (shown.toString("hex").match(/../g) ?? []).join(" ");
        if (this.length > 50) {
            const more = this.length - 50;
            text += ` ... ${more} more byte${more > 1 ? "s" : ""}`;
        }
        const extra = Object.keys(this).filter((key) => !/^\d+$/.test(key));
        for (const key of this.length > 10000 ? [] : extra) {
            text += `${text === "" ? "" : ", "}${key}: ${inspect(this[key], options)}`;
        }
        return `<${this.constructor.name} ${text}>`;
    },
    writable: true,
    configurable: true,
});
delete Buffer.prototype.inspect;

for (const bits of [16, 32, 64]) {
    const swap = Buffer.prototype[`swap${bits}`];
    define(Buffer.prototype, { [`swap${bits}`]() {
        if (this.length % (bits / 8) !== 0) {
            throw makeError(RangeError, "ERR_INVALID_BUFFER_SIZE",
                `Buffer size must be a multiple of ${bits}-bits`);
        }
        return Reflect.apply(swap, this, []);
    } });
}

/* Reading and writing numbers: the package says less than Node about what is wrong. */
function checkPlace(buffer, offset, size) {
    if (typeof offset !== "number") {
        throw invalidArgType("offset", "number", offset);
    }
    const last = buffer.length - size;
    if (Number.isInteger(offset) && offset >= 0 && offset <= last) {
        return;
    }
    if (!Number.isInteger(offset)) {
        throw outOfRange("offset", "an integer", offset);
    }
    if (last < 0) {
        throw makeError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS",
            "Attempt to access memory outside buffer bounds");
    }
    throw outOfRange("offset", `>= 0 and <= ${last}`, offset);
}

const views = new WeakMap();

function viewOf(buffer) {
    let view = views.get(buffer);
    if (view === undefined || view.byteLength !== buffer.length) {
        view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
        views.set(buffer, view);
    }
    return view;
}

const NUMBERS = [["UInt8", "Uint8", 1], ["Int8", "Int8", 1], ["UInt16", "Uint16", 2],
    ["Int16", "Int16", 2], ["UInt32", "Uint32", 4], ["Int32", "Int32", 4], ["Float", "Float32", 4],
    ["Double", "Float64", 8], ["BigUInt64", "BigUint64", 8], ["BigInt64", "BigInt64", 8]];

function rangeOf(name, size) {
    if (name.startsWith("Float") || name.startsWith("Double")) {
        return undefined;
    }
    const isSigned = !name.includes("UInt");
    const bits = BigInt(size * 8);
    return isSigned ? [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] : [0n, 2n ** bits - 1n];
}

function rangeText(name, size) {
    const isSigned = !name.includes("UInt");
    const suffix = name.startsWith("Big") ? "n" : "";
    const bits = size * 8;
    if (size <= 2 || size === 4 && suffix === "") {
        const [low, high] = rangeOf(name, size);
        return size < 4 ? `>= ${low} and <= ${high}`
            : isSigned ? ">= -2147483648 and <= 2147483647" : ">= 0 and <= 4294967295";
    }
    return isSigned ? `>= -(2${suffix} ** ${bits - 1}${suffix}) and < 2${suffix} ** ${bits - 1}${suffix}`
        : `>= 0${suffix} and < 2${suffix} ** ${bits}${suffix}`;
}

function addNumber(name, method, size, isLittle, suffix) {
    const range = rangeOf(name, size);
    const low = range === undefined ? undefined : name.startsWith("Big") ? range[0] : Number(range[0]);
    const high = range === undefined ? undefined : name.startsWith("Big") ? range[1] : Number(range[1]);
    const getter = DataView.prototype[`get${method}`];
    const setter = DataView.prototype[`set${method}`];
    const members = {
        [`read${name}${suffix}`](offset = 0) {
            checkPlace(this, offset, size);
            return Reflect.apply(getter, viewOf(this), [offset, isLittle]);
        },
        [`write${name}${suffix}`](value, offset = 0) {
            const number = name.startsWith("Big") ? value : +value;
            if (name.startsWith("Big") && typeof value !== "bigint") {
                throw invalidArgType("value", "bigint", value);
            }
            if (low !== undefined && (number < low || number > high)) {
                throw outOfRange("value", rangeText(name, size), value);
            }
            checkPlace(this, offset, size);
            Reflect.apply(setter, viewOf(this), [offset, number, isLittle]);
            return offset + size;
        },
    };
    define(Buffer.prototype, members);
    if (name.includes("UInt")) {
        const alias = name.replace("UInt", "Uint");
        define(Buffer.prototype, {
            [`read${alias}${suffix}`]: members[`read${name}${suffix}`],
            [`write${alias}${suffix}`]: members[`write${name}${suffix}`],
        });
    }
}

for (const [name, method, size] of NUMBERS) {
    if (size === 1) {
        addNumber(name, method, size, true, "");
    } else {
        addNumber(name, method, size, true, "LE");
        addNumber(name, method, size, false, "BE");
    }
}

function isUtf8(input) {
    const bytes = bytesOf(input);
    if (bytes === undefined) {
        throw invalidArgType("input", ["ArrayBuffer", "Buffer", "TypedArray"], input);
    }
    return vial.native.decode(UTF8, bytes, 0, bytes.length, true) !== undefined;
}

function isAscii(input) {
    const bytes = bytesOf(input);
    if (bytes === undefined) {
        throw invalidArgType("input", ["ArrayBuffer", "Buffer", "TypedArray"], input);
    }
    return bytes.every((byte) => byte < 128);
}

function transcode(source, from, to) {
    const text = Buffer.from(source).toString(from);
    return Buffer.from(encodingOf(to) === ASCII || encodingOf(to) === LATIN1
        ? text.replace(/[^\x00-\xff]/g, "?") : text, to);
}

module.exports = {
    Buffer, SlowBuffer, transcode, isUtf8, isAscii, kMaxLength, kStringMaxLength, INSPECT_MAX_BYTES,
    constants: { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength },
};

/* Texts of their own, which few programs need. */
for (const name of ["Blob", "File", "atob", "btoa"]) {
    Object.defineProperty(module.exports, name,
        { get: () => vial.g[name], enumerable: true, configurable: true });
}
