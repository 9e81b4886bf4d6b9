/* glue.js - what a runtime of vial.jsrun has beside the guest's own names: host ops, streams, and
 * functions that may return promises. It is the beginning of the prefix of its environment. */
(() => {
    const hostSync = globalThis.__vial_sync;
    const hostAsync = globalThis.__vial_async;
    const callKept = globalThis.vial$f;
    const { ReadableStream, URL, Promise } = globalThis;
    delete globalThis.__vial_sync;
    delete globalThis.__vial_async;

    const PY_STREAM = "vial-stream:py:";
    const JS_STREAM = "vial-stream:js:";
    const OP_NEXT = -1;
    const OP_CANCEL = -2;
    const pending = new Map(); /* promises that a caller may come back for */
    const readers = new Map(); /* of streams that the host has */
    const streams = new WeakMap(); /* their numbers */
    let last = 0;

    function makeStream(id) {
        return new ReadableStream({
            async pull(controller) {
                const [done, value] = open(await hostAsync([OP_NEXT, id]));
                if (done) {
                    controller.close();
                } else {
                    controller.enqueue(value);
                }
            },
            async cancel() {
                await hostAsync([OP_CANCEL, id]);
            },
        }, { highWaterMark: 0 });
    }

    /* Puts streams of the host where their addresses are. */
    function revive(value) {
        if (value instanceof URL && value.href.startsWith(PY_STREAM)) {
            return makeStream(Number(value.href.slice(PY_STREAM.length)));
        }
        if (Array.isArray(value)) {
            value.forEach((item, i) => {
                value[i] = revive(item);
            });
        } else if (value !== null && typeof value === "object" &&
            Object.getPrototypeOf(value) === Object.prototype) {
            for (const key of Object.keys(value)) {
                value[key] = revive(value[key]);
            }
        }
        return value;
    }

    function open([value, hasStreams]) {
        return hasStreams ? revive(value) : value;
    }

    Object.defineProperty(ReadableStream.prototype, "toJSON", {
        configurable: true, writable: true, enumerable: false,
        value: function toJSON() {
            let id = streams.get(this);
            if (id === undefined) {
                id = ++last;
                streams.set(this, id);
                readers.set(id, this.getReader());
            }
            return new URL(JS_STREAM + id);
        },
    });

    /* What has become of a promise when all that can happen at once has happened: the object is
     * looked at only then. */
    function watch(value) {
        if (value === null || (typeof value !== "object" && typeof value !== "function") ||
            typeof value.then !== "function") {
            return { state: "done", value };
        }
        const id = ++last;
        let state = "pending";
        const box = {
            id,
            get state() {
                if (state !== "pending") {
                    pending.delete(id); /* nobody will come back for it */
                }
                return state;
            },
        };
        pending.set(id, value);
        Promise.resolve(value).then((settled) => {
            state = "done";
            box.value = settled;
        }, (error) => {
            state = "failed";
            box.value = error;
        });
        return box;
    }

    const operations = {
        call: (number, args) => watch(callKept(number, args)),
        callAndWait: (number, args) => callKept(number, args),
        wait(id) {
            const promise = pending.get(id);
            pending.delete(id);
            return promise;
        },
        module: (specifier) => import(specifier),
        bind(name, isObject, rows) {
            const made = isObject ? {} : undefined;
            for (const [key, op, isAsync, value] of rows) {
                const member = op < 0 ? value
                    : isAsync ? (...args) => globalThis.__host_op_async__(op, ...args)
                        : (...args) => globalThis.__host_op_sync__(op, ...args);
                if (!isObject) {
                    globalThis[name] = member;
                    return;
                }
                made[key] = member;
            }
            globalThis[name] = made;
        },
        read(id) {
            const reader = readers.get(id);
            return reader === undefined ? { done: true } : reader.read().then((piece) => {
                if (piece.done) {
                    readers.delete(id);
                }
                return piece;
            });
        },
        async cancel(id) {
            const reader = readers.get(id);
            readers.delete(id);
            await reader?.cancel();
        },
        stats: () => ({ timers: timers.size, intervals: intervals.size }),
    };

    /* Timers are counted, for those who ask how many there are. */
    const timers = new Set();
    const intervals = new Set();
    const { setTimeout: startTimeout, clearTimeout: stopTimeout, setInterval: startInterval,
        clearInterval: stopInterval } = globalThis;

    function stop(timer) {
        timers.delete(timer);
        intervals.delete(timer);
    }

    const counted = {
        setTimeout(callback, delay, ...args) {
            if (typeof callback !== "function") {
                return startTimeout(callback, delay, ...args);
            }
            const timer = startTimeout((...given) => {
                timers.delete(timer);
                callback(...given);
            }, delay, ...args);
            timers.add(timer);
            return timer;
        },
        setInterval(callback, delay, ...args) {
            const timer = startInterval(callback, delay, ...args);
            intervals.add(timer);
            return timer;
        },
        clearTimeout(timer) {
            stop(timer);
            stopTimeout(timer);
        },
        clearInterval(timer) {
            stop(timer);
            stopInterval(timer);
        },
    };
    for (const name of Object.keys(counted)) {
        Object.defineProperty(globalThis, name, {
            value: counted[name], writable: true, configurable: true, enumerable: true,
        });
    }

    function define(name, value) {
        Object.defineProperty(globalThis, name, {
            value, writable: false, configurable: false, enumerable: false,
        });
    }

    define("__host_op_sync__", (id, ...args) => open(hostSync([id, args])));
    define("__host_op_async__", (id, ...args) => hostAsync([id, args]).then(open));
    define("vial$glue", (name, args, hasStreams) =>
        operations[name](...(hasStreams ? revive(args) : args)));
})();
