/* cbor_more.c - values that Python has and JavaScript has not: decimals and fractions, days and
 * durations, arrays of several dimensions, tables. See cbor.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "value/cbor_walk.h"

enum {
    TAG_DECIMAL = 4,
    TAG_FRACTION = 30,
    TAG_UUID = 37,
    TAG_NDARRAY = 40,
    TAG_DAY = 1004,
    UUID_BYTES = 16,
    DIMS_MAX = 32, /* numpy has no more */
    SECONDS_OF_DAY = 86400,
    DAYS_MAX = 999999999, /* of a timedelta, either way */
    PLAIN_ZEROS_MAX = 6,  /* behind the point before a decimal gets an exponent, as Python has it */
};

/* Of a decimal: what the module decimal can have on 64 bits, with the digits of its mantissa. */
static const uint64_t EXPONENT_MAX = UINT64_C(2000000000000000000);

/* ---- numbers ---- */

/* An integer in digits; one that is too long for it is refused. The length. */
static size_t take_digits(struct walk *w, char text[DECIMAL_TEXT_BYTES])
{
    const unsigned char *bytes;
    struct head h, inner;

    text[0] = '\0';
    cbor_take_head(w, &h);
    if (w->r != 0) {
        return 0;
    }
    if ((h.major == UINT || h.major == NEGATIVE) && h.argument <= INT64_MAX) {
        return (size_t)snprintf(text, DECIMAL_TEXT_BYTES, "%" PRId64,
            h.major == UINT ? (int64_t)h.argument : -1 - (int64_t)h.argument);
    }
    if (h.major != TAG || (h.argument != TAG_BIGINT && h.argument != TAG_BIGINT_NEGATIVE)) {
        cbor_fail(w, "a decimal of something else than integers");
        return 0;
    }
    cbor_expect(w, BYTES, "a BigInt of something else than bytes", &inner);
    bytes = cbor_take_bytes(w, &inner);
    if (bytes == NULL || inner.argument > DECIMAL_BYTES_MAX) {
        cbor_fail(w, "a decimal with too many digits");
        return 0;
    }
    return cbor_decimal(bytes, (size_t)inner.argument, h.argument == TAG_BIGINT_NEGATIVE, text);
}

/* digits times ten to the exponent, as Python writes it; no form is longer than a few bytes more.
 */
static void put_scaled(struct walk *w, const char *digits, size_t len, int64_t exponent)
{
    char text[DECIMAL_TEXT_BYTES + 40];
    const char *first = digits + (digits[0] == '-' ? 1 : 0);
    int64_t count = (int64_t)len - (first - digits);
    int64_t left = exponent + count; /* digits in front of the point */
    int64_t point = exponent <= 0 && left > -PLAIN_ZEROS_MAX ? left : 1;
    int n;

    n = snprintf(text, sizeof(text), "%s", digits[0] == '-' ? "-" : "");
    if (point <= 0) {
        n += snprintf(text + n, sizeof(text) - (size_t)n, "0.%.*s%s", (int)-point, "000000", first);
    } else if (point >= count) {
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s", first);
    } else {
        n += snprintf(
            text + n, sizeof(text) - (size_t)n, "%.*s.%s", (int)point, first, first + point);
    }
    if (left != point) {
        (void)snprintf(text + n, sizeof(text) - (size_t)n, "E%+" PRId64, left - point);
    }
    cbor_put(w, text);
}

static void walk_decimal(struct walk *w)
{
    char digits[DECIMAL_TEXT_BYTES];
    struct head h;
    size_t len;

    cbor_expect(w, ARRAY, "a decimal without its two parts", &h);
    if (w->r == 0 && h.argument != 2) {
        cbor_fail(w, "a decimal without its two parts");
    }
    cbor_take_head(w, &h);
    if (w->r == 0 && ((h.major != UINT && h.major != NEGATIVE) || h.argument > EXPONENT_MAX)) {
        cbor_fail(w, "a decimal without an exponent");
    }
    len = take_digits(w, digits);
    if (w->r != 0) {
        return;
    }
    cbor_put(w, "{\"$decimal\":\"");
    put_scaled(w, digits, len, h.major == UINT ? (int64_t)h.argument : -1 - (int64_t)h.argument);
    cbor_put(w, "\"}");
}

/* One that has no such form: infinite, no number at all, or with very many digits. */
static void walk_decimal_text(struct walk *w)
{
    const unsigned char *bytes;
    struct head h;
    size_t i;

    cbor_expect(w, TEXT, "a decimal that is not text", &h);
    bytes = cbor_take_bytes(w, &h);
    for (i = 0; bytes != NULL && i < h.argument; i++) {
        if (strchr("0123456789.+-EeINFSafinstyq", bytes[i]) == NULL || bytes[i] == '\0') {
            cbor_fail(w, "a decimal with other signs than digits");
            return;
        }
    }
    if (bytes == NULL || h.argument == 0) {
        cbor_fail(w, "a decimal without digits");
        return;
    }
    cbor_put(w, "{\"$decimal\":");
    cbor_put_text(w, (const char *)bytes, (size_t)h.argument);
    cbor_put(w, "}");
}

/* An integer as everywhere; the second of a fraction is above zero. */
static void walk_integer(struct walk *w, int is_positive)
{
    const unsigned char *bytes;
    struct head h, inner;
    size_t i = 0;

    cbor_take_head(w, &h);
    if (w->r != 0) {
        return;
    }
    if (h.major == UINT || (h.major == NEGATIVE && !is_positive)) {
        if (is_positive && h.argument == 0) {
            cbor_fail(w, "a fraction whose denominator is zero");
        }
        cbor_walk_number(w, &h);
        return;
    }
    if (h.major != TAG || (h.argument != TAG_BIGINT && h.argument != TAG_BIGINT_NEGATIVE) ||
        (is_positive && h.argument != TAG_BIGINT)) {
        cbor_fail(w, "a fraction of something else than integers");
        return;
    }
    cbor_expect(w, BYTES, "a BigInt of something else than bytes", &inner);
    bytes = cbor_take_bytes(w, &inner);
    if (bytes == NULL) {
        return;
    }
    while (is_positive && i < inner.argument && bytes[i] == 0) {
        i++;
    }
    if (is_positive && i == inner.argument) {
        cbor_fail(w, "a fraction whose denominator is zero");
    }
    cbor_put_bigint(w, bytes, (size_t)inner.argument, h.argument == TAG_BIGINT_NEGATIVE);
}

static void walk_fraction(struct walk *w)
{
    struct head h;

    cbor_expect(w, ARRAY, "a fraction without its two parts", &h);
    if (w->r == 0 && h.argument != 2) {
        cbor_fail(w, "a fraction without its two parts");
    }
    cbor_put(w, "{\"$fraction\":[");
    walk_integer(w, 0);
    cbor_put(w, ",");
    walk_integer(w, 1);
    cbor_put(w, "]}");
}

static void walk_complex(struct walk *w)
{
    struct head h;
    int i;

    cbor_put(w, "{\"$complex\":");
    for (i = 0; i < 2; i++) {
        cbor_put(w, i == 0 ? "[" : ",");
        cbor_expect(w, SIMPLE, "a complex number of something else than floats", &h);
        if (w->r == 0 && (h.info < 25 || h.info > 27)) {
            cbor_fail(w, "a complex number of something else than floats");
        }
        if (w->r == 0) {
            cbor_put_double(w, cbor_take_float(&h));
        }
    }
    cbor_put(w, "]}");
}

static void walk_uuid(struct walk *w)
{
    const unsigned char *bytes;
    char text[2 * UUID_BYTES + 4 + 1];
    struct head h;
    size_t i;
    int n = 0;

    cbor_expect(w, BYTES, "a UUID of something else than bytes", &h);
    bytes = cbor_take_bytes(w, &h);
    if (bytes == NULL || h.argument != UUID_BYTES) {
        cbor_fail(w, "a UUID that is not 16 bytes long");
        return;
    }
    for (i = 0; i < UUID_BYTES; i++) {
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%02x",
            i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    }
    cbor_put(w, "{\"$uuid\":\"");
    cbor_put(w, text);
    cbor_put(w, "\"}");
}

/* ---- times ---- */

struct rest {
    const char *text;
    size_t len;
};

/* Takes what looks like the pattern, in which a 9 is any digit, from the beginning of a text. */
static int take_pattern(struct rest *rest, const char *pattern)
{
    size_t n = strlen(pattern);
    size_t i;

    if (rest->len < n) {
        return 0;
    }
    for (i = 0; i < n; i++) {
        if (pattern[i] == '9' ? rest->text[i] < '0' || rest->text[i] > '9'
                              : rest->text[i] != pattern[i]) {
            return 0;
        }
    }
    rest->text += n;
    rest->len -= n;
    return 1;
}

static int is_day(struct rest *rest)
{
    return take_pattern(rest, "9999-99-99") && rest->len == 0;
}

static int is_datetime(struct rest *rest)
{
    return take_pattern(rest, "9999-99-99T99:99:99") &&
           (rest->len == 0 || take_pattern(rest, ".999999")) && rest->len == 0;
}

/* With an offset, which may have seconds of its own, or without. */
static int is_time(struct rest *rest)
{
    if (!take_pattern(rest, "99:99:99")) {
        return 0;
    }
    (void)take_pattern(rest, ".999999");
    if (rest->len > 0 && (take_pattern(rest, "+99:99") || take_pattern(rest, "-99:99"))) {
        if (take_pattern(rest, ":99")) {
            (void)take_pattern(rest, ".999999");
        }
    }
    return rest->len == 0;
}

static void walk_time(struct walk *w, const char *begin, int (*is_such)(struct rest *rest))
{
    const unsigned char *bytes;
    struct rest rest;
    struct head h;

    cbor_expect(w, TEXT, "a time that is not text", &h);
    bytes = cbor_take_bytes(w, &h);
    if (bytes == NULL) {
        return;
    }
    rest = (struct rest){.text = (const char *)bytes, .len = (size_t)h.argument};
    if (!is_such(&rest)) {
        cbor_fail(w, "a text that is no time");
        return;
    }
    cbor_put(w, begin);
    cbor_put_text(w, (const char *)bytes, (size_t)h.argument);
    cbor_put(w, "}");
}

static int64_t take_small(struct walk *w, uint64_t max, int may_be_negative)
{
    struct head h;

    cbor_take_head(w, &h);
    if (w->r == 0 && ((h.major != UINT && (h.major != NEGATIVE || !may_be_negative)) ||
                         h.argument > max - (h.major == NEGATIVE ? 1 : 0))) {
        cbor_fail(w, "a timedelta that is out of bounds");
    }
    if (w->r != 0) {
        return 0;
    }
    return h.major == UINT ? (int64_t)h.argument : -1 - (int64_t)h.argument;
}

/* Seconds as a number, with all of its decimals. */
static void walk_timedelta(struct walk *w)
{
    int64_t days = take_small(w, DAYS_MAX, 1);
    int64_t seconds = days * SECONDS_OF_DAY + take_small(w, SECONDS_OF_DAY - 1, 0);
    int64_t us = take_small(w, 999999, 0);
    int is_negative = seconds < 0;
    char text[64];
    int n;

    if (is_negative) { /* the microseconds count upwards */
        seconds = us > 0 ? -seconds - 1 : -seconds;
        us = us > 0 ? 1000000 - us : 0;
    }
    n = snprintf(text, sizeof(text), "{\"$timedelta\":%s%" PRId64, is_negative ? "-" : "", seconds);
    (void)snprintf(text + n, sizeof(text) - (size_t)n, us > 0 ? ".%06" PRId64 "}" : "}", us);
    cbor_put(w, text);
}

/* ---- arrays and tables ---- */

/* [[dimensions], typed array] */
static void walk_ndarray(struct walk *w)
{
    const unsigned char *bytes;
    uint64_t dims, i, count = 1;
    char text[32];
    struct head h;
    uint64_t found = 0;

    cbor_expect(w, ARRAY, "an array without its two parts", &h);
    if (w->r == 0 && h.argument != 2) {
        cbor_fail(w, "an array without its two parts");
    }
    cbor_expect(w, ARRAY, "an array without dimensions", &h);
    dims = h.argument;
    if (w->r == 0 && (dims < 1 || dims > DIMS_MAX)) {
        cbor_fail(w, "an array without dimensions, or with too many");
    }
    cbor_put(w, "{\"$ndarray\":[[");
    for (i = 0; i < dims && w->r == 0; i++) {
        cbor_expect(w, UINT, "a dimension that is no number", &h);
        if (w->r == 0 &&
            (h.argument > INT64_MAX || __builtin_mul_overflow(count, h.argument, &count))) {
            cbor_fail(w, "an array that is too large");
        }
        (void)snprintf(text, sizeof(text), "%s%" PRIu64, i > 0 ? "," : "", h.argument);
        cbor_put(w, text);
    }
    cbor_put(w, "],");
    cbor_take_head(w, &h);
    if (w->r == 0 && h.major == TAG) {
        found = cbor_walk_typed_array(w, h.argument);
    } else if (w->r == 0 && h.major == BYTES) {
        bytes = cbor_take_bytes(w, &h);
        found = h.argument;
        if (bytes != NULL) {
            cbor_put_bytes(w, bytes, (size_t)found);
        }
    } else {
        cbor_fail(w, "an array of something else than numbers");
    }
    if (found != count) {
        cbor_fail(w, "an array whose dimensions are not those of its elements");
    }
    cbor_put(w, "]}");
}

/* A name of a member that has to come now. */
static void expect_name(struct walk *w, const char *name)
{
    const unsigned char *bytes;
    struct head h;

    cbor_expect(w, TEXT, "a table without all of its parts", &h);
    bytes = cbor_take_bytes(w, &h);
    if (bytes == NULL || h.argument != strlen(name) || memcmp(bytes, name, strlen(name)) != 0) {
        cbor_fail(w, "a table without all of its parts");
    }
    cbor_put(w, "\"");
    cbor_put(w, name);
    cbor_put(w, "\":");
}

/* Cells are three levels below the table's tag, as in the cell, which counts two. */
static uint64_t walk_rows(struct walk *w, uint64_t width, unsigned depth)
{
    struct head h;
    uint64_t i, rows;

    cbor_expect(w, ARRAY, "a table without rows", &h);
    rows = h.argument;
    cbor_check_count(w, rows, 1);
    cbor_put(w, "[");
    for (i = 0; i < rows && w->r == 0; i++) {
        cbor_put(w, i > 0 ? "," : "");
        cbor_expect(w, ARRAY, "a row that is no array", &h);
        if (w->r == 0 && h.argument != width) {
            cbor_fail(w, "a row that is not as wide as its table");
        }
        cbor_walk_items(w, h.argument, depth + 1);
    }
    cbor_put(w, "]");
    return rows;
}

static void walk_table(struct walk *w, unsigned depth)
{
    uint64_t width, rows, labels = 0;
    int is_labelled;
    char text[32];
    struct head h;

    cbor_expect(w, MAP, "a table without its parts", &h);
    if (w->r == 0 && h.argument != 4) {
        cbor_fail(w, "a table without all of its parts");
    }
    cbor_put(w, "{\"$table\":{");
    expect_name(w, "columns");
    cbor_expect(w, ARRAY, "a table without columns", &h);
    width = h.argument;
    cbor_walk_items(w, width, depth + 1);
    cbor_put(w, ",");
    expect_name(w, "index");
    cbor_take_head(w, &h);
    is_labelled = h.major == ARRAY;
    if (w->r == 0 && is_labelled) {
        labels = h.argument;
        cbor_walk_items(w, labels, depth + 1);
    } else if (w->r == 0 && (h.major != SIMPLE || h.info != 22)) {
        cbor_fail(w, "an index that is no array");
    } else {
        cbor_put(w, "null");
    }
    cbor_put(w, ",");
    expect_name(w, "rows");
    rows = walk_rows(w, width, depth);
    if (w->r == 0 && is_labelled && labels != rows) {
        cbor_fail(w, "an index that is not as long as its table");
    }
    cbor_put(w, ",");
    expect_name(w, "row_count");
    cbor_expect(w, UINT, "a table without a number of rows", &h);
    if (w->r == 0 && (h.argument < rows || h.argument > INT64_MAX)) {
        cbor_fail(w, "a table with fewer rows than it has");
    }
    (void)snprintf(text, sizeof(text), "%" PRIu64 "}}", h.argument);
    cbor_put(w, text);
}

/* ---- all ---- */

int cbor_walk_more_tag(struct walk *w, uint64_t tag)
{
    switch (tag) {
    case TAG_DECIMAL:
        walk_decimal(w);
        return 1;
    case TAG_FRACTION:
        walk_fraction(w);
        return 1;
    case TAG_UUID:
        walk_uuid(w);
        return 1;
    case TAG_NDARRAY:
        walk_ndarray(w);
        return 1;
    case TAG_DAY:
        walk_time(w, "{\"$day\":", is_day);
        return 1;
    default:
        return 0;
    }
}

int cbor_walk_more_object(
    struct walk *w, const char *name, uint64_t name_len, uint64_t count, unsigned depth)
{
    static const struct {
        char name[12];
        uint8_t name_len, count;
    } objects[] = {{"complex", 7, 3}, {"datetime", 8, 2}, {"time", 4, 2}, {"timedelta", 9, 4},
        {"Decimal", 7, 2}, {"Table", 5, 2}};
    size_t i;

    for (i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        if (objects[i].name_len == name_len && objects[i].count == count &&
            memcmp(objects[i].name, name, (size_t)name_len) == 0) {
            break;
        }
    }
    switch (i) {
    case 0:
        walk_complex(w);
        return 1;
    case 1:
        walk_time(w, "{\"$datetime\":", is_datetime);
        return 1;
    case 2:
        walk_time(w, "{\"$time\":", is_time);
        return 1;
    case 3:
        walk_timedelta(w);
        return 1;
    case 4:
        walk_decimal_text(w);
        return 1;
    case 5:
        walk_table(w, depth);
        return 1;
    default:
        return 0;
    }
}
