/* index.js - vial for Node: runs code that a language model wrote, each run in a fresh process behind a
 * kernel wall. docs/node-binding.md has the whole of it. */
import { decodeCbor, encodeValue } from "./cbor.js";
import { addon, approver, cancelJob, closeHandle, ClosedError, op, registerTools, startJob, VialError } from "./core.js";
import { camel, makeRequest, text } from "./request.js";
import { documentTool, readArgs, tool, toolList } from "./tools.js";

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
        this.status = raw.status;
        this.ok = raw.status === "ok";
        this.stdout = raw.stdout;
        this.stderr = raw.stderr;
        this.exitCode = raw.exitCode < 0 ? null : raw.exitCode;
        this.text = raw.text;
        this.sessionLives = raw.sessionLives !== 0;
        this.filesLeftOut = raw.filesLeftOut;
        this.files = {};
        for (let i = 0; i < (raw.files?.length ?? 0); i += 2) {
            this.files[raw.files[i]] = raw.files[i + 1];
        }
    }

    /* The parts that are seldom asked for. */
    get #details() {
        this.#rest ??= JSON.parse(addon.details(this.#raw.rest) ?? "{}");
        return this.#rest;
    }

    get value() {
        if (!this.#isRead) {
            const raw = this.#raw;
            this.#value = raw.cbor !== undefined ? decodeCbor(raw.cbor, this.#functionOf) :
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

/** A program on its way: wait() for its result, follow its events(), cancel() it. */
export class Run {
    #number;
    #isCancelled = false;
    #events = [];
    #wake = [];
    #isOver = false;
    #result;

    /* begin(hooks) starts the job and gives { number, promise } of a Result. */
    constructor(options, ready, begin) {
        const decoders = {};
        const hooks = {
            onEvent: (event) => this.#push(event),
            onOutput: (stream, bytes) => {
                const type = stream === 1 ? "stdout" : "stderr";
                decoders[type] ??= new TextDecoder();
                const data = decoders[type].decode(bytes, { stream: true });
                this.#push({ type, data });
                call(options.onOutput, type, data);
                call(type === "stdout" ? options.onStdout : options.onStderr, data);
            },
        };
        const abort = () => this.cancel();
        this.#result = (async () => {
            try {
                await ready;
                const job = begin(hooks);
                this.#number = job.number;
                if (this.#isCancelled || options.signal?.aborted) {
                    cancelJob(job.number);
                }
                options.signal?.addEventListener("abort", abort, { once: true });
                const result = await job.promise;
                this.#push({ type: "result", data: result });
                return result;
            } finally {
                options.signal?.removeEventListener("abort", abort);
                this.#isOver = true;
                this.#wakeAll();
            }
        })();
        this.#result.catch(() => {}); // who waits gets it
    }

    #push(event) {
        if (this.#events.length < EVENTS_MAX || event.type === "result") {
            this.#events.push(event);
        }
        this.#wakeAll();
    }

    #wakeAll() {
        this.#wake.splice(0).forEach((wake) => wake());
    }

    wait() {
        return this.#result;
    }

    cancel() {
        this.#isCancelled = true;
        if (this.#number !== undefined) {
            cancelJob(this.#number);
        }
    }

    /** { type: "stdout" | "stderr" | "call" | "result", data }, as it happens. */
    async *events() {
        for (let at = 0; ;) {
            if (at < this.#events.length) {
                yield this.#events[at++];
            } else if (this.#isOver) {
                await this.#result;
                return;
            } else {
                await new Promise((resolve) => this.#wake.push(resolve));
            }
        }
    }

    [Symbol.asyncIterator]() {
        return this.events();
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

/* Starts a job with the callbacks of its options. */
function startWith(what, engine, target, request, options, hooks, functionOf) {
    const jobHooks = { onOutput: hooks.onOutput };
    request.onOutput = 1;
    if (options.approve !== undefined && options.approve !== false) {
        request.onApprove = 1;
        jobHooks.onApprove = approver(engine, options.approve);
    }
    const job = startJob(what, target, request, jobHooks);
    return { number: job.number, promise: job.promise.then((raw) => new Result(raw, functionOf)) };
}

/** An engine: the processes that runs come from. */
export class Vial {
    #ready;
    #handle;
    #isClosed = false;
    #open = new Set(); // runs, sessions and environments

    constructor(options = {}) {
        if (typeof options === "string") {
            throw new VialError("this version of the binding has no remote engines; start one here with new Vial()");
        }
        const names = new Set(["poolCount", "runsMax", "queueCountMax", "queueMsMax", "noJit", "quick", "sessionsMax",
            "toolThreadsMax", "forSessions", "cellPath", "require", "lang"]);
        const request = options.lang === undefined ? {} : makeRequest(undefined, { lang: options.lang });
        for (const [key, value] of Object.entries(options)) {
            if (!names.has(key)) {
                throw new TypeError(`there is no option ${key}`);
            }
            if (key !== "lang") {
                request[key] = typeof value === "boolean" ? Number(value) : key === "require" && Array.isArray(value) ? value.join(",") : value;
            }
        }
        this.#ready = startJob(op.engineNew, null, request, {}).promise.then((handle) => {
            this.#handle = handle;
        });
        this.#ready.catch(() => {});
    }

    /** @internal */
    get _handle() {
        if (this.#isClosed) {
            throw new ClosedError("the engine is closed");
        }
        return this.#handle;
    }

    /** @internal */
    async _whenReady() {
        if (this.#isClosed) {
            throw new ClosedError("the engine is closed");
        }
        await this.#ready;
        return this._handle;
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
        if (this.#isClosed) {
            throw new ClosedError("the engine is closed");
        }
        if (options.environment !== undefined && !(options.environment instanceof Environment)) {
            throw new TypeError("environment must be an Environment");
        }
        const ready = this.#handle !== undefined && options.environment === undefined ? undefined :
            this._whenReady().then(() => options.environment?._whenReady());
        let untrack;
        const run = new Run(options, ready, (hooks) => {
            const engine = this._handle;
            const tools = registerTools(made, engine,
                (name, args) => hooks.onEvent({ type: "call", data: { name, get args() { return readArgs(args); } } }));
            request.tools = tools.list;
            request.environment = options.environment?._handle;
            const job = startWith(op.run, engine, engine, request, options, hooks);
            job.promise = job.promise.finally(tools.forget);
            return job;
        });
        untrack = this._track(run);
        run.wait().then(untrack, untrack);
        return run;
    }

    /** Runs a program in a fresh process to its end. */
    async run(code, options = {}) {
        return this.start(code, options).wait();
    }

    session(options = {}) {
        return new Session({ ...options, engine: this });
    }

    environment(document = {}) {
        return new Environment(document, { engine: this });
    }

    /** Waits until the pool of processes is full, or so many milliseconds have passed. */
    async settle(ms = 5000) {
        await startJob(op.settle, await this._whenReady(), { count: Math.max(1, Math.round(ms)) }, {}).promise;
    }

    async stats() {
        return addon.stats(await this._whenReady());
    }

    async isolation() {
        return JSON.parse(addon.isolation(await this._whenReady()));
    }

    get isClosed() {
        return this.#isClosed;
    }

    /** Cancels what is going on, ends its sessions and every process. */
    async close() {
        if (this.#isClosed) {
            return;
        }
        await this.#ready.catch(() => {});
        const open = [...this.#open];
        await Promise.allSettled(open.map((what) => (what instanceof Run ? (what.cancel(), what.wait()) : undefined)));
        await Promise.allSettled(open.filter((what) => what instanceof Session).map((what) => what.close()));
        await Promise.allSettled(open.filter((what) => what instanceof Environment).map((what) => what.close()));
        this.#isClosed = true;
        if (this.#handle !== undefined) {
            await closeHandle(this.#handle);
        }
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
export async function run(code, options = {}) {
    return (options?.engine ?? defaultEngine()).run(code, options);
}

/** Starts a program: a Run, whose events() can be followed. */
export function start(code, options = {}) {
    return (options?.engine ?? defaultEngine()).start(code, options);
}

/* ---- environments ---- */

/** What programs run in: a document of docs/environments.md with functions for its tools. */
export class Environment {
    #engine;
    #handle;
    #ready;
    #isClosed = false;
    #tools;
    #untrack;

    constructor(document = {}, { engine = defaultEngine() } = {}) {
        if (document === null || typeof document !== "object") {
            throw new TypeError("an environment is made of an object");
        }
        const { tools, ...rest } = document;
        const external = Array.isArray(tools) ? tools.filter((t) => t?.http !== undefined || t?.exec !== undefined) : [];
        const made = toolList(Array.isArray(tools) ? tools.filter((t) => !external.includes(t)) : tools);
        const source = JSON.stringify({ name: "unnamed", ...rest, tools: [...external, ...made.map(documentTool)] });
        this.#engine = engine;
        this.#ready = (async () => {
            const handle = await engine._whenReady();
            this.#tools = registerTools(made, handle);
            this.#handle = await startJob(op.envNew, handle, { document: source, tools: this.#tools.list }, {}).promise;
        })();
        this.#ready.catch(() => {});
        this.#untrack = engine._track(this);
    }

    /** Everything that is wrong with a document: [{ path, message }]. */
    static check(document) {
        return JSON.parse(addon.envCheck(typeof document === "string" ? document : JSON.stringify(document)) ?? "[]");
    }

    /** @internal */
    get _handle() {
        if (this.#isClosed) {
            throw new ClosedError("the environment is closed");
        }
        return this.#handle;
    }

    /** @internal */
    async _whenReady() {
        await this.#ready;
        return this._handle;
    }

    /** @internal */
    get _engine() {
        return this.#engine;
    }

    /** Evaluates the prefix now and tells how that went. */
    async ready() {
        return new Result(await startJob(op.envStart, await this._whenReady(), {}, {}).promise);
    }

    start(code, options = {}) {
        return this.#engine.start(code, { ...options, environment: this });
    }

    async run(code, options = {}) {
        return this.start(code, options).wait();
    }

    session(options = {}) {
        return new Session({ ...options, engine: this.#engine, environment: this });
    }

    async close() {
        if (this.#isClosed) {
            return;
        }
        await this.#ready.catch(() => {});
        this.#isClosed = true;
        this.#untrack();
        this.#tools?.forget();
        if (this.#handle !== undefined) {
            await closeHandle(this.#handle);
        }
    }

    [Symbol.asyncDispose]() {
        return this.close();
    }
}

/* ---- sessions ---- */

const guestFunctions = new WeakMap(); // function of ours: { number, family }

/** A process that stays between programs. */
export class Session {
    #engine;
    #handle;
    #ready;
    #isClosed = false;
    #family; // sessions that have the same functions: this one and its branches
    #untrack;
    #busy = Promise.resolve();

    constructor(options = {}, branch = undefined) {
        if (branch !== undefined) {
            this.#engine = branch.engine;
            this.#handle = branch.handle;
            this.#family = branch.family;
            this.#ready = Promise.resolve();
        } else {
            const { engine = options.environment?._engine ?? defaultEngine(), environment, tools, ...rest } = options;
            const request = makeRequest(undefined, rest);
            const made = toolList(tools);
            this.#engine = engine;
            this.#family = {};
            this.#ready = (async () => {
                const target = await engine._whenReady();
                request.environment = await environment?._whenReady();
                // Branches have the same tools, so they stay for as long as the process.
                request.tools = registerTools(made, target).list;
                this.#handle = await startJob(op.sessionNew, target, request, {}).promise;
            })();
            this.#ready.catch(() => {});
        }
        this.#untrack = this.#engine._track(this);
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
                addon.release(this.#handle, number);
            }
        };
        guestFunctions.set(f, { number, family: this.#family });
        return f;
    };

    /* One thing at a time: what comes meanwhile waits for its turn. */
    #begin(options, what, request) {
        this.#check();
        const before = this.#busy;
        const run = new Run(options, before.then(() => this.#ready), (hooks) => {
            this.#check();
            return startWith(what, this.#engine._handle, this.#handle, request, options, hooks, this.#functionOf);
        });
        this.#busy = run.wait().then(() => {}, () => {});
        return run;
    }

    async #callFunction(number, args) {
        const encoded = args.length === 0 ? { json: "[]" } :
            encodeValue(args, "the arguments", this.#handleOf);
        const request = { function: number, input: encoded.json ?? encoded.cbor, inputIsCbor: encoded.cbor ? 1 : 0 };
        return (await this.#begin({}, op.sessionCall, request).wait()).valueOrThrow();
    }

    /** Starts a program in the session: a Run to follow. */
    start(code, options = {}) {
        for (const name of ["tools", "files", "modules", "env", "globals", "environment"]) {
            if (options[name] !== undefined) {
                throw new TypeError(`${name} are the session's: give them to new Session()`);
            }
        }
        return this.#begin(options, op.sessionEval, makeRequest(text(code, "the code"), options, this.#handleOf));
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
        const handles = await startJob(op.sessionBranch, this.#handle, { count: count ?? 1 }, {}).promise;
        const made = handles.map((handle) => new Session({}, { engine: this.#engine, handle, family: this.#family }));
        return count === undefined ? made[0] : made;
    }

    async info() {
        this.#check();
        await this.#ready;
        return addon.sessionInfo(this.#handle);
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
        if (this.#handle !== undefined) {
            addon.endSession(this.#handle);
            await this.#busy;
            await closeHandle(this.#handle);
        }
    }

    [Symbol.asyncDispose]() {
        return this.close();
    }
}
