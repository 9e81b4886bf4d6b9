/* values_decode.c - what crossed the wall as Python values. See docs/values.md for the vocabulary.
 *
 * The library has checked the bytes. This reads them as a stranger's all the same: every length is
 * held against what is left. */
#include "binding.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct decoder {
    const unsigned char *at, *end;
    int depth;
    PyObject *context;
};

enum { INFO_FALSE = 20, INFO_TRUE = 21, INFO_NULL = 22, INFO_UNDEFINED = 23 };
enum { MAJOR_SIMPLE = 7, DEPTH_MAX = 512 };

static PyObject *read_value(struct decoder *d);

static PyObject *broken(const char *why)
{
    PyErr_Format(PyExc_ValueError, "these bytes are no CBOR of vial's: %s", why);
    return NULL;
}

/* 0, or -1 with an exception. */
static int read_head(struct decoder *d, unsigned *ret_major, unsigned *ret_info, uint64_t *ret_n)
{
    size_t len;

    if (d->at == d->end) {
        (void)broken("they end too early");
        return -1;
    }
    *ret_major = *d->at >> 5;
    *ret_info = *d->at & 31U;
    *ret_n = *ret_info;
    d->at++;
    if (*ret_info < 24) {
        return 0;
    }
    if (*ret_info > 27) {
        (void)broken("a length is not definite");
        return -1;
    }
    len = (size_t)1 << (*ret_info - 24);
    if ((size_t)(d->end - d->at) < len) {
        (void)broken("they end too early");
        return -1;
    }
    *ret_n = 0;
    for (size_t i = 0; i < len; i++) {
        *ret_n = *ret_n << 8 | d->at[i];
    }
    d->at += len;
    return 0;
}

static double read_half(uint64_t n)
{
    int exponent = (int)(n >> 10 & 31);
    double fraction = (double)(n & 1023);
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent != 31 ? ldexp(fraction + 1024, exponent - 25)
                   : fraction == 0  ? (double)INFINITY
                                    : (double)NAN;

    return (n & 0x8000) != 0 ? -value : value;
}

static PyObject *read_simple(unsigned info, uint64_t n)
{
    float single;
    double number;
    uint32_t bits;

    switch (info) {
    case INFO_FALSE:
        return PyBool_FromLong(0);
    case INFO_TRUE:
        return PyBool_FromLong(1);
    case INFO_NULL:
        Py_INCREF(Py_None);
        return Py_None;
    case INFO_UNDEFINED:
        Py_INCREF(binding.undefined);
        return binding.undefined;
    case 25:
        return PyFloat_FromDouble(read_half(n));
    case 26:
        bits = (uint32_t)n;
        memcpy(&single, &bits, sizeof(single));
        return PyFloat_FromDouble((double)single);
    case 27:
        memcpy(&number, &n, sizeof(number));
        return PyFloat_FromDouble(number);
    default:
        return broken("there is an unknown simple value");
    }
}

static PyObject *read_array(struct decoder *d, uint64_t count)
{
    PyObject *list;

    if (count > (uint64_t)(d->end - d->at)) {
        return broken("an array is longer than they are");
    }
    list = PyList_New((Py_ssize_t)count);
    for (uint64_t i = 0; i < count && list != NULL; i++) {
        PyObject *item = read_value(d);

        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *read_map(struct decoder *d, uint64_t count)
{
    PyObject *dict;

    if (count > (uint64_t)(d->end - d->at) / 2) {
        return broken("a map is longer than they are");
    }
    dict = PyDict_New();
    for (uint64_t i = 0; i < count && dict != NULL; i++) {
        PyObject *key = read_value(d);
        PyObject *value = key != NULL ? read_value(d) : NULL;

        if (key != NULL && value != NULL && PyObject_Hash(key) == -1) { /* a list, for instance */
            PyObject *other;

            PyErr_Clear();
            other = PyObject_CallFunction(binding.restore, "sOO", "key", key, Py_None);
            Py_DECREF(key);
            key = other;
        }
        if (key == NULL || value == NULL || PyDict_SetItem(dict, key, value) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *read_big(struct decoder *d, int is_negative)
{
    PyObject *bytes = read_value(d);
    PyObject *number = NULL;

    if (bytes != NULL && !PyBytes_Check(bytes)) {
        (void)broken("a large integer is no bytes");
    } else if (bytes != NULL) {
        number = PyObject_CallMethod((PyObject *)&PyLong_Type, "from_bytes", "Os", bytes, "big");
    }
    if (number != NULL && is_negative) {
        PyObject *inverted = PyNumber_Invert(number);

        Py_DECREF(number);
        number = inverted;
    }
    Py_XDECREF(bytes);
    return number;
}

static PyObject *read_tag(struct decoder *d, uint64_t tag)
{
    PyObject *value, *set, *restored;

    if (tag == 2 || tag == 3) {
        return read_big(d, tag == 3);
    }
    value = read_value(d);
    if (value == NULL || tag == 259) {
        return value;
    }
    if (tag == 258) {
        set = PySet_New(value);
        if (set != NULL || !PyErr_ExceptionMatches(PyExc_TypeError)) {
            Py_DECREF(value);
            return set;
        }
        PyErr_Clear(); /* something in it cannot be in a set as it is */
    }
    restored = PyObject_CallFunction(binding.restore, "KOO", (unsigned long long)tag, value,
        d->context != NULL ? d->context : Py_None);
    Py_DECREF(value);
    return restored;
}

static PyObject *read_body(struct decoder *d, unsigned major, unsigned info, uint64_t n)
{
    PyObject *number, *inverted;
    const char *bytes = (const char *)d->at;

    switch (major) {
    case 0:
        return PyLong_FromUnsignedLongLong(n);
    case 1:
        number = PyLong_FromUnsignedLongLong(n);
        inverted = number != NULL ? PyNumber_Invert(number) : NULL;
        Py_XDECREF(number);
        return inverted;
    case 2:
    case 3:
        if (n > (uint64_t)(d->end - d->at)) {
            return broken("a text is longer than they are");
        }
        d->at += n;
        return major == 2 ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)n)
                          : PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)n, "strict");
    case 4:
        return read_array(d, n);
    case 5:
        return read_map(d, n);
    case 6:
        return read_tag(d, n);
    default:
        return read_simple(info, n);
    }
}

static PyObject *read_value(struct decoder *d)
{
    PyObject *value;
    unsigned major, info;
    uint64_t n;

    if (read_head(d, &major, &info, &n) < 0) {
        return NULL;
    }
    if (d->depth >= DEPTH_MAX) {
        return broken("they are nested too deeply");
    }
    d->depth++;
    value = read_body(d, major, info, n);
    d->depth--;
    return value;
}

PyObject *decode_cbor(const char *bytes, size_t len, PyObject *context)
{
    struct decoder d = {.at = (const unsigned char *)bytes,
        .end = (const unsigned char *)bytes + len,
        .context = context};
    PyObject *value = read_value(&d);

    if (value != NULL && d.at != d.end) {
        Py_DECREF(value);
        return broken("something stands behind the value");
    }
    return value;
}

/* Most values are small numbers, so these do not go through the reader. */
static int is_small_number(const char *bytes, size_t len)
{
    if (len == 0 || len > 15 || (bytes[0] == '0' && len > 1)) {
        return 0;
    }
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') {
            return 0;
        }
    }
    return 1;
}

/* Are there sixteen digits in a row? */
static int has_long_number(const char *bytes, size_t len)
{
    enum { LONG = 16 };
    size_t i = LONG - 1;

    while (i < len) { /* such a row has one at every sixteenth place */
        size_t from = i, to = i;

        if (bytes[i] < '0' || bytes[i] > '9') {
            i += LONG;
            continue;
        }
        while (from > 0 && bytes[from - 1] >= '0' && bytes[from - 1] <= '9') {
            from--;
        }
        while (to + 1 < len && bytes[to + 1] >= '0' && bytes[to + 1] <= '9') {
            to++;
        }
        if (to - from + 1 >= LONG) {
            return 1;
        }
        i = to + LONG;
    }
    return 0;
}

PyObject *decode_json(const char *bytes, size_t len)
{
    PyObject *text, *value;

    if (is_small_number(bytes, len)) {
        long long n = 0;

        for (size_t i = 0; i < len; i++) {
            n = n * 10 + (bytes[i] - '0');
        }
        return PyLong_FromLongLong(n);
    }
    text = PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)len, "surrogatepass");
    if (text == NULL) {
        return NULL;
    }
    value = PyObject_CallFunctionObjArgs(
        has_long_number(bytes, len) ? binding.json_decode_long : binding.json_decode, text, NULL);
    Py_DECREF(text);
    return value;
}
