/* local.js - an engine in this process: what index.js asks of one, by the addon. remote.js is the same at a server. */
import { addon, approver, closeHandle, op, RegisteredTools, runPlainly, startJob } from "./core.js";
import { readArgs } from "./tools.js";

/* Starts a job with the callbacks of its options. The owner has the tools that it can call. */
function startWith(what, engine, target, request, options, hooks, owner) {
    let onApprove;
    if (options.approve !== undefined && options.approve !== false) {
        request.onApprove = request.more = 1;
        onApprove = approver(engine, options.approve);
    }
    return startJob(what, target, request, hooks, onApprove, owner);
}

export class LocalEngine {
    #handle;

    constructor(request) {
        this.ready = startJob(op.engineNew, null, { ...request, more: 1 }).promise.then((handle) => {
            this.#handle = handle;
        });
    }

    get isReady() {
        return this.#handle !== undefined;
    }

    runPlainly(code) {
        return runPlainly(this.#handle, code);
    }

    run(request, made, options, hooks, environment) {
        const engine = this.#handle;
        if (environment !== undefined) {
            request.environment = environment.handle;
            request.more = 1;
        }
        if (made.length === 0) {
            return startWith(op.run, engine, engine, request, options, hooks, environment);
        }
        const tools = new RegisteredTools(made, engine,
            (name, args) => hooks.onEvent({ type: "call", data: { name, get args() { return readArgs(args); } } }));
        request.tools = tools.list;
        request.more = 1;
        const job = startWith(op.run, engine, engine, request, options, hooks, [environment, tools]);
        return { cancel: () => job.cancel(), promise: job.promise.finally(() => tools.forget()) };
    }

    async environment(source, made) {
        const tools = new RegisteredTools(made, this.#handle);
        try {
            const handle = await startJob(op.envNew, this.#handle, { document: source, tools: tools.list, more: 1 }).promise;
            return new LocalEnvironment(handle, tools);
        } catch (error) {
            tools.forget();
            throw error;
        }
    }

    async session(request, made, environment) {
        const tools = new RegisteredTools(made, this.#handle);
        request.environment = environment?.handle;
        request.tools = tools.list;
        request.more = 1;
        try {
            const handle = await startJob(op.sessionNew, this.#handle, request).promise;
            return new LocalSession(this.#handle, handle, new SharedTools(tools, environment));
        } catch (error) {
            tools.forget();
            throw error;
        }
    }

    async settle(ms) {
        await startJob(op.settle, this.#handle, { count: Math.max(1, Math.round(ms)), more: 1 }).promise;
    }

    async stats() {
        return addon.stats(this.#handle);
    }

    async isolation() {
        return JSON.parse(addon.isolation(this.#handle));
    }

    async close() {
        if (this.#handle !== undefined) {
            await closeHandle(this.#handle);
        }
    }
}

class LocalEnvironment {
    #tools;

    constructor(handle, tools) {
        this.handle = handle;
        this.#tools = tools;
    }

    test() {
        return startJob(op.envStart, this.handle, {}).promise;
    }

    async close() {
        this.#tools.forget();
        await closeHandle(this.handle);
    }
}

/* The tools of a session and its branches, which are let go of with the last of them. */
class SharedTools {
    #tools;
    #users = 0;

    constructor(tools, environment) {
        this.#tools = tools;
        this.environment = environment; // which has some as well
    }

    take() {
        let isTaken = true;
        this.#users++;
        return () => {
            this.#users -= isTaken ? 1 : 0;
            isTaken = false;
            if (this.#users === 0) {
                this.#tools.forget();
            }
        };
    }
}

class LocalSession {
    #engine;
    #handle;
    #tools;
    #forget;

    constructor(engine, handle, tools) {
        this.#engine = engine;
        this.#handle = handle;
        this.#tools = tools;
        this.#forget = tools.take();
    }

    #start(what, request, options, hooks) {
        const job = startWith(what, this.#engine, this.#handle, request, options, hooks, this.#tools);
        const promise = job.promise.then((raw) => {
            if (raw.sessionLives !== 1) {
                this.#forget();
            }
            return raw;
        });
        return { cancel: () => job.cancel(), promise };
    }

    evaluate(request, options, hooks) {
        return this.#start(op.sessionEval, request, options, hooks);
    }

    call(request, hooks) {
        return this.#start(op.sessionCall, request, {}, hooks);
    }

    release(number) {
        addon.release(this.#handle, number);
    }

    async branch(count) {
        const handles = await startJob(op.sessionBranch, this.#handle, { count, more: 1 }).promise;
        return handles.map((handle) => new LocalSession(this.#engine, handle, this.#tools));
    }

    async info() {
        return addon.sessionInfo(this.#handle);
    }

    /* What it evaluates ends with it. */
    async end() {
        addon.endSession(this.#handle);
    }

    async close() {
        this.#forget();
        await closeHandle(this.#handle);
    }
}
