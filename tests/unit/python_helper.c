/* python_helper.c - see python_helper.h. */
#include "python_helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "value/cbor.h"
#include "wire/field.h"

enum { DEPTH_MAX = 256, BUFFER_MAX = 64 * 1024 * 1024 }; /* the first as in host/result.c */

static PyObject *names; /* of all programs */

static void stop(const char *why, const char *what)
{
    (void)fprintf(stderr, "python_helper: %s: %s\n", why, what);
    if (PyErr_Occurred() != NULL) {
        PyErr_Print();
    }
    abort();
}

void python_start(int with_packages)
{
    static const wchar_t *const paths[] = {L"/usr/lib/python3.11",
        L"/usr/lib/python3.11/lib-dynload", L"/usr/lib/python3/dist-packages"};
    PyConfig config;
    int i;

    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    config.module_search_paths_set = 1;
    for (i = 0; i < (with_packages ? 3 : 2); i++) {
        (void)PyWideStringList_Append(&config.module_search_paths, paths[i]);
    }
    if (PyStatus_Exception(Py_InitializeFromConfig(&config))) {
        stop("starting", "Python");
    }
    PyConfig_Clear(&config);
    if (py_value_warm() < 0) {
        stop("warming", "values");
    }
    names = PyDict_New();
    if (names == NULL || PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) < 0) {
        stop("making", "names");
    }
}

void python_run(const char *code)
{
    PyObject *done = PyRun_String(code, Py_file_input, names, names);

    if (done == NULL) {
        stop("running", code);
    }
    Py_DECREF(done);
}

PyObject *python_value(const char *code)
{
    PyObject *compiled = Py_CompileString(code, "test", Py_eval_input);
    PyObject *value;

    if (compiled != NULL) {
        value = PyEval_EvalCode(compiled, names, names);
        Py_DECREF(compiled);
    } else {
        PyErr_Clear();
        python_run(code);
        value = Py_XNewRef(PyDict_GetItemString(names, "v"));
    }
    if (value == NULL) {
        stop("evaluating", code);
    }
    return value;
}

static char *copy(const char *first, const char *second, size_t len)
{
    char *text = malloc(strlen(first) + len + 1);

    if (text == NULL) {
        stop("copying", second);
    }
    memcpy(text, first, strlen(first));
    memcpy(text + strlen(first), second, len);
    text[strlen(first) + len] = '\0';
    return text;
}

static char *shown_exception(void)
{
    PyObject *type, *value, *traceback, *text;
    char *shown;

    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    text = PyUnicode_FromFormat("!%s: %S", ((PyTypeObject *)type)->tp_name, value);
    if (text == NULL) {
        stop("showing", "an exception");
    }
    shown = copy("", PyUnicode_AsUTF8(text), strlen(PyUnicode_AsUTF8(text)));
    Py_DECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return shown;
}

char *python_shown(PyObject *value, uint32_t bytes_max, int in_session)
{
    struct buf result, tagged;
    struct vial_error err = {.text = ""};
    struct field f;
    size_t at = 4;
    char *shown;

    buf_init(&result, BUFFER_MAX);
    buf_init(&tagged, BUFFER_MAX);
    if (buf_add(&result, "kept", 4, NULL) < 0) {
        stop("keeping", "a buffer");
    }
    if (py_value_add(value, bytes_max, in_session, &result) < 0) {
        if (result.len != 4 || PyErr_Occurred() == NULL) {
            stop("refusing", "a value that left something");
        }
        shown = shown_exception();
    } else if (PyErr_Occurred() != NULL || field_next(result.data, result.len, &at, &f) != 1 ||
               at != result.len || f.len > bytes_max) {
        stop("reading", "the field of a value");
        return NULL;
    } else if (f.tag == FIELD_VALUE) {
        if (json_check(f.bytes, f.len, DEPTH_MAX, NULL) < 0) {
            stop("this is no JSON", f.bytes);
        }
        shown = copy("", f.bytes, f.len);
    } else {
        if (value_cbor_check(f.bytes, f.len, &err) < 0 ||
            value_cbor_to_json(f.bytes, f.len, &tagged, &err) < 0) {
            stop("the host says", err.text);
        }
        shown = copy("~", tagged.data, tagged.len);
    }
    buf_release(&result);
    buf_release(&tagged);
    return shown;
}

char *python_shown_code(const char *code)
{
    PyObject *value = python_value(code);
    char *shown = python_shown(value, PYTHON_VALUE_BYTES_MAX, 0);

    Py_DECREF(value);
    return shown;
}

char *python_repr(PyObject *object)
{
    PyObject *text = object != NULL ? PyObject_Repr(object) : NULL;
    char *shown;

    if (object == NULL) {
        return shown_exception();
    }
    if (text == NULL || PyUnicode_AsUTF8(text) == NULL) {
        stop("showing", "an object");
    }
    shown = copy("", PyUnicode_AsUTF8(text), strlen(PyUnicode_AsUTF8(text)));
    Py_DECREF(text);
    Py_DECREF(object);
    return shown;
}

PyObject *python_through_cbor(PyObject *value)
{
    PyObject *both = Py_BuildValue("[Od]", value, (double)Py_NAN);
    PyObject *back, *first;
    struct vial_error err;
    int is_cbor = 0;
    struct buf out;

    buf_init(&out, BUFFER_MAX);
    if (both == NULL || py_value_encode(both, 1, PYTHON_VALUE_BYTES_MAX, &out, &is_cbor) < 0 ||
        !is_cbor) {
        stop("encoding", "a value");
    }
    if (value_cbor_check(out.data, out.len, &err) < 0) {
        stop("the host says", err.text);
    }
    back = py_value_from_cbor(out.data, out.len);
    first = back != NULL ? Py_NewRef(PyList_GetItem(back, 0)) : NULL;
    Py_XDECREF(back);
    Py_DECREF(both);
    buf_release(&out);
    return first;
}
