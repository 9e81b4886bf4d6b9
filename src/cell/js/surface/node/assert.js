/* assert.js - assert: own code over the deep equality of lib/, with Node's messages. */
import { isDeepEqual } from "../lib/deep_equal.js";
import { checkFunction, invalidArgType, invalidArgValue, makeError } from "../lib/errors.js";

/* Longer values are cut in messages: a model reads the beginning. */
const LINES_MAX = 50;

const HEADS = {
    __proto__: null,
    deepStrictEqual: "Expected values to be strictly deep-equal:",
    strictEqual: "Expected values to be strictly equal:",
    strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
    deepEqual: "Expected values to be loosely deep-equal:",
    notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
    notStrictEqual: 'Expected "actual" to be strictly unequal to:',
    notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
    notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
    notIdentical: "Values identical but not reference-equal:",
};

function show(value) {
    return vial.inspect(value, { compact: 0, depth: 1000, maxArrayLength: Infinity, customInspect: false,
        breakLength: Infinity });
}

function isObject(value) {
    return value !== null && (typeof value === "object" || typeof value === "function");
}

/* The longest common lines, by the usual table; only for texts short enough for it. */
function diffLines(actual, expected) {
    const a = actual.slice(0, 500);
    const b = expected.slice(0, 500);
    const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) {
        for (let j = b.length - 1; j >= 0; j--) {
            table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1
                : Math.max(table[i + 1][j], table[i][j + 1]);
        }
    }
    const lines = [];
    let i = 0;
    let j = 0;
    while (i < a.length || j < b.length) {
        if (i < a.length && j < b.length && a[i] === b[j]) {
            lines.push(`  ${a[i++]}`);
            j++;
        } else if (i < a.length && (j >= b.length || table[i + 1][j] >= table[i][j + 1])) {
            lines.push(`+ ${a[i++]}`);
        } else {
            lines.push(`- ${b[j++]}`);
        }
    }
    return lines;
}

function difference(actual, expected, operator) {
    const shownActual = show(actual);
    const shownExpected = show(expected);
    const isPlain = !shownActual.includes("\n") && !shownExpected.includes("\n");
    if (isPlain && shownActual !== shownExpected && (!isObject(actual) || !isObject(expected)) &&
        shownActual.length + shownExpected.length <= 80 && (actual !== 0 || expected !== 0)) {
        return `${HEADS[operator]}\n\n${shownActual} !== ${shownExpected}\n`;
    }
    let head = HEADS[operator];
    if (operator === "strictEqual" && isObject(actual) && isObject(expected)) {
        head = HEADS.strictEqualObject;
    }
    if (shownActual === shownExpected) {
        return `${operator === "strictEqual" || operator === "deepStrictEqual" ? HEADS.notIdentical : head}` +
            `\n\n${shownActual}\n`;
    }
    const lines = diffLines(shownActual.split("\n"), shownExpected.split("\n"));
    const cut = lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX), "..."] : lines;
    return `${head}\n+ actual - expected\n\n${cut.join("\n")}`;
}

function notMessage(actual, operator) {
    let head = HEADS[operator];
    if (operator === "notStrictEqual" && isObject(actual)) {
        head = HEADS.notStrictEqualObject;
    }
    const lines = show(actual).split("\n");
    const cut = lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX - 1), "..."] : lines;
    return cut.length === 1 ? `${head}${cut[0].length > 5 ? "\n\n" : " "}${cut[0]}`
        : `${head}\n\n${cut.join("\n")}\n`;
}

function messageFor(actual, expected, operator) {
    if (operator === "deepStrictEqual" || operator === "strictEqual") {
        return difference(actual, expected, operator);
    }
    if (operator.startsWith("not") && HEADS[operator] !== undefined) {
        return notMessage(actual, operator);
    }
    if (operator === "deepEqual") {
        return `${HEADS.deepEqual}\n\n${show(actual)}\n\nshould loosely deep-equal\n\n${show(expected)}`;
    }
    const left = vial.inspect(actual, { customInspect: false });
    const right = vial.inspect(expected, { customInspect: false });
    return `${left} ${operator} ${right}`;
}

class AssertionError extends Error {
    constructor(options) {
        if (options === null || typeof options !== "object") {
            throw invalidArgType("options", "Object", options);
        }
        const { message, actual, expected, operator, stackStartFn } = options;
        super(message === undefined ? messageFor(actual, expected, operator) : String(message));
        Object.defineProperty(this, "name", { value: "AssertionError", enumerable: false, writable: true,
            configurable: true });
        this.generatedMessage = message === undefined;
        this.code = "ERR_ASSERTION";
        this.actual = actual;
        this.expected = expected;
        this.operator = operator;
        Error.captureStackTrace?.(this, stackStartFn);
    }

    toString() {
        return `${this.name} [${this.code}]: ${this.message}`;
    }
}

function fail(actual, expected, message, operator, stackStartFn) {
    if (message instanceof Error) {
        throw message;
    }
    throw new AssertionError({ actual, expected, message, operator, stackStartFn });
}

function needTwo(count) {
    if (count < 2) {
        throw makeError(TypeError, "ERR_MISSING_ARGS",
            'The "actual" and "expected" arguments must be specified');
    }
}

function check(value, message, count, operator, stackStartFn) {
    if (value) {
        return;
    }
    let text = message;
    if (count === 0) {
        text = "No value argument passed to `assert.ok()`";
    } else if (message === undefined) {
        text = "The expression evaluated to a falsy value";
    }
    if (text instanceof Error) {
        throw text;
    }
    const error = new AssertionError({ actual: value, expected: true, message: text, operator, stackStartFn });
    error.generatedMessage = message === undefined;
    throw error;
}

function assert(...args) {
    check(args[0], args[1], args.length, "==", assert);
}

function ok(...args) {
    check(args[0], args[1], args.length, "==", ok);
}

/* Two values and whether their being alike is wanted. */
function comparison(name, operator, isAlike, wanted) {
    const fn = { [name](actual, expected, message = undefined) {
        needTwo(arguments.length);
        if (isAlike(actual, expected) !== wanted) {
            fail(actual, expected, message, operator, fn);
        }
    } }[name];
    return fn;
}

const looseEqual = (a, b) => a == b || Number.isNaN(a) && Number.isNaN(b);
const deepLoose = (a, b) => isDeepEqual(a, b, false);
const deepStrict = (a, b) => isDeepEqual(a, b, true);

/* Does what was thrown fit a class, a pattern, a description or a function? */
function matches(error, expected, message, stackStartFn) {
    if (typeof expected === "function") {
        if (expected.prototype !== undefined && error instanceof expected) {
            return;
        }
        if (Error.isPrototypeOf(expected) || expected === Error) {
            const text = message ?? "The error is expected to be an instance of " +
                `"${expected.name}". Received "${error?.constructor?.name ?? vial.inspect(error)}"\n\n` +
                `Error message:\n\n${error?.message ?? vial.inspect(error)}`;
            fail(error, expected, text, stackStartFn.name, stackStartFn);
        }
        if (Reflect.apply(expected, {}, [error]) !== true) {
            const name = expected.name ? `"${expected.name}" ` : "";
            fail(error, expected, message ?? `The ${name}validation function is expected to return "true". ` +
                `Received false\n\nCaught error:\n\n${vial.inspect(error)}`, stackStartFn.name, stackStartFn);
        }
        return;
    }
    if (expected instanceof RegExp) {
        if (!expected.test(String(error))) {
            fail(error, expected, message ?? "The input did not match the regular expression " +
                `${vial.inspect(expected)}. Input:\n\n${vial.inspect(String(error))}\n`,
            stackStartFn.name, stackStartFn);
        }
        return;
    }
    matchesObject(error, expected, message, stackStartFn);
}

function matchesObject(error, expected, message, stackStartFn) {
    if (!isObject(error)) {
        fail(error, expected, message, "deepStrictEqual", stackStartFn);
    }
    const keys = Object.keys(expected);
    if (expected instanceof Error) {
        keys.push("name", "message");
    } else if (keys.length === 0) {
        throw invalidArgValue("error", expected, "may not be an empty object");
    }
    for (const key of keys) {
        const isMatch = typeof error[key] === "string" && expected[key] instanceof RegExp
            ? expected[key].test(error[key]) : key in error && deepStrict(error[key], expected[key]);
        if (!isMatch) {
            const picked = (source) => Object.fromEntries(keys.filter((one) => one in source)
                .map((one) => [one, source[one]]));
            fail(error, expected, message ?? difference(picked(error), picked(expected), "deepStrictEqual"),
                stackStartFn.name, stackStartFn);
        }
    }
}

function expectThrown(thrown, args, stackStartFn, noun) {
    let [expected, message] = args;
    if (typeof expected === "string") {
        if (args.length > 1) {
            throw invalidArgType("error", ["Object", "Error", "function", "RegExp"], expected);
        }
        message = expected;
        expected = undefined;
    } else if (expected !== undefined && expected !== null && typeof expected !== "object" &&
        typeof expected !== "function") {
        throw invalidArgType("error", ["Object", "Error", "function", "RegExp"], expected);
    }
    if (thrown === undefined) {
        const kind = expected?.name ? ` (${expected.name})` : "";
        const tail = message === undefined ? "." : `: ${message}`;
        fail(undefined, expected, `Missing expected ${noun}${kind}${tail}`, stackStartFn.name, stackStartFn);
    }
    if (expected !== undefined && expected !== null) {
        matches(thrown.error, expected, message, stackStartFn);
    }
}

function expectNothing(thrown, args, stackStartFn, noun) {
    if (thrown === undefined) {
        return;
    }
    const [expected, message] = typeof args[0] === "string" ? [undefined, args[0]] : args;
    const isIt = expected === undefined || typeof expected === "function" && thrown.error instanceof expected ||
        expected instanceof RegExp && expected.test(String(thrown.error));
    if (!isIt) {
        throw thrown.error;
    }
    fail(thrown.error, expected, `Got unwanted ${noun}${message === undefined ? "." : `: ${message}`}\n` +
        `Actual message: "${thrown.error?.message}"`, stackStartFn.name, stackStartFn);
}

function catchThrown(callback) {
    checkFunction(callback, "fn");
    try {
        callback();
    } catch (error) {
        return { error };
    }
    return undefined;
}

async function catchRejected(promiseOrFunction) {
    let promise = promiseOrFunction;
    if (typeof promise === "function") {
        promise = promise();
        if (typeof promise?.then !== "function") {
            throw makeError(TypeError, "ERR_INVALID_RETURN_VALUE", "Expected instance of Promise to be " +
                `returned from the "promiseFn" function but got ${promise === undefined ? "undefined"
                    : `type ${typeof promise}`}.`);
        }
    } else if (typeof promise?.then !== "function") {
        throw invalidArgType("promiseFn", ["function", "Promise"], promise);
    }
    try {
        await promise;
    } catch (error) {
        return { error };
    }
    return undefined;
}

function matchText(text, pattern, message, isWanted, stackStartFn) {
    if (!(pattern instanceof RegExp)) {
        throw invalidArgType("regexp", "RegExp", pattern);
    }
    if (typeof text === "string" && pattern.test(text) === isWanted) {
        return;
    }
    const reason = typeof text !== "string"
        ? `The "string" argument must be of type string. Received type ${typeof text} (${vial.inspect(text)})`
        : `The input ${isWanted ? "did not match" : "was expected to not match"} the regular expression ` +
            `${vial.inspect(pattern)}. Input:\n\n${vial.inspect(text)}\n`;
    fail(text, pattern, message ?? reason, stackStartFn.name, stackStartFn);
}

Object.assign(assert, {
    AssertionError,
    ok,
    equal: comparison("equal", "==", looseEqual, true),
    notEqual: comparison("notEqual", "!=", looseEqual, false),
    deepEqual: comparison("deepEqual", "deepEqual", deepLoose, true),
    notDeepEqual: comparison("notDeepEqual", "notDeepEqual", deepLoose, false),
    strictEqual: comparison("strictEqual", "strictEqual", Object.is, true),
    notStrictEqual: comparison("notStrictEqual", "notStrictEqual", Object.is, false),
    deepStrictEqual: comparison("deepStrictEqual", "deepStrictEqual", deepStrict, true),
    notDeepStrictEqual: comparison("notDeepStrictEqual", "notDeepStrictEqual", deepStrict, false),
    fail(message = "Failed") {
        if (message instanceof Error) {
            throw message;
        }
        throw new AssertionError({ message, operator: "fail", stackStartFn: assert.fail });
    },
    throws(callback, ...args) {
        expectThrown(catchThrown(callback), args, assert.throws, "exception");
    },
    doesNotThrow(callback, ...args) {
        expectNothing(catchThrown(callback), args, assert.doesNotThrow, "exception");
    },
    async rejects(promise, ...args) {
        expectThrown(await catchRejected(promise), args, assert.rejects, "rejection");
    },
    async doesNotReject(promise, ...args) {
        expectNothing(await catchRejected(promise), args, assert.doesNotReject, "rejection");
    },
    ifError(value) {
        if (value === null || value === undefined) {
            return;
        }
        const text = value instanceof Error && value.message !== "" ? value.message
            : value instanceof Error ? value.constructor.name : vial.inspect(value);
        throw new AssertionError({ actual: value, expected: null, operator: "ifError",
            message: `ifError got unwanted exception: ${text}`, stackStartFn: assert.ifError });
    },
    match(text, pattern, message = undefined) {
        matchText(text, pattern, message, true, assert.match);
    },
    doesNotMatch(text, pattern, message = undefined) {
        matchText(text, pattern, message, false, assert.doesNotMatch);
    },
});

function strict(...args) {
    check(args[0], args[1], args.length, "==", strict);
}
assert.strict = Object.assign(strict, assert, {
    equal: assert.strictEqual, notEqual: assert.notStrictEqual, deepEqual: assert.deepStrictEqual,
    notDeepEqual: assert.notDeepStrictEqual,
});
assert.strict.strict = assert.strict;
module.exports = assert;
