/* value_class.c - values whose class says what they are: members of enums, dataclasses, exceptions,
 * paths. See value_walk.h.
 *
 * Classes of the standard library that are written in Python are recognised by the type itself, and
 * read by descriptors that were taken from it before guest code ran. */
#include "cell/python/value_walk.h"

#include <string.h>

/* ---- enums ---- */

static int walk_enum(struct walk *w, PyObject *member, unsigned depth)
{
    PyObject *members = PyObject_GenericGetDict(member, NULL);
    PyObject *value = members != NULL
                          ? Py_XNewRef(PyDict_GetItemWithError(members, value_types.name_value))
                          : NULL;
    int r;

    Py_XDECREF(members);
    if (value == NULL) {
        PyErr_Clear();
        return value_refuse_object(w, member, depth);
    }
    r = value_enter(w, member, depth);
    if (r == 0) {
        w->steps[depth] = (struct value_step){.kind = STEP_MEMBER, .member = "value"};
        r = value_walk(w, value, depth + 1);
    }
    Py_DECREF(value);
    return r;
}

/* ---- dataclasses ---- */

/* The fields that the class says to have, as a dict by name: borrowed, or NULL. */
static PyObject *fields_of(PyTypeObject *type)
{
    PyObject *fields = _PyType_Lookup(type, value_types.name_fields);

    return fields != NULL && PyDict_CheckExact(fields) ? fields : NULL;
}

/* The names of the fields that instances have: not of the variables of the class. */
static PyObject *field_names(PyObject *fields)
{
    PyObject *names = PyList_New(0);
    PyObject *name, *field, *kind;
    Py_ssize_t at = 0;

    while (names != NULL && PyDict_Next(fields, &at, &name, &field)) {
        if (!PyUnicode_Check(name) || Py_TYPE(field) != value_types.field) {
            continue;
        }
        kind = Py_TYPE(value_types.field_kind)
                   ->tp_descr_get(value_types.field_kind, field, (PyObject *)value_types.field);
        if (kind == NULL) {
            PyErr_Clear();
        } else if (kind == value_types.field_plain && PyList_Append(names, name) < 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(kind);
    }
    return names;
}

static int walk_field(struct walk *w, PyObject *object, PyObject *name, unsigned depth)
{
    PyObject *value = PyObject_GetAttr(object, name);
    const char *text = value != NULL ? PyUnicode_AsUTF8(name) : NULL;
    int r = -1;

    if (text != NULL) {
        w->steps[depth] = (struct value_step){.kind = STEP_MEMBER, .member = text};
        r = value_put_str(w, name);
        r = r == 0 && !w->is_cbor ? value_put_byte(w, ':') : r;
        r = r == 0 ? value_walk(w, value, depth + 1) : r;
    }
    Py_XDECREF(value);
    return r;
}

static int walk_dataclass(struct walk *w, PyObject *object, PyObject *fields, unsigned depth)
{
    PyObject *names = field_names(fields);
    Py_ssize_t n, i;
    int r;

    if (names == NULL || value_enter(w, object, depth) < 0) {
        Py_XDECREF(names);
        return -1;
    }
    n = PyList_GET_SIZE(names);
    r = value_open(w, CBOR_MAP, (uint64_t)n);
    for (i = 0; i < n && r == 0; i++) {
        r = value_next(w, (uint64_t)i);
        r = r == 0 ? walk_field(w, object, PyList_GET_ITEM(names, i), depth) : r;
    }
    Py_DECREF(names);
    return r == 0 ? value_close(w, CBOR_MAP) : -1;
}

/* ---- exceptions ---- */

/* ["Error", name, message, stack] and the cause, as JavaScript has it. The stack stays here: its
 * lines are those of a program that the host may not have. */
static int walk_exception(struct walk *w, PyObject *error, unsigned depth)
{
    PyObject *name = PyType_GetName(Py_TYPE(error));
    PyObject *message = name != NULL ? PyObject_Str(error) : NULL;
    PyObject *cause = PyException_GetCause(error);
    int r = -1;

    if (message != NULL && value_enter(w, error, depth) == 0 &&
        value_put_object(w, "Error", cause != NULL ? 5 : 4) == 0 && value_put_str(w, name) == 0 &&
        value_put_str(w, message) == 0) {
        r = value_put_text(w, "");
        if (r == 0 && cause != NULL) {
            w->steps[depth] = (struct value_step){.kind = STEP_MEMBER, .member = "__cause__"};
            r = value_walk(w, cause, depth + 1);
        }
    }
    Py_XDECREF(name);
    Py_XDECREF(message);
    Py_XDECREF(cause);
    return r;
}

/* ---- paths ---- */

static int walk_path(struct walk *w, PyObject *path, unsigned depth)
{
    PyObject *text = PyObject_CallOneArg(value_types.path_text, path);
    int r;

    if (text == NULL) {
        return -1;
    }
    r = PyUnicode_Check(text) ? value_put_str(w, text) : value_refuse_object(w, path, depth);
    Py_DECREF(text);
    return r;
}

int value_walk_class(struct walk *w, PyObject *object, unsigned depth)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject *fields;
    int r;

    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 && !PyExceptionInstance_Check(object)) {
        return 0; /* none of these is made in C */
    }
    if (PyType_IsSubtype(type, value_types.enumeration)) {
        r = walk_enum(w, object, depth);
    } else if (PyExceptionInstance_Check(object)) {
        r = value_needs_cbor(w, depth, "an exception", "use str(...)");
        r = r == 0 ? walk_exception(w, object, depth) : r;
    } else if (PyType_IsSubtype(type, value_types.path)) {
        r = walk_path(w, object, depth);
    } else if ((fields = fields_of(type)) != NULL && !PyDict_Check(object) &&
               !PyList_Check(object) && !PyTuple_Check(object) && !PyUnicode_Check(object) &&
               !PyLong_Check(object) && !PyType_Check(object)) {
        r = walk_dataclass(w, object, fields, depth);
    } else {
        return 0;
    }
    return r < 0 ? -1 : 1;
}
