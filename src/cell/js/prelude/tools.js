/* tools.js - the host's tools as functions of the guest.
 *
 * A tool takes one value and gives one. Who calls it with several arguments, or with one that is no
 * object where an object is wanted, means the members of that object in order. An asynchronous tool
 * gives a promise, which keeps the run alive; a synchronous one blocks here until its answer is
 * there. Errors of the host come as errors that were made where the tool was called. */

const TOOL_SYNC = 1;
const TOOL_VALUES = 2;
const TOOL_OBJECT = 4;
const TOOL_MODULES = 8;

const ANSWER_CBOR = 1;
const ANSWER_ERROR = 3;

const { call: nativeCall, callAndWait: nativeCallAndWait, fetch: nativeFetch } = native.tools;

let pendingCalls = new MapClass(); /* by number: what to do with the answer */
let pendingCount = 0;
let moduleTool; /* the one that is asked for modules */
const toolNames = makeList(); /* for hints */
const toolObjects = new MapClass(); /* by name: objects that tools are members of */

/* The errors whose class a guest may ask for. */
const errorPrototypes = {
    __proto__: null, Error: ErrorClass.prototype, TypeError: TypeErrorClass.prototype,
    RangeError: RangeErrorClass.prototype, SyntaxError: globalThis.SyntaxError.prototype,
    ReferenceError: globalThis.ReferenceError.prototype,
};

/* Turns the error that was made at the call into what the host said. */
function toolError(trace, said) {
    const { name, message, fields } = said;
    const proto = errorPrototypes[name];
    defineHidden(trace, "message", message);
    if (proto !== undefined) {
        setPrototypeOf(trace, proto);
    } else {
        defineHidden(trace, "name", name);
    }
    if (fields !== undefined && fields !== null) {
        const keys = objectKeys(fields);
        for (let i = 0; i < keys.length; i++) {
            if (keys[i] !== "stack" && keys[i] !== "message" && keys[i] !== "name") {
                defineProperty(trace, keys[i], {
                    __proto__: null, value: fields[keys[i]], writable: true, enumerable: true,
                    configurable: true,
                });
            }
        }
    }
    return trace;
}

/* What a tool that speaks JSON cannot be given. A Date becomes text and an undefined member is left
 * out, as everywhere in JSON; the rest would lose what it means. */
function refuseForJson(tool, what) {
    throw new TypeErrorClass(`${tool.name} cannot be given ${what}: its arguments are JSON`);
}

function jsonOf(tool, value) {
    return jsonStringify(value, (key, member) => {
        switch (typeof member) {
        case "bigint":
            return refuseForJson(tool, `a BigInt${key === "" ? "" : ` (${key})`}`);
        case "function":
        case "symbol":
            return refuseForJson(tool, `a ${typeof member}${key === "" ? "" : ` (${key})`}`);
        case "number":
            return member - member === 0 ? member
                : refuseForJson(tool, `${member}${key === "" ? "" : ` (${key})`}`);
        case "object": {
            const kind = member === null ? "" : stringSlice(objectToString(member), 8, -1);
            if (kind === "Map" || kind === "Set" || kind === "ArrayBuffer" ||
                (member !== null && typedArrayName(member) !== undefined) ||
                kind === "Promise") {
                return refuseForJson(tool, `a ${kind}${key === "" ? "" : ` (${key})`}` +
                    (kind === "Promise" ? "; await it first" : ""));
            }
            return member;
        }
        default:
            return member;
        }
    });
}

function inputOf(tool, args) {
    const { length } = args;
    const first = args[0];
    if ((tool.bits & TOOL_OBJECT) === 0) {
        return length === 0 ? null : length === 1 ? first : args;
    }
    if (length === 0) {
        return {};
    }
    if (length === 1 && isObject(first) && !isArray(first) && typeof first !== "function") {
        return first;
    }
    const { params } = tool;
    if (length > params.length) {
        throw new TypeErrorClass(`${tool.name} takes one object` + (params.length > 0
            ? ` with ${arrayJoin(setPrototypeOf(listOf(params), ArrayPrototype), ", ")}` : "") +
            `, or so many arguments; it was given ${length}`);
    }
    const input = {};
    for (let i = 0; i < length; i++) {
        defineProperty(input, params[i], {
            __proto__: null, value: args[i], writable: true, enumerable: true, configurable: true,
        });
    }
    return input;
}

function toolText(tool, args) {
    const input = inputOf(tool, args);
    if (isJson(input)) {
        return jsonStringify(input);
    }
    if ((tool.bits & TOOL_VALUES) !== 0) {
        return valueToHost(input);
    }
    const text = jsonOf(tool, input);
    return text === undefined ? "null" : text;
}

/* Outside of calls of tools: a promise and what settles it, whatever a guest has done to Promise. */
function makeDeferred() {
    const deferred = { __proto__: null, promise: undefined, resolve: undefined, reject: undefined };
    deferred.promise = new PromiseClass((resolve, reject) => {
        deferred.resolve = resolve;
        deferred.reject = reject;
    });
    return deferred;
}

function callTool(tool, args) {
    const text = toolText(tool, args);
    const trace = new ErrorClass();
    if ((tool.bits & TOOL_SYNC) !== 0) {
        const answer = nativeCallAndWait(tool.index, text);
        if (answer[0] === ANSWER_ERROR) {
            throw toolError(trace, answer[1]);
        }
        return answer[0] === ANSWER_CBOR ? decodeCbor(answer[1]) : answer[1];
    }
    const deferred = makeDeferred();
    deferred.trace = trace;
    mapSet(pendingCalls, nativeCall(tool.index, text), deferred);
    pendingCount++;
    return deferred.promise;
}

/* What the host says to { specifier, referrer }: { name, source }, { name }, or null. */
function askForModule(specifier, referrer) {
    const question = { __proto__: null, specifier,
        referrer: referrer === undefined ? null : referrer };
    const trace = new ErrorClass();
    const answer = nativeCallAndWait(moduleTool.index, jsonStringify(question));
    if (answer[0] === ANSWER_ERROR) {
        throw toolError(trace, answer[1]);
    }
    return answer[1];
}

const NET_CLOSE = 2; /* which has no answer */

/* Asks the host for something of the network: wire/fetch.h. The number of the call and a promise of
 * the parts of its answer, or of what make makes of them. */
function netCall(op, stream, head, body, make, flags) {
    const id = nativeFetch(op, stream, head, body, flags === undefined ? 0 : flags);
    if (op === NET_CLOSE) { /* the call that waits for more of it gets an error */
        return undefined;
    }
    const deferred = makeDeferred();
    deferred.trace = new ErrorClass();
    deferred.make = make;
    mapSet(pendingCalls, id, deferred);
    pendingCount++;
    return { __proto__: null, id, promise: deferred.promise };
}

/* A promise is made in any case: who forgets that a tool may refuse its arguments at once still gets
 * a rejection. */
function makeToolFunction(tool) {
    const call = (tool.bits & TOOL_SYNC) !== 0
        ? { call(...args) {
            return callTool(tool, args);
        } }.call
        : { call(...args) {
            try {
                return callTool(tool, args);
            } catch (error) {
                const deferred = makeDeferred();
                deferred.reject(error);
                return deferred.promise;
            }
        } }.call;
    const dot = stringLastIndexOf(tool.name, ".");
    setName(call, stringSlice(tool.name, dot + 1));
    return call;
}

/* The object that a tool is a member of, made with all above it. */
function toolObject(path) {
    const known = mapGet(toolObjects, path);
    if (known !== undefined) {
        return known;
    }
    const object = {};
    const dot = stringLastIndexOf(path, ".");
    mapSet(toolObjects, path, object);
    if (dot < 0) {
        defineHidden(globalThis, path, object);
    } else {
        toolObject(stringSlice(path, 0, dot))[stringSlice(path, dot + 1)] = object;
    }
    return object;
}

function provideTool(index, bits, name, params) {
    const tool = { __proto__: null, index, bits, name, params: listOf(params) };
    if ((bits & TOOL_MODULES) !== 0) {
        moduleTool = tool;
        return;
    }
    const call = makeToolFunction(tool);
    const dot = stringLastIndexOf(name, ".");
    if (dot < 0) {
        defineHidden(globalThis, name, call);
    } else {
        toolObject(stringSlice(name, 0, dot))[stringSlice(name, dot + 1)] = call;
    }
    toolNames[toolNames.length] = name;
}

function takeAnswer(id, kind, value) {
    const deferred = mapGet(pendingCalls, id);
    if (deferred === undefined) {
        return;
    }
    mapDelete(pendingCalls, id);
    pendingCount--;
    if (kind === ANSWER_ERROR) {
        deferred.reject(toolError(deferred.trace, value));
    } else if (deferred.make !== undefined) {
        deferred.resolve(deferred.make(value, id));
    } else {
        deferred.resolve(kind === ANSWER_CBOR ? decodeCbor(value) : value);
    }
}

const droppedErrors = new WeakSet(); /* of calls below: no later program has made them */

/* Another program begins in this process, or this process is a copy: nobody answers any more. */
function dropCalls() {
    if (pendingCount === 0) {
        return;
    }
    const dropped = pendingCalls;
    pendingCalls = new MapClass();
    pendingCount = 0;
    mapForEach(dropped, (deferred) => {
        promiseThen(deferred.promise, undefined, () => {}); /* nobody needs to handle it */
        const error = toolError(deferred.trace, {
            __proto__: null, name: "AbortError",
            message: "the program that made this call was over before the answer came",
            fields: undefined,
        });
        weakSetAdd(droppedErrors, error);
        deferred.reject(error);
    });
}

const HINT_NAMES_MAX = 5;
const HINT_UNITS_MAX = 80; /* of a name that was asked for */

/* How many letters must be added, taken away or changed; compares the last parts of dotted names
 * twice, because those are what people get wrong. */
function nameDistance(a, b) {
    let before = makeList();
    for (let j = 0; j <= b.length; j++) {
        before[j] = j;
    }
    for (let i = 1; i <= a.length; i++) {
        const row = makeList();
        row[0] = i;
        for (let j = 1; j <= b.length; j++) {
            row[j] = min(before[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1),
                min(before[j], row[j - 1]) + 1);
        }
        before = row;
    }
    return before[b.length];
}

function toolDistance(asked, name) {
    const whole = nameDistance(asked, name);
    const askedDot = stringLastIndexOf(asked, ".");
    const nameDot = stringLastIndexOf(name, ".");
    return min(whole, 1 + nameDistance(stringSlice(asked, askedDot + 1),
        stringSlice(name, nameDot + 1)));
}

/* The names of the tools that are nearest to the one that was asked for, or "". */
function nearestTools(asked) {
    const found = makeList();
    const lower = stringToLowerCase(asked);
    for (let n = 0; n < HINT_NAMES_MAX && n < toolNames.length; n++) {
        let best = -1;
        let bestDistance = 0;
        for (let i = 0; i < toolNames.length; i++) {
            const name = toolNames[i];
            let isTaken = name.length > HINT_UNITS_MAX;
            for (let k = 0; k < found.length; k++) {
                isTaken = isTaken || found[k] === name;
            }
            const distance = isTaken ? 0 : toolDistance(lower, stringToLowerCase(name));
            if (!isTaken && (best < 0 || distance < bestDistance)) {
                best = i;
                bestDistance = distance;
            }
        }
        if (best >= 0) {
            found[found.length] = toolNames[best];
        }
    }
    return arrayJoin(setPrototypeOf(found, ArrayPrototype), ", ");
}

/* For an error about a function or name that is not there, in the engine's words. */
function toolHint(name, message) {
    const variable = "Can't find variable: ";
    let asked = "";
    if (toolNames.length === 0) {
        return "";
    }
    if (name === "ReferenceError" && stringStartsWith(message, variable)) {
        asked = stringSlice(message, variable.length);
    } else if (name === "TypeError") {
        const end = stringIndexOf(message, " is not a function", 0);
        asked = end > 0 ? stringSlice(message, 0, end) : "";
        const dot = stringIndexOf(asked, ".", 0);
        if (dot < 0 || mapGet(toolObjects, stringSlice(asked, 0, dot)) === undefined) {
            return "";
        }
    }
    if (asked === "" || asked.length > HINT_UNITS_MAX) {
        return "";
    }
    return `There is no tool ${asked} here; ` + (toolNames.length <= HINT_NAMES_MAX
        ? `there are: ${nearestTools(asked)}.` : `the nearest are: ${nearestTools(asked)}.`);
}
