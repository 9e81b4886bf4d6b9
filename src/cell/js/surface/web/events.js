/* events.js - DOMException, Event, EventTarget, CustomEvent, AbortController and AbortSignal.
 *
 * There is no tree of targets here, so a dispatched event visits one target only. What a listener
 * throws ends the run, as an exception out of a listener ends a Node process. */
import { invalidArgType, makeError } from "../lib/errors.js";

const inspectSymbol = Symbol.for("nodejs.util.inspect.custom");

const CODES = {
    __proto__: null,
    IndexSizeError: 1, HierarchyRequestError: 3, WrongDocumentError: 4, InvalidCharacterError: 5,
    NoModificationAllowedError: 7, NotFoundError: 8, NotSupportedError: 9, InUseAttributeError: 10,
    InvalidStateError: 11, SyntaxError: 12, InvalidModificationError: 13, NamespaceError: 14,
    InvalidAccessError: 15, TypeMismatchError: 17, SecurityError: 18, NetworkError: 19,
    AbortError: 20, URLMismatchError: 21, QuotaExceededError: 22, TimeoutError: 23,
    InvalidNodeTypeError: 24, DataCloneError: 25,
};

function hide(object, key, value) {
    Object.defineProperty(object, key, { value, writable: true, configurable: true });
}

/* Name and code are plain properties of the instance, so that printing an exception needs no
 * accessor. */
export class DOMException extends Error {
    constructor(message = "", options = "Error") {
        super(`${message}`);
        const isBag = options !== null && typeof options === "object";
        const name = `${isBag ? options.name ?? "Error" : options}`;
        hide(this, "name", name);
        hide(this, "code", CODES[name] ?? 0);
        if (isBag && "cause" in options) {
            hide(this, "cause", options.cause);
        }
    }

    get [Symbol.toStringTag]() {
        return "DOMException";
    }
}
for (const [name, code] of Object.entries(CODES)) {
    const constant = `${name.replace(/Error$/, "").replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()}_ERR`;
    for (const object of [DOMException, DOMException.prototype]) {
        Object.defineProperty(object, constant, { value: code, enumerable: true });
    }
}

const events = new WeakMap();

function stateOf(event) {
    const state = events.get(event);
    if (state === undefined) {
        throw makeError(TypeError, "ERR_INVALID_THIS", "Value of \"this\" must be of type Event");
    }
    return state;
}

export class Event {
    static NONE = 0;
    static CAPTURING_PHASE = 1;
    static AT_TARGET = 2;
    static BUBBLING_PHASE = 3;

    constructor(type, options = undefined) {
        if (arguments.length === 0) {
            throw makeError(TypeError, "ERR_MISSING_ARGS", 'The "type" argument must be specified');
        }
        if (options !== undefined && options !== null && typeof options !== "object") {
            throw invalidArgType("options", "Object", options);
        }
        events.set(this, {
            type: `${type}`,
            bubbles: Boolean(options?.bubbles),
            cancelable: Boolean(options?.cancelable),
            composed: Boolean(options?.composed),
            timeStamp: vial.now(),
            target: null,
            dispatching: false,
            canceled: false,
            stopped: false,
            propagationStopped: false,
            passive: false,
        });
    }

    get type() {
        return stateOf(this).type;
    }

    get target() {
        return stateOf(this).target;
    }

    get srcElement() {
        return stateOf(this).target;
    }

    get currentTarget() {
        const state = stateOf(this);
        return state.dispatching ? state.target : null;
    }

    get eventPhase() {
        return stateOf(this).dispatching ? Event.AT_TARGET : Event.NONE;
    }

    get bubbles() {
        return stateOf(this).bubbles;
    }

    get cancelable() {
        return stateOf(this).cancelable;
    }

    get composed() {
        return stateOf(this).composed;
    }

    get defaultPrevented() {
        const state = stateOf(this);
        return state.cancelable && state.canceled;
    }

    get returnValue() {
        return !this.defaultPrevented;
    }

    get isTrusted() {
        return false;
    }

    get timeStamp() {
        return stateOf(this).timeStamp;
    }

    get cancelBubble() {
        return stateOf(this).propagationStopped;
    }

    set cancelBubble(value) {
        if (value) {
            stateOf(this).propagationStopped = true;
        }
    }

    composedPath() {
        const state = stateOf(this);
        return state.dispatching ? [state.target] : [];
    }

    preventDefault() {
        const state = stateOf(this);
        state.canceled = state.canceled || !state.passive;
    }

    stopPropagation() {
        stateOf(this).propagationStopped = true;
    }

    stopImmediatePropagation() {
        const state = stateOf(this);
        state.propagationStopped = true;
        state.stopped = true;
    }

    get [Symbol.toStringTag]() {
        return "Event";
    }
}

hide(Event.prototype, inspectSymbol, function inspectEvent(depth, options, inspect) {
    const name = this.constructor.name;
    if (depth < 0) {
        return name;
    }
    const { type, defaultPrevented, cancelable, timeStamp } = this;
    return `${name} ${inspect({ type, defaultPrevented, cancelable, timeStamp }, options)}`;
});

export class CustomEvent extends Event {
    #detail;

    constructor(type, options = undefined) {
        super(type, options);
        this.#detail = options?.detail ?? null;
    }

    get detail() {
        return this.#detail;
    }

    get [Symbol.toStringTag]() {
        return "CustomEvent";
    }
}

const targets = new WeakMap();

/* A class may inherit from EventTarget without calling its constructor first. */
function listenersOf(target) {
    let lists = targets.get(target);
    if (lists === undefined) {
        if (!(target instanceof EventTarget)) {
            throw makeError(TypeError, "ERR_INVALID_THIS",
                'Value of "this" must be of type EventTarget');
        }
        lists = new Map();
        targets.set(target, lists);
    }
    return lists;
}

function captureOf(options) {
    return typeof options === "boolean" ? options : Boolean(options?.capture);
}

function callListener(target, event, entry) {
    const { listener } = entry;
    try {
        const result = typeof listener === "function" ? Reflect.apply(listener, target, [event])
            : listener.handleEvent(event);
        if (result !== null && typeof result === "object" && typeof result.then === "function") {
            result.then(undefined, vial.fail);
        }
    } catch (error) {
        vial.fail(error);
    }
}

function dispatch(target, event, state) {
    const list = listenersOf(target).get(state.type);
    state.target = target;
    state.dispatching = true;
    for (const entry of list === undefined ? [] : [...list]) {
        if (entry.removed) {
            continue;
        }
        if (entry.once) {
            entry.removed = true;
            list.splice(list.indexOf(entry), 1);
        }
        state.passive = entry.passive;
        callListener(target, event, entry);
        state.passive = false;
        if (state.stopped) {
            break;
        }
    }
    state.dispatching = false;
    state.stopped = false;
    state.propagationStopped = false;
}

export class EventTarget {
    addEventListener(type, listener, options = undefined) {
        if (arguments.length < 2) {
            throw makeError(TypeError, "ERR_MISSING_ARGS",
                'The "type" and "listener" arguments must be specified');
        }
        if (listener === null || listener === undefined) {
            return;
        }
        if (typeof listener !== "function" && typeof listener !== "object") {
            throw invalidArgType("listener", ["EventListener"], listener);
        }
        const lists = listenersOf(this);
        const key = `${type}`;
        const capture = captureOf(options);
        const signal = typeof options === "object" ? options?.signal : undefined;
        if (signal?.aborted) {
            return;
        }
        let list = lists.get(key);
        if (list === undefined) {
            list = [];
            lists.set(key, list);
        }
        if (list.some((entry) => entry.listener === listener && entry.capture === capture)) {
            return;
        }
        list.push({
            listener, capture, once: Boolean(options?.once), passive: Boolean(options?.passive),
            removed: false,
        });
        signal?.addEventListener("abort", () => this.removeEventListener(key, listener, capture),
            { once: true });
    }

    removeEventListener(type, listener, options = undefined) {
        const list = listenersOf(this).get(`${type}`);
        const capture = captureOf(options);
        const index = list === undefined ? -1
            : list.findIndex((entry) => entry.listener === listener && entry.capture === capture);
        if (index >= 0) {
            list[index].removed = true;
            list.splice(index, 1);
        }
    }

    dispatchEvent(event) {
        if (!(event instanceof Event)) {
            throw invalidArgType("event", "Event", event);
        }
        const state = stateOf(event);
        if (state.dispatching) {
            throw makeError(Error, "ERR_EVENT_RECURSION",
                `The event "${state.type}" is already being dispatched`);
        }
        dispatch(this, event, state);
        return !event.defaultPrevented;
    }

    get [Symbol.toStringTag]() {
        return "EventTarget";
    }
}

hide(EventTarget.prototype, inspectSymbol, function inspectTarget(depth, options, inspect) {
    return `${this.constructor.name} ${inspect({ ...this }, options)}`;
});

/* For events.getEventListeners(). */
export function listListeners(target, type) {
    return (listenersOf(target).get(type) ?? []).map((entry) => entry.listener);
}

/* A member `onabort` that is called like a listener that was added when it was first set. */
function defineHandler(prototype, type) {
    const handlers = new WeakMap();
    Object.defineProperty(prototype, `on${type}`, {
        get() {
            return handlers.get(this)?.handler ?? null;
        },
        set(value) {
            const handler = typeof value === "function" || (typeof value === "object" &&
                value !== null) ? value : null;
            let entry = handlers.get(this);
            if (entry === undefined) {
                entry = { handler };
                handlers.set(this, entry);
                this.addEventListener(type, (event) => typeof entry.handler === "function"
                    ? Reflect.apply(entry.handler, this, [event]) : undefined);
            }
            entry.handler = handler;
        },
        enumerable: true,
        configurable: true,
    });
}

const KEY = Symbol("signal");
let abortSignal;

export class AbortSignal extends EventTarget {
    #aborted = false;
    #reason = undefined;
    #dependents = [];

    constructor(key) {
        if (key !== KEY) {
            throw makeError(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
        }
        super();
    }

    get aborted() {
        return this.#aborted;
    }

    get reason() {
        return this.#reason;
    }

    throwIfAborted() {
        if (this.#aborted) {
            throw this.#reason;
        }
    }

    static abort(reason = new DOMException("This operation was aborted", "AbortError")) {
        const signal = new AbortSignal(KEY);
        abortSignal(signal, reason);
        return signal;
    }

    static timeout(delay) {
        if (typeof delay !== "number") {
            throw invalidArgType("delay", "number", delay);
        }
        if (!(delay >= 0 && delay <= Number.MAX_SAFE_INTEGER)) {
            throw makeError(RangeError, "ERR_OUT_OF_RANGE", 'The value of "delay" is out of range. ' +
                `It must be >= 0 && <= ${Number.MAX_SAFE_INTEGER}. Received ${delay}`);
        }
        const signal = new AbortSignal(KEY);
        vial.timers.setTimeout(() => abortSignal(signal,
            new DOMException("The operation was aborted due to timeout", "TimeoutError")),
        delay).unref();
        return signal;
    }

    static any(signals) {
        const all = [...signals];
        for (const signal of all) {
            if (!(signal instanceof AbortSignal)) {
                throw invalidArgType("signals", "AbortSignal", signal);
            }
        }
        const result = new AbortSignal(KEY);
        const aborted = all.find((signal) => signal.aborted);
        if (aborted !== undefined) {
            result.#aborted = true;
            result.#reason = aborted.reason;
            return result;
        }
        for (const signal of all) {
            signal.#dependents.push(result);
        }
        return result;
    }

    static {
        abortSignal = (signal, reason) => {
            if (signal.#aborted) {
                return;
            }
            signal.#aborted = true;
            signal.#reason = reason;
            signal.dispatchEvent(new Event("abort"));
            const dependents = signal.#dependents;
            signal.#dependents = [];
            for (const dependent of dependents) {
                abortSignal(dependent, reason);
            }
        };
    }

    get [Symbol.toStringTag]() {
        return "AbortSignal";
    }
}
defineHandler(AbortSignal.prototype, "abort");
hide(AbortSignal.prototype, inspectSymbol, function inspectSignal(depth, options, inspect) {
    return `AbortSignal ${inspect({ aborted: this.aborted }, options)}`;
});

export class AbortController {
    #signal = new AbortSignal(KEY);

    get signal() {
        return this.#signal;
    }

    abort(reason = new DOMException("This operation was aborted", "AbortError")) {
        abortSignal(this.#signal, reason);
    }

    get [Symbol.toStringTag]() {
        return "AbortController";
    }
}
hide(AbortController.prototype, inspectSymbol, function inspectController(depth, options, inspect) {
    return depth < 0 ? "AbortController {}"
        : `AbortController { signal: ${inspect(this.signal, options)} }`;
});
