/* value_refuse.c - what cannot cross to the host, in words that name the place as a program would
 * write it: value["rows"][3].callback. See value_walk.h. */
#include <string.h>

#include "cell/python/value_walk.h"

enum {
    PATH_PARTS_MAX = 12,     /* shown before it gives up: nobody reads more */
    KEY_CHARACTERS_MAX = 60, /* likewise of one key */
};

/* Can it stand between double quotes as it is? */
static int is_quotable(PyObject *text)
{
    Py_ssize_t i;

    for (i = 0; i < PyUnicode_GET_LENGTH(text); i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(text, i);

        if (c == '"' || c == '\\' || !Py_UNICODE_ISPRINTABLE(c)) {
            return 0;
        }
    }
    return 1;
}

/* Nothing of the guest's runs for it: other keys than these are shown as what they are. */
static PyObject *with_key(PyObject *path, PyObject *key)
{
    PyObject *cut, *text;
    long long number;
    int overflow;

    if (PyUnicode_Check(key)) {
        cut = PyUnicode_Substring(key, 0, KEY_CHARACTERS_MAX);
        if (cut == NULL) {
            return NULL;
        }
        text = PyUnicode_FromFormat(is_quotable(cut) ? "%U[\"%U\"]" : "%U[%R]", path, cut);
        Py_DECREF(cut);
        return text;
    }
    if (PyLong_CheckExact(key)) {
        number = PyLong_AsLongLongAndOverflow(key, &overflow);
        if (overflow == 0) {
            return PyUnicode_FromFormat("%U[%lld]", path, number);
        }
    }
    if (PyFloat_CheckExact(key) || PyBool_Check(key) || key == Py_None) {
        return PyUnicode_FromFormat("%U[%R]", path, key);
    }
    return PyUnicode_FromFormat("%U[<%.60s>]", path, Py_TYPE(key)->tp_name);
}

static PyObject *path_text(const struct walk *w, unsigned depth)
{
    PyObject *path = PyUnicode_FromString("value");
    const struct value_step *step;
    PyObject *longer = NULL;
    unsigned d;

    for (d = 0; path != NULL && d < depth; d++) {
        step = &w->steps[d];
        if (step->kind == STEP_NOTHING) {
            continue;
        }
        if (d == PATH_PARTS_MAX) {
            longer = PyUnicode_FromFormat("%U...", path);
        } else if (step->kind == STEP_INDEX) {
            longer = PyUnicode_FromFormat("%U[%zd]", path, step->index);
        } else if (step->kind == STEP_KEY_ITSELF) {
            longer = PyUnicode_FromFormat("%U.keys()[%zd]", path, step->index);
        } else if (step->kind == STEP_KEY) {
            longer = with_key(path, step->key);
        } else {
            longer = PyUnicode_FromFormat("%U.%.60s", path, step->member);
        }
        Py_DECREF(path);
        path = longer;
        if (d == PATH_PARTS_MAX) {
            return path;
        }
    }
    return path;
}

int value_refuse(struct walk *w, unsigned depth, const char *what, const char *advice)
{
    PyObject *path = path_text(w, depth);

    if (path != NULL) {
        PyErr_Format(
            PyExc_TypeError, "%U is %s, which cannot cross to the host; %s", path, what, advice);
        Py_DECREF(path);
    }
    return -1;
}

int value_needs_cbor(struct walk *w, unsigned depth, const char *what, const char *advice)
{
    PyObject *path;

    if (w->is_cbor) {
        return 0;
    }
    if (w->may_cbor) {
        w->needs_cbor = 1;
        return -1;
    }
    path = path_text(w, depth);
    if (path != NULL) {
        PyErr_Format(PyExc_TypeError, "%U is %s, which JSON cannot say; %s", path, what, advice);
        Py_DECREF(path);
    }
    return -1;
}

int value_refuse_size(struct walk *w)
{
    PyErr_Format(PyExc_ValueError,
        "the value is more than %u bytes long, the limit is %u; return less, print it, or raise "
        "the limit with --value-bytes",
        (unsigned)w->bytes_max, (unsigned)w->bytes_max);
    return -1;
}

int value_refuse_change(struct walk *w, unsigned depth)
{
    PyObject *path = path_text(w, depth);

    if (path != NULL) {
        PyErr_Format(PyExc_TypeError, "%U was changed while it was read", path);
        Py_DECREF(path);
    }
    return -1;
}

int value_refuse_cycle(struct walk *w, unsigned depth, unsigned back_to)
{
    PyObject *path = path_text(w, depth);
    PyObject *back = path_text(w, back_to);

    if (path != NULL && back != NULL) {
        PyErr_Format(PyExc_TypeError,
            "%U is a cycle back to %U, which cannot cross to the host; return a tree", path, back);
    }
    Py_XDECREF(path);
    Py_XDECREF(back);
    return -1;
}

int value_refuse_depth(struct walk *w, unsigned depth)
{
    PyObject *path = path_text(w, depth);

    if (path != NULL) {
        PyErr_Format(PyExc_TypeError,
            "%U is nested deeper than %d levels, which cannot cross to the host; return a flatter "
            "value",
            path, VALUE_DEPTH_MAX);
        Py_DECREF(path);
    }
    return -1;
}

static int is_function(PyObject *object)
{
    return PyFunction_Check(object) || PyCFunction_Check(object) || PyMethod_Check(object) ||
           PyObject_TypeCheck(object, &PyMethodDescr_Type) ||
           PyObject_TypeCheck(object, &PyWrapperDescr_Type) ||
           PyObject_TypeCheck(object, &_PyMethodWrapper_Type);
}

static int is_awaitable(PyObject *object)
{
    PyAsyncMethods *methods = Py_TYPE(object)->tp_as_async;

    return PyCoro_CheckExact(object) || (methods != NULL && methods->am_await != NULL);
}

static int is_view(PyObject *object)
{
    return PyDictViewSet_Check(object) || PyDictValues_Check(object);
}

int value_refuse_object(struct walk *w, PyObject *object, unsigned depth)
{
    static const char as_list[] = "use list(...)";
    const char *name = strrchr(Py_TYPE(object)->tp_name, '.');
    PyObject *path;

    if (is_function(object)) {
        return value_refuse(w, depth, "a function", "call it and return the result");
    }
    if (PyType_Check(object)) {
        return value_refuse(w, depth, "a class", "return plain data made from it");
    }
    if (PyModule_Check(object)) {
        return value_refuse(w, depth, "a module", "return plain data made from it");
    }
    if (PyGen_Check(object)) {
        return value_refuse(w, depth, "a generator", as_list);
    }
    if (is_awaitable(object)) {
        return value_refuse(
            w, depth, PyCoro_CheckExact(object) ? "a coroutine" : "an awaitable", "await it first");
    }
    if (PyObject_TypeCheck(object, value_types.file)) {
        return value_refuse(w, depth, "a file", "return what is read from it");
    }
    if (is_view(object)) {
        return value_refuse(w, depth, "a view of a dict", as_list);
    }
    if (PyIter_Check(object)) {
        return value_refuse(w, depth, "an iterator", as_list);
    }
    path = path_text(w, depth);
    if (path != NULL) {
        PyErr_Format(PyExc_TypeError,
            "%U is an object of class %.60s, which cannot cross to the host; return a dict, or "
            "make it a dataclass",
            path, name != NULL ? name + 1 : Py_TYPE(object)->tp_name);
        Py_DECREF(path);
    }
    return -1;
}
