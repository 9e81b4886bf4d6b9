/* url.js - URL and URLSearchParams: the reference implementation, printed as Node prints them. */
import { URL, URLSearchParams } from "whatwg-url";

const inspectSymbol = Symbol.for("nodejs.util.inspect.custom");
const SHOWN = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port",
    "pathname", "search", "searchParams", "hash"];


function define(object, key, value) {
    Object.defineProperty(object, key, { value, writable: true, configurable: true });
}

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
