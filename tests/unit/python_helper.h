/* python_helper.h - what the tests of values of Python share: an interpreter, values made by a line
 * of Python, and what arrives of them at the host.
 *
 * A helper that fails prints why and aborts. */
#ifndef VIAL_TESTS_PYTHON_HELPER_H
#define VIAL_TESTS_PYTHON_HELPER_H

#include "cell/python/value.h"

enum { PYTHON_VALUE_BYTES_MAX = 16 * 1024 * 1024 };

/* Starts Python and takes what values need, as a template does. With packages, those of Debian can
 * be imported. */
void python_start(int with_packages);

/* What an expression gives, or the name v after a program. A new reference. */
PyObject *python_value(const char *code);

/* Runs a program in the names that all programs share. */
void python_run(const char *code);

/* What the host shows for the value, to be freed: JSON as it is, what came as CBOR with a ~ in
 * front; for what is refused a !, the name of the exception, and its text. What the host would not
 * accept aborts. */
char *python_shown(PyObject *value, uint32_t bytes_max, int in_session);
char *python_shown_code(const char *code);

/* The repr() of an object, or of the exception that is set when it is NULL; to be freed. Takes the
 * reference. */
char *python_repr(PyObject *object);

/* The value as CBOR in out, whatever JSON could say: it goes inside a list with nan. */
PyObject *python_through_cbor(PyObject *value);

#endif
