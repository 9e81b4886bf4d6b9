/* cbor.c - see cbor.h. One walk does both: without an output buffer it only checks. */
#include "value/cbor.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

enum major { UINT, NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG, SIMPLE };

enum {
    TAG_DATE_TEXT = 0,
    TAG_DATE = 1,
    TAG_BIGINT = 2,
    TAG_BIGINT_NEGATIVE = 3,
    TAG_OBJECT = 27,
    TAG_URL = 32,
    TAG_SET = 258,
    TAG_MAP = 259,
    TAG_REGEXP = 21066,
    /* Larger numbers are shown in hexadecimal: writing decimals takes the square of the length. */
    DECIMAL_BYTES_MAX = 128,
    DECIMAL_DIGITS_MAX = 3 * DECIMAL_BYTES_MAX,
};

/* Typed arrays, little-endian; Uint8Array is a plain byte string. RFC 8746. */
static const struct {
    uint16_t tag;
    uint8_t element_bytes;
    char name[18];
} TYPED_ARRAYS[] = {{68, 1, "Uint8ClampedArray"}, {69, 2, "Uint16Array"}, {70, 4, "Uint32Array"},
    {71, 8, "BigUint64Array"}, {72, 1, "Int8Array"}, {77, 2, "Int16Array"}, {78, 4, "Int32Array"},
    {79, 8, "BigInt64Array"}, {84, 2, "Float16Array"}, {85, 4, "Float32Array"},
    {86, 8, "Float64Array"}};

struct walk {
    const unsigned char *bytes;
    size_t len;
    size_t at;
    struct buf *out; /* NULL: only check */
    struct vial_error *err;
    int r; /* the first failure; all functions are silent afterwards */
};

/* The head of an item: its major type and its argument, or the bits of a float. */
struct head {
    enum major major;
    unsigned info;
    uint64_t argument;
};

static void fail(struct walk *w, const char *why)
{
    if (w->r == 0) {
        w->r = vial__fail(w->err, VIAL_E_INVALID, "CBOR: %s at byte %zu", why, w->at);
    }
}

/* ---- output ---- */

static void put(struct walk *w, const char *text)
{
    if (w->r == 0 && w->out != NULL) {
        w->r = buf_add_text(w->out, text, w->err);
    }
}

static void put_text(struct walk *w, const char *text, size_t len)
{
    struct json_writer j;

    if (w->r == 0 && w->out != NULL) {
        json_init(&j, w->out, w->err);
        json_write_string(&j, text, len);
        w->r = json_finish(&j);
    }
}

static void put_base64(struct walk *w, const unsigned char *bytes, size_t len)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char four[5] = "";
    size_t i;

    put(w, "\"");
    for (i = 0; i < len && w->r == 0 && w->out != NULL; i += 3) {
        uint32_t bits = (uint32_t)bytes[i] << 16;

        bits |= i + 1 < len ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= i + 2 < len ? bytes[i + 2] : 0;
        four[0] = letters[bits >> 18];
        four[1] = letters[bits >> 12 & 63];
        four[2] = i + 1 < len ? letters[bits >> 6 & 63] : '=';
        four[3] = i + 2 < len ? letters[bits & 63] : '=';
        put(w, four);
    }
    put(w, "\"");
}

/* The shortest decimals that give the same number back. */
static void put_double(struct walk *w, double v)
{
    char text[40];
    double back = 0;
    int digits;

    if (isnan(v) || isinf(v) || (v == 0 && signbit(v))) {
        put(w, isnan(v) ? "{\"$number\":\"NaN\"}"
               : v == 0 ? "{\"$number\":\"-0\"}"
               : v > 0  ? "{\"$number\":\"Infinity\"}"
                        : "{\"$number\":\"-Infinity\"}");
        return;
    }
    for (digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, v);
        if (sscanf(text, "%lf", &back) == 1 && back == v) {
            break;
        }
    }
    put(w, text);
}

/* Bytes, most significant first, plus one when negative. */
static void put_decimal(struct walk *w, const unsigned char *bytes, size_t len, int negative)
{
    unsigned char digits[DECIMAL_DIGITS_MAX] = {0}; /* least significant first */
    char text[DECIMAL_DIGITS_MAX + 2];
    size_t used = 1, i, d;
    size_t n = 0;

    for (i = 0; i <= len; i++) {
        unsigned carry = i < len ? bytes[i] : (unsigned)negative;

        for (d = 0; d < used || carry > 0; d++) {
            carry += digits[d] * (i < len ? 256U : 1U);
            digits[d] = (unsigned char)(carry % 10);
            carry /= 10;
            used = d + 1 > used ? d + 1 : used;
        }
    }
    if (negative) {
        text[n++] = '-';
    }
    while (used > 0) {
        text[n++] = (char)('0' + digits[--used]);
    }
    text[n] = '\0';
    put(w, text);
}

static void put_bigint(struct walk *w, const unsigned char *bytes, size_t len, int negative)
{
    char two[3];
    size_t i;

    put(w, "{\"$bigint\":\"");
    if (len <= DECIMAL_BYTES_MAX) {
        put_decimal(w, bytes, len, negative);
    } else {
        put(w, negative ? "~0x" : "0x"); /* the complement, as it was sent */
        for (i = 0; i < len && w->r == 0 && w->out != NULL; i++) {
            (void)snprintf(two, sizeof(two), "%02x", bytes[i]);
            put(w, two);
        }
    }
    put(w, "\"}");
}

/* As Date.prototype.toISOString has it; years beyond four digits get a sign and six. */
static void put_date(struct walk *w, double seconds)
{
    double ms = round(seconds * 1000);
    char text[64];
    struct tm tm;
    time_t whole;
    int year;

    if (!(fabs(ms) <= 8.64e15)) {
        put(w, "{\"$date\":null}");
        return;
    }
    whole = (time_t)floor(ms / 1000);
    if (gmtime_r(&whole, &tm) == NULL) {
        put(w, "{\"$date\":null}");
        return;
    }
    year = tm.tm_year + 1900;
    (void)snprintf(text, sizeof(text),
        year >= 0 && year <= 9999 ? "{\"$date\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"}"
                                  : "{\"$date\":\"%+07d-%02d-%02dT%02d:%02d:%02d.%03dZ\"}",
        year, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
        (int)(ms - (double)whole * 1000));
    put(w, text);
}

/* ---- input ---- */

static void take_head(struct walk *w, struct head *h)
{
    unsigned char first;
    size_t n, i;

    *h = (struct head){.major = SIMPLE};
    if (w->r != 0) {
        return;
    }
    if (w->at >= w->len) {
        fail(w, "the value ends too early");
        return;
    }
    first = w->bytes[w->at++];
    h->major = (enum major)(first >> 5);
    h->info = first & 31;
    h->argument = h->info;
    if (h->info < 24) {
        return;
    }
    n = h->info <= 27 ? (size_t)1 << (h->info - 24) : 0;
    if (n == 0 || w->len - w->at < n) {
        fail(w, n == 0 ? "an indefinite length" : "the value ends too early");
        return;
    }
    h->argument = 0;
    for (i = 0; i < n; i++) {
        h->argument = h->argument << 8 | w->bytes[w->at++];
    }
}

/* The content of a string, which must be there whole. */
static const unsigned char *take_bytes(struct walk *w, const struct head *h)
{
    const unsigned char *bytes = w->bytes + w->at;

    if (w->r != 0) {
        return NULL;
    }
    if (h->argument > w->len - w->at) {
        fail(w, "the value ends too early");
        return NULL;
    }
    if (h->major == TEXT && !utf8_valid((const char *)bytes, (size_t)h->argument, NULL)) {
        fail(w, "text that is not UTF-8");
        return NULL;
    }
    w->at += (size_t)h->argument;
    return bytes;
}

/* Takes a head that must be of one major type. */
static void expect(struct walk *w, enum major major, const char *why, struct head *h)
{
    take_head(w, h);
    if (w->r == 0 && h->major != major) {
        fail(w, why);
    }
}

/* A length that cannot be true is refused before anything is done for it: every item has a byte. */
static void check_count(struct walk *w, uint64_t count, unsigned items)
{
    if (w->r == 0 && count > (w->len - w->at) / items) {
        fail(w, "a length beyond the end");
    }
}

static double take_float(const struct head *h)
{
    uint64_t bits = h->argument;
    double v;

    if (h->info == 27) {
        memcpy(&v, &bits, sizeof(v));
        return v;
    }
    if (h->info == 26) {
        uint32_t half = (uint32_t)bits;
        float f;

        memcpy(&f, &half, sizeof(f));
        return (double)f;
    }
    v = ldexp((double)(bits & 1023) + ((bits >> 10 & 31) != 0 ? 1024 : 0),
        (int)((bits >> 10 & 31) != 0 ? bits >> 10 & 31 : 1) - 25);
    if ((bits >> 10 & 31) == 31) {
        v = (bits & 1023) != 0 ? (double)NAN : (double)INFINITY;
    }
    return (bits & 0x8000) != 0 ? -v : v;
}

static void walk_value(struct walk *w, unsigned depth);

static void walk_text(struct walk *w)
{
    struct head h;
    const unsigned char *bytes;

    expect(w, TEXT, "something else than text", &h);
    bytes = take_bytes(w, &h);
    if (bytes != NULL) {
        put_text(w, (const char *)bytes, (size_t)h.argument);
    }
}

static void walk_items(struct walk *w, uint64_t count, unsigned depth)
{
    uint64_t i;

    check_count(w, count, 1);
    put(w, "[");
    for (i = 0; i < count && w->r == 0; i++) {
        put(w, i > 0 ? "," : "");
        walk_value(w, depth + 1);
    }
    put(w, "]");
}

/* Pairs as an array of arrays of two. */
static void walk_pairs(struct walk *w, uint64_t count, unsigned depth)
{
    uint64_t i;

    check_count(w, count, 2);
    put(w, "[");
    for (i = 0; i < count && w->r == 0; i++) {
        put(w, i > 0 ? ",[" : "[");
        walk_value(w, depth + 1);
        put(w, ",");
        walk_value(w, depth + 1);
        put(w, "]");
    }
    put(w, "]");
}

/* Does the one member of an object look like a tag of ours? Looks ahead only. */
static int looks_tagged(const struct walk *w, uint64_t count)
{
    unsigned char first = w->at + 1 < w->len ? w->bytes[w->at] : 0;
    size_t skip = first >= 0x78 && first <= 0x7b ? 1 + ((size_t)1 << (first - 0x78)) : 1;

    return count == 1 && first > 0x60 && first <= 0x7b && skip < w->len - w->at &&
           w->bytes[w->at + skip] == '$';
}

static void walk_members(struct walk *w, uint64_t count, unsigned depth)
{
    int escape = w->r == 0 && looks_tagged(w, count);
    uint64_t i;

    check_count(w, count, 2);
    put(w, escape ? "{\"$object\":{" : "{");
    for (i = 0; i < count && w->r == 0; i++) {
        put(w, i > 0 ? "," : "");
        walk_text(w);
        put(w, ":");
        walk_value(w, depth + 1);
    }
    put(w, escape ? "}}" : "}");
}

static void walk_typed_array(struct walk *w, uint64_t tag)
{
    const unsigned char *bytes;
    struct head h;
    size_t i;

    for (i = 0; i < sizeof(TYPED_ARRAYS) / sizeof(TYPED_ARRAYS[0]); i++) {
        if (TYPED_ARRAYS[i].tag == tag) {
            expect(w, BYTES, "a typed array of something else than bytes", &h);
            bytes = take_bytes(w, &h);
            if (bytes != NULL && h.argument % TYPED_ARRAYS[i].element_bytes != 0) {
                fail(w, "half an element of a typed array");
            }
            put(w, "{\"$");
            put(w, TYPED_ARRAYS[i].name);
            put(w, "\":");
            if (bytes != NULL) {
                put_base64(w, bytes, (size_t)h.argument);
            }
            put(w, "}");
            return;
        }
    }
    fail(w, "an unknown tag");
}

static void walk_error(struct walk *w, uint64_t count, unsigned depth)
{
    static const char *const names[] = {"{\"$error\":{\"name\":", ",\"message\":", ",\"stack\":"};
    size_t i;

    for (i = 0; i < 3; i++) {
        put(w, names[i]);
        walk_text(w);
    }
    if (count == 5) {
        put(w, ",\"cause\":");
        walk_value(w, depth + 1);
    }
    put(w, "}}");
}

static void walk_sparse(struct walk *w, unsigned depth)
{
    char text[48];
    struct head h;
    uint64_t i, pairs, length;

    expect(w, UINT, "a sparse array without a length", &h);
    length = h.argument;
    expect(w, MAP, "a sparse array without elements", &h);
    pairs = h.argument;
    check_count(w, pairs, 2);
    if (w->r == 0 && (length > UINT32_MAX || pairs > length)) {
        fail(w, "a sparse array that is too long");
    }
    (void)snprintf(text, sizeof(text), "{\"$array\":[%" PRIu64 ",[", length);
    put(w, text);
    for (i = 0; i < pairs && w->r == 0; i++) {
        expect(w, UINT, "an element that is not numbered", &h);
        if (w->r == 0 && h.argument >= length) {
            fail(w, "an element beyond the end of its array");
        }
        (void)snprintf(text, sizeof(text), "%s[%" PRIu64 ",", i > 0 ? "," : "", h.argument);
        put(w, text);
        walk_value(w, depth + 1);
        put(w, "]");
    }
    put(w, "]]}");
}

/* [type name, ...] */
static void walk_object(struct walk *w, unsigned depth)
{
    const unsigned char *name, *bytes;
    struct head h, array;
    char text[48];

    expect(w, ARRAY, "an object without parts", &array);
    expect(w, TEXT, "an object without a type", &h);
    name = take_bytes(w, &h);
    if (name == NULL) {
        return;
    }
    if (h.argument == 11 && memcmp(name, "ArrayBuffer", 11) == 0 && array.argument == 2) {
        expect(w, BYTES, "an ArrayBuffer of something else than bytes", &h);
        bytes = take_bytes(w, &h);
        put(w, "{\"$ArrayBuffer\":");
        if (bytes != NULL) {
            put_base64(w, bytes, (size_t)h.argument);
        }
        put(w, "}");
    } else if (h.argument == 8 && memcmp(name, "Function", 8) == 0 && array.argument == 2) {
        expect(w, UINT, "a function without a number", &h);
        (void)snprintf(text, sizeof(text), "{\"$function\":%" PRIu64 "}", h.argument);
        put(w, text);
    } else if (h.argument == 5 && memcmp(name, "Array", 5) == 0 && array.argument == 3) {
        walk_sparse(w, depth);
    } else if (h.argument == 5 && memcmp(name, "Error", 5) == 0 &&
               (array.argument == 4 || array.argument == 5)) {
        walk_error(w, array.argument, depth);
    } else {
        fail(w, "an object of an unknown type");
    }
}

static void walk_date(struct walk *w)
{
    struct head h;

    take_head(w, &h);
    if (w->r != 0) {
        return;
    }
    if (h.major == UINT || h.major == NEGATIVE) {
        put_date(w, h.major == UINT ? (double)h.argument : -1 - (double)h.argument);
    } else if (h.major == SIMPLE && h.info >= 25 && h.info <= 27) {
        put_date(w, take_float(&h));
    } else {
        fail(w, "a date that is not a number");
    }
}

/* A text with a tag around it. */
static void walk_named_text(struct walk *w, const char *begin)
{
    put(w, begin);
    walk_text(w);
    put(w, "}");
}

static void walk_tag(struct walk *w, uint64_t tag, unsigned depth)
{
    const unsigned char *bytes;
    struct head h;

    switch (tag) {
    case TAG_DATE_TEXT:
        walk_named_text(w, "{\"$date\":");
        break;
    case TAG_URL:
        walk_named_text(w, "{\"$url\":");
        break;
    case TAG_DATE:
        walk_date(w);
        break;
    case TAG_BIGINT:
    case TAG_BIGINT_NEGATIVE:
        expect(w, BYTES, "a BigInt of something else than bytes", &h);
        bytes = take_bytes(w, &h);
        if (bytes != NULL) {
            put_bigint(w, bytes, (size_t)h.argument, tag == TAG_BIGINT_NEGATIVE);
        }
        break;
    case TAG_SET:
        expect(w, ARRAY, "a Set of something else than an array", &h);
        put(w, "{\"$set\":");
        walk_items(w, h.argument, depth);
        put(w, "}");
        break;
    case TAG_MAP:
        expect(w, MAP, "a Map of something else than pairs", &h);
        put(w, "{\"$map\":");
        walk_pairs(w, h.argument, depth);
        put(w, "}");
        break;
    case TAG_REGEXP:
        expect(w, ARRAY, "a RegExp of something else than an array", &h);
        if (w->r == 0 && h.argument != 2) {
            fail(w, "a RegExp without its two parts");
        }
        put(w, "{\"$regexp\":[");
        walk_text(w);
        put(w, ",");
        walk_text(w);
        put(w, "]}");
        break;
    case TAG_OBJECT:
        walk_object(w, depth);
        break;
    default:
        walk_typed_array(w, tag);
        break;
    }
}

static void walk_simple(struct walk *w, const struct head *h)
{
    switch (h->info) {
    case 20:
        put(w, "false");
        break;
    case 21:
        put(w, "true");
        break;
    case 22:
        put(w, "null");
        break;
    case 23:
        put(w, "{\"$undefined\":true}");
        break;
    case 25:
    case 26:
    case 27:
        put_double(w, take_float(h));
        break;
    default:
        fail(w, "an unknown simple value");
        break;
    }
}

static void walk_number(struct walk *w, const struct head *h)
{
    char text[32];

    if (h->argument > INT64_MAX) {
        fail(w, "an integer that is no JavaScript number");
        return;
    }
    (void)snprintf(text, sizeof(text), "%" PRId64,
        h->major == UINT ? (int64_t)h->argument : -1 - (int64_t)h->argument);
    put(w, text);
}

static void walk_value(struct walk *w, unsigned depth)
{
    const unsigned char *bytes;
    struct head h;

    if (depth > VALUE_CBOR_DEPTH_MAX) {
        fail(w, "too many levels");
        return;
    }
    take_head(w, &h);
    if (w->r != 0) {
        return;
    }
    switch (h.major) {
    case UINT:
    case NEGATIVE:
        walk_number(w, &h);
        break;
    case BYTES:
    case TEXT:
        bytes = take_bytes(w, &h);
        if (bytes != NULL && h.major == TEXT) {
            put_text(w, (const char *)bytes, (size_t)h.argument);
        } else if (bytes != NULL) {
            put(w, "{\"$bytes\":");
            put_base64(w, bytes, (size_t)h.argument);
            put(w, "}");
        }
        break;
    case ARRAY:
        walk_items(w, h.argument, depth);
        break;
    case MAP:
        walk_members(w, h.argument, depth);
        break;
    case TAG:
        walk_tag(w, h.argument, depth + 1);
        break;
    case SIMPLE:
    default:
        walk_simple(w, &h);
        break;
    }
}

static int walk_all(struct walk *w)
{
    walk_value(w, 0);
    if (w->r == 0 && w->at != w->len) {
        fail(w, "something behind the value");
    }
    return w->r;
}

int value_cbor_check(const char *bytes, size_t len, struct vial_error *err)
{
    struct walk w = {.bytes = (const unsigned char *)bytes, .len = len, .err = err};

    return walk_all(&w);
}

int value_cbor_to_json(const char *bytes, size_t len, struct buf *out, struct vial_error *err)
{
    struct walk w = {.bytes = (const unsigned char *)bytes, .len = len, .out = out, .err = err};
    size_t before = out->len;
    int r = walk_all(&w);

    if (r < 0 && out->data != NULL) {
        out->len = before;
        out->data[before] = '\0';
    }
    return r;
}
