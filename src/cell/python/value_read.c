/* value_read.c - JSON to Python objects. See value.h.
 *
 * Input can be megabytes, so this is written for speed: one pass, strings that stand for themselves
 * are copied at once, names of members that come again are the same object, and the collector of
 * cycles rests meanwhile, since nothing here makes any. Why a text is no JSON is found out by
 * json_check, which has the words for it. */
#include "cell/python/value_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

enum {
    NAMES_COUNT = 256,   /* that are remembered; a power of two */
    NAME_BYTES_MAX = 32, /* of those: longer ones are rarely names */
    NUMBER_BYTES = 128,  /* longer ones are copied to the heap */
    INT_DIGITS = 18,     /* that always fit into 64 bits */
    POWER_MAX = 22,      /* 10^22 is a double exactly */
};

struct reader {
    const char *p;
    const char *end;
    PyObject *names[NAMES_COUNT]; /* owned: the last str of each hash */
};

static const int64_t EXACT_MAX = INT64_C(1) << 53;

static void skip_space(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r')) {
        r->p++;
    }
}

/* ---- strings ---- */

static int hex_at(const char *p, Py_UCS4 *ret)
{
    Py_UCS4 v = 0;
    int i;

    for (i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)p[i];
        unsigned digit = c >= '0' && c <= '9'   ? c - 48U
                         : c >= 'a' && c <= 'f' ? c - 87U
                         : c >= 'A' && c <= 'F' ? c - 55U
                                                : 16;

        if (digit > 15) {
            return -1;
        }
        v = v << 4 | digit;
    }
    *ret = v;
    return 0;
}

/* p is behind a backslash; where the escape ends, or NULL. Halves of a pair make one character. */
static const char *take_escape(const char *p, const char *end, Py_UCS4 *ret)
{
    static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    Py_UCS4 low;
    size_t i;

    if (p == end) {
        return NULL;
    }
    if (*p != 'u') {
        for (i = 0; i + 1 < sizeof(letters); i += 2) {
            if (letters[i] == *p) {
                *ret = (unsigned char)letters[i + 1];
                return p + 1;
            }
        }
        return NULL;
    }
    if (end - p < 5 || hex_at(p + 1, ret) < 0) {
        return NULL;
    }
    p += 5;
    if (*ret >= 0xd800 && *ret <= 0xdbff && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
        hex_at(p + 2, &low) == 0 && low >= 0xdc00 && low <= 0xdfff) {
        *ret = 0x10000 + ((*ret - 0xd800) << 10) + (low - 0xdc00);
        p += 6;
    }
    return p;
}

static Py_UCS4 character_of(const char *p, int n)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    Py_UCS4 c = (unsigned char)p[0] & masks[n];
    int i;

    for (i = 1; i < n; i++) {
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    }
    return c;
}

/* The end of the string that begins at p, behind its quote: at the closing quote, or NULL. */
static const char *find_end(const char *p, const char *end, int *ret_is_plain)
{
    *ret_is_plain = 1;
    while (p < end) {
        p += utf8_plain_run(p, end);
        if (p == end) {
            return NULL;
        }
        if (*p == '"') {
            return p;
        }
        *ret_is_plain = 0;
        if (*p == '\\') {
            p += end - p > 1 ? 2 : 1;
        } else {
            p++;
        }
    }
    return NULL;
}

/* With escapes or beyond ASCII: as characters of four bytes, of which Python makes what it needs.
 */
static PyObject *wide_string(const char *p, const char *end)
{
    Py_UCS4 *characters = malloc(sizeof(*characters) * (size_t)(end - p + 1));
    PyObject *text = NULL;
    Py_ssize_t count = 0;
    int n;

    if (characters == NULL) {
        return PyErr_NoMemory();
    }
    while (p != NULL && p < end) {
        if (*p == '\\') {
            p = take_escape(p + 1, end, &characters[count++]);
            continue;
        }
        n = (unsigned char)*p < 0x20 ? -1 : utf8_sequence(p, (size_t)(end - p));
        if (n < 0) {
            p = NULL;
            break;
        }
        characters[count++] = character_of(p, n);
        p += n;
    }
    if (p != NULL) {
        text = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, characters, count);
    }
    free(characters);
    return text;
}

static PyObject *plain_string(const char *p, size_t n)
{
    PyObject *text = PyUnicode_New((Py_ssize_t)n, 127);

    if (text != NULL && n > 0) {
        memcpy(PyUnicode_1BYTE_DATA(text), p, n);
    }
    return text;
}

/* r->p is behind the opening quote. NULL without an exception when it is no JSON. */
static PyObject *read_string(struct reader *r)
{
    const char *start = r->p;
    int is_plain;
    const char *end = find_end(start, r->end, &is_plain);

    if (end == NULL) {
        return NULL;
    }
    r->p = end + 1;
    return is_plain ? plain_string(start, (size_t)(end - start)) : wide_string(start, end);
}

static PyObject *read_name(struct reader *r)
{
    const char *start = r->p;
    size_t n = utf8_plain_run(start, r->end);
    uint32_t hash = 2166136261U;
    PyObject **known;
    size_t i;

    if (n > NAME_BYTES_MAX || n == (size_t)(r->end - start) || start[n] != '"') {
        return read_string(r);
    }
    for (i = 0; i < n; i++) {
        hash = (hash ^ (unsigned char)start[i]) * 16777619U;
    }
    known = &r->names[(hash ^ hash >> 16) % NAMES_COUNT];
    r->p = start + n + 1;
    if (*known != NULL && (size_t)PyUnicode_GET_LENGTH(*known) == n &&
        memcmp(PyUnicode_1BYTE_DATA(*known), start, n) == 0) {
        return Py_NewRef(*known);
    }
    Py_XSETREF(*known, plain_string(start, n));
    return Py_XNewRef(*known);
}

/* ---- numbers ---- */

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }
    return p;
}

/* What Python makes of the text; is_float says which of its two kinds of numbers. */
static PyObject *slow_number(const char *p, size_t n, int is_float)
{
    char short_text[NUMBER_BYTES];
    char *text = n < sizeof(short_text) ? short_text : malloc(n + 1);
    PyObject *number;
    double v;

    if (text == NULL) {
        return PyErr_NoMemory();
    }
    memcpy(text, p, n);
    text[n] = '\0';
    if (is_float) {
        v = PyOS_string_to_double(text, NULL, NULL);
        number = v == -1.0 && PyErr_Occurred() != NULL ? NULL : PyFloat_FromDouble(v);
    } else {
        number = PyLong_FromString(text, NULL, 10);
    }
    if (text != short_text) {
        free(text);
    }
    return number;
}

/* Digits around a point, when that is exact in doubles: NULL when it is not. */
static PyObject *quick_float(const char *p, const char *point, const char *end, int is_negative)
{
    static const double powers[POWER_MAX + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
        1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t v = 0;
    double result;

    if (end - p > INT_DIGITS + 1) {
        return NULL;
    }
    for (; p < end; p++) {
        v = p != point ? v * 10 + (*p - '0') : v;
    }
    if (v > EXACT_MAX) {
        return NULL;
    }
    result = (double)v / powers[end - point - 1];
    return PyFloat_FromDouble(is_negative ? -result : result);
}

static PyObject *read_number(struct reader *r)
{
    const char *start = r->p, *end = r->end;
    const char *digits = start + (*start == '-' ? 1 : 0);
    const char *p = skip_digits(digits, end);
    const char *point = NULL;
    PyObject *quick;
    int64_t v = 0;

    if (p == digits || (*digits == '0' && p - digits > 1)) {
        return NULL;
    }
    if (p < end && *p == '.') {
        point = p;
        p = skip_digits(p + 1, end);
        if (p == point + 1) {
            return NULL;
        }
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *exponent = p + 1;

        exponent += exponent < end && (*exponent == '+' || *exponent == '-') ? 1 : 0;
        p = skip_digits(exponent, end);
        r->p = p;
        return p == exponent ? NULL : slow_number(start, (size_t)(p - start), 1);
    }
    r->p = p;
    if (point != NULL) {
        quick = quick_float(digits, point, p, digits != start);
        return quick != NULL || PyErr_Occurred() != NULL
                   ? quick
                   : slow_number(start, (size_t)(p - start), 1);
    }
    if (p - digits > INT_DIGITS) {
        return slow_number(start, (size_t)(p - start), 0);
    }
    for (; digits < p; digits++) {
        v = v * 10 + (*digits - '0');
    }
    return PyLong_FromLongLong(*start == '-' ? -v : v);
}

/* ---- containers ---- */

static PyObject *read_value(struct reader *r, unsigned depth);

/* r->p is behind the bracket. */
static PyObject *read_array(struct reader *r, unsigned depth)
{
    PyObject *list = PyList_New(0);
    PyObject *item;
    int added;

    skip_space(r);
    if (list != NULL && r->p < r->end && *r->p == ']') {
        r->p++;
        return list;
    }
    while (list != NULL) {
        item = read_value(r, depth + 1);
        added = item != NULL ? PyList_Append(list, item) : -1;
        Py_XDECREF(item);
        skip_space(r);
        if (added < 0 || r->p == r->end || (*r->p != ',' && *r->p != ']')) {
            break;
        }
        if (*r->p++ == ']') {
            return list;
        }
    }
    Py_XDECREF(list);
    return NULL;
}

static int read_member(struct reader *r, PyObject *dict, unsigned depth)
{
    PyObject *name, *value;
    int added;

    skip_space(r);
    if (r->p == r->end || *r->p != '"') {
        return -1;
    }
    r->p++;
    name = read_name(r);
    if (name == NULL) {
        return -1;
    }
    skip_space(r);
    value = NULL;
    if (r->p < r->end && *r->p == ':') {
        r->p++;
        value = read_value(r, depth + 1);
    }
    added = value != NULL ? PyDict_SetItem(dict, name, value) : -1;
    Py_DECREF(name);
    Py_XDECREF(value);
    return added;
}

static PyObject *read_object(struct reader *r, unsigned depth)
{
    PyObject *dict = PyDict_New();

    skip_space(r);
    if (dict != NULL && r->p < r->end && *r->p == '}') {
        r->p++;
        return dict;
    }
    while (dict != NULL) {
        if (read_member(r, dict, depth) < 0) {
            break;
        }
        skip_space(r);
        if (r->p == r->end || (*r->p != ',' && *r->p != '}')) {
            break;
        }
        if (*r->p++ == '}') {
            return dict;
        }
    }
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *read_word(struct reader *r, const char *word, size_t n, PyObject *meaning)
{
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0) {
        return NULL;
    }
    r->p += n;
    return Py_NewRef(meaning);
}

/* A new reference; NULL with an exception, or without when the text is no JSON. */
static PyObject *read_value(struct reader *r, unsigned depth)
{
    skip_space(r);
    if (r->p == r->end) {
        return NULL;
    }
    switch (*r->p) {
    case '"':
        r->p++;
        return read_string(r);
    case '{':
    case '[':
        if (depth >= VALUE_JSON_DEPTH_MAX) {
            return NULL;
        }
        return *r->p++ == '{' ? read_object(r, depth) : read_array(r, depth);
    case 't':
        return read_word(r, "true", 4, Py_True);
    case 'f':
        return read_word(r, "false", 5, Py_False);
    case 'n':
        return read_word(r, "null", 4, Py_None);
    default:
        return read_number(r);
    }
}

static PyObject *fail_as_json_check(const char *bytes, size_t len)
{
    struct json_fault fault = {.line = 1, .column = 1, .why = "this is no JSON"};

    if (json_check(bytes, len, VALUE_JSON_DEPTH_MAX, &fault) == VIAL_OK) {
        fault.why = "this could not be read"; /* never: the two readers have one grammar */
    }
    PyErr_Format(PyExc_ValueError, "line %u, column %u: %s", fault.line, fault.column, fault.why);
    return NULL;
}

PyObject *py_value_from_json(const char *bytes, size_t len)
{
    struct reader r = {.p = bytes, .end = len > 0 ? bytes + len : bytes};
    int collects = PyGC_Disable();
    PyObject *value = read_value(&r, 0);
    size_t i;

    if (collects) {
        (void)PyGC_Enable();
    }
    for (i = 0; i < NAMES_COUNT; i++) {
        Py_XDECREF(r.names[i]);
    }
    if (value != NULL) {
        skip_space(&r);
        if (r.p != r.end) {
            Py_CLEAR(value);
        }
    }
    return value != NULL || PyErr_Occurred() != NULL ? value : fail_as_json_check(bytes, len);
}
