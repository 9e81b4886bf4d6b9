/* errors.js - errors as Node makes them: a plain class, a message, and a code. */
export function makeError(Class, code, message) {
    const error = new Class(message);
    Object.defineProperty(error, "code", {
        value: code, writable: true, enumerable: true, configurable: true,
    });
    return error;
}

/* What Node says that it received. */
export function received(value) {
    if (value === null || value === undefined) {
        return ` Received ${value}`;
    }
    if (typeof value === "function") {
        return ` Received function ${value.name}`;
    }
    if (typeof value === "object") {
        return value.constructor?.name ? ` Received an instance of ${value.constructor.name}`
            : ` Received ${vial.inspect(value, { depth: -1 })}`;
    }
    let shown = vial.inspect(value);
    if (shown.length > 28) {
        shown = `${shown.slice(0, 25)}...`;
    }
    return ` Received type ${typeof value} (${shown})`;
}

const PRIMITIVES = ["string", "function", "number", "object", "boolean", "bigint", "symbol"];

function listed(words, last) {
    if (words.length < 3) {
        return words.join(` ${last} `);
    }
    return `${words.slice(0, -1).join(", ")}, ${last} ${words.at(-1)}`;
}

/* wanted is a list of types and classes. */
export function invalidArgType(name, wanted, value) {
    const list = [].concat(wanted);
    const types = list.filter((word) => PRIMITIVES.includes(word.toLowerCase()) &&
        word !== "Object" || word === "Function").map((word) => word.toLowerCase());
    const classes = list.filter((word) => !types.includes(word.toLowerCase()) || word === "Object");
    let text = name.endsWith(" argument") ? `The ${name} must be `
        : `The "${name}" ${name.includes(".") ? "property" : "argument"} must be `;
    if (types.length > 0) {
        text += `${types.length > 1 ? "one of type" : "of type"} ${listed(types, "or")}`;
        text += classes.length > 0 ? " or " : "";
    }
    if (classes.length > 0) {
        text += `an instance of ${listed(classes, "or")}`;
    }
    return makeError(TypeError, "ERR_INVALID_ARG_TYPE", `${text}.${received(value)}`);
}

export function invalidArgValue(name, value, reason = "is invalid") {
    let shown = vial.inspect(value);
    if (shown.length > 128) {
        shown = `${shown.slice(0, 128)}...`;
    }
    const kind = name.includes(".") ? "property" : "argument";
    return makeError(TypeError, "ERR_INVALID_ARG_VALUE",
        `The ${kind} '${name}' ${reason}. Received ${shown}`);
}

function withUnderscores(text) {
    return text.replace(/\B(?=(\d{3})+(?!\d))/g, "_");
}

export function outOfRange(name, range, value) {
    let shown = typeof value === "string" ? vial.inspect(value) : String(value);
    if (Number.isInteger(value) && Math.abs(value) > 2 ** 32) {
        shown = withUnderscores(shown);
    } else if (typeof value === "bigint") {
        shown = `${value > 2n ** 32n || value < -(2n ** 32n) ? withUnderscores(shown) : shown}n`;
    }
    return makeError(RangeError, "ERR_OUT_OF_RANGE",
        `The value of "${name}" is out of range. It must be ${range}. Received ${shown}`);
}

export function checkFunction(value, name) {
    if (typeof value !== "function") {
        throw invalidArgType(name, "function", value);
    }
}

export function checkString(value, name) {
    if (typeof value !== "string") {
        throw invalidArgType(name, "string", value);
    }
}

export function checkInteger(value, name, min = Number.MIN_SAFE_INTEGER,
    max = Number.MAX_SAFE_INTEGER) {
    if (typeof value !== "number") {
        throw invalidArgType(name, "number", value);
    }
    if (!Number.isInteger(value)) {
        throw outOfRange(name, "an integer", value);
    }
    if (value < min || value > max) {
        throw outOfRange(name, `>= ${min} && <= ${max}`, value);
    }
}

export function checkObject(value, name) {
    if (value === null || typeof value !== "object") {
        throw invalidArgType(name, "Object", value);
    }
}

export function abortError(reason) {
    const error = makeError(Error, "ABORT_ERR", "The operation was aborted");
    error.name = "AbortError";
    if (reason !== undefined) {
        error.cause = reason;
    }
    return error;
}
