/* url.js - URL and URLSearchParams: the reference implementation, printed as Node prints them. */
import { URL as StandardURL, URLSearchParams } from "whatwg-url";
import { makeError } from "../lib/errors.js";

const inspectSymbol = Symbol.for("nodejs.util.inspect.custom");
const SHOWN = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port",
    "pathname", "search", "searchParams", "hash"];


function define(object, key, value) {
    Object.defineProperty(object, key, { value, writable: true, configurable: true });
}

/* Node's code and properties for what is no URL; the text itself stays in the message. */
function refusal(input, base) {
    const error = makeError(TypeError, "ERR_INVALID_URL", `Invalid URL: ${input}`);
    error.input = `${input}`;
    if (base !== undefined) {
        error.base = `${base}`;
    }
    return error;
}

function URL(input, base = undefined) {
    if (new.target === undefined) {
        throw new TypeError("Class constructor URL cannot be invoked without 'new'");
    }
    if (arguments.length === 0) {
        throw makeError(TypeError, "ERR_MISSING_ARGS", 'The "url" argument must be specified');
    }
    try {
        return Reflect.construct(StandardURL, base === undefined ? [input] : [input, base], new.target);
    } catch (error) {
        throw error.message.startsWith("Invalid") ? refusal(input, base) : error;
    }
}
Object.defineProperty(URL, "length", { value: 1, configurable: true });
Object.defineProperty(URL, "prototype", { value: StandardURL.prototype, writable: false });
define(URL.prototype, "constructor", URL);
for (const name of ["canParse", "parse"]) {
    define(URL, name, StandardURL[name]);
}

const href = Object.getOwnPropertyDescriptor(URL.prototype, "href");
Object.defineProperty(URL.prototype, "href", {
    ...href,
    set(value) {
        try {
            Reflect.apply(href.set, this, [value]);
        } catch (error) {
            throw error.message.startsWith("Invalid") ? refusal(value) : error;
        }
    },
});

define(URL.prototype, inspectSymbol, function inspectURL(depth, options, inspect) {
    if (depth < 0) {
        return `${this.constructor.name} {}`;
    }
    const members = {};
    for (const name of SHOWN) {
        members[name] = this[name];
    }
    return `${this.constructor.name} ${inspect(members, options)}`;
});

define(URLSearchParams.prototype, inspectSymbol, function inspectParams(depth, options, inspect) {
    const shown = [...this].map(([name, value]) => `${inspect(name)} => ${inspect(value)}`);
    if (shown.length === 0) {
        return "URLSearchParams {}";
    }
    const line = `URLSearchParams { ${shown.join(", ")} }`;
    return line.length <= 72 ? line : `URLSearchParams {\n  ${shown.join(",\n  ")} }`;
});

function noObjectURL() {
    throw new Error("URL.createObjectURL is not available in vial: a blob has no address here; use " +
        "await blob.text() or blob.arrayBuffer()");
}

define(URL, "createObjectURL", noObjectURL);
define(URL, "revokeObjectURL", noObjectURL);

export { URL, URLSearchParams };
