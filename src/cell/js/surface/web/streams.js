/* streams.js - the streams standard from the package web-streams-polyfill, and the transforms that
 * belong to other standards: text and compression. */
import * as streams from "web-streams-polyfill";
import { bytesOf } from "../lib/encodings.js";
import { invalidArgValue } from "../lib/errors.js";

export * from "web-streams-polyfill";
const { ReadableStream, TransformStream } = streams;

/* ReadableStream has members of its own that Node also gives to programs. */
const values = ReadableStream.prototype.values;
if (ReadableStream.prototype[Symbol.asyncIterator] === undefined) {
    Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator,
        { value: values, writable: true, configurable: true });
}

class Pair {
    #transform;

    constructor(transformer) {
        this.#transform = new TransformStream(transformer);
    }

    get readable() {
        return this.#transform.readable;
    }

    get writable() {
        return this.#transform.writable;
    }
}

export class TextEncoderStream extends Pair {
    constructor() {
        const encoder = new TextEncoder();
        let high = "";
        super({
            transform(chunk, controller) {
                let text = high + `${chunk}`;
                high = "";
                const last = text.charCodeAt(text.length - 1);
                if (last >= 0xd800 && last < 0xdc00) {
                    high = text.slice(-1);
                    text = text.slice(0, -1);
                }
                if (text !== "") {
                    controller.enqueue(encoder.encode(text));
                }
            },
            flush(controller) {
                if (high !== "") {
                    controller.enqueue(encoder.encode(high));
                }
            },
        });
    }

    get encoding() {
        return "utf-8";
    }

    get [Symbol.toStringTag]() {
        return "TextEncoderStream";
    }
}

export class TextDecoderStream extends Pair {
    #decoder;

    constructor(label = "utf-8", options = {}) {
        const decoder = new TextDecoder(label, options);
        super({
            transform(chunk, controller) {
                const text = decoder.decode(chunk, { stream: true });
                if (text !== "") {
                    controller.enqueue(text);
                }
            },
            flush(controller) {
                const text = decoder.decode();
                if (text !== "") {
                    controller.enqueue(text);
                }
            },
        });
        this.#decoder = decoder;
    }

    get encoding() {
        return this.#decoder.encoding;
    }

    get fatal() {
        return this.#decoder.fatal;
    }

    get ignoreBOM() {
        return this.#decoder.ignoreBOM;
    }

    get [Symbol.toStringTag]() {
        return "TextDecoderStream";
    }
}

const FORMATS = {
    __proto__: null,
    gzip: ["gzip", "gunzip"], deflate: ["deflate", "inflate"],
    "deflate-raw": ["deflateRaw", "inflateRaw"],
};

/* The compressor is of zlib, which works in pieces and calls back with each. */
function zlibTransformer(format, direction) {
    const kinds = FORMATS[`${format}`];
    if (kinds === undefined) {
        throw invalidArgValue("format", format, "must be one of: 'deflate', 'deflate-raw', 'gzip'");
    }
    const pieces = [];
    let worker;
    return {
        start() {
            worker = vial.load("lib/zlib").makeWorker(kinds[direction], {}, (piece) => pieces.push(piece));
        },
        transform(chunk, controller) {
            const bytes = bytesOf(chunk);
            if (bytes === undefined) {
                throw new TypeError("The chunk must be an ArrayBuffer or a view of one");
            }
            worker.push(bytes, false);
            pieces.splice(0).forEach((piece) => controller.enqueue(piece));
        },
        flush(controller) {
            worker.push(new Uint8Array(0), true);
            pieces.splice(0).forEach((piece) => controller.enqueue(piece));
        },
    };
}

export class CompressionStream extends Pair {
    constructor(format) {
        super(zlibTransformer(format, 0));
    }

    get [Symbol.toStringTag]() {
        return "CompressionStream";
    }
}

export class DecompressionStream extends Pair {
    constructor(format) {
        super(zlibTransformer(format, 1));
    }

    get [Symbol.toStringTag]() {
        return "DecompressionStream";
    }
}
