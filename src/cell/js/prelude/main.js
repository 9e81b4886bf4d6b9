/* main.js - the life of a run, the guest's globals, and the hooks that the cell's C code calls.
 *
 * A run has one value and one end. The value is what __return() was given last, else the script's
 * completion value; a promise stands for what it settles with. The run ends
 *
 *   1. after __return(v): when the current task is over and v has settled;
 *   2. when the completion value is a promise: as soon as it settles with anything but undefined;
 *   3. else: when no timer, no immediate and no call of a tool is left;
 *
 * or at once when an error is nobody's business: an exception out of a task, which C sees itself,
 * or a rejection without a handler. For the evaluations of a session, which are like runs in most
 * things, session.js decides instead. */

let isIdleSaid = false; /* those who wait for that have been told that nothing is left to do */

/* What hooks.start is told about the process: enum session_kind of C. */
const SESSION_EVAL = 1;
const SESSION_ENV = 2;
const START_AGAIN = 3; /* the same run: nothing of it has been evaluated yet, and it has insertions now */

const STATE_FINISHED = -1;
const STATE_FAILED = -2;
const STATE_STUCK = -3;
const STATE_CALLS = -4; /* nothing to do but to wait for answers of tools */

/* What the run waits for, or what it has come to. */
const WAIT_NONE = 0;
const WAIT_PENDING = 1;
const WAIT_SETTLED = 2;

/* Counts runs, so that a promise watched for one run says nothing about another. */
let runNumber = 0;
let runValue;
let runWait = WAIT_NONE;
let isReturned = false;
let hasFailed = false;
let failureReason;

function resetRun() {
    isIdleSaid = false;
    runNumber++;
    runValue = undefined;
    runWait = WAIT_NONE;
    isReturned = false;
    hasFailed = false;
    failureReason = undefined;
}

function recordFailure(reason) {
    if (!hasFailed) {
        hasFailed = true;
        failureReason = reason;
    }
}

function isPromise(value) {
    return typeof value === "object" && value !== null && unwrapProxy(value) === value &&
        chainHas(value, PromisePrototype);
}

/* Promise.prototype.then without the guest's say: then() looks at promise.constructor to find out
 * what to make, so an own property hides whatever a guest has put there while then() runs. */
function watchPromise(promise, onValue, onReason) {
    const hidden = getOwnPropertyDescriptor(promise, "constructor");
    const canHide = hidden === undefined && isExtensible(promise);
    try {
        if (canHide) {
            defineHidden(promise, "constructor", undefined);
        }
        promiseThen(promise, onValue, onReason);
    } catch (error) {
        recordFailure(error);
    }
    if (canHide) {
        deleteProperty(promise, "constructor");
    }
}

/* Makes value the value of the run, or what it settles with. Watching a promise also counts as
 * handling its rejection, so that it is reported once. A promise that is no longer the value when
 * it rejects is ignored. */
function adoptValue(value) {
    runValue = value;
    runWait = WAIT_NONE;
    if (!isPromise(value)) {
        return;
    }
    const run = runNumber;
    const isCurrent = () => run === runNumber && runWait === WAIT_PENDING && runValue === value;
    runWait = WAIT_PENDING;
    watchPromise(value, (result) => {
        if (isCurrent()) {
            runValue = result;
            runWait = WAIT_SETTLED;
        }
    }, (reason) => {
        if (isCurrent()) {
            recordFailure(reason);
        }
    });
}

function runState() {
    if (evaluationCount > 0 && !isEnvironmentRun) {
        return evaluationState();
    }
    if (hasFailed) {
        return STATE_FAILED;
    }
    if (runWait !== WAIT_PENDING && (isReturned || (runWait === WAIT_SETTLED &&
        runValue !== undefined))) {
        return STATE_FINISHED;
    }
    /* What the prefix of an environment left is worth waiting for as long as the program waits; and
     * while a call keeps the run alive, timers that do not are due all the same. */
    const delay = pendingCount > 0 || (isEnvironmentRun && runWait === WAIT_PENDING) ? anyTaskDelay()
        : nextTaskDelay();
    if (delay >= 0) {
        isIdleSaid = false;
        return delay;
    }
    if (pendingCount > 0) {
        isIdleSaid = false;
        return STATE_CALLS;
    }
    if (runWait === WAIT_PENDING) {
        return STATE_STUCK;
    }
    if (!isIdleSaid && lifecycle.isTouched) {
        isIdleSaid = true;
        if (lifecycle.beforeExit()) {
            return 0; /* once round: it may have found something to do */
        }
    }
    return STATE_FINISHED;
}

const guestReturn = {
    __return(value) {
        isReturned = true;
        adoptValue(value);
    },
}.__return;

/* Shared memory and threads would give a guest a fine clock; WebAssembly is not offered yet. */
function installGlobals() {
    deleteProperty(globalThis, "SharedArrayBuffer");
    deleteProperty(globalThis, "WebAssembly");
    defineHidden(globalThis, "Proxy", Proxy);
    defineHidden(globalThis, "console", guestConsole);
    defineHidden(globalThis, "__return", guestReturn);
    installDisplay();
    const names = objectKeys(guestTimers);
    for (let i = 0; i < names.length; i++) {
        defineHidden(globalThis, names[i], guestTimers[names[i]]);
    }
    /* Names are shortened when the program is built; these a guest can see. */
    setName(Proxy, "Proxy");
    setName(Performance, "Performance");
    setName(Timeout, "Timeout");
    setName(Immediate, "Immediate");
    mapSet(builtinPrototypes, Timeout.prototype, "Timeout");
    mapSet(builtinPrototypes, Immediate.prototype, "Immediate");
    installSurface();
    installModules();
    globalNames = listOf(getOwnPropertyNames(globalThis));
}

let isFresh = false; /* nothing has been evaluated since all was reset */

function resetAll() {
    resetRun();
    resetConsole();
    resetTimers();
    resetSources();
    resetModules();
    if (lifecycle.isTouched) {
        lifecycle.start();
        lifecycle.isTouched = false;
    }
    isFresh = true;
}

/* Cells are made from a template that has reset all, so that a run has not much to do. */
function beginRun(timers, bytes, name, insertions) {
    if (!isFresh) {
        resetAll();
    }
    isFresh = false;
    timersMax = timers;
    valueBytesMax = bytes;
    startClock();
    sourceName = name;
    sourceUrl = name;
    if (insertions !== undefined) {
        addSource("", insertions, POSITION_MAX, undefined);
    }
}

const hooks = {
    __proto__: null,

    start(timers, bytes, name, insertions, isSession) {
        if (isSession === SESSION_EVAL) {
            startEvaluation(timers, bytes, name);
        } else if (isSession === SESSION_ENV) {
            startEnvironmentRun(timers, bytes, name);
        } else if (isSession === START_AGAIN) {
            addSource("", insertions, POSITION_MAX, undefined);
        } else {
            beginRun(timers, bytes, name, insertions);
        }
        if (lifecycle.forget !== undefined) {
            lifecycle.forget();
        }
        return sourceUrl;
    },

    /* A promise settles only after this call has returned, so C is sent round the loop once. */
    completed(value) {
        if (!isReturned) {
            adoptValue(value === lifecycle.process ? undefined : value);
        }
        return !hasFailed && runWait === WAIT_PENDING ? 0 : runState();
    },

    /* Calls a function of C, which evaluates the program, and what it put off to its end. */
    enter(evaluate) {
        const value = evaluate();
        if (lifecycle.hasTicks) {
            lifecycle.ticks();
        }
        return value;
    },

    turn() {
        if (taskCount > 0) { /* what was found to do may be done in this very turn */
            isIdleSaid = false;
        }
        if (evaluationCount > 0 && !isEnvironmentRun) {
            turnEvaluation();
        } else {
            runTask();
        }
    },

    state() {
        return runState();
    },

    failure() {
        return failureReason;
    },

    pending() {
        const error = new ErrorClass("the program waits for a promise that can never settle: no " +
            "timer and no other task is left that could settle it");
        defineHidden(error, "name", "DeadlockError");
        return error;
    },

    unhandled(promise, reason) {
        recordUncaught(reason);
    },

    value() {
        return runValue === undefined ? undefined : valueToHost(runValue);
    },

    decode(bytes) {
        return decodeCbor(bytes);
    },

    text() {
        return runValue === undefined ? undefined : inspectValue(runValue);
    },

    describe(error) {
        return describe(error);
    },

    exit(failed) {
        return lifecycle.isTouched ? lifecycle.exit(failed) : 0;
    },

    modules(names) {
        provideModules(names);
    },

    main(kind, hasScriptNames) {
        return runMain(kind, hasScriptNames);
    },

    tool(index, bits, name, params) {
        provideTool(index, bits, name, params);
    },

    net() {
        provideNet();
    },

    answer(id, kind, value) {
        takeAnswer(id, kind, value);
    },

    evaluate() {
        return runEvaluation();
    },

    globals(values) {
        const names = objectKeys(values);
        for (let i = 0; i < names.length; i++) {
            defineHidden(globalThis, names[i], values[names[i]]);
        }
    },

    call(number, args) {
        return callFunction(number, args);
    },

    release(number) {
        releaseFunction(number);
    },

    complete(text) {
        return completions(text);
    },

    repair() {
        repairTimers();
        dropCalls();
    },

    fresh() {
        resetAll();
    },

    warm() {
        muted = true;
        try {
            warmSurface(); /* first: what every run uses should be the last that was used */
            warmUp();
        } finally {
            muted = false;
            resetAll();
        }
    },
};

/* The engine compiles a function when it is first called. Doing that here, in the template, takes
 * it out of every run. */
function warmUp() {
    class Sample {
        constructor() {
            this.name = "sample";
        }
    }
    const sample = {
        text: "it's\n", list: [1, 2, 3, 4, 5, 6, 7, 8], nested: { a: { b: { c: {} } } },
        map: new MapClass(), date: new Date(0), expression: /x/g, call: () => {}, Sample,
        instance: new Sample(), bytes: new Uint8ArrayClass(3), sparse: [, 1],
        get accessor() {
            return 1;
        },
    };
    const cyclic = { sample };
    cyclic.cyclic = cyclic;
    beginRun(100, 1 << 20, "warm.js", undefined);
    warmLibrary();
    warmConsole(sample, cyclic);
    warmTimers();
    warmValues(sample);
    warmErrors();
}

function warmConsole(sample, cyclic) {
    guestConsole.log("a %s b %d %i %f %j %o %O %c%%", "x", 1, 2, 3.5, { a: 1 }, [1], sample, "c");
    guestConsole.log("text");
    guestConsole.log({ a: 1, b: "two", c: [true, null] }, [1, 2, 3], 4, undefined);
    guestConsole.error(new ErrorClass("warm"), cyclic);
    guestConsole.table([{ a: 1, b: "x" }, { a: 2 }]);
    guestConsole.group("group");
    guestConsole.info("a\nb");
    guestConsole.groupEnd();
    guestConsole.count();
    guestConsole.time();
    guestConsole.timeEnd();
    guestConsole.trace("trace");
    guestConsole.dir(sample, { depth: 0 });
}

function warmTimers() {
    const first = guestTimers.setTimeout(() => {}, 0);
    const second = guestTimers.setTimeout(() => {}, 5, 1, 2);
    const third = guestTimers.setInterval(() => {}, 1);
    guestTimers.setImmediate(() => {});
    guestTimers.queueMicrotask(() => {});
    runState();
    runTask();
    guestTimers.clearTimeout(first);
    guestTimers.clearTimeout(second);
    guestTimers.clearInterval(+third);
    runState();
    guestPerformance.now();
}

/* Often enough for the check of large values to be compiled: it visits every member of them. Objects
 * of many shapes, so that the engine does not make it for one. */
function warmPlain() {
    const members = [1, "x", 1.5, true, null, [1, 2], ["a", {}], { a: 1 }, [1.5, 2.5]];
    const rows = [];
    for (let i = 0; i < 500; i++) {
        rows[i] = {};
        for (let k = 0; k < 1 + i % 7; k++) {
            rows[i][`k${(i * 7 + k * k) % 50}`] = members[(i + k) % 9];
        }
    }
    for (let i = 0; i < 20; i++) {
        unitsSoFar = 0;
        isPlain(rows);
    }
}

function warmValues(sample) {
    resetRun();
    warmPlain();
    hooks.completed([{ a: 1, b: "x", c: null, d: true }, 2]);
    hooks.value();
    hooks.text();
    hooks.state();
    guestReturn({ date: new Date(0), instance: sample.instance });
    hooks.value();
    hooks.text();
    hooks.completed(1);
    guestReturn("text");
    hooks.text();
    resetRun();
    hooks.completed(PromiseClass.resolve(1));
    hooks.state();
    try {
        guestReturn(sample);
        hooks.value();
    } catch (error) {
        hooks.describe(error);
    }
}

function warmErrors() {
    const error = new TypeErrorClass("warm", { cause: new RangeErrorClass("cause") });
    defineHidden(error, "stack", "inner@warm.js:3:10\nmap@[native code]\nglobal code@warm.js:7:1");
    hooks.describe(error);
    hooks.describe("thrown");
    hooks.describe(hooks.pending());
    hooks.unhandled(undefined, error);
    hooks.failure();
    hintFor("ReferenceError", "Can't find variable: consol");
}

installGlobals();
native.hooks = hooks;
