/* core.js - the addon, its jobs and what they tell; nothing of this is for users. */
import { createRequire } from "node:module";
import { answerCall, nativeTool, readArgs } from "./tools.js";

const codes = { "-1": "invalid", "-2": "nomem", "-3": "sys", "-4": "busy", "-5": "isolation", "-6": "cell", "-7": "gone" };

/** vial itself could not do its job; what a guest does wrong is a result. */
export class VialError extends Error {
    constructor(message, code = "invalid", sys = 0) {
        super(message);
        this.name = "VialError";
        this.code = code;
        this.sys = sys;
    }
}

/** Something was used that is closed, or over. */
export class ClosedError extends VialError {
    constructor(message) {
        super(message, "gone");
        this.name = "ClosedError";
    }
}

function loadAddon() {
    try {
        return createRequire(import.meta.url)("./vial.node");
    } catch (error) {
        const advice = error.code === "VIAL_VERSION" ? "" :
            ". vial.node must be in the package, and libvial.so.0 of the same version installed, or its folder named by LD_LIBRARY_PATH";
        throw new VialError(`vial cannot load its addon: ${error.message}${advice}`, "sys");
    }
}

export const op = {
    engineNew: 0, run: 1, envNew: 2, envStart: 3, sessionNew: 4, sessionEval: 5, sessionCall: 6, sessionBranch: 7, settle: 8,
};

const jobs = new Map(); // by number: Job
const tools = new Map(); // by number: WeakRef of { made, engine, onCall }, which its owner holds: a tool may well refer to its engine
let lastNumber = 0;
let lastTool = 0;

const events = [
    function output(number, stream, bytes) {
        jobs.get(number)?.hooks?.onOutput(stream, bytes);
    },
    function call(number, callId, args) {
        const entry = tools.get(number)?.deref();
        if (entry !== undefined) {
            entry.onCall?.(entry.made.name, args);
            answerCall(addon, entry.engine, entry.made, callId, () => readArgs(args));
        }
    },
    function approve(number, callId, args, name) {
        jobs.get(number)?.onApprove?.(callId, args, name);
    },
    function done(number, code, outcome) {
        const job = jobs.get(number);
        jobs.delete(number);
        if (jobs.size === 0) {
            addon.keepAlive(false);
        }
        if (code < 0) {
            const [, text, sys] = outcome;
            job?.reject(code === -7 ? new ClosedError(text) : new VialError(text, codes[code] ?? "invalid", sys));
        } else {
            job?.resolve(outcome);
        }
    },
];

export const addon = loadAddon().setup((kind, number, a, b, c) => events[kind](number, a, b, c));

// process.exit() does not run the hooks that the end of a loop does.
process.once("exit", () => addon.shutdown());

/* Something on its way. It holds what it is done to, so that nobody collects that meanwhile. */
class Job {
    constructor(target, hooks, onApprove, owners, number = ++lastNumber) {
        this.number = number;
        this.target = target;
        this.owners = owners;
        this.hooks = hooks;
        this.onApprove = onApprove;
        this.promise = new Promise((resolve, reject) => {
            this.resolve = resolve;
            this.reject = reject;
        });
        jobs.set(this.number, this);
        if (jobs.size === 1) {
            addon.keepAlive(true);
        }
    }

    cancel() {
        cancelJob(this.number);
    }

    /* It did not even begin. */
    fail(error) {
        jobs.delete(this.number);
        if (jobs.size === 0) {
            addon.keepAlive(false);
        }
        this.reject(error.code === "VIAL_CLOSED" ? new ClosedError(error.message) :
            error.code === "VIAL_BUSY" ? new VialError(error.message, "busy") : error);
        return this;
    }
}

/** Starts a job: { cancel(), promise }. Of the request only what a small program has is read, but for `more: 1`. */
export function startJob(what, target, request, hooks, onApprove, owners) {
    const job = new Job(target, hooks, onApprove, owners);
    try {
        addon.start(what, target, request, job.number);
        return job;
    } catch (error) {
        return job.fail(error);
    }
}

/** Runs a program without options: its outcome when it is over at once, else a job. */
export function runPlainly(target, source) {
    const number = ++lastNumber;
    try {
        return addon.start(op.run, target, { source }, number, true) ?? new Job(target, undefined, undefined, undefined, number);
    } catch (error) {
        return new Job(target, undefined, undefined, undefined, number).fail(error);
    }
}

export function isJob(what) {
    return what instanceof Job;
}

export function closeHandle(handle) {
    const job = new Job();
    try {
        addon.close(handle, job.number);
        return job.promise;
    } catch (error) {
        return job.fail(error).promise;
    }
}

/* Cancels, again and again until it is over: the first time may be before there is something to cancel. */
function cancelJob(number) {
    const again = () => {
        if (!jobs.has(number)) {
            clearInterval(timer);
            return;
        }
        addon.cancel(number);
    };
    const timer = setInterval(again, 50);
    again();
}

/* Tools whose owner was collected and never closed. */
const forgotten = new FinalizationRegistry((numbers) => numbers.forEach((number) => tools.delete(number)));

/** Tools that guests can call for as long as this lives and forget() is not called. */
export class RegisteredTools {
    #numbers = [];
    #entries = [];

    constructor(made, engine, onCall) {
        this.list = made.map((one) => {
            const number = ++lastTool;
            const entry = { made: one, engine, onCall };
            this.#numbers.push(number);
            this.#entries.push(entry);
            tools.set(number, new WeakRef(entry));
            return nativeTool(one, number);
        });
        forgotten.register(this, this.#numbers, this);
    }

    forget() {
        forgotten.unregister(this);
        this.#numbers.forEach((number) => tools.delete(number));
        this.#entries = [];
    }
}

/** How many tools are registered, for tests. */
export const toolCount = () => tools.size;

/** An onApprove of a job that asks `approve`: true, or a function of a tool's name and arguments. */
export function approver(engine, approve) {
    const say = (callId, yes, reason) => {
        try {
            addon.approve(engine, callId, yes, reason);
        } catch {
            // the engine is closed, and the run with it
        }
    };
    return (callId, args, name) => {
        if (approve === true) {
            say(callId, true);
            return;
        }
        Promise.resolve().then(() => approve(name, readArgs(args)))
            .then((yes) => say(callId, yes === true, typeof yes === "string" ? yes : undefined),
                (error) => say(callId, false, String(error?.message ?? error).replaceAll("\0", "")));
    };
}
