/* value_handle.c - functions that the host can call, by number. See value.h.
 *
 * Numbers are never used again in a session, so that a host that kept one too long gets an error
 * and not another function. */
#include "cell/python/value_walk.h"

static PyObject *kept; /* a dict of functions by number; NULL before the first one */
static uint32_t last;  /* number that was given away */

uint32_t py_handle_keep(PyObject *function)
{
    PyObject *number;
    int r;

    if (kept == NULL) {
        kept = PyDict_New();
        if (kept == NULL) {
            return 0;
        }
    }
    if (PyDict_GET_SIZE(kept) >= VALUE_HANDLES_MAX || last == UINT32_MAX) {
        PyErr_Format(PyExc_ValueError,
            "%d functions have been given to the host, which is the limit; it has to release some",
            VALUE_HANDLES_MAX);
        return 0;
    }
    number = PyLong_FromUnsignedLong(last + 1);
    r = number != NULL ? PyDict_SetItem(kept, number, function) : -1;
    Py_XDECREF(number);
    if (r < 0) {
        return 0;
    }
    last++;
    return last;
}

PyObject *py_handle_get(uint32_t handle)
{
    PyObject *number = PyLong_FromUnsignedLong(handle);
    PyObject *function =
        number != NULL && kept != NULL ? PyDict_GetItemWithError(kept, number) : NULL;

    Py_XDECREF(number);
    if (function == NULL && PyErr_Occurred() == NULL) {
        PyErr_Format(PyExc_LookupError,
            "there is no function %u in this session: it was released, or never given",
            (unsigned)handle);
    }
    return Py_XNewRef(function);
}

int py_handle_release(uint32_t handle)
{
    PyObject *function = py_handle_get(handle); /* its end must not come while the dict changes */
    PyObject *number = function != NULL ? PyLong_FromUnsignedLong(handle) : NULL;
    int r = number != NULL ? PyDict_DelItem(kept, number) : -1;

    Py_XDECREF(number);
    Py_XDECREF(function);
    return r;
}

uint32_t py_handle_last(void)
{
    return last;
}

void py_handle_forget_since(uint32_t before)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    for (; last > before; last--) {
        if (py_handle_release(last) < 0) {
            PyErr_Clear();
        }
    }
    PyErr_Restore(type, value, traceback);
}
