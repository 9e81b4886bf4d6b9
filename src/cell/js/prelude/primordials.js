/* primordials.js - the built-ins the prelude uses, copied before a guest can change them.
 *
 * Guest code runs in the same realm and may replace anything it can reach: JSON, Promise.prototype
 * .then, Array.prototype[Symbol.iterator], a setter at Array.prototype[0]. So the prelude calls
 * only the copies below, and keeps to these rules after the guest has started:
 *
 *   - no method call on a value (`text.slice()`), only the copy (`stringSlice(text)`);
 *   - no for-of, spread or array destructuring, because they call the guest's iterators;
 *   - objects that are looked up have no prototype, and growing arrays come from makeList();
 *   - guest objects are read through property descriptors, so that no getter or trap runs. */

const {
    apply, construct, defineProperty, deleteProperty, getPrototypeOf, isExtensible,
    ownKeys, get: reflectGet,
} = Reflect;
const {
    getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, hasOwn, keys: objectKeys,
    setPrototypeOf,
} = Object;
const { isArray } = Array;
const { isError } = Error;
const { stringify: jsonStringify } = JSON;
const { abs, floor, max, min, round, sqrt } = Math;
const { now: dateNow } = Date;
const {
    Error: ErrorClass, Map: MapClass, Number: NumberClass, Promise: PromiseClass,
    RangeError: RangeErrorClass, String: StringClass, TypeError: TypeErrorClass,
    BigInt: BigIntFunction, Date: DateClass, RegExp: RegExpClass, Set: SetClass,
    Uint8Array: Uint8ArrayClass, WeakMap: WeakMapClass, parseFloat: parseFloatCopy,
    parseInt: parseIntCopy,
} = globalThis;
const { toPrimitive: symbolToPrimitive, toStringTag: symbolTag } = Symbol;
const symbolInspect = Symbol.for("nodejs.util.inspect.custom");

/* A built-in method as a plain function whose first argument is the receiver. The argument arrays
 * are literals: their elements are own properties, so no setter of a guest can see them. */
const method0 = (fn) => (self) => apply(fn, self, []);
const method1 = (fn) => (self, a) => apply(fn, self, [a]);
const method2 = (fn) => (self, a, b) => apply(fn, self, [a, b]);
const getterOf = (object, key) => method0(getOwnPropertyDescriptor(object, key).get);

const ObjectPrototype = Object.prototype;
const ArrayPrototype = Array.prototype;
const PromisePrototype = Promise.prototype;
const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype);

const objectToString = method0(ObjectPrototype.toString);
const isEnumerable = method1(ObjectPrototype.propertyIsEnumerable);
const functionToString = method0(Function.prototype.toString);
const arrayJoin = method1(ArrayPrototype.join);
const charCodeAt = method1(String.prototype.charCodeAt);
const stringEndsWith = method1(String.prototype.endsWith);
const stringIncludes = method1(String.prototype.includes);
const stringIndexOf = method2(String.prototype.indexOf);
const stringLastIndexOf = method1(String.prototype.lastIndexOf);
const stringPadStart = method1(String.prototype.padStart);
const stringRepeat = method1(String.prototype.repeat);
const stringSlice = method2(String.prototype.slice);
const stringStartsWith = method1(String.prototype.startsWith);
const stringToLowerCase = method0(String.prototype.toLowerCase);
const stringValueOf = method0(String.prototype.valueOf);
const numberToFixed = method1(Number.prototype.toFixed);
const numberToString = method1(Number.prototype.toString);
const numberValueOf = method0(Number.prototype.valueOf);
const booleanValueOf = method0(Boolean.prototype.valueOf);
const bigintToString = method1(BigInt.prototype.toString);
const bigintValueOf = method0(BigInt.prototype.valueOf);
const symbolToString = method0(Symbol.prototype.toString);
const symbolValueOf = method0(Symbol.prototype.valueOf);
const dateGetTime = method0(Date.prototype.getTime);
const dateToISOString = method0(Date.prototype.toISOString);
const promiseThen = method2(Promise.prototype.then);
const mapDelete = method1(Map.prototype.delete);
const mapForEach = method1(Map.prototype.forEach);
const mapGet = method1(Map.prototype.get);
const mapSet = method2(Map.prototype.set);
const mapSize = getterOf(Map.prototype, "size");
const setAdd = method1(Set.prototype.add);
const setForEach = method1(Set.prototype.forEach);
const setSize = getterOf(Set.prototype, "size");
const weakMapHas = method1(WeakMap.prototype.has);
const weakMapGet = method1(WeakMap.prototype.get);
const weakMapSet = method2(WeakMap.prototype.set);
const weakSetHas = method1(WeakSet.prototype.has);
const weakSetAdd = method1(WeakSet.prototype.add);
const bufferByteLength = getterOf(ArrayBuffer.prototype, "byteLength");
const bufferDetached = getterOf(ArrayBuffer.prototype, "detached");
const viewBuffer = getterOf(DataView.prototype, "buffer");
const viewByteLength = getterOf(DataView.prototype, "byteLength");
const viewByteOffset = getterOf(DataView.prototype, "byteOffset");
const typedArrayBuffer = getterOf(TypedArrayPrototype, "buffer");
const typedArrayByteLength = getterOf(TypedArrayPrototype, "byteLength");
const typedArrayByteOffset = getterOf(TypedArrayPrototype, "byteOffset");
const typedArraySet = method2(TypedArrayPrototype.set);
const typedArrayLength = getterOf(TypedArrayPrototype, "length");
const typedArrayName = getterOf(TypedArrayPrototype, symbolTag);
const regexpExec = method1(RegExp.prototype.exec);
const regexpSource = getterOf(RegExp.prototype, "source");
/* RegExp.prototype.flags itself reads these properties from the object, where a guest could have
 * put getters of its own; asking each flag directly does not. */
const regexpFlags = [
    "d", getterOf(RegExp.prototype, "hasIndices"), "g", getterOf(RegExp.prototype, "global"),
    "i", getterOf(RegExp.prototype, "ignoreCase"), "m", getterOf(RegExp.prototype, "multiline"),
    "s", getterOf(RegExp.prototype, "dotAll"), "u", getterOf(RegExp.prototype, "unicode"),
    "v", getterOf(RegExp.prototype, "unicodeSets"), "y", getterOf(RegExp.prototype, "sticky"),
];

function flagsOf(expression) {
    let flags = "";
    for (let i = 0; i < regexpFlags.length; i += 2) {
        flags += regexpFlags[i + 1](expression) ? regexpFlags[i] : "";
    }
    return flags;
}

const {
    write: nativeWrite, now: nativeNow, stands: nativeStands, proxyTarget: nativeProxyTarget, encode: nativeEncode,
    decode: nativeDecode,
} = native;

/* Guests can build prototype chains without end out of proxies, so every walk along one stops. */
const CHAIN_STEPS_MAX = 1000;

/* An array without a prototype: an assignment past its end always makes an own element, whatever
 * setters a guest has put on Array.prototype. */
function makeList() {
    return setPrototypeOf([], null);
}

function listOf(array) {
    const list = makeList();
    for (let i = 0; i < array.length; i++) {
        list[i] = array[i];
    }
    return list;
}

function isObject(value) {
    return (typeof value === "object" && value !== null) || typeof value === "function";
}

/* Asking the engine whether an object is a proxy costs a quarter of a microsecond, and hardly any
 * program makes one. So the guest's Proxy notes when it makes the first, and nobody asks before. */
let proxiesExist = false;
const { Proxy: ProxyClass } = globalThis;
const { revocable: makeRevocable } = ProxyClass;

function Proxy(target, handler) {
    if (new.target === undefined) {
        throw new TypeErrorClass("calling Proxy constructor without new is invalid");
    }
    proxiesExist = true;
    return construct(ProxyClass, [target, handler]);
}

const guestProxyMembers = {
    revocable(target, handler) {
        proxiesExist = true;
        return makeRevocable(target, handler);
    },
};
defineHidden(Proxy, "revocable", guestProxyMembers.revocable);
Proxy.prototype = undefined; /* as the engine's own: proxies have no class */

/* The object behind any number of proxies, or undefined when one of them has been revoked. Array
 * .isArray is the one operation that notices a revoked proxy without running a trap. */
function unwrapProxy(object) {
    if (!proxiesExist) {
        return object;
    }
    for (let steps = 0; steps < CHAIN_STEPS_MAX; steps++) {
        const target = nativeProxyTarget(object);
        if (target === null) {
            return object;
        }
        try {
            isArray(object);
        } catch {
            return undefined;
        }
        object = target;
    }
    return undefined;
}

/* The prototype of an object that is not a proxy, seen through proxies; null at the end. */
function protoOf(object) {
    const proto = getPrototypeOf(object);
    if (proto === null || proto === ObjectPrototype) {
        return proto;
    }
    const target = unwrapProxy(proto);
    return target === undefined ? null : target;
}

/* An own data property's value; undefined for accessors and for what is not there. The descriptor
 * inherits from Object.prototype, hence hasOwn: a guest may have defined `value` there. */
function ownData(object, key) {
    const descriptor = getOwnPropertyDescriptor(object, key);
    return descriptor !== undefined && hasOwn(descriptor, "value") ? descriptor.value : undefined;
}

/* What `object[key]` gives when the property is plain data; undefined when an accessor decides. */
function chainData(object, key) {
    for (let steps = 0; object !== null && steps < CHAIN_STEPS_MAX; steps++) {
        const descriptor = getOwnPropertyDescriptor(object, key);
        if (descriptor !== undefined) {
            return hasOwn(descriptor, "value") ? descriptor.value : undefined;
        }
        object = protoOf(object);
    }
    return undefined;
}

function chainHas(object, proto) {
    for (let steps = 0; object !== null && steps < CHAIN_STEPS_MAX; steps++) {
        object = protoOf(object);
        if (object === proto) {
            return true;
        }
    }
    return false;
}

/* Prototypes of the built-ins and the name each one's instances go by. */
const builtinPrototypes = new MapClass();

/* Of these, the ones that are classes; a guest may have renamed their constructors since. */
const builtinClasses = new MapClass();

function registerBuiltins() {
    const names = getOwnPropertyNames(globalThis);
    for (let i = 0; i < names.length; i++) {
        const value = globalThis[names[i]];
        if (typeof value === "function" && isObject(value.prototype)) {
            mapSet(builtinPrototypes, value.prototype, names[i]);
            mapSet(builtinClasses, value.prototype, names[i]);
        }
    }
    const generator = getPrototypeOf(function* () {});
    const asyncGenerator = getPrototypeOf(async function* () {});
    mapSet(builtinPrototypes, TypedArrayPrototype, "TypedArray");
    mapSet(builtinPrototypes, generator, "GeneratorFunction");
    mapSet(builtinPrototypes, generator.prototype, "Generator");
    mapSet(builtinPrototypes, asyncGenerator, "AsyncGeneratorFunction");
    mapSet(builtinPrototypes, asyncGenerator.prototype, "AsyncGenerator");
    mapSet(builtinPrototypes, getPrototypeOf(async () => {}), "AsyncFunction");
    const intl = getOwnPropertyNames(Intl);
    for (let i = 0; i < intl.length; i++) {
        const value = Intl[intl[i]];
        if (typeof value === "function" && isObject(value.prototype)) {
            mapSet(builtinPrototypes, value.prototype, `Intl.${intl[i]}`);
        }
    }
    mapDelete(builtinClasses, globalThis.Iterator.prototype); /* Node 20 has no such class */
    mapDelete(builtinPrototypes, ObjectPrototype);
    mapDelete(builtinPrototypes, Function.prototype);
}
registerBuiltins();

/* For each kind whose objects have inner slots: a probe that throws when they are missing, as they
 * are in Object.create(Map.prototype). */
const kindProbes = {
    __proto__: null,
    ArrayBuffer: bufferByteLength,
    BigInt: bigintValueOf,
    Boolean: booleanValueOf,
    DataView: viewByteLength,
    Date: dateGetTime,
    Map: mapSize,
    Number: numberValueOf,
    RegExp: regexpSource,
    Set: setSize,
    String: stringValueOf,
    Symbol: symbolValueOf,
    WeakMap: (object) => weakMapHas(object, object),
    WeakSet: (object) => weakSetHas(object, object),
};

/* What a non-proxy object is, by its nature and not by what it claims: "Array", "Function",
 * "TypedArray", "Map", "Error", ... and "Object" for everything without a nature of its own. */
function kindOf(object) {
    if (typeof object === "function") {
        return "Function";
    }
    if (isArray(object)) {
        return "Array";
    }
    if (isError(object)) {
        return "Error";
    }
    let proto = protoOf(object);
    for (let steps = 0; proto !== null && proto !== ObjectPrototype; steps++) {
        const name = mapGet(builtinPrototypes, proto);
        if (name !== undefined) {
            return provenKind(object, name);
        }
        if (steps >= CHAIN_STEPS_MAX) {
            break;
        }
        proto = protoOf(proto);
    }
    return "Object";
}

function provenKind(object, name) {
    if (typedArrayName(object) !== undefined) {
        return "TypedArray";
    }
    if (stringEndsWith(name, "Error")) {
        return "Error";
    }
    if (name === "Array" || stringEndsWith(name, "Function")) {
        return "Object";
    }
    const probe = kindProbes[name];
    if (probe !== undefined) {
        try {
            probe(object);
        } catch {
            return "Object";
        }
    }
    return name;
}

function setName(fn, name) {
    defineProperty(fn, "name", { __proto__: null, value: name, configurable: true });
}

function defineHidden(object, key, value) {
    defineProperty(object, key, {
        __proto__: null, value, writable: true, enumerable: false, configurable: true,
    });
}

/* Cuts text to a number of UTF-16 units and says how much is missing. */
function cutText(text, units) {
    if (text.length <= units) {
        return text;
    }
    return `${stringSlice(text, 0, units)}... (${text.length - units} more characters)`;
}

function plural(count, noun) {
    return count === 1 ? `${count} ${noun}` : `${count} ${noun}s`;
}
