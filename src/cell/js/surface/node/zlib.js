/* zlib.js - zlib over lib/zlib: whole buffers at once, with callbacks, and as streams. */
import { bytesOf } from "../lib/encodings.js";
import { checkFunction, invalidArgType, makeError } from "../lib/errors.js";
import { constants } from "../lib/zlib_constants.js";

const { makeWorker } = vial.load("lib/zlib");
const KINDS = ["deflate", "inflate", "gzip", "gunzip", "deflateRaw", "inflateRaw", "unzip"];
const OUTPUT_BYTES_MAX = 4294967296;

function inputBytes(value) {
    const bytes = typeof value === "string" ? Buffer.from(value) : bytesOf(value);
    if (bytes === undefined) {
        throw invalidArgType("buffer", ["string", "Buffer", "TypedArray", "DataView", "ArrayBuffer"], value);
    }
    return bytes;
}

function convert(kind, input, options = {}) {
    const pieces = [];
    const max = options?.maxOutputLength ?? OUTPUT_BYTES_MAX;
    let size = 0;
    const worker = makeWorker(kind, options ?? {}, (piece) => {
        size += piece.length;
        if (size > max) {
            throw makeError(RangeError, "ERR_BUFFER_TOO_LARGE",
                `Cannot create a Buffer larger than ${max} bytes`);
        }
        pieces.push(piece);
    });
    const bytes = inputBytes(input);
    if (options?.finishFlush !== undefined && options.finishFlush !== constants.Z_FINISH) {
        worker.push(bytes, options.finishFlush);
    } else {
        worker.push(bytes, true);
    }
    return Buffer.concat(pieces, size);
}

/* Streams work in pieces; a piece goes out as soon as zlib gives it. Made when first used: loading the streams takes
 * longer than most compressions. */
const makeStreamClass = () => class ZlibStream extends vial.require("stream").Transform {
    #worker;
    #flushMode;

    constructor(kind, options = {}) {
        super(options ?? {});
        this.bytesWritten = 0;
        this.#flushMode = options?.flush;
        this.#worker = makeWorker(kind, options ?? {}, (piece) => this.push(Buffer.from(piece)));
    }

    _transform(chunk, encoding, callback) {
        const bytes = inputBytes(chunk);
        this.bytesWritten += bytes.length;
        this.#step(bytes, this.#flushMode ?? false, callback);
    }

    _flush(callback) {
        this.#step(new Uint8Array(0), true, callback);
    }

    flush(mode, callback = undefined) {
        const done = typeof mode === "function" ? mode : callback;
        this.#step(new Uint8Array(0), typeof mode === "number" ? mode : constants.Z_FULL_FLUSH,
            (error) => error ? this.destroy(error) : done?.());
    }

    close(callback = undefined) {
        if (callback !== undefined) {
            this.once("close", callback);
        }
        this.destroy();
    }

    params() {
        throw new Error("zlib params() is not available in vial: make a new stream with the other level");
    }

    reset() {
        throw new Error("zlib reset() is not available in vial: make a new stream");
    }

    #step(bytes, mode, callback) {
        try {
            this.#worker.push(bytes, mode);
        } catch (error) {
            callback(error);
            return;
        }
        callback();
    }
};

let streamClass;

const zlib = { constants, codes: {} };
for (const [name, value] of Object.entries(constants)) {
    if (/^Z_(OK|STREAM_END|NEED_DICT|ERRNO|\w+_ERROR)$/.test(name)) {
        zlib.codes[name] = value;
        zlib.codes[value] = name;
    }
}

function addKind(kind) {
    const className = kind[0].toUpperCase() + kind.slice(1);
    zlib[`${kind}Sync`] = { [`${kind}Sync`]: (input, options) => convert(kind, input, options) }[`${kind}Sync`];
    zlib[kind] = { [kind](input, options, callback) {
        const done = typeof options === "function" ? options : callback;
        checkFunction(done, "callback");
        inputBytes(input);
        setImmediate(() => {
            let result;
            try {
                result = convert(kind, input, typeof options === "function" ? {} : options);
            } catch (error) {
                done(error);
                return;
            }
            done(null, result);
        });
    } }[kind];
    Object.defineProperty(zlib, className, {
        get() {
            streamClass ??= makeStreamClass();
            const value = { [className]: class extends streamClass {
                constructor(options) {
                    super(kind, options);
                }
            } }[className];
            Object.defineProperty(zlib, className, { value, writable: true });
            return value;
        },
        enumerable: true,
        configurable: true,
    });
    zlib[`create${className}`] = (options) => new zlib[className](options);
}
KINDS.forEach(addKind);

for (const name of ["brotliCompress", "brotliDecompress", "brotliCompressSync", "brotliDecompressSync",
    "createBrotliCompress", "createBrotliDecompress", "BrotliCompress", "BrotliDecompress"]) {
    zlib[name] = { [name]() {
        throw new Error(`zlib.${name} is not available in vial: there is no brotli; use gzip or deflate`);
    } }[name];
}

let crcTable;

zlib.crc32 = function crc32(data, value = 0) {
    if (crcTable === undefined) {
        crcTable = Uint32Array.from({ length: 256 }, (unused, n) => {
            for (let k = 0; k < 8; k++) {
                n = n & 1 ? 0xedb88320 ^ n >>> 1 : n >>> 1;
            }
            return n;
        });
    }
    let crc = ~value;
    for (const byte of inputBytes(data)) {
        crc = crcTable[(crc ^ byte) & 0xff] ^ crc >>> 8;
    }
    return ~crc >>> 0;
};

module.exports = zlib;
