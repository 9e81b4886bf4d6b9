/* value.h - values between Python and the host: JSON when that says all there is to say, else CBOR
 * in the vocabulary of docs/values.md.
 *
 * These functions run in the cell, with the interpreter's lock held. The walk goes by what an
 * object is and not by what its class pretends: subclasses of built-in types are read as the
 * built-in, and their own methods are not asked. Some of the guest's code runs all the same (time
 * zones, properties of dataclasses, __str__ of exceptions), and may fail: its exception is then the
 * one that is set. */
#ifndef VIAL_CELL_PYTHON_VALUE_H
#define VIAL_CELL_PYTHON_VALUE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    /* Deeper values are refused: host programs read them recursively. */
    VALUE_DEPTH_MAX = 100,
    /* Levels of JSON input, as everywhere in the product. */
    VALUE_JSON_DEPTH_MAX = 512,
    /* Rows of a table that cross; their true number does too. Nobody reads more than that as one
     * value, and a frame of millions would only meet the limit of bytes. */
    VALUE_ROWS_MAX = 1000,
    /* Functions the host may have at a time. More than a program means to give away; the oldest are
     * not forgotten but new ones refused. */
    VALUE_HANDLES_MAX = 10000,
};

/* Once, in the template, before any guest code: imports what is needed later and keeps the types,
 * so that nothing a guest does to a module changes them. 0, or -1 with an exception set. */
int py_value_warm(void);

/* Adds the value to result: as FIELD_VALUE when JSON says all there is to say, else as
 * FIELD_VALUE_CBOR. in_session: functions become handles. 0, or -1 with an exception set, as a rule
 * a TypeError or ValueError whose text names the place; result is then as it was. */
int py_value_add(PyObject *value, uint32_t bytes_max, int in_session, struct buf *result);

/* The same for the arguments of a tool, without the head of a field: JSON text or, when that would
 * lose something, CBOR. Without allow_cbor such a value is refused. */
int py_value_encode(
    PyObject *value, int allow_cbor, uint32_t bytes_max, struct buf *out, int *ret_is_cbor);

/* Adds what a prompt would print for the value: its repr in UTF-8, cut at bytes_max. 0, or -1 with
 * the exception of the repr. */
int py_value_text(PyObject *value, uint32_t bytes_max, struct buf *out);

/* A new reference, or NULL with a ValueError. JSON is strict; numbers without fraction and exponent
 * become ints of any size that int() takes (4300 digits). */
PyObject *py_value_from_json(const char *bytes, size_t len);
PyObject *py_value_from_cbor(const char *bytes, size_t len);

/* Functions that the host can call, by number; see docs/values.md. */

/* The number of a function from now on, or 0 with an exception set. */
uint32_t py_handle_keep(PyObject *function);

/* A new reference to the function, or NULL with a LookupError. */
PyObject *py_handle_get(uint32_t handle);

/* 0, or -1 with a LookupError. */
int py_handle_release(uint32_t handle);

#endif
