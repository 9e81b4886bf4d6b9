/* encoding.js - TextEncoder, TextDecoder, atob and btoa over the cell's native conversions.
 *
 * Encodings: UTF-8, UTF-16LE, UTF-16BE and windows-1252, which the standard also means by latin1. */
import { LATIN1, UTF16LE, UTF8, bytesOf, decode, encode } from "../lib/encodings.js";
import { invalidArgType, makeError } from "../lib/errors.js";

const LABELS = {
    __proto__: null,
    "utf-8": "utf-8", utf8: "utf-8", unicode11utf8: "utf-8", unicode20utf8: "utf-8",
    "unicode-1-1-utf-8": "utf-8", "x-unicode20utf8": "utf-8",
    "utf-16le": "utf-16le", "utf-16": "utf-16le", ucs2: "utf-16le", "ucs-2": "utf-16le",
    unicode: "utf-16le", csunicode: "utf-16le", "iso-10646-ucs-2": "utf-16le",
    unicodefeff: "utf-16le", "utf-16be": "utf-16be", unicodefffe: "utf-16be",
};
for (const label of ["windows-1252", "cp1252", "x-cp1252", "latin1", "l1", "iso-8859-1", "iso8859-1",
    "iso88591", "iso_8859-1", "iso_8859-1:1987", "iso-ir-100", "csisolatin1", "ibm819", "cp819",
    "ascii", "us-ascii", "ansi_x3.4-1968"]) {
    LABELS[label] = "windows-1252";
}

/* What windows-1252 has at 0x80 to 0x9f. */
const WINDOWS_1252 = "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152" +
    "\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153" +
    "\x9d\u017e\u0178";

const NOTHING = new Uint8Array(0);
const counts = new Uint32Array(1);

export class TextEncoder {
    get encoding() {
        return "utf-8";
    }

    encode(input = "") {
        return encode(UTF8, `${input}`);
    }

    encodeInto(source, destination) {
        if (!(destination instanceof Uint8Array)) {
            throw invalidArgType("dest", "Uint8Array", destination);
        }
        const written = vial.native.write(UTF8, `${source}`, destination, 0, destination.length,
            counts);
        return { read: counts[0], written };
    }

    get [Symbol.toStringTag]() {
        return "TextEncoder";
    }
}

/* The smallest and largest second byte that may follow a first one. */
function secondByteRange(first) {
    switch (first) {
    case 0xe0:
        return [0xa0, 0xbf];
    case 0xed:
        return [0x80, 0x9f];
    case 0xf0:
        return [0x90, 0xbf];
    case 0xf4:
        return [0x80, 0x8f];
    default:
        return [0x80, 0xbf];
    }
}

/* How many bytes at the end are the beginning of a character that is not complete. */
function incompleteUtf8(bytes) {
    for (let back = 1; back <= 3 && back <= bytes.length; back++) {
        const byte = bytes[bytes.length - back];
        if (byte >= 0x80 && byte < 0xc0) {
            continue;
        }
        let need = 1;
        if (byte >= 0xc2 && byte <= 0xf4) {
            need = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        }
        if (need <= back) {
            return 0;
        }
        const [low, high] = secondByteRange(byte);
        const second = bytes[bytes.length - back + 1];
        return back > 1 && (second < low || second > high) ? 0 : back;
    }
    return 0;
}

function incompleteUtf16(bytes, isBigEndian) {
    const odd = bytes.length % 2;
    const last = bytes.length - odd - 2;
    if (last < 0) {
        return odd;
    }
    const high = bytes[isBigEndian ? last : last + 1];
    return high >= 0xd8 && high < 0xdc ? odd + 2 : odd;
}

function concatenate(a, b) {
    const joined = new Uint8Array(a.length + b.length);
    joined.set(a);
    joined.set(b, a.length);
    return joined;
}

export class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #pending = NOTHING;
    #atStart = true;

    constructor(label = "utf-8", options = undefined) {
        const encoding = LABELS[`${label}`.trim().toLowerCase()];
        if (encoding === undefined) {
            throw makeError(RangeError, "ERR_ENCODING_NOT_SUPPORTED",
                `The "${label}" encoding is not supported`);
        }
        this.#encoding = encoding;
        this.#fatal = Boolean(options?.fatal);
        this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }

    get encoding() {
        return this.#encoding;
    }

    get fatal() {
        return this.#fatal;
    }

    get ignoreBOM() {
        return this.#ignoreBOM;
    }

    decode(input = NOTHING, options = undefined) {
        let bytes = bytesOf(input);
        if (bytes === undefined) {
            throw invalidArgType("list", ["ArrayBuffer", "ArrayBufferView"], input);
        }
        const isStream = Boolean(options?.stream);
        if (this.#pending.length > 0) {
            bytes = concatenate(this.#pending, bytes);
            this.#pending = NOTHING;
        }
        if (isStream) {
            const rest = this.#incomplete(bytes);
            this.#pending = rest > 0 ? bytes.slice(bytes.length - rest) : NOTHING;
            bytes = bytes.subarray(0, bytes.length - rest);
        }
        let text;
        try {
            text = this.#convert(bytes);
        } catch (error) {
            this.#atStart = true;
            throw error;
        }
        if (this.#atStart && text.length > 0) {
            this.#atStart = false;
            text = !this.#ignoreBOM && text[0] === "\ufeff" && this.#encoding !== "windows-1252"
                ? text.slice(1) : text;
        }
        this.#atStart = this.#atStart || !isStream;
        return text;
    }

    #incomplete(bytes) {
        if (this.#encoding === "utf-8") {
            return incompleteUtf8(bytes);
        }
        return this.#encoding === "windows-1252" ? 0
            : incompleteUtf16(bytes, this.#encoding === "utf-16be");
    }

    #refuse() {
        throw makeError(TypeError, "ERR_ENCODING_INVALID_ENCODED_DATA",
            `The encoded data was not valid for encoding ${this.#encoding}`);
    }

    #convert(bytes) {
        if (this.#encoding === "utf-8") {
            if (!this.#fatal) {
                return decode(UTF8, bytes);
            }
            const text = vial.native.decode(UTF8, bytes, 0, bytes.length, true);
            return text === undefined ? this.#refuse() : text;
        }
        if (this.#encoding === "windows-1252") {
            return decode(LATIN1, bytes).replace(/[\x80-\x9f]/g,
                (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80]);
        }
        if (this.#encoding === "utf-16be") {
            const swapped = new Uint8Array(bytes.length);
            for (let i = 0; i + 1 < bytes.length; i += 2) {
                swapped[i] = bytes[i + 1];
                swapped[i + 1] = bytes[i];
            }
            bytes = swapped;
        }
        const text = decode(UTF16LE, bytes);
        if (bytes.length % 2 === 0 && text.isWellFormed()) {
            return text;
        }
        if (this.#fatal) {
            this.#refuse();
        }
        return text.toWellFormed() + (bytes.length % 2 === 1 ? "\ufffd" : "");
    }

    get [Symbol.toStringTag]() {
        return "TextDecoder";
    }
}

for (const [Class, names] of [[TextEncoder, ["encoding", "encode", "encodeInto"]],
    [TextDecoder, ["encoding", "fatal", "ignoreBOM", "decode"]]]) {
    for (const name of names) {
        Object.defineProperty(Class.prototype, name, { enumerable: true });
    }
}

export function atob(data) {
    if (arguments.length === 0) {
        throw makeError(TypeError, "ERR_MISSING_ARGS", 'The "data" argument must be specified');
    }
    try {
        return decode(LATIN1, Uint8Array.fromBase64(`${data}`));
    } catch {
        throw new DOMException("The string to be decoded is not correctly encoded.",
            "InvalidCharacterError");
    }
}

export function btoa(data) {
    if (arguments.length === 0) {
        throw makeError(TypeError, "ERR_MISSING_ARGS", 'The "data" argument must be specified');
    }
    const text = `${data}`;
    if (/[^\x00-\xff]/.test(text)) {
        throw new DOMException("Invalid character", "InvalidCharacterError");
    }
    return encode(LATIN1, text).toBase64();
}
