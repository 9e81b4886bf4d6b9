/* index.js - vial for Node: runs code that a language model wrote, each run in a fresh process behind a
 * kernel wall. docs/node-binding.md has the whole of it. */
import { decodeCbor, encodeValue } from "./cbor.js";
import { addon, ClosedError, VialError, isJob } from "./core.js";
import { LocalEngine } from "./local.js";
import { RemoteEngine } from "./remote.js";
import { camel, makeRequest, text } from "./request.js";
import { valueOf } from "./tagged.js";
import { documentTool, tool, toolList } from "./tools.js";

export { ClosedError, tool, VialError };
export const version = addon.version();

Symbol.asyncDispose ??= Symbol("Symbol.asyncDispose");

const EVENTS_MAX = 100000; // that wait for a slow reader of events(); more are left out, the result has all

const camelKeys = (object) => Object.fromEntries(Object.entries(object).map(([key, value]) => [camel(key), value]));

/** What a guest failed with, for who wants an exception: Result.valueOrThrow(). */
export class GuestError extends Error {
    constructor(result) {
        super(result.error?.message ?? `the run ended with the status ${result.status}`);
        this.name = result.error?.name ?? "GuestError";
        this.status = result.status;
        this.guestStack = result.error?.stack ?? "";
        this.result = result;
    }
}

/** What came of a run. */
export class Result {
    #raw;
    #rest;
    #functionOf;
    #value;
    #isRead = false;

    constructor(raw, functionOf) {
        this.#raw = raw;
        this.#functionOf = functionOf;
        this.status = raw.status ?? "ok";
        this.ok = this.status === "ok";
        this.stdout = raw.stdout ?? "";
        this.stderr = raw.stderr ?? "";
        this.exitCode = raw.exitCode < 0 ? null : raw.exitCode ?? 0;
        this.text = raw.text;
        this.sessionLives = raw.sessionLives === 1;
        this.filesLeftOut = raw.filesLeftOut ?? 0;
        this.files = {};
        for (let i = 0; i < (raw.files?.length ?? 0); i += 2) {
            this.files[raw.files[i]] = raw.files[i + 1];
        }
    }

    /* The parts that are seldom asked for. */
    get #details() {
        this.#rest ??= this.#raw.document ?? JSON.parse(addon.details(this.#raw.rest) ?? "{}");
        return this.#rest;
    }

    get value() {
        if (!this.#isRead) {
            const raw = this.#raw;
            this.#value = raw.document !== undefined ? valueOf(raw.document, this.#functionOf) : raw.cbor !== undefined ? decodeCbor(raw.cbor, this.#functionOf) :
                raw.value !== undefined ? JSON.parse(raw.value) : undefined;
            this.#isRead = true;
        }
        return this.#value;
    }

    get error() {
        const error = this.ok ? null : this.#details.error;
        return error ? camelKeys(error) : null;
    }

    get usage() {
        return camelKeys(this.#details.usage ?? {});
    }

    get limits() {
        return camelKeys(this.#details.limits ?? {});
    }

    get calls() {
        return (this.#details.calls ?? []).map(camelKeys);
    }

    get findings() {
        return (this.#details.findings ?? []).map(camelKeys);
    }

    get artifacts() {
        return this.#details.artifacts ?? [];
    }

    get dropped() {
        return this.#details.dropped ?? { stdout: 0, stderr: 0 };
    }

    get isolation() {
        return this.#details.isolation ?? null;
    }

    /** The value, or a GuestError. */
    valueOrThrow() {
        if (!this.ok) {
            throw new GuestError(this);
        }
        return this.value;
    }

    /** The one result object of docs/result.md. */
    toJSON() {
        return this.#details;
    }
}

/* ---- what runs ---- */

/* What happens while something runs: kept for who follows it, and told to the callbacks of its options. */
class Happening {
    events = [];
    isOver = false;
    #options;
    #wake = [];
    #decoders;

    constructor(options) {
        this.#options = options;
    }

    onEvent(event) {
        if (this.events.length < EVENTS_MAX || event.type === "result") {
            this.events.push(event);
        }
        this.#wakeAll();
    }

    onText(type, data) {
        const options = this.#options;
        this.onEvent({ type, data });
        call(options.onOutput, type, data);
        call(type === "stdout" ? options.onStdout : options.onStderr, data);
    }

    onOutput(stream, bytes) {
        const type = stream === 1 ? "stdout" : "stderr";
        this.#decoders ??= { stdout: new TextDecoder(), stderr: new TextDecoder() };
        this.onText(type, this.#decoders[type].decode(bytes, { stream: true }));
    }

    end() {
        this.isOver = true;
        this.#wakeAll();
    }

    #wakeAll() {
        if (this.#wake.length > 0) {
            this.#wake.splice(0).forEach((wake) => wake());
        }
    }

    next() {
        return new Promise((resolve) => this.#wake.push(resolve));
    }
}

/** A program on its way: wait() for its result, follow its events(), cancel() it. */
export class Run {
    #job;
    #isCancelled = false;
    #happening;
    #result;

    /* begin(happening) starts the job and gives { cancel, promise } of what Result is made of; ended() is called when
     * it is over, however that went. */
    constructor(options, ready, begin, functionOf, ended) {
        const { signal } = options;
        const abort = signal === undefined ? undefined : () => this.cancel();
        const over = () => {
            signal?.removeEventListener("abort", abort);
            this.#happening.end();
            ended?.(this);
        };
        const begun = () => {
            this.#job = begin(this.#happening);
            if (this.#isCancelled || signal?.aborted) {
                this.#job.cancel();
            }
            signal?.addEventListener("abort", abort, { once: true });
            return this.#job.promise;
        };
        this.#happening = new Happening(options);
        this.#result = (ready === undefined ? promiseOf(begun) : ready.then(begun)).then((raw) => {
            const result = new Result(raw, functionOf);
            this.#happening.onEvent({ type: "result", data: result });
            over();
            return result;
        }, (error) => {
            over();
            throw error;
        });
        this.#result.catch(() => {}); // who waits gets it
    }

    wait() {
        return this.#result;
    }

    cancel() {
        this.#isCancelled = true;
        this.#job?.cancel();
    }

    /** { type: "stdout" | "stderr" | "call" | "result", data }, as it happens. */
    async *events() {
        const happening = this.#happening;
        for (let at = 0; ;) {
            if (at < happening.events.length) {
                yield happening.events[at++];
            } else if (happening.isOver) {
                await this.#result;
                return;
            } else {
                await happening.next();
            }
        }
    }

    [Symbol.asyncIterator]() {
        return this.events();
    }
}

/* What a function throws as a promise, without a turn more than it takes. */
function promiseOf(f) {
    try {
        return f();
    } catch (error) {
        return Promise.reject(error);
    }
}

/* A callback of the host's must not break what goes on; what it throws is thrown where it can be seen. */
function call(f, ...args) {
    if (f !== undefined) {
        try {
            f(...args);
        } catch (error) {
            queueMicrotask(() => {
                throw error;
            });
        }
    }
}

const engineOptions = new Set(["poolCount", "runsMax", "queueCountMax", "queueMsMax", "noJit", "quick", "sessionsMax", "toolThreadsMax",
    "forSessions", "cellPath", "require", "lang"]);

function localEngine(options) {
    const request = options.lang === undefined ? {} : makeRequest(undefined, { lang: options.lang });
    for (const [key, value] of Object.entries(options)) {
        if (!engineOptions.has(key)) {
            throw new TypeError(`there is no option ${key}`);
        }
        if (key !== "lang") {
            request[key] = typeof value === "boolean" ? Number(value) : key === "require" && Array.isArray(value) ? value.join(",") : value;
        }
    }
    return new LocalEngine(request);
}

/* Throws when an environment cannot be used in this engine. */
function checkEnvironment(environment, engine) {
    const isName = typeof environment === "string" && engine.isRemote;
    if (environment !== undefined && !isName && !(environment instanceof Environment)) {
        throw new TypeError(`environment must be an Environment${engine.isRemote ? ", or the name of one at the server" : ""}`);
    }
    if (environment instanceof Environment && environment._vial !== engine) {
        throw new TypeError("the environment is one of another engine");
    }
}

/** An engine: the processes that runs come from, here or at a vial serve. */
export class Vial {
    #engine;
    #isRemote;
    #isClosed = false;
    #open = new Set(); // runs, sessions and environments
    #forget = (what) => this.#open.delete(what);

    /** new Vial(options) is an engine of this process, new Vial("https://host", { key }) one at a server. */
    constructor(first = {}, options = {}) {
        this.#isRemote = typeof first === "string" || first instanceof URL;
        this.#engine = this.#isRemote ? new RemoteEngine(String(first), options) : localEngine(first);
        this.#engine.ready.catch(() => {});
    }

    get isRemote() {
        return this.#isRemote;
    }

    #check() {
        if (this.#isClosed) {
            throw new ClosedError("the engine is closed");
        }
    }

    /** @internal */
    get _engine() {
        this.#check();
        return this.#engine;
    }

    /** @internal */
    async _whenReady() {
        this.#check();
        await this.#engine.ready;
        return this._engine;
    }

    /** @internal */
    _track(what) {
        this.#open.add(what);
        return () => this.#open.delete(what);
    }

    /** Starts a program: a Run to follow. */
    start(code, options = {}) {
        const request = makeRequest(code, options);
        const made = toolList(options.tools);
        const { environment } = options;
        this.#check();
        checkEnvironment(environment, this);
        let place = environment;
        const ready = this.#engine.isReady && !(environment instanceof Environment) ? undefined : this._whenReady().then(async () => {
            place = environment instanceof Environment ? await environment._whenReady() : environment;
        });
        const run = new Run(options, ready, (hooks) => this._engine.run(request, made, options, hooks, place), undefined, this.#forget);
        this.#open.add(run);
        return run;
    }

    /** Runs a program in a fresh process to its end. */
    run(code, options = undefined) {
        if (options === undefined && typeof code === "string" && !this.#isRemote && !this.#isClosed && this.#engine.isReady) {
            return this.#runPlainly(code);
        }
        return promiseOf(() => this.start(code, options).wait());
    }

    /* Most programs have no options and are over in a moment: what follows a run is made for the others only. */
    #runPlainly(code) {
        const begun = this.#engine.runPlainly(code);
        if (!isJob(begun)) {
            return Promise.resolve(new Result(begun));
        }
        const run = new Run({}, undefined, () => begun, undefined, this.#forget);
        this.#open.add(run);
        return run.wait();
    }

    session(options = {}) {
        return new Session({ ...options, engine: this });
    }

    environment(document = {}) {
        return new Environment(document, { engine: this });
    }

    /** Waits until the pool of processes is full, or so many milliseconds have passed. */
    async settle(ms = 5000) {
        await (await this._whenReady()).settle(ms);
    }

    async stats() {
        return (await this._whenReady()).stats();
    }

    async isolation() {
        return (await this._whenReady()).isolation();
    }

    get isClosed() {
        return this.#isClosed;
    }

    /** Cancels what is going on, ends its sessions and every process. */
    async close() {
        if (this.#isClosed) {
            return;
        }
        await this.#engine.ready.catch(() => {});
        const open = [...this.#open];
        await Promise.allSettled(open.map((what) => (what instanceof Run ? (what.cancel(), what.wait()) : undefined)));
        await Promise.allSettled(open.filter((what) => what instanceof Session).map((what) => what.close()));
        await Promise.allSettled(open.filter((what) => what instanceof Environment).map((what) => what.close()));
        this.#isClosed = true;
        await this.#engine.close();
    }

    [Symbol.asyncDispose]() {
        return this.close();
    }
}

let shared;

/** The engine of run() and start(), made when it is first needed. */
export function defaultEngine() {
    if (shared === undefined || shared.isClosed) {
        shared = new Vial();
    }
    return shared;
}

/** Runs a program in a fresh process behind the wall. A failure of the guest is a Result. */
export function run(code, options = undefined) {
    return promiseOf(() => (options?.engine ?? defaultEngine()).run(code, options));
}

/** Starts a program: a Run, whose events() can be followed. */
export function start(code, options = {}) {
    return (options?.engine ?? defaultEngine()).start(code, options);
}

/* ---- environments ---- */

/** What programs run in: a document of docs/environments.md with functions for its tools. */
export class Environment {
    #vial;
    #place;
    #ready;
    #isClosed = false;
    #untrack;

    constructor(document = {}, { engine = defaultEngine() } = {}) {
        if (document === null || typeof document !== "object") {
            throw new TypeError("an environment is made of an object");
        }
        const { tools, ...rest } = document;
        const external = Array.isArray(tools) ? tools.filter((t) => t?.http !== undefined || t?.exec !== undefined) : [];
        const made = toolList(Array.isArray(tools) ? tools.filter((t) => !external.includes(t)) : tools);
        const source = JSON.stringify({ name: "unnamed", ...rest, tools: [...external, ...made.map(documentTool)] });
        this.#vial = engine;
        this.#ready = (async () => {
            this.#place = await (await engine._whenReady()).environment(source, made);
        })();
        this.#ready.catch(() => {});
        this.#untrack = engine._track(this);
    }

    /** Everything that is wrong with a document: [{ path, message }]. */
    static check(document) {
        return JSON.parse(addon.envCheck(typeof document === "string" ? document : JSON.stringify(document)) ?? "[]");
    }

    /** @internal */
    async _whenReady() {
        await this.#ready;
        if (this.#isClosed) {
            throw new ClosedError("the environment is closed");
        }
        return this.#place;
    }

    /** @internal */
    get _vial() {
        return this.#vial;
    }

    /** Evaluates the prefix now and tells how that went. */
    async ready() {
        return new Result(await (await this._whenReady()).test());
    }

    start(code, options = {}) {
        return this.#vial.start(code, { ...options, environment: this });
    }

    async run(code, options = {}) {
        return this.start(code, options).wait();
    }

    session(options = {}) {
        return new Session({ ...options, engine: this.#vial, environment: this });
    }

    async close() {
        if (this.#isClosed) {
            return;
        }
        await this.#ready.catch(() => {});
        this.#isClosed = true;
        this.#untrack();
        await this.#place?.close();
    }

    [Symbol.asyncDispose]() {
        return this.close();
    }
}

/* ---- sessions ---- */

const guestFunctions = new WeakMap(); // function of ours: { number, family }

/** A process that stays between programs. */
export class Session {
    #vial;
    #place;
    #ready;
    #isClosed = false;
    #family; // sessions that have the same functions: this one and its branches
    #untrack;
    #busy = Promise.resolve();

    constructor(options = {}, branch = undefined) {
        if (branch !== undefined) {
            this.#vial = branch.vial;
            this.#place = branch.place;
            this.#family = branch.family;
            this.#ready = Promise.resolve();
        } else {
            const { environment, tools, ...rest } = options;
            const { engine = environment?._vial ?? defaultEngine() } = options;
            const request = makeRequest(undefined, rest);
            const made = toolList(tools);
            checkEnvironment(environment, engine);
            this.#vial = engine;
            this.#family = {};
            this.#ready = (async () => {
                const home = await engine._whenReady();
                const place = environment instanceof Environment ? await environment._whenReady() : environment;
                this.#place = await home.session(request, made, place);
            })();
            this.#ready.catch(() => {});
        }
        this.#untrack = this.#vial._track(this);
    }

    #check() {
        if (this.#isClosed) {
            throw new ClosedError("the session is closed");
        }
    }

    #handleOf = (value) => {
        const entry = guestFunctions.get(value);
        return entry !== undefined && entry.family === this.#family ? entry.number : undefined;
    };

    #functionOf = (number) => {
        const f = (...args) => this.#callFunction(number, args);
        f.release = () => {
            if (!this.#isClosed) {
                this.#place.release(number);
            }
        };
        guestFunctions.set(f, { number, family: this.#family });
        return f;
    };

    /* One thing at a time: what comes meanwhile waits for its turn. */
    #begin(options, begin) {
        this.#check();
        const before = this.#busy;
        const run = new Run(options, before.then(() => this.#ready), (hooks) => {
            this.#check();
            this.#vial._engine; // throws when it is closed
            return begin(hooks);
        }, this.#functionOf);
        this.#busy = run.wait().then(() => {}, () => {});
        return run;
    }

    async #callFunction(number, args) {
        const encoded = args.length === 0 ? { json: "[]" } :
            encodeValue(args, "the arguments", this.#handleOf);
        const request = { function: number, input: encoded.json ?? encoded.cbor, inputIsCbor: encoded.cbor ? 1 : 0, more: 1 };
        return (await this.#begin({}, (hooks) => this.#place.call(request, hooks)).wait()).valueOrThrow();
    }

    /** Starts a program in the session: a Run to follow. */
    start(code, options = {}) {
        for (const name of ["tools", "files", "modules", "env", "globals", "environment"]) {
            if (options[name] !== undefined) {
                throw new TypeError(`${name} are the session's: give them to new Session()`);
            }
        }
        const request = makeRequest(text(code, "the code"), options, this.#handleOf);
        return this.#begin(options, (hooks) => this.#place.evaluate(request, options, hooks));
    }

    async eval(code, options = {}) {
        return this.start(code, options).wait();
    }

    /** A session with everything that this one has now; with a count, a list of so many. */
    async branch(count = undefined) {
        if (count !== undefined && (!Number.isInteger(count) || count < 1 || count > 1024)) {
            throw new RangeError("count must be a whole number from 1 to 1024");
        }
        this.#check();
        await this.#busy;
        await this.#ready;
        this.#check();
        const places = await this.#place.branch(count ?? 1);
        const made = places.map((place) => new Session({}, { vial: this.#vial, place, family: this.#family }));
        return count === undefined ? made[0] : made;
    }

    async info() {
        this.#check();
        await this.#ready;
        return this.#place.info();
    }

    get isClosed() {
        return this.#isClosed;
    }

    /** Ends its process. */
    async close() {
        if (this.#isClosed) {
            return;
        }
        this.#isClosed = true;
        this.#untrack();
        await this.#ready.catch(() => {});
        if (this.#place !== undefined) {
            await this.#place.end();
            await this.#busy;
            await this.#place.close();
        }
    }

    [Symbol.asyncDispose]() {
        return this.close();
    }
}
