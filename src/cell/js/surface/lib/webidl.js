/* webidl.js - stands in for webidl-conversions, of which whatwg-url uses three conversions; the
 * package itself insists on a SharedArrayBuffer. */
export function DOMString(value, { context, treatNullAsEmptyString } = {}) {
    if (value === null && treatNullAsEmptyString) {
        return "";
    }
    if (typeof value === "symbol") {
        throw new TypeError(`${context} is a symbol, which cannot be converted to a string`);
    }
    return String(value);
}

export function USVString(value, options) {
    return DOMString(value, options).toWellFormed();
}

export function any(value) {
    return value;
}

function toUndefined() {
    return undefined;
}

export { toUndefined as undefined };
