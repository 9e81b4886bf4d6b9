/* value_decode.c - CBOR to Python objects. See value.h and docs/values.md.
 *
 * The host has checked the bytes, so an error here is rarely seen; but every length is looked at
 * all the same, since it costs next to nothing. */
#include "cell/python/value_decode.h"

#include <string.h>

PyObject *decode_fail(const struct decoder *d, const char *why)
{
    if (PyErr_Occurred() == NULL) {
        PyErr_Format(PyExc_ValueError, "CBOR: %s at byte %zu", why, d->at);
    }
    return NULL;
}

int decode_head(struct decoder *d, struct decode_head *ret)
{
    size_t n, i;

    if (d->at >= d->len) {
        (void)decode_fail(d, "the value ends too early");
        return -1;
    }
    ret->major = (enum value_major)(d->bytes[d->at] >> 5);
    ret->info = d->bytes[d->at++] & 31;
    ret->argument = ret->info;
    if (ret->info < 24) {
        return 0;
    }
    n = ret->info <= 27 ? (size_t)1 << (ret->info - 24) : 0;
    if (n == 0 || d->len - d->at < n) {
        (void)decode_fail(d, n == 0 ? "an indefinite length" : "the value ends too early");
        return -1;
    }
    ret->argument = 0;
    for (i = 0; i < n; i++) {
        ret->argument = ret->argument << 8 | d->bytes[d->at++];
    }
    return 0;
}

int decode_expect(struct decoder *d, enum value_major major, uint64_t *ret)
{
    struct decode_head h;

    if (decode_head(d, &h) < 0) {
        return -1;
    }
    if (h.major != major) {
        (void)decode_fail(d, "something else than there has to be");
        return -1;
    }
    *ret = h.argument;
    return 0;
}

const char *decode_bytes(struct decoder *d, uint64_t n)
{
    const char *bytes = (const char *)d->bytes + d->at;

    if (n > d->len - d->at) {
        (void)decode_fail(d, "the value ends too early");
        return NULL;
    }
    d->at += (size_t)n;
    return bytes;
}

static PyObject *text_of(struct decoder *d, uint64_t n)
{
    const char *bytes = decode_bytes(d, n);

    return bytes != NULL ? PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)n, NULL) : NULL;
}

PyObject *decode_text(struct decoder *d)
{
    uint64_t n;

    return decode_expect(d, CBOR_TEXT, &n) < 0 ? NULL : text_of(d, n);
}

PyObject *decode_list(struct decoder *d, uint64_t count, unsigned depth)
{
    PyObject *list, *item;
    uint64_t i;

    if (count > d->len - d->at) {
        return decode_fail(d, "a length beyond the end");
    }
    list = PyList_New((Py_ssize_t)count);
    for (i = 0; list != NULL && i < count; i++) {
        item = decode_value(d, depth + 1);
        if (item == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)i, item);
    }
    return list;
}

/* What was decoded is at most DECODE_DEPTH_MAX levels deep. */
PyObject *decode_frozen(PyObject *value)
{
    PyObject *frozen = value, *item;
    Py_ssize_t i;

    if (PyList_CheckExact(value)) {
        for (i = 0; i < PyList_GET_SIZE(value); i++) {
            item = decode_frozen(Py_NewRef(PyList_GET_ITEM(value, i)));
            if (item == NULL || PyList_SetItem(value, i, item) < 0) {
                Py_DECREF(value);
                return NULL;
            }
        }
        frozen = PyList_AsTuple(value);
        Py_DECREF(value);
    } else if (PySet_CheckExact(value)) {
        frozen = PyFrozenSet_New(value);
        Py_DECREF(value);
    }
    return frozen;
}

/* Objects of JavaScript have names; a Map of its has keys, of which some cannot be those of a dict:
 * it then becomes a list of pairs. Arrays as keys are tuples. */
static PyObject *pairs_as_list(PyObject *dict)
{
    PyObject *items = PyDict_Items(dict);

    Py_DECREF(dict);
    return items;
}

static int add_pair(PyObject **to, PyObject *key, PyObject *value)
{
    PyObject *pair;
    int r;

    if (PyDict_Check(*to)) {
        if (PyDict_SetItem(*to, key, value) == 0) {
            return 0;
        }
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
            return -1;
        }
        PyErr_Clear(); /* it has no hash */
        *to = pairs_as_list(*to);
        if (*to == NULL) {
            return -1;
        }
    }
    pair = PyTuple_Pack(2, key, value);
    r = pair != NULL ? PyList_Append(*to, pair) : -1;
    Py_XDECREF(pair);
    return r;
}

PyObject *decode_pairs(struct decoder *d, uint64_t count, int is_map, unsigned depth)
{
    PyObject *pairs, *key, *value;
    uint64_t i;
    int r = 0;

    if (count > (d->len - d->at) / 2) {
        return decode_fail(d, "a length beyond the end");
    }
    pairs = PyDict_New();
    for (i = 0; pairs != NULL && i < count && r == 0; i++) {
        key = is_map ? decode_value(d, depth + 1) : decode_text(d);
        key = is_map && key != NULL ? decode_frozen(key) : key;
        value = key != NULL ? decode_value(d, depth + 1) : NULL;
        r = value != NULL ? add_pair(&pairs, key, value) : -1;
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    if (r < 0) {
        Py_CLEAR(pairs);
    }
    return pairs;
}

static PyObject *simple_value(struct decoder *d, const struct decode_head *h)
{
    char bytes[8];
    double v;
    int i;

    for (i = 0; i < 8; i++) {
        bytes[i] = (char)(h->argument >> 8 * i);
    }
    switch (h->info) {
    case 20:
        Py_RETURN_FALSE;
    case 21:
        Py_RETURN_TRUE;
    case 22:
    case 23:
        Py_RETURN_NONE;
    case 25:
        v = PyFloat_Unpack2(bytes, 1);
        break;
    case 26:
        v = PyFloat_Unpack4(bytes, 1);
        break;
    case 27:
        v = PyFloat_Unpack8(bytes, 1);
        break;
    default:
        return decode_fail(d, "an unknown simple value");
    }
    return v == -1.0 && PyErr_Occurred() != NULL ? NULL : PyFloat_FromDouble(v);
}

PyObject *decode_value(struct decoder *d, unsigned depth)
{
    struct decode_head h;
    PyObject *value;
    const char *bytes;

    if (depth > DECODE_DEPTH_MAX) {
        return decode_fail(d, "too many levels");
    }
    if (decode_head(d, &h) < 0) {
        return NULL;
    }
    switch (h.major) {
    case CBOR_UINT:
        return PyLong_FromUnsignedLongLong(h.argument);
    case CBOR_NEGATIVE:
        value = PyLong_FromUnsignedLongLong(h.argument);
        if (value != NULL) {
            Py_SETREF(value, PyNumber_Invert(value));
        }
        return value;
    case CBOR_BYTES:
        bytes = decode_bytes(d, h.argument);
        return bytes != NULL ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)h.argument) : NULL;
    case CBOR_TEXT:
        return text_of(d, h.argument);
    case CBOR_ARRAY:
        return decode_list(d, h.argument, depth);
    case CBOR_MAP:
        return decode_pairs(d, h.argument, 0, depth);
    case CBOR_TAG:
        return decode_tag(d, h.argument, depth + 1);
    case CBOR_SIMPLE:
    default:
        return simple_value(d, &h);
    }
}

PyObject *py_value_from_cbor(const char *bytes, size_t len)
{
    struct decoder d = {.bytes = (const unsigned char *)bytes, .len = len};
    int collects = PyGC_Disable(); /* nothing here makes cycles, and looking for them takes long */
    PyObject *value = decode_value(&d, 0);

    if (collects) {
        (void)PyGC_Enable();
    }
    if (value != NULL && d.at != d.len) {
        Py_DECREF(value);
        return decode_fail(&d, "something behind the value");
    }
    return value;
}
