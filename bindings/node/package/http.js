/* http.js - requests to a vial serve: over TLS, in the clear, or through a Unix socket. */
import http from "node:http";
import https from "node:https";
import { ClosedError, VialError } from "./core.js";

const LINE_BYTES_MAX = 256 << 20; // of one event: a result has its value and its output in it, and a string of Node's has an end
const ANSWER_BYTES_MAX = 256 << 20;
const SILENCE_MS_MAX = 120000; // of a stream, in which a server gives a sign of life every 15 s
const FREE_MS_MAX = 4000; // an idle connection is closed by us, long before the server does so in the middle of a request
const SOCKETS_MAX = 256; // of each kind: streams must not keep the answers to their calls from being sent
const FREE_SOCKETS_MAX = 16;
const local = new Set(["127.0.0.1", "[::1]", "localhost"]);

const failed = (text) => new VialError(text, "sys");

const codes = {
    __proto__: null, unauthorized: "denied", forbidden: "denied", not_found: "gone", ended: "gone", conflict: "busy", busy: "busy", quota: "busy",
    overloaded: "busy", stopping: "busy", store: "busy", internal: "sys",
};

/** The error that a local engine would have given for what a server says, by the names of docs/api.md. */
export function errorOf(name, text) {
    const code = codes[name] ?? "invalid";
    return code === "gone" ? new ClosedError(text) : new VialError(text, code);
}

/* What a server refused. */
function problemOf(status, bytes) {
    let said = {};
    try {
        said = JSON.parse(bytes) ?? {};
    } catch {
        // no problem document: some other server, or a proxy
    }
    const places = Array.isArray(said.errors) ? said.errors : [];
    let text = said.detail ?? said.title ?? `the server answered with status ${status}`;
    if (places.length > 0) {
        text += `: ${places.map(({ path, message }) => `${path} ${message}`).join("; ")}`;
    }
    const error = errorOf(said.code ?? (status >= 500 ? "internal" : status === 401 ? "unauthorized" : status === 403 ? "forbidden" : "invalid"), text);
    error.status = status;
    error.errors = places;
    return error;
}

function whereIs(address) {
    if (address.startsWith("unix:")) {
        const socketPath = address.slice(5);
        if (!socketPath.startsWith("/") || socketPath.includes("\0")) {
            throw new TypeError(`the address of a Unix socket is unix:/PATH, not ${JSON.stringify(address)}`);
        }
        return { client: http, name: address, prefix: "", options: { socketPath, host: "localhost" } };
    }
    let url;
    try {
        url = new URL(address);
    } catch {
        url = { protocol: "" };
    }
    if (url.protocol !== "http:" && url.protocol !== "https:") {
        throw new TypeError(`the address of a server is https://HOST, http://HOST:PORT or unix:/PATH, not ${JSON.stringify(address)}`);
    }
    if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
        throw new TypeError("the address of a server has neither user nor query; the key is given as { key }");
    }
    return {
        client: url.protocol === "https:" ? https : http, name: url.host, prefix: url.pathname.replace(/\/+$/, ""),
        options: { hostname: url.hostname.replace(/^\[|\]$/g, ""), port: url.port || undefined },
        isOpen: url.protocol === "http:" && !local.has(url.hostname),
    };
}

function checkOptions(options, where) {
    const { key, timeout = 30000, ca } = options;
    for (const name of Object.keys(options)) {
        if (!["key", "timeout", "ca"].includes(name)) {
            throw new TypeError(`there is no option ${name} for an engine at a server`);
        }
    }
    if (key !== undefined && (typeof key !== "string" || !/^[\x21-\x7e]+$/.test(key))) {
        throw new TypeError("the key must be printable text");
    }
    if (key !== undefined && where.isOpen) {
        throw new TypeError("a key is sent over https only, or to this machine");
    }
    if (typeof timeout !== "number" || !(timeout > 0) || timeout > 0x7fffffff) {
        throw new RangeError("timeout must be a positive number of milliseconds");
    }
    if (ca !== undefined && where.client !== https) {
        throw new TypeError("ca is for https only");
    }
    return { key, timeout, ca };
}

export class Server {
    #where;
    #timeout;
    #headers;
    #agents;

    constructor(address, options) {
        this.#where = whereIs(address);
        const { key, timeout, ca } = checkOptions(options, this.#where);
        const agent = () => new this.#where.client.Agent({
            keepAlive: true, timeout: FREE_MS_MAX, maxSockets: SOCKETS_MAX, maxFreeSockets: FREE_SOCKETS_MAX, ...(ca === undefined ? {} : { ca }),
        });
        this.#timeout = timeout;
        this.#headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
        this.#agents = { ask: agent(), stream: agent() };
    }

    get name() {
        return this.#where.name;
    }

    /* A request that is on its way: { request, response } of which the second is a promise. */
    #send(kind, method, path, body, headers, timeout) {
        const { client, options, prefix, name } = this.#where;
        const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
        const request = client.request({
            ...options, method, path: prefix + path, agent: this.#agents[kind], timeout,
            headers: {
                ...this.#headers, ...headers,
                ...(bytes === undefined ? (method === "POST" ? { "Content-Length": 0 } : {}) : { "Content-Type": "application/json", "Content-Length": bytes.length }),
            },
        });
        request.on("timeout", () => request.destroy(new Error(`it was silent for ${Math.round(timeout / 1000)} s`)));
        const response = new Promise((resolve, reject) => {
            request.on("response", resolve);
            request.on("error", (error) => reject(failed(`the server at ${name} cannot be reached: ${error.message || error.code}`)));
        });
        request.end(bytes);
        return { request, response };
    }

    async #read(response) {
        const pieces = [];
        let len = 0;
        try {
            for await (const piece of response) {
                len += piece.length;
                if (len > ANSWER_BYTES_MAX) {
                    throw new Error("the answer is too long");
                }
                pieces.push(piece);
            }
        } catch (error) {
            throw failed(`the server at ${this.name} broke off: ${error.message}`);
        }
        return Buffer.concat(pieces);
    }

    /** The bytes of an answer; what the server refuses is thrown. */
    async bytes(method, path, body) {
        const response = await this.#send("ask", method, path, body, {}, this.#timeout).response;
        const bytes = await this.#read(response);
        if (response.statusCode >= 300) {
            throw problemOf(response.statusCode, bytes);
        }
        return bytes;
    }

    /** The JSON of an answer. */
    async ask(method, path, body) {
        const bytes = await this.bytes(method, path, body);
        try {
            return bytes.length === 0 ? undefined : JSON.parse(bytes);
        } catch {
            throw failed(`the server at ${this.name} answered with something that is no JSON; is it vial serve?`);
        }
    }

    /** Events of what is asked for, each given to `take`: { leave(), over }. */
    stream(path, body, take) {
        const { request, response } = this.#send("stream", "POST", path, { ...body, stream: true }, { Accept: "application/x-ndjson" }, SILENCE_MS_MAX);
        const over = response.then(async (answer) => {
            if (answer.statusCode >= 300) {
                throw problemOf(answer.statusCode, await this.#read(answer));
            }
            try {
                for await (const line of linesOf(answer)) {
                    take(JSON.parse(line));
                }
            } catch (error) {
                request.destroy();
                throw failed(`the server at ${this.name} broke off: ${error.message}`);
            }
        });
        return { over, leave: () => request.destroy(new Error("we have left")) };
    }

    close() {
        this.#agents.ask.destroy();
        this.#agents.stream.destroy();
    }
}

async function* linesOf(response) {
    let pieces = [];
    let len = 0;
    for await (const chunk of response) {
        let from = 0;
        for (let at; (at = chunk.indexOf(10, from)) >= 0; from = at + 1) {
            pieces.push(chunk.subarray(from, at));
            const line = Buffer.concat(pieces).toString();
            pieces = [];
            len = 0;
            if (line.trim() !== "") {
                yield line;
            }
        }
        pieces.push(chunk.subarray(from));
        len += chunk.length - from;
        if (len > LINE_BYTES_MAX) {
            throw new Error("an event is too long");
        }
    }
}
