/* util.js - util: inspect and format are the console's own; the rest is small. */
import { isDeepEqual } from "../lib/deep_equal.js";
import { checkFunction, invalidArgType, invalidArgValue, makeError } from "../lib/errors.js";
import { parseArgs } from "../lib/parse_args.js";

const customPromisify = Symbol.for("nodejs.util.promisify.custom");

function promisify(original) {
    checkFunction(original, "original");
    const custom = original[customPromisify];
    if (custom !== undefined) {
        checkFunction(custom, "util.promisify.custom");
        return Object.defineProperty(custom, customPromisify,
            { value: custom, enumerable: false, writable: false, configurable: true });
    }
    function promisified(...args) {
        return new Promise((resolve, reject) => {
            Reflect.apply(original, this, [...args, (error, ...values) => {
                if (error) {
                    reject(error);
                } else {
                    resolve(values[0]);
                }
            }]);
        });
    }
    Object.setPrototypeOf(promisified, Object.getPrototypeOf(original));
    Object.defineProperty(promisified, customPromisify,
        { value: promisified, enumerable: false, writable: false, configurable: true });
    const members = Object.getOwnPropertyDescriptors(original);
    delete members.prototype;
    return Object.defineProperties(promisified, members);
}
promisify.custom = customPromisify;

for (const name of ["setTimeout", "setImmediate"]) {
    Object.defineProperty(vial.timers[name], customPromisify, {
        get: () => vial.require("timers/promises")[name], configurable: true,
    });
}

function callbackify(original) {
    checkFunction(original, "original");
    function callbackified(...args) {
        const callback = args.pop();
        checkFunction(callback, "last argument");
        Reflect.apply(original, this, args).then(
            (value) => process.nextTick(callback, null, value),
            (reason) => {
                let error = reason;
                if (!error) {
                    error = makeError(Error, "ERR_FALSY_VALUE_REJECTION",
                        "Promise was rejected with falsy value");
                    error.reason = reason;
                }
                process.nextTick(callback, error);
            });
    }
    const members = Object.getOwnPropertyDescriptors(original);
    delete members.prototype;
    members.name.value += "Callbackified";
    members.length.value++;
    return Object.defineProperties(callbackified, members);
}

function inherits(constructor, parent) {
    checkFunction(constructor, "ctor");
    checkFunction(parent, "superCtor");
    if (parent.prototype === undefined) {
        throw invalidArgType("superCtor.prototype", "Object", parent.prototype);
    }
    Object.defineProperty(constructor, "super_", { value: parent, writable: true, configurable: true });
    Object.setPrototypeOf(constructor.prototype, parent.prototype);
}

const warned = new Set();

function deprecate(original, message, code = undefined) {
    let isDone = false;
    function deprecated(...args) {
        if (!isDone) {
            isDone = true;
            if (code === undefined || !warned.has(code)) {
                warned.add(code);
                vial.print(2, `DeprecationWarning: ${message}\n`);
            }
        }
        return new.target ? Reflect.construct(original, args, new.target)
            : Reflect.apply(original, this, args);
    }
    Object.setPrototypeOf(deprecated, original);
    if (original.prototype) {
        deprecated.prototype = original.prototype;
    }
    return deprecated;
}

/* NODE_DEBUG chooses the sections that are shown, as in Node. */
function debuglog(section, callback = undefined) {
    const name = `${section}`.toUpperCase();
    const wanted = `${process.env?.NODE_DEBUG ?? ""}`.toUpperCase().split(",");
    const isEnabled = wanted.some((word) => word === name || word === "*" ||
        word.endsWith("*") && name.startsWith(word.slice(0, -1)));
    const log = (...args) => {
        if (isEnabled) {
            vial.print(2, `${name} ${process.pid}: ${format(...args)}\n`);
        }
    };
    Object.defineProperty(log, "enabled", { get: () => isEnabled });
    callback?.(log);
    return log;
}

function format(...args) {
    return vial.formatArguments(args);
}

function formatWithOptions(options, ...args) {
    if (options === null || typeof options !== "object") {
        throw invalidArgType("inspectOptions", "object", options);
    }
    return vial.formatArguments(args.map((value) => typeof value === "object" && value !== null
        ? { [inspect.custom]: () => inspect(value, options) } : value));
}

/* The older form has showHidden, depth and colors as arguments. */
function inspect(value, options = undefined, depth = undefined) {
    if (options !== null && typeof options === "object") {
        return vial.inspect(value, { ...inspect.defaultOptions, ...options });
    }
    const given = typeof options === "boolean" ? { showHidden: options } : {};
    return vial.inspect(value, { ...inspect.defaultOptions, ...given,
        ...depth === undefined ? {} : { depth } });
}

inspect.custom = Symbol.for("nodejs.util.inspect.custom");
inspect.defaultOptions = {
    showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false,
    maxArrayLength: 100, maxStringLength: 10000, breakLength: 80, compact: 3, sorted: false,
    getters: false, numericSeparator: false,
};
inspect.colors = Object.assign(Object.create(null), {
    reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], blink: [5, 25],
    inverse: [7, 27], hidden: [8, 28], strikethrough: [9, 29], doubleunderline: [21, 24],
    black: [30, 39], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39],
    magenta: [35, 39], cyan: [36, 39], white: [37, 39], bgBlack: [40, 49], bgRed: [41, 49],
    bgGreen: [42, 49], bgYellow: [43, 49], bgBlue: [44, 49], bgMagenta: [45, 49], bgCyan: [46, 49],
    bgWhite: [47, 49], framed: [51, 54], overlined: [53, 55], gray: [90, 39], grey: [90, 39],
    blackBright: [90, 39], redBright: [91, 39], greenBright: [92, 39], yellowBright: [93, 39],
    blueBright: [94, 39], magentaBright: [95, 39], cyanBright: [96, 39], whiteBright: [97, 39],
    bgGray: [100, 49], bgRedBright: [101, 49], bgGreenBright: [102, 49], bgYellowBright: [103, 49],
    bgBlueBright: [104, 49], bgMagentaBright: [105, 49], bgCyanBright: [106, 49],
    bgWhiteBright: [107, 49],
});
inspect.styles = Object.assign(Object.create(null), {
    special: "cyan", number: "yellow", bigint: "yellow", boolean: "yellow", undefined: "grey",
    null: "bold", string: "green", symbol: "green", date: "magenta", regexp: "red",
    module: "underline",
});

/* Colours are for terminals, and there is none unless the caller says not to look. */
function styleText(formats, text, { validateStream = true } = {}) {
    let before = "";
    let after = "";
    for (const name of [].concat(formats)) {
        const codes = inspect.colors[name];
        if (codes === undefined) {
            throw invalidArgValue("format", name,
                `must be one of: ${Object.keys(inspect.colors).map((one) => `'${one}'`).join(", ")}`);
        }
        before += `\u001b[${codes[0]}m`;
        after = `\u001b[${codes[1]}m${after}`;
    }
    return validateStream ? text : `${before}${text}${after}`;
}

/* Escape sequences that move the cursor, colour the text or name a link. */
const CONTROL = /[\u001b\u009b](?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[[\]()#;?]*(?:\d{1,4}(?:[;:]\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~])/g;

function stripVTControlCharacters(text) {
    if (typeof text !== "string") {
        throw invalidArgType("str", "string", text);
    }
    return text.replace(CONTROL, "");
}

const ERRNO = {
    __proto__: null, EPERM: 1, ENOENT: 2, EIO: 5, EBADF: 9, EACCES: 13, EEXIST: 17, ENOTDIR: 20,
    EISDIR: 21, EINVAL: 22, EMFILE: 24, ENOSPC: 28, EPIPE: 32, ENOTEMPTY: 39, ETIMEDOUT: 110,
    ECONNREFUSED: 111, ECONNRESET: 104,
};

function getSystemErrorName(number) {
    for (const [name, value] of Object.entries(ERRNO)) {
        if (value === -number) {
            return name;
        }
    }
    return `Unknown system error ${number}`;
}

function aborted(signal, resource) {
    if (resource === null || typeof resource !== "object") {
        throw invalidArgType("resource", "Object", resource);
    }
    return signal.aborted ? Promise.resolve() : new Promise((resolve) => {
        signal.addEventListener("abort", resolve, { once: true });
    });
}

const types = vial.require("util/types");

module.exports = {
    _extend: (target, source) => Object.assign(target, source),
    aborted, callbackify, debug: debuglog, debuglog, deprecate, format, formatWithOptions,
    getSystemErrorName, inherits, inspect, isArray: Array.isArray,
    isBoolean: (value) => typeof value === "boolean",
    isDate: types.isDate,
    isDeepStrictEqual: (a, b) => isDeepEqual(a, b, true),
    isError: (value) => types.isNativeError(value) || value instanceof Error,
    isFunction: (value) => typeof value === "function",
    isNull: (value) => value === null,
    isNullOrUndefined: (value) => value === null || value === undefined,
    isNumber: (value) => typeof value === "number",
    isObject: (value) => value !== null && typeof value === "object",
    isPrimitive: (value) => value === null || typeof value !== "object" && typeof value !== "function",
    isRegExp: types.isRegExp,
    isString: (value) => typeof value === "string",
    isSymbol: (value) => typeof value === "symbol",
    isUndefined: (value) => value === undefined,
    parseArgs, promisify, stripVTControlCharacters, styleText,
    toUSVString: (text) => `${text}`.toWellFormed(),
    types,
};

for (const name of ["TextDecoder", "TextEncoder"]) {
    Object.defineProperty(module.exports, name, { get: () => vial.g[name], enumerable: true,
        configurable: true });
}
