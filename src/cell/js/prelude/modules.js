/* modules.js - the guest's modules: which one a name means, what it exports, and when it runs.
 *
 * Sources come with the run and are rewritten in C (code/module.h): a module is a function here,
 * its exports are functions that give their value, and what it imports are constants or, where that
 * would not do, properties with getters. This file is the part of the ECMAScript specification that
 * is about whole modules (16.2.1, "Cyclic Module Records"), by the names it has there where they
 * say enough; CommonJS is as Node has it.
 *
 * What guest code can reach of this are functions that do what import() and require() do. They hold
 * no power over anything but the guest's own modules. */

const {
    readModule: nativeReadModule, readSession: nativeReadSession, moduleSource: nativeModuleSource,
    resolveName: nativeResolveName, evaluate: nativeEvaluate, addModule: nativeAddModule,
} = native;
const { preventExtensions } = Reflect;
const { parse: jsonParse } = JSON;
const {
    SyntaxError: SyntaxErrorClass, ReferenceError: ReferenceErrorClass, WeakSet: WeakSetClass,
} = globalThis;
const arraySort = method0(ArrayPrototype.sort);
const generatorNext = method0(getPrototypeOf(function* () {}).prototype.next);

/* Another part of the prelude may give us these: findBuiltin takes a name without "node:" and gives
 * the module's exports object, undefined when there is no such module; builtinNames lists them. */
let findBuiltin = () => undefined;
let builtinNames = makeList();

/* As in code/module.h, and two that are not read from source. */
const KIND_AUTO = 0;
const KIND_SCRIPT = 1;
const KIND_ES = 2;
const KIND_COMMONJS = 3;
const KIND_JSON = 4;
const KIND_BUILTIN = 5;

const READ_EXACT = 1;
const READ_MAIN = 2;
const READ_REQUIRED = 8;

/* As in cell/js/modules.c. */
const MAIN_INDEX = -1;
const READ_FAULT = -1;
const READ_REFUSED = -2;
const REQUEST_LENGTH = 4;
const IMPORT_LENGTH = 4;
const EXPORT_LENGTH = 7;
const READ_FUNCTIONS = 10;

const BINDING_LOCAL = 0;
const BINDING_NAME = 1;
const BINDING_NAMESPACE = 2;
const BINDING_STAR = 3;
const BINDING_FOREIGN = 4; /* a member of a module that is not an ES module */

/* Where a module is in its life. */
const STATUS_NEW = 0;
const STATUS_LINKING = 1;
const STATUS_LINKED = 2;
const STATUS_EVALUATING = 3;
const STATUS_EVALUATING_ASYNC = 4;
const STATUS_EVALUATED = 5;

const NOT_ASYNC = 0; /* else a number that says in which order modules wait */
const ASYNC_DONE = -1;

/* What resolveExport says when it has no binding. */
const NOT_FOUND = 1;
const AMBIGUOUS = 2;
const NOT_YET = 3; /* the answer is in a CommonJS module that has not run */

const NAMES_SHOWN_MAX = 20; /* of modules, in a message */
const SPECIFIER_UNITS_MAX = 200; /* likewise */

const URL_PREFIX = "vial:";
const HOME_PATH = "/home/vial/";
const SESSION_FILE = "session.js"; /* what a session would be if it were a file there */
const { encodeURI: encodeUri } = globalThis;
const JSON_SUFFIX = ".json";
const NODE_PREFIX = "node:";
const REQUIRE_SUFFIXES = listOf(["", ".js", ".cjs", ".mjs", ".json", "/index.js"]);

let moduleNames = makeList();
let moduleIndexes = new MapClass(); /* index of each name among the sources of the run */
let moduleRecords = new MapClass(); /* modules by their full name; JSON by import has a key of its own */
const builtinRecords = new MapClass(); /* these outlive what the template has tried out */
let mainRecord;
let asyncCount = 0;
let dfsCount = 0;

const namespaces = new WeakSetClass();

function resetModules() {
    if (mainRecord !== undefined) {
        mainRecord = undefined;
        installModules();
    }
    if (moduleNames.length > 0 || mapSize(moduleRecords) > 0) {
        moduleNames = makeList();
        moduleIndexes = new MapClass();
        moduleRecords = new MapClass();
    }
}

function provideModules(names) {
    for (let i = 0; i < names.length; i++) {
        moduleNames[i] = names[i];
        mapSet(moduleIndexes, names[i], i);
    }
}

function isNamespace(value) {
    return weakSetHas(namespaces, value);
}

/* ---- errors ---- */

/* A place in a source: the module's name ("" for the program), line and column; or undefined. */
function makePlace(file, line, column) {
    return { __proto__: null, file, line, column };
}

function moduleError(Class, code, message, place, hint) {
    const error = new Class(message);
    if (code !== "") {
        defineHidden(error, "code", code);
    }
    noteError(error, place, hint);
    return error;
}

const controlCharacter = /[\x00-\x1f\x7f]/;

function shownSpecifier(specifier) {
    const text = cutText(specifier, SPECIFIER_UNITS_MAX);
    return regexpExec(controlCharacter, text) === null ? `'${text}'` : jsonStringify(text);
}

function listNames(names, what) {
    let text = "";
    for (let i = 0; i < names.length && i < NAMES_SHOWN_MAX; i++) {
        text += `${i > 0 ? ", " : ""}${cutText(names[i], SPECIFIER_UNITS_MAX)}`;
    }
    return names.length === 0 ? `no ${what}` : names.length > NAMES_SHOWN_MAX
        ? `${text} and ${names.length - NAMES_SHOWN_MAX} more` : text;
}

function lastPart(name) {
    const slash = stringLastIndexOf(name, "/");
    return slash === -1 ? name : stringSlice(name, slash + 1);
}

/* The name that was probably meant: one that only lacks its ending or its folder, or is a letter
 * away. */
function guessName(name) {
    for (let i = 0; i < moduleNames.length; i++) {
        const known = moduleNames[i];
        if (stringStartsWith(known, `${name}.`) || lastPart(known) === lastPart(name)) {
            return known;
        }
    }
    for (let i = 0; i < moduleNames.length && name.length <= 100; i++) {
        if (isNearMiss(name, moduleNames[i])) {
            return moduleNames[i];
        }
    }
    for (let i = 0; i < builtinNames.length && name.length <= 100; i++) {
        if (isNearMiss(name, builtinNames[i])) {
            return builtinNames[i];
        }
    }
    return "";
}

function notFound(specifier, name, place) {
    const guess = guessName(name);
    const builtins = stringStartsWith(name, "./") ? ""
        : `; built in: ${listNames(builtinNames, "module")}`;
    return moduleError(ErrorClass, "ERR_MODULE_NOT_FOUND",
        `Cannot find module ${shownSpecifier(specifier)}. This run has: ` +
        `${listNames(moduleNames, "modules")}${builtins}`, place,
        guess !== "" ? `Did you mean '${guess}'?`
            : "Modules are given with the run (--module-file NAME=FILE, or `modules`) or built in; " +
            "there are no files, packages or network behind a name.");
}

function refusedName(specifier, why, place) {
    return moduleError(ErrorClass, "ERR_INVALID_MODULE_SPECIFIER",
        `Cannot use ${shownSpecifier(specifier)} as the name of a module: it ${why}`, place,
        "A module is './name.js' in the folder of who asks for it, a name given with the run, or a " +
        "built-in module such as 'node:path'.");
}

/* ---- names and sources ---- */

function resolveName(specifier, referrer, place) {
    const name = nativeResolveName(specifier, referrer);
    if (typeof name !== "string") {
        throw refusedName(specifier, name[0], place);
    }
    return name;
}

function makeRecord(name, kind, index) {
    return {
        __proto__: null,
        name,
        kind,
        index,
        isMain: false,
        file: name, /* as errors know it; the program's is empty */
        url: URL_PREFIX + name,
        isAsync: false,
        text: "",
        requestRows: undefined, /* as C has given them; so are the two below */
        importRows: undefined,
        exportRows: undefined,
        requests: undefined, /* the records of what is asked for, once they are known */
        isComplete: false, /* and of all that those ask for */
        exports: undefined, /* by name: the index of the row */
        getterIndexes: undefined, /* of each row: which getter is its own */
        stars: undefined, /* requests that are exported as a whole */
        bindings: undefined, /* of each import */
        getters: undefined, /* from when the function has begun */
        start: undefined, /* what runs it, when it was instantiated before */
        namespace: undefined,
        value: undefined,
        status: STATUS_NEW,
        hasError: false,
        error: undefined,
        dfsIndex: 0,
        dfsAncestor: 0,
        isInCycle: false,
        cycleRoot: undefined,
        asyncOrder: NOT_ASYNC,
        pendingAsync: 0,
        asyncParents: makeList(),
        waiters: makeList(),
        exported: undefined, /* what a module that is no ES module exports */
        members: undefined, /* and its own enumerable members, by name */
        moduleObject: undefined, /* CommonJS: its `module` */
        isLoading: false,
    };
}

/* Asks C for a source in the form that it can be run in. */
function readSource(index, name, kind, flags) {
    const read = nativeReadModule(index, kind, flags);
    const file = index === MAIN_INDEX ? "" : name;
    if (read[0] === READ_FAULT) {
        throw moduleError(SyntaxErrorClass, "", read[1], makePlace(file, read[2], read[3]), "");
    }
    return read;
}

/* Evaluates a text that C has made. The engine tells the line of a syntax error on the error and
 * not in its stack, which has who asked for the module. */
function evaluateText(text, url, file) {
    try {
        return nativeEvaluate(text, url);
    } catch (error) {
        const target = errorOf(error);
        if (target !== undefined && ownData(target, "sourceURL") === url &&
            (!isProgram(file) || parseFrames(ownData(target, "stack")).length === 0)) {
            /* It may be found at what stands behind the source. */
            const line = min(ownData(target, "line"), mapGet(sources, file).lines);
            noteError(target, makePlace(file, line, 0), "");
        }
        throw error;
    }
}

function kindOfName(name) {
    return stringEndsWith(name, ".mjs") ? KIND_ES : stringEndsWith(name, ".cjs") ? KIND_COMMONJS
        : KIND_AUTO;
}

function takeRead(record, read) {
    record.kind = read[0];
    record.isAsync = read[1];
    record.text = read[2];
    addSource(record.file, read[3], read[8], read[9]);
    if (record.kind === KIND_ES) {
        record.requestRows = read[4];
        record.importRows = read[5];
        record.exportRows = read[6];
        indexExports(record);
    }
}

function indexExports(record) {
    const rows = record.exportRows;
    record.exports = new MapClass();
    record.stars = makeList();
    record.getterIndexes = makeList();
    let getters = 0;
    for (let i = 0; i < rows.length; i += EXPORT_LENGTH) {
        if (rows[i] === BINDING_LOCAL) {
            record.getterIndexes[i] = getters;
            getters++;
        }
        if (rows[i] === BINDING_STAR) {
            record.stars[record.stars.length] = rows[i + 1];
            continue;
        }
        if (mapGet(record.exports, rows[i + 2]) !== undefined) {
            throw moduleError(SyntaxErrorClass, "",
                `Cannot export a duplicate name '${cutText(rows[i + 2], SPECIFIER_UNITS_MAX)}'`,
                makePlace(record.file, rows[i + 5], rows[i + 6]), "");
        }
        mapSet(record.exports, rows[i + 2], i);
    }
}

function makeSourceRecord(name, index) {
    const record = makeRecord(name, KIND_AUTO, index);
    const read = readSource(index, name, kindOfName(name), READ_REQUIRED);
    if (read[0] === READ_REFUSED) {
        throw moduleError(RangeErrorClass, "", `Module ${shownSpecifier(name)}: ${read[1]}`,
            undefined, "");
    }
    takeRead(record, read);
    return record;
}

function makeJsonRecord(name, index) {
    const record = makeRecord(name, KIND_JSON, index);
    try {
        setExported(record, jsonParse(nativeModuleSource(index)), false);
    } catch (error) {
        throw moduleError(SyntaxErrorClass, "",
            `Module ${shownSpecifier(name)} is not JSON: ${errorMessage(error)}`, undefined, "");
    }
    return record;
}

function findBuiltinRecord(name) {
    const short = stringStartsWith(name, NODE_PREFIX)
        ? stringSlice(name, NODE_PREFIX.length) : name;
    const key = NODE_PREFIX + short;
    const exported = findBuiltin(short);
    const known = mapGet(builtinRecords, key);
    if (known !== undefined && known.exported === exported) {
        return known;
    }
    if (exported === undefined) {
        return undefined;
    }
    const record = makeRecord(key, KIND_BUILTIN, -1);
    setExported(record, exported, false);
    mapSet(builtinRecords, key, record);
    return record;
}

/* The module with a full name; undefined when there is none. A source that came with the run comes
 * before a built-in module, but for names with "node:", which those cannot have. */
function findRecord(name, isJson) {
    const index = mapGet(moduleIndexes, name);
    if (index === undefined) {
        return findBuiltinRecord(name);
    }
    const key = isJson ? `json:${name}` : name;
    let record = mapGet(moduleRecords, key);
    if (record === undefined) {
        record = isJson ? makeJsonRecord(name, index) : makeSourceRecord(name, index);
        mapSet(moduleRecords, key, record);
    }
    return record;
}

/* The module that a tool of the host has for a name; undefined when it has none. */
function hostRecord(specifier, referrer, place) {
    const said = askForModule(specifier, referrer);
    if (said === null || said === undefined) {
        return undefined;
    }
    const { name, source } = said;
    if (typeof name !== "string") {
        throw refusedName(specifier, "is one that the host has no name for", place);
    }
    let record = mapGet(moduleRecords, name);
    if (record === undefined) {
        const index = typeof source === "string" ? nativeAddModule(name, source) : undefined;
        if (typeof index !== "number") {
            throw refusedName(specifier, index === undefined
                ? "is one that the host gave no source for" : index[0], place);
        }
        record = makeSourceRecord(name, index);
        mapSet(moduleRecords, name, record);
    }
    return record;
}

/* What import finds. type is that of the attribute, undefined without one. */
function importRecord(specifier, referrer, type, place) {
    if (moduleTool !== undefined && type === undefined) {
        const given = hostRecord(specifier, referrer, place);
        if (given !== undefined) {
            return given;
        }
    }
    const name = resolveName(specifier, referrer, place);
    if (type !== undefined && type !== "json") {
        throw moduleError(TypeErrorClass, "ERR_IMPORT_ATTRIBUTE_UNSUPPORTED",
            `There are no modules of type ${shownSpecifier(type)}, only of type 'json'`, place, "");
    }
    if (type === undefined && stringEndsWith(name, JSON_SUFFIX) &&
        mapGet(moduleIndexes, name) !== undefined) {
        throw moduleError(TypeErrorClass, "ERR_IMPORT_ATTRIBUTE_MISSING",
            `Module ${shownSpecifier(specifier)} needs an import attribute of type: json`, place,
            `Write: import data from ${shownSpecifier(specifier)} with { type: "json" }`);
    }
    const record = findRecord(name, type === "json");
    if (record === undefined) {
        throw notFound(specifier, name, place);
    }
    if (type === "json" && record.kind !== KIND_JSON) {
        throw moduleError(TypeErrorClass, "ERR_IMPORT_ATTRIBUTE_TYPE_INCOMPATIBLE",
            `Module ${shownSpecifier(specifier)} is not JSON`, place, "");
    }
    return record;
}

function referrerOf(record) {
    return record === undefined || record.isMain ? undefined : record.name;
}

/* ---- loading: what a module asks for, and what that asks for ---- */

function findRequests(record) {
    const rows = record.requestRows;
    const requests = makeList();
    for (let i = 0; i < rows.length; i += REQUEST_LENGTH) {
        const place = makePlace(record.file, rows[i + 2], rows[i + 3]);
        requests[requests.length] = importRecord(rows[i], referrerOf(record), rows[i + 1], place);
    }
    record.requests = requests;
}

function loadGraph(root) {
    if (root.isComplete || root.kind !== KIND_ES) {
        return;
    }
    const visited = makeList();
    const waiting = makeList();
    waiting[0] = root;
    root.isComplete = true; /* until it turns out not to be */
    try {
        while (waiting.length > 0) {
            const record = waiting[waiting.length - 1];
            waiting.length--;
            visited[visited.length] = record;
            if (record.requests === undefined) {
                findRequests(record);
            }
            for (let i = record.requests.length - 1; i >= 0; i--) {
                const request = record.requests[i];
                if (request.kind === KIND_ES && !request.isComplete) {
                    request.isComplete = true;
                    waiting[waiting.length] = request;
                }
            }
        }
    } catch (error) {
        for (let i = 0; i < visited.length; i++) {
            visited[i].isComplete = false;
        }
        for (let i = 0; i < waiting.length; i++) {
            waiting[i].isComplete = false;
        }
        throw error;
    }
}

/* ---- linking: which variable each imported name is ---- */

function makeBinding(binding, record, index, mayChange) {
    return { __proto__: null, binding, record, index, mayChange };
}

function resolveForeign(record, name) {
    if (name === "default") {
        return makeBinding(BINDING_FOREIGN, record, name, false);
    }
    if (record.members === undefined) {
        return NOT_YET;
    }
    return findMember(record, name) !== undefined
        ? makeBinding(BINDING_FOREIGN, record, name, false) : NOT_FOUND;
}

/* A binding, or why there is none. seen lists what is being resolved: modules and names in turn. */
function resolveExport(record, name, seen) {
    if (record.kind !== KIND_ES) {
        return resolveForeign(record, name);
    }
    for (let i = 0; i < seen.length; i += 2) {
        if (seen[i] === record && seen[i + 1] === name) {
            return NOT_FOUND;
        }
    }
    seen[seen.length] = record;
    seen[seen.length] = name;
    const row = mapGet(record.exports, name);
    if (row !== undefined) {
        const rows = record.exportRows;
        if (rows[row] === BINDING_LOCAL) {
            return makeBinding(BINDING_LOCAL, record, record.getterIndexes[row],
                rows[row + 4] !== 0);
        }
        const request = record.requests[rows[row + 1]];
        return rows[row] === BINDING_NAMESPACE
            ? makeBinding(BINDING_NAMESPACE, request, 0, false)
            : resolveExport(request, rows[row + 3], seen);
    }
    return name === "default" ? NOT_FOUND : resolveStars(record, name, seen);
}

function isSameBinding(a, b) {
    return a.record === b.record && a.binding === b.binding && a.index === b.index;
}

function resolveStars(record, name, seen) {
    let found = NOT_FOUND;
    for (let i = 0; i < record.stars.length; i++) {
        const answer = resolveExport(record.requests[record.stars[i]], name, seen);
        if (answer === AMBIGUOUS) {
            return AMBIGUOUS;
        }
        if (answer === NOT_FOUND || (answer === NOT_YET && found !== NOT_FOUND)) {
            continue;
        }
        if (found === NOT_FOUND || found === NOT_YET) {
            found = answer;
        } else if (!isSameBinding(found, answer)) {
            return AMBIGUOUS;
        }
    }
    return found;
}

function missingExport(record, specifier, name, answer, place) {
    return moduleError(SyntaxErrorClass, "", answer === AMBIGUOUS
        ? `Importing binding name '${cutText(name, SPECIFIER_UNITS_MAX)}' cannot be resolved due to ` +
            `ambiguous multiple bindings of ${shownSpecifier(specifier)}`
        : `Importing binding name '${cutText(name, SPECIFIER_UNITS_MAX)}' is not found in module ` +
            `${shownSpecifier(specifier)}`, place, exportHint(record, name));
}

function exportHint(record, name) {
    const names = makeList();
    collectNames(record, names, new MapClass(), makeList());
    for (let i = 0; name.length <= 100 && i < names.length; i++) {
        if (isNearMiss(name, names[i])) {
            return `Did you mean ${names[i]}?`;
        }
    }
    return names.length === 0 ? "It exports nothing."
        : `It exports: ${listNames(names, "names")}.`;
}

function placeOfRequest(record, request) {
    const at = request * REQUEST_LENGTH;
    return makePlace(record.file, record.requestRows[at + 2], record.requestRows[at + 3]);
}

/* The binding of a name in what a module asks for. Throws when there can be none. */
function bindName(record, request, name) {
    const requested = record.requests[request];
    const answer = resolveExport(requested, name, makeList());
    if (answer === NOT_FOUND || answer === AMBIGUOUS) {
        throw missingExport(requested, record.requestRows[request * REQUEST_LENGTH], name, answer,
            placeOfRequest(record, request));
    }
    return answer;
}

function bindImport(record, row) {
    const rows = record.importRows;
    return rows[row] === BINDING_NAMESPACE
        ? makeBinding(BINDING_NAMESPACE, record.requests[rows[row + 1]], 0, false)
        : bindName(record, rows[row + 1], rows[row + 2]);
}

function bindAll(record) {
    const { importRows, exportRows } = record;
    const bindings = makeList();
    for (let i = 0; i < exportRows.length; i += EXPORT_LENGTH) {
        if (exportRows[i] === BINDING_NAME) {
            bindName(record, exportRows[i + 1], exportRows[i + 3]);
        }
    }
    for (let i = 0; i < importRows.length; i += IMPORT_LENGTH) {
        bindings[bindings.length] = bindImport(record, i);
    }
    record.bindings = bindings;
}

/* Finds the modules that are in a cycle, and binds names. Modules that fail can be linked again. */
function linkGraph(root) {
    if (root.kind !== KIND_ES || root.status >= STATUS_LINKED) {
        return;
    }
    const stack = makeList();
    const linked = makeList();
    try {
        innerLink(root, stack, linked);
    } catch (error) {
        for (let i = 0; i < stack.length; i++) {
            stack[i].status = STATUS_NEW;
        }
        for (let i = 0; i < linked.length; i++) {
            linked[i].status = STATUS_NEW;
            linked[i].start = undefined;
            linked[i].getters = undefined;
        }
        throw error;
    }
}

function innerLink(record, stack, linked) {
    record.status = STATUS_LINKING;
    record.dfsIndex = dfsCount;
    record.dfsAncestor = dfsCount;
    dfsCount++;
    stack[stack.length] = record;
    const { requests } = record;
    for (let i = 0; i < requests.length; i++) {
        const request = requests[i];
        if (request.kind !== KIND_ES) {
            continue;
        }
        if (request.status === STATUS_NEW) {
            innerLink(request, stack, linked);
        }
        if (request.status === STATUS_LINKING) {
            record.dfsAncestor = min(record.dfsAncestor, request.dfsAncestor);
            record.isInCycle = record.isInCycle || request === record;
        }
    }
    bindAll(record);
    if (record.dfsAncestor !== record.dfsIndex) {
        return;
    }
    const isCycle = stack[stack.length - 1] !== record;
    const first = linked.length;
    let member;
    do {
        member = stack[stack.length - 1];
        stack.length--;
        member.status = STATUS_LINKED;
        member.isInCycle = member.isInCycle || isCycle;
        linked[linked.length] = member;
    } while (member !== record);
    for (let i = first; i < linked.length; i++) {
        if (linked[i].isInCycle) {
            instantiateExact(linked[i]);
        }
    }
}

/* ---- values of bindings, and namespaces ---- */

function readBinding(binding) {
    const { record } = binding;
    switch (binding.binding) {
    case BINDING_LOCAL:
        if (record.getters === undefined) {
            throw new ReferenceErrorClass("Cannot access an import before initialization: module " +
                `${shownSpecifier(record.name)} has not run`);
        }
        return record.getters[binding.index]();
    case BINDING_NAMESPACE:
        return namespaceOf(record);
    default:
        return binding.index === "default" ? record.exported : readMember(record, binding.index);
    }
}

function readMember(record, name) {
    const member = findMember(record, name);
    return member === undefined ? undefined : member.value;
}

/* A member of a module that is not an ES module. Those of built-in modules are read when somebody
 * asks for them: some bring large texts with them. */
function findMember(record, name) {
    const known = mapGet(record.members, name);
    if (known !== undefined || record.kind !== KIND_BUILTIN || name === "default" ||
        !isObject(record.exported) || !hasOwn(record.exported, name)) {
        return known;
    }
    return addMember(record, name);
}

function addMember(record, name) {
    const member = { __proto__: null, value: undefined };
    try {
        member.value = reflectGet(record.exported, name);
    } catch {
        member.value = undefined;
    }
    mapSet(record.members, name, member);
    return member;
}

/* For those who want to see all of them. */
function addMembers(record) {
    if (isObject(record.exported)) {
        const keys = objectKeys(record.exported);
        for (let i = 0; i < keys.length; i++) {
            if (keys[i] !== "default" && mapGet(record.members, keys[i]) === undefined) {
                addMember(record, keys[i]);
            }
        }
    }
}

function isFinished(record) {
    return record.kind === KIND_ES ? record.status === STATUS_EVALUATED
        : record.members !== undefined;
}

/* Adds the names that a module exports. */
function collectNames(record, names, known, seen) {
    for (let i = 0; i < seen.length; i++) {
        if (seen[i] === record) {
            return;
        }
    }
    const isRoot = seen.length === 0;
    const add = (unused, name) => {
        if ((isRoot || name !== "default") && mapGet(known, name) === undefined) {
            mapSet(known, name, true);
            names[names.length] = name;
        }
    };
    seen[seen.length] = record;
    if (record.kind !== KIND_ES) {
        add(undefined, "default");
        if (record.kind === KIND_BUILTIN) {
            addMembers(record);
        }
        if (record.members !== undefined) {
            mapForEach(record.members, add);
        }
        return;
    }
    mapForEach(record.exports, add);
    for (let i = 0; i < record.stars.length; i++) {
        collectNames(record.requests[record.stars[i]], names, known, seen);
    }
}

function defineMember(namespace, name, binding, isFinal) {
    const descriptor = { __proto__: null, enumerable: true, configurable: false };
    if (isFinal && !binding.mayChange) {
        descriptor.value = readBinding(binding);
        descriptor.writable = false;
    } else {
        descriptor.get = () => readBinding(binding);
        descriptor.set = undefined;
    }
    defineProperty(namespace, name, descriptor);
}

/* The object that `import * as` gives. Members that can still change are accessors. */
function namespaceOf(record) {
    if (record.namespace !== undefined) {
        return record.namespace;
    }
    const names = makeList();
    const namespace = { __proto__: null };
    const isFinal = isFinished(record);
    record.namespace = namespace; /* a module may export its own namespace */
    collectNames(record, names, new MapClass(), makeList());
    arraySort(names);
    for (let i = 0; i < names.length; i++) {
        const binding = resolveExport(record, names[i], makeList());
        if (typeof binding === "object") {
            defineMember(namespace, names[i], binding, isFinal);
        }
    }
    defineProperty(namespace, symbolTag, {
        __proto__: null, value: "Module", writable: false, enumerable: false, configurable: false,
    });
    preventExtensions(namespace);
    weakSetAdd(namespaces, namespace);
    return namespace;
}
