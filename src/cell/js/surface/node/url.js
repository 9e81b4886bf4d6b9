/* url.js - the old url.parse, format and resolve from the package url, and the WHATWG classes. */
import legacy from "package-url";
import { invalidArgType, makeError } from "../lib/errors.js";

function checkUrl(value) {
    if (typeof value !== "string") {
        throw invalidArgType("url", "string", value);
    }
}

function parse(text, parseQuery = false, slashesDenoteHost = false) {
    checkUrl(text);
    return legacy.parse(text, parseQuery, slashesDenoteHost);
}

function formatWhatwg(url, { auth = true, fragment = true, search = true, unicode = false } = {}) {
    const copy = new URL(url.href);
    if (!auth) {
        copy.username = "";
        copy.password = "";
    }
    copy.hash = fragment ? copy.hash : "";
    copy.search = search ? copy.search : "";
    return unicode ? copy.href.replace(copy.hostname, domainToUnicode(copy.hostname)) : copy.href;
}

function format(value, options = undefined) {
    if (value instanceof URL) {
        return formatWhatwg(value, options);
    }
    if (typeof value !== "string" && (value === null || typeof value !== "object")) {
        throw invalidArgType("urlObject", ["Object", "string"], value);
    }
    return legacy.format(value);
}

function domainToASCII(domain) {
    return vial.native.domainToASCII(`${domain}`) ?? "";
}

function domainToUnicode(domain) {
    return domainToASCII(domain) === "" ? "" : vial.native.domainToUnicode(`${domain}`) ?? "";
}

function fileURLToPath(value) {
    const url = typeof value === "string" ? new URL(value) : value;
    if (!(url instanceof URL)) {
        throw invalidArgType("path", ["string", "URL"], value);
    }
    if (url.protocol !== "file:") {
        throw makeError(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    }
    if (url.hostname !== "") {
        throw makeError(TypeError, "ERR_INVALID_FILE_URL_HOST",
            'File URL host must be "localhost" or empty on linux');
    }
    if (/%2f/i.test(url.pathname)) {
        throw makeError(TypeError, "ERR_INVALID_FILE_URL_PATH",
            "File URL path must not include encoded / characters");
    }
    return decodeURIComponent(url.pathname);
}

function pathToFileURL(path) {
    let full = vial.require("path").resolve(path);
    full += path.endsWith("/") && !full.endsWith("/") ? "/" : "";
    const url = new URL("file:///");
    url.pathname = full.replace(/%/g, "%25").replace(/\\/g, "%5C").replace(/\n/g, "%0A")
        .replace(/\r/g, "%0D").replace(/\t/g, "%09").replace(/\?/g, "%3F").replace(/#/g, "%23");
    return url;
}

function urlToHttpOptions(url) {
    const { hostname, protocol, hash, search, pathname, href, port, username, password } = url;
    const options = {
        __proto__: null, ...url, protocol,
        hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
        hash, search, pathname, path: `${pathname}${search}`, href,
    };
    if (port !== "") {
        options.port = Number(port);
    }
    if (username || password) {
        options.auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    }
    return options;
}

module.exports = {
    Url: legacy.Url, parse, resolve: legacy.resolve, resolveObject: legacy.resolveObject, format,
    URL, URLSearchParams, domainToASCII, domainToUnicode, pathToFileURL, fileURLToPath, urlToHttpOptions,
};
