/* timers.js - timers, immediates, microtasks and the clock a guest may see.
 *
 * The cell's loop asks nextTaskDelay() how long to sleep and then runs one task by runTask().
 * Timers wait in a binary heap ordered by due time, then by age; immediates in a queue that is
 * taken in batches, so that immediates made by immediates wait for the timers that are due.
 *
 * A guest near the end of its stack can make any call in here fail. Each change to the heap is
 * therefore made by one function that calls nothing, and so happens wholly or not at all. */

/* What the guest's `process` adds to the life of a run; surface/node/process.js fills it in.
 * `start()` forgets what the template did with it; `beforeExit()` tells whether somebody was told
 * that nothing is left to do; `exit(failed)` tells those who want to know of the end and gives the
 * exit code; `ticks()` runs what process.nextTick was given, when `hasTicks` is set. None but the
 * last is asked before the guest has got hold of the object, which sets `isTouched`: most programs
 * never do. `forget()` takes variables away that a program may not have, when there are some made;
 * `process` itself is nobody's value: a program that ends with process.on(...) does not
 * mean to give it. */
const lifecycle = {
    __proto__: null, start: undefined, beforeExit: undefined, exit: undefined, ticks: undefined,
    hasTicks: false, isTouched: false, process: undefined, forget: undefined,
};
native.lifecycle = lifecycle;

const DELAY_MS_MAX = 2147483647;

/* Steps of the guest's clock. Finer ones help mostly those who measure caches. */
const CLOCK_STEPS_PER_MS = 10;

let timersMax = 0;
let clockOrigin = 0;
let timeOrigin = 0;

let heap = makeList();
let heapCount = 0;
let taskCount = 0; /* timers and immediates that wait */
let refCount = 0; /* those of them that keep the run alive */
let lastId = 0;
let tasksById = new MapClass(); /* only tasks whose number the guest has asked for */
let batch = makeList(); /* the immediates of this round */
let batchNext = 0;
let upcoming = makeList(); /* the immediates of the next round */
let taskEvaluation = 0; /* the evaluation of a session that the last task was made in */
let roundStart = -1; /* timers due by then run before the next batch; -1 between rounds */

function startClock() {
    clockOrigin = nativeNow();
    timeOrigin = dateNow();
}

function resetTimers() {
    heap = makeList();
    heapCount = 0;
    taskCount = 0;
    refCount = 0;
    lastId = 0;
    tasksById = new MapClass();
    batch = makeList();
    batchNext = 0;
    upcoming = makeList();
    taskEvaluation = 0;
    roundStart = -1;
}

/* None of the tasks that wait keeps a run alive any more. */
function unrefTasks() {
    for (let i = 0; i < heapCount; i++) {
        setTaskRef(heap[i], false);
    }
    for (let i = batchNext; i < batch.length; i++) {
        setTaskRef(batch[i], false);
    }
    for (let i = 0; i < upcoming.length; i++) {
        setTaskRef(upcoming[i], false);
    }
}

/* A program was stopped wherever it was, perhaps while it changed the heap: what is in there is put in order
 * again, and what was just being moved is lost. */
function repairTimers() {
    const old = heap;
    const count = old.length;
    const queues = [batch, upcoming];
    heap = makeList();
    heapCount = 0;
    taskCount = 0;
    refCount = 0;
    for (let i = 0; i < count; i++) {
        const task = old[i];
        if (task !== undefined && task.waits && task.slot >= 0) {
            task.slot = -1; /* each once */
            heapPlace(task, heapCount, heapCount + 1);
            taskCount++;
            refCount += task.hasRef ? 1 : 0;
        }
    }
    for (let q = 0; q < 2; q++) {
        for (let i = q === 0 ? batchNext : 0; i < queues[q].length; i++) {
            const task = queues[q][i];
            taskCount += task !== undefined && task.waits ? 1 : 0;
            refCount += task !== undefined && task.waits && task.hasRef ? 1 : 0;
        }
    }
}

/* A clock that stands still says so of durations, too; timers go by the true one. */
function coarseNow() {
    return nativeStands() ? 0 : floor((nativeNow() - clockOrigin) * CLOCK_STEPS_PER_MS) / CLOCK_STEPS_PER_MS;
}

/* Puts task into the free heap slot at index, of count slots in all, and moves it to where it
 * belongs. */
function heapPlace(task, index, count) {
    heapCount = count;
    while (index > 0) {
        const parent = heap[(index - 1) >> 1];
        if (parent.due < task.due || (parent.due === task.due && parent.id < task.id)) {
            break;
        }
        heap[index] = parent;
        parent.slot = index;
        index = (index - 1) >> 1;
    }
    for (;;) {
        let child = 2 * index + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && (heap[child + 1].due < heap[child].due ||
            (heap[child + 1].due === heap[child].due && heap[child + 1].id < heap[child].id))) {
            child++;
        }
        if (task.due < heap[child].due ||
            (task.due === heap[child].due && task.id < heap[child].id)) {
            break;
        }
        heap[index] = heap[child];
        heap[index].slot = index;
        index = child;
    }
    heap[index] = task;
    task.slot = index;
}

function heapRemove(task) {
    const last = heap[heapCount - 1];
    const { slot } = task;
    if (last === task) {
        heapCount--;
    } else {
        heapPlace(last, slot, heapCount - 1);
    }
    heap[heapCount] = undefined;
    task.slot = -1;
}

function delayOf(value) {
    const ms = typeof value === "number" ? value : NumberClass(value);
    return ms >= 1 && ms <= DELAY_MS_MAX ? floor(ms) : 1;
}

function receivedText(value) {
    if (value === undefined || value === null) {
        return `${value}`;
    }
    if (isObject(value)) {
        const target = unwrapProxy(value);
        const name = target === undefined ? null : constructorName(makeContext(), target, 0);
        return name === null ? inspectValue(value) : `an instance of ${name}`;
    }
    const text = typeof value === "string" && value.length > 28
        ? `${quote(stringSlice(value, 0, 25))}` : inspectValue(value);
    const cut = typeof value === "string" && value.length > 28
        ? `${stringSlice(text, 0, -1)}...${text[text.length - 1]}` : text;
    return `type ${typeof value} (${cut})`;
}

function requireFunction(value) {
    if (typeof value !== "function") {
        const error = new TypeErrorClass('The "callback" argument must be of type function. ' +
            `Received ${receivedText(value)}`);
        defineProperty(error, "code", {
            __proto__: null, value: "ERR_INVALID_ARG_TYPE", writable: true, enumerable: true,
            configurable: true,
        });
        throw error;
    }
}

function requireRoom() {
    if (taskCount >= timersMax) {
        throw new RangeErrorClass(`${timersMax} timers are already waiting, which is the limit; ` +
            "clear some, or raise the limit with --timers");
    }
}

/* What the surface makes of every callback once a program has asked for asynchronous context. */
let wrapCallback = (callback) => callback;

function makeTask(callback, args) {
    lastId++;
    return {
        __proto__: null,
        id: lastId,
        callback: wrapCallback(callback),
        args,
        delay: 0,
        evaluation: taskEvaluation,
        due: 0,
        handle: undefined,
        hasRef: true,
        repeats: false,
        slot: -1,
        waits: false, /* in the heap or in a queue, or a repeating timer that runs right now */
    };
}

function beginWaiting(task) {
    task.waits = true;
    taskCount++;
    refCount += task.hasRef ? 1 : 0;
}

function endWaiting(task) {
    if (task.waits) {
        task.waits = false;
        taskCount--;
        refCount -= task.hasRef ? 1 : 0;
    }
}

function setTaskRef(task, hasRef) {
    if (task.waits && task.hasRef !== hasRef) {
        refCount += hasRef ? 1 : -1;
    }
    task.hasRef = hasRef;
}

function cancelTask(task) {
    endWaiting(task);
    if (task.slot >= 0) {
        heapRemove(task);
    }
    mapDelete(tasksById, task.id);
}

function schedule(task) {
    task.due = nativeNow() + task.delay;
    heapPlace(task, heapCount, heapCount + 1);
}

/* Only the prelude can make handles: guests reach constructors through `.constructor`. */
const handleKey = makeList();
let taskOfTimeout;
let taskOfImmediate;

class Timeout {
    #task;

    constructor(key, task) {
        if (key !== handleKey) {
            throw new TypeErrorClass("Illegal constructor");
        }
        this.#task = task;
    }

    ref() {
        setTaskRef(this.#task, true);
        return this;
    }

    unref() {
        setTaskRef(this.#task, false);
        return this;
    }

    hasRef() {
        return this.#task.hasRef;
    }

    refresh() {
        const task = this.#task;
        if (!task.waits) {
            requireRoom();
            beginWaiting(task);
        }
        if (task.slot >= 0) {
            heapRemove(task);
        }
        schedule(task);
        return this;
    }

    close() {
        cancelTask(this.#task);
        return this;
    }

    [symbolToPrimitive]() {
        const task = this.#task;
        if (task.waits) {
            mapSet(tasksById, task.id, task);
        }
        return task.id;
    }

    static {
        taskOfTimeout = (value) => #task in value ? value.#task : undefined;
    }
}

class Immediate {
    #task;

    constructor(key, task) {
        if (key !== handleKey) {
            throw new TypeErrorClass("Illegal constructor");
        }
        this.#task = task;
    }

    ref() {
        setTaskRef(this.#task, true);
        return this;
    }

    unref() {
        setTaskRef(this.#task, false);
        return this;
    }

    hasRef() {
        return this.#task.hasRef;
    }

    static {
        taskOfImmediate = (value) => #task in value ? value.#task : undefined;
    }
}

function addTimer(callback, delay, args, repeats) {
    requireFunction(callback);
    const ms = delayOf(delay);
    requireRoom();
    const task = makeTask(callback, args);
    task.delay = ms;
    task.repeats = repeats;
    task.handle = new Timeout(handleKey, task);
    schedule(task);
    beginWaiting(task);
    return task.handle;
}

function clearTimer(value) {
    let task;
    if (isObject(value)) {
        task = taskOfTimeout(value);
    } else if (typeof value === "number" || typeof value === "string") {
        task = mapGet(tasksById, +value);
    }
    if (task !== undefined) {
        cancelTask(task);
    }
}

const guestTimers = {
    setTimeout(callback, delay, ...args) {
        return addTimer(callback, delay, args, false);
    },
    setInterval(callback, delay, ...args) {
        return addTimer(callback, delay, args, true);
    },
    setImmediate(callback, ...args) {
        requireFunction(callback);
        requireRoom();
        const task = makeTask(callback, args);
        task.handle = new Immediate(handleKey, task);
        beginWaiting(task);
        upcoming[upcoming.length] = task;
        return task.handle;
    },
    clearTimeout(timer) {
        clearTimer(timer);
    },
    clearInterval(timer) {
        clearTimer(timer);
    },
    clearImmediate(immediate) {
        const task = isObject(immediate) ? taskOfImmediate(immediate) : undefined;
        if (task !== undefined) {
            endWaiting(task);
        }
    },
    queueMicrotask(callback) {
        requireFunction(callback);
        const wrapped = wrapCallback(callback);
        promiseThen(settledPromise, () => {
            try {
                wrapped();
            } catch (error) {
                recordUncaught(error);
            }
        });
    },
};

/* An own `constructor` keeps then() from asking Promise.prototype.constructor, which a guest may
 * have replaced, what kind of promise to make. */
const settledPromise = PromiseClass.resolve();
defineHidden(settledPromise, "constructor", undefined);

function nextImmediate() {
    while (batchNext < batch.length) {
        const task = batch[batchNext];
        batch[batchNext] = undefined;
        batchNext++;
        if (task.waits) {
            return task;
        }
    }
    return undefined;
}

/* The task whose turn it is: first the rest of a batch, then timers that were due when the round
 * began, then the next batch. Undefined when nothing is due. */
function takeTask() {
    let task = nextImmediate();
    if (task !== undefined) {
        return task;
    }
    if (roundStart < 0) {
        roundStart = nativeNow();
    }
    if (heapCount > 0 && heap[0].due <= roundStart) {
        task = heap[0];
        heapRemove(task);
        return task;
    }
    roundStart = -1;
    batch = upcoming;
    batchNext = 0;
    upcoming = makeList();
    task = nextImmediate();
    if (task === undefined && heapCount > 0 && heap[0].due <= nativeNow()) {
        task = heap[0];
        heapRemove(task);
    }
    return task;
}

function runTask() {
    if (lifecycle.hasTicks) { /* promises have asked for them */
        lifecycle.ticks();
        return;
    }
    const task = takeTask();
    if (task === undefined) {
        return;
    }
    taskEvaluation = task.evaluation;
    if (!task.repeats) {
        endWaiting(task);
        mapDelete(tasksById, task.id);
    }
    apply(task.callback, task.handle, task.args);
    if (lifecycle.hasTicks) {
        lifecycle.ticks();
    }
    if (task.repeats && task.waits && task.slot < 0) {
        schedule(task);
    }
}

/* Milliseconds until a task is due, or -1 when nothing keeps the run alive. */
function nextTaskDelay() {
    return refCount === 0 && !lifecycle.hasTicks ? -1 : anyTaskDelay();
}

/* The same, whether the tasks keep the run alive or not. */
function anyTaskDelay() {
    if (lifecycle.hasTicks) {
        return 0;
    }
    if (taskCount === 0) {
        return -1;
    }
    if (batchNext < batch.length || upcoming.length > 0 || heapCount === 0) {
        return 0;
    }
    return max(0, heap[0].due - nativeNow());
}

class Performance {
    constructor(key) {
        if (key !== handleKey) {
            throw new TypeErrorClass("Illegal constructor");
        }
    }

    now() {
        return coarseNow();
    }

    get timeOrigin() {
        return timeOrigin;
    }

    toJSON() {
        return { timeOrigin };
    }
}
defineProperty(Performance.prototype, symbolTag, {
    __proto__: null, value: "Performance", writable: false, enumerable: false, configurable: true,
});
const guestPerformance = new Performance(handleKey);
