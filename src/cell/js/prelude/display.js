/* display.js - display(value): shows something beside the value of the program.
 *
 * What is shown goes to the host at once, as an artifact: the same thing in one or more types, of
 * which a reader takes the best. Nothing here is done before a program calls it. */

const { display: nativeDisplay } = native;

/* More rows than this are no table for a person. */
const DISPLAY_ROWS_MAX = 1000;
const DISPLAY_COLUMNS_MAX = 100;

const mimePattern = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/i;

/* The first bytes of files that say by them what they are. */
const signatures = [
    "image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    "image/jpeg", [0xff, 0xd8, 0xff],
    "image/gif", [0x47, 0x49, 0x46, 0x38],
    "application/pdf", [0x25, 0x50, 0x44, 0x46, 0x2d],
];

/* Bytes of any kind as a Uint8Array over the same memory; undefined for what is not bytes. */
function bytesOf(value) {
    const target = isObject(value) ? unwrapProxy(value) : undefined;
    switch (target === undefined ? "" : kindOf(target)) {
    case "TypedArray":
        return new Uint8ArrayClass(typedArrayBuffer(target), typedArrayByteOffset(target),
            typedArrayByteLength(target));
    case "ArrayBuffer":
        return new Uint8ArrayClass(target);
    case "DataView":
        return new Uint8ArrayClass(viewBuffer(target), viewByteOffset(target),
            viewByteLength(target));
    default:
        return undefined;
    }
}

function typeOfBytes(bytes) {
    for (let i = 0; i < signatures.length; i += 2) {
        const start = signatures[i + 1];
        let same = 0;
        while (same < start.length && bytes[same] === start[same]) {
            same++;
        }
        if (same === start.length) {
            return signatures[i];
        }
    }
    return undefined;
}

function isJsonType(mime) {
    return mime === "application/json" || stringEndsWith(mime, "+json");
}

/* What a sentence calls a value: "a number", "an object". */
function calledBy(value) {
    const type = value === null ? "null" : typeof value;
    return type === "undefined" || type === "null" ? type
        : `${type === "object" ? "an" : "a"} ${type}`;
}

function addPart(parts, mime, content) {
    parts[parts.length] = mime;
    parts[parts.length] = content;
}

/* One representation as a program gave it: text, bytes, or for JSON types any value. */
function addGiven(parts, mime, content) {
    const bytes = bytesOf(content);
    if (bytes !== undefined) {
        addPart(parts, mime, bytes);
    } else if (typeof content === "string") {
        addPart(parts, mime, content);
    } else {
        const text = isJsonType(mime) ? jsonStringify(content) : undefined;
        if (text === undefined) {
            throw new TypeErrorClass(`${mime} takes a string or bytes, not ${calledBy(content)}`);
        }
        addPart(parts, mime, text);
    }
}

function nameOf(options) {
    if (options === undefined) {
        return "";
    }
    if (!isObject(options)) {
        throw new TypeErrorClass(`the options of display are an object, such as { name: "chart" }, ` +
            `not ${calledBy(options)}`);
    }
    const { name } = options;
    if (name !== undefined && typeof name !== "string") {
        throw new TypeErrorClass(`the name of an artifact is a string, not ${calledBy(name)}`);
    }
    return name === undefined ? "" : name;
}

/* parts is a list with the place of the name in front. */
function sendParts(parts, options) {
    parts[0] = nameOf(options);
    const fault = apply(nativeDisplay, undefined, parts);
    if (fault !== undefined) {
        throw new TypeErrorClass(fault);
    }
}

function beginParts() {
    const parts = makeList();
    parts[0] = "";
    return parts;
}

/* { "image/png": bytes, "text/html": "..." }: the types of all members, or undefined. */
function bundleTypes(target) {
    const keys = objectKeys(target);
    for (let i = 0; i < keys.length; i++) {
        if (regexpExec(mimePattern, keys[i]) === null) {
            return undefined;
        }
    }
    return keys.length > 0 ? keys : undefined;
}

function addObject(parts, value) {
    const bytes = bytesOf(value);
    const type = bytes === undefined ? undefined : typeOfBytes(bytes);
    if (type !== undefined) {
        addPart(parts, type, bytes);
        return;
    }
    const target = unwrapProxy(value);
    const kind = target === undefined ? "" : kindOf(target);
    const types = kind === "Object" ? bundleTypes(target) : undefined;
    if (types !== undefined) {
        for (let i = 0; i < types.length; i++) {
            addGiven(parts, types[i], target[types[i]]);
        }
        return;
    }
    if ((kind === "Object" || kind === "Array") && isJson(value)) {
        addPart(parts, "application/json", jsonStringify(value));
    }
    addPart(parts, "text/plain", inspectValue(value));
}

function show(mime, content, options) {
    const parts = beginParts();
    addPart(parts, mime, content);
    sendParts(parts, options);
}

function showText(name, mime, text, options) {
    if (typeof text !== "string") {
        throw new TypeErrorClass(`display.${name} takes a string, not ${calledBy(text)}`);
    }
    show(mime, text, options);
}

/* ---- tables ---- */

function escapeHtml(text) {
    let escaped = "";
    let from = 0;
    for (let i = 0; i < text.length; i++) {
        const code = charCodeAt(text, i);
        const entity = code === 0x26 ? "&amp;" : code === 0x3c ? "&lt;" : code === 0x3e ? "&gt;"
            : code === 0x22 ? "&quot;" : "";
        if (entity !== "") {
            escaped += stringSlice(text, from, i) + entity;
            from = i + 1;
        }
    }
    return escaped + stringSlice(text, from);
}

function htmlCell(tag, value) {
    const text = value === undefined ? "" : typeof value === "string" ? value : inspectValue(value);
    return `<${tag}>${escapeHtml(text)}</${tag}>`;
}

/* The columns of all rows, in the order in which they first come. */
function columnsOf(rows) {
    const seen = { __proto__: null };
    for (let r = 0, count = 0; r < rows.length; r++) {
        const keys = isObject(rows[r]) ? objectKeys(rows[r]) : makeList();
        for (let i = 0; i < keys.length && count < DISPLAY_COLUMNS_MAX; i++) {
            count += seen[keys[i]] === undefined ? 1 : 0;
            seen[keys[i]] = true;
        }
    }
    return objectKeys(seen);
}

function htmlTable(rows, total) {
    const columns = columnsOf(rows);
    let html = "<table>\n<thead><tr>";
    for (let i = 0; i < columns.length; i++) {
        html += htmlCell("th", columns[i]);
    }
    html += "</tr></thead>\n<tbody>\n";
    for (let r = 0; r < rows.length; r++) {
        html += "<tr>";
        for (let i = 0; i < columns.length; i++) {
            html += htmlCell("td", isObject(rows[r]) ? ownData(rows[r], columns[i]) : undefined);
        }
        html += columns.length === 0 || !isObject(rows[r]) ? `${htmlCell("td", rows[r])}</tr>\n`
            : "</tr>\n";
    }
    html += "</tbody>\n</table>\n";
    return rows.length < total ? `${html}<p>${rows.length} of ${total} rows</p>\n` : html;
}

function showTable(data, options) {
    const target = isObject(data) ? unwrapProxy(data) : undefined;
    if (target === undefined || !isArray(target)) {
        throw new TypeErrorClass(`display.table takes an array of rows, not ${calledBy(data)}`);
    }
    const rows = setPrototypeOf([], null);
    for (let i = 0; i < min(target.length, DISPLAY_ROWS_MAX); i++) {
        const row = ownData(target, i);
        rows[i] = isObject(row) ? unwrapProxy(row) : row;
    }
    const parts = beginParts();
    addPart(parts, "text/html", htmlTable(rows, target.length));
    addPart(parts, "text/plain", propertyTable(rows, undefined) +
        (rows.length < target.length ? `\n${rows.length} of ${target.length} rows` : ""));
    sendParts(parts, options);
}

/* ---- what a program sees ---- */

const guestDisplay = {
    display(value, options) {
        const parts = beginParts();
        if (typeof value === "string") {
            addPart(parts, "text/plain", value);
        } else if (isObject(value) && typeof value !== "function") {
            addObject(parts, value);
        } else {
            addPart(parts, "text/plain", inspectValue(value));
        }
        sendParts(parts, options);
    },
}.display;

const displayMembers = {
    __proto__: null,
    html(text, options) {
        showText("html", "text/html", text, options);
    },
    svg(text, options) {
        showText("svg", "image/svg+xml", text, options);
    },
    markdown(text, options) {
        showText("markdown", "text/markdown", text, options);
    },
    png(image, options) {
        const bytes = bytesOf(image);
        if (bytes === undefined || typeOfBytes(bytes) !== "image/png") {
            throw new TypeErrorClass(`display.png takes the bytes of a PNG file, not ${
                bytes === undefined ? calledBy(image) : "other bytes"}`);
        }
        show("image/png", bytes, options);
    },
    json(value, options) {
        const text = jsonStringify(value, undefined, 2);
        if (text === undefined) {
            throw new TypeErrorClass(`display.json takes what JSON can say, not ${calledBy(value)}`);
        }
        show("application/json", text, options);
    },
    table(rows, options) {
        showTable(rows, options);
    },
};

function installDisplay() {
    const names = objectKeys(displayMembers);
    for (let i = 0; i < names.length; i++) {
        defineHidden(guestDisplay, names[i], displayMembers[names[i]]);
    }
    defineHidden(globalThis, "display", guestDisplay);
}
