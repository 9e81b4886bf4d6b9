/* encodings.js - the numbers by which cell/js/surface.c knows encodings, and bytes of anything. */
export const UTF8 = 0;
export const LATIN1 = 1;
export const UTF16LE = 2;
export const ASCII = 3;

/* A Uint8Array over the same memory; undefined when the value holds no bytes. */
export function bytesOf(value) {
    if (value instanceof Uint8Array) {
        return value;
    }
    if (ArrayBuffer.isView(value)) {
        return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    }
    if (value instanceof ArrayBuffer) {
        return new Uint8Array(value);
    }
    return undefined;
}

/* Without memory the natives answer undefined. */
export function encode(encoding, text) {
    const bytes = vial.native.encode(encoding, text);
    if (bytes === undefined) {
        throw new RangeError("Array buffer allocation failed");
    }
    return bytes;
}

export function decode(encoding, bytes, start = 0, end = bytes.length) {
    const text = vial.native.decode(encoding, bytes, start, end, false);
    if (text === undefined) {
        throw new RangeError("Cannot create a string longer than the memory allows");
    }
    return text;
}
