/* cbor.js - values as CBOR (RFC 8949), for what JSON cannot say; see docs/values.md for the table.
 *
 *   undefined, -0, NaN, infinities   as CBOR has them         BigInt   tag 2 or 3, always
 *   Uint8Array  byte string          other typed arrays   tags of RFC 8746, little-endian
 *   Date        tag 1, or 0 where that is not exact       URL      tag 32
 *   Map         tag 259              Set   tag 258            RegExp   tag 21066
 *   Error, ArrayBuffer, sparse array, Function   tag 27 [type name, ...]
 *
 * What only Python has is read, as what comes nearest, and never written.
 *
 * The encoder runs after the guest and walks what the guest has made: it reads through descriptors,
 * recognises objects by their nature, and runs nothing of the guest's but accessors and toJSON. The
 * decoder reads what the host has checked. */

const CBOR_UINT = 0;
const CBOR_NEGATIVE = 1;
const CBOR_BYTES = 2;
const CBOR_TEXT = 3;
const CBOR_ARRAY = 4;
const CBOR_MAP = 5;
const CBOR_TAG = 6;

const CBOR_FALSE = 0xf4;
const CBOR_TRUE = 0xf5;
const CBOR_NULL = 0xf6;
const CBOR_UNDEFINED = 0xf7;
const CBOR_FLOAT64 = 0xfb;

const TAG_DATE_TEXT = 0;
const TAG_DATE = 1;
const TAG_BIGINT = 2;
const TAG_BIGINT_NEGATIVE = 3;
const TAG_DECIMAL = 4;
const TAG_OBJECT = 27;
const TAG_FRACTION = 30;
const TAG_URL = 32;
const TAG_UUID = 37;
const TAG_NDARRAY = 40;
const TAG_SET = 258;
const TAG_MAP = 259;
const TAG_DAY = 1004;
const TAG_REGEXP = 21066;

/* Shorter text is encoded here; for longer text a call of C is cheaper. */
const SHORT_TEXT_UNITS = 24;

const ENCODING_UTF8 = 0; /* as in surface.c */
const TWO_32 = 4294967296;

const typedArrayTags = {
    __proto__: null, Uint8ClampedArray: 68, Uint16Array: 69, Uint32Array: 70, BigUint64Array: 71,
    Int8Array: 72, Int16Array: 77, Int32Array: 78, BigInt64Array: 79, Float16Array: 84,
    Float32Array: 85, Float64Array: 86,
};

const float64 = new Float64Array(1);
const float64Bytes = new Uint8Array(float64.buffer);

let cborBytes = new Uint8ArrayClass(256);
let cborRoom = 256;
let cborAt = 0;

function cborReserve(count) {
    const need = cborAt + count;
    if (need > valueBytesMax) {
        refuseSize(`more than ${valueBytesMax}`);
    }
    if (need > cborRoom) {
        const more = new Uint8ArrayClass(max(need, min(2 * cborRoom, valueBytesMax)));
        typedArraySet(more, cborBytes);
        cborBytes = more;
        cborRoom = typedArrayLength(more);
    }
}

function cborHead(major, count) {
    const first = major * 32;
    cborReserve(9);
    if (count < 24) {
        cborBytes[cborAt++] = first + count;
    } else if (count < 256) {
        cborBytes[cborAt++] = first + 24;
        cborBytes[cborAt++] = count;
    } else if (count < 65536) {
        cborBytes[cborAt++] = first + 25;
        cborBytes[cborAt++] = count >> 8;
        cborBytes[cborAt++] = count;
    } else if (count < TWO_32) {
        cborBytes[cborAt++] = first + 26;
        cborWord(count);
    } else {
        cborBytes[cborAt++] = first + 27;
        cborWord(floor(count / TWO_32));
        cborWord(count % TWO_32);
    }
}

function cborWord(word) {
    cborBytes[cborAt++] = word >>> 24;
    cborBytes[cborAt++] = word >>> 16;
    cborBytes[cborAt++] = word >>> 8;
    cborBytes[cborAt++] = word;
}

function cborSimple(byte) {
    cborReserve(1);
    cborBytes[cborAt++] = byte;
}

function cborText(text) {
    const units = text.length;
    if (units <= SHORT_TEXT_UNITS) {
        const start = cborAt;
        cborHead(CBOR_TEXT, units);
        cborReserve(units);
        let i = 0;
        for (; i < units; i++) {
            const code = charCodeAt(text, i);
            if (code >= 0x80) {
                break;
            }
            cborBytes[cborAt++] = code;
        }
        if (i === units) {
            return;
        }
        cborAt = start;
    }
    const bytes = nativeEncode(ENCODING_UTF8, text);
    cborOctets(CBOR_TEXT, bytes, typedArrayLength(bytes));
}

function cborOctets(major, bytes, length) {
    cborHead(major, length);
    cborReserve(length);
    typedArraySet(cborBytes, bytes, cborAt);
    cborAt += length;
}

function cborNumber(value) {
    if (value - value === 0 && floor(value) === value && abs(value) <= 9007199254740991 &&
        (value !== 0 || 1 / value > 0)) {
        if (value < 0) {
            cborHead(CBOR_NEGATIVE, -1 - value);
        } else {
            cborHead(CBOR_UINT, value);
        }
        return;
    }
    cborReserve(9);
    cborBytes[cborAt++] = CBOR_FLOAT64;
    float64[0] = value;
    for (let i = 7; i >= 0; i--) {
        cborBytes[cborAt++] = float64Bytes[i];
    }
}

function cborBigint(value) {
    const isNegative = value < 0n;
    let digits = bigintToString(isNegative ? -1n - value : value, 16);
    if (digits.length % 2 === 1) {
        digits = `0${digits}`;
    }
    const length = digits === "00" ? 0 : digits.length / 2;
    cborHead(CBOR_TAG, isNegative ? TAG_BIGINT_NEGATIVE : TAG_BIGINT);
    cborHead(CBOR_BYTES, length);
    cborReserve(length);
    for (let i = 0; i < length; i++) {
        cborBytes[cborAt++] = hexValue(charCodeAt(digits, 2 * i)) * 16 +
            hexValue(charCodeAt(digits, 2 * i + 1));
    }
}

function hexValue(code) {
    return code < 58 ? code - 48 : code - 87;
}

function cborValue(value, depth) {
    switch (typeof value) {
    case "string":
        return cborText(value);
    case "boolean":
        return cborSimple(value ? CBOR_TRUE : CBOR_FALSE);
    case "number":
        return cborNumber(value);
    case "undefined":
        return cborSimple(CBOR_UNDEFINED);
    case "bigint":
        return cborBigint(value);
    case "symbol":
        return refuse(depth, "a symbol", "use its description");
    case "function":
        return cborFunction(value, depth);
    default:
        return value === null ? cborSimple(CBOR_NULL) : cborObject(value, depth, true);
    }
}

/* In a session a function stays where it is, and the host gets a number to call it by. A run, also
 * one in an environment, is gone before anybody could call. */
function cborFunction(value, depth) {
    if (evaluationCount === 0 || isEnvironmentRun) {
        return refuse(depth, "a function", "call it and return the result");
    }
    cborHead(CBOR_TAG, TAG_OBJECT);
    cborHead(CBOR_ARRAY, 2);
    cborText("Function");
    return cborNumber(keepFunction(value, depth > 0 ? pathParents[depth - 1] : undefined));
}

function cborObject(value, depth, askToJson) {
    const target = unwrapProxy(value);
    if (target === undefined) {
        return refuse(depth, "a revoked Proxy", "return the object behind it");
    }
    for (let d = 0; d < depth; d++) {
        if (pathParents[d] === target) {
            throw new TypeErrorClass(`${pathText(depth)} is a cycle back to ${pathText(d)}, ` +
                "which cannot cross to the host; return a tree");
        }
    }
    if (depth >= VALUE_DEPTH_MAX) {
        throw new TypeErrorClass(`${pathText(depth)} is nested deeper than ${VALUE_DEPTH_MAX} ` +
            "levels, which cannot cross to the host; return a flatter value");
    }
    if (typeof target === "function") { /* behind a proxy */
        return cborFunction(value, depth);
    }
    if (askToJson && typedArrayName(target) === undefined) { /* bytes are bytes, a Buffer's too */
        const toJson = ownToJson(target);
        if (toJson !== undefined) {
            const key = depth === 0 ? "" : `${pathKeys[depth - 1]}`;
            const answer = apply(toJson, value, [key]);
            return isObject(answer) && typeof answer !== "function"
                ? cborObject(answer, depth, false) : cborValue(answer, depth);
        }
    }
    pathParents[depth] = target;
    return cborKind(target, depth);
}

const adviceByKind = {
    __proto__: null,
    Promise: "await it first",
    DataView: "use its buffer",
    Generator: "use Array.from(...)",
    Iterator: "use Array.from(...)",
};

function cborKind(target, depth) {
    const kind = kindOf(target);
    switch (kind) {
    case "Array":
        return cborArray(target, depth);
    case "Object":
        return cborMembers(target, depth);
    case "Date":
        return cborDate(dateGetTime(target));
    case "Error":
        return cborError(target, depth);
    case "Map":
        return cborMap(target, depth);
    case "Set":
        return cborSet(target, depth);
    case "RegExp":
        cborHead(CBOR_TAG, TAG_REGEXP);
        cborHead(CBOR_ARRAY, 2);
        cborText(regexpSource(target));
        return cborText(flagsOf(target));
    case "TypedArray":
        return cborTypedArray(target, depth);
    case "ArrayBuffer":
        cborHead(CBOR_TAG, TAG_OBJECT);
        cborHead(CBOR_ARRAY, 2);
        cborText("ArrayBuffer");
        return cborBuffer(target, 0, bufferByteLength(target), depth);
    case "URL":
        cborHead(CBOR_TAG, TAG_URL);
        return cborText(kindProbes.URL(target));
    case "BigInt":
    case "Boolean":
    case "Number":
    case "String":
        return cborValue(kindProbes[kind](target), depth);
    default: {
        const article = stringIncludes("AEIO", kind[0]) ? "an" : "a";
        const advice = adviceByKind[kind];
        return refuse(depth, `${article} ${kind}`,
            advice === undefined ? "return plain data made from it" : advice);
    }
    }
}

/* Seconds as a number, when they give the same milliseconds back, and for an invalid date. */
function cborDate(ms) {
    if (ms === round(ms / 1000 * 1000) || ms !== ms) {
        cborHead(CBOR_TAG, TAG_DATE);
        return cborNumber(ms / 1000);
    }
    cborHead(CBOR_TAG, TAG_DATE_TEXT);
    return cborText(dateToISOString(new DateClass(ms)));
}

function cborError(target, depth) {
    const cause = ownData(target, "cause");
    cborHead(CBOR_TAG, TAG_OBJECT);
    cborHead(CBOR_ARRAY, cause === undefined ? 4 : 5);
    cborText("Error");
    cborText(shownName(target));
    cborText(errorMessage(target));
    cborText(ownStackText(target, 0));
    if (cause !== undefined) {
        pathKeys[depth] = "cause";
        cborValue(cause, depth + 1);
    }
}

/* Getters deep in a collection may change the collection itself: what was announced must follow. */
function refuseChange(depth) {
    throw new TypeErrorClass(`${pathText(depth)} was changed by an accessor while it was read`);
}

function cborMap(target, depth) {
    const size = mapSize(target);
    let index = 0;
    cborHead(CBOR_TAG, TAG_MAP);
    cborHead(CBOR_MAP, size);
    mapForEach(target, (member, key) => {
        if (index === size) {
            refuseChange(depth);
        }
        pathKeys[depth] = typeof key === "string" ? key : index;
        index++;
        cborValue(key, depth + 1);
        cborValue(member, depth + 1);
    });
    if (index !== size) {
        refuseChange(depth);
    }
}

function cborSet(target, depth) {
    const size = setSize(target);
    let index = 0;
    cborHead(CBOR_TAG, TAG_SET);
    cborHead(CBOR_ARRAY, size);
    setForEach(target, (member) => {
        if (index === size) {
            refuseChange(depth);
        }
        pathKeys[depth] = index++;
        cborValue(member, depth + 1);
    });
    if (index !== size) {
        refuseChange(depth);
    }
}

function cborTypedArray(target, depth) {
    const name = typedArrayName(target);
    if (name !== "Uint8Array") {
        cborHead(CBOR_TAG, typedArrayTags[name]);
    }
    cborBuffer(typedArrayBuffer(target), typedArrayByteOffset(target),
        typedArrayByteLength(target), depth);
}

function cborBuffer(buffer, offset, length, depth) {
    if (bufferDetached(buffer)) {
        refuse(depth, "a detached ArrayBuffer", "return a copy made before it was transferred");
    }
    cborOctets(CBOR_BYTES, new Uint8ArrayClass(buffer, offset, length), length);
}

function cborArray(target, depth) {
    const { length } = target;
    let holes = 0;
    for (let i = 0; i < length && holes === 0; i++) {
        if (i > valueBytesMax) { /* so many members, of a byte at least */
            refuseSize(`more than ${valueBytesMax}`);
        }
        holes += hasOwn(target, i) ? 0 : 1;
    }
    if (holes > 0) {
        return cborSparse(target, length, depth);
    }
    cborHead(CBOR_ARRAY, length);
    for (let i = 0; i < length; i++) {
        pathKeys[depth] = i;
        const descriptor = getOwnPropertyDescriptor(target, i);
        cborValue(descriptor === undefined ? undefined
            : readProperty(target, i, descriptor), depth + 1);
    }
    return undefined;
}

/* Names of array elements are numbers below 2^32 - 1, and objectKeys gives them first. */
function cborSparse(target, length, depth) {
    const keys = objectKeys(target);
    let count = 0;
    while (count < keys.length && isElementOf(keys[count], length)) {
        count++;
    }
    cborHead(CBOR_TAG, TAG_OBJECT);
    cborHead(CBOR_ARRAY, 3);
    cborText("Array");
    cborNumber(length);
    cborHead(CBOR_MAP, count);
    for (let i = 0; i < count; i++) {
        const index = +keys[i];
        pathKeys[depth] = index;
        const descriptor = getOwnPropertyDescriptor(target, index);
        cborNumber(index);
        cborValue(descriptor === undefined ? undefined
            : readProperty(target, index, descriptor), depth + 1);
    }
}

function isElementOf(key, length) {
    const index = +key;
    return index < length && floor(index) === index && `${index}` === key;
}

function cborMembers(target, depth) {
    const keys = objectKeys(target);
    cborHead(CBOR_MAP, keys.length);
    for (let i = 0; i < keys.length; i++) {
        pathKeys[depth] = keys[i];
        const descriptor = getOwnPropertyDescriptor(target, keys[i]);
        cborText(keys[i]);
        cborValue(descriptor === undefined ? undefined
            : readProperty(target, keys[i], descriptor), depth + 1);
    }
}

/* The bytes belong to the caller. */
function encodeCbor(value) {
    cborAt = 0;
    try {
        cborValue(value, 0);
        return new Uint8ArrayClass(typedArrayBuffer(cborBytes), 0, cborAt);
    } finally {
        cborBytes = new Uint8ArrayClass(256);
        cborRoom = 256;
    }
}

/* ---- the other way ---- */

let decodeBytes;
let decodeAt = 0;

function decodeCount(info) {
    let count = info;
    if (info >= 24) {
        count = 0;
        for (let n = 1 << (info - 24); n > 0; n--) {
            count = count * 256 + decodeBytes[decodeAt++];
        }
    }
    return count;
}

function decodeFloat(bytes) {
    if (bytes === 8) {
        for (let i = 7; i >= 0; i--) {
            float64Bytes[i] = decodeBytes[decodeAt++];
        }
        return float64[0];
    }
    let bits = 0;
    for (let n = bytes; n > 0; n--) {
        bits = bits * 256 + decodeBytes[decodeAt++];
    }
    const mantissaBits = bytes === 2 ? 10 : 23;
    const exponentMax = bytes === 2 ? 31 : 255;
    const sign = bits >= 2 ** (8 * bytes - 1) ? -1 : 1;
    const exponent = floor(bits / 2 ** mantissaBits) % (exponentMax + 1);
    const mantissa = bits % 2 ** mantissaBits;
    const bias = (exponentMax - 1) / 2;
    if (exponent === exponentMax) {
        return mantissa === 0 ? sign * Infinity : NaN;
    }
    return exponent === 0 ? sign * mantissa * 2 ** (1 - bias - mantissaBits)
        : sign * (2 ** mantissaBits + mantissa) * 2 ** (exponent - bias - mantissaBits);
}

function decodeSimple(info) {
    switch (info) {
    case 20:
        return false;
    case 21:
        return true;
    case 22:
        return null;
    case 25:
        return decodeFloat(2);
    case 26:
        return decodeFloat(4);
    case 27:
        return decodeFloat(8);
    default:
        return undefined;
    }
}

function decodeOctets(length) {
    const view = new Uint8ArrayClass(typedArrayBuffer(decodeBytes),
        typedArrayByteOffset(decodeBytes) + decodeAt, length);
    decodeAt += length;
    return view;
}

function decodeCopy(length) {
    const copy = new Uint8ArrayClass(length);
    typedArraySet(copy, decodeOctets(length));
    return copy;
}

function decodeArray(length) {
    const array = [];
    for (let i = 0; i < length; i++) {
        defineData(array, i, decodeValue());
    }
    return array;
}

function decodeMembers(count) {
    const object = {};
    for (let i = 0; i < count; i++) {
        const key = decodeValue();
        defineData(object, typeof key === "string" ? key : `${key}`, decodeValue());
    }
    return object;
}

/* Never a setter of the guest's, nor that of __proto__. */
function defineData(object, key, value) {
    defineProperty(object, key, {
        __proto__: null, value, writable: true, enumerable: true, configurable: true,
    });
}

function decodeBigint(isNegative) {
    const bytes = decodeValue();
    const length = typedArrayLength(bytes);
    let text = "0x0";
    for (let i = 0; i < length; i++) {
        text += stringSlice(numberToString(256 + bytes[i], 16), 1, 3);
    }
    const value = BigIntFunction(text);
    return isNegative ? -1n - value : value;
}

function decodeTagged(tag) {
    switch (tag) {
    case TAG_DATE_TEXT:
        return new DateClass(decodeValue());
    case TAG_DATE:
        return new DateClass(round(decodeValue() * 1000));
    case TAG_BIGINT:
        return decodeBigint(false);
    case TAG_BIGINT_NEGATIVE:
        return decodeBigint(true);
    case TAG_OBJECT:
        return decodeObject();
    case TAG_SET:
        return decodeSet();
    case TAG_MAP:
        return decodeMap();
    case TAG_REGEXP:
        return decodeRegexp(decodeValue());
    case TAG_URL:
        return makeUrl(decodeValue());
    case TAG_DECIMAL:
        return decimalText(decodeValue());
    case TAG_FRACTION: {
        const parts = decodeValue();
        return `${parts[0]}/${parts[1]}`;
    }
    case TAG_UUID:
        return uuidText(decodeValue());
    case TAG_DAY:
        return decodeValue();
    case TAG_NDARRAY: {
        const parts = decodeValue();
        return { shape: parts[0], data: parts[1] };
    }
    default:
        return decodeTypedArray(tag);
    }
}

/* What Python compiled and this engine cannot stays text: the two differ in the rarer parts. */
function decodeRegexp(parts) {
    try {
        return new RegExpClass(parts[0], parts[1]);
    } catch {
        return parts[0];
    }
}

/* [exponent, mantissa] as Python writes a Decimal. */
function decimalText(parts) {
    const text = `${parts[1]}`;
    const sign = text[0] === "-" ? "-" : "";
    const digits = stringSlice(text, sign.length, text.length);
    const left = parts[0] + digits.length;
    const point = parts[0] <= 0 && left > -6 ? left : 1;
    let shown = digits;
    if (point <= 0) {
        shown = `0.${stringSlice("000000", 0, -point)}${digits}`;
    } else if (point < digits.length) {
        shown = `${stringSlice(digits, 0, point)}.${stringSlice(digits, point, digits.length)}`;
    }
    const exponent = left - point;
    return `${sign}${shown}${exponent === 0 ? "" : `E${exponent > 0 ? "+" : ""}${exponent}`}`;
}

function uuidText(bytes) {
    let text = "";
    for (let i = 0; i < 16; i++) {
        text += (i === 4 || i === 6 || i === 8 || i === 10 ? "-" : "") +
            stringSlice(numberToString(256 + bytes[i], 16), 1, 3);
    }
    return text;
}

function decodeSet() {
    const members = decodeValue();
    const set = new SetClass();
    for (let i = 0; i < members.length; i++) {
        setAdd(set, members[i]);
    }
    return set;
}

function decodeMap() {
    const map = new MapClass();
    const count = decodeCount(decodeBytes[decodeAt++] & 31);
    for (let i = 0; i < count; i++) {
        const key = decodeValue();
        mapSet(map, key, decodeValue());
    }
    return map;
}

function decodeObject() {
    const count = decodeCount(decodeBytes[decodeAt++] & 31);
    const type = decodeValue();
    if (type === "ArrayBuffer") {
        return typedArrayBuffer(decodeValue());
    }
    if (type === "Array") {
        return decodeSparse();
    }
    if (type === "Function") {
        return keptFunction(decodeValue());
    }
    return type === "Error" ? decodeError(count) : decodeForeign(type);
}

/* What Python has: times as text, durations in milliseconds, tables as their parts. */
function decodeForeign(type) {
    const first = decodeValue();
    switch (type) {
    case "complex":
        return { re: first, im: decodeValue() };
    case "timedelta": {
        const seconds = first * 86400 + decodeValue();
        return seconds * 1000 + decodeValue() / 1000;
    }
    default: /* datetime, time, Decimal, Table */
        return first;
    }
}

function decodeError(count) {
    const name = decodeValue();
    const message = decodeValue();
    const stack = decodeValue();
    const Class = mapGet(errorClasses, name);
    const error = new (Class === undefined ? ErrorClass : Class)(message);
    if (Class === undefined) {
        defineHidden(error, "name", name);
    }
    defineHidden(error, "stack", stack);
    if (count > 4) {
        defineHidden(error, "cause", decodeValue());
    }
    return error;
}

function decodeSparse() {
    const array = [];
    array.length = decodeValue();
    const count = decodeCount(decodeBytes[decodeAt++] & 31);
    for (let i = 0; i < count; i++) {
        const index = decodeValue();
        defineData(array, index, decodeValue());
    }
    return array;
}

/* The content is a byte string, copied so that its elements are aligned. */
function decodeTypedArray(tag) {
    const bytes = decodeValue();
    const Class = mapGet(typedArrayClasses, tag);
    return Class === undefined ? bytes : new Class(typedArrayBuffer(bytes));
}

function decodeValue() {
    const first = decodeBytes[decodeAt++];
    const info = first & 31;
    if (first >> 5 === 7) {
        return decodeSimple(info);
    }
    const count = decodeCount(info);
    switch (first >> 5) {
    case CBOR_UINT:
        return count;
    case CBOR_NEGATIVE:
        return -1 - count;
    case CBOR_BYTES:
        return decodeCopy(count);
    case CBOR_TEXT:
        decodeAt += count;
        return nativeDecode(ENCODING_UTF8, decodeBytes, decodeAt - count, decodeAt, false);
    case CBOR_ARRAY:
        return decodeArray(count);
    case CBOR_MAP:
        return decodeMembers(count);
    default:
        return decodeTagged(count);
    }
}

/* The host has checked that bytes is one value, well formed, of the types above, and not deeper
 * than VALUE_DEPTH_MAX. */
function decodeCbor(bytes) {
    decodeBytes = bytes;
    decodeAt = 0;
    try {
        return decodeValue();
    } finally {
        decodeBytes = undefined;
    }
}

const typedArrayClasses = new MapClass();
const errorClasses = new MapClass();

function registerDecoders() {
    const names = objectKeys(typedArrayTags);
    const errors = ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError",
        "URIError"];
    for (let i = 0; i < names.length; i++) {
        if (globalThis[names[i]] !== undefined) {
            mapSet(typedArrayClasses, typedArrayTags[names[i]], globalThis[names[i]]);
        }
    }
    for (let i = 0; i < errors.length; i++) {
        mapSet(errorClasses, errors[i], globalThis[errors[i]]);
    }
}
registerDecoders();
