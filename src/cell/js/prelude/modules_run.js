/* modules_run.js - when modules run, import() and require(), and the program itself. See modules.js.
 */

/* ---- running a module ---- */

function makeMeta(record) {
    const referrer = referrerOf(record);
    const filename = record.isMain ? mainPath() : modulePath(record.name);
    const meta = { __proto__: null, dirname: folderOf(filename), filename, main: record.isMain };
    meta.resolve = (specifier) => {
        const text = `${specifier}`;
        const resolved = resolveName(text, referrer, undefined);
        return stringStartsWith(resolved, NODE_PREFIX) ? resolved : urlOfPath(modulePath(resolved));
    };
    meta.url = urlOfPath(filename);
    return meta;
}

/* What a rewritten module gets as import.meta: making it takes as long as running a small module, so
 * one that does not use it has none. The name is in the text once as that of the parameter. */
function metaFor(record, text) {
    const first = stringIndexOf(text, "vial$m", 0);
    return stringIndexOf(text, "vial$m", first + 1) < 0 ? undefined : makeMeta(record);
}

/* Where a module would be if modules were files; programs take such names apart. */
function modulePath(name) {
    return stringStartsWith(name, "./") ? HOME_PATH + stringSlice(name, 2)
        : `${HOME_PATH}node_modules/${name}`;
}

function mainPath() {
    return evaluationCount > 0 ? HOME_PATH + SESSION_FILE : HOME_PATH + stringSlice(sourceName, stringLastIndexOf(sourceName, "/") + 1);
}

const unusualInPaths = /[^\w.\-/~!$&'()*+,;=:@[\]]/;

function urlOfPath(path) {
    return `file://${regexpExec(unusualInPaths, path) === null ? path : encodeUri(path)}`;
}

/* What a module gives its exports to, once. */
function makeRegister(record) {
    return (getters, unnamed) => {
        if (record.getters === undefined) {
            record.getters = listOf(getters);
            if (typeof unnamed === "function") {
                defineProperty(unnamed, "name", {
                    __proto__: null, value: "default", writable: false, enumerable: false,
                    configurable: true,
                });
            }
        }
    };
}

const giveBack = (value) => value;

/* True when constants will do for what a module imports: all of it has its final value. */
function hasFinalImports(record) {
    const { requests, bindings } = record;
    for (let i = 0; i < requests.length; i++) {
        if (!isFinished(requests[i])) {
            return false;
        }
    }
    for (let i = 0; i < bindings.length; i++) {
        if (bindings[i] === NOT_YET) {
            bindings[i] = bindImport(record, i * IMPORT_LENGTH);
        }
        if (bindings[i].mayChange) {
            return false;
        }
    }
    return true;
}

/* Makes the functions of a module in its exact form. What is left to do is in record.start. */
function instantiateExact(record) {
    const flags = READ_EXACT | (record.isMain ? READ_MAIN : 0);
    const { importRows, bindings, url } = record;
    const { file } = record;
    const env = { __proto__: null };
    if (importRows.length > 0) {
        evaluateText(record.text, url, file); /* finds names that are declared twice */
    }
    const read = readSource(record.index, record.name, KIND_ES, flags);
    addSource(file, read[3], read[8], read[9]);
    for (let i = 0; i < bindings.length; i++) {
        defineProperty(env, importRows[i * IMPORT_LENGTH + 3], {
            __proto__: null, enumerable: true, configurable: false, set: undefined,
            get: () => {
                if (bindings[i] === NOT_YET) {
                    bindings[i] = bindImport(record, i * IMPORT_LENGTH);
                }
                return bindings[i] === NOT_YET ? undefined : readBinding(bindings[i]);
            },
        });
    }
    let open;
    const gate = new PromiseClass((resolve) => {
        open = resolve;
    });
    const main = evaluateText(read[2], url, file)(makeRegister(record), env, makeImport(record),
        metaFor(record, read[2]), giveBack, gate);
    const running = apply(main, undefined, []);
    if (record.isAsync) {
        record.start = () => {
            open();
            return running;
        };
    } else {
        generatorNext(running);
        record.start = () => generatorNext(running).value;
    }
    record.text = "";
}

function startModule(record) {
    if (record.start === undefined && !hasFinalImports(record)) {
        instantiateExact(record);
    }
    if (record.start !== undefined) {
        const { start } = record;
        record.start = undefined;
        return start();
    }
    const { bindings } = record;
    const values = makeList();
    for (let i = 0; i < bindings.length; i++) {
        values[i] = readBinding(bindings[i]);
    }
    const { text } = record;
    record.text = "";
    return apply(evaluateText(text, record.url, record.file), undefined,
        [makeRegister(record), values, makeImport(record), metaFor(record, text)]);
}

/* ---- evaluation, in the order of the specification ---- */

function innerEvaluate(record, stack) {
    if (record.kind !== KIND_ES) {
        evaluateForeign(record);
        return;
    }
    if (record.status >= STATUS_EVALUATING_ASYNC) {
        if (record.hasError) {
            throw record.error;
        }
        return;
    }
    if (record.status === STATUS_EVALUATING) {
        return;
    }
    record.status = STATUS_EVALUATING;
    record.dfsIndex = dfsCount;
    record.dfsAncestor = dfsCount;
    dfsCount++;
    stack[stack.length] = record;
    const { requests } = record;
    for (let i = 0; i < requests.length; i++) {
        evaluateRequest(record, requests[i], stack);
    }
    if (record.pendingAsync > 0 || record.isAsync) {
        record.asyncOrder = ++asyncCount;
        if (record.pendingAsync === 0) {
            executeAsync(record);
        }
    } else {
        record.value = startModule(record);
    }
    if (record.dfsAncestor !== record.dfsIndex) {
        return;
    }
    let member;
    do {
        member = stack[stack.length - 1];
        stack.length--;
        member.status = member.asyncOrder === NOT_ASYNC || member.asyncOrder === ASYNC_DONE
            ? STATUS_EVALUATED : STATUS_EVALUATING_ASYNC;
        member.cycleRoot = record;
    } while (member !== record);
}

function evaluateRequest(record, requested, stack) {
    let request = requested;
    innerEvaluate(request, stack);
    if (request.kind !== KIND_ES) {
        return;
    }
    if (request.status === STATUS_EVALUATING) {
        if (isOnStack(stack, request)) {
            record.dfsAncestor = min(record.dfsAncestor, request.dfsAncestor);
        }
    } else {
        request = request.cycleRoot;
        if (request.hasError) {
            throw request.error;
        }
    }
    if (request.asyncOrder > NOT_ASYNC) {
        record.pendingAsync++;
        request.asyncParents[request.asyncParents.length] = record;
    }
}

/* A module that is being evaluated by somebody further up, who has required us, is not on ours. */
function isOnStack(stack, record) {
    for (let i = stack.length - 1; i >= 0; i--) {
        if (stack[i] === record) {
            return true;
        }
    }
    return false;
}

function executeAsync(record) {
    let promise;
    try {
        promise = startModule(record);
    } catch (error) {
        promise = new PromiseClass((unused, reject) => reject(error));
    }
    watchPromise(promise, (value) => asyncFulfilled(record, value),
        (error) => asyncRejected(record, error));
}

function finishModule(record) {
    const { waiters } = record;
    record.waiters = makeList();
    for (let i = 0; i < waiters.length; i++) {
        waiters[i](record.hasError, record.error);
    }
}

function asyncFulfilled(record, value) {
    if (record.status === STATUS_EVALUATED) {
        return;
    }
    record.value = value;
    record.asyncOrder = ASYNC_DONE;
    record.status = STATUS_EVALUATED;
    finishModule(record);
    const available = makeList();
    gatherAncestors(record, available);
    sortByOrder(available);
    for (let i = 0; i < available.length; i++) {
        const ancestor = available[i];
        if (ancestor.status === STATUS_EVALUATED) {
            continue;
        }
        if (ancestor.isAsync) {
            executeAsync(ancestor);
            continue;
        }
        try {
            ancestor.value = startModule(ancestor);
        } catch (error) {
            asyncRejected(ancestor, error);
            continue;
        }
        ancestor.asyncOrder = ASYNC_DONE;
        ancestor.status = STATUS_EVALUATED;
        finishModule(ancestor);
    }
}

function gatherAncestors(record, available) {
    const { asyncParents } = record;
    for (let i = 0; i < asyncParents.length; i++) {
        const parent = asyncParents[i];
        const root = parent.cycleRoot;
        if (parent.status === STATUS_EVALUATED || (root !== undefined && root.hasError)) {
            continue;
        }
        parent.pendingAsync--;
        if (parent.pendingAsync === 0) {
            available[available.length] = parent;
            if (!parent.isAsync) {
                gatherAncestors(parent, available);
            }
        }
    }
}

/* In the order in which they began to wait. There are few. */
function sortByOrder(list) {
    for (let i = 1; i < list.length; i++) {
        const record = list[i];
        let at = i;
        while (at > 0 && list[at - 1].asyncOrder > record.asyncOrder) {
            list[at] = list[at - 1];
            at--;
        }
        list[at] = record;
    }
}

function asyncRejected(record, error) {
    if (record.status === STATUS_EVALUATED) {
        return;
    }
    record.hasError = true;
    record.error = error;
    record.asyncOrder = ASYNC_DONE;
    record.status = STATUS_EVALUATED;
    for (let i = 0; i < record.asyncParents.length; i++) {
        asyncRejected(record.asyncParents[i], error);
    }
    finishModule(record);
}

/* Runs a module and all that it needs; done(hasError, error) is called at the end, maybe at once. */
function evaluateGraph(record, done) {
    const stack = makeList();
    try {
        innerEvaluate(record, stack);
    } catch (error) {
        for (let i = 0; i < stack.length; i++) {
            stack[i].status = STATUS_EVALUATED;
            stack[i].hasError = true;
            stack[i].error = error;
            stack[i].cycleRoot = stack[i];
            stack[i].asyncOrder = ASYNC_DONE;
        }
        done(true, error);
        return;
    }
    const root = record.kind === KIND_ES && record.cycleRoot !== undefined
        ? record.cycleRoot : record;
    if (root.kind === KIND_ES && root.status === STATUS_EVALUATING_ASYNC) {
        root.waiters[root.waiters.length] = done;
    } else {
        done(root.hasError, root.error);
    }
}

/* ---- import() ---- */

function importType(options) {
    if (options === undefined) {
        return undefined;
    }
    if (!isObject(options)) {
        throw new TypeErrorClass("The second argument of import() must be an object");
    }
    const attributes = reflectGet(options, "with");
    if (attributes === undefined) {
        return undefined;
    }
    if (!isObject(attributes)) {
        throw new TypeErrorClass("The attributes of import() must be an object");
    }
    const keys = objectKeys(attributes);
    let type;
    for (let i = 0; i < keys.length; i++) {
        const value = reflectGet(attributes, keys[i]);
        if (typeof value !== "string") {
            throw new TypeErrorClass("The attributes of import() must be strings");
        }
        if (keys[i] !== "type") {
            throw new TypeErrorClass("The only import attribute is type");
        }
        type = value;
    }
    return type;
}

/* import() for one module: the specification loads at once, and links and runs in a job. */
function makeImport(record) {
    const referrer = referrerOf(record);
    return (specifier, options) => new PromiseClass((resolve, reject) => {
        const text = `${specifier}`;
        const type = importType(options);
        const soon = new PromiseClass((now) => now());
        watchPromise(soon, () => {
            try {
                const found = importRecord(text, referrer, type, undefined);
                loadGraph(found);
                linkGraph(found);
                evaluateGraph(found, (hasError, error) => {
                    if (hasError) {
                        reject(error);
                    } else {
                        resolve(namespaceOf(found));
                    }
                });
            } catch (error) {
                reject(error);
            }
        }, undefined);
    });
}

/* ---- CommonJS, JSON and built-in modules ---- */

/* Takes what a module exports, and a copy of its members. */
function setExported(record, exported, hasMembers) {
    record.exported = exported;
    record.members = new MapClass();
    if (hasMembers) {
        addMembers(record);
    }
}

function evaluateForeign(record) {
    if (record.kind === KIND_COMMONJS && record.members === undefined) {
        if (!record.isLoading) {
            runCommonJs(record);
        }
        if (record.members === undefined) { /* it is being run and asks for itself */
            setExported(record, reflectGet(record.moduleObject, "exports"), true);
            record.members = undefined;
        }
    }
}

function folderOf(name) {
    const slash = stringLastIndexOf(name, "/");
    return slash > 0 ? stringSlice(name, 0, slash) : ".";
}

function runCommonJs(record) {
    const { name } = record;
    const exports = {};
    const module = {
        id: name, exports, filename: name, path: folderOf(name), loaded: false, children: [],
        paths: [],
    };
    const require = makeRequire(record);
    defineHidden(module, "require", require);
    record.moduleObject = module;
    record.isLoading = true;
    try {
        const main = evaluateText(record.text, record.url, name);
        apply(main, exports,
            [exports, require, module, name, folderOf(name), makeImport(record)]);
    } catch (error) {
        mapDelete(moduleRecords, name);
        record.isLoading = false;
        throw error;
    }
    record.isLoading = false;
    record.text = "";
    module.loaded = true;
    setExported(record, reflectGet(module, "exports"), true);
}

function hasAsync(record, seen) {
    if (record.kind !== KIND_ES || mapGet(seen, record) !== undefined) {
        return false;
    }
    mapSet(seen, record, true);
    if (record.isAsync && record.status !== STATUS_EVALUATED) {
        return true;
    }
    for (let i = 0; i < record.requests.length; i++) {
        if (hasAsync(record.requests[i], seen)) {
            return true;
        }
    }
    return false;
}

function requireEs(record, specifier) {
    loadGraph(record);
    linkGraph(record);
    if (record.status === STATUS_EVALUATING) {
        throw moduleError(ErrorClass, "ERR_REQUIRE_CYCLE_MODULE",
            `Cannot require ES module ${shownSpecifier(specifier)} in a cycle`, undefined,
            "Use import() instead.");
    }
    if (hasAsync(record, new MapClass())) {
        throw moduleError(ErrorClass, "ERR_REQUIRE_ASYNC_MODULE",
            `Cannot require ES module ${shownSpecifier(specifier)}: it has a top-level await, or ` +
            "a module that it imports has", undefined, "Use import() instead.");
    }
    evaluateGraph(record, (hasError, error) => {
        if (hasError) {
            throw error;
        }
    });
    const name = resolveExport(record, "module.exports", makeList());
    return typeof name === "object" ? readBinding(name) : namespaceOf(record);
}

/* The record that require finds, which also tries the endings that Node tries. */
function requireRecord(specifier, referrer) {
    const name = resolveName(specifier, referrer, undefined);
    for (let i = 0; i < REQUIRE_SUFFIXES.length; i++) {
        const full = name + REQUIRE_SUFFIXES[i];
        if (mapGet(moduleIndexes, full) !== undefined) {
            return findRecord(full, stringEndsWith(full, JSON_SUFFIX));
        }
    }
    const record = findBuiltinRecord(name);
    if (record === undefined) {
        throw notFound(specifier, name, undefined);
    }
    return record;
}

function makeRequire(record) {
    const referrer = referrerOf(record);
    const check = (id) => {
        if (typeof id !== "string") {
            const error = new TypeErrorClass("The name of a module must be a string, not " +
                cutText(inspectPassively(id), SPECIFIER_UNITS_MAX));
            defineHidden(error, "code", "ERR_INVALID_ARG_TYPE");
            throw error;
        }
    };
    const functions = {
        require(id) {
            check(id);
            const found = requireRecord(id, referrer);
            if (found.kind === KIND_ES) {
                return requireEs(found, id);
            }
            if (found.kind === KIND_COMMONJS && found.isLoading) {
                return reflectGet(found.moduleObject, "exports");
            }
            evaluateForeign(found);
            return found.exported;
        },
        resolve(id) {
            check(id);
            return requireRecord(id, referrer).name;
        },
    };
    const { require } = functions;
    require.resolve = functions.resolve;
    require.main = guestModule;
    require.cache = { __proto__: null };
    return require;
}

/* What a program that is a script has: Node's globals of the main module. */
let guestModule;

function installModules() {
    guestModule = { id: ".", exports: {}, loaded: false, children: [], paths: [] };
    const require = makeRequire(undefined);
    defineHidden(guestModule, "require", require);
    defineHidden(globalThis, "require", require);
    defineLazily(globalThis, "__filename", mainPath);
    defineLazily(globalThis, "__dirname", () => folderOf(mainPath()));
    defineHidden(globalThis, "module", guestModule);
    defineHidden(globalThis, "exports", guestModule.exports);
}

/* ---- the program itself ---- */

function runScript(read) {
    if (read[7]) {
        defineHidden(globalThis, "vial$i", makeImport(undefined));
    }
    addSource("", read[3], read[8], read[9]);
    return evaluateText(read[2], sourceUrl, "");
}

/* A program that is too much to be read may still be a script. */
function runUnread(why) {
    try {
        return evaluateText(nativeModuleSource(MAIN_INDEX), sourceUrl, currentFile);
    } catch (error) {
        const target = errorOf(error);
        if (target !== undefined && shownName(target) === "SyntaxError") {
            noteError(target, undefined, `It was not looked at as a module: ${why}.`);
        }
        throw error;
    }
}

function mainValue(record) {
    const binding = resolveExport(record, "default", makeList());
    return typeof binding === "object" ? readBinding(binding) : record.value;
}

/* Runs the program and gives its value, or a promise of it. */
function runMain(kind, hasScriptNames) {
    const read = readSource(MAIN_INDEX, sourceName, kind, READ_MAIN);
    if (read[0] === READ_REFUSED) {
        if (kind === KIND_ES) {
            throw moduleError(RangeErrorClass, "", `The program: ${read[1]}`, undefined, "");
        }
        return runUnread(read[1]);
    }
    if (read[0] === KIND_SCRIPT) {
        return runScript(read);
    }
    if (hasScriptNames) {
        deleteProperty(globalThis, "module");
        deleteProperty(globalThis, "exports");
        deleteProperty(globalThis, "__filename");
        deleteProperty(globalThis, "__dirname");
    }
    const record = makeRecord(sourceName, KIND_ES, MAIN_INDEX);
    record.isMain = true;
    record.file = "";
    mainRecord = record;
    takeRead(record, read);
    record.url = sourceName;
    return runRecord(record, mainValue);
}

/* Runs a program and all that it asks for; what valueOf makes of it, or a promise of that. */
function runRecord(record, valueOf) {
    loadGraph(record);
    linkGraph(record);
    let state = 0;
    let failure;
    let settle;
    evaluateGraph(record, (hasError, error) => {
        state = hasError ? 2 : 1;
        failure = error;
        if (settle !== undefined) {
            settle();
        }
    });
    if (state === 2) {
        throw failure;
    }
    if (state === 1) {
        return valueOf(record);
    }
    return new PromiseClass((resolve, reject) => {
        settle = () => {
            if (state === 2) {
                reject(failure);
            } else {
                resolve(valueOf(record));
            }
        };
    });
}
