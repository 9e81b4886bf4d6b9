/* crypto.js - the global crypto: random numbers from the kernel; the rest is loaded when used. */

const KEY = Symbol("crypto");

/* What the standard allows at once. */
const RANDOM_BYTES_MAX = 65536;
const INTEGERS = ["Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array",
    "Int32Array", "Uint32Array", "BigInt64Array", "BigUint64Array"];

export function fillRandom(view) {
    if (!vial.native.random(view)) {
        const rule = vial.native.files.deniedBy();
        throw new DOMException(rule === undefined ? "The kernel has no random numbers"
            : `Permission denied by ${rule}`, "OperationError");
    }
    return view;
}

export class Crypto {
    constructor(key) {
        if (key !== KEY) {
            throw new TypeError("Illegal constructor");
        }
    }

    get subtle() {
        return vial.load("web/subtle").subtle;
    }

    getRandomValues(array) {
        if (!ArrayBuffer.isView(array) || !INTEGERS.includes(array[Symbol.toStringTag])) {
            throw new DOMException("The data argument must be an integer-type TypedArray",
                "TypeMismatchError");
        }
        if (array.byteLength > RANDOM_BYTES_MAX) {
            throw new DOMException(`The requested length exceeds ${RANDOM_BYTES_MAX} bytes`,
                "QuotaExceededError");
        }
        return fillRandom(array);
    }

    randomUUID() {
        const bytes = fillRandom(new Uint8Array(16));
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        const hex = bytes.toHex();
        return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-` +
            hex.slice(20);
    }

    get [Symbol.toStringTag]() {
        return "Crypto";
    }
}

export const crypto = new Crypto(KEY);
