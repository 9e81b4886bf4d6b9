/* querystring.js - querystring, as Node has it. */

function qsEscape(text) {
    const value = typeof text === "string" ? text : typeof text === "object" ? String(text) : `${text}`;
    try {
        return encodeURIComponent(value);
    } catch {
        const error = new URIError("URI malformed");
        error.code = "ERR_INVALID_URI";
        throw error;
    }
}

/* Percent signs that are no escapes stay; bytes that are not UTF-8 become U+FFFD. */
function unescapeBuffer(text) {
    const bytes = Buffer.from(`${text}`);
    const out = Buffer.alloc(bytes.length);
    let n = 0;
    for (let i = 0; i < bytes.length; i++) {
        const hex = bytes[i] === 37 ? /^[0-9a-fA-F]{2}$/.exec(bytes.toString("latin1", i + 1, i + 3)) : null;
        if (hex !== null) {
            out[n++] = parseInt(hex[0], 16);
            i += 2;
        } else {
            out[n++] = bytes[i];
        }
    }
    return out.subarray(0, n);
}

function qsUnescape(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return unescapeBuffer(text).toString();
    }
}

function primitive(value) {
    switch (typeof value) {
    case "string":
        return value;
    case "number":
        return Number.isFinite(value) ? `${value}` : "";
    case "bigint":
    case "boolean":
        return `${value}`;
    default:
        return "";
    }
}

function stringify(object, separator = "&", equals = "=", options = undefined) {
    const escape = typeof options?.encodeURIComponent === "function" ? options.encodeURIComponent
        : querystring.escape;
    if (object === null || typeof object !== "object") {
        return "";
    }
    const pairs = [];
    for (const key of Object.keys(object)) {
        const name = escape(primitive(key)) + (equals || "=");
        for (const value of Array.isArray(object[key]) ? object[key] : [object[key]]) {
            pairs.push(name + escape(primitive(value)));
        }
    }
    return pairs.join(separator || "&");
}

function parse(text, separator = "&", equals = "=", options = undefined) {
    const object = Object.create(null);
    if (typeof text !== "string" || text.length === 0) {
        return object;
    }
    const unescape = typeof options?.decodeURIComponent === "function" ? options.decodeURIComponent
        : querystring.unescape;
    const read = (piece) => {
        const plain = piece.replace(/\+/g, "%20");
        try {
            return unescape(plain);
        } catch {
            return qsUnescape(plain);
        }
    };
    const sign = equals || "=";
    const max = typeof options?.maxKeys === "number" ? options.maxKeys : 1000;
    let pieces = text.split(separator || "&");
    pieces = max > 0 ? pieces.slice(0, max) : pieces;
    for (const piece of pieces) {
        if (piece === "") {
            continue;
        }
        const at = piece.indexOf(sign);
        const name = read(at < 0 ? piece : piece.slice(0, at));
        const value = at < 0 ? "" : read(piece.slice(at + sign.length));
        if (!(name in object)) {
            object[name] = value;
        } else if (Array.isArray(object[name])) {
            object[name].push(value);
        } else {
            object[name] = [object[name], value];
        }
    }
    return object;
}

const querystring = {
    unescapeBuffer, unescape: qsUnescape, escape: qsEscape, stringify, encode: stringify, parse,
    decode: parse,
};
module.exports = querystring;
