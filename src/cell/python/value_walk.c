/* value_walk.c - the walk over a value: the built-in types, and who is asked about the rest. See
 * value_walk.h.
 *
 * One walk writes either form; when JSON cannot say something it gives up and begins anew. Guest
 * code can run in the middle of it, and change what is being walked: everything is held while it is
 * looked at, positions are checked each time, and what was announced has to follow. */
#include "cell/python/value_walk.h"

#include <string.h>

int value_enter(struct walk *w, PyObject *object, unsigned depth)
{
    unsigned d;

    for (d = 0; d < depth && d < VALUE_DEPTH_MAX; d++) {
        if (w->parents[d] == object) {
            return value_refuse_cycle(w, depth, d);
        }
    }
    if (depth >= VALUE_DEPTH_MAX) {
        return value_refuse_depth(w, depth);
    }
    w->parents[depth] = object;
    return 0;
}

/* ---- sequences ---- */

static int walk_item(struct walk *w, PyObject *item, Py_ssize_t index, unsigned depth)
{
    int r;

    w->steps[depth].kind = STEP_INDEX;
    w->steps[depth].index = index;
    Py_INCREF(item);
    r = value_next(w, (uint64_t)index) < 0 ? -1 : value_walk(w, item, depth + 1);
    Py_DECREF(item);
    return r;
}

int value_walk_list(struct walk *w, PyObject *list, unsigned depth)
{
    Py_ssize_t n = PyList_GET_SIZE(list);
    Py_ssize_t i;

    if (value_open(w, CBOR_ARRAY, (uint64_t)n) < 0) {
        return -1;
    }
    for (i = 0; i < n; i++) {
        if (i >= PyList_GET_SIZE(list)) {
            return value_refuse_change(w, depth);
        }
        if (walk_item(w, PyList_GET_ITEM(list, i), i, depth) < 0) {
            return -1;
        }
    }
    return PyList_GET_SIZE(list) != n ? value_refuse_change(w, depth) : value_close(w, CBOR_ARRAY);
}

static int walk_tuple(struct walk *w, PyObject *tuple, unsigned depth)
{
    Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    Py_ssize_t i;

    if (value_open(w, CBOR_ARRAY, (uint64_t)n) < 0) {
        return -1;
    }
    for (i = 0; i < n; i++) {
        if (walk_item(w, PyTuple_GET_ITEM(tuple, i), i, depth) < 0) {
            return -1;
        }
    }
    return value_close(w, CBOR_ARRAY);
}

/* A range has no memory of its own, so its length is looked at first. */
static int walk_range(struct walk *w, PyObject *range, unsigned depth)
{
    Py_ssize_t n = PyObject_Size(range);
    PyObject *item;
    Py_ssize_t i;
    int r;

    if (n < 0 || (size_t)n > w->bytes_max) {
        PyErr_Clear();
        return value_refuse_size(w);
    }
    if (value_open(w, CBOR_ARRAY, (uint64_t)n) < 0) {
        return -1;
    }
    for (i = 0; i < n; i++) {
        item = PySequence_GetItem(range, i);
        r = item != NULL ? walk_item(w, item, i, depth) : -1;
        Py_XDECREF(item);
        if (r < 0) {
            return -1;
        }
    }
    return value_close(w, CBOR_ARRAY);
}

static int walk_set(struct walk *w, PyObject *set, unsigned depth)
{
    Py_ssize_t n = PySet_GET_SIZE(set);
    Py_ssize_t at = 0, i = 0;
    Py_hash_t hash;
    PyObject *item;

    if (value_needs_cbor(w, depth, "a set", "use list(...)") < 0 ||
        value_put_head(w, CBOR_TAG, TAG_SET) < 0 || value_open(w, CBOR_ARRAY, (uint64_t)n) < 0) {
        return -1;
    }
    while (_PySet_NextEntry(set, &at, &item, &hash)) {
        if (i == n) {
            return value_refuse_change(w, depth);
        }
        if (walk_item(w, item, i++, depth) < 0) {
            return -1;
        }
    }
    return i != n || PySet_GET_SIZE(set) != n ? value_refuse_change(w, depth)
                                              : value_close(w, CBOR_ARRAY);
}

/* ---- dicts ---- */

/* Where a walk over a dict is. An OrderedDict has an order that is not the dict's own. */
struct pairs {
    PyObject *dict;
    PyObject *order; /* an iterator over keys, owned; or NULL */
    Py_ssize_t at;
    PyObject *key, *value; /* owned */
};

static void drop_pair(struct pairs *p)
{
    Py_CLEAR(p->key);
    Py_CLEAR(p->value);
}

/* 1 with the next key and value, 0 at the end, -1. */
static int next_pair(struct pairs *p)
{
    PyObject *key, *value;

    drop_pair(p);
    if (p->order == NULL) {
        if (!PyDict_Next(p->dict, &p->at, &key, &value)) {
            return 0;
        }
        p->key = Py_NewRef(key);
        p->value = Py_NewRef(value);
        return 1;
    }
    p->key = PyIter_Next(p->order);
    if (p->key == NULL) {
        return PyErr_Occurred() != NULL ? -1 : 0;
    }
    value = PyDict_GetItemWithError(p->dict, p->key);
    if (value == NULL) {
        if (PyErr_Occurred() == NULL) {
            PyErr_SetString(PyExc_TypeError, "an OrderedDict was changed while it was read");
        }
        return -1;
    }
    p->value = Py_NewRef(value);
    return 1;
}

static int has_text_keys(PyObject *dict)
{
    Py_ssize_t at = 0;
    PyObject *key, *value;

    while (PyDict_Next(dict, &at, &key, &value)) {
        if (!PyUnicode_Check(key)) {
            return 0;
        }
    }
    return 1;
}

static int walk_pair(struct walk *w, struct pairs *p, Py_ssize_t index, int is_map, unsigned depth)
{
    struct value_step *step = &w->steps[depth];
    int r;

    if (is_map) {
        *step = (struct value_step){.kind = STEP_KEY_ITSELF, .index = index};
        r = value_walk(w, p->key, depth + 1);
    } else if (!PyUnicode_Check(p->key)) {
        return w->is_cbor ? value_refuse_change(w, depth)
                          : value_needs_cbor(
                                w, depth, "a dict with keys that are not str", "make them str");
    } else {
        r = value_next(w, (uint64_t)index) < 0 ? -1 : value_put_str(w, p->key);
    }
    if (r < 0 || (!w->is_cbor && value_put_byte(w, ':') < 0)) {
        return -1;
    }
    *step = (struct value_step){.kind = STEP_KEY, .key = p->key};
    return value_walk(w, p->value, depth + 1);
}

static int walk_dict(struct walk *w, PyObject *dict, unsigned depth)
{
    struct pairs p = {.dict = dict};
    Py_ssize_t n = PyDict_GET_SIZE(dict);
    int is_map = w->is_cbor && !has_text_keys(dict);
    Py_ssize_t i = 0;
    int r;

    if (PyODict_Check(dict)) {
        p.order = PyODict_Type.tp_iter(dict);
        if (p.order == NULL) {
            return -1;
        }
    }
    r = is_map ? value_put_head(w, CBOR_TAG, TAG_MAP) : 0;
    r = r < 0 ? -1 : value_open(w, CBOR_MAP, (uint64_t)n);
    while (r == 0) {
        r = next_pair(&p);
        if (r <= 0) {
            break;
        }
        r = i == n ? value_refuse_change(w, depth) : walk_pair(w, &p, i++, is_map, depth);
    }
    drop_pair(&p);
    Py_XDECREF(p.order);
    if (r < 0) {
        return -1;
    }
    return i != n || PyDict_GET_SIZE(dict) != n ? value_refuse_change(w, depth)
                                                : value_close(w, CBOR_MAP);
}

/* ---- bytes ---- */

unsigned value_typed_tag(char format, Py_ssize_t item_bytes, int *ret_is_typed)
{
    static const unsigned tags_signed[] = {TAG_INT8, TAG_INT16, TAG_INT32, TAG_INT64};
    static const unsigned tags_unsigned[] = {0, TAG_UINT16, TAG_UINT32, TAG_UINT64};
    static const unsigned tags_float[] = {0, TAG_FLOAT16, TAG_FLOAT32, TAG_FLOAT64};
    unsigned log2 = item_bytes == 1 ? 0 : item_bytes == 2 ? 1 : item_bytes == 4 ? 2 : 3;
    const unsigned *tags = strchr("bhilqn", format) != NULL   ? tags_signed
                           : strchr("BHILQN", format) != NULL ? tags_unsigned
                           : strchr("efd", format) != NULL    ? tags_float
                                                              : NULL;

    *ret_is_typed = format != '\0' && tags != NULL && item_bytes == (Py_ssize_t)1 << log2;
    return *ret_is_typed ? tags[log2] : 0;
}

static int walk_memory(struct walk *w, PyObject *memory, unsigned depth)
{
    Py_buffer view;
    char *to;
    int r = -1;

    if (value_needs_cbor(w, depth, "bytes", "use base64 or decode()") < 0 ||
        PyObject_GetBuffer(memory, &view, PyBUF_FULL_RO) < 0) {
        return -1;
    }
    if ((size_t)view.len > w->len_max || w->out->len > w->len_max - (size_t)view.len) {
        (void)value_refuse_size(w);
    } else if (value_put_head(w, CBOR_BYTES, (uint64_t)view.len) == 0) {
        to = value_room(w, (size_t)view.len);
        if (to != NULL && PyBuffer_ToContiguous(to, &view, view.len, 'C') == 0) {
            w->out->len += (size_t)view.len;
            r = 0;
        }
    }
    PyBuffer_Release(&view);
    return r;
}

/* array.array: its elements as they lie in memory. */
static int walk_array(struct walk *w, PyObject *array, unsigned depth)
{
    PyObject *text;
    Py_buffer view;
    unsigned tag;
    int is_typed, r;

    if (PyObject_GetBuffer(array, &view, PyBUF_FORMAT) < 0) {
        return -1;
    }
    if (view.format != NULL && view.format[0] == 'w' && view.itemsize == 4) {
        text = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, view.buf, view.len / 4);
        r = text != NULL ? value_put_str(w, text) : -1;
        Py_XDECREF(text);
    } else {
        tag =
            value_typed_tag(view.format != NULL ? view.format[0] : '\0', view.itemsize, &is_typed);
        r = !is_typed ? value_refuse_object(w, array, depth)
                      : value_needs_cbor(w, depth, "an array of numbers", "use list(...)");
        r = r == 0 && tag != 0 ? value_put_head(w, CBOR_TAG, tag) : r;
        r = r == 0 ? value_put_octets(w, view.buf, (size_t)view.len) : r;
    }
    PyBuffer_Release(&view);
    return r;
}

static int put_bytes(struct walk *w, const char *bytes, Py_ssize_t n, unsigned depth)
{
    return value_needs_cbor(w, depth, "bytes", "use base64 or decode()") < 0
               ? -1
               : value_put_octets(w, bytes, (size_t)n);
}

/* ---- all ---- */

static int put_complex(struct walk *w, PyObject *number, unsigned depth)
{
    Py_complex v = ((PyComplexObject *)number)->cval;

    if (value_needs_cbor(w, depth, "a complex number", "use its parts") < 0 ||
        value_put_object(w, "complex", 3) < 0 || value_put_double(w, v.real, depth) < 0) {
        return -1;
    }
    return value_put_double(w, v.imag, depth);
}

/* Subclasses of the built-in types are what they are built on. 1, 0 or -1 as the others. */
static int walk_builtin(struct walk *w, PyObject *object, unsigned depth)
{
    int r;

    if (PyUnicode_Check(object)) {
        r = value_put_str(w, object);
    } else if (PyLong_Check(object)) {
        r = value_put_int(w, object, depth);
    } else if (PyFloat_Check(object)) {
        r = value_put_double(w, PyFloat_AS_DOUBLE(object), depth);
    } else if (PyComplex_Check(object)) {
        r = put_complex(w, object, depth);
    } else if (PyBytes_Check(object)) {
        r = put_bytes(w, PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), depth);
    } else if (PyByteArray_Check(object)) {
        r = put_bytes(w, PyByteArray_AS_STRING(object), PyByteArray_GET_SIZE(object), depth);
    } else if (PyMemoryView_Check(object)) {
        r = walk_memory(w, object, depth);
    } else if (PyObject_TypeCheck(object, value_types.array)) {
        r = walk_array(w, object, depth);
    } else if (PyList_Check(object)) {
        r = value_enter(w, object, depth) < 0 ? -1 : value_walk_list(w, object, depth);
    } else if (PyTuple_Check(object)) {
        r = value_enter(w, object, depth) < 0 ? -1 : walk_tuple(w, object, depth);
    } else if (PyDict_Check(object)) {
        r = value_enter(w, object, depth) < 0 ? -1 : walk_dict(w, object, depth);
    } else if (PyAnySet_Check(object)) {
        r = value_enter(w, object, depth) < 0 ? -1 : walk_set(w, object, depth);
    } else if (PyRange_Check(object)) {
        r = value_enter(w, object, depth) < 0 ? -1 : walk_range(w, object, depth);
    } else {
        return 0;
    }
    return r < 0 ? -1 : 1;
}

static int walk_function(struct walk *w, PyObject *function, unsigned depth)
{
    uint32_t handle;

    if (value_needs_cbor(w, depth, "a function", "call it") < 0) {
        return -1;
    }
    handle = py_handle_keep(function);
    return handle == 0 || value_put_object(w, "Function", 2) < 0
               ? -1
               : value_put_head(w, CBOR_UINT, handle);
}

/* What is of no type that most values are made of. Members of an Enum come before what they may be
 * as well. */
static int walk_rest(struct walk *w, PyObject *object, unsigned depth)
{
    static int (*const walks[])(struct walk *, PyObject *, unsigned) = {
        value_walk_class, walk_builtin, value_walk_other, value_walk_data};
    size_t i;
    int r = 0;

    for (i = 0; i < sizeof(walks) / sizeof(walks[0]) && r == 0; i++) {
        r = walks[i](w, object, depth);
    }
    if (r != 0) {
        return r < 0 ? -1 : 0;
    }
    if (w->in_session && PyCallable_Check(object) && !PyType_Check(object)) {
        return walk_function(w, object, depth);
    }
    return value_refuse_object(w, object, depth);
}

int value_walk(struct walk *w, PyObject *object, unsigned depth)
{
    PyTypeObject *type = Py_TYPE(object);

    if (type == &PyUnicode_Type) {
        return value_put_str(w, object);
    }
    if (type == &PyLong_Type) {
        return value_put_int(w, object, depth);
    }
    if (type == &PyFloat_Type) {
        return value_put_double(w, PyFloat_AS_DOUBLE(object), depth);
    }
    if (type == &PyDict_Type) {
        return value_enter(w, object, depth) < 0 ? -1 : walk_dict(w, object, depth);
    }
    if (type == &PyList_Type) {
        return value_enter(w, object, depth) < 0 ? -1 : value_walk_list(w, object, depth);
    }
    if (type == &PyTuple_Type) {
        return value_enter(w, object, depth) < 0 ? -1 : walk_tuple(w, object, depth);
    }
    if (object == Py_None) {
        return value_put_none(w);
    }
    if (object == Py_True) {
        return w->is_cbor ? value_put_byte(w, (char)CBOR_TRUE) : value_put(w, "true", 4);
    }
    if (object == Py_False) {
        return w->is_cbor ? value_put_byte(w, (char)CBOR_FALSE) : value_put(w, "false", 5);
    }
    return walk_rest(w, object, depth);
}
