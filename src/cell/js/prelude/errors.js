/* errors.js - says what was thrown, and where, in the words a Node user expects.
 *
 * Anything can be thrown: null, a revoked proxy, an object whose `message` is a getter that loops.
 * So nothing here runs guest code: properties are read through descriptors, texts are cut before
 * they are worked on, and describe() has an answer even when all of that fails.
 *
 * The engine writes stacks as lines of `function@source:line:column`. They become Node's `    at
 * function (source:line:column)`, with only the guest's own frames and with positions in the text
 * the guest wrote, before the cell inserted anything into it. */

const NAME_UNITS_MAX = 200;
const MESSAGE_UNITS_MAX = 8192;
const STACK_UNITS_MAX = 16384;
const FRAMES_MAX = 50;
const FUNCTION_NAME_UNITS_MAX = 200;

/* An engine's stack of 100 frames is some 10 kB; a longer text is a guest's invention. */
const RAW_STACK_UNITS_MAX = 65536;

/* A guest can forge a stack; the cell stores positions in 32 bits. */
const POSITION_MAX = 2147483647;

/* Causes of causes, and members of an AggregateError, that are still shown. */
const CAUSES_MAX = 4;
const AGGREGATED_MAX = 5;

const NAME_OF_NON_ERRORS = "Thrown value";
const PRELUDE_SOURCE_PREFIX = "vial:";
const WRAPPER_FUNCTION = "vial_main";
const EVAL_SOURCE = "<eval>";
const MODULE_MARK = "@vial:"; /* between the function and the name of a module */

/* What the engine calls the body of an eval, and the body of a function made by Function(). */
const EVAL_FUNCTION = "eval code";
const FUNCTION_BODY = "anonymous";

let sourceName = ""; /* of the program, or of this evaluation */
let sourceUrl = ""; /* and what the engine knows it by */

/* What was inserted into each source, by the name of the module, "" being the program itself: lists
 * of line, column and length. A source may have gone through two hands, the later one first. */
let sources = new MapClass();

/* The name that the program has there. That of an evaluation in a session is eval:NUMBER:NAME, which
 * no module can be called: two evaluations may have one name. */
let currentFile = "";
const EVALUATION_PREFIX = "eval:";
let evaluationCount = 0; /* 0: this is an ordinary run */

/* Evaluations whose insertions are remembered. Functions of older ones are shown without columns. */
const EVALUATIONS_KEPT_MAX = 1000;
let evaluationFiles = makeList();

function resetSources() {
    currentFile = "";
    evaluationCount = 0;
    evaluationFiles = makeList();
    sources = new MapClass();
    addSource("", undefined, POSITION_MAX, undefined);
}

function setEvaluation(name) {
    evaluationCount++;
    sourceName = name === "" ? `eval-${evaluationCount}.js` : name;
    currentFile = `${EVALUATION_PREFIX}${evaluationCount}:${sourceName}`;
    sourceUrl = `${PRELUDE_SOURCE_PREFIX}${currentFile}`;
    addSource(currentFile, undefined, POSITION_MAX, undefined);
    const slot = evaluationCount % EVALUATIONS_KEPT_MAX;
    if (evaluationFiles[slot] !== undefined) {
        mapDelete(sources, evaluationFiles[slot]);
        mapDelete(sources, functionsFile(evaluationFiles[slot]));
    }
    evaluationFiles[slot] = currentFile;
}

/* The functions of an evaluation may have a text of their own: eval:NUMBERf:NAME. */
function functionsFile(file) {
    const at = stringIndexOf(file, ":", EVALUATION_PREFIX.length);
    return `${stringSlice(file, 0, at)}f${stringSlice(file, at)}`;
}

/* True for the program or an evaluation, false for a module. */
function isProgram(file) {
    return file === "" || stringStartsWith(file, EVALUATION_PREFIX);
}

/* How a stack trace calls a source. */
function shownFile(file) {
    if (file === "") {
        return sourceName;
    }
    if (!stringStartsWith(file, EVALUATION_PREFIX)) {
        return file;
    }
    return stringSlice(file, stringIndexOf(file, ":", EVALUATION_PREFIX.length) + 1);
}

/* How a result calls it: the program itself has no name there. */
function reportedFile(file) {
    return file === currentFile || (currentFile !== "" && file === functionsFile(currentFile))
        ? "" : shownFile(file);
}

function addSource(file, insertions, lines, earlier) {
    mapSet(sources, file, {
        __proto__: null,
        lines,
        edits: insertions === undefined ? undefined : listOf(insertions),
        earlier: earlier === undefined ? undefined : listOf(earlier),
    });
}

/* Where an error is, and what to do about it, when its stack does not tell: of errors of the module
 * loader, and of syntax errors in modules. */
const notedErrors = new WeakMapClass();

function noteError(error, place, hint) {
    weakMapSet(notedErrors, error, { __proto__: null, place, hint });
}

/* True for the functions that a module gives its exports with, which nobody wrote. */
function isInHead(file, line, column) {
    const source = mapGet(sources, file);
    const edits = source === undefined ? undefined : source.edits;
    return line === 1 && edits !== undefined && edits.length > 0 && edits[0] === 1 &&
        edits[1] === 1 && column <= edits[2];
}

/* The column in the guest's own text for a column in the text that was run. */
function originalColumn(file, line, column) {
    const source = mapGet(sources, file);
    if (source === undefined) {
        return column;
    }
    const between = source.edits === undefined ? column
        : columnBefore(source.edits, line, column);
    return source.earlier === undefined ? between : columnBefore(source.earlier, line, between);
}

/* The column before some insertions were made. A position inside an insertion belongs to the place
 * where it was inserted. */
function columnBefore(edits, line, column) {
    for (let i = 0; i < edits.length; i += 3) {
        if (edits[i] === line && edits[i + 1] <= column && column < edits[i + 1] + edits[i + 2]) {
            column = edits[i + 1];
            break;
        }
    }
    let inserted = 0;
    for (let i = 0; i < edits.length; i += 3) {
        if (edits[i] === line && edits[i + 1] + edits[i + 2] <= column) {
            inserted += edits[i + 2];
        }
    }
    return column - inserted;
}

/* Where the colon is that starts the `:digits` ending at `end`; -1 when there is none. */
function numberBefore(text, end) {
    let start = end;
    while (start > 0 && charCodeAt(text, start - 1) >= 48 && charCodeAt(text, start - 1) <= 57) {
        start--;
    }
    return start === end || start === 0 || text[start - 1] !== ":" ? -1 : start - 1;
}

/* True for a stack as the engine writes it: every line names a source behind an at sign. */
function isEngineStack(stack) {
    const newline = stringIndexOf(stack, "\n", 0);
    return stringIncludes(newline === -1 ? stack : stringSlice(stack, 0, newline), "@");
}

/* One line of an engine's stack as a frame, or undefined when it is not the guest's. */
function parseFrame(text) {
    let line = 0;
    let column = 0;
    let rest = text;
    const second = numberBefore(text, text.length);
    const first = second === -1 ? -1 : numberBefore(text, second);
    if (first !== -1) {
        line = min(+stringSlice(text, first + 1, second), POSITION_MAX);
        column = min(+stringSlice(text, second + 1), POSITION_MAX);
        rest = stringSlice(text, 0, first);
    }
    let source;
    let file = "";
    let fn;
    const moduleAt = stringLastIndexOf(rest, MODULE_MARK);
    const moduleFile = moduleAt === -1 ? "" : stringSlice(rest, moduleAt + MODULE_MARK.length);
    if (stringEndsWith(rest, `@${sourceUrl}`)) {
        source = sourceName;
        file = currentFile;
        fn = stringSlice(rest, 0, rest.length - sourceUrl.length - 1);
    } else if (moduleAt !== -1 && (mapGet(sources, moduleFile) !== undefined ||
        (isProgram(moduleFile) && moduleFile !== ""))) {
        file = moduleFile;
        source = shownFile(file);
        fn = stringSlice(rest, 0, moduleAt);
    } else {
        const at = stringLastIndexOf(rest, "@");
        source = stringSlice(rest, at + 1);
        if (at === -1 || source === "[native code]" ||
            stringStartsWith(source, PRELUDE_SOURCE_PREFIX)) {
            return undefined;
        }
        source = EVAL_SOURCE;
        file = EVAL_SOURCE;
        fn = stringSlice(rest, 0, at);
    }
    const isTop = fn === WRAPPER_FUNCTION || fn === "global code";
    if (file !== EVAL_SOURCE && line > 0) {
        if (!isTop && isInHead(file, line, column)) {
            return undefined;
        }
        column = mapGet(sources, file) === undefined ? 0 : originalColumn(file, line, column);
    }
    return {
        __proto__: null,
        fn: functionName(fn),
        source,
        file,
        line,
        column,
        isWrapper: fn === WRAPPER_FUNCTION,
        isTop,
    };
}

/* Top-level code has no name in Node's notation. */
function functionName(fn) {
    let prefix = "";
    if (stringStartsWith(fn, "async ")) {
        prefix = "async ";
        fn = stringSlice(fn, 6);
    }
    if (fn === "global code" || fn === "module code" || fn === EVAL_FUNCTION ||
        fn === WRAPPER_FUNCTION) {
        fn = "";
    }
    return prefix + cutText(fn, FUNCTION_NAME_UNITS_MAX);
}

/* The engine names no source for two kinds of frames: code from eval or Function(), which is the
 * guest's, and constructors it made up for classes without one, which nobody wrote. So frames
 * without a source count only when the body of an eval or of a Function() lies directly below them.
 *
 * Below the first frame of the wrapper function there is only how it was called, which the engine
 * shows as one more frame of an async function and one of top-level code: not the guest's doing. */
function parseFrames(stack) {
    const frames = makeList();
    if (typeof stack !== "string") {
        return frames;
    }
    let kept = 0;
    const wrappers = new MapClass(); /* sources whose wrapper was seen */
    const text = stringSlice(stack, 0, RAW_STACK_UNITS_MAX);
    let start = 0;
    while (start < text.length && frames.length < FRAMES_MAX) {
        const newline = stringIndexOf(text, "\n", start);
        const end = newline === -1 ? text.length : newline;
        const piece = stringSlice(text, start, end);
        const frame = parseFrame(piece);
        if (frame !== undefined && !(frame.isTop && mapGet(wrappers, frame.file))) {
            if (frame.isWrapper) {
                mapSet(wrappers, frame.file, true);
            }
            frames.length = frame.source === EVAL_SOURCE ? frames.length : kept;
            frames[frames.length] = frame;
            if (frame.source !== EVAL_SOURCE || piece === `${EVAL_FUNCTION}@` ||
                piece === `${FUNCTION_BODY}@`) {
                kept = frames.length;
            }
        }
        start = end + 1;
    }
    frames.length = kept;
    return frames;
}

function framesText(frames, columns) {
    const indent = `\n${stringRepeat(" ", columns)}    at `;
    let text = "";
    for (let i = 0; i < frames.length; i++) {
        const { fn, source, line, column } = frames[i];
        const position = column > 0 ? `${line}:${column}` : `${line}`;
        const place = line > 0 ? `${source}:${position}` : source;
        if (fn === "" || fn === "async ") {
            text += `${indent}${fn}${place}`;
        } else {
            text += `${indent}${fn} (${place})`;
        }
    }
    return text;
}

/* The error behind a thrown value, seen through proxies; undefined when it is none. */
function errorOf(value) {
    if (typeof value !== "object" || value === null) {
        return undefined;
    }
    const target = unwrapProxy(value);
    return target !== undefined && kindOf(target) === "Error" ? target : undefined;
}

function errorName(error) {
    const name = chainData(error, "name");
    return typeof name === "string" ? cutText(name, NAME_UNITS_MAX) : "Error";
}

function errorMessage(error) {
    const message = chainData(error, "message");
    if (message === undefined) {
        return "";
    }
    return cutText(typeof message === "string" ? message : inspectPassively(message),
        MESSAGE_UNITS_MAX);
}

/* inspect without the guest's own inspect methods. */
function inspectPassively(value) {
    const ctx = makeContext();
    ctx.customInspect = false;
    return inspectWith(ctx, value);
}

/* What the guest calls the error: its name, or the name of its class when it only inherits the
 * plain "Error". */
function shownName(error) {
    const name = errorName(error);
    if (name !== "Error" && name !== "") {
        return name;
    }
    const className = constructorName(makeContext(), error, 0);
    return className === null || stringIncludes(className, "<") || className === "Object"
        ? "Error" : cutText(className, NAME_UNITS_MAX);
}

function errorHeadline(value) {
    const error = errorOf(value);
    if (error === undefined) {
        return cutText(inspectPassively(value), MESSAGE_UNITS_MAX);
    }
    const message = errorMessage(error);
    return message === "" ? shownName(error) : `${shownName(error)}: ${message}`;
}

function ownStackText(error, columns) {
    const stack = ownData(error, "stack");
    if (typeof stack === "string" && stack !== "" && !isEngineStack(stack)) {
        return indentLines(cutText(stack, STACK_UNITS_MAX), columns);
    }
    const frames = parseFrames(stack);
    const noted = weakMapGet(notedErrors, error);
    const isNoted = noted !== undefined && noted.place !== undefined;
    let text = indentLines(errorHeadline(error), columns);
    if (isNoted || frames.length === 0) {
        const { file, line, column } = placeOf(error, frames);
        text += line > 0 ? `\n${stringRepeat(" ", columns)}    at ` +
            `${shownFile(file)}:${line}${column > 0 ? `:${column}` : ""}` : "";
    }
    return text + framesText(frames, columns);
}

/* Headline, frames, and in braces what the error was caused by. above lists the errors this one is
 * the cause of. */
function stackText(value, columns, depth, above) {
    const error = errorOf(value);
    if (error === undefined) {
        return indentLines(errorHeadline(value), columns);
    }
    for (let i = 0; i < depth && i < above.length; i++) {
        if (above[i] === error) {
            return "[Circular]";
        }
    }
    above[depth] = error;
    const gap = `\n${stringRepeat(" ", columns + 2)}`;
    let inner = "";
    if (hasOwn(error, "cause")) {
        inner += depth >= CAUSES_MAX ? `${gap}[cause]: ...`
            : `${gap}[cause]: ${stackText(ownData(error, "cause"), columns + 2, depth + 1, above)}`;
    }
    const errors = ownData(error, "errors");
    if (isObject(errors) && unwrapProxy(errors) === errors && isArray(errors) &&
        depth < CAUSES_MAX) {
        const shown = min(errors.length, AGGREGATED_MAX);
        inner += `${gap}[errors]: [`;
        for (let i = 0; i < shown; i++) {
            inner += `${gap}  ${stackText(ownData(errors, i), columns + 4, CAUSES_MAX, above)}`;
            inner += i + 1 < errors.length ? "," : "";
        }
        inner += errors.length > shown ? `${gap}  ... ${errors.length - shown} more` : "";
        inner += `${gap}]`;
    }
    const own = ownStackText(error, columns);
    return inner === "" ? own : `${own} {${inner}\n${stringRepeat(" ", columns)}}`;
}

const NO_NETWORK = "This run may not use the network: --net URL allows it (permissions.net in an environment), or pass the data as `input`.";

/* Names that programs written for Node or a browser expect, and what to know about them here. */
const absentNames = {
    __proto__: null,
    fetch: NO_NETWORK,
    XMLHttpRequest: NO_NETWORK,
    WebSocket: NO_NETWORK,
    EventSource: NO_NETWORK,
    window: "There is no window here: this is not a browser; the global object is globalThis.",
    document: "There is no document here: this is not a browser.",
    localStorage: "There is no localStorage here: this is not a browser.",
    alert: "There is no alert here: use console.log.",
    WebAssembly: "WebAssembly is switched off here.",
    Worker: "There is no Worker here: a run has one thread.",
    SharedArrayBuffer: "SharedArrayBuffer is switched off here: there are no threads.",
};

let globalNames = makeList();

function hintFor(name, message) {
    const marker = "Can't find variable: ";
    if (name === "RangeError" && stringStartsWith(message, "Maximum call stack size exceeded")) {
        return "A function probably calls itself without end.";
    }
    if (stringStartsWith(message, "ENOSPC: ") || stringStartsWith(message, "EFBIG: ")) {
        return "--disk-mb (disk_bytes_max) and --file-count (files_max) say how much room a run has " +
            "for files.";
    }
    if (name !== "ReferenceError" || !stringStartsWith(message, marker)) {
        return toolHint(name, message);
    }
    const missing = stringSlice(message, marker.length);
    const known = absentNames[missing];
    if (known !== undefined) {
        return known;
    }
    for (let i = 0; missing.length <= 40 && i < globalNames.length; i++) {
        if (isNearMiss(missing, globalNames[i])) {
            return `Did you mean ${globalNames[i]}?`;
        }
    }
    return toolHint(name, message);
}

/* True when the names differ in case only, or by one letter that is missing, extra or wrong. */
function isNearMiss(given, wanted) {
    if (stringToLowerCase(given) === stringToLowerCase(wanted)) {
        return true;
    }
    if (wanted.length < 5 || abs(given.length - wanted.length) > 1) {
        return false;
    }
    let i = 0;
    while (i < given.length && given[i] === wanted[i]) {
        i++;
    }
    const givenSkip = given.length >= wanted.length ? 1 : 0;
    const wantedSkip = wanted.length >= given.length ? 1 : 0;
    return stringSlice(given, i + givenSkip) === stringSlice(wanted, i + wantedSkip);
}

/* Where the error arose: its first frame in the program itself. A program that does not parse has
 * no frames; for it the engine notes the line (counted from 1, no column) on the SyntaxError. */
function placeOf(error, frames) {
    const place = { __proto__: null, file: currentFile, line: 0, column: 0 };
    const noted = weakMapGet(notedErrors, error);
    if (noted !== undefined && noted.place !== undefined) {
        const { file, line, column } = noted.place;
        place.file = file;
        place.line = line;
        place.column = column;
        return place;
    }
    for (let i = 0; i < frames.length; i++) {
        if (frames[i].source !== EVAL_SOURCE && frames[i].line > 0) {
            place.file = frames[i].file;
            place.line = frames[i].line;
            place.column = frames[i].column;
            return place;
        }
    }
    const line = ownData(error, "line");
    if (typeof line === "number" && line >= 1 && ownData(error, "sourceURL") === sourceUrl) {
        place.line = floor(min(line, POSITION_MAX)); /* the column is that of whoever asked */
    }
    return place;
}

function describeThrown(value) {
    const error = errorOf(value);
    const out = makeList();
    if (error === undefined) {
        const message = cutText(inspectPassively(value), MESSAGE_UNITS_MAX);
        out[0] = NAME_OF_NON_ERRORS;
        out[1] = message;
        out[2] = cutText(`${NAME_OF_NON_ERRORS}: ${message}`, STACK_UNITS_MAX);
        out[3] = 0;
        out[4] = 0;
        out[5] = "";
        out[6] = "";
        out[7] = 0;
        return out;
    }
    const stack = ownData(error, "stack");
    const isEngine = typeof stack === "string" && isEngineStack(stack);
    const frames = isEngine ? parseFrames(stack) : makeList();
    const place = placeOf(error, frames);
    out[0] = shownName(error);
    out[1] = errorMessage(error);
    out[2] = cutText(stackText(error, 0, 0, makeList()), STACK_UNITS_MAX);
    out[3] = place.line;
    out[4] = place.column;
    const noted = weakMapGet(notedErrors, error);
    out[5] = noted !== undefined && noted.hint !== "" ? noted.hint : hintFor(out[0], out[1]);
    out[6] = reportedFile(place.file);
    out[7] = frames.length;
    for (let i = 0; i < frames.length; i++) {
        out[8 + 4 * i] = frames[i].fn;
        out[9 + 4 * i] = frames[i].line;
        out[10 + 4 * i] = frames[i].column;
        out[11 + 4 * i] = reportedFile(frames[i].file);
    }
    return out;
}

/* The answer for C: name, message, stack, line, column, hint, file, the number of frames, and for
 * each frame its function, line, column and file. Unknown positions are 0, and the file of the
 * program itself is empty. */
function describe(value) {
    try {
        return describeThrown(value);
    } catch {
        const out = makeList();
        out[0] = "Error";
        out[1] = "something was thrown that cannot be described";
        out[2] = "Error: something was thrown that cannot be described";
        out[3] = 0;
        out[4] = 0;
        out[5] = "";
        out[6] = "";
        out[7] = 0;
        return out;
    }
}
