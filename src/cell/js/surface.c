/* surface.c - see surface.h.
 *
 * Text to bytes and back, random bytes, and names of hosts: what the surface would do slowly, badly
 * or not at all in JavaScript. Every function takes what guest code gives it, so positions are
 * clamped to the array they are about and nothing is written outside of it.
 *
 * The public way to the bytes of a typed array pins its buffer for good: a guest could not transfer
 * it any more. The pointer is therefore read from the array object itself; where it lies is checked
 * when the engine starts. */
#include "cell/js/surface.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unicode/uidna.h>

#include "base/utf8.h"
#include "cell/js/interrupt.h"

/* The encodings, by the numbers that surface/lib/encodings.js has for them. */
enum encoding { ENCODING_UTF8, ENCODING_LATIN1, ENCODING_UTF16LE, ENCODING_ASCII, ENCODING_COUNT };

enum {
    VECTOR_OFFSET = 16,     /* in JSArrayBufferView: header and butterfly come first */
    NAME_UNITS_MAX = 4096,  /* a host name has at most 253 characters; longer input is no name */
    RANDOM_BYTES_MAX = 256, /* what the kernel gives at once without being interruptible */
};

struct view {
    uint8_t *bytes;
    size_t len;
};

struct units {
    JSStringRef string; /* owned */
    const JSChar *at;
    size_t count;
};

typedef JSObjectCallAsFunctionCallback native_function;

/* ---- what guests hand over ---- */

static uint8_t *vector_of(JSObjectRef array)
{
    uint8_t *bytes;

    memcpy(&bytes, (const char *)array + VECTOR_OFFSET, sizeof(bytes));
    return bytes;
}

/* The bytes of a typed array; none for all other values and for arrays whose buffer is gone. */
static struct view view_of(JSContextRef ctx, JSValueRef value)
{
    static uint8_t nowhere;
    struct view view = {.bytes = &nowhere};
    JSTypedArrayType type = JSValueGetTypedArrayType(ctx, value, NULL);
    JSObjectRef array;

    if (type == kJSTypedArrayTypeNone || type == kJSTypedArrayTypeArrayBuffer) {
        return view;
    }
    array = JSValueToObject(ctx, value, NULL);
    if (vector_of(array) != NULL) {
        view.bytes = vector_of(array);
        view.len = JSObjectGetTypedArrayByteLength(ctx, array, NULL);
    }
    return view;
}

static size_t position_of(JSContextRef ctx, JSValueRef value, size_t max)
{
    double d = JSValueIsNumber(ctx, value) ? JSValueToNumber(ctx, value, NULL) : 0;

    if (!(d > 0)) {
        return 0;
    }
    return d < (double)max ? (size_t)d : max;
}

/* The part of view between two positions. */
static struct view part_of(JSContextRef ctx, struct view view, JSValueRef start, JSValueRef end)
{
    size_t from = position_of(ctx, start, view.len);
    size_t to = position_of(ctx, end, view.len);

    view.bytes += from;
    view.len = to > from ? to - from : 0;
    return view;
}

static enum encoding encoding_of(JSContextRef ctx, JSValueRef value)
{
    return (enum encoding)position_of(ctx, value, ENCODING_COUNT - 1);
}

/* Strings only: converting another value would run guest code. */
static int units_of(JSContextRef ctx, JSValueRef value, struct units *ret)
{
    JSStringRef string = JSValueIsString(ctx, value) ? JSValueToStringCopy(ctx, value, NULL) : NULL;

    if (string == NULL) {
        return -1;
    }
    *ret = (struct units){.string = string, .count = JSStringGetLength(string)};
    ret->at = JSStringGetCharactersPtr(string);
    if (ret->at == NULL && ret->count > 0) {
        JSStringRelease(string);
        return -1;
    }
    return 0;
}

/* ---- bytes to text ---- */

static JSValueRef make_string(JSContextRef ctx, JSStringRef string)
{
    JSValueRef value;

    if (string == NULL) {
        return JSValueMakeUndefined(ctx);
    }
    value = JSValueMakeString(ctx, string);
    JSStringRelease(string);
    return value;
}

/* ASCII without NULs goes the way that leaves the engine a narrow string, of a byte a character. */
static JSStringRef narrow_string(struct view v)
{
    JSStringRef string;
    char *text;
    size_t i;

    for (i = 0; i < v.len; i++) {
        if (v.bytes[i] == 0 || v.bytes[i] > 127) {
            return NULL;
        }
    }
    text = malloc(v.len + 1);
    if (text == NULL) {
        return NULL;
    }
    if (v.len > 0) {
        memcpy(text, v.bytes, v.len);
    }
    text[v.len] = '\0';
    string = JSStringCreateWithUTF8CString(text);
    free(text);
    return string;
}

static uint32_t utf8_value(const uint8_t *s, int len)
{
    switch (len) {
    case 1:
        return s[0];
    case 2:
        return (s[0] & 0x1fU) << 6 | (s[1] & 0x3fU);
    case 3:
        return (s[0] & 0x0fU) << 12 | (s[1] & 0x3fU) << 6 | (s[2] & 0x3fU);
    default:
        return (s[0] & 0x07U) << 18 | (s[1] & 0x3fU) << 12 | (s[2] & 0x3fU) << 6 | (s[3] & 0x3fU);
    }
}

/* Writes at most a unit for each byte. The number of units, or SIZE_MAX when fatal and wrong. */
static size_t utf8_to_units(struct view v, int fatal, JSChar *out)
{
    size_t at = 0, n = 0;
    uint32_t c;
    int len;

    while (at < v.len) {
        if (v.bytes[at] < 0x80) {
            out[n++] = v.bytes[at++];
            continue;
        }
        len = utf8_sequence((const char *)v.bytes + at, v.len - at);
        if (len < 0) {
            if (fatal) {
                return SIZE_MAX;
            }
            out[n++] = 0xfffd;
            at += (size_t)-len;
            continue;
        }
        c = utf8_value(v.bytes + at, len);
        if (c >= 0x10000) {
            out[n++] = (JSChar)(0xd800 + ((c - 0x10000) >> 10));
            out[n++] = (JSChar)(0xdc00 + ((c - 0x10000) & 0x3ff));
        } else {
            out[n++] = (JSChar)c;
        }
        at += (size_t)len;
    }
    return n;
}

static size_t bytes_to_units(struct view v, enum encoding encoding, int fatal, JSChar *out)
{
    size_t i;

    switch (encoding) {
    case ENCODING_UTF8:
        return utf8_to_units(v, fatal, out);
    case ENCODING_UTF16LE:
        for (i = 0; i < v.len / 2; i++) {
            out[i] = (JSChar)(v.bytes[2 * i] | v.bytes[2 * i + 1] << 8);
        }
        return v.len / 2;
    case ENCODING_LATIN1:
    case ENCODING_ASCII:
    case ENCODING_COUNT:
    default:
        for (i = 0; i < v.len; i++) {
            out[i] = encoding == ENCODING_ASCII ? v.bytes[i] & 0x7f : v.bytes[i];
        }
        return v.len;
    }
}

/* decode(encoding, array, start, end, fatal): a string; undefined when fatal and the bytes are not
 * UTF-8, or without memory. */
static JSValueRef native_decode(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    JSStringRef string = NULL;
    enum encoding encoding;
    struct view v;
    JSChar *units;
    size_t n;

    (void)function;
    (void)self;
    (void)exception;
    if (argc < 5) {
        return JSValueMakeUndefined(ctx);
    }
    encoding = encoding_of(ctx, argv[0]);
    v = part_of(ctx, view_of(ctx, argv[1]), argv[2], argv[3]);
    if (encoding != ENCODING_UTF16LE) {
        string = narrow_string(v);
    }
    if (string == NULL) {
        units = malloc((v.len + 1) * sizeof(*units));
        if (units != NULL) {
            n = bytes_to_units(v, encoding, JSValueToBoolean(ctx, argv[4]), units);
            string = n != SIZE_MAX ? JSStringCreateWithCharacters(units, n) : NULL;
        }
        free(units);
    }
    return make_string(ctx, string);
}

/* ---- text to bytes ---- */

/* The character at i, half a surrogate pair as U+FFFD; *ret_units is how many units it has. */
static uint32_t character_at(const struct units *u, size_t i, size_t *ret_units)
{
    uint32_t c = u->at[i];

    *ret_units = 1;
    if (c < 0xd800 || c >= 0xe000) {
        return c;
    }
    if (c < 0xdc00 && i + 1 < u->count && u->at[i + 1] >= 0xdc00 && u->at[i + 1] < 0xe000) {
        *ret_units = 2;
        return 0x10000 + ((c - 0xd800) << 10) + (u->at[i + 1] - 0xdc00U);
    }
    return 0xfffd;
}

static size_t utf8_bytes_of(uint32_t c)
{
    if (c < 0x80) {
        return 1;
    }
    if (c < 0x800) {
        return 2;
    }
    return c < 0x10000 ? 3 : 4;
}

static size_t byte_length(const struct units *u, enum encoding encoding)
{
    size_t i, step, n = 0;

    if (encoding != ENCODING_UTF8) {
        return encoding == ENCODING_UTF16LE ? 2 * u->count : u->count;
    }
    for (i = 0; i < u->count; i += step) {
        n += utf8_bytes_of(character_at(u, i, &step));
    }
    return n;
}

/* Writes the characters that fit wholly; the units that were read go to *ret_read. */
static size_t units_to_bytes(
    const struct units *u, enum encoding encoding, struct view out, size_t *ret_read)
{
    size_t i, step = 1, n = 0;
    uint32_t c;

    for (i = 0; i < u->count; i += step) {
        if (encoding == ENCODING_UTF8) {
            c = character_at(u, i, &step);
            if (utf8_bytes_of(c) > out.len - n) {
                break;
            }
            n += utf8_put((char *)out.bytes + n, c);
        } else if (encoding == ENCODING_UTF16LE) {
            if (out.len - n < 2) {
                break;
            }
            out.bytes[n++] = (uint8_t)u->at[i];
            out.bytes[n++] = (uint8_t)(u->at[i] >> 8);
        } else {
            if (n == out.len) {
                break;
            }
            out.bytes[n++] = (uint8_t)u->at[i];
        }
    }
    *ret_read = i;
    return n;
}

static void free_bytes(void *bytes, void *user)
{
    (void)user;
    free(bytes);
}

/* encode(encoding, string): a new Uint8Array; undefined when it is no string, or without memory. */
static JSValueRef native_encode(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    enum encoding encoding;
    JSObjectRef array = NULL;
    struct view out;
    struct units u;
    size_t read_count;

    (void)function;
    (void)self;
    if (argc < 2 || units_of(ctx, argv[1], &u) < 0) {
        return JSValueMakeUndefined(ctx);
    }
    encoding = encoding_of(ctx, argv[0]);
    out.len = byte_length(&u, encoding);
    out.bytes = malloc(out.len + 1);
    if (out.bytes != NULL) {
        (void)units_to_bytes(&u, encoding, out, &read_count);
        array = JSObjectMakeTypedArrayWithBytesNoCopy(
            ctx, kJSTypedArrayTypeUint8Array, out.bytes, out.len, free_bytes, NULL, exception);
    }
    JSStringRelease(u.string);
    return array != NULL ? array : JSValueMakeUndefined(ctx);
}

/* write(encoding, string, array, start, end, counts): the bytes written; the units read go to
 * counts[0], a Uint32Array. */
static JSValueRef native_write_text(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    struct view out, counts;
    size_t read_count = 0, n;
    uint32_t small;
    struct units u;

    (void)function;
    (void)self;
    (void)exception;
    if (argc < 6 || units_of(ctx, argv[1], &u) < 0) {
        return JSValueMakeUndefined(ctx);
    }
    out = part_of(ctx, view_of(ctx, argv[2]), argv[3], argv[4]);
    counts = view_of(ctx, argv[5]);
    n = units_to_bytes(&u, encoding_of(ctx, argv[0]), out, &read_count);
    if (counts.len >= sizeof(small)) {
        small = (uint32_t)read_count;
        memcpy(counts.bytes, &small, sizeof(small));
    }
    JSStringRelease(u.string);
    return JSValueMakeNumber(ctx, (double)n);
}

/* byteLength(encoding, string) */
static JSValueRef native_byte_length(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    struct units u;
    size_t n;

    (void)function;
    (void)self;
    (void)exception;
    if (argc < 2 || units_of(ctx, argv[1], &u) < 0) {
        return JSValueMakeUndefined(ctx);
    }
    n = byte_length(&u, encoding_of(ctx, argv[0]));
    JSStringRelease(u.string);
    return JSValueMakeNumber(ctx, (double)n);
}

/* ---- random bytes ---- */

/* random(array): fills it from the kernel; false when the kernel has none. */
static JSValueRef native_random(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    struct view v;
    size_t piece, at = 0;

    (void)function;
    (void)self;
    (void)exception;
    if (argc < 1) {
        return JSValueMakeBoolean(ctx, 0);
    }
    v = view_of(ctx, argv[0]);
    while (at < v.len) {
        piece = v.len - at < RANDOM_BYTES_MAX ? v.len - at : RANDOM_BYTES_MAX;
        if (getrandom(v.bytes + at, piece, 0) != (ssize_t)piece) {
            return JSValueMakeBoolean(ctx, 0);
        }
        at += piece;
    }
    return JSValueMakeBoolean(ctx, 1);
}

/* ---- names of hosts ---- */

/* As the URL standard asks: what is only too long, too short or has odd hyphens is let through. */
static const uint32_t IDNA_TOLERATED =
    UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |
    UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;

static JSValueRef convert_name(JSContextRef ctx, size_t argc, const JSValueRef argv[], int to_ascii)
{
    static UIDNA *idna;
    static JSChar out[8 * NAME_UNITS_MAX]; /* too large for the stack; a cell has one thread */
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode code = U_ZERO_ERROR;
    struct units u;
    int32_t n = 0;

    if (argc < 1 || units_of(ctx, argv[0], &u) < 0) {
        return JSValueMakeNull(ctx);
    }
    if (idna == NULL) {
        idna =
            uidna_openUTS46(UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ |
                                UIDNA_NONTRANSITIONAL_TO_ASCII | UIDNA_NONTRANSITIONAL_TO_UNICODE,
                &code);
    }
    if (U_SUCCESS(code) && u.count <= NAME_UNITS_MAX) {
        int32_t count = (int32_t)u.count, room = (int32_t)(sizeof(out) / sizeof(out[0]));

        n = to_ascii ? uidna_nameToASCII(idna, u.at, count, out, room, &info, &code)
                     : uidna_nameToUnicode(idna, u.at, count, out, room, &info, &code);
    } else {
        code = U_BUFFER_OVERFLOW_ERROR;
    }
    JSStringRelease(u.string);
    if (U_FAILURE(code) || (to_ascii && (info.errors & ~IDNA_TOLERATED) != 0)) {
        return JSValueMakeNull(ctx);
    }
    return make_string(ctx, JSStringCreateWithCharacters(out, (size_t)n));
}

/* domainToASCII(name): the name in ASCII, or null when it is no name. */
static JSValueRef native_domain_to_ascii(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    (void)function;
    (void)self;
    (void)exception;
    return convert_name(ctx, argc, argv, 1);
}

static JSValueRef native_domain_to_unicode(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    (void)function;
    (void)self;
    (void)exception;
    return convert_name(ctx, argc, argv, 0);
}

/* ---- modules ---- */

static const struct surface_text *find_text(JSStringRef name)
{
    size_t i;

    for (i = 0; i < SURFACE_TEXTS_COUNT; i++) {
        if (JSStringIsEqualToUTF8CString(name, SURFACE_TEXTS[i].name)) {
            return &SURFACE_TEXTS[i];
        }
    }
    return NULL;
}

/* evaluate(name): the function that a bundled text is; undefined when there is no such text. */
static JSValueRef native_evaluate(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    const struct surface_text *text;
    JSStringRef name, url;
    JSScriptRef script;
    JSValueRef value;

    (void)function;
    (void)self;
    if (argc < 1 || !JSValueIsString(ctx, argv[0])) {
        return JSValueMakeUndefined(ctx);
    }
    name = JSValueToStringCopy(ctx, argv[0], NULL);
    text = find_text(name);
    JSStringRelease(name);
    if (text == NULL) {
        return JSValueMakeUndefined(ctx);
    }
    url = JSStringCreateWithUTF8CString("vial:surface");
    script = JSScriptCreateReferencingImmortalASCIIText(
        JSContextGetGroup(ctx), url, 1, text->text, text->len, NULL, NULL);
    JSStringRelease(url);
    if (script == NULL) {
        return JSValueMakeUndefined(ctx);
    }
    value = JSScriptEvaluate(ctx, script, NULL, exception);
    JSScriptRelease(script);
    interrupt_pass_on(exception);
    return value != NULL ? value : JSValueMakeUndefined(ctx);
}

static const struct {
    const char *name;
    native_function function;
} NATIVES[] = {
    {"surfaceText", native_evaluate},
    {"decode", native_decode},
    {"encode", native_encode},
    {"writeText", native_write_text},
    {"byteLength", native_byte_length},
    {"random", native_random},
    {"domainToASCII", native_domain_to_ascii},
    {"domainToUnicode", native_domain_to_unicode},
};

/* Is the pointer to the bytes where view_of looks for it, with and without an offset? */
static int layout_is_known(JSContextRef ctx)
{
    JSObjectRef whole = JSObjectMakeTypedArray(ctx, kJSTypedArrayTypeUint8Array, 64, NULL);
    JSObjectRef buffer, part;
    const uint8_t *bytes;

    if (whole == NULL) {
        return 0;
    }
    bytes = JSObjectGetTypedArrayBytesPtr(ctx, whole, NULL);
    buffer = JSObjectGetTypedArrayBuffer(ctx, whole, NULL);
    part = JSObjectMakeTypedArrayWithArrayBufferAndOffset(
        ctx, kJSTypedArrayTypeUint8Array, buffer, 8, 8, NULL);
    return bytes != NULL && part != NULL && vector_of(whole) == bytes &&
           vector_of(part) == bytes + 8;
}

int surface_add_natives(JSContextRef ctx, JSObjectRef natives, const char **ret_why)
{
    JSStringRef name;
    size_t i;

    if (!layout_is_known(ctx)) {
        *ret_why = "finding the bytes of the engine's typed arrays";
        return -1;
    }
    for (i = 0; i < sizeof(NATIVES) / sizeof(NATIVES[0]); i++) {
        name = JSStringCreateWithUTF8CString(NATIVES[i].name);
        JSObjectSetProperty(ctx, natives, name,
            JSObjectMakeFunctionWithCallback(ctx, name, NATIVES[i].function),
            kJSPropertyAttributeNone, NULL);
        JSStringRelease(name);
    }
    return 0;
}
