/* values.js - values that cross the wall: JSON when that says all there is to say, else CBOR.
 *
 * Most values are plain data, so isPlain() first looks for anything that JSON would lose, and the
 * original then goes through the engine's JSON.stringify at full speed. What is left is walked by
 * the encoder in cbor.js. Nothing is silently turned into null or left out: what neither form can
 * say is an error that names the place. */

/* Deeper values are refused: host programs read them recursively. */
const VALUE_DEPTH_MAX = 100;

/* The largest number, and the one that is nearest to 0. */
const NUMBER_MOST = 1.7976931348623157e308;
const NUMBER_LEAST = 5e-324;

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

/* True when JSON.stringify says exactly what we want to say. Anything doubtful is false: the encoder
 * then decides, and finds the words. Values have millions of members, so what is not an object is
 * judged where it is met, and members are read without asking whether a getter answers: that getter
 * then runs twice, which is cheaper than asking everyone. */
function isPlain(value) {
    switch (typeof value) {
    case "string":
    case "boolean":
        return true;
    case "number":
        return isPlainNumber(value);
    case "object":
        return value === null || isPlainObject(value, 0);
    default:
        return false;
    }
}

/* Finite and not -0. Compared with fractions only: the engine takes a member for an integer by what it
 * saw before, and code that asks whether it is 0 is thrown away and compiled again and again. */
function isPlainNumber(value) {
    return value >= NUMBER_LEAST ? value <= NUMBER_MOST
        : value <= -NUMBER_LEAST ? value >= -NUMBER_MOST : 1 / value > 0;
}

/* A cycle needs no check of its own: it ends at the depth limit. A toJSON function is no plain member,
 * and the prototypes have none. The engine keeps the names of objects of one shape for the loop over
 * them; nothing is inherited, since the prototypes are as they were born. One function, because the
 * engine compiles each anew, and that takes longer than walking through a megabyte. */
function isPlainObject(value, depth) {
    if (depth >= VALUE_DEPTH_MAX || unitsSoFar > valueBytesMax ||
        (proxiesExist && nativeProxyTarget(value) !== null)) {
        return false;
    }
    const proto = getPrototypeOf(value);
    let units = 2;
    if (isArray(value)) {
        const { length } = value;
        unitsSoFar += length;
        if (proto !== ArrayPrototype || unitsSoFar > valueBytesMax) {
            return false;
        }
        for (let i = 0; i < length; i++) {
            const member = value[i];
            const type = typeof member;
            if (type === "string") {
                units += member.length;
            } else if (type === "number") {
                if (!isPlainNumber(member)) {
                    return false;
                }
            } else if (type === "object") {
                if (member !== null && !isPlainObject(member, depth + 1)) {
                    return false;
                }
            } else if (type !== "boolean") {
                return false;
            }
        }
        unitsSoFar += units;
        return true;
    }
    if (proto !== ObjectPrototype && proto !== null) {
        return false;
    }
    for (const key in value) {
        const member = value[key];
        const type = typeof member;
        units += 3;
        if (type === "string") {
            units += member.length;
        } else if (type === "number") {
            if (!isPlainNumber(member)) {
                return false;
            }
        } else if (type === "object") {
            if (member !== null && !isPlainObject(member, depth + 1)) {
                return false;
            }
        } else if (type !== "boolean") {
            return false;
        }
    }
    unitsSoFar += units;
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
    throw new TypeErrorClass(`${pathText(depth)} is ${what}, which cannot cross to the host; ` +
        advice);
}

function refuseSize(bytes) {
    throw new RangeErrorClass(`the value is ${bytes} bytes long, the limit is ` +
        `${valueBytesMax}; return less, print it, or raise the limit with --value-bytes`);
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

/* A value that is not undefined as the host gets it: JSON text, or CBOR in a Uint8Array. Throws when
 * it cannot cross. */
/* True when JSON says all there is to say about it, and nothing that a guest has put onto a
 * prototype gets into it. */
function isJson(value) {
    unitsSoFar = 0;
    return (!isObject(value) || (hasOnlyKeys(ObjectPrototype, objectPrototypeKeys) &&
        hasOnlyKeys(ArrayPrototype, arrayPrototypeKeys))) && isPlain(value);
}

function valueToHost(value) {
    pathKeys = makeList();
    pathParents = makeList();
    if (!isJson(value)) {
        const bytes = encodeCbor(value);
        pathParents = makeList();
        return bytes;
    }
    const text = jsonStringify(value);
    const bytes = text.length * 3 <= valueBytesMax ? 0 : utf8Length(text);
    if (bytes > valueBytesMax) {
        refuseSize(bytes);
    }
    return text;
}
