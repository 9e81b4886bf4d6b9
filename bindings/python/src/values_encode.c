/* values_encode.c - Python values as the bytes that cross the wall: JSON when JSON says all there
 * is to say, else CBOR in the vocabulary of docs/values.md.
 *
 * The plain types are written here. All others are given to _values.simplify, which makes them of
 * plain types and tags. */
#include "binding.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENCODE_FAILED = -1,
    ENCODE_NEEDS_CBOR = -2, /* JSON cannot say this */
    SIMPLIFY_MAX = 8,       /* how often a value may be simplified in a row */
    PATH_MAX_BYTES = 200,   /* of a path in a message */
};

#define SAFE_INTEGER_MAX ((1LL << 53) - 1)
#define VALUE_BYTES_MAX ((size_t)256 << 20) /* what the library would ever take */

enum {
    MAJOR_UNSIGNED = 0,
    MAJOR_NEGATIVE = 1,
    MAJOR_BYTES = 2,
    MAJOR_TEXT = 3,
    MAJOR_ARRAY = 4,
    MAJOR_MAP = 5,
    MAJOR_TAG = 6
};
enum { TAG_BIG = 2, TAG_BIG_NEGATIVE = 3, TAG_SET = 258, TAG_MAP = 259 };

struct encoder {
    struct bytes out;
    int is_cbor;
    int depth, depth_max;
    size_t bytes_max;
    const char *what;
    PyObject *context;
    PyObject *holders[VALUE_DEPTH_MAX + 1]; /* the containers that are open, borrowed */
    PyObject *keys[VALUE_DEPTH_MAX + 1];    /* and where in them we are: borrowed, or NULL */
    Py_ssize_t indexes[VALUE_DEPTH_MAX + 1];
};

static int write_value(struct encoder *e, PyObject *value);

void bytes_release(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){NULL, 0, 0};
}

int bytes_add(struct bytes *b, const void *data, size_t len)
{
    if (len > b->capacity - b->len) {
        size_t capacity = b->capacity != 0 ? b->capacity * 2 : 256;
        char *grown;

        while (capacity - b->len < len) {
            capacity *= 2;
        }
        grown = realloc(b->data, capacity);
        if (grown == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        b->data = grown;
        b->capacity = capacity;
    }
    memcpy(b->data + b->len, data, len);
    b->len += len;
    return 0;
}

/* Where in the value we are, as Python would write it. */
static PyObject *path_of(const struct encoder *e)
{
    PyObject *path = PyUnicode_FromString(e->what);

    for (int i = 0; i < e->depth && path != NULL && PyUnicode_GetLength(path) < PATH_MAX_BYTES;
         i++) {
        PyObject *longer = e->keys[i] != NULL
                               ? PyUnicode_FromFormat("%U[%R]", path, e->keys[i])
                               : PyUnicode_FromFormat("%U[%zd]", path, e->indexes[i]);

        Py_DECREF(path);
        path = longer;
    }
    return path;
}

static int refuse(const struct encoder *e, PyObject *type, const char *format, const char *name)
{
    PyObject *path = path_of(e);
    PyObject *reason = path != NULL ? PyUnicode_FromFormat(format, name) : NULL;

    if (reason != NULL) {
        PyErr_Format(type, "%U %U", path, reason);
    }
    Py_XDECREF(path);
    Py_XDECREF(reason);
    return ENCODE_FAILED;
}

static int add(struct encoder *e, const void *data, size_t len)
{
    if (len > e->bytes_max || e->out.len > e->bytes_max - len) {
        PyErr_Format(PyExc_ValueError, "Size limit exceeded: %s has more than %zu bytes", e->what,
            e->bytes_max);
        return ENCODE_FAILED;
    }
    return bytes_add(&e->out, data, len);
}

static int add_head(struct encoder *e, unsigned major, uint64_t n)
{
    unsigned char head[9];
    size_t len;

    if (n < 24) {
        head[0] = (unsigned char)(major << 5 | n);
        return add(e, head, 1);
    }
    len = n <= UINT8_MAX ? 1 : n <= UINT16_MAX ? 2 : n <= UINT32_MAX ? 4 : 8;
    head[0] = (unsigned char)(major << 5 | (len == 1 ? 24 : len == 2 ? 25 : len == 4 ? 26 : 27));
    for (size_t i = 0; i < len; i++) {
        head[1 + i] = (unsigned char)(n >> (8 * (len - 1 - i)));
    }
    return add(e, head, 1 + len);
}

/* ---- text ---- */

/* Is this the first of three bytes of a surrogate that is alone? */
static int is_surrogate(const char *bytes, size_t len, size_t at)
{
    return (unsigned char)bytes[at] == 0xed && at + 2 < len && (unsigned char)bytes[at + 1] >= 0xa0;
}

static int add_json_text(struct encoder *e, const char *bytes, size_t len)
{
    size_t done = 0;
    char escape[8];
    int r = add(e, "\"", 1);

    for (size_t i = 0; i < len && r == 0; i++) {
        unsigned char c = (unsigned char)bytes[i];
        size_t skip = 1;

        if (c == '"' || c == '\\') {
            (void)snprintf(escape, sizeof(escape), "\\%c", c);
        } else if (c < 0x20) {
            (void)snprintf(escape, sizeof(escape), "\\u%04x", c);
        } else if (is_surrogate(bytes, len, i)) {
            (void)snprintf(escape, sizeof(escape), "\\u%04x",
                0xd000U | ((unsigned char)bytes[i + 1] & 0x3fU) << 6 |
                    ((unsigned char)bytes[i + 2] & 0x3fU));
            skip = 3;
        } else {
            continue;
        }
        r = add(e, bytes + done, i - done);
        r = r < 0 ? r : add(e, escape, strlen(escape));
        i += skip - 1;
        done = i + 1;
    }
    r = r < 0 ? r : add(e, bytes + done, len - done);
    return r < 0 ? r : add(e, "\"", 1);
}

static int add_cbor_text(struct encoder *e, const char *bytes, size_t len)
{
    size_t from;
    int r = add_head(e, MAJOR_TEXT, len);

    from = e->out.len;
    r = r < 0 ? r : add(e, bytes, len);
    for (size_t i = 0; i < len && r == 0; i++) {
        if (is_surrogate(bytes, len, i)) {
            memcpy(e->out.data + from + i, "\xef\xbf\xbd", 3);
        }
    }
    return r;
}

static int write_text(struct encoder *e, PyObject *text)
{
    PyObject *utf8 = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    char *bytes;
    Py_ssize_t len;
    int r = ENCODE_FAILED;

    if (utf8 != NULL && PyBytes_AsStringAndSize(utf8, &bytes, &len) == 0) {
        if ((size_t)len > e->bytes_max) {
            PyErr_Format(
                PyExc_ValueError, "String size limit exceeded: %zd > %zu", len, e->bytes_max);
        } else {
            r = e->is_cbor ? add_cbor_text(e, bytes, (size_t)len)
                           : add_json_text(e, bytes, (size_t)len);
        }
    }
    Py_XDECREF(utf8);
    return r;
}

/* ---- numbers ---- */

static int write_big(struct encoder *e, PyObject *number, int is_negative)
{
    PyObject *magnitude, *bits, *bytes = NULL;
    char *data;
    Py_ssize_t len;
    int r = ENCODE_FAILED;

    if (!e->is_cbor) {
        return ENCODE_NEEDS_CBOR;
    }
    magnitude = is_negative ? PyNumber_Invert(number) : PyNumber_Long(number); /* -1 - n */
    bits = magnitude != NULL ? PyObject_CallMethod(magnitude, "bit_length", NULL) : NULL;
    if (bits != NULL) {
        bytes = PyObject_CallMethod(
            magnitude, "to_bytes", "ns", (PyLong_AsSsize_t(bits) + 7) / 8, "big");
    }
    if (bytes != NULL && PyBytes_AsStringAndSize(bytes, &data, &len) == 0) {
        r = add_head(e, MAJOR_TAG, is_negative ? TAG_BIG_NEGATIVE : TAG_BIG);
        r = r < 0 ? r : add_head(e, MAJOR_BYTES, (uint64_t)len);
        r = r < 0 ? r : add(e, data, (size_t)len);
    }
    Py_XDECREF(magnitude);
    Py_XDECREF(bits);
    Py_XDECREF(bytes);
    return r;
}

static int write_int(struct encoder *e, PyObject *number)
{
    char text[24];
    int overflow;
    long long n = PyLong_AsLongLongAndOverflow(number, &overflow);

    if (n == -1 && PyErr_Occurred() != NULL) {
        return ENCODE_FAILED;
    }
    if (overflow != 0 || n > SAFE_INTEGER_MAX || n < -SAFE_INTEGER_MAX) {
        return write_big(e, number, overflow < 0 || (overflow == 0 && n < 0));
    }
    if (e->is_cbor) {
        return n >= 0 ? add_head(e, MAJOR_UNSIGNED, (uint64_t)n)
                      : add_head(e, MAJOR_NEGATIVE, (uint64_t)(-1 - n));
    }
    (void)snprintf(text, sizeof(text), "%lld", n);
    return add(e, text, strlen(text));
}

static int write_float(struct encoder *e, PyObject *number)
{
    double n = PyFloat_AsDouble(number);
    unsigned char bytes[9] = {0xfb};
    uint64_t bits;
    char *text;
    int r;

    if (e->is_cbor) {
        memcpy(&bits, &n, sizeof(bits));
        for (int i = 0; i < 8; i++) {
            bytes[1 + i] = (unsigned char)(bits >> (8 * (7 - i)));
        }
        return add(e, bytes, sizeof(bytes));
    }
    if (!isfinite(n) || (n == 0 && signbit(n))) {
        return ENCODE_NEEDS_CBOR;
    }
    text = PyOS_double_to_string(n, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (text == NULL) {
        return ENCODE_FAILED;
    }
    r = add(e, text, strlen(text));
    PyMem_Free(text);
    return r;
}

/* ---- containers ---- */

static int enter(struct encoder *e, PyObject *holder)
{
    for (int i = 0; i < e->depth; i++) {
        if (e->holders[i] == holder) {
            return refuse(e, PyExc_ValueError, "is a circular reference to a %s that holds it",
                PyDict_Check(holder) ? "dict" : "list");
        }
    }
    if (e->depth >= e->depth_max) {
        PyErr_Format(PyExc_ValueError,
            "Depth exceeded maximum limit of %d: %s is nested too deeply to cross", e->depth_max,
            e->what);
        return ENCODE_FAILED;
    }
    e->holders[e->depth] = holder;
    e->keys[e->depth] = NULL;
    e->indexes[e->depth] = 0;
    e->depth++;
    return 0;
}

static int write_items(struct encoder *e, PyObject *items)
{
    Py_ssize_t count = PySequence_Size(items);
    int is_list = PyList_Check(items);
    int r = count < 0 ? ENCODE_FAILED : enter(e, items);

    if (r == 0) {
        r = e->is_cbor ? add_head(e, MAJOR_ARRAY, (uint64_t)count) : add(e, "[", 1);
        for (Py_ssize_t i = 0; i < count && r == 0; i++) {
            PyObject *item = is_list ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);

            e->indexes[e->depth - 1] = i;
            r = item == NULL ? ENCODE_FAILED : i > 0 && !e->is_cbor ? add(e, ",", 1) : 0;
            Py_XINCREF(item);
            r = r < 0 ? r : write_value(e, item);
            Py_XDECREF(item);
        }
        r = r < 0 || e->is_cbor ? r : add(e, "]", 1);
        if (r == 0 || r == ENCODE_NEEDS_CBOR) {
            e->depth--;
        }
    }
    return r;
}

static int has_text_keys(PyObject *dict)
{
    Py_ssize_t at = 0;
    PyObject *key;

    while (PyDict_Next(dict, &at, &key, NULL)) {
        if (!PyUnicode_Check(key)) {
            return 0;
        }
    }
    return 1;
}

static int write_pairs(struct encoder *e, PyObject *dict)
{
    Py_ssize_t count = PyDict_Size(dict);
    Py_ssize_t at = 0, done = 0;
    PyObject *key, *value;
    int r = e->is_cbor ? add_head(e, MAJOR_MAP, (uint64_t)count) : add(e, "{", 1);

    while (r == 0 && PyDict_Next(dict, &at, &key, &value)) {
        Py_INCREF(key);
        Py_INCREF(value);
        e->keys[e->depth - 1] = key;
        r = done > 0 && !e->is_cbor ? add(e, ",", 1) : 0;
        r = r < 0 ? r : write_value(e, key);
        r = r < 0 || e->is_cbor ? r : add(e, ":", 1);
        r = r < 0 ? r : write_value(e, value);
        Py_DECREF(key);
        Py_DECREF(value);
        if (r == 0 && (PyDict_Size(dict) != count || ++done > count)) {
            PyErr_SetString(PyExc_RuntimeError, "a dict changed while it was written");
            r = ENCODE_FAILED;
        }
    }
    return r < 0 || e->is_cbor ? r : add(e, "}", 1);
}

static int write_dict(struct encoder *e, PyObject *dict)
{
    int is_map = !has_text_keys(dict);
    int r;

    if (is_map && !e->is_cbor) {
        return ENCODE_NEEDS_CBOR;
    }
    r = enter(e, dict);
    r = r < 0 || !is_map ? r : add_head(e, MAJOR_TAG, TAG_MAP);
    r = r < 0 ? r : write_pairs(e, dict);
    if (r == 0 || r == ENCODE_NEEDS_CBOR) {
        e->depth--;
    }
    return r;
}

static int write_set(struct encoder *e, PyObject *set)
{
    PyObject *items;
    int r;

    if (!e->is_cbor) {
        return ENCODE_NEEDS_CBOR;
    }
    items = PySequence_List(set);
    if (items == NULL) {
        return ENCODE_FAILED;
    }
    r = add_head(e, MAJOR_TAG, TAG_SET);
    r = r < 0 ? r : write_items(e, items);
    Py_DECREF(items);
    return r;
}

static int write_bytes(struct encoder *e, PyObject *value)
{
    PyObject *bytes;
    char *data;
    Py_ssize_t len;
    int r = ENCODE_FAILED;

    if (!e->is_cbor) {
        return ENCODE_NEEDS_CBOR;
    }
    bytes = PyBytes_FromObject(value);
    if (bytes != NULL && PyBytes_AsStringAndSize(bytes, &data, &len) == 0) {
        r = add_head(e, MAJOR_BYTES, (uint64_t)len);
        r = r < 0 ? r : add(e, data, (size_t)len);
    }
    Py_XDECREF(bytes);
    return r;
}

/* ---- all of them ---- */

static int write_tagged(struct encoder *e, PyObject *tagged)
{
    unsigned long long tag;
    PyObject *value;
    int r;

    if (!e->is_cbor) {
        return ENCODE_NEEDS_CBOR;
    }
    if (tagged_get(tagged, &tag, &value) < 0) {
        return ENCODE_FAILED;
    }
    r = add_head(e, MAJOR_TAG, tag);
    return r < 0 ? r : write_value(e, value);
}

static int write_other(struct encoder *e, PyObject *value)
{
    PyObject *simple = PyObject_CallFunctionObjArgs(
        binding.simplify, value, e->context != NULL ? e->context : Py_None, NULL);
    int r;

    if (simple == NULL) {
        PyObject *type, *reason, *trace, *path;

        if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
            return ENCODE_FAILED;
        }
        PyErr_Fetch(&type, &reason, &trace);
        path = path_of(e);
        if (path != NULL) {
            PyErr_Format(PyExc_TypeError, "%U %S", path, reason);
        }
        Py_XDECREF(path);
        Py_XDECREF(type);
        Py_XDECREF(reason);
        Py_XDECREF(trace);
        return ENCODE_FAILED;
    }
    if (simple == value) {
        Py_DECREF(simple);
        return refuse(e, PyExc_TypeError, "cannot cross%s", "");
    }
    r = write_value(e, simple);
    Py_DECREF(simple);
    return r;
}

static int write_undefined(struct encoder *e)
{
    return e->is_cbor ? add(e, "\xf7", 1) : ENCODE_NEEDS_CBOR;
}

static int write_value(struct encoder *e, PyObject *value)
{
    if (value == Py_None) {
        return e->is_cbor ? add(e, "\xf6", 1) : add(e, "null", 4);
    }
    if (value == Py_True) {
        return e->is_cbor ? add(e, "\xf5", 1) : add(e, "true", 4);
    }
    if (value == Py_False) {
        return e->is_cbor ? add(e, "\xf4", 1) : add(e, "false", 5);
    }
    if (PyUnicode_Check(value)) {
        return write_text(e, value);
    }
    if (PyLong_Check(value)) {
        return write_int(e, value);
    }
    if (PyFloat_Check(value)) {
        return write_float(e, value);
    }
    if (PyList_Check(value) || PyTuple_Check(value)) {
        return write_items(e, value);
    }
    if (PyDict_Check(value)) {
        return write_dict(e, value);
    }
    if (value == binding.undefined) {
        return write_undefined(e);
    }
    if (PyBytes_Check(value) || PyByteArray_Check(value)) {
        return write_bytes(e, value);
    }
    if (PyAnySet_Check(value)) {
        return write_set(e, value);
    }
    if ((PyObject *)Py_TYPE(value) == binding.tagged_type) {
        return write_tagged(e, value);
    }
    return write_other(e, value);
}

int encode_value(PyObject *value, const char *what, PyObject *context, int depth_max,
    size_t bytes_max, struct encoded *ret)
{
    struct encoder e = {.what = what,
        .context = context,
        .depth_max = depth_max > 0 && depth_max < VALUE_DEPTH_MAX ? depth_max : VALUE_DEPTH_MAX,
        .bytes_max = bytes_max > 0 && bytes_max < VALUE_BYTES_MAX ? bytes_max : VALUE_BYTES_MAX};
    int r = write_value(&e, value);

    if (r == ENCODE_NEEDS_CBOR) {
        e.is_cbor = 1;
        e.depth = 0;
        e.out.len = 0;
        r = write_value(&e, value);
    }
    if (r < 0) {
        bytes_release(&e.out);
        return -1;
    }
    *ret = (struct encoded){e.out, e.is_cbor};
    return 0;
}
