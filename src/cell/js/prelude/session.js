/* session.js - sources that are evaluated one behind the other in one global: a session.
 *
 * code/session.h says what becomes of a source; this file gives its text what it expects and hands
 * it to the module loader when it imports something. An evaluation is what a run is elsewhere, but
 * nothing is forgotten between two of them: timers, modules, counters and the guest's names stay.
 *
 * An evaluation ends as soon as its value is there: at once, or when the promise that it is has
 * settled. Timers that are left go on during later evaluations. An
 * error of theirs that nobody catches is not the doing of the evaluation that happens to be in
 * progress; it is written to stderr. */

/* What `export default` has given in this evaluation. */
let givenDefault;

/* This is a run that begins with what the prefix of its environment left, and ends as runs do. */
let isEnvironmentRun = false;

function installSession() {
    const record = makeRecord(SESSION_FILE, KIND_ES, MAIN_INDEX);
    record.isMain = true;
    defineHidden(globalThis, "vial$i", makeImport(undefined));
    defineHidden(globalThis, "vial$f", callFunction); /* for prefixes that call what was given */
    defineLazily(globalThis, "vial$m", () => makeMeta(record));
    defineHidden(globalThis, "vial$k", new ProxyClass({ __proto__: null }, {
        __proto__: null,
        get: (unused, name) => reflectGet(globalThis, name),
        set: () => {
            throw new TypeErrorClass("Attempted to assign to readonly property.");
        },
    }));
    defineProperty(globalThis, "vial$d", {
        __proto__: null, get: undefined, enumerable: false, configurable: true,
        set: (value) => {
            givenDefault = { __proto__: null, value };
        },
    });
}

function startEvaluation(timers, bytes, name) {
    if (evaluationCount === 0) {
        beginRun(timers, bytes, "", undefined);
        installSession();
    } else {
        resetRun();
        timersMax = timers;
        valueBytesMax = bytes;
    }
    setEvaluation(name);
    taskEvaluation = evaluationCount;
    isEnvironmentRun = false;
    givenDefault = undefined;
    dropCalls();
}

/* What the prefix left waiting goes on while the run lasts, but does not keep it from ending. */
function startEnvironmentRun(timers, bytes, name) {
    startEvaluation(timers, bytes, name);
    isEnvironmentRun = true;
    unrefTasks();
}

/* Is what runs now the doing of an earlier evaluation? */
function isLeftOver() {
    return taskEvaluation !== evaluationCount;
}

/* An error that nobody has caught. */
function recordUncaught(error) {
    if (isLeftOver() || (isObject(error) && weakSetHas(droppedErrors, error))) {
        if (!muted) {
            nativeWrite(STDERR, `Uncaught ${describe(error)[2]}\n`);
        }
    } else {
        recordFailure(error);
    }
}

/* A promise that nothing here can settle is a mistake: neither a timer nor a tick nor a call of a
 * tool is left. */
function evaluationState() {
    if (hasFailed) {
        return STATE_FAILED;
    }
    if (lifecycle.hasTicks) {
        return 0;
    }
    if (runWait !== WAIT_PENDING) {
        return STATE_FINISHED;
    }
    const delay = anyTaskDelay(); /* those that keep nothing alive may settle it all the same */
    return delay >= 0 ? delay : pendingCount > 0 ? STATE_CALLS : STATE_STUCK;
}

/* One task, unless the evaluation has come to its end without. */
function turnEvaluation() {
    if (runWait !== WAIT_PENDING && !lifecycle.hasTicks) {
        return;
    }
    try {
        runTask();
    } catch (error) {
        if (!isLeftOver()) {
            throw error;
        }
        recordUncaught(error);
    }
}

/* What a text imports, in the order of its names. */
function importedValues(record) {
    const { bindings } = record;
    const values = makeList();
    for (let i = 0; i < bindings.length; i++) {
        if (bindings[i] === NOT_YET) {
            bindings[i] = bindImport(record, i * IMPORT_LENGTH);
        }
        values[i] = bindings[i] === NOT_YET ? undefined : readBinding(bindings[i]);
    }
    return values;
}

/* Evaluates the texts of a source. Functions come first, in a text of their own with columns of its
 * own, when the rest is asynchronous. */
function evaluateTexts(read, file) {
    if (read.length > READ_FUNCTIONS) {
        const first = functionsFile(file);
        addSource(first, read[READ_FUNCTIONS + 1], read[8], read[9]);
        evaluateText(read[READ_FUNCTIONS], URL_PREFIX + first, first);
    }
    return evaluateText(read[2], URL_PREFIX + file, file);
}

function evaluationValue(record) {
    return givenDefault === undefined ? record.value : givenDefault.value;
}

/* A source with import or export: all that it asks for is loaded, linked and run first, and its
 * text is then a script again. */
function runImporting(read) {
    const record = makeRecord(sourceName, KIND_ES, MAIN_INDEX);
    record.isMain = true;
    record.file = currentFile;
    takeRead(record, read);
    const { file } = record;
    record.start = () => {
        defineHidden(globalThis, "vial$v", importedValues(record));
        try {
            return evaluateTexts(read, file);
        } finally {
            deleteProperty(globalThis, "vial$v");
        }
    };
    return runRecord(record, evaluationValue);
}

/* Evaluates the source of this evaluation: its value, or a promise of it. */
function runEvaluation() {
    const read = nativeReadSession();
    if (read[0] === READ_FAULT) {
        throw moduleError(SyntaxErrorClass, "", read[1],
            makePlace(currentFile, read[2], read[3]), "");
    }
    if (read[0] === READ_REFUSED) {
        return runUnread(read[1]);
    }
    if (read[0] === KIND_ES) {
        return runImporting(read);
    }
    addSource(currentFile, read[3], read[8], read[9]);
    return evaluateTexts(read, currentFile);
}

/* ---- functions that the host can call ---- */

/* More than a program means to give away; the oldest are not forgotten but new ones refused. */
const FUNCTIONS_MAX = 10000;

let lastFunction = 0;
const keptFunctions = new MapClass(); /* by number: the function, and what held it */

function keepFunction(callee, holder) {
    if (mapSize(keptFunctions) >= FUNCTIONS_MAX) {
        throw new RangeErrorClass(`${FUNCTIONS_MAX} functions have been given to the host, which ` +
            "is the limit; it has to release some");
    }
    lastFunction++;
    mapSet(keptFunctions, lastFunction, { __proto__: null, callee, holder });
    return lastFunction;
}

function findFunction(number) {
    const kept = mapGet(keptFunctions, number);
    if (kept === undefined) {
        throw new ReferenceErrorClass(`there is no function ${number} in this session: it was ` +
            "released, or never given");
    }
    return kept;
}

function keptFunction(number) {
    return findFunction(number).callee;
}

function callFunction(number, args) {
    const kept = findFunction(number);
    return apply(kept.callee, kept.holder, args);
}

function releaseFunction(number) {
    findFunction(number);
    mapDelete(keptFunctions, number);
}

/* ---- what a name could go on as ---- */

const COMPLETIONS_MAX = 200;
const COMPLETION_CHAIN_MAX = 8; /* prototypes that are looked at */

function isNameText(text) {
    return regexpExec(/^[A-Za-z_$][A-Za-z0-9_$]*$/u, text) !== null;
}

/* Follows data properties only: looking must not run anything of the guest's. */
function memberForCompletion(object, name) {
    let holder = object;
    for (let i = 0; i < COMPLETION_CHAIN_MAX && isObject(holder); i++) {
        if (unwrapProxy(holder) !== holder) {
            return undefined;
        }
        const descriptor = getOwnPropertyDescriptor(holder, name);
        if (descriptor !== undefined) {
            return descriptor.value;
        }
        holder = getPrototypeOf(holder);
    }
    return undefined;
}

/* The texts that the last name of a text, which may be dotted, could be completed to. */
function completions(text) {
    const found = makeList();
    const seen = new SetClass();
    let object = globalThis;
    let start = 0;
    for (let dot = stringIndexOf(text, ".", 0); dot >= 0; dot = stringIndexOf(text, ".", start)) {
        object = memberForCompletion(object, stringSlice(text, start, dot));
        start = dot + 1;
        if (typeof object === "string") {
            object = StringClass.prototype;
        }
    }
    const beginning = stringSlice(text, start);
    const before = stringSlice(text, 0, start);
    for (let i = 0; i < COMPLETION_CHAIN_MAX && isObject(object) &&
        unwrapProxy(object) === object; i++) {
        const names = getOwnPropertyNames(object);
        for (let k = 0; k < names.length && found.length < COMPLETIONS_MAX; k++) {
            const name = names[k];
            if (stringStartsWith(name, beginning) && isNameText(name) &&
                !stringStartsWith(name, "vial$") && setSize(setAdd(seen, name)) > found.length) {
                found[found.length] = before + name;
            }
        }
        object = getPrototypeOf(object);
    }
    return setPrototypeOf(found, ArrayPrototype);
}
