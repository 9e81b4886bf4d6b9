/* python.h - CPython's interface, and what the files here share. */
#ifndef VIAL_CELL_PYTHON_PYTHON_H
#define VIAL_CELL_PYTHON_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/buf.h"
#include "cell/guest.h"

/* host_module.c: the module _vial_host, by which the prelude reaches C. */
PyObject *py_host_module(void);

/* Calls of tools: how large arguments may be. */
void py_host_begin(const struct guest_start *start);

/* run.c: finds what it needs in the prelude. 0, or -1 with a Python exception. */
int py_run_prepare(void);

/* Runs a program and adds the fields of its result. */
void py_run(const struct guest_start *start, struct buf *result);

/* Goes the way of a run in a module of our own. 0, or -1 with a Python exception. */
int py_run_rehearse(const char *source, struct buf *result);

#endif
