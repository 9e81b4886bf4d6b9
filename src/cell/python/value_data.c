/* value_data.c - arrays of numpy and tables of pandas. See value_walk.h.
 *
 * Neither package is known at build time, and most cells have none of them. What is numpy's in C is
 * recognised by the names of its static types, which no guest can make, and read through the buffer
 * protocol. What is pandas' is written in Python, so its classes are known by their names, and
 * asked through a few methods: who makes a class that calls itself DataFrame says what is in it. */
#include "cell/python/value_walk.h"

#include <stdio.h>
#include <string.h>

/* Is it an object of this static type, or of a subclass? */
static int is_static(PyTypeObject *type, const char *name)
{
    for (; type != NULL; type = type->tp_base) {
        if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 && strcmp(type->tp_name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* ---- numpy ---- */

/* The kind of elements, as numpy has it in one letter; NUL when it cannot say. */
static char kind_of(PyObject *array)
{
    PyObject *type = PyObject_GetAttrString(array, "dtype");
    PyObject *kind = type != NULL ? PyObject_GetAttrString(type, "kind") : NULL;
    char letter = '\0';

    if (kind != NULL && PyUnicode_Check(kind) && PyUnicode_GetLength(kind) == 1) {
        letter = (char)(PyUnicode_ReadChar(kind, 0) & 0x7f);
    }
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(kind);
    return letter;
}

/* As lists and scalars of Python; times in microseconds, because others become plain numbers. */
static PyObject *to_list(PyObject *array)
{
    char kind = kind_of(array);
    PyObject *exact, *list;

    if (kind == 'M' || kind == 'm') {
        exact = PyObject_CallMethod(
            array, "astype", "s", kind == 'M' ? "datetime64[us]" : "timedelta64[us]");
        list = exact != NULL ? PyObject_CallMethod(exact, "tolist", NULL) : NULL;
        Py_XDECREF(exact);
        return list;
    }
    list = PyObject_CallMethod(array, "tolist", NULL);
    if (list != NULL && is_static(Py_TYPE(list), "numpy.generic")) {
        /* Numbers of more than 64 bits stay what they are. */
        Py_SETREF(list, kind == 'c' ? PyObject_CallOneArg((PyObject *)&PyComplex_Type, list)
                                    : PyNumber_Float(list));
    }
    return list;
}

/* What tolist() gives: a list, or the one thing that was in it. */
static int walk_listed(struct walk *w, PyObject *array, unsigned depth)
{
    PyObject *list;
    int r;

    if (value_enter(w, array, depth) < 0) {
        return -1;
    }
    list = to_list(array);
    if (list == NULL) {
        return -1;
    }
    if (PyList_CheckExact(list)) {
        r = value_walk_list(w, list, depth);
    } else {
        w->steps[depth] = (struct value_step){.kind = STEP_NOTHING};
        r = value_walk(w, list, depth + 1);
    }
    Py_DECREF(list);
    return r;
}

static void swap_elements(char *bytes, size_t len, size_t element_bytes)
{
    size_t i, j;
    char kept;

    for (i = 0; i + element_bytes <= len; i += element_bytes) {
        for (j = 0; j < element_bytes / 2; j++) {
            kept = bytes[i + j];
            bytes[i + j] = bytes[i + element_bytes - 1 - j];
            bytes[i + element_bytes - 1 - j] = kept;
        }
    }
}

static int put_elements(struct walk *w, Py_buffer *view, unsigned tag, int is_swapped)
{
    size_t len = (size_t)view->len;
    char *to;

    if (len > w->len_max || w->out->len > w->len_max - len) {
        return value_refuse_size(w);
    }
    if ((tag != 0 && value_put_head(w, CBOR_TAG, tag) < 0) ||
        value_put_head(w, CBOR_BYTES, len) < 0) {
        return -1;
    }
    to = value_room(w, len);
    if (to == NULL || PyBuffer_ToContiguous(to, view, view->len, 'C') < 0) {
        return -1;
    }
    if (is_swapped) {
        swap_elements(to, len, (size_t)view->itemsize);
    }
    w->out->len += len;
    return 0;
}

/* Numbers that typed arrays have: 1 when it was that, 0 when it is something else, -1. */
static int put_numbers(struct walk *w, Py_buffer *view, unsigned depth)
{
    const char *format = view->format != NULL ? view->format : "";
    int is_swapped = format[0] == '>' || format[0] == '!';
    unsigned tag;
    int is_typed, i;

    format += format[0] != '\0' && strchr("<>=@!", format[0]) != NULL ? 1 : 0;
    if (view->ndim < 1 || view->ndim > NDARRAY_DIMS_MAX || format[0] == '\0' || format[1] != '\0') {
        return 0;
    }
    tag = value_typed_tag(format[0], view->itemsize, &is_typed);
    if (!is_typed) {
        return 0;
    }
    if (value_needs_cbor(w, depth, "a numpy array", "use its tolist()") < 0) {
        return -1;
    }
    if (view->ndim > 1) {
        if (value_put_head(w, CBOR_TAG, TAG_NDARRAY) < 0 || value_put_head(w, CBOR_ARRAY, 2) < 0 ||
            value_put_head(w, CBOR_ARRAY, (uint64_t)view->ndim) < 0) {
            return -1;
        }
        for (i = 0; i < view->ndim; i++) {
            if (value_put_head(w, CBOR_UINT, (uint64_t)view->shape[i]) < 0) {
                return -1;
            }
        }
    }
    return put_elements(w, view, tag, is_swapped) < 0 ? -1 : 1;
}

static int is_masked(PyTypeObject *type)
{
    for (; type != NULL; type = type->tp_base) {
        if (strcmp(type->tp_name, "MaskedArray") == 0) {
            return 1;
        }
    }
    return 0;
}

static int walk_ndarray(struct walk *w, PyObject *array, unsigned depth)
{
    Py_buffer view;
    int r;

    if (is_masked(Py_TYPE(array)) || PyObject_GetBuffer(array, &view, PyBUF_FULL_RO) < 0) {
        PyErr_Clear(); /* times have no buffer */
        return walk_listed(w, array, depth);
    }
    r = put_numbers(w, &view, depth);
    PyBuffer_Release(&view);
    return r != 0 ? (r < 0 ? -1 : 0) : walk_listed(w, array, depth);
}

/* ---- pandas ---- */

enum pandas { PANDAS_NONE, PANDAS_FRAME, PANDAS_SERIES, PANDAS_LIST, PANDAS_NA, PANDAS_TEXT };

static int is_pandas(PyTypeObject *type)
{
    PyObject *module;

    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) {
        return strncmp(type->tp_name, "pandas.", 7) == 0;
    }
    module = type->tp_dict != NULL ? PyDict_GetItemString(type->tp_dict, "__module__") : NULL;
    return module != NULL && PyUnicode_Check(module) && PyUnicode_AsUTF8(module) != NULL &&
           strncmp(PyUnicode_AsUTF8(module), "pandas.", 7) == 0;
}

static enum pandas pandas_of(PyTypeObject *type)
{
    static const struct {
        const char *name;
        enum pandas what;
    } names[] = {{"DataFrame", PANDAS_FRAME}, {"Series", PANDAS_SERIES}, {"Index", PANDAS_LIST},
        {"ExtensionArray", PANDAS_LIST}, {"NAType", PANDAS_NA}, {"Period", PANDAS_TEXT},
        {"Interval", PANDAS_TEXT}};
    PyObject *bases = Py_XNewRef(type->tp_mro);
    enum pandas what = PANDAS_NONE;
    Py_ssize_t i;
    size_t n;

    for (i = 0; bases != NULL && i < PyTuple_GET_SIZE(bases) && what == PANDAS_NONE; i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(bases, i);
        const char *name = strrchr(base->tp_name, '.');

        name = name != NULL ? name + 1 : base->tp_name;
        for (n = 0; n < sizeof(names) / sizeof(names[0]) && what == PANDAS_NONE; n++) {
            if (strcmp(name, names[n].name) == 0 && is_pandas(base)) {
                what = names[n].what;
            }
        }
    }
    PyErr_Clear();
    Py_XDECREF(bases);
    return what;
}

/* object.tolist(), which has to be a list. */
static PyObject *list_of(PyObject *object)
{
    PyObject *list = object != NULL ? PyObject_CallMethod(object, "tolist", NULL) : NULL;

    if (list != NULL && !PyList_CheckExact(list)) {
        PyErr_SetString(PyExc_TypeError, "tolist() of a table gave something else than a list");
        Py_CLEAR(list);
    }
    return list;
}

/* object.iloc[:rows], or object.iloc[:, column]. */
static PyObject *part_of(PyObject *object, Py_ssize_t rows, Py_ssize_t column)
{
    PyObject *place = object != NULL ? PyObject_GetAttrString(object, "iloc") : NULL;
    PyObject *stop = column < 0 ? PyLong_FromSsize_t(rows) : Py_NewRef(Py_None);
    PyObject *key = stop != NULL ? PySlice_New(NULL, stop, NULL) : NULL;
    PyObject *part;

    if (key != NULL && column >= 0) {
        PyObject *both = Py_BuildValue("(On)", key, column);

        Py_SETREF(key, both);
    }
    part = place != NULL && key != NULL ? PyObject_GetItem(place, key) : NULL;
    Py_XDECREF(place);
    Py_XDECREF(stop);
    Py_XDECREF(key);
    return part;
}

static int attribute_is(PyObject *object, const char *name, long wanted)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    long v = value != NULL && PyLong_Check(value) ? PyLong_AsLong(value) : -1;

    PyErr_Clear();
    Py_XDECREF(value);
    return v == wanted;
}

/* Are the rows only counted, from 0? */
static int is_default_index(PyObject *index)
{
    return strcmp(Py_TYPE(index)->tp_name, "RangeIndex") == 0 && attribute_is(index, "start", 0) &&
           attribute_is(index, "step", 1);
}

/* What is missing in a column of numbers is nan there, and None to everybody else. */
static int put_cell(struct walk *w, PyObject *cell, unsigned depth)
{
    if (PyFloat_Check(cell) && PyFloat_AS_DOUBLE(cell) != PyFloat_AS_DOUBLE(cell)) {
        return value_put_none(w);
    }
    return value_walk(w, cell, depth + 2);
}

/* tolist() makes new lists, but a class that only calls itself a table may keep them: so their
 * length is looked at each time. */
static int put_cells(struct walk *w, PyObject *list, const char *name, unsigned depth)
{
    Py_ssize_t n = PyList_GET_SIZE(list);
    PyObject *cell;
    char text[64];
    Py_ssize_t i;
    int r = value_put_head(w, CBOR_ARRAY, (uint64_t)n);

    for (i = 0; i < n && r == 0; i++) {
        if (i >= PyList_GET_SIZE(list)) {
            return value_refuse_change(w, depth);
        }
        (void)snprintf(text, sizeof(text), "%s[%zd]", name, i);
        w->steps[depth] = (struct value_step){.kind = STEP_MEMBER, .member = text};
        cell = Py_NewRef(PyList_GET_ITEM(list, i));
        r = put_cell(w, cell, depth);
        Py_DECREF(cell);
    }
    return r;
}

static int put_rows(struct walk *w, PyObject *columns, Py_ssize_t rows, unsigned depth)
{
    Py_ssize_t width = PyList_GET_SIZE(columns);
    PyObject *column, *cell;
    char text[64];
    Py_ssize_t i, j;
    int r = value_put_head(w, CBOR_ARRAY, (uint64_t)rows);

    for (i = 0; i < rows && r == 0; i++) {
        r = value_put_head(w, CBOR_ARRAY, (uint64_t)width);
        for (j = 0; j < width && r == 0; j++) {
            column = PyList_GET_ITEM(columns, j);
            if (i >= PyList_GET_SIZE(column)) {
                return value_refuse_change(w, depth);
            }
            (void)snprintf(text, sizeof(text), "iloc[%zd, %zd]", i, j);
            w->steps[depth] = (struct value_step){.kind = STEP_MEMBER, .member = text};
            cell = Py_NewRef(PyList_GET_ITEM(column, i));
            r = put_cell(w, cell, depth);
            Py_DECREF(cell);
        }
    }
    return r;
}

/* The pieces of a table, all owned. */
struct table {
    PyObject *names, *index, *columns; /* lists; index is None when it is the default */
    Py_ssize_t rows;                   /* that cross */
    Py_ssize_t row_count;              /* that there are */
};

static int take_columns(struct table *t, PyObject *part, int is_frame)
{
    Py_ssize_t n = PyList_GET_SIZE(t->names);
    PyObject *column, *list;
    Py_ssize_t j;

    t->columns = PyList_New(0);
    for (j = 0; t->columns != NULL && j < n; j++) {
        column = is_frame ? part_of(part, 0, j) : Py_NewRef(part);
        list = list_of(column);
        Py_XDECREF(column);
        if (list == NULL || PyList_Append(t->columns, list) < 0) {
            Py_XDECREF(list);
            return -1;
        }
        Py_DECREF(list);
    }
    return t->columns != NULL ? 0 : -1;
}

static int take_table(struct table *t, PyObject *object, int is_frame)
{
    PyObject *part = NULL, *names = NULL, *index = NULL;
    int r = -1;

    t->row_count = PyObject_Size(object);
    t->rows = t->row_count < VALUE_ROWS_MAX ? t->row_count : VALUE_ROWS_MAX;
    part = t->row_count >= 0 ? part_of(object, t->rows, -1) : NULL;
    names = part != NULL ? PyObject_GetAttrString(part, is_frame ? "columns" : "name") : NULL;
    index = names != NULL ? PyObject_GetAttrString(part, "index") : NULL;
    if (index != NULL) {
        t->names = is_frame           ? list_of(names)
                   : names == Py_None ? Py_BuildValue("[i]", 0)
                                      : Py_BuildValue("[O]", names);
        t->index = is_default_index(index) ? Py_NewRef(Py_None) : list_of(index);
        r = t->names != NULL && t->index != NULL ? take_columns(t, part, is_frame) : -1;
    }
    Py_XDECREF(part);
    Py_XDECREF(names);
    Py_XDECREF(index);
    return r;
}

static int put_table(struct walk *w, const struct table *t, unsigned depth)
{
    if (t->index != Py_None && PyList_GET_SIZE(t->index) != t->rows) {
        return value_refuse_change(w, depth);
    }
    if (value_put_object(w, "Table", 2) < 0 || value_put_head(w, CBOR_MAP, 4) < 0 ||
        value_put_text(w, "columns") < 0 || put_cells(w, t->names, "columns", depth) < 0 ||
        value_put_text(w, "index") < 0 ||
        (t->index == Py_None ? value_put_none(w) : put_cells(w, t->index, "index", depth)) < 0 ||
        value_put_text(w, "rows") < 0 || put_rows(w, t->columns, t->rows, depth) < 0 ||
        value_put_text(w, "row_count") < 0) {
        return -1;
    }
    return value_put_small(w, t->row_count);
}

/* The host sees three levels where there is a table in a table; so it counts for two here. */
static int walk_table(struct walk *w, PyObject *object, int is_frame, unsigned depth)
{
    struct table t = {.names = NULL};
    int r;

    if (value_needs_cbor(w, depth, is_frame ? "a DataFrame" : "a Series",
            is_frame ? "use its to_dict(\"records\")" : "use its tolist()") < 0 ||
        value_enter(w, object, depth) < 0) {
        return -1;
    }
    if (depth + 1 >= VALUE_DEPTH_MAX) {
        return value_refuse_depth(w, depth);
    }
    w->parents[depth + 1] = NULL;
    w->steps[depth + 1] = (struct value_step){.kind = STEP_NOTHING};
    r = take_table(&t, object, is_frame) < 0 ? -1 : put_table(w, &t, depth);
    Py_XDECREF(t.names);
    Py_XDECREF(t.index);
    Py_XDECREF(t.columns);
    return r;
}

static int walk_text(struct walk *w, PyObject *object)
{
    PyObject *text = PyObject_Str(object);
    int r = text != NULL ? value_put_str(w, text) : -1;

    Py_XDECREF(text);
    return r;
}

int value_walk_data(struct walk *w, PyObject *object, unsigned depth)
{
    PyTypeObject *type = Py_TYPE(object);
    int r;

    if (is_static(type, "numpy.ndarray")) {
        r = walk_ndarray(w, object, depth);
    } else if (is_static(type, "numpy.generic")) {
        r = walk_listed(w, object, depth);
    } else {
        switch (pandas_of(type)) {
        case PANDAS_FRAME:
            r = walk_table(w, object, 1, depth);
            break;
        case PANDAS_SERIES:
            r = walk_table(w, object, 0, depth);
            break;
        case PANDAS_LIST:
            r = walk_listed(w, object, depth);
            break;
        case PANDAS_NA:
            r = value_put_none(w);
            break;
        case PANDAS_TEXT:
            r = walk_text(w, object);
            break;
        case PANDAS_NONE:
        default:
            return 0;
        }
    }
    return r < 0 ? -1 : 1;
}

/* ---- the other way ---- */

static const char *numpy_type(unsigned tag)
{
    static const struct {
        unsigned tag;
        const char *name;
    } types[] = {{0, "<u1"}, {TAG_UINT8_CLAMPED, "<u1"}, {TAG_UINT16, "<u2"}, {TAG_UINT32, "<u4"},
        {TAG_UINT64, "<u8"}, {TAG_INT8, "<i1"}, {TAG_INT16, "<i2"}, {TAG_INT32, "<i4"},
        {TAG_INT64, "<i8"}, {TAG_FLOAT16, "<f2"}, {TAG_FLOAT32, "<f4"}, {TAG_FLOAT64, "<f8"}};
    size_t i;

    for (i = 0; i < sizeof(types) / sizeof(types[0]) - 1 && types[i].tag != tag; i++) {
    }
    return types[i].name;
}

/* A module that the program has imported already. */
static PyObject *imported(const char *name)
{
    PyObject *text = PyUnicode_FromString(name);
    PyObject *module = text != NULL ? PyImport_GetModule(text) : NULL;

    Py_XDECREF(text);
    return module;
}

PyObject *value_numpy_array(unsigned tag, PyObject *bytearray, PyObject *dims)
{
    PyObject *numpy = imported("numpy");
    PyObject *array = NULL;

    if (numpy != NULL) {
        array = PyByteArray_GET_SIZE(bytearray) > 0
                    ? PyObject_CallMethod(numpy, "frombuffer", "Os", bytearray, numpy_type(tag))
                    : PyObject_CallMethod(numpy, "zeros", "is", 0, numpy_type(tag));
        if (array != NULL && dims != NULL) {
            Py_SETREF(array, PyObject_CallMethod(array, "reshape", "O", dims));
        }
    }
    PyErr_Clear(); /* whatever calls itself numpy and is not: there are other ways */
    Py_XDECREF(numpy);
    return array;
}

PyObject *value_pandas_table(PyObject *table)
{
    PyObject *pandas = imported("pandas");
    PyObject *frame = NULL;

    if (pandas != NULL) {
        PyObject *class = PyObject_GetAttrString(pandas, "DataFrame");

        frame =
            class != NULL
                ? PyObject_CallFunction(class, "OOO", PyDict_GetItemString(table, "rows"),
                      PyDict_GetItemString(table, "index"), PyDict_GetItemString(table, "columns"))
                : NULL;
        Py_XDECREF(class);
    }
    PyErr_Clear();
    Py_XDECREF(pandas);
    return frame;
}
