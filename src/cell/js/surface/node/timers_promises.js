/* timers_promises.js - timers/promises: waiting with await, and with a signal to stop it. */
import { abortError, invalidArgType } from "../lib/errors.js";

function checkOptions(options) {
    if (options === null || typeof options !== "object") {
        throw invalidArgType("options", "Object", options);
    }
    const { signal, ref = true } = options;
    if (signal !== undefined && (signal === null || typeof signal !== "object" || !("aborted" in signal))) {
        throw invalidArgType("options.signal", "AbortSignal", signal);
    }
    if (typeof ref !== "boolean") {
        throw invalidArgType("options.ref", "boolean", ref);
    }
    return { signal, ref };
}

async function wait(begin, end, value, options) {
    const { signal, ref } = checkOptions(options);
    if (signal?.aborted) {
        throw abortError(signal.reason);
    }
    return new Promise((resolve, reject) => {
        const stop = () => {
            end(handle);
            reject(abortError(signal.reason));
        };
        const handle = begin(() => {
            signal?.removeEventListener("abort", stop);
            resolve(value);
        });
        if (!ref) {
            handle.unref();
        }
        signal?.addEventListener("abort", stop, { once: true });
    });
}

const { timers } = vial;

function setTimeoutPromise(delay = undefined, value = undefined, options = {}) {
    return wait((callback) => timers.setTimeout(callback, delay), timers.clearTimeout, value, options);
}

function setImmediatePromise(value = undefined, options = {}) {
    return wait((callback) => timers.setImmediate(callback), timers.clearImmediate, value, options);
}

/* Ticks that nobody has waited for yet are counted, not lost. */
async function* setIntervalPromise(delay = undefined, value = undefined, options = {}) {
    const { signal, ref } = checkOptions(options);
    if (signal?.aborted) {
        throw abortError(signal.reason);
    }
    let ticks = 0;
    let wake = () => {};
    const onAbort = () => wake();
    const handle = timers.setInterval(() => {
        ticks++;
        wake();
    }, delay);
    if (!ref) {
        handle.unref();
    }
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
        for (;;) {
            if (ticks === 0 && !signal?.aborted) {
                await new Promise((resolve) => {
                    wake = resolve;
                });
            }
            if (signal?.aborted) {
                throw abortError(signal.reason);
            }
            for (; ticks > 0; ticks--) {
                yield value;
            }
        }
    } finally {
        timers.clearInterval(handle);
        signal?.removeEventListener("abort", onAbort);
    }
}

module.exports = {
    setTimeout: setTimeoutPromise, setImmediate: setImmediatePromise, setInterval: setIntervalPromise,
    scheduler: {
        wait: (delay, options = undefined) => setTimeoutPromise(delay, undefined, options ?? {}),
        yield: () => setImmediatePromise(),
    },
};
