/* tool_name.c - see tool_name.h.
 *
 * The tables hold for JavaScript and for Python: an environment can change its language, and its
 * tools should not need other names then. */
#include "policy/tool_name.h"

#include <string.h>

#include "base/error.h"

/* A promise is what has a then; the others decide what an object is. */
static const char *const SPECIAL[] = {"__proto__", "constructor", "prototype", "then", "toString",
    "valueOf", "toJSON", "hasOwnProperty", "__defineGetter__", "__defineSetter__",
    "__lookupGetter__", "__lookupSetter__", "__init__", "__class__", "__dict__", "__call__"};

static const char *const WORDS[] = {"break", "case", "catch", "class", "const", "continue",
    "debugger", "default", "delete", "do", "else", "enum", "export", "extends", "false", "finally",
    "for", "function", "if", "import", "in", "instanceof", "new", "null", "return", "super",
    "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "let",
    "static", "yield", "await", "async", "of", "arguments", "eval", "undefined", "NaN", "Infinity",
    "implements", "interface", "package", "private", "protected", "public", "False", "None", "True",
    "and", "as", "assert", "def", "del", "elif", "except", "from", "global", "is", "lambda",
    "nonlocal", "not", "or", "pass", "raise"};

/* Globals of the language, of the web and of Node that a program would miss. */
static const char *const GLOBALS[] = {"AbortController", "AbortSignal", "AggregateError", "Array",
    "ArrayBuffer", "Atomics", "BigInt", "BigInt64Array", "BigUint64Array", "Blob", "Boolean",
    "Buffer", "CompressionStream", "CryptoKey", "DOMException", "DataView", "Date",
    "DecompressionStream", "Error", "EvalError", "Event", "EventTarget", "File",
    "FinalizationRegistry", "Float16Array", "Float32Array", "Float64Array", "FormData", "Function",
    "Headers", "Int16Array", "Int32Array", "Int8Array", "Intl", "Iterator", "JSON", "Map", "Math",
    "Number", "Object", "Performance", "Promise", "Proxy", "RangeError", "ReadableStream",
    "ReferenceError", "Reflect", "RegExp", "Request", "Response", "Set", "SharedArrayBuffer",
    "String", "Symbol", "SyntaxError", "TextDecoder", "TextEncoder", "TransformStream", "TypeError",
    "URIError", "URL", "URLSearchParams", "Uint16Array", "Uint32Array", "Uint8Array",
    "Uint8ClampedArray", "WeakMap", "WeakRef", "WeakSet", "WebAssembly", "WritableStream",
    "__dirname", "__filename", "__return", "atob", "btoa", "clearImmediate", "clearInterval",
    "clearTimeout", "console", "crypto", "decodeURI", "decodeURIComponent", "encodeURI",
    "encodeURIComponent", "escape", "exports", "fetch", "global", "globalThis", "input", "isFinite",
    "isNaN", "main", "module", "navigator", "parseFloat", "parseInt", "performance", "process",
    "queueMicrotask", "require", "self", "setImmediate", "setInterval", "setTimeout",
    "structuredClone", "unescape", "vial", "window", "print", "range", "len", "list", "dict", "str",
    "int", "float", "bool", "tuple", "open", "type", "object", "super", "map", "filter", "sum",
    "min", "max", "sorted", "isinstance", "Exception"};

static int is_in(const char *const *words, size_t count, const char *part, size_t len)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (strlen(words[i]) == len && memcmp(words[i], part, len) == 0) {
            return 1;
        }
    }
    return 0;
}
#define IS_IN(words, part, len) is_in(words, sizeof(words) / sizeof((words)[0]), part, len)

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static int is_identifier(const char *part, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (!is_letter(part[i]) && (i == 0 || part[i] < '0' || part[i] > '9')) {
            return 0;
        }
    }
    return len > 0;
}

static int check_part(
    const char *name, const char *part, size_t len, int first, struct vial_error *err)
{
    if (!is_identifier(part, len)) {
        return vial__fail(err, VIAL_E_INVALID,
            "\"%s\" is no name for a tool: each part must be letters, digits, _ or $ and not begin "
            "with a digit",
            name);
    }
    if (IS_IN(SPECIAL, part, len) || IS_IN(WORDS, part, len)) {
        return vial__fail(err, VIAL_E_INVALID,
            "\"%s\" is no name for a tool: \"%.*s\" means something else in the language", name,
            (int)len, part);
    }
    if (first && IS_IN(GLOBALS, part, len)) {
        return vial__fail(err, VIAL_E_INVALID,
            "\"%s\" is no name for a tool: programs have a global \"%.*s\" already", name, (int)len,
            part);
    }
    return VIAL_OK;
}

int tool_name_check(const char *name, struct vial_error *err)
{
    const char *part = name;
    unsigned parts = 0;
    size_t len;
    int r;

    if (name == NULL || name[0] == '\0') {
        return vial__fail(err, VIAL_E_INVALID, "a tool needs a name");
    }
    if (strlen(name) > TOOL_NAME_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "the name of a tool is %zu bytes long; it may have %d", strlen(name),
            TOOL_NAME_BYTES_MAX);
    }
    for (;;) {
        len = strcspn(part, ".");
        if (++parts > TOOL_NAME_PARTS_MAX) {
            return vial__fail(err, VIAL_E_INVALID,
                "\"%s\" is no name for a tool: it has more than %d parts", name,
                TOOL_NAME_PARTS_MAX);
        }
        r = check_part(name, part, len, parts == 1, err);
        if (r < 0 || part[len] == '\0') {
            return r;
        }
        part += len + 1;
    }
}

int tool_names_clash(const char *a, const char *b)
{
    size_t i = 0;

    while (a[i] != '\0' && a[i] == b[i]) {
        i++;
    }
    return (a[i] == '\0' && (b[i] == '\0' || b[i] == '.')) || (b[i] == '\0' && a[i] == '.');
}
