/* blob.js - Blob, File and FormData.
 *
 * A blob is a list of byte arrays that nobody changes; a slice shares them. */
import { UTF8, bytesOf, decode, encode } from "../lib/encodings.js";
import { invalidArgType, makeError } from "../lib/errors.js";

const inspectSymbol = Symbol.for("nodejs.util.inspect.custom");

/* A stream hands out at most this much at once, as Node's does. */
const CHUNK_BYTES = 65536;

let partsOf;
let makeSlice;

function typeOf(value) {
    const type = `${value ?? ""}`;
    return /[^\x20-\x7e]/.test(type) ? "" : type.toLowerCase();
}

function copyPart(part, endings) {
    if (part instanceof Blob) {
        return partsOf(part);
    }
    const bytes = bytesOf(part);
    if (bytes !== undefined) {
        return [bytes.slice()];
    }
    const text = `${part}`;
    return [encode(UTF8, endings === "native" ? text.replace(/\r\n?/g, "\n") : text)];
}

export class Blob {
    #parts = [];
    #size = 0;
    #type;

    constructor(sources = [], options = {}) {
        if (sources === null || typeof sources !== "object" ||
            typeof sources[Symbol.iterator] !== "function") {
            throw invalidArgType("sources", "a sequence", sources);
        }
        if (options !== undefined && options !== null && typeof options !== "object" &&
            typeof options !== "function") {
            throw invalidArgType("options", "Object", options);
        }
        const endings = `${options?.endings ?? "transparent"}`;
        for (const source of sources) {
            this.#parts.push(...copyPart(source, endings));
        }
        this.#size = this.#parts.reduce((sum, part) => sum + part.length, 0);
        this.#type = typeOf(options?.type);
    }

    get size() {
        return this.#size;
    }

    get type() {
        return this.#type;
    }

    slice(start = 0, end = this.#size, type = "") {
        const place = (n) => n < 0 ? Math.max(this.#size + n, 0) : Math.min(n, this.#size);
        return makeSlice(this, place(Math.trunc(start) || 0), place(Math.trunc(end) || 0), type);
    }

    async bytes() {
        const all = new Uint8Array(this.#size);
        let at = 0;
        for (const part of this.#parts) {
            all.set(part, at);
            at += part.length;
        }
        return all;
    }

    async arrayBuffer() {
        return (await this.bytes()).buffer;
    }

    async text() {
        return decode(UTF8, await this.bytes());
    }

    stream() {
        const parts = [...this.#parts];
        let at = 0;
        return new ReadableStream({
            type: "bytes",
            pull(controller) {
                while (parts.length > 0 && at >= parts[0].length) {
                    parts.shift();
                    at = 0;
                }
                if (parts.length === 0) {
                    controller.close();
                    controller.byobRequest?.respond(0);
                    return;
                }
                controller.enqueue(parts[0].slice(at, at + CHUNK_BYTES));
                at += CHUNK_BYTES;
            },
        });
    }

    static {
        partsOf = (blob) => blob.#parts;
        makeSlice = (blob, start, end, type) => {
            const slice = new Blob([], { type });
            let at = 0;
            for (const part of blob.#parts) {
                const piece = part.subarray(Math.max(start - at, 0), Math.max(end - at, 0));
                if (piece.length > 0) {
                    slice.#parts.push(piece);
                    slice.#size += piece.length;
                }
                at += part.length;
            }
            return slice;
        };
    }

    get [Symbol.toStringTag]() {
        return "Blob";
    }

    [inspectSymbol](depth, options, inspect) {
        return `Blob ${inspect({ size: this.size, type: this.type }, options)}`;
    }
}

export class File extends Blob {
    #name;
    #lastModified;

    constructor(sources, name, options = {}) {
        if (arguments.length < 2) {
            throw makeError(TypeError, "ERR_MISSING_ARGS",
                'The "fileBits" and "fileName" arguments must be specified');
        }
        super(sources, options);
        this.#name = `${name}`.toWellFormed();
        this.#lastModified = options?.lastModified === undefined ? Date.now()
            : Number(options.lastModified) || 0;
    }

    get name() {
        return this.#name;
    }

    get lastModified() {
        return this.#lastModified;
    }

    get webkitRelativePath() {
        return "";
    }

    get [Symbol.toStringTag]() {
        return "File";
    }

    [inspectSymbol](depth, options, inspect) {
        const { size, type, name, lastModified } = this;
        return `File ${inspect({ size, type, name, lastModified }, options)}`;
    }
}

function entryValue(value, filename) {
    if (!(value instanceof Blob)) {
        return `${value}`.toWellFormed();
    }
    if (value instanceof File && filename === undefined) {
        return value;
    }
    return new File([value], filename ?? (value instanceof File ? value.name : "blob"),
        { type: value.type, lastModified: value.lastModified });
}

function checkEntry(value, filename, count, method) {
    if (count < 2) {
        throw new TypeError(`FormData.${method}: 2 arguments required, but only ${count} present.`);
    }
    if (count > 2 && !(value instanceof Blob)) {
        throw new TypeError(`Failed to execute '${method}' on 'FormData': parameter 2 is not of ` +
            "type 'Blob'");
    }
}

export class FormData {
    #entries = [];

    constructor(form = undefined) {
        if (form !== undefined) {
            throw new TypeError("Failed to construct 'FormData': there are no forms here");
        }
    }

    append(name, value, filename = undefined) {
        checkEntry(value, filename, arguments.length, "append");
        this.#entries.push([`${name}`.toWellFormed(), entryValue(value, filename)]);
    }

    set(name, value, filename = undefined) {
        checkEntry(value, filename, arguments.length, "set");
        const key = `${name}`.toWellFormed();
        const entry = [key, entryValue(value, filename)];
        const first = this.#entries.findIndex(([other]) => other === key);
        if (first < 0) {
            this.#entries.push(entry);
            return;
        }
        this.#entries = this.#entries.filter(([other], i) => other !== key || i === first);
        this.#entries[first] = entry;
    }

    delete(name) {
        this.#entries = this.#entries.filter(([key]) => key !== `${name}`);
    }

    get(name) {
        return this.#entries.find(([key]) => key === `${name}`)?.[1] ?? null;
    }

    getAll(name) {
        return this.#entries.filter(([key]) => key === `${name}`).map(([, value]) => value);
    }

    has(name) {
        return this.#entries.some(([key]) => key === `${name}`);
    }

    forEach(callback, self = undefined) {
        for (const [name, value] of this) {
            Reflect.apply(callback, self, [value, name, this]);
        }
    }

    * entries() {
        for (let i = 0; i < this.#entries.length; i++) {
            yield [...this.#entries[i]];
        }
    }

    * keys() {
        for (const [name] of this.entries()) {
            yield name;
        }
    }

    * values() {
        for (const [, value] of this.entries()) {
            yield value;
        }
    }

    [Symbol.iterator]() {
        return this.entries();
    }

    get [Symbol.toStringTag]() {
        return "FormData";
    }

    [inspectSymbol](depth, options, inspect) {
        const shown = {};
        for (const [name, value] of this) {
            shown[name] = name in shown ? [].concat(shown[name], value) : value;
        }
        return `FormData ${inspect(shown, options)}`;
    }
}
