/* fetch.js - Headers, Request and Response: data structures only, for there is no network.
 *
 * Programs build and read these without ever sending them: to test handlers, to parse a body, to
 * pass headers around. */
import { UTF8, bytesOf, decode, encode } from "../lib/encodings.js";
import { formatMultipart, parseMultipart } from "../lib/multipart.js";

const inspectSymbol = Symbol.for("nodejs.util.inspect.custom");
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const NULL_BODY = [101, 103, 204, 205, 304];
const FORBIDDEN_METHODS = ["CONNECT", "TRACE", "TRACK"];
const UPPERCASE_METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];

function headerName(name) {
    const text = `${name}`;
    if (!TOKEN.test(text)) {
        throw new TypeError(`Headers: ${text} is an invalid header name.`);
    }
    return text.toLowerCase();
}

function headerValue(value) {
    const text = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
    if (/[\0\r\n]|[^\x00-\xff]/.test(text)) {
        throw new TypeError(`Headers: ${JSON.stringify(text)} is an invalid header value.`);
    }
    return text;
}

export class Headers {
    #values = new Map();
    #cookies = [];

    constructor(init = undefined) {
        if (init === undefined) {
            return;
        }
        if (init === null || typeof init !== "object") {
            throw new TypeError("Headers constructor: init must be a record, a list of pairs or Headers");
        }
        if (typeof init[Symbol.iterator] === "function") {
            for (const pair of init) {
                const [name, value] = [...pair];
                if ([...pair].length !== 2) {
                    throw new TypeError("Headers constructor: expected name/value pair");
                }
                this.append(name, value);
            }
            return;
        }
        for (const name of Reflect.ownKeys(init)) {
            if (Object.prototype.propertyIsEnumerable.call(init, name)) {
                this.append(name, init[name]);
            }
        }
    }

    append(name, value) {
        const key = headerName(name);
        const text = headerValue(value);
        if (key === "set-cookie") {
            this.#cookies.push(text);
            return;
        }
        const before = this.#values.get(key);
        this.#values.set(key, before === undefined ? text
            : `${before}${key === "cookie" ? "; " : ", "}${text}`);
    }

    set(name, value) {
        const key = headerName(name);
        const text = headerValue(value);
        if (key === "set-cookie") {
            this.#cookies = [text];
        } else {
            this.#values.set(key, text);
        }
    }

    get(name) {
        const key = headerName(name);
        if (key === "set-cookie") {
            return this.#cookies.length > 0 ? this.#cookies.join(", ") : null;
        }
        return this.#values.get(key) ?? null;
    }

    has(name) {
        const key = headerName(name);
        return key === "set-cookie" ? this.#cookies.length > 0 : this.#values.has(key);
    }

    delete(name) {
        const key = headerName(name);
        if (key === "set-cookie") {
            this.#cookies = [];
        }
        this.#values.delete(key);
    }

    getSetCookie() {
        return [...this.#cookies];
    }

    forEach(callback, self = undefined) {
        for (const [name, value] of this) {
            Reflect.apply(callback, self, [value, name, this]);
        }
    }

    * entries() {
        const all = [...this.#values, ...this.#cookies.map((value) => ["set-cookie", value])];
        yield* all.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
    }

    * keys() {
        for (const [name] of this.entries()) {
            yield name;
        }
    }

    * values() {
        for (const [, value] of this.entries()) {
            yield value;
        }
    }

    [Symbol.iterator]() {
        return this.entries();
    }

    get [Symbol.toStringTag]() {
        return "Headers";
    }

    [inspectSymbol](depth, options, inspect) {
        return `Headers ${inspect(Object.fromEntries(this), options)}`;
    }
}

/* Is it an instance of a class of another text? Not when that text was never loaded. */
function isA(value, name, text) {
    return vial.isLoaded(text) && value instanceof vial.g[name];
}

function streamOf(bytes) {
    return new ReadableStream({
        type: "bytes",
        start(controller) {
            if (bytes.length > 0) {
                controller.enqueue(bytes.slice());
            }
            controller.close();
        },
    });
}

/* What a body is made of: bytes or a stream, and the type that goes with it. */
function extract(body) {
    if (isA(body, "ReadableStream", "web/streams")) {
        if (body.locked) {
            throw new TypeError("Response body object should not be disturbed or locked");
        }
        return { stream: body, type: null };
    }
    if (isA(body, "Blob", "web/blob")) {
        return { blob: body, type: body.type || null };
    }
    const bytes = bytesOf(body);
    if (bytes !== undefined) {
        return { bytes: bytes.slice(), type: null };
    }
    if (isA(body, "FormData", "web/blob")) {
        return formatMultipart(body);
    }
    if (isA(body, "URLSearchParams", "web/url")) {
        return { bytes: encode(UTF8, `${body}`),
            type: "application/x-www-form-urlencoded;charset=UTF-8" };
    }
    if (typeof body?.[Symbol.asyncIterator] === "function") {
        return { stream: ReadableStream.from(body), type: null };
    }
    return { bytes: encode(UTF8, `${body}`.toWellFormed()), type: "text/plain;charset=UTF-8" };
}

async function readAll(stream) {
    const reader = stream.getReader();
    const pieces = [];
    let size = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) {
            break;
        }
        const piece = bytesOf(value);
        if (piece === undefined) {
            throw new TypeError("Received non-Uint8Array chunk");
        }
        pieces.push(piece);
        size += piece.length;
    }
    const all = new Uint8Array(size);
    let at = 0;
    for (const piece of pieces) {
        all.set(piece, at);
        at += piece.length;
    }
    return all;
}

/* Says that a response is made of what the host answered: see answered(). */
const ANSWER = {};

/* The half that requests and responses share. */
class Body {
    #source = null;
    #stream = null;
    #used = false;
    #headers;
    #pairs; /* of an answer: nobody has asked for its headers yet */
    #state;

    get _headers() {
        if (this.#headers === undefined) {
            this.#headers = headersOf(this.#pairs);
        }
        return this.#headers;
    }

    get _state() {
        return this.#state;
    }

    /* The stream that it was made of, or null; who takes it has used it. */
    get _stream() {
        if (this.#source?.stream === undefined) {
            return null;
        }
        if (this.bodyUsed || this.#stream.locked) {
            throw new TypeError("Body is unusable: Body has already been read");
        }
        this.#used = true;
        return this.#stream;
    }

    _begin(headers, state) {
        this.#headers = headers;
        this.#state = state;
    }

    _answered(pairs, state, bytes, stream) {
        this.#pairs = pairs;
        this.#state = state;
        this.#source = bytes === undefined ? stream === null ? null : { stream, type: null }
            : { bytes, type: null };
        this.#stream = stream;
    }

    _take(body) {
        if (body === null || body === undefined) {
            return;
        }
        this.#source = extract(body);
        this.#stream = this.#source.stream ?? null;
        if (this.#source.type !== null && !this._headers.has("content-type")) {
            this._headers.set("content-type", this.#source.type);
        }
    }

    get _hasBody() {
        return this.#source !== null;
    }

    /* The body of another one, which has no more of it; bytes stay bytes. */
    _takeFrom(other) {
        if (other.#stream !== null) {
            this._take(other.#stream);
            return;
        }
        this.#source = other.#source;
        other.#used = true;
    }

    /* Both keep what is there; a stream goes two ways from here. */
    _shareWith(other) {
        if (this.bodyUsed || this.#stream?.locked) {
            throw new TypeError("Response.clone: Body has already been consumed.");
        }
        other.#source = this.#source;
        if (this.#stream !== null) {
            [this.#stream, other.#stream] = this.#stream.tee();
        }
    }

    get body() {
        if (this.#source !== null && this.#stream === null) {
            const { blob, bytes } = this.#source;
            this.#stream = blob !== undefined ? blob.stream() : streamOf(bytes);
        }
        return this.#stream;
    }

    get bodyUsed() {
        return this.#used || isDisturbed(this.#stream);
    }

    /* All of it, when it is here already. */
    #bytesAtOnce() {
        const bytes = this.#source?.bytes;
        if (bytes === undefined || this.#stream !== null || this.#used) {
            return undefined;
        }
        this.#used = true;
        return bytes;
    }

    async bytes() {
        if (this.bodyUsed || this.#stream?.locked) {
            throw new TypeError("Body is unusable: Body has already been read");
        }
        if (this.#source === null) {
            return new Uint8Array(0);
        }
        this.#used = true;
        if (this.#stream !== null) {
            return readAll(this.#stream);
        }
        const { blob, bytes } = this.#source;
        return blob !== undefined ? blob.bytes() : bytes;
    }

    async arrayBuffer() {
        return (await this.bytes()).slice().buffer;
    }

    async blob() {
        return new Blob([await this.bytes()], { type: this._headers.get("content-type") ?? "" });
    }

    async text() {
        const text = decode(UTF8, this.#bytesAtOnce() ?? await this.bytes());
        return text.startsWith("\ufeff") ? text.slice(1) : text;
    }

    async json() {
        return JSON.parse(await this.text());
    }

    async formData() {
        const type = this._headers.get("content-type") ?? "";
        if (/^multipart\/form-data/i.test(type)) {
            return parseMultipart(await this.bytes(), type);
        }
        if (/^application\/x-www-form-urlencoded/i.test(type)) {
            const form = new FormData();
            for (const [name, value] of new URLSearchParams(await this.text())) {
                form.append(name, value);
            }
            return form;
        }
        throw new TypeError('Content-Type was not one of "multipart/form-data" or ' +
            '"application/x-www-form-urlencoded".');
    }
}
/* A stream that somebody has read from can no longer be a body. Reading locks it, so a lock is what
 * is looked for. */
function isDisturbed(stream) {
    return stream !== null && stream.locked;
}

/* A server may call a header anything: what none may be called is left out. */
function headersOf(pairs) {
    const headers = new Headers();
    for (const [name, value] of pairs) {
        try {
            headers.append(name, value);
        } catch {
            continue;
        }
    }
    return headers;
}

function reading(Class, names) {
    for (const name of names) {
        Object.defineProperty(Class.prototype, name, {
            get() {
                return this._state[name];
            },
            enumerable: true,
            configurable: true,
        });
    }
}

function normalMethod(method) {
    const text = `${method}`;
    if (!TOKEN.test(text) || FORBIDDEN_METHODS.includes(text.toUpperCase())) {
        throw new TypeError(`'${text}' is not a valid HTTP method.`);
    }
    return UPPERCASE_METHODS.includes(text.toUpperCase()) ? text.toUpperCase() : text;
}

function requestUrl(input) {
    let url;
    try {
        url = new URL(`${input}`);
    } catch (error) {
        throw new TypeError(`Failed to parse URL from ${input}`, { cause: error });
    }
    if (url.username !== "" || url.password !== "") {
        throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${input}`);
    }
    return url.href;
}

export class Request extends Body {
    constructor(input, init = {}) {
        if (arguments.length === 0) {
            throw new TypeError("Request constructor: 1 argument required, but only 0 present.");
        }
        super();
        const base = input instanceof Request ? input : undefined;
        const state = {
            url: base !== undefined ? base.url : requestUrl(input),
            method: init.method !== undefined ? normalMethod(init.method) : base?.method ?? "GET",
            mode: init.mode ?? base?.mode ?? "cors",
            credentials: init.credentials ?? base?.credentials ?? "same-origin",
            cache: init.cache ?? base?.cache ?? "default",
            redirect: init.redirect ?? base?.redirect ?? "follow",
            referrer: init.referrer ?? base?.referrer ?? "about:client",
            referrerPolicy: init.referrerPolicy ?? base?.referrerPolicy ?? "",
            integrity: init.integrity ?? base?.integrity ?? "",
            keepalive: Boolean(init.keepalive ?? base?.keepalive),
            duplex: "half",
            destination: "",
            signal: init.signal ?? base?.signal ?? new AbortController().signal,
        };
        this._begin(new Headers(init.headers ?? base?.headers), state);
        const hasBody = init.body !== null && init.body !== undefined;
        if (hasBody && (state.method === "GET" || state.method === "HEAD")) {
            throw new TypeError("Request with GET/HEAD method cannot have body.");
        }
        if (hasBody) {
            this._take(init.body);
        } else if (base !== undefined && init.body === undefined && base._hasBody) {
            if (base.bodyUsed) {
                throw new TypeError("Cannot construct a Request with a Request object that has " +
                    "already been used.");
            }
            this._takeFrom(base);
        }
    }

    get headers() {
        return this._headers;
    }

    clone() {
        const copy = new Request(this.url, { ...this._state, headers: this._headers });
        this._shareWith(copy);
        return copy;
    }

    get [Symbol.toStringTag]() {
        return "Request";
    }

    [inspectSymbol](depth, options, inspect) {
        const { method, url, headers, bodyUsed } = this;
        return `Request ${inspect({ method, url, headers, bodyUsed }, options)}`;
    }
}
reading(Request, ["method", "url", "mode", "credentials", "cache", "redirect", "referrer",
    "referrerPolicy", "integrity", "keepalive", "duplex", "destination", "signal"]);

function checkStatus(status) {
    if (!Number.isInteger(status) || status < 200 || status > 599) {
        throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
    }
    return status;
}

export class Response extends Body {
    constructor(body = null, init = {}) {
        super();
        if (body === ANSWER) {
            return;
        }
        const options = init ?? {};
        const status = options.status === undefined ? 200 : checkStatus(Number(options.status));
        const statusText = `${options.statusText ?? ""}`;
        if (/[^\t\x20-\x7e\x80-\xff]/.test(statusText)) {
            throw new TypeError("Invalid statusText");
        }
        this._begin(new Headers(options.headers),
            { status, statusText, type: "default", url: "", redirected: false });
        if (body !== null && body !== undefined && NULL_BODY.includes(status)) {
            throw new TypeError(`Response constructor: Invalid response status code ${status}`);
        }
        this._take(body);
    }

    static json(data, init = {}) {
        const text = JSON.stringify(data);
        if (text === undefined) {
            throw new TypeError("Value is not JSON serializable");
        }
        const headers = new Headers(init?.headers);
        if (!headers.has("content-type")) {
            headers.set("content-type", "application/json");
        }
        return new Response(text, { ...init, headers });
    }

    static error() {
        const response = new Response();
        Object.assign(response._state, { type: "error", status: 0 });
        return response;
    }

    static redirect(url, status = 302) {
        if (![301, 302, 303, 307, 308].includes(Number(status))) {
            throw new RangeError(`Invalid status code ${status}`);
        }
        const response = new Response(null, { headers: { location: requestUrl(url) } });
        response._state.status = Number(status);
        return response;
    }

    get ok() {
        return this._state.status >= 200 && this._state.status <= 299;
    }

    get headers() {
        return this._headers;
    }

    clone() {
        const copy = new Response(null, { headers: this._headers });
        Object.assign(copy._state, this._state);
        this._shareWith(copy);
        return copy;
    }

    get [Symbol.toStringTag]() {
        return "Response";
    }

    [inspectSymbol](depth, options, inspect) {
        const { status, statusText, headers, bodyUsed, ok, redirected, type, url } = this;
        return `Response ${inspect({ status, statusText, headers, bodyUsed, ok, redirected, type, url },
            options)}`;
    }
}
reading(Response, ["status", "statusText", "type", "url", "redirected"]);

/* A response of the host's. Its head is {status, reason, url, redirected, headers}; its body is bytes,
 * or undefined and a stream, or null. */
export function answered(head, bytes, stream) {
    const response = new Response(ANSWER);
    response._answered(head.headers, {
        status: head.status, statusText: head.reason, type: "basic", url: head.url,
        redirected: head.redirected,
    }, bytes, stream);
    return response;
}
