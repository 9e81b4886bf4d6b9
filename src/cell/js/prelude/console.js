/* console.js - the guest's console: what it prints, where, and how it is laid out.
 *
 * Every method is an arrow or a method that does not look at `this`, so `const { log } = console`
 * works. Text leaves through print() only; counters, timers and groups belong to one run and are
 * forgotten by resetConsole(). */

const STDOUT = 1;
const STDERR = 2;

/* Deeper groups are indented no further: a guest that opens groups in a loop must not make every
 * later line longer and longer. */
const GROUP_COLUMNS_MAX = 200;

/* While the template warms up, everything is done but the writing itself. */
let muted = false;
let groupColumns = 0;
let counters = new MapClass();
let stopwatches = new MapClass();

function resetConsole() {
    groupColumns = 0;
    counters = new MapClass();
    stopwatches = new MapClass();
}

function print(stream, text) {
    const columns = min(groupColumns, GROUP_COLUMNS_MAX);
    if (columns > 0) {
        text = stringRepeat(" ", columns) + indentLines(text, columns);
    }
    if (!muted) {
        nativeWrite(stream, `${text}\n`);
    }
}

/* Joins arguments as console.log does: a first string may hold printf-like directives, strings are
 * printed as they are, everything else is inspected. */
function formatArguments(args) {
    let text = "";
    let next = 0;
    if (args.length > 0 && typeof args[0] === "string") {
        next = 1;
        text = args[0];
        if (args.length > 1 && stringIncludes(text, "%")) {
            const filled = fillDirectives(text, args);
            text = filled.text;
            next = filled.next;
        }
    }
    for (let i = next; i < args.length; i++) {
        text += i > 0 ? " " : "";
        text += typeof args[i] === "string" ? args[i] : inspectValue(args[i]);
    }
    return text;
}

function fillDirectives(format, args) {
    let text = "";
    let start = 0;
    let next = 1;
    for (let i = 0; i < format.length - 1; i++) {
        if (format[i] !== "%") {
            continue;
        }
        const letter = format[i + 1];
        let shown;
        if (letter === "%") {
            shown = "%";
        } else if (next < args.length && directives[letter] !== undefined) {
            shown = directives[letter](args[next]);
            next++;
        } else {
            continue;
        }
        text += stringSlice(format, start, i) + shown;
        i++;
        start = i + 1;
    }
    return { __proto__: null, text: text + stringSlice(format, start), next };
}

const directives = {
    __proto__: null,
    c: () => "",
    d: (value) => formatDirectiveNumber(value, NumberClass),
    f: (value) => typeof value === "symbol" ? "NaN" : formatNumber(parseFloatCopy(value)),
    i: (value) => formatDirectiveNumber(value, parseIntCopy),
    j: formatDirectiveJson,
    o: (value) => {
        const ctx = makeContext();
        ctx.showHidden = true;
        ctx.depth = 4;
        return inspectWith(ctx, value);
    },
    O: inspectValue,
    s: formatDirectiveString,
};

function formatDirectiveNumber(value, convert) {
    if (typeof value === "bigint") {
        return `${value}n`;
    }
    return typeof value === "symbol" ? "NaN" : formatNumber(convert(value));
}

function formatDirectiveJson(value) {
    try {
        return `${jsonStringify(value)}`;
    } catch (error) {
        if (stringIncludes(errorHeadline(error), "cyclic")) {
            return "[Circular]";
        }
        throw error;
    }
}

/* Objects with a toString of their own are asked, all others inspected one level deep. */
function formatDirectiveString(value) {
    if (typeof value === "number") {
        return formatNumber(value);
    }
    if (typeof value === "bigint") {
        return `${value}n`;
    }
    if (typeof value !== "object" || value === null || !hasBuiltinToString(value)) {
        return StringClass(value);
    }
    const ctx = makeContext();
    ctx.depth = 0;
    return inspectWith(ctx, value);
}

function hasBuiltinToString(value) {
    let object = unwrapProxy(value);
    if (object !== value) {
        return true;
    }
    for (let steps = 0; object !== null && steps < CHAIN_STEPS_MAX; steps++) {
        if (hasOwn(object, "toString")) {
            return object === ObjectPrototype || mapGet(builtinPrototypes, object) !== undefined;
        }
        object = protoOf(object);
    }
    return true;
}

function warn(text) {
    print(STDERR, `Warning: ${text}`);
}

/* Labels are strings; a symbol or an object without a usable toString throws, as in Node. */
function labelOf(value) {
    return value === undefined ? "default" : StringClass(value);
}

function stopwatchText(label, caller) {
    const started = mapGet(stopwatches, label);
    if (started === undefined) {
        warn(`No such label '${label}' for console.${caller}()`);
        return undefined;
    }
    return `${label}: ${durationText(coarseNow() - started)}`;
}

function durationText(ms) {
    if (ms < 1000) {
        return `${+numberToFixed(ms, 3)}ms`;
    }
    if (ms < 60000) {
        return `${numberToFixed(ms / 1000, 3)}s`;
    }
    const seconds = floor(ms / 1000);
    const tail = stringPadStart(`${seconds % 60}`, 2);
    return `${floor(seconds / 60)}:${tail[0] === " " ? `0${tail[1]}` : tail} (m:ss)`;
}

function printStopwatch(label, caller, args) {
    const text = stopwatchText(label, caller);
    if (text === undefined) {
        return;
    }
    const shown = makeList();
    shown[0] = text;
    for (let i = 0; i < args.length; i++) {
        shown[i + 1] = typeof args[i] === "string" ? args[i] : inspectValue(args[i]);
    }
    print(STDOUT, arrayJoin(shown, " "));
}

/* A cell of console.table: one level deep, on one line. */
function tableCell(value) {
    const ctx = makeContext();
    const target = isObject(value) ? unwrapProxy(value) : undefined;
    const large = typeof target === "object" && !isArray(target) && objectKeys(target).length > 2;
    ctx.depth = large ? -1 : 0;
    ctx.maxArrayLength = 3;
    ctx.breakLength = INSPECT_UNITS_MAX;
    return inspectWith(ctx, value);
}

function tableLine(cells, widths, left, middle, right) {
    const padded = makeList();
    for (let i = 0; i < widths.length; i++) {
        const cell = cells === null ? stringRepeat("─", widths[i]) : cells[i] || "";
        const gap = cells === null ? 0 : widths[i] - 2 - textWidth(cell);
        padded[i] = cells === null ? cell : ` ${cell}${stringRepeat(" ", gap)} `;
    }
    return left + arrayJoin(padded, middle) + right;
}

/* columns is a list of lists of cells; the first list has one cell for each row. */
function renderTable(heads, columns) {
    const widths = makeList();
    const rowCount = columns[0].length;
    for (let c = 0; c < heads.length; c++) {
        widths[c] = textWidth(heads[c]) + 2;
        for (let r = 0; r < rowCount; r++) {
            widths[c] = max(widths[c], textWidth(columns[c][r] || "") + 2);
        }
    }
    const lines = makeList();
    lines[0] = tableLine(null, widths, "┌", "┬", "┐");
    lines[1] = tableLine(heads, widths, "│", "│", "│");
    lines[2] = tableLine(null, widths, "├", "┼", "┤");
    for (let r = 0; r < rowCount; r++) {
        const cells = makeList();
        for (let c = 0; c < heads.length; c++) {
            cells[c] = columns[c][r];
        }
        lines[lines.length] = tableLine(cells, widths, "│", "│", "│");
    }
    lines[lines.length] = tableLine(null, widths, "└", "┴", "┘");
    return arrayJoin(lines, "\n");
}

function collectionTable(data, kind) {
    const index = makeList();
    const keys = makeList();
    const values = makeList();
    const add = (value, key) => {
        index[index.length] = `${index.length}`;
        keys[keys.length] = tableCell(key);
        values[values.length] = tableCell(value);
    };
    const heads = makeList();
    const columns = makeList();
    heads[0] = "(iteration index)";
    columns[0] = index;
    if (kind === "Map") {
        mapForEach(data, add);
        heads[1] = "Key";
        columns[1] = keys;
    } else {
        setForEach(data, add);
    }
    heads[heads.length] = "Values";
    columns[columns.length] = values;
    return renderTable(heads, columns);
}

/* Rows are the properties of data; columns the properties found in any row, or the wanted ones. */
function propertyTable(data, wanted) {
    const rows = listOf(objectKeys(data));
    const byName = { __proto__: null };
    const plain = makeList();
    let hasPlain = false;
    for (let r = 0; r < rows.length; r++) {
        const item = typedArrayName(data) === undefined ? ownData(data, rows[r]) : data[rows[r]];
        const row = isObject(item) ? unwrapProxy(item) : undefined;
        if (row === undefined) {
            hasPlain = true;
            plain[r] = tableCell(item);
        }
        const names = wanted === undefined && row !== undefined ? objectKeys(row) : wanted;
        for (let i = 0; names !== undefined && i < names.length; i++) {
            const name = names[i];
            byName[name] = byName[name] === undefined ? makeList() : byName[name];
            byName[name][r] = row !== undefined && hasOwn(row, name)
                ? tableCell(ownData(row, name)) : "";
        }
    }
    const heads = makeList();
    const columns = makeList();
    heads[0] = "(index)";
    columns[0] = rows;
    const names = objectKeys(byName);
    for (let i = 0; i < names.length; i++) {
        heads[i + 1] = names[i];
        columns[i + 1] = byName[names[i]];
    }
    if (hasPlain) {
        heads[heads.length] = "Values";
        columns[columns.length] = plain;
    }
    return renderTable(heads, columns);
}

/* The columns a guest asked for, as strings; undefined when it did not ask properly. */
function wantedColumns(properties) {
    const source = isObject(properties) ? unwrapProxy(properties) : undefined;
    if (source === undefined || !isArray(source)) {
        return undefined;
    }
    const names = makeList();
    for (let i = 0; i < min(source.length, 1000); i++) {
        const name = ownData(source, i);
        names[i] = isObject(name) || typeof name === "symbol" ? inspectValue(name) : `${name}`;
    }
    return names;
}

function printTable(data, properties) {
    const target = typeof data === "object" && data !== null ? unwrapProxy(data) : undefined;
    if (target === undefined) {
        print(STDOUT, formatArguments([data]));
        return;
    }
    const kind = kindOf(target);
    print(STDOUT, kind === "Map" || kind === "Set" ? collectionTable(target, kind)
        : propertyTable(target, wantedColumns(properties)));
}

function openGroup(labels) {
    if (labels.length > 0) {
        print(STDOUT, formatArguments(labels));
    }
    groupColumns += 2;
}

const guestConsole = {
    log: (...args) => print(STDOUT, formatArguments(args)),
    warn: (...args) => print(STDERR, formatArguments(args)),
    dir: (value, options) => {
        const ctx = makeContext();
        ctx.customInspect = false;
        applyOptions(ctx, options);
        print(STDOUT, inspectWith(ctx, value));
    },
    time: (name) => {
        const label = labelOf(name);
        if (mapGet(stopwatches, label) !== undefined) {
            warn(`Label '${label}' already exists for console.time()`);
            return;
        }
        mapSet(stopwatches, label, coarseNow());
    },
    timeEnd: (name) => {
        const label = labelOf(name);
        printStopwatch(label, "timeEnd", []);
        mapDelete(stopwatches, label);
    },
    timeLog: (name, ...args) => printStopwatch(labelOf(name), "timeLog", args),
    trace: (...args) => {
        const text = args.length > 0 ? `Trace: ${formatArguments(args)}` : "Trace";
        print(STDERR, text + framesText(parseFrames(ownData(new ErrorClass(), "stack")), 0));
    },
    /* Node would print an object here as [object Object]; showing it says more. */
    assert: (condition, ...args) => {
        if (!condition) {
            const text = args.length > 0 ? `: ${formatArguments(args)}` : "";
            print(STDERR, `Assertion failed${text}`);
        }
    },
    /* There is no terminal to clear. */
    clear: () => {},
    count: (name) => {
        const label = labelOf(name);
        const count = (mapGet(counters, label) || 0) + 1;
        mapSet(counters, label, count);
        print(STDOUT, `${label}: ${count}`);
    },
    countReset: (name) => {
        const label = labelOf(name);
        if (!mapDelete(counters, label)) {
            warn(`Count for '${label}' does not exist`);
        }
    },
    group: (...labels) => openGroup(labels),
    groupEnd: () => {
        groupColumns = max(0, groupColumns - 2);
    },
    table: (data, properties) => printTable(data, properties),
    debug: (...args) => print(STDOUT, formatArguments(args)),
    info: (...args) => print(STDOUT, formatArguments(args)),
    dirxml: (...args) => print(STDOUT, formatArguments(args)),
    error: (...args) => print(STDERR, formatArguments(args)),
    groupCollapsed: (...labels) => openGroup(labels),
};
defineProperty(guestConsole, symbolTag, {
    __proto__: null, value: "console", writable: false, enumerable: false, configurable: true,
});
