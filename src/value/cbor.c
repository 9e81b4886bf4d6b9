/* cbor.c - see cbor.h. One walk does both: without an output buffer it only checks. What only
 * Python has is in cbor_more.c. */
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
#include "value/cbor_walk.h"

enum {
    TAG_DATE_TEXT = 0,
    TAG_DATE = 1,
    TAG_OBJECT = 27,
    TAG_URL = 32,
    TAG_SET = 258,
    TAG_MAP = 259,
    TAG_REGEXP = 21066,
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

void cbor_fail(struct walk *w, const char *why)
{
    if (w->r == 0) {
        w->r = vial__fail(w->err, VIAL_E_INVALID, "CBOR: %s at byte %zu", why, w->at);
    }
}

/* ---- output ---- */

void cbor_put(struct walk *w, const char *text)
{
    if (w->r == 0 && w->out != NULL) {
        w->r = buf_add_text(w->out, text, w->err);
    }
}

void cbor_put_text(struct walk *w, const char *text, size_t len)
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

    cbor_put(w, "\"");
    for (i = 0; i < len && w->r == 0 && w->out != NULL; i += 3) {
        uint32_t bits = (uint32_t)bytes[i] << 16;

        bits |= i + 1 < len ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= i + 2 < len ? bytes[i + 2] : 0;
        four[0] = letters[bits >> 18];
        four[1] = letters[bits >> 12 & 63];
        four[2] = i + 1 < len ? letters[bits >> 6 & 63] : '=';
        four[3] = i + 2 < len ? letters[bits & 63] : '=';
        cbor_put(w, four);
    }
    cbor_put(w, "\"");
}

void cbor_put_bytes(struct walk *w, const unsigned char *bytes, size_t len)
{
    cbor_put(w, "{\"$bytes\":");
    put_base64(w, bytes, len);
    cbor_put(w, "}");
}

/* The shortest decimals that give the same number back. What JavaScript would have sent as an
 * integer is a float of Python's, and stays one. */
void cbor_put_double(struct walk *w, double v)
{
    char text[40];
    double back = 0;
    int digits;

    if (isnan(v) || isinf(v) || (v == 0 && signbit(v))) {
        cbor_put(w, isnan(v) ? "{\"$number\":\"NaN\"}"
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
    cbor_put(w, text);
    cbor_put(w, fabs(v) < 9007199254740992.0 && strpbrk(text, ".e") == NULL ? ".0" : "");
}

size_t cbor_decimal(const unsigned char *bytes, size_t len, int negative, char *text)
{
    unsigned char digits[DECIMAL_DIGITS_MAX] = {0}; /* least significant first */
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
    return n;
}

void cbor_put_bigint(struct walk *w, const unsigned char *bytes, size_t len, int negative)
{
    char text[DECIMAL_TEXT_BYTES];
    char two[3];
    size_t i;

    cbor_put(w, "{\"$bigint\":\"");
    if (len <= DECIMAL_BYTES_MAX) {
        (void)cbor_decimal(bytes, len, negative, text);
        cbor_put(w, text);
    } else {
        cbor_put(w, negative ? "~0x" : "0x"); /* the complement, as it was sent */
        for (i = 0; i < len && w->r == 0 && w->out != NULL; i++) {
            (void)snprintf(two, sizeof(two), "%02x", bytes[i]);
            cbor_put(w, two);
        }
    }
    cbor_put(w, "\"}");
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
        cbor_put(w, "{\"$date\":null}");
        return;
    }
    whole = (time_t)floor(ms / 1000);
    if (gmtime_r(&whole, &tm) == NULL) {
        cbor_put(w, "{\"$date\":null}");
        return;
    }
    year = tm.tm_year + 1900;
    (void)snprintf(text, sizeof(text),
        year >= 0 && year <= 9999 ? "{\"$date\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"}"
                                  : "{\"$date\":\"%+07d-%02d-%02dT%02d:%02d:%02d.%03dZ\"}",
        year, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
        (int)(ms - (double)whole * 1000));
    cbor_put(w, text);
}

/* ---- input ---- */

void cbor_take_head(struct walk *w, struct head *h)
{
    unsigned char first;
    size_t n, i;

    *h = (struct head){.major = SIMPLE};
    if (w->r != 0) {
        return;
    }
    if (w->at >= w->len) {
        cbor_fail(w, "the value ends too early");
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
        cbor_fail(w, n == 0 ? "an indefinite length" : "the value ends too early");
        return;
    }
    h->argument = 0;
    for (i = 0; i < n; i++) {
        h->argument = h->argument << 8 | w->bytes[w->at++];
    }
}

const unsigned char *cbor_take_bytes(struct walk *w, const struct head *h)
{
    const unsigned char *bytes = w->bytes + w->at;

    if (w->r != 0) {
        return NULL;
    }
    if (h->argument > w->len - w->at) {
        cbor_fail(w, "the value ends too early");
        return NULL;
    }
    if (h->major == TEXT && !utf8_valid((const char *)bytes, (size_t)h->argument, NULL)) {
        cbor_fail(w, "text that is not UTF-8");
        return NULL;
    }
    w->at += (size_t)h->argument;
    return bytes;
}

void cbor_expect(struct walk *w, enum major major, const char *why, struct head *h)
{
    cbor_take_head(w, h);
    if (w->r == 0 && h->major != major) {
        cbor_fail(w, why);
    }
}

void cbor_check_count(struct walk *w, uint64_t count, unsigned items)
{
    if (w->r == 0 && count > (w->len - w->at) / items) {
        cbor_fail(w, "a length beyond the end");
    }
}

double cbor_take_float(const struct head *h)
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

void cbor_walk_text(struct walk *w)
{
    struct head h;
    const unsigned char *bytes;

    cbor_expect(w, TEXT, "something else than text", &h);
    bytes = cbor_take_bytes(w, &h);
    if (bytes != NULL) {
        cbor_put_text(w, (const char *)bytes, (size_t)h.argument);
    }
}

void cbor_walk_items(struct walk *w, uint64_t count, unsigned depth)
{
    uint64_t i;

    cbor_check_count(w, count, 1);
    cbor_put(w, "[");
    for (i = 0; i < count && w->r == 0; i++) {
        cbor_put(w, i > 0 ? "," : "");
        cbor_walk_value(w, depth + 1);
    }
    cbor_put(w, "]");
}

/* Pairs as an array of arrays of two. */
static void walk_pairs(struct walk *w, uint64_t count, unsigned depth)
{
    uint64_t i;

    cbor_check_count(w, count, 2);
    cbor_put(w, "[");
    for (i = 0; i < count && w->r == 0; i++) {
        cbor_put(w, i > 0 ? ",[" : "[");
        cbor_walk_value(w, depth + 1);
        cbor_put(w, ",");
        cbor_walk_value(w, depth + 1);
        cbor_put(w, "]");
    }
    cbor_put(w, "]");
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

    cbor_check_count(w, count, 2);
    cbor_put(w, escape ? "{\"$object\":{" : "{");
    for (i = 0; i < count && w->r == 0; i++) {
        cbor_put(w, i > 0 ? "," : "");
        cbor_walk_text(w);
        cbor_put(w, ":");
        cbor_walk_value(w, depth + 1);
    }
    cbor_put(w, escape ? "}}" : "}");
}

size_t cbor_walk_typed_array(struct walk *w, uint64_t tag)
{
    const unsigned char *bytes;
    struct head h;
    size_t i;

    for (i = 0; i < sizeof(TYPED_ARRAYS) / sizeof(TYPED_ARRAYS[0]); i++) {
        if (TYPED_ARRAYS[i].tag == tag) {
            cbor_expect(w, BYTES, "a typed array of something else than bytes", &h);
            bytes = cbor_take_bytes(w, &h);
            if (bytes != NULL && h.argument % TYPED_ARRAYS[i].element_bytes != 0) {
                cbor_fail(w, "half an element of a typed array");
            }
            cbor_put(w, "{\"$");
            cbor_put(w, TYPED_ARRAYS[i].name);
            cbor_put(w, "\":");
            if (bytes != NULL) {
                put_base64(w, bytes, (size_t)h.argument);
            }
            cbor_put(w, "}");
            return (size_t)h.argument / TYPED_ARRAYS[i].element_bytes;
        }
    }
    cbor_fail(w, "an unknown tag");
    return 0;
}

static void walk_error(struct walk *w, uint64_t count, unsigned depth)
{
    static const char *const names[] = {"{\"$error\":{\"name\":", ",\"message\":", ",\"stack\":"};
    size_t i;

    for (i = 0; i < 3; i++) {
        cbor_put(w, names[i]);
        cbor_walk_text(w);
    }
    if (count == 5) {
        cbor_put(w, ",\"cause\":");
        cbor_walk_value(w, depth + 1);
    }
    cbor_put(w, "}}");
}

static void walk_sparse(struct walk *w, unsigned depth)
{
    char text[48];
    struct head h;
    uint64_t i, pairs, length;

    cbor_expect(w, UINT, "a sparse array without a length", &h);
    length = h.argument;
    cbor_expect(w, MAP, "a sparse array without elements", &h);
    pairs = h.argument;
    cbor_check_count(w, pairs, 2);
    if (w->r == 0 && (length > UINT32_MAX || pairs > length)) {
        cbor_fail(w, "a sparse array that is too long");
    }
    (void)snprintf(text, sizeof(text), "{\"$array\":[%" PRIu64 ",[", length);
    cbor_put(w, text);
    for (i = 0; i < pairs && w->r == 0; i++) {
        cbor_expect(w, UINT, "an element that is not numbered", &h);
        if (w->r == 0 && h.argument >= length) {
            cbor_fail(w, "an element beyond the end of its array");
        }
        (void)snprintf(text, sizeof(text), "%s[%" PRIu64 ",", i > 0 ? "," : "", h.argument);
        cbor_put(w, text);
        cbor_walk_value(w, depth + 1);
        cbor_put(w, "]");
    }
    cbor_put(w, "]]}");
}

/* [type name, ...] */
static void walk_object(struct walk *w, unsigned depth)
{
    const unsigned char *name, *bytes;
    struct head h, array;
    char text[48];

    cbor_expect(w, ARRAY, "an object without parts", &array);
    cbor_expect(w, TEXT, "an object without a type", &h);
    name = cbor_take_bytes(w, &h);
    if (name == NULL) {
        return;
    }
    if (h.argument == 11 && memcmp(name, "ArrayBuffer", 11) == 0 && array.argument == 2) {
        cbor_expect(w, BYTES, "an ArrayBuffer of something else than bytes", &h);
        bytes = cbor_take_bytes(w, &h);
        cbor_put(w, "{\"$ArrayBuffer\":");
        if (bytes != NULL) {
            put_base64(w, bytes, (size_t)h.argument);
        }
        cbor_put(w, "}");
    } else if (h.argument == 8 && memcmp(name, "Function", 8) == 0 && array.argument == 2) {
        cbor_expect(w, UINT, "a function without a number", &h);
        (void)snprintf(text, sizeof(text), "{\"$function\":%" PRIu64 "}", h.argument);
        cbor_put(w, text);
    } else if (h.argument == 5 && memcmp(name, "Array", 5) == 0 && array.argument == 3) {
        walk_sparse(w, depth);
    } else if (h.argument == 5 && memcmp(name, "Error", 5) == 0 &&
               (array.argument == 4 || array.argument == 5)) {
        walk_error(w, array.argument, depth);
    } else if (!cbor_walk_more_object(w, (const char *)name, h.argument, array.argument, depth)) {
        cbor_fail(w, "an object of an unknown type");
    }
}

static void walk_date(struct walk *w)
{
    struct head h;

    cbor_take_head(w, &h);
    if (w->r != 0) {
        return;
    }
    if (h.major == UINT || h.major == NEGATIVE) {
        put_date(w, h.major == UINT ? (double)h.argument : -1 - (double)h.argument);
    } else if (h.major == SIMPLE && h.info >= 25 && h.info <= 27) {
        put_date(w, cbor_take_float(&h));
    } else {
        cbor_fail(w, "a date that is not a number");
    }
}

/* A text with a tag around it. */
static void walk_named_text(struct walk *w, const char *begin)
{
    cbor_put(w, begin);
    cbor_walk_text(w);
    cbor_put(w, "}");
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
        cbor_expect(w, BYTES, "a BigInt of something else than bytes", &h);
        bytes = cbor_take_bytes(w, &h);
        if (bytes != NULL) {
            cbor_put_bigint(w, bytes, (size_t)h.argument, tag == TAG_BIGINT_NEGATIVE);
        }
        break;
    case TAG_SET:
        cbor_expect(w, ARRAY, "a Set of something else than an array", &h);
        cbor_put(w, "{\"$set\":");
        cbor_walk_items(w, h.argument, depth);
        cbor_put(w, "}");
        break;
    case TAG_MAP:
        cbor_expect(w, MAP, "a Map of something else than pairs", &h);
        cbor_put(w, "{\"$map\":");
        walk_pairs(w, h.argument, depth);
        cbor_put(w, "}");
        break;
    case TAG_REGEXP:
        cbor_expect(w, ARRAY, "a RegExp of something else than an array", &h);
        if (w->r == 0 && h.argument != 2) {
            cbor_fail(w, "a RegExp without its two parts");
        }
        cbor_put(w, "{\"$regexp\":[");
        cbor_walk_text(w);
        cbor_put(w, ",");
        cbor_walk_text(w);
        cbor_put(w, "]}");
        break;
    case TAG_OBJECT:
        walk_object(w, depth);
        break;
    default:
        if (!cbor_walk_more_tag(w, tag)) {
            (void)cbor_walk_typed_array(w, tag);
        }
        break;
    }
}

static void walk_simple(struct walk *w, const struct head *h)
{
    switch (h->info) {
    case 20:
        cbor_put(w, "false");
        break;
    case 21:
        cbor_put(w, "true");
        break;
    case 22:
        cbor_put(w, "null");
        break;
    case 23:
        cbor_put(w, "{\"$undefined\":true}");
        break;
    case 25:
    case 26:
    case 27:
        cbor_put_double(w, cbor_take_float(h));
        break;
    default:
        cbor_fail(w, "an unknown simple value");
        break;
    }
}

void cbor_walk_number(struct walk *w, const struct head *h)
{
    char text[32];

    if (h->argument > INT64_MAX) {
        cbor_fail(w, "an integer that is no JavaScript number");
        return;
    }
    (void)snprintf(text, sizeof(text), "%" PRId64,
        h->major == UINT ? (int64_t)h->argument : -1 - (int64_t)h->argument);
    cbor_put(w, text);
}

void cbor_walk_value(struct walk *w, unsigned depth)
{
    const unsigned char *bytes;
    struct head h;

    if (depth > VALUE_CBOR_DEPTH_MAX) {
        cbor_fail(w, "too many levels");
        return;
    }
    cbor_take_head(w, &h);
    if (w->r != 0) {
        return;
    }
    switch (h.major) {
    case UINT:
    case NEGATIVE:
        cbor_walk_number(w, &h);
        break;
    case BYTES:
    case TEXT:
        bytes = cbor_take_bytes(w, &h);
        if (bytes != NULL && h.major == TEXT) {
            cbor_put_text(w, (const char *)bytes, (size_t)h.argument);
        } else if (bytes != NULL) {
            cbor_put_bytes(w, bytes, (size_t)h.argument);
        }
        break;
    case ARRAY:
        cbor_walk_items(w, h.argument, depth);
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
    cbor_walk_value(w, 0);
    if (w->r == 0 && w->at != w->len) {
        cbor_fail(w, "something behind the value");
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
