/* diagnostics_channel.js - named channels inside of one program. */
import { checkFunction, invalidArgType } from "../lib/errors.js";

const channels = new Map();

class Channel {
    #subscribers = [];
    #stores = new Map();

    constructor(name) {
        this.name = name;
    }

    get hasSubscribers() {
        return this.#subscribers.length > 0 || this.#stores.size > 0;
    }

    subscribe(listener) {
        checkFunction(listener, "subscription");
        this.#subscribers = [...this.#subscribers, listener];
    }

    unsubscribe(listener) {
        const index = this.#subscribers.indexOf(listener);
        this.#subscribers = this.#subscribers.filter((one, i) => i !== index);
        return index >= 0;
    }

    bindStore(store, transform = (data) => data) {
        this.#stores.set(store, transform);
    }

    unbindStore(store) {
        return this.#stores.delete(store);
    }

    publish(message) {
        for (const listener of this.#subscribers) {
            try {
                listener(message, this.name);
            } catch (error) {
                process.nextTick(() => {
                    throw error;
                });
            }
        }
    }

    runStores(data, callback, self = undefined, ...args) {
        let run = () => {
            this.publish(data);
            return Reflect.apply(callback, self, args);
        };
        for (const [store, transform] of this.#stores) {
            const next = run;
            run = () => store.run(transform(data), next);
        }
        return run();
    }
}

function channel(name) {
    if (typeof name !== "string" && typeof name !== "symbol") {
        throw invalidArgType("channel", ["string", "symbol"], name);
    }
    if (!channels.has(name)) {
        channels.set(name, new Channel(name));
    }
    return channels.get(name);
}

const STEPS = ["start", "end", "asyncStart", "asyncEnd", "error"];

class TracingChannel {
    constructor(names) {
        for (const step of STEPS) {
            this[step] = typeof names === "string" ? channel(`tracing:${names}:${step}`) : names[step];
        }
    }

    subscribe(handlers) {
        STEPS.filter((step) => handlers[step]).forEach((step) => this[step].subscribe(handlers[step]));
    }

    unsubscribe(handlers) {
        return STEPS.filter((step) => handlers[step])
            .map((step) => this[step].unsubscribe(handlers[step])).every(Boolean);
    }

    traceSync(callback, context = {}, self = undefined, ...args) {
        return this.start.runStores(context, () => {
            try {
                context.result = Reflect.apply(callback, self, args);
                return context.result;
            } catch (error) {
                context.error = error;
                this.error.publish(context);
                throw error;
            } finally {
                this.end.publish(context);
            }
        });
    }

    tracePromise(callback, context = {}, self = undefined, ...args) {
        const settle = (key) => (value) => {
            context[key] = value;
            if (key === "error") {
                this.error.publish(context);
            }
            this.asyncStart.publish(context);
            this.asyncEnd.publish(context);
            return key === "error" ? Promise.reject(value) : value;
        };
        return this.start.runStores(context, () => {
            try {
                return Promise.resolve(Reflect.apply(callback, self, args)).then(settle("result"), settle("error"));
            } catch (error) {
                context.error = error;
                this.error.publish(context);
                throw error;
            } finally {
                this.end.publish(context);
            }
        });
    }
}

module.exports = {
    Channel, channel,
    hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false,
    subscribe: (name, listener) => channel(name).subscribe(listener),
    unsubscribe: (name, listener) => channel(name).unsubscribe(listener),
    tracingChannel: (names) => new TracingChannel(names),
};
