/* util_types.js - util.types: what a value is by its nature, and not by what it says of itself. */

const TypedArray = Object.getPrototypeOf(Uint8Array);
const typedName = Object.getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag).get;
const nameOf = (value) => Reflect.apply(typedName, value, []);
const AsyncFunction = Object.getPrototypeOf(async () => {});
const GeneratorFunction = Object.getPrototypeOf(function* () {});
const AsyncGeneratorFunction = Object.getPrototypeOf(async function* () {});

function kind(value) {
    return value === null || typeof value !== "object" || vial.isProxy(value) ? undefined
        : vial.kindOf(value);
}

const is = (name) => (value) => kind(value) === name;
const tagOf = (value) => Object.prototype.toString.call(value);

function hasTag(value, tag) {
    return value !== null && typeof value === "object" && tagOf(value) === tag;
}

function isFunctionOf(...prototypes) {
    return (value) => typeof value === "function" && !vial.isProxy(value) &&
        prototypes.some((prototype) => prototype.isPrototypeOf(value));
}

const BOXES = ["Number", "String", "Boolean", "BigInt", "Symbol"];

const types = {
    isAnyArrayBuffer: is("ArrayBuffer"),
    isArgumentsObject: (value) => hasTag(value, "[object Arguments]") &&
        !Object.hasOwn(value, Symbol.toStringTag),
    isArrayBuffer: is("ArrayBuffer"),
    isArrayBufferView: ArrayBuffer.isView,
    isAsyncFunction: isFunctionOf(AsyncFunction, AsyncGeneratorFunction),
    isBigInt64Array: (value) => nameOf(value) === "BigInt64Array",
    isBigIntObject: is("BigInt"),
    isBigUint64Array: (value) => nameOf(value) === "BigUint64Array",
    isBooleanObject: is("Boolean"),
    isBoxedPrimitive: (value) => BOXES.includes(kind(value)),
    isCryptoKey: (value) => vial.isLoaded("web/subtle") && value instanceof vial.g.CryptoKey,
    isDataView: is("DataView"),
    isDate: is("Date"),
    isExternal: () => false,
    isFloat32Array: (value) => nameOf(value) === "Float32Array",
    isFloat64Array: (value) => nameOf(value) === "Float64Array",
    isGeneratorFunction: isFunctionOf(GeneratorFunction, AsyncGeneratorFunction),
    isGeneratorObject: (value) => ["Generator", "AsyncGenerator"].includes(kind(value)),
    isInt16Array: (value) => nameOf(value) === "Int16Array",
    isInt32Array: (value) => nameOf(value) === "Int32Array",
    isInt8Array: (value) => nameOf(value) === "Int8Array",
    isKeyObject: () => false,
    isMap: is("Map"),
    isMapIterator: (value) => hasTag(value, "[object Map Iterator]"),
    isModuleNamespaceObject: (value) => hasTag(value, "[object Module]"),
    isNativeError: (value) => Error.isError(value),
    isNumberObject: is("Number"),
    isPromise: is("Promise"),
    isProxy: (value) => vial.isProxy(value),
    isRegExp: is("RegExp"),
    isSet: is("Set"),
    isSetIterator: (value) => hasTag(value, "[object Set Iterator]"),
    isSharedArrayBuffer: () => false,
    isStringObject: is("String"),
    isSymbolObject: is("Symbol"),
    isTypedArray: (value) => nameOf(value) !== undefined,
    isUint16Array: (value) => nameOf(value) === "Uint16Array",
    isUint32Array: (value) => nameOf(value) === "Uint32Array",
    isUint8Array: (value) => nameOf(value) === "Uint8Array",
    isUint8ClampedArray: (value) => nameOf(value) === "Uint8ClampedArray",
    isWeakMap: is("WeakMap"),
    isWeakSet: is("WeakSet"),
};
module.exports = types;
