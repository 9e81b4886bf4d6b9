/* values.js - the value of a run as JSON for the host, and as text for people.
 *
 * Nothing is silently turned into null or left out: what JSON cannot say is an error that names the
 * place. Most values are plain data, so isPlain() first looks for anything that is not, and the
 * original then goes through the engine's JSON.stringify at full speed. Only what is not plain
 * (dates, errors, class instances, proxies, accessors, toJSON) is copied by toPlain() into objects
 * without prototypes, which is also where every error message comes from. */

/* Deeper values are refused: host programs read JSON recursively. */
const VALUE_DEPTH_MAX = 100;

/* Parts of a path that an error message shows before it gives up. */
const PATH_PARTS_MAX = 12;

let valueBytesMax = 0;

/* The way to where the walk is: pathKeys[d] leads from pathParents[d] to what is at d + 1. */
let pathKeys = makeList();
let pathParents = makeList();

/* A lower bound of the JSON text's length, so that a small graph that unfolds into an enormous text
 * is refused before it is written. */
let unitsSoFar = 0;

const objectPrototypeKeys = listOf(ownKeys(ObjectPrototype));
const arrayPrototypeKeys = listOf(ownKeys(ArrayPrototype));

/* True while a prototype has the properties it was born with, so that nothing a guest added to it
 * can show up in the walk or in JSON.stringify. */
function hasOnlyKeys(object, expected) {
    const keys = ownKeys(object);
    if (keys.length !== expected.length) {
        return false;
    }
    for (let i = 0; i < expected.length; i++) {
        if (keys[i] !== expected[i]) {
            return false;
        }
    }
    return getPrototypeOf(object) === (object === ObjectPrototype ? null : ObjectPrototype);
}

/* True when JSON.stringify says exactly what we want to say. Anything doubtful is false: toPlain()
 * then decides, and finds the words. Members are read without asking whether a getter answers: that
 * getter then runs twice, which is cheaper than asking everyone. */
function isPlain(value, depth) {
    switch (typeof value) {
    case "string":
        unitsSoFar += value.length;
        return true;
    case "number":
        return value - value === 0 && (value !== 0 || 1 / value > 0);
    case "boolean":
        return true;
    case "object":
        return value === null || isPlainObject(value, depth);
    default:
        return false;
    }
}

/* A cycle needs no check of its own: it ends at the depth limit. */
function isPlainObject(value, depth) {
    if (depth >= VALUE_DEPTH_MAX || unitsSoFar > valueBytesMax ||
        (proxiesExist && nativeProxyTarget(value) !== null)) {
        return false;
    }
    const proto = getPrototypeOf(value);
    if ((proto !== ObjectPrototype && proto !== ArrayPrototype && proto !== null) ||
        value.toJSON !== undefined) {
        return false;
    }
    unitsSoFar += 2;
    if (isArray(value)) {
        const { length } = value;
        unitsSoFar += length;
        for (let i = 0; i < length && unitsSoFar <= valueBytesMax; i++) {
            if (!isPlain(value[i], depth + 1)) {
                return false;
            }
        }
        return unitsSoFar <= valueBytesMax;
    }
    const keys = objectKeys(value);
    unitsSoFar += 3 * keys.length;
    for (let i = 0; i < keys.length; i++) {
        const member = value[keys[i]];
        if (member !== undefined && !isPlain(member, depth + 1)) {
            return false;
        }
    }
    return true;
}

function pathText(depth) {
    let text = "value";
    for (let d = 0; d < depth; d++) {
        if (d === PATH_PARTS_MAX) {
            return `${text}...`;
        }
        const key = pathKeys[d];
        if (typeof key === "number") {
            text += `[${key}]`;
        } else if (isIdentifier(key)) {
            text += `.${cutText(key, 60)}`;
        } else {
            text += `[${jsonStringify(cutText(key, 60))}]`;
        }
    }
    return text;
}

function refuse(depth, what, advice) {
    throw new TypeErrorClass(`${pathText(depth)} is ${what}, which cannot cross to the host as ` +
        `JSON; ${advice}`);
}

function refuseSize(bytes) {
    throw new RangeErrorClass(`the value is ${bytes} bytes of JSON, the limit is ` +
        `${valueBytesMax}; return less, print it, or raise the limit with --value-bytes`);
}

function countUnits(units) {
    unitsSoFar += units;
    if (unitsSoFar > valueBytesMax) {
        refuseSize(`more than ${valueBytesMax}`);
    }
}

/* A copy of value that JSON.stringify cannot misunderstand. */
function toPlain(value, depth) {
    switch (typeof value) {
    case "string":
        countUnits(value.length + 2);
        return value;
    case "boolean":
        countUnits(4);
        return value;
    case "number":
        countUnits(1);
        if (value !== value) {
            refuse(depth, "NaN", "use null or a string");
        }
        if (value - value !== 0) {
            refuse(depth, formatNumber(value), "use null or a string");
        }
        if (value === 0 && 1 / value < 0) {
            refuse(depth, "-0", "add 0 to it, or use a string");
        }
        return value;
    case "undefined":
        return refuse(depth, "undefined", "use null");
    case "bigint":
        return refuse(depth, "a BigInt", "use String(...) or Number(...)");
    case "symbol":
        return refuse(depth, "a symbol", "use its description");
    case "function":
        return refuse(depth, "a function", "call it and return the result");
    default:
        return value === null ? null : objectToPlain(value, depth, true);
    }
}

function objectToPlain(value, depth, askToJson) {
    const target = unwrapProxy(value);
    if (target === undefined) {
        return refuse(depth, "a revoked Proxy", "return the object behind it");
    }
    for (let d = 0; d < depth; d++) {
        if (pathParents[d] === target) {
            throw new TypeErrorClass(`${pathText(depth)} is a cycle back to ${pathText(d)}, ` +
                "which cannot cross to the host as JSON; return a tree");
        }
    }
    if (depth >= VALUE_DEPTH_MAX) {
        throw new TypeErrorClass(`${pathText(depth)} is nested deeper than ${VALUE_DEPTH_MAX} ` +
            "levels, which cannot cross to the host as JSON; return a flatter value");
    }
    countUnits(2);
    if (askToJson) {
        const toJson = ownToJson(target);
        if (toJson !== undefined) {
            const key = depth === 0 ? "" : `${pathKeys[depth - 1]}`;
            const answer = apply(toJson, value, [key]);
            return isObject(answer) && typeof answer !== "function"
                ? objectToPlain(answer, depth, false) : toPlain(answer, depth);
        }
    }
    pathParents[depth] = target;
    return kindToPlain(target, depth);
}

/* A toJSON function of the object or of its class. What a guest has put on the prototypes of the
 * built-ins is not asked: it would change values that have nothing to do with it. */
function ownToJson(target) {
    let object = target;
    for (let steps = 0; object !== null && object !== ObjectPrototype; steps++) {
        if (steps >= CHAIN_STEPS_MAX || mapGet(builtinPrototypes, object) !== undefined) {
            return undefined;
        }
        const descriptor = getOwnPropertyDescriptor(object, "toJSON");
        if (descriptor !== undefined) {
            const toJson = hasOwn(descriptor, "value") ? descriptor.value : undefined;
            return typeof toJson === "function" ? toJson : undefined;
        }
        object = protoOf(object);
    }
    return undefined;
}

const adviceByKind = {
    __proto__: null,
    ArrayBuffer: "use Array.from(new Uint8Array(...))",
    Map: "use Object.fromEntries(...) or Array.from(...)",
    Promise: "await it first",
    RegExp: "use String(...)",
    Set: "use Array.from(...)",
    TypedArray: "use Array.from(...)",
    Generator: "use Array.from(...)",
    Iterator: "use Array.from(...)",
};

function kindToPlain(target, depth) {
    const kind = kindOf(target);
    switch (kind) {
    case "Array":
        return arrayToPlain(target, depth);
    case "Object":
        return membersToPlain(target, depth);
    case "Date":
        if (dateGetTime(target) !== dateGetTime(target)) {
            refuse(depth, "an invalid Date", "use null");
        }
        return toPlain(dateToISOString(target), depth);
    case "Error": {
        const name = shownName(target);
        const message = errorMessage(target);
        countUnits(name.length + message.length);
        return { __proto__: null, name, message };
    }
    case "Boolean":
    case "Number":
    case "String":
        return toPlain(kindProbes[kind](target), depth);
    default: {
        const name = kind === "TypedArray" ? typedArrayName(target) : kind;
        const article = stringIncludes("AEIO", name[0]) ? "an" : "a";
        const advice = adviceByKind[kind];
        return refuse(depth, `${article} ${name}`,
            advice === undefined ? "return plain data made from it" : advice);
    }
    }
}

function arrayToPlain(target, depth) {
    const { length } = target;
    const copy = makeList();
    if (length > valueBytesMax) {
        refuseSize(`more than ${valueBytesMax}`);
    }
    for (let i = 0; i < length; i++) {
        pathKeys[depth] = i;
        const descriptor = getOwnPropertyDescriptor(target, i);
        if (descriptor === undefined) {
            refuse(depth + 1, "a hole in the array", "fill it, with null for example");
        }
        countUnits(i > 0 ? 1 : 0);
        copy[i] = toPlain(readProperty(target, i, descriptor), depth + 1);
    }
    return copy;
}

function membersToPlain(target, depth) {
    const copy = { __proto__: null };
    const keys = objectKeys(target);
    for (let i = 0; i < keys.length; i++) {
        pathKeys[depth] = keys[i];
        const descriptor = getOwnPropertyDescriptor(target, keys[i]);
        const member = descriptor === undefined ? undefined
            : readProperty(target, keys[i], descriptor);
        if (member !== undefined) {
            countUnits(keys[i].length + 3);
            copy[keys[i]] = toPlain(member, depth + 1);
        }
    }
    return copy;
}

/* Accessors are asked: `{ get total() { ... } }` is data to its author. */
function readProperty(target, key, descriptor) {
    return hasOwn(descriptor, "value") ? descriptor.value : reflectGet(target, key);
}

const nonAscii = /[^\x00-\x7f]/;

/* The bytes of text in UTF-8. JSON text has no lone surrogates: JSON.stringify escapes them. Nearly
 * all of it is ASCII, which a regular expression finds out at the speed of memory. */
function utf8Length(text) {
    const match = regexpExec(nonAscii, text);
    let bytes = text.length;
    for (let i = match === null ? text.length : match.index; i < text.length; i++) {
        const code = charCodeAt(text, i) | 0;
        if (code >= 0x80) {
            bytes += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2;
        }
    }
    return bytes;
}

/* The JSON text of a value that is not undefined. Throws when it cannot cross. */
function valueToJson(value) {
    pathKeys = makeList();
    pathParents = makeList();
    unitsSoFar = 0;
    const isPristine = !isObject(value) || (hasOnlyKeys(ObjectPrototype, objectPrototypeKeys) &&
        hasOnlyKeys(ArrayPrototype, arrayPrototypeKeys));
    let text;
    if (isPristine && isPlain(value, 0)) {
        text = jsonStringify(value);
    } else {
        unitsSoFar = 0;
        text = jsonStringify(toPlain(value, 0));
    }
    pathParents = makeList();
    const bytes = text.length * 3 <= valueBytesMax ? 0 : utf8Length(text);
    if (bytes > valueBytesMax) {
        refuseSize(bytes);
    }
    return text;
}
