/* harness.js - evaluates the cases of one group and prints an answer for each, in Node as in vial.
 *
 * The program is this text with the cases put in place of the marker, each as a function. An answer is text that
 * tells values apart which JSON would not. */
function show(value, depth = 0) {
    if (depth > 6) {
        return "...";
    }
    if (typeof value === "bigint") {
        return `${value}n`;
    }
    if (typeof value === "symbol" || typeof value === "undefined") {
        return String(value);
    }
    if (typeof value === "number") {
        return Object.is(value, -0) ? "-0" : String(value);
    }
    if (typeof value === "function") {
        return `[function ${value.name}]`;
    }
    if (typeof value !== "object" || value === null) {
        return JSON.stringify(value);
    }
    if (value instanceof Error) {
        const code = value.code === undefined ? "" : ` ${value.code}`;
        return `[${value.name}${code}: ${value.message}]`;
    }
    if (value instanceof Date) {
        return `[date ${value.toISOString()}]`;
    }
    if (value instanceof RegExp) {
        return String(value);
    }
    if (value instanceof ArrayBuffer) {
        return `[buffer ${Array.from(new Uint8Array(value)).map((x) => x.toString(16)).join(" ")}]`;
    }
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
        return `[${value.constructor.name} ${Array.from(value).join(" ")}]`;
    }
    if (value instanceof Map) {
        return `[map ${Array.from(value).map(([k, v]) => `${show(k, depth + 1)}=>${show(v, depth + 1)}`).join(", ")}]`;
    }
    if (value instanceof Set) {
        return `[set ${Array.from(value).map((v) => show(v, depth + 1)).join(", ")}]`;
    }
    if (Array.isArray(value)) {
        return `[${value.map((v) => show(v, depth + 1)).join(", ")}]`;
    }
    const members = Object.keys(value).map((key) => `${key}: ${show(value[key], depth + 1)}`);
    return `{${members.join(", ")}}`;
}

/* What was thrown: the name and the code; messages differ between versions, so a case that is about the message
 * catches it itself. */
function thrown(error) {
    return `throws ${error?.name}${error?.code === undefined ? "" : ` ${error.code}`}`;
}

async function answer(fn) {
    try {
        return show(await fn());
    } catch (error) {
        return thrown(error);
    }
}

function caught(fn) {
    try {
        fn();
    } catch (error) {
        return error.message;
    }
    return "nothing thrown";
}

/* CASES */

(async () => {
    const answers = [];
    for (const fn of cases) {
        answers.push(await answer(fn));
    }
    console.log(JSON.stringify(answers));
})();
