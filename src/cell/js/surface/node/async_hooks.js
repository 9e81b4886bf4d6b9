/* async_hooks.js - AsyncLocalStorage and AsyncResource, as far as this engine lets them be.
 *
 * The engine has no hooks for promises. What there is, from the first use on:
 *
 *   - callbacks of timers, queueMicrotask, nextTick and then() carry the frame in which they were made;
 *   - `await promise` asks the promise for its constructor. An accessor there queues a job that restores the
 *     frame directly before the one that goes on after the await;
 *   - `await` of anything else asks nobody. For that, each change of frame queues a marker, so that jobs which
 *     are queued in a frame run behind the marker of that frame. Markers renew themselves a bounded number of
 *     times, as nobody can tell whether a job lies behind them.
 *
 * Nothing of this is there until a program uses a store. */
import { checkFunction, invalidArgType } from "../lib/errors.js";

/* How many awaits of values that are no promises, in a row and with several frames at work, are survived. */
const MARKER_LIVES = 64;

const ROOT = new Map();
let current = ROOT;
let isInstalled = false;
let isAsking = false;

const promiseThen = Promise.prototype.then;
const settled = Promise.resolve();

function queueJob(job) {
    const wasAsking = isAsking;
    isAsking = true;
    Reflect.apply(promiseThen, settled, [job]);
    isAsking = wasAsking;
}

function mark(frame, lives) {
    queueJob(() => {
        current = frame;
        if (lives > 0) {
            mark(frame, lives - 1);
        }
    });
}

function runIn(frame, callback, self, args) {
    if (frame === current) {
        return Reflect.apply(callback, self, args);
    }
    const before = current;
    current = frame;
    mark(frame, MARKER_LIVES);
    try {
        return Reflect.apply(callback, self, args);
    } finally {
        current = before;
        mark(before, MARKER_LIVES);
    }
}

/* A function that is called as the other, in the frame of now. */
function bound(callback) {
    if (typeof callback !== "function") {
        return callback;
    }
    const frame = current;
    return function inFrame(...args) {
        return runIn(frame, callback, this, args);
    };
}

function patchPromises() {
    const then = { then(onFulfilled, onRejected) {
        return Reflect.apply(promiseThen, this, [bound(onFulfilled), bound(onRejected)]);
    } }.then;
    Object.defineProperty(Promise.prototype, "then", { value: then, writable: true, configurable: true });
    Object.defineProperty(Promise.prototype, "constructor", {
        get() {
            if (!isAsking && this !== Promise.prototype) {
                const frame = current;
                const restore = () => {
                    current = frame;
                    mark(frame, MARKER_LIVES);
                };
                isAsking = true;
                try {
                    Reflect.apply(promiseThen, this, [restore, restore]);
                } catch {
                    /* not a promise: nothing will be awaited */
                }
                isAsking = false;
            }
            return Promise;
        },
        set(value) {
            Object.defineProperty(this, "constructor", { value, writable: true, configurable: true });
        },
        configurable: true,
    });
}

function install() {
    if (!isInstalled) {
        isInstalled = true;
        patchPromises();
        vial.setCallbackWrapper(bound);
    }
}

class AsyncLocalStorage {
    #isEnabled = true;

    run(store, callback, ...args) {
        install();
        this.#isEnabled = true;
        const frame = new Map(current);
        frame.set(this, store);
        return runIn(frame, callback, undefined, args);
    }

    exit(callback, ...args) {
        const frame = new Map(current);
        frame.delete(this);
        return runIn(frame, callback, undefined, args);
    }

    enterWith(store) {
        install();
        this.#isEnabled = true;
        current = new Map(current);
        current.set(this, store);
        mark(current, MARKER_LIVES);
    }

    getStore() {
        return this.#isEnabled ? current.get(this) : undefined;
    }

    disable() {
        this.#isEnabled = false;
    }

    static bind(callback) {
        checkFunction(callback, "fn");
        install();
        return bound(callback);
    }

    static snapshot() {
        install();
        const frame = current;
        return (callback, ...args) => runIn(frame, callback, undefined, args);
    }
}

class AsyncResource {
    #frame = current;

    constructor(type, options = {}) {
        if (typeof type !== "string") {
            throw invalidArgType("type", "string", type);
        }
        this.#check(options);
    }

    #check(options) {
        if (typeof options !== "object" && typeof options !== "number") {
            throw invalidArgType("options", "Object", options);
        }
    }

    runInAsyncScope(callback, self = undefined, ...args) {
        return runIn(this.#frame, callback, self, args);
    }

    bind(callback) {
        checkFunction(callback, "fn");
        const resource = this;
        return function inResource(...args) {
            return resource.runInAsyncScope(callback, this, ...args);
        };
    }

    emitDestroy() {
        return this;
    }

    static bind(callback, type = undefined, self = undefined) {
        return new AsyncResource(type ?? (callback.name || "bound-anonymous-fn")).bind(
            self === undefined ? callback : callback.bind(self));
    }
}

function absent(name) {
    return { [name]() {
        throw new Error(`async_hooks.${name} is not available in vial: the engine has no hooks for asynchronous ` +
            "work; AsyncLocalStorage is there");
    } }[name];
}

module.exports = {
    AsyncLocalStorage, AsyncResource, createHook: absent("createHook"),
    executionAsyncId: absent("executionAsyncId"), triggerAsyncId: absent("triggerAsyncId"),
    executionAsyncResource: absent("executionAsyncResource"), asyncWrapProviders: {},
};
