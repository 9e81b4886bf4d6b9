/* lazy_transform.js - a base class for digests and ciphers, which are streams that hardly anybody uses as streams.
 *
 * Loading the streams takes longer than most digests. So an object becomes a Transform when one of a stream's
 * members is first asked for; if the streams are loaded already, it is one from the start. */

const MEMBERS = ["on", "once", "off", "emit", "addListener", "removeListener", "removeAllListeners", "listenerCount",
    "pipe", "unpipe", "write", "end", "read", "push", "resume", "pause", "destroy", "cork", "uncork", "setEncoding",
    "setDefaultEncoding", "readable", "writable", "destroyed", "readableEnded", "writableEnded", Symbol.asyncIterator];

const become = Symbol("become a stream");

export class LazyTransform {
    constructor(options = undefined) {
        Object.defineProperty(this, become, { value: { options, isDone: false } });
        if (isInstalled) {
            initialize(this);
        }
    }
}

let isInstalled = false;

function initialize(object) {
    const state = object[become];
    if (state !== undefined && !state.isDone) {
        state.isDone = true;
        Reflect.apply(vial.require("stream").Transform, object, [state.options]);
    }
}

/* All objects of the class inherit from Transform from now on; those made before are initialised when they are
 * used, because the members below stay in front. */
function install() {
    if (!isInstalled) {
        isInstalled = true;
        Object.setPrototypeOf(LazyTransform.prototype, vial.require("stream").Transform.prototype);
    }
}

for (const name of MEMBERS) {
    Object.defineProperty(LazyTransform.prototype, name, {
        get() {
            install();
            initialize(this);
            return Reflect.get(vial.require("stream").Transform.prototype, name, this);
        },
        set(value) {
            Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
        },
        configurable: true,
    });
}

if (vial.isLoaded("node/stream")) {
    install();
}
