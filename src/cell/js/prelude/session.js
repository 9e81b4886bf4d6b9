/* session.js - sources that are evaluated one behind the other in one global: a session.
 *
 * code/session.h says what becomes of a source; this file gives its text what it expects and hands
 * it to the module loader when it imports something. An evaluation is what a run is elsewhere, but
 * nothing is forgotten between two of them: timers, modules, counters and the guest's names stay.
 *
 * An evaluation ends as soon as its value is there: at once, or when the promise that it is has
 * settled. Timers that are left go on during later evaluations, or when C lets them between two. An
 * error of theirs that nobody catches is not the doing of the evaluation that happens to be in
 * progress; it is written to stderr. */

/* What `export default` has given in this evaluation. */
let givenDefault;

let isBetweenEvaluations = false;

function installSession() {
    const record = makeRecord(SESSION_FILE, KIND_ES, MAIN_INDEX);
    record.isMain = true;
    defineHidden(globalThis, "vial$i", makeImport(undefined));
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
        resetAll(timers, bytes, "", undefined);
        installSession();
    } else {
        resetRun();
        timersMax = timers;
        valueBytesMax = bytes;
    }
    setEvaluation(name);
    taskEvaluation = evaluationCount;
    isBetweenEvaluations = false;
    givenDefault = undefined;
}

/* Is what runs now the doing of an earlier evaluation? */
function isLeftOver() {
    return isBetweenEvaluations || taskEvaluation !== evaluationCount;
}

/* An error that nobody has caught. */
function recordUncaught(error) {
    if (isLeftOver()) {
        if (!muted) {
            nativeWrite(STDERR, `Uncaught ${describe(error)[2]}\n`);
        }
    } else {
        recordFailure(error);
    }
}

/* A promise that nothing here can settle is a mistake: neither a timer nor a tick is left. What the
 * host still has to answer, once it can be asked, has to count here as well. */
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
    const delay = nextTaskDelay();
    return delay >= 0 ? delay : STATE_STUCK;
}

/* One task, unless the evaluation has come to its end without. */
function turnEvaluation() {
    if (runWait !== WAIT_PENDING && !lifecycle.hasTicks && !isBetweenEvaluations) {
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

/* For C between evaluations: one task that is due. How many milliseconds there are until the next
 * one, or -1 when none waits. */
function pumpSession() {
    isBetweenEvaluations = true;
    if (nextTaskDelay() === 0) {
        turnEvaluation();
    }
    return nextTaskDelay();
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
