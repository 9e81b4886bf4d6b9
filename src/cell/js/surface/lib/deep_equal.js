/* deep_equal.js - Node's deep equality, strict and loose, as assert and util have it. */

const TypedArray = Object.getPrototypeOf(Uint8Array);
const typedName = Object.getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag).get;

function ownKeysOf(object, isStrict) {
    const keys = Object.keys(object);
    if (isStrict) {
        for (const symbol of Object.getOwnPropertySymbols(object)) {
            if (Object.prototype.propertyIsEnumerable.call(object, symbol)) {
                keys.push(symbol);
            }
        }
    }
    return keys;
}

function areMembersEqual(a, b, keys, isStrict, memo) {
    return keys.every((key) => Object.prototype.propertyIsEnumerable.call(b, key) &&
        compare(a[key], b[key], isStrict, memo));
}

/* Looks for a member of the set that equals value deeply, and takes it out of the set. */
function takeEqual(set, value, isStrict, memo) {
    for (const candidate of set) {
        if (compare(value, candidate, isStrict, memo)) {
            set.delete(candidate);
            return true;
        }
    }
    return false;
}

function areSetsEqual(a, b, isStrict, memo) {
    if (a.size !== b.size) {
        return false;
    }
    const rest = new Set(b);
    const open = [];
    for (const value of a) {
        if (!rest.delete(value)) {
            open.push(value);
        }
    }
    return open.every((value) => takeEqual(rest, value, isStrict, memo));
}

function areMapsEqual(a, b, isStrict, memo) {
    if (a.size !== b.size) {
        return false;
    }
    const open = [];
    const rest = new Set(b.keys());
    for (const [key, value] of a) {
        const isKnown = b.has(key) && compare(value, b.get(key), isStrict, memo);
        if (isKnown) {
            rest.delete(key);
        } else if (isStrict && (typeof key !== "object" || key === null)) {
            return false;
        } else {
            open.push([key, value]);
        }
    }
    return open.every(([key, value]) => {
        for (const candidate of rest) {
            if (compare(key, candidate, isStrict, memo) &&
                compare(value, b.get(candidate), isStrict, memo)) {
                rest.delete(candidate);
                return true;
            }
        }
        return false;
    });
}

function areBytesEqual(a, b, isStrict) {
    if (a.length !== b.length) {
        return false;
    }
    for (let i = 0; i < a.length; i++) {
        if (isStrict ? !Object.is(a[i], b[i]) : a[i] !== b[i]) {
            return false;
        }
    }
    return true;
}

/* What is inside of the objects besides their properties. */
function areInsidesEqual(a, b, kind, isStrict, memo) {
    switch (kind) {
    case "Date":
        return Object.is(a.getTime(), b.getTime());
    case "RegExp":
        return a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex;
    case "Error":
        return a.message === b.message && a.name === b.name &&
            Object.hasOwn(a, "cause") === Object.hasOwn(b, "cause") &&
            compare(a.cause, b.cause, isStrict, memo) && compare(a.errors, b.errors, isStrict, memo);
    case "Boolean":
    case "Number":
    case "String":
    case "BigInt":
    case "Symbol":
        return Object.is(a.valueOf(), b.valueOf());
    case "Set":
        return areSetsEqual(a, b, isStrict, memo);
    case "Map":
        return areMapsEqual(a, b, isStrict, memo);
    case "ArrayBuffer":
        return areBytesEqual(new Uint8Array(a), new Uint8Array(b), true);
    case "DataView":
        return areBytesEqual(new Uint8Array(a.buffer, a.byteOffset, a.byteLength),
            new Uint8Array(b.buffer, b.byteOffset, b.byteLength), true);
    case "WeakMap":
    case "WeakSet":
    case "Promise":
        return false;
    default:
        return true;
    }
}

function kindOf(value) {
    return vial.isProxy(value) ? Array.isArray(value) ? "Array" : "Object" : vial.kindOf(value);
}

function compareObjects(a, b, isStrict, memo) {
    if (isStrict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) {
        return false;
    }
    const kind = kindOf(a);
    if (kind !== kindOf(b) || kind === "Function") {
        return false;
    }
    if (isStrict && Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) {
        return false;
    }
    if (kind === "Array" && a.length !== b.length) {
        return false;
    }
    if (kind === "TypedArray") {
        if (Reflect.apply(typedName, a, []) !== Reflect.apply(typedName, b, [])) {
            return false;
        }
        return areBytesEqual(a, b, isStrict);
    }
    const keys = ownKeysOf(a, isStrict);
    if (keys.length !== ownKeysOf(b, isStrict).length) {
        return false;
    }
    /* A cycle is equal when the other side has it at the same place. */
    const partner = memo.get(a);
    if (partner !== undefined && partner === b) {
        return true;
    }
    memo.set(a, b);
    const isEqual = areInsidesEqual(a, b, kind, isStrict, memo) &&
        areMembersEqual(a, b, keys, isStrict, memo);
    memo.delete(a);
    return isEqual;
}

function isObject(value) {
    return value !== null && typeof value === "object";
}

function compare(a, b, isStrict, memo) {
    if (a === b) {
        return a !== 0 || !isStrict || Object.is(a, b);
    }
    if (isStrict) {
        return isObject(a) && isObject(b) ? compareObjects(a, b, true, memo) : Object.is(a, b);
    }
    if (!isObject(a) || !isObject(b)) {
        return !isObject(a) && !isObject(b) && (a == b || Object.is(a, b));
    }
    return compareObjects(a, b, false, memo);
}

export function isDeepEqual(a, b, isStrict) {
    return compare(a, b, isStrict, new Map());
}
