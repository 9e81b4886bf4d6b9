/* inspect.js - renders any value as text, the way Node 20's util.inspect does.
 *
 * Models know Node's notation from countless transcripts, so output that looks like it is
 * understood at once. The layout rules (when an object fits on one line, how long arrays become
 * columns) follow Node's observable behaviour; the walk differs in that it never runs a getter or a
 * proxy trap, and in that its depth and its length have hard limits. What a container holds is
 * formatted in inspect_containers.js. */

/* One rendering may not take more than this many UTF-16 units: console.log(huge) must not turn into
 * minutes of work or hundreds of megabytes. */
const INSPECT_UNITS_MAX = 1 << 20;

/* Nesting that is followed even when `depth: null` asks for all of it: the walk recurses. */
const INSPECT_DEPTH_MAX = 200;

/* Named properties of an array are found by listing all its keys, elements included. Beyond this
 * length that costs more than the names are worth. */
const ARRAY_KEYS_SCAN_MAX = 100000;

const REVOKED_PROXY = "<Revoked Proxy>";

/* How an entry is written: "name: value", or the value alone. */
const ENTRY_NAMED = 0;
const ENTRY_BARE = 1;

function makeContext() {
    return {
        __proto__: null,
        breakLength: 80,
        compact: 3,
        customInspect: true,
        depth: 2,
        maxArrayLength: 100,
        maxStringLength: 10000,
        showHidden: false,
        budget: INSPECT_UNITS_MAX,
        circular: undefined,
        currentDepth: 0,
        customCalls: 0,
        indentation: 0,
        seen: makeList(),
    };
}

/* Takes over the options a guest gave to console.dir or inspect, each only if it is of use. */
function applyOptions(ctx, options) {
    const source = isObject(options) ? unwrapProxy(options) : undefined;
    if (source === undefined) {
        return;
    }
    ctx.depth = countOption(chainData(source, "depth"), ctx.depth, INSPECT_DEPTH_MAX);
    ctx.maxArrayLength = countOption(chainData(source, "maxArrayLength"), ctx.maxArrayLength,
        INSPECT_UNITS_MAX);
    ctx.maxStringLength = countOption(chainData(source, "maxStringLength"), ctx.maxStringLength,
        INSPECT_UNITS_MAX);
    ctx.breakLength = countOption(chainData(source, "breakLength"), ctx.breakLength,
        INSPECT_UNITS_MAX);
    const compact = chainData(source, "compact");
    if (typeof compact === "number" || typeof compact === "boolean") {
        ctx.compact = compact === true ? 3 : +compact;
    }
    const showHidden = chainData(source, "showHidden");
    ctx.showHidden = showHidden === undefined ? ctx.showHidden : !!showHidden;
    const customInspect = chainData(source, "customInspect");
    ctx.customInspect = customInspect === undefined ? ctx.customInspect : !!customInspect;
}

function countOption(value, fallback, limit) {
    if (value === null) {
        return limit;
    }
    return typeof value === "number" && value === value ? min(value, limit) : fallback;
}

function inspectWith(ctx, value) {
    return cutText(formatValue(ctx, value, 0), INSPECT_UNITS_MAX);
}

/* The text of one value with the default options, as console.log shows an object. */
function inspectValue(value) {
    return inspectWith(makeContext(), value);
}

/* The `inspect` that a guest's own inspect method receives as its third argument. */
const guestInspect = {
    inspect(value, options) {
        const ctx = makeContext();
        applyOptions(ctx, options);
        return inspectWith(ctx, value);
    },
}.inspect;
defineHidden(guestInspect, "custom", symbolInspect);

/* level counts the objects around value; 0 is the value that was asked for. */
function formatValue(ctx, value, level) {
    if (!isObject(value)) {
        const text = formatPrimitive(ctx, value);
        ctx.budget -= text.length;
        return text;
    }
    ctx.budget -= 1;
    if (ctx.budget < 0) {
        return "...";
    }
    const target = unwrapProxy(value);
    if (target === undefined) {
        return REVOKED_PROXY;
    }
    if (ctx.customInspect) {
        const custom = chainData(target, symbolInspect);
        if (typeof custom === "function" && custom !== guestInspect) {
            const text = formatCustom(ctx, value, custom, level);
            if (text !== undefined) {
                return text;
            }
        }
    }
    for (let i = 0; i < ctx.seen.length; i++) {
        if (ctx.seen[i] === target) {
            return `[Circular *${circularIndex(ctx, target)}]`;
        }
    }
    return formatObject(ctx, target, level);
}

function circularIndex(ctx, target) {
    if (ctx.circular === undefined) {
        ctx.circular = new MapClass();
    }
    let index = mapGet(ctx.circular, target);
    if (index === undefined) {
        index = mapSize(ctx.circular) + 1;
        mapSet(ctx.circular, target, index);
    }
    return index;
}

/* Asks the guest's own method; undefined when it returns the object itself, which means "print me
 * as usual". What it throws is shown instead of thrown: printing must not fail. */
function formatCustom(ctx, value, custom, level) {
    if (ctx.customCalls >= INSPECT_DEPTH_MAX) {
        return undefined;
    }
    ctx.customCalls++;
    const { indentation } = ctx;
    const seenCount = ctx.seen.length;
    const options = {
        breakLength: ctx.breakLength, colors: false, compact: ctx.compact,
        customInspect: ctx.customInspect, depth: ctx.depth - level,
        maxArrayLength: ctx.maxArrayLength, maxStringLength: ctx.maxStringLength,
        showHidden: ctx.showHidden, stylize: (text) => `${text}`,
    };
    let text;
    try {
        const shown = apply(custom, value, [ctx.depth - level, options, guestInspect]);
        if (shown === value) {
            text = undefined;
        } else if (isObject(shown)) {
            text = formatValue(ctx, shown, level);
        } else {
            text = typeof shown === "symbol" ? symbolToString(shown) : `${shown}`;
        }
    } catch (error) {
        ctx.indentation = indentation;
        ctx.seen.length = seenCount;
        text = `[inspect failed: ${errorHeadline(error)}]`;
    }
    ctx.customCalls--;
    if (text !== undefined) {
        ctx.budget -= text.length;
        text = indentLines(text, ctx.indentation);
    }
    return text;
}

/* Everything between the braces, and the braces. */
function formatObject(ctx, value, level) {
    const kind = kindOf(value);
    const name = constructorName(ctx, value, level);
    const shape = describeShape(ctx, value, kind, name, tagOf(ctx, value));
    if (shape.whole !== undefined) {
        ctx.budget -= shape.whole.length;
        return shape.whole;
    }
    if (level > ctx.depth) {
        return shape.label[0] === "[" ? shape.label : `[${shape.label}]`;
    }
    level++;
    ctx.seen[ctx.seen.length] = value;
    ctx.currentDepth = level;
    const entries = makeList();
    if (shape.fill !== undefined) {
        shape.fill(ctx, value, level, entries);
    }
    for (let i = 0; i < shape.keys.length; i++) {
        if (ctx.budget < 0) {
            entries[entries.length] = `... ${shape.keys.length - i} more properties`;
            break;
        }
        entries[entries.length] = formatProperty(ctx, value, level, shape.keys[i], ENTRY_NAMED);
    }
    ctx.seen.length--;
    let base = shape.base;
    if (ctx.circular !== undefined) {
        const index = mapGet(ctx.circular, value);
        if (index !== undefined) {
            base = base === "" ? `<ref *${index}>` : `<ref *${index}> ${base}`;
        }
    }
    return layOut(ctx, entries, base, shape, level, value);
}

/* A member of a module that can still change; asking for it runs none of the guest's code. */
function formatExport(ctx, namespace, key, level) {
    try {
        return formatValue(ctx, namespace[key], level);
    } catch {
        return "<uninitialized>";
    }
}

function formatProperty(ctx, object, level, key, style) {
    const descriptor = getOwnPropertyDescriptor(object, key);
    let text;
    ctx.budget -= ctx.indentation + 4;
    if (descriptor === undefined) {
        text = "undefined";
    } else if (hasOwn(descriptor, "value")) {
        ctx.indentation += 2;
        text = formatValue(ctx, descriptor.value, level);
        ctx.indentation -= 2;
    } else if (descriptor.get !== undefined && isNamespace(object)) {
        text = formatExport(ctx, object, key, level);
    } else if (descriptor.get !== undefined) {
        text = descriptor.set !== undefined ? "[Getter/Setter]" : "[Getter]";
    } else {
        text = descriptor.set !== undefined ? "[Setter]" : "undefined";
    }
    if (style === ENTRY_BARE) {
        return text;
    }
    const name = formatKey(key, descriptor === undefined || descriptor.enumerable);
    ctx.budget -= name.length;
    return `${name}: ${text}`;
}

function formatKey(key, enumerable) {
    if (typeof key === "symbol") {
        return `[${escapeControls(symbolToString(key), 0)}]`;
    }
    if (key === "__proto__") {
        return "['__proto__']";
    }
    if (!enumerable) {
        return `[${escapeControls(key, 0)}]`;
    }
    return isIdentifier(key) ? key : quote(key);
}

/* Node quotes keys with letters beyond ASCII and with a dollar sign; so do we. */
function isIdentifier(text) {
    for (let i = 0; i < text.length; i++) {
        const code = charCodeAt(text, i) | 0;
        const letter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
        if (!letter && !(i > 0 && code >= 48 && code <= 57)) {
            return false;
        }
    }
    return text !== "";
}

function formatPrimitive(ctx, value) {
    switch (typeof value) {
    case "string":
        return formatString(ctx, value);
    case "number":
        return formatNumber(value);
    case "bigint":
        return `${value}n`;
    case "symbol":
        return symbolToString(value);
    default:
        return `${value}`;
    }
}

function formatNumber(value) {
    return value === 0 && 1 / value < 0 ? "-0" : `${value}`;
}

/* Long text with line breaks is written as one quoted piece per line, joined by plus signs. */
function formatString(ctx, value) {
    const limit = max(0, min(ctx.maxStringLength, ctx.budget));
    let trailer = "";
    if (value.length > limit) {
        trailer = `... ${plural(value.length - limit, "more character")}`;
        value = stringSlice(value, 0, limit);
    }
    if (value.length <= 16 || value.length <= ctx.breakLength - ctx.indentation - 4) {
        return quote(value) + trailer;
    }
    const pieces = makeList();
    let start = 0;
    while (start < value.length) {
        const newline = stringIndexOf(value, "\n", start);
        const end = newline === -1 ? value.length : newline + 1;
        pieces[pieces.length] = quote(stringSlice(value, start, end));
        start = end;
    }
    return arrayJoin(pieces, ` +\n${stringRepeat(" ", ctx.indentation + 2)}`) + trailer;
}

/* Single quotes, unless the text has some and can do without double quotes or backticks. */
function quote(text) {
    let mark = "'";
    if (stringIncludes(text, "'")) {
        if (!stringIncludes(text, '"')) {
            mark = '"';
        } else if (!stringIncludes(text, "`") && !stringIncludes(text, "${")) {
            mark = "`";
        }
    }
    return mark + escapeControls(text, mark === "'" ? 39 : 0) + mark;
}

const shortEscapes = {
    __proto__: null, 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 39: "\\'", 92: "\\\\",
};

/* Replaces what would disturb a terminal or cannot be encoded: control characters, halves of
 * surrogate pairs, backslashes, and the quote mark with the given code. */
function escapeControls(text, markCode) {
    let out = "";
    let start = 0;
    for (let i = 0; i < text.length; i++) {
        const code = charCodeAt(text, i) | 0;
        const plain = (code >= 32 && code < 127 && code !== 92 && code !== markCode) ||
            (code >= 160 && (code < 0xd800 || code > 0xdfff));
        if (plain) {
            continue;
        }
        if (code >= 0xd800 && code <= 0xdbff && i + 1 < text.length) {
            const next = charCodeAt(text, i + 1) | 0;
            if (next >= 0xdc00 && next <= 0xdfff) {
                i++;
                continue;
            }
        }
        const short = shortEscapes[code];
        const hex = numberToString(code, 16);
        out += stringSlice(text, start, i);
        if (short !== undefined) {
            out += short;
        } else {
            out += code > 255 ? `\\u${hex}` : hexEscape(code);
        }
        start = i + 1;
    }
    return start === 0 ? text : out + stringSlice(text, start);
}

const HEX_DIGITS = "0123456789ABCDEF";

function hexEscape(code) {
    return `\\x${HEX_DIGITS[code >> 4]}${HEX_DIGITS[code & 15]}`;
}

function indentLines(text, columns) {
    if (columns === 0 || !stringIncludes(text, "\n")) {
        return text;
    }
    const pieces = makeList();
    let start = 0;
    for (;;) {
        const newline = stringIndexOf(text, "\n", start);
        if (newline === -1) {
            break;
        }
        pieces[pieces.length] = stringSlice(text, start, newline);
        start = newline + 1;
    }
    pieces[pieces.length] = stringSlice(text, start);
    return arrayJoin(pieces, `\n${stringRepeat(" ", columns)}`);
}

/* Puts entries on one line when they are short and hold at most three levels of nesting, else one
 * to a line; long arrays of short elements become columns. */
function layOut(ctx, entries, base, shape, level, value) {
    const head = base === "" ? shape.open : `${base} ${shape.open}`;
    const count = entries.length;
    if (shape.isList && count > 6 && ctx.compact >= 1) {
        entries = groupEntries(ctx, entries, value);
    }
    if (ctx.currentDepth - level < ctx.compact && count === entries.length) {
        let width = 2 * count + ctx.indentation + shape.open.length + base.length + 10;
        for (let i = 0; i < count && width <= ctx.breakLength; i++) {
            width += entries[i].length;
        }
        if (width <= ctx.breakLength && !stringIncludes(base, "\n")) {
            const joined = arrayJoin(entries, ", ");
            if (!stringIncludes(joined, "\n")) {
                return `${head} ${joined} ${shape.close}`;
            }
        }
    }
    const newline = `\n${stringRepeat(" ", ctx.indentation)}`;
    return `${head}${newline}  ${arrayJoin(entries, `,${newline}  `)}${newline}${shape.close}`;
}

/* Arranges the elements of an array in columns. The constants are Node's, so that the same array
 * gets the same number of columns here: a taste for squarish blocks, and never more than 15. */
function groupEntries(ctx, entries, value) {
    const hasMore = ctx.maxArrayLength < entries.length;
    const count = hasMore ? entries.length - 1 : entries.length;
    const widths = makeList();
    let total = 0;
    let widest = 0;
    for (let i = 0; i < count; i++) {
        widths[i] = textWidth(entries[i]);
        total += widths[i] + 2;
        widest = max(widest, widths[i]);
    }
    const cell = widest + 2;
    if (cell * 3 + ctx.indentation >= ctx.breakLength || (total / cell <= 5 && widest > 6)) {
        return entries;
    }
    const biased = max(cell - 3 - sqrt(cell - total / entries.length), 1);
    const columns = min(round(sqrt(2.5 * biased * count) / biased),
        floor((ctx.breakLength - ctx.indentation) / cell), ctx.compact * 4, 15);
    if (columns <= 1) {
        return entries;
    }
    return gridRows(entries, widths, count, columns, hasMore, onlyNumbers(value, entries.length));
}

function gridRows(entries, widths, count, columns, hasMore, alignRight) {
    const columnWidths = makeList();
    for (let column = 0; column < columns; column++) {
        columnWidths[column] = 0;
        for (let i = column; i < count; i += columns) {
            columnWidths[column] = max(columnWidths[column], widths[i]);
        }
    }
    const rows = makeList();
    for (let first = 0; first < count; first += columns) {
        const last = min(first + columns, count) - 1;
        let row = "";
        for (let i = first; i <= last; i++) {
            const gap = stringRepeat(" ", columnWidths[i - first] - widths[i]);
            if (alignRight) {
                row += gap + entries[i] + (i < last ? ", " : "");
            } else {
                row += entries[i] + (i < last ? `, ${gap}` : "");
            }
        }
        rows[rows.length] = row;
    }
    if (hasMore) {
        rows[rows.length] = entries[count];
    }
    return rows;
}

function onlyNumbers(value, count) {
    if (typedArrayName(value) !== undefined) {
        return count <= typedArrayLength(value);
    }
    for (let i = 0; i < count; i++) {
        const type = typeof ownData(value, i);
        if (type !== "number" && type !== "bigint") {
            return false;
        }
    }
    return true;
}

/* Terminal columns of a text: two for East Asian wide characters and emoji, none for marks that
 * combine with the character before them. */
function textWidth(text) {
    let width = 0;
    for (let i = 0; i < text.length; i++) {
        const code = charCodeAt(text, i) | 0;
        if (code < 0x300) {
            width += code >= 32 && (code < 127 || code >= 160) ? 1 : 0;
        } else if (code >= 0xd800 && code <= 0xdbff) {
            i++;
            width += 2;
        } else if ((code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) ||
            (code >= 0x20d0 && code <= 0x20ff) || (code >= 0xfe00 && code <= 0xfe0f)) {
            width += 0;
        } else {
            width += isWide(code) ? 2 : 1;
        }
    }
    return width;
}

function isWide(code) {
    return (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
        (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
        (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
        (code >= 0xffe0 && code <= 0xffe6);
}
