/* absent.js - modules of Node that cannot exist in a run. They can be imported, because programs import more
 * than they use; calling what they have throws an error that says why, and what to do instead. */

const NETWORK = "a run may not use the network; pass the data as `input` or through --file";
const PROCESS = "a run is one process; call a host function instead";

const MODULES = {
    __proto__: null,
    child_process: [PROCESS, "ChildProcess exec execFile execFileSync execSync fork spawn spawnSync"],
    cluster: [PROCESS, "Worker setupPrimary setupMaster fork disconnect on once"],
    dgram: [NETWORK, "createSocket Socket"],
    dns: [NETWORK, "lookup lookupService Resolver getDefaultResultOrder setDefaultResultOrder setServers getServers " +
        "resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr " +
        "resolveSoa resolveSrv resolveTxt reverse"],
    http: [NETWORK, "Agent ClientRequest IncomingMessage OutgoingMessage Server ServerResponse createServer " +
        "validateHeaderName validateHeaderValue get request setMaxIdleHTTPParsers"],
    http2: [NETWORK, "connect createServer createSecureServer getDefaultSettings getPackedSettings " +
        "getUnpackedSettings Http2ServerRequest Http2ServerResponse"],
    https: [NETWORK, "Agent Server createServer get request"],
    inspector: ["a run cannot be debugged from inside", "open close url waitForDebugger Session"],
    net: [NETWORK, "BlockList SocketAddress connect createConnection createServer Server Socket Stream"],
    readline: ["a run has no interactive input; read `input`, or all of standard input at once",
        "Interface clearLine clearScreenDown createInterface cursorTo emitKeypressEvents moveCursor Readline"],
    repl: ["a run has no interactive input", "start REPLServer Recoverable"],
    sqlite: ["there is no database here; pass the data as `input` or call a host function", "DatabaseSync " +
        "StatementSync"],
    test: ["a run has no test runner; use assert and return what you found", "after afterEach before beforeEach " +
        "describe it run suite test skip todo only"],
    tls: [NETWORK, "getCiphers checkServerIdentity createSecureContext SecureContext TLSSocket Server " +
        "createServer connect createSecurePair"],
    v8: ["the engine is not V8; for a deep copy use structuredClone", "cachedDataVersionTag getHeapSnapshot " +
        "getHeapStatistics getHeapSpaceStatistics getHeapCodeStatistics setFlagsFromString Serializer Deserializer " +
        "DefaultSerializer DefaultDeserializer deserialize serialize takeCoverage stopCoverage writeHeapSnapshot " +
        "queryObjects GCProfiler"],
    vm: ["a run has one realm, and is itself the sandbox; use (0, eval)(code) or new Function", "Script createContext " +
        "createScript runInContext runInNewContext runInThisContext isContext compileFunction measureMemory"],
    wasi: ["there is no WebAssembly here", "WASI"],
    worker_threads: ["a run has one thread; do the work in it, in turns", "Worker MessageChannel MessagePort " +
        "BroadcastChannel markAsUntransferable moveMessagePortToContext receiveMessageOnPort " +
        "postMessageToThread setEnvironmentData getEnvironmentData"],
};

const STATUS_CODES = {
    100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints", 200: "OK", 201: "Created",
    202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content",
    206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used", 300: "Multiple Choices",
    301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 305: "Use Proxy",
    307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
    402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
    407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
    411: "Length Required", 412: "Precondition Failed", 413: "Payload Too Large", 414: "URI Too Long",
    415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed", 418: "I'm a Teapot",
    421: "Misdirected Request", 422: "Unprocessable Entity", 423: "Locked", 424: "Failed Dependency",
    425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons", 500: "Internal Server Error",
    501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    505: "HTTP Version Not Supported", 506: "Variant Also Negotiates", 507: "Insufficient Storage",
    508: "Loop Detected", 509: "Bandwidth Limit Exceeded", 510: "Not Extended",
    511: "Network Authentication Required",
};

const METHODS = ["ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK", "M-SEARCH",
    "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS", "PATCH", "POST", "PROPFIND",
    "PROPPATCH", "PURGE", "PUT", "REBIND", "REPORT", "SEARCH", "SOURCE", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK",
    "UNLOCK", "UNSUBSCRIBE"];

function isIPv4(text) {
    return /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(`${text}`);
}

function isIPv6(text) {
    const [address, zone] = `${text}`.split("%");
    if (zone === "" || !address.includes(":") || /[^0-9a-fA-F:.]/.test(address)) {
        return false;
    }
    const halves = address.split("::");
    const groups = halves.flatMap((half) => half === "" ? [] : half.split(":"));
    const last = groups.at(-1) ?? "";
    const isMixed = last.includes(".");
    const count = groups.length + (isMixed ? 1 : 0);
    return halves.length <= 2 && (halves.length === 2 ? count <= 7 : count === 8) &&
        groups.every((group, i) => /^[0-9a-fA-F]{1,4}$/.test(group) ||
            isMixed && i === groups.length - 1 && isIPv4(group));
}

/* What of these modules is data or pure, and works. */
const WORKING = {
    __proto__: null,
    cluster: { isMaster: true, isPrimary: true, isWorker: false, workers: {}, settings: {} },
    http: { METHODS, STATUS_CODES, maxHeaderSize: 16384 },
    net: { isIP: (text) => isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0, isIPv4, isIPv6 },
    worker_threads: { isMainThread: true, parentPort: null, threadId: 0, workerData: null, resourceLimits: {} },
};

function stub(module, name, why) {
    return { [name]: function () {
        throw Object.assign(new Error(`${module}.${name} is not available in vial: ${why}`),
            { code: "ERR_NOT_AVAILABLE" });
    } }[name];
}

const made = new Map();

module.exports = function absentModule(name) {
    if (!made.has(name)) {
        const [plain] = name.split("/");
        const [why, names] = MODULES[plain];
        const exports = { ...WORKING[plain] };
        for (const member of names.split(" ")) {
            exports[member] = stub(plain, member, why);
        }
        if (plain === "test") {
            made.set(name, Object.assign(exports.test, exports));
        } else {
            made.set(name, exports);
        }
        if (name === "dns" || name === "readline") {
            exports.promises = absentModule(`${name}/promises`);
        }
    }
    return made.get(name);
};
