/* events.js - the package events, and what Node has added to the class since. */
import EventEmitter from "package-events";
import { abortError, checkFunction, invalidArgType, makeError, outOfRange } from "../lib/errors.js";

const errorMonitor = Symbol("events.errorMonitor");
const captureRejectionSymbol = Symbol.for("nodejs.rejection");
const { emit } = EventEmitter.prototype;

function hide(object, members) {
    for (const [name, value] of Object.entries(members)) {
        Object.defineProperty(object, name, { value, writable: true, configurable: true,
            enumerable: true });
    }
}

/* Rejections of async listeners, for emitters that were made to capture them. */
function watch(emitter, type, args) {
    for (const listener of emitter.rawListeners(type)) {
        const result = Reflect.apply(listener, emitter, args);
        if (typeof result?.then === "function") {
            result.then(undefined, (error) => {
                if (typeof emitter[captureRejectionSymbol] === "function") {
                    emitter[captureRejectionSymbol](error, type, ...args);
                } else {
                    emitter.emit("error", error);
                }
            });
        }
    }
    return true;
}

const capturing = new WeakSet();

hide(EventEmitter.prototype, {
    emit(type, ...args) {
        if (type === "error") {
            if (this._events?.[errorMonitor] !== undefined) {
                Reflect.apply(emit, this, [errorMonitor, ...args]);
            }
            if (!(args[0] instanceof Error) && this.listenerCount("error") === 0) {
                const error = makeError(Error, "ERR_UNHANDLED_ERROR",
                    `Unhandled error. (${vial.inspect(args[0])})`);
                error.context = args[0];
                throw error;
            }
        } else if (capturing.has(this) && this.listenerCount(type) > 0) {
            return watch(this, type, args);
        }
        return Reflect.apply(emit, this, [type, ...args]);
    },
    listenerCount(type, listener = undefined) {
        const list = this.listeners(type);
        return listener === undefined ? list.length : list.filter((one) => one === listener).length;
    },
});

for (const name of ["addListener", "once", "prependListener", "prependOnceListener", "removeListener"]) {
    const add = EventEmitter.prototype[name];
    hide(EventEmitter.prototype, { [name](type, listener) {
        checkFunction(listener, "listener");
        return Reflect.apply(add, this, [type, listener]);
    } });
}
EventEmitter.prototype.on = EventEmitter.prototype.addListener;
EventEmitter.prototype.off = EventEmitter.prototype.removeListener;

const { init } = EventEmitter;
EventEmitter.init = function initialize(options) {
    Reflect.apply(init, this, []);
    if (options?.captureRejections) {
        capturing.add(this);
    }
};

/* The constructor of the package passes its options on to nobody. */
function Emitter(options) {
    EventEmitter.init.call(this, options);
}
Emitter.prototype = EventEmitter.prototype;
Object.setPrototypeOf(Emitter, Function.prototype);
Object.defineProperty(Emitter, "name", { value: "EventEmitter" });
Object.defineProperty(EventEmitter.prototype, "constructor", { value: Emitter, writable: true,
    configurable: true });

function isTarget(value) {
    return typeof value?.addEventListener === "function" && typeof value.on !== "function";
}

function listen(emitter, name, listener, options = undefined) {
    if (isTarget(emitter)) {
        emitter.addEventListener(name, listener, options);
        return () => emitter.removeEventListener(name, listener, options);
    }
    if (typeof emitter?.on !== "function") {
        throw invalidArgType("emitter", "EventEmitter", emitter);
    }
    emitter[options?.once ? "once" : "on"](name, listener);
    return () => emitter.removeListener(name, listener);
}

async function once(emitter, name, options = {}) {
    const { signal } = options ?? {};
    if (signal?.aborted) {
        throw abortError(signal.reason);
    }
    return new Promise((resolve, reject) => {
        const stops = [];
        const stop = () => stops.splice(0).forEach((undo) => undo());
        stops.push(listen(emitter, name, (...args) => {
            stop();
            resolve(args);
        }, { once: true }));
        if (name !== "error" && !isTarget(emitter)) {
            stops.push(listen(emitter, "error", (error) => {
                stop();
                reject(error);
            }, { once: true }));
        }
        if (signal !== undefined) {
            stops.push(listen(signal, "abort", () => {
                stop();
                reject(abortError(signal.reason));
            }, { once: true }));
        }
    });
}

/* Events as they come, queued while nobody asks. */
function on(emitter, name, options = {}) {
    const { signal, close = [] } = options ?? {};
    if (signal?.aborted) {
        throw abortError(signal.reason);
    }
    const queue = [];
    const waiting = [];
    const stops = [];
    let failure;
    let finished = false;
    const finish = () => {
        finished = true;
        stops.splice(0).forEach((undo) => undo());
        waiting.splice(0).forEach(({ resolve }) => resolve({ value: undefined, done: true }));
    };
    const fail = (error) => {
        if (waiting.length > 0) {
            waiting.shift().reject(error);
        } else {
            failure = { error };
        }
        finish();
    };
    stops.push(listen(emitter, name, (...args) => {
        if (waiting.length > 0) {
            waiting.shift().resolve({ value: args, done: false });
        } else {
            queue.push(args);
        }
    }));
    if (name !== "error" && !isTarget(emitter)) {
        stops.push(listen(emitter, "error", fail));
    }
    for (const closing of close) {
        stops.push(listen(emitter, closing, finish));
    }
    if (signal !== undefined) {
        stops.push(listen(signal, "abort", () => fail(abortError(signal.reason))));
    }
    return {
        __proto__: Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype),
        next() {
            if (queue.length > 0) {
                return Promise.resolve({ value: queue.shift(), done: false });
            }
            if (failure !== undefined) {
                const { error } = failure;
                failure = undefined;
                return Promise.reject(error);
            }
            if (finished) {
                return Promise.resolve({ value: undefined, done: true });
            }
            return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
        },
        return() {
            finish();
            return Promise.resolve({ value: undefined, done: true });
        },
        throw(error) {
            fail(error);
            return Promise.resolve({ value: undefined, done: true });
        },
        [Symbol.asyncIterator]() {
            return this;
        },
    };
}

function getEventListeners(emitter, type) {
    if (typeof emitter?.listeners === "function") {
        return emitter.listeners(type);
    }
    if (isTarget(emitter)) {
        return vial.load("web/events").listListeners(emitter, type);
    }
    throw invalidArgType("emitter", ["EventEmitter", "EventTarget"], emitter);
}

function setMaxListeners(count = EventEmitter.defaultMaxListeners, ...emitters) {
    if (typeof count !== "number" || !(count >= 0)) {
        throw outOfRange("n", "a non-negative number", count);
    }
    if (emitters.length === 0) {
        EventEmitter.defaultMaxListeners = count;
    }
    for (const emitter of emitters) {
        emitter.setMaxListeners?.(count);
    }
}

function addAbortListener(signal, listener) {
    checkFunction(listener, "listener");
    let undo = () => {};
    if (signal.aborted) {
        queueMicrotask(() => listener());
    } else {
        undo = listen(signal, "abort", listener, { once: true });
    }
    return { [Symbol.dispose]: undo };
}

/* Where work that an emitter does belongs to; it runs in the context in which it was made. */
class EventEmitterAsyncResource extends Emitter {
    #resource;

    constructor(options = undefined) {
        super(options);
        const { AsyncResource } = vial.require("async_hooks");
        this.#resource = new AsyncResource(options?.name ?? new.target.name);
    }

    emit(type, ...args) {
        return this.#resource.runInAsyncScope(super.emit, this, type, ...args);
    }

    get asyncResource() {
        return this.#resource;
    }

    emitDestroy() {
        this.#resource.emitDestroy();
    }
}

Object.defineProperty(Emitter, "defaultMaxListeners", {
    get: () => EventEmitter.defaultMaxListeners,
    set: (count) => {
        EventEmitter.defaultMaxListeners = count;
    },
    enumerable: true,
    configurable: true,
});
Object.assign(Emitter, {
    EventEmitter: Emitter, EventEmitterAsyncResource, addAbortListener, captureRejectionSymbol,
    captureRejections: false, errorMonitor, getEventListeners, init: EventEmitter.init, on, once,
    setMaxListeners, usingDomains: false,
    getMaxListeners: (emitter) => emitter.getMaxListeners?.() ?? EventEmitter.defaultMaxListeners,
    listenerCount: (emitter, type) => emitter.listenerCount(type),
});
module.exports = Emitter;
