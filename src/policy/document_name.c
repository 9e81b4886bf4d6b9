/* document_name.c - see document_name.h. */
#include "policy/document_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* What no part of a name may be, in the order of strcmp: the words of the language, strict mode
 * included; what would change an object's prototype; and `then`, with which an object is taken for
 * a promise and called as soon as it is awaited. */
static const char *const RESERVED[] = {"__proto__", "arguments", "await", "break", "case", "catch",
    "class", "const", "constructor", "continue", "debugger", "default", "delete", "do", "else",
    "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if", "implements",
    "import", "in", "instanceof", "interface", "let", "new", "null", "package", "private",
    "protected", "prototype", "public", "return", "static", "super", "switch", "then", "this",
    "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield"};

/* What guests have already, and a few that programs for the web or for Node take for granted; in
 * the order of strcmp. tests/integration/test_env.py compares it with what a guest says. */
static const char *const GLOBALS[] = {"AbortController", "AbortSignal", "AggregateError", "Array",
    "ArrayBuffer", "Atomics", "BigInt", "BigInt64Array", "BigUint64Array", "Blob", "Boolean",
    "Buffer", "ByteLengthQueuingStrategy", "CompressionStream", "CountQueuingStrategy", "Crypto",
    "CryptoKey", "CustomEvent", "DOMException", "DataView", "Date", "DecompressionStream", "Error",
    "EvalError", "Event", "EventTarget", "File", "FinalizationRegistry", "Float16Array",
    "Float32Array", "Float64Array", "FormData", "Function", "Headers", "Infinity", "Int16Array",
    "Int32Array", "Int8Array", "Intl", "Iterator", "JSON", "Map", "Math", "NaN", "Number", "Object",
    "PerformanceEntry", "PerformanceMark", "PerformanceMeasure", "Promise", "Proxy", "RangeError",
    "ReadableByteStreamController", "ReadableStream", "ReadableStreamBYOBReader",
    "ReadableStreamBYOBRequest", "ReadableStreamDefaultController", "ReadableStreamDefaultReader",
    "ReferenceError", "Reflect", "RegExp", "Request", "Response", "Set", "SharedArrayBuffer",
    "String", "SubtleCrypto", "Symbol", "SyntaxError", "TextDecoder", "TextDecoderStream",
    "TextEncoder", "TextEncoderStream", "TransformStream", "TransformStreamDefaultController",
    "TypeError", "URIError", "URL", "URLSearchParams", "Uint16Array", "Uint32Array", "Uint8Array",
    "Uint8ClampedArray", "WeakMap", "WeakRef", "WeakSet", "WebAssembly", "WebSocket",
    "WritableStream", "WritableStreamDefaultController", "WritableStreamDefaultWriter",
    "XMLHttpRequest", "__dirname", "__filename", "__return", "atob", "btoa", "clearImmediate",
    "clearInterval", "clearTimeout", "console", "crypto", "decodeURI", "decodeURIComponent",
    "display", "encodeURI", "encodeURIComponent", "escape", "eval", "exports", "fetch", "global",
    "globalThis", "input", "isFinite", "isNaN", "main", "module", "navigator", "parseFloat",
    "parseInt", "performance", "process", "queueMicrotask", "require", "self", "setImmediate",
    "setInterval", "setTimeout", "structuredClone", "undefined", "unescape", "window"};

enum {
    RESERVED_COUNT = sizeof(RESERVED) / sizeof(RESERVED[0]),
    GLOBALS_COUNT = sizeof(GLOBALS) / sizeof(GLOBALS[0]),
    /* The longest word of both tables is shorter. */
    WORD_BYTES_MAX = 64,
};

static int compare_words(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

static int is_among(const char *word, size_t len, const char *const *words, size_t count)
{
    char copy[WORD_BYTES_MAX + 1];

    if (len > WORD_BYTES_MAX) {
        return 0;
    }
    memcpy(copy, word, len);
    copy[len] = '\0';
    return bsearch(copy, words, count, sizeof(*words), compare_words) != NULL;
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

const char *environment_name_fault(const char *name, size_t len)
{
    size_t i;

    if (len == 0) {
        return "is empty";
    }
    if (len > DOCUMENT_NAME_BYTES_MAX) {
        return "is longer than 64 characters";
    }
    for (i = 0; i < len; i++) {
        int plain = (name[i] >= 'a' && name[i] <= 'z') || is_digit(name[i]);

        if (!plain && (i == 0 || (name[i] != '_' && name[i] != '-'))) {
            return "must have only a-z, 0-9, _ and -, and begin with a letter or a digit";
        }
    }
    return NULL;
}

/* One part of a dotted name. ASCII only: a name that looks like another one must be that one. */
static const char *part_fault(const char *part, size_t len)
{
    size_t i;

    if (len == 0) {
        return "has an empty part";
    }
    for (i = 0; i < len; i++) {
        if (!is_letter(part[i]) && part[i] != '_' && part[i] != '$' &&
            (i == 0 || !is_digit(part[i]))) {
            return "must be made of identifiers: letters, digits, _ and $, not beginning with a "
                   "digit";
        }
    }
    return is_among(part, len, RESERVED, RESERVED_COUNT)
               ? "has a part that is a word of the language or would change what objects are"
               : NULL;
}

static size_t part_len(const char *name, size_t len)
{
    const char *dot = memchr(name, '.', len);

    return dot != NULL ? (size_t)(dot - name) : len;
}

const char *tool_name_fault(const char *name, size_t len)
{
    size_t parts = 0, first = part_len(name, len), at = 0;

    if (len > DOCUMENT_TOOL_NAME_BYTES_MAX) {
        return "is longer than 128 characters";
    }
    for (;;) {
        size_t n = part_len(name + at, len - at);
        const char *fault = part_fault(name + at, n);

        if (fault != NULL) {
            return fault;
        }
        if (++parts > DOCUMENT_TOOL_NAME_PARTS_MAX) {
            return "has more than 8 parts";
        }
        at += n + 1;
        if (at > len) {
            break;
        }
    }
    return is_among(name, first, GLOBALS, GLOBALS_COUNT)
               ? "begins with the name of something that programs have already"
               : NULL;
}

const char *global_name_fault(const char *name, size_t len)
{
    return memchr(name, '.', len) != NULL ? "must be one identifier, without dots"
                                          : tool_name_fault(name, len);
}

const char *tool_pattern_fault(const char *pattern, size_t len)
{
    if (len == 1 && pattern[0] == '*') {
        return NULL;
    }
    if (len > 2 && memcmp(pattern + len - 2, ".*", 2) == 0) {
        len -= 2;
    }
    return memchr(pattern, '*', len) != NULL
               ? "may have a * only as its last part: \"crm.find\", \"crm.*\" or \"*\""
               : tool_name_fault(pattern, len);
}

int tool_pattern_matches(const char *pattern, const char *tool)
{
    size_t len = strlen(pattern);

    if (len > 0 && pattern[len - 1] == '*') {
        return strncmp(pattern, tool, len - 1) == 0; /* with the dot, which "*" alone has not */
    }
    return strcmp(pattern, tool) == 0;
}

int tool_name_is_above(const char *above, const char *name)
{
    size_t len = strlen(above);

    return strncmp(above, name, len) == 0 && name[len] == '.';
}

const char *variable_name_fault(const char *name, size_t len)
{
    if (len == 0) {
        return "is empty";
    }
    if (len > 256) { /* shells and services have far shorter ones */
        return "is longer than 256 bytes";
    }
    return memchr(name, '=', len) != NULL ? "has an = in it" : NULL;
}

/* The digits of a version, which begin with none that is 0; 0 when they are no such. */
static uint32_t parse_version(const char *digits)
{
    uint32_t version = 0;

    if (digits[0] == '0') {
        return 0;
    }
    for (; is_digit(digits[0]); digits++) {
        if (__builtin_mul_overflow(version, 10U, &version) ||
            __builtin_add_overflow(version, (uint32_t)(digits[0] - '0'), &version)) {
            return 0;
        }
    }
    return digits[0] == '\0' && version <= INT32_MAX ? version : 0;
}

int environment_ref_parse(const char *text, char name[DOCUMENT_NAME_BYTES_MAX + 1],
    uint32_t *ret_version, struct vial_error *err)
{
    const char *at = strchr(text, '@');
    size_t len = at != NULL ? (size_t)(at - text) : strlen(text);
    const char *fault = environment_name_fault(text, len);
    uint32_t version = at != NULL ? parse_version(at + 1) : 0;

    if (fault != NULL) {
        return vial__fail(err, VIAL_E_INVALID, "the name of an environment, \"%.*s\", %s",
            (int)(len < 80 ? len : 80), text, fault);
    }
    if (at != NULL && version == 0) {
        return vial__fail(err, VIAL_E_INVALID,
            "\"%.40s\" is no version; versions are whole numbers from 1, as in %.*s@3", at + 1,
            (int)len, text);
    }
    memcpy(name, text, len);
    name[len] = '\0';
    *ret_version = version;
    return VIAL_OK;
}
