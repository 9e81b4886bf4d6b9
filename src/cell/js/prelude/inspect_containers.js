/* inspect_containers.js - what inspect shows of each kind of object.
 *
 * describeShape decides from an object's nature which braces, which prefix and which properties it
 * is shown with; the fill functions write the contents that are not properties: the elements of
 * arrays, sets and maps and the bytes of buffers. */

/* The name of the class an object belongs to: the first constructor along its prototypes that it
 * really is an instance of. Null for an object without a prototype. */
function constructorName(ctx, value, level) {
    let object = value;
    for (let steps = 0; object !== null && steps < CHAIN_STEPS_MAX; steps++) {
        const builtin = object === value ? undefined : mapGet(builtinClasses, object);
        if (builtin !== undefined) {
            return builtin;
        }
        const found = ownData(object, "constructor");
        const constructor = isObject(found) ? unwrapProxy(found) : undefined;
        if (typeof constructor === "function") {
            const name = ownData(constructor, "name");
            const proto = ownData(constructor, "prototype");
            if (typeof name === "string" && name !== "" && isObject(proto) &&
                chainHas(value, proto)) {
                return name;
            }
        }
        object = protoOf(object);
    }
    const proto = protoOf(value);
    if (proto === null) {
        return null;
    }
    if (level > ctx.depth) {
        return "Object <Complex prototype>";
    }
    const inherited = constructorName(ctx, proto, level + 1);
    return `Object <${inherited === null ? "[Object: null prototype] {}" : inherited}>`;
}

/* The object's Symbol.toStringTag, unless it is listed among the properties anyway. */
function tagOf(ctx, value) {
    const tag = chainData(value, symbolTag);
    if (typeof tag !== "string" || tag === "") {
        return tagFromGetter(value);
    }
    const listed = ctx.showHidden ? hasOwn(value, symbolTag) : isEnumerable(value, symbolTag);
    return listed ? "" : tag;
}

/* Typed arrays have their tag from a getter of the engine, which is safe to ask. */
function tagFromGetter(value) {
    const name = typedArrayName(value);
    return name === undefined ? "" : name;
}

function prefixOf(name, tag, fallback, size) {
    if (name === null) {
        const own = `[${fallback}${size}: null prototype] `;
        return tag !== "" && tag !== fallback ? `${own}[${tag}] ` : own;
    }
    return tag !== "" && tag !== name ? `${name}${size} [${tag}] ` : `${name}${size} `;
}

function visibleKeys(ctx, value) {
    if (ctx.showHidden) {
        return listOf(ownKeys(value));
    }
    const keys = listOf(objectKeys(value));
    const symbols = getOwnPropertySymbols(value);
    for (let i = 0; i < symbols.length; i++) {
        if (isEnumerable(value, symbols[i])) {
            keys[keys.length] = symbols[i];
        }
    }
    return keys;
}

/* The properties of an array or typed array that are not its elements. */
function namedKeys(ctx, value, length) {
    const keys = makeList();
    if (length > ARRAY_KEYS_SCAN_MAX) {
        return keys;
    }
    const all = visibleKeys(ctx, value);
    for (let i = 0; i < all.length; i++) {
        if (typeof all[i] === "symbol" || !isIndex(all[i])) {
            keys[keys.length] = all[i];
        }
    }
    return keys;
}

function isIndex(key) {
    const number = +key;
    return number >= 0 && number < 4294967295 && floor(number) === number && `${number}` === key;
}

/* whole is the finished text for objects that need no braces; label is the name that stands for an
 * object below the depth limit. */
function makeShape(keys, prefix, open, close) {
    return {
        __proto__: null,
        base: "",
        close,
        fill: undefined,
        isList: false,
        keys,
        label: prefix === "" ? "Array" : stringSlice(prefix, 0, -1),
        open: `${prefix}${open}`,
        whole: undefined,
    };
}

function describeShape(ctx, value, kind, name, tag) {
    switch (kind) {
    case "Array":
        return arrayShape(ctx, value, name, tag);
    case "TypedArray":
        return typedArrayShape(ctx, value, name, tag);
    case "Map":
        return collectionShape(ctx, value, prefixOf(name, tag, kind, `(${mapSize(value)})`),
            mapSize(value), fillMap);
    case "Set":
        return collectionShape(ctx, value, prefixOf(name, tag, kind, `(${setSize(value)})`),
            setSize(value), fillSet);
    case "ArrayBuffer":
    case "DataView":
    case "WeakMap":
    case "WeakSet": {
        const shape = makeShape(visibleKeys(ctx, value), prefixOf(name, tag, kind, ""), "{", "}");
        shape.fill = kind === "ArrayBuffer" ? fillBuffer : fillUnknown;
        shape.fill = kind === "DataView" ? fillView : shape.fill;
        return shape;
    }
    case "BigInt":
    case "Boolean":
    case "Date":
    case "Error":
    case "Function":
    case "Number":
    case "RegExp":
    case "String":
    case "Symbol":
        return basedShape(ctx, value, kind, name, tag);
    default:
        return objectShape(ctx, value, name, tag);
    }
}

function objectShape(ctx, value, name, tag) {
    const isModule = tag === "Module" && isNamespace(value);
    let prefix = prefixOf(name, tag, isModule ? "Module" : "Object", "");
    const label = stringSlice(prefix, 0, -1);
    if (prefix === "Object ") {
        prefix = isArguments(value) ? "[Arguments] " : "";
    }
    const shape = makeShape(visibleKeys(ctx, value), prefix, "{", "}");
    shape.label = label;
    if (shape.keys.length === 0) {
        shape.whole = `${prefix}{}`;
    }
    return shape;
}

/* Object.prototype.toString tells, but it would run a guest's getter for the tag. */
function isArguments(value) {
    return protoOf(value) === ObjectPrototype && !hasOwn(value, symbolTag) &&
        !hasOwn(ObjectPrototype, symbolTag) && objectToString(value) === "[object Arguments]";
}

function arrayShape(ctx, value, name, tag) {
    const { length } = value;
    const plain = name === "Array" && tag === "";
    const prefix = plain ? "" : prefixOf(name, tag, "Array", `(${length})`);
    const shape = makeShape(namedKeys(ctx, value, length), prefix, "[", "]");
    shape.label = stringSlice(prefixOf(name, tag, "Array", ""), 0, -1);
    shape.isList = true;
    shape.fill = fillArray;
    if (length === 0 && shape.keys.length === 0) {
        shape.whole = `${prefix}[]`;
    }
    return shape;
}

function typedArrayShape(ctx, value, name, tag) {
    const length = typedArrayLength(value);
    const fallback = typedArrayName(value);
    const shape = makeShape(namedKeys(ctx, value, length),
        prefixOf(name, tag, fallback, `(${length})`), "[", "]");
    shape.label = stringSlice(prefixOf(name, tag, fallback, ""), 0, -1);
    shape.isList = true;
    shape.fill = fillTypedArray;
    if (length === 0 && shape.keys.length === 0) {
        shape.whole = `${shape.open}]`;
    }
    return shape;
}

function collectionShape(ctx, value, prefix, size, fill) {
    const shape = makeShape(visibleKeys(ctx, value), prefix, "{", "}");
    const bracket = stringIndexOf(prefix, "(", 0);
    shape.label = bracket > 0 && prefix[0] !== "[" ? stringSlice(prefix, 0, bracket) : shape.label;
    shape.fill = fill;
    if (size === 0 && shape.keys.length === 0) {
        shape.whole = `${prefix}{}`;
    }
    return shape;
}

/* Objects that are a text of their own, with braces only when they carry extra properties. */
function basedShape(ctx, value, kind, name, tag) {
    const shape = makeShape(visibleKeys(ctx, value), prefixOf(name, tag, kind, ""), "{", "}");
    shape.open = "{";
    switch (kind) {
    case "Function":
        shape.base = functionBase(value, name, tag);
        break;
    case "Error":
        shape.base = indentLines(errorBase(value, name, tag), ctx.indentation);
        shape.keys = errorKeys(value, shape.keys, shape.base);
        break;
    case "Date":
    case "RegExp":
        shape.base = kind === "Date" ? dateText(value) : regexpText(value);
        if (name !== kind || tag !== "") {
            shape.base = `${prefixOf(name, tag, kind, "")}${shape.base}`;
        }
        break;
    default:
        shape.base = boxedBase(ctx, value, kind, name, tag);
        shape.keys = kind === "String" ? charlessKeys(shape.keys) : shape.keys;
    }
    if (shape.keys.length === 0) {
        shape.whole = shape.base;
    }
    return shape;
}

function dateText(value) {
    return dateGetTime(value) !== dateGetTime(value) ? "Invalid Date" : dateToISOString(value);
}

function regexpText(value) {
    return `/${regexpSource(value)}/${flagsOf(value)}`;
}

function boxedBase(ctx, value, kind, name, tag) {
    const unbox = kindProbes[kind];
    const own = name === kind ? kind : `${kind} (${name === null ? "null prototype" : name})`;
    const label = tag !== "" && tag !== name ? ` [${tag}]` : "";
    return `[${own}${label}: ${formatPrimitive(makeContext(), unbox(value))}]`;
}

/* A String object lists its characters as properties; the base shows them already. */
function charlessKeys(keys) {
    const rest = makeList();
    for (let i = 0; i < keys.length; i++) {
        if (typeof keys[i] === "symbol" || !isIndex(keys[i])) {
            rest[rest.length] = keys[i];
        }
    }
    return rest;
}

function functionBase(value, name, tag) {
    const ownName = ownData(value, "name");
    const label = typeof ownName === "string" ? ownName : "";
    const extra = tag !== "" && tag !== name ? ` [${tag}]` : "";
    if (isClass(value)) {
        const outer = name !== "Function" && name !== null ? ` [${name}]` : "";
        const own = label === "" ? "(anonymous)" : label;
        return `[class ${own}${outer}${extra}${superText(value, name)}]`;
    }
    const proto = protoOf(value);
    const builtin = proto === null ? undefined : mapGet(builtinPrototypes, proto);
    const type = builtin === undefined || !stringEndsWith(builtin, "Function")
        ? "Function" : builtin;
    let base = `[${type}${name === null ? " (null prototype)" : ""}`;
    base += label === "" ? " (anonymous)]" : `: ${label}]`;
    base += name !== type && name !== null ? ` ${name}` : "";
    return tag === type ? base : base + extra;
}

function isClass(value) {
    const source = functionToString(value);
    if (!stringStartsWith(source, "class") || !stringEndsWith(source, "}")) {
        return false;
    }
    const next = source[5];
    return next === " " || next === "{" || next === "\n" || next === "\t" || next === "/";
}

function superText(value, name) {
    if (name === null) {
        return " extends null";
    }
    const parent = protoOf(value);
    const parentName = typeof parent === "function" ? ownData(parent, "name") : undefined;
    return typeof parentName === "string" && parentName !== "" ? ` extends ${parentName}` : "";
}

/* The headline of an error and the guest's own frames; in brackets when there are no frames. */
function errorBase(value, name, tag) {
    const stack = ownData(value, "stack");
    if (typeof stack === "string" && stack !== "" && !isEngineStack(stack)) {
        const text = cutText(stack, STACK_UNITS_MAX);
        return stringIncludes(text, "\n    at") ? text : `[${text}]`;
    }
    const message = errorMessage(value);
    const ownName = errorName(value);
    const prefix = stringSlice(prefixOf(name, tag, "Error", ""), 0, -1);
    let label = ownName;
    if (ownName !== prefix && (stringEndsWith(ownName, "Error") || name === null)) {
        label = stringIncludes(prefix, ownName) ? prefix : `${prefix} [${ownName}]`;
    }
    const head = message === "" ? label : `${label}: ${message}`;
    const frames = framesText(parseFrames(stack), 0);
    return frames === "" ? `[${head}]` : head + frames;
}

/* Of an error's properties, those that the headline does not show yet; cause and errors are not
 * enumerable but worth seeing. The engine's own notes on a SyntaxError are left out. */
function errorKeys(value, keys, base) {
    const rest = makeList();
    const isSyntax = errorName(value) === "SyntaxError";
    let hasCause = false;
    let hasErrors = false;
    for (let i = 0; i < keys.length; i++) {
        const key = keys[i];
        const data = ownData(value, key);
        if ((key === "name" || key === "message" || key === "stack") && typeof data === "string" &&
            (key === "stack" || stringIncludes(base, data))) {
            continue;
        }
        if (isSyntax && (key === "line" || key === "column" || key === "sourceURL")) {
            continue;
        }
        hasCause = hasCause || key === "cause";
        hasErrors = hasErrors || key === "errors";
        rest[rest.length] = key;
    }
    if (!hasCause && hasOwn(value, "cause")) {
        rest[rest.length] = "cause";
    }
    if (!hasErrors && isArray(ownData(value, "errors"))) {
        rest[rest.length] = "errors";
    }
    return rest;
}

function pushMore(entries, count, noun) {
    if (count > 0) {
        entries[entries.length] = `... ${plural(count, `more ${noun}`)}`;
    }
}

function fillArray(ctx, value, level, entries) {
    const { length } = value;
    const shown = min(max(0, ctx.maxArrayLength), length);
    for (let i = 0; i < shown; i++) {
        if (!hasOwn(value, i)) {
            fillSparse(ctx, value, level, entries, i, shown);
            return;
        }
        if (ctx.budget < 0) {
            pushMore(entries, length - i, "item");
            return;
        }
        entries[entries.length] = formatProperty(ctx, value, level, i, ENTRY_BARE);
    }
    pushMore(entries, length - shown, "item");
}

/* Continues an array at its first hole: each run of holes becomes one entry. */
function fillSparse(ctx, value, level, entries, index, shown) {
    const keys = objectKeys(value);
    for (let i = index; i < keys.length && entries.length < shown && isIndex(keys[i]); i++) {
        const next = +keys[i];
        if (next !== index) {
            entries[entries.length] = `<${plural(next - index, "empty item")}>`;
            index = next;
            if (entries.length === shown) {
                break;
            }
        }
        entries[entries.length] = formatProperty(ctx, value, level, next, ENTRY_BARE);
        index = next + 1;
    }
    const rest = value.length - index;
    if (rest > 0 && entries.length < shown) {
        entries[entries.length] = `<${plural(rest, "empty item")}>`;
    } else {
        pushMore(entries, rest, "item");
    }
}

function fillTypedArray(ctx, value, level, entries) {
    const length = typedArrayLength(value);
    const shown = min(max(0, ctx.maxArrayLength), length);
    for (let i = 0; i < shown; i++) {
        entries[entries.length] = formatPrimitive(ctx, value[i]);
        ctx.budget -= 8;
    }
    pushMore(entries, length - shown, "item");
}

function fillSet(ctx, value, level, entries) {
    const shown = min(max(0, ctx.maxArrayLength), setSize(value));
    ctx.indentation += 2;
    setForEach(value, (item) => {
        if (entries.length < shown && ctx.budget >= 0) {
            entries[entries.length] = formatValue(ctx, item, level);
        }
    });
    ctx.indentation -= 2;
    pushMore(entries, setSize(value) - entries.length, "item");
}

function fillMap(ctx, value, level, entries) {
    const shown = min(max(0, ctx.maxArrayLength), mapSize(value));
    ctx.indentation += 2;
    mapForEach(value, (item, key) => {
        if (entries.length < shown && ctx.budget >= 0) {
            const left = formatValue(ctx, key, level);
            entries[entries.length] = `${left} => ${formatValue(ctx, item, level)}`;
        }
    });
    ctx.indentation -= 2;
    pushMore(entries, mapSize(value) - entries.length, "item");
}

function fillUnknown(ctx, value, level, entries) {
    entries[0] = "<items unknown>";
}

function fillBuffer(ctx, value, level, entries) {
    if (bufferDetached(value)) {
        entries[0] = "(detached)";
        entries[1] = "byteLength: 0";
        return;
    }
    const length = bufferByteLength(value);
    const bytes = new Uint8ArrayClass(value);
    const shown = min(max(0, ctx.maxArrayLength), length);
    let text = "";
    for (let i = 0; i < shown; i++) {
        const hex = numberToString(bytes[i], 16);
        text += (i > 0 ? " " : "") + (hex.length < 2 ? `0${hex}` : hex);
    }
    if (length > shown) {
        text += ` ... ${plural(length - shown, "more byte")}`;
    }
    entries[0] = `[Uint8Contents]: <${text}>`;
    entries[1] = `byteLength: ${length}`;
}

function fillView(ctx, value, level, entries) {
    entries[0] = `byteLength: ${viewByteLength(value)}`;
    entries[1] = `byteOffset: ${viewByteOffset(value)}`;
    ctx.indentation += 2;
    entries[2] = `buffer: ${formatValue(ctx, viewBuffer(value), level)}`;
    ctx.indentation -= 2;
}
