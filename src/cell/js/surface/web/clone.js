/* clone.js - structuredClone: the structured clone algorithm for what a realm of its own has. */
import { makeError } from "../lib/errors.js";

const ERROR_CLASSES = {
    __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError,
};
const TypedArray = Object.getPrototypeOf(Uint8Array);
const typedArrayName = Object.getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag).get;
const nameOfTyped = (value) => Reflect.apply(typedArrayName, value, []);

function refuse(value) {
    let shown;
    if (typeof value === "function" || typeof value === "symbol") {
        shown = String(value);
    } else {
        shown = `#<${value.constructor?.name || "Object"}>`;
    }
    throw new DOMException(`${shown} could not be cloned.`, "DataCloneError");
}

function cloneBuffer(buffer, transferred) {
    if (transferred.has(buffer)) {
        return transferred.get(buffer);
    }
    if (buffer.detached) {
        throw new DOMException("An ArrayBuffer is detached and could not be cloned.",
            "DataCloneError");
    }
    if (!buffer.resizable) {
        return buffer.slice(0);
    }
    const copy = new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength });
    new Uint8Array(copy).set(new Uint8Array(buffer));
    return copy;
}

function cloneError(error, memory, transferred) {
    const name = `${error.name}`;
    const Class = ERROR_CLASSES[name] ?? Error;
    const made = new Class();
    memory.set(error, made);
    for (const key of ["message", "stack", "cause"]) {
        const descriptor = Object.getOwnPropertyDescriptor(error, key);
        const isData = descriptor !== undefined && "value" in descriptor;
        if (key === "message" ? isData || "message" in error && error.message !== "" : isData) {
            const value = key === "cause" ? clone(descriptor.value, memory, transferred)
                : `${key === "message" ? error.message : descriptor.value}`;
            Object.defineProperty(made, key, { value, writable: true, configurable: true });
        }
    }
    return made;
}

/* A new object for one that needs nothing cloned inside of it; undefined for the others. */
function cloneLeaf(value, kind, memory, transferred) {
    switch (kind) {
    case "Boolean":
    case "Number":
    case "String":
    case "BigInt":
        return Object(value.valueOf());
    case "Date":
        return new Date(value.getTime());
    case "RegExp":
        return new RegExp(value.source, value.flags);
    case "ArrayBuffer":
        return cloneBuffer(value, transferred);
    case "DataView":
        return new DataView(clone(value.buffer, memory, transferred), value.byteOffset,
            value.byteLength);
    case "TypedArray": {
        const Class = globalThis[nameOfTyped(value)];
        return new Class(clone(value.buffer, memory, transferred), value.byteOffset, value.length);
    }
    default:
        return undefined;
    }
}

function cloneMembers(value, copy, memory, transferred) {
    for (const key of Object.keys(value)) {
        if (Object.hasOwn(value, key)) {
            Object.defineProperty(copy, key, {
                value: clone(value[key], memory, transferred),
                writable: true, enumerable: true, configurable: true,
            });
        }
    }
    return copy;
}

function cloneContainer(value, kind, memory, transferred) {
    if (kind === "Map") {
        const copy = new Map();
        memory.set(value, copy);
        for (const [key, member] of [...Map.prototype.entries.call(value)]) {
            copy.set(clone(key, memory, transferred), clone(member, memory, transferred));
        }
        return copy;
    }
    if (kind === "Set") {
        const copy = new Set();
        memory.set(value, copy);
        for (const member of [...Set.prototype.values.call(value)]) {
            copy.add(clone(member, memory, transferred));
        }
        return copy;
    }
    if (kind === "Array") {
        const copy = new Array(value.length);
        memory.set(value, copy);
        return cloneMembers(value, copy, memory, transferred);
    }
    const copy = {};
    memory.set(value, copy);
    return cloneMembers(value, copy, memory, transferred);
}

/* Classes of the surface whose instances are immutable, so that the same object will do. */
function isShareable(value) {
    return vial.isLoaded("web/blob") && value instanceof Blob;
}

function clone(value, memory, transferred) {
    if (typeof value === "function" || typeof value === "symbol") {
        refuse(value);
    }
    if (typeof value !== "object" || value === null) {
        return value;
    }
    const known = memory.get(value);
    if (known !== undefined) {
        return known;
    }
    if (vial.isProxy(value)) {
        refuse(value);
    }
    const kind = vial.kindOf(value);
    if (kind === "Error") {
        return cloneError(value, memory, transferred);
    }
    const leaf = cloneLeaf(value, kind, memory, transferred);
    if (leaf !== undefined) {
        memory.set(value, leaf);
        return leaf;
    }
    if (isShareable(value)) {
        return value;
    }
    if (kind !== "Object" && kind !== "Array" && kind !== "Map" && kind !== "Set") {
        refuse(value);
    }
    return cloneContainer(value, kind, memory, transferred);
}

export function structuredClone(value, options = undefined) {
    if (arguments.length === 0) {
        throw makeError(TypeError, "ERR_MISSING_ARGS", 'The "value" argument must be specified');
    }
    const transfer = [...options?.transfer ?? []];
    if (transfer.length === 0) {
        return clone(value, new Map(), new Map());
    }
    if (new Set(transfer).size !== transfer.length) {
        throw new DOMException("ArrayBuffer occurs in the transfer list more than once",
            "DataCloneError");
    }
    for (const buffer of transfer) {
        if (!(buffer instanceof ArrayBuffer)) {
            throw new DOMException("Value not transferable: only an ArrayBuffer is",
                "DataCloneError");
        }
        if (buffer.detached) {
            throw new DOMException("An ArrayBuffer is detached and could not be cloned.",
                "DataCloneError");
        }
    }
    /* What cannot be cloned must be found before anything is detached; the copies are dropped. */
    clone(value, new Map(), new Map(transfer.map((buffer) => [buffer, buffer])));
    /* Array buffers keep their views in mind, so these are noted before the buffer is empty. */
    const memory = new Map();
    const views = findViews(value, new Set(transfer), new Set(), []);
    const moved = new Map();
    for (const { view, name, byteOffset, length } of views) {
        if (!moved.has(view.buffer)) {
            moved.set(view.buffer, view.buffer.transfer());
        }
        memory.set(view, { name, byteOffset, length, from: view.buffer });
    }
    for (const buffer of transfer) {
        if (!moved.has(buffer)) {
            moved.set(buffer, buffer.transfer());
        }
    }
    for (const [view, { name, byteOffset, length, from }] of memory) {
        memory.set(view, new globalThis[name](moved.get(from), byteOffset, length));
    }
    return clone(value, memory, moved);
}

/* The typed arrays and views in value that look at one of the buffers. */
function findViews(value, buffers, seen, found) {
    if (typeof value !== "object" || value === null || seen.has(value)) {
        return found;
    }
    seen.add(value);
    if (ArrayBuffer.isView(value)) {
        if (buffers.has(value.buffer)) {
            const name = nameOfTyped(value) ?? "DataView";
            found.push({ view: value, name, byteOffset: value.byteOffset,
                length: name === "DataView" ? value.byteLength : value.length });
        }
        return found;
    }
    if (value instanceof Map) {
        value.forEach((member, key) => {
            findViews(key, buffers, seen, found);
            findViews(member, buffers, seen, found);
        });
    } else if (value instanceof Set) {
        value.forEach((member) => findViews(member, buffers, seen, found));
    }
    for (const key of Object.keys(value)) {
        findViews(value[key], buffers, seen, found);
    }
    return found;
}
