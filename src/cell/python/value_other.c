/* value_other.c - values of the standard library's types: times, decimals, fractions, identifiers,
 * regular expressions. See value_walk.h. */
#include "cell/python/value_walk.h"

#include <datetime.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SECONDS_OF_DAY = 86400,
    FLAG_IGNORECASE = 2, /* of the module re */
    FLAG_MULTILINE = 8,
    FLAG_DOTALL = 16,
    FLAG_UNICODE = 32,
};

int value_other_warm(void)
{
    PyDateTime_IMPORT;
    return PyDateTimeAPI != NULL ? 0 : -1;
}

/* ---- times ---- */

/* Days from 1970-01-01 in the Gregorian calendar. */
static int64_t days_of(int64_t year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400; /* years are positive here */
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* The text of the day that is so many days after 1970-01-01; years from 0 to 10000 only. */
static int day_text(int64_t days, char *text, size_t size)
{
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    int day = (int)(of_year - (153 * month + 2) / 5 + 1);

    month = month < 10 ? month + 3 : month - 9;
    year += era * 400 + (month <= 2 ? 1 : 0);
    return snprintf(text, size, year <= 9999 ? "%04d-%02d-%02d" : "+%06d-%02d-%02d", (int)year,
        (int)month, day);
}

/* The offset from UTC in microseconds; 1 when there is one, 0 when the time is naive, -1. */
static int offset_of(PyObject *time, int64_t *ret)
{
    PyObject *zone = PyDateTime_DATE_GET_TZINFO(time);
    PyObject *offset;

    *ret = 0;
    if (zone == Py_None || zone == PyDateTime_TimeZone_UTC) {
        return zone != Py_None;
    }
    offset = PyObject_CallOneArg(value_types.datetime_offset, time);
    if (offset == NULL) {
        return -1;
    }
    if (!PyDelta_Check(offset)) {
        Py_DECREF(offset);
        return 0;
    }
    *ret = (PyDateTime_DELTA_GET_DAYS(offset) * (int64_t)SECONDS_OF_DAY +
               PyDateTime_DELTA_GET_SECONDS(offset)) *
               1000000 +
           PyDateTime_DELTA_GET_MICROSECONDS(offset);
    Py_DECREF(offset);
    return 1;
}

/* Seconds as a number when they give the same milliseconds back, as JavaScript does it, else text.
 */
static int put_moment(struct walk *w, int64_t us, unsigned depth)
{
    int64_t seconds = us >= 0 ? us / 1000000 : -((-us + 999999) / 1000000);
    int rest = (int)(us - seconds * 1000000);
    int64_t days = seconds >= 0 ? seconds / SECONDS_OF_DAY
                                : -((-seconds + SECONDS_OF_DAY - 1) / SECONDS_OF_DAY);
    int of_day = (int)(seconds - days * SECONDS_OF_DAY);
    int64_t whole = us / 1000;
    double ms = (double)whole;
    char text[64];
    int n;

    if (us % 1000 == 0 && round(ms / 1000 * 1000) == ms) {
        if (value_put_head(w, CBOR_TAG, TAG_DATE) < 0) {
            return -1;
        }
        return rest == 0 ? value_put_small(w, seconds) : value_put_double(w, ms / 1000, depth);
    }
    n = day_text(days, text, sizeof(text));
    (void)snprintf(text + n, sizeof(text) - (size_t)n, "T%02d:%02d:%02d.%06dZ", of_day / 3600,
        of_day / 60 % 60, of_day % 60, rest);
    return value_put_head(w, CBOR_TAG, TAG_DATE_TEXT) < 0 ? -1 : value_put_text(w, text);
}

static int walk_datetime(struct walk *w, PyObject *time, unsigned depth)
{
    int year = PyDateTime_GET_YEAR(time), month = PyDateTime_GET_MONTH(time);
    int day = PyDateTime_GET_DAY(time), hour = PyDateTime_DATE_GET_HOUR(time);
    int minute = PyDateTime_DATE_GET_MINUTE(time), second = PyDateTime_DATE_GET_SECOND(time);
    int us = PyDateTime_DATE_GET_MICROSECOND(time);
    char text[64];
    int64_t offset;
    int n, r;

    if (strcmp(Py_TYPE(time)->tp_name, "NaTType") == 0) {
        return value_put_none(w); /* pandas: not a time */
    }
    if (value_needs_cbor(w, depth, "a datetime", "use its isoformat()") < 0) {
        return -1;
    }
    r = offset_of(time, &offset);
    if (r != 0) {
        return r < 0 ? -1
                     : put_moment(w,
                           (days_of(year, month, day) * SECONDS_OF_DAY + (int64_t)hour * 3600 +
                               (int64_t)minute * 60 + second) *
                                   1000000 +
                               us - offset,
                           depth);
    }
    n = snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, hour,
        minute, second);
    if (us != 0) {
        (void)snprintf(text + n, sizeof(text) - (size_t)n, ".%06d", us);
    }
    return value_put_object(w, "datetime", 2) < 0 ? -1 : value_put_text(w, text);
}

static int walk_date(struct walk *w, PyObject *date, unsigned depth)
{
    char text[40];

    (void)snprintf(text, sizeof(text), "%04d-%02d-%02d", PyDateTime_GET_YEAR(date),
        PyDateTime_GET_MONTH(date), PyDateTime_GET_DAY(date));
    return value_needs_cbor(w, depth, "a date", "use its isoformat()") < 0 ||
                   value_put_head(w, CBOR_TAG, TAG_DAY) < 0
               ? -1
               : value_put_text(w, text);
}

static int walk_time(struct walk *w, PyObject *time, unsigned depth)
{
    PyObject *text;
    int r;

    if (value_needs_cbor(w, depth, "a time", "use its isoformat()") < 0) {
        return -1;
    }
    text = PyObject_CallOneArg(value_types.time_text, time);
    r = text != NULL && value_put_object(w, "time", 2) == 0 ? value_put_str(w, text) : -1;
    Py_XDECREF(text);
    return r;
}

static int walk_timedelta(struct walk *w, PyObject *delta, unsigned depth)
{
    return value_needs_cbor(w, depth, "a timedelta", "use its total_seconds()") < 0 ||
                   value_put_object(w, "timedelta", 4) < 0 ||
                   value_put_small(w, PyDateTime_DELTA_GET_DAYS(delta)) < 0 ||
                   value_put_small(w, PyDateTime_DELTA_GET_SECONDS(delta)) < 0
               ? -1
               : value_put_small(w, PyDateTime_DELTA_GET_MICROSECONDS(delta));
}

/* ---- numbers ---- */

/* The digits and the exponent of a text that Decimal wrote: 0, or -1 when it is not of that kind,
 * as infinities, -0 and what is too long for it. */
static int split_decimal(const char *text, char digits[DECIMAL_DIGITS_MAX + 2], int64_t *ret)
{
    const char *p = text + (text[0] == '-' ? 1 : 0);
    int64_t exponent = 0, sign = 1;
    int is_fraction = 0, is_zero = 1;
    size_t n = 0;

    if (text[0] == '-') {
        digits[n++] = '-';
    }
    for (; (*p >= '0' && *p <= '9') || (*p == '.' && !is_fraction); p++) {
        if (*p == '.') {
            is_fraction = 1;
            continue;
        }
        if (n > DECIMAL_DIGITS_MAX) {
            return -1;
        }
        is_zero = is_zero && *p == '0';
        digits[n++] = *p;
        exponent -= is_fraction;
    }
    digits[n] = '\0';
    if (*p == 'E' || *p == 'e') {
        int64_t v = 0;

        p++;
        sign = *p == '-' ? -1 : 1;
        for (p += *p == '-' || *p == '+' ? 1 : 0; *p >= '0' && *p <= '9' && v < INT64_C(1) << 58;
             p++) {
            v = v * 10 + (*p - '0');
        }
        exponent += sign * v;
    }
    *ret = exponent;
    return *p != '\0' || n == 0 || (is_zero && text[0] == '-') ? -1 : 0;
}

static int walk_decimal(struct walk *w, PyObject *number, unsigned depth)
{
    char digits[DECIMAL_DIGITS_MAX + 2];
    PyObject *text, *mantissa;
    int64_t exponent;
    int r;

    if (value_needs_cbor(w, depth, "a Decimal", "use str(...)") < 0) {
        return -1;
    }
    text = PyObject_CallOneArg(value_types.decimal_text, number);
    if (text == NULL || !PyUnicode_Check(text) || PyUnicode_AsUTF8(text) == NULL) {
        Py_XDECREF(text);
        return -1;
    }
    if (split_decimal(PyUnicode_AsUTF8(text), digits, &exponent) < 0) {
        r = value_put_object(w, "Decimal", 2) < 0 ? -1 : value_put_str(w, text);
        Py_DECREF(text);
        return r;
    }
    Py_DECREF(text);
    mantissa = PyLong_FromString(digits, NULL, 10);
    r = mantissa == NULL || value_put_head(w, CBOR_TAG, TAG_DECIMAL) < 0 ||
                value_put_head(w, CBOR_ARRAY, 2) < 0 || value_put_small(w, exponent) < 0
            ? -1
            : value_put_int(w, mantissa, depth);
    Py_XDECREF(mantissa);
    return r;
}

/* What a descriptor of a class gives for an object of it: a new reference, or NULL. */
static PyObject *read_slot(PyObject *descriptor, PyObject *object)
{
    return Py_TYPE(descriptor)->tp_descr_get(descriptor, object, (PyObject *)Py_TYPE(object));
}

static int walk_fraction(struct walk *w, PyObject *fraction, unsigned depth)
{
    PyObject *numerator = read_slot(value_types.fraction_numerator, fraction);
    PyObject *denominator =
        numerator != NULL ? read_slot(value_types.fraction_denominator, fraction) : NULL;
    int r;

    if (denominator == NULL || !PyLong_Check(numerator) || !PyLong_Check(denominator) ||
        _PyLong_Sign(denominator) <= 0) {
        PyErr_Clear();
        r = value_refuse_object(w, fraction, depth);
    } else {
        r = value_needs_cbor(w, depth, "a Fraction", "use str(...)") < 0 ||
                    value_put_head(w, CBOR_TAG, TAG_FRACTION) < 0 ||
                    value_put_head(w, CBOR_ARRAY, 2) < 0 || value_put_int(w, numerator, depth) < 0
                ? -1
                : value_put_int(w, denominator, depth);
    }
    Py_XDECREF(numerator);
    Py_XDECREF(denominator);
    return r;
}

static int walk_uuid(struct walk *w, PyObject *uuid, unsigned depth)
{
    PyObject *number = read_slot(value_types.uuid_int, uuid);
    unsigned char bytes[UUID_BYTES];
    int r;

    if (number == NULL || !PyLong_Check(number) || _PyLong_Sign(number) < 0 ||
        _PyLong_NumBits(number) > (size_t)8 * UUID_BYTES ||
        _PyLong_AsByteArray((PyLongObject *)number, bytes, sizeof(bytes), 0, 0) < 0) {
        PyErr_Clear();
        r = value_refuse_object(w, uuid, depth);
    } else {
        r = value_needs_cbor(w, depth, "a UUID", "use str(...)") < 0 ||
                    value_put_head(w, CBOR_TAG, TAG_UUID) < 0
                ? -1
                : value_put_octets(w, (const char *)bytes, sizeof(bytes));
    }
    Py_XDECREF(number);
    return r;
}

/* ---- regular expressions ---- */

/* A RegExp when JavaScript has all of its flags, else only its source. */
static int walk_pattern(struct walk *w, PyObject *pattern, unsigned depth)
{
    PyObject *source = read_slot(value_types.pattern_source, pattern);
    PyObject *flags = source != NULL ? read_slot(value_types.pattern_flags, pattern) : NULL;
    long bits = flags != NULL ? PyLong_AsLong(flags) : -1;
    char text[4];
    int r;

    if (bits < 0) {
        r = -1;
    } else if (!PyUnicode_Check(source) ||
               (bits & ~(FLAG_IGNORECASE | FLAG_MULTILINE | FLAG_DOTALL | FLAG_UNICODE)) != 0) {
        r = value_walk(w, source, depth); /* str or bytes */
    } else {
        (void)snprintf(text, sizeof(text), "%s%s%s", (bits & FLAG_IGNORECASE) != 0 ? "i" : "",
            (bits & FLAG_MULTILINE) != 0 ? "m" : "", (bits & FLAG_DOTALL) != 0 ? "s" : "");
        r = value_needs_cbor(w, depth, "a compiled pattern", "use its pattern") < 0 ||
                    value_put_head(w, CBOR_TAG, TAG_REGEXP) < 0 ||
                    value_put_head(w, CBOR_ARRAY, 2) < 0 || value_put_str(w, source) < 0
                ? -1
                : value_put_text(w, text);
    }
    Py_XDECREF(source);
    Py_XDECREF(flags);
    return r;
}

int value_walk_other(struct walk *w, PyObject *object, unsigned depth)
{
    PyTypeObject *type = Py_TYPE(object);
    int r;

    if (PyDateTime_Check(object)) {
        r = walk_datetime(w, object, depth);
    } else if (PyDate_Check(object)) {
        r = walk_date(w, object, depth);
    } else if (PyTime_Check(object)) {
        r = walk_time(w, object, depth);
    } else if (PyDelta_Check(object)) {
        r = walk_timedelta(w, object, depth);
    } else if (PyType_IsSubtype(type, value_types.decimal)) {
        r = walk_decimal(w, object, depth);
    } else if (PyType_IsSubtype(type, value_types.fraction)) {
        r = walk_fraction(w, object, depth);
    } else if (PyType_IsSubtype(type, value_types.uuid)) {
        r = walk_uuid(w, object, depth);
    } else if (type == value_types.pattern) {
        r = walk_pattern(w, object, depth);
    } else {
        return 0;
    }
    return r < 0 ? -1 : 1;
}
