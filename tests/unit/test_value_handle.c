/* test_value_handle.c - functions that the host may call: their numbers, and how many there can be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "python_helper.h"

static int start(void **state)
{
    (void)state;
    python_start(0);
    return 0;
}

static void a_number_is_one_function_for_ever(void **state)
{
    PyObject *function = python_value("len");
    PyObject *other = python_value("print");
    PyObject *got;
    uint32_t first = py_handle_keep(function);
    uint32_t second = py_handle_keep(other);

    (void)state;
    assert_true(first != 0 && second != 0 && first != second);
    got = py_handle_get(first);
    assert_ptr_equal(got, function);
    Py_DECREF(got);
    assert_int_equal(py_handle_release(first), 0);
    assert_null(py_handle_get(first));
    assert_true(PyErr_ExceptionMatches(PyExc_LookupError));
    PyErr_Clear();
    assert_int_equal(py_handle_release(first), -1);
    PyErr_Clear();
    assert_true(py_handle_keep(function) > second);
    assert_null(py_handle_get(0));
    PyErr_Clear();
    Py_DECREF(function);
    Py_DECREF(other);
}

/* What is let go may be the end of something that has a last word. */
static void the_end_of_a_function_may_run_code(void **state)
{
    PyObject *function;
    uint32_t handle;

    (void)state;
    python_run("ended = []\n"
               "class F:\n"
               "    def __call__(self): pass\n"
               "    def __del__(self): ended.append(1)\n");
    function = python_value("F()");
    handle = py_handle_keep(function);
    Py_DECREF(function);
    assert_int_equal(py_handle_release(handle), 0);
    python_run("assert ended == [1]");
}

static void there_is_a_limit(void **state)
{
    PyObject *function = python_value("len");
    uint32_t last = 0, handle = 0;
    unsigned i;

    (void)state;
    for (i = 0; i <= VALUE_HANDLES_MAX; i++) {
        handle = py_handle_keep(function);
        if (handle == 0) {
            break;
        }
        last = handle;
    }
    assert_int_equal(handle, 0);
    assert_true(PyErr_ExceptionMatches(PyExc_ValueError));
    PyErr_Clear();
    assert_int_equal(py_handle_release(last), 0);
    assert_int_not_equal(py_handle_keep(function), 0);
    Py_DECREF(function);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_one_function_for_ever),
        cmocka_unit_test(the_end_of_a_function_may_run_code),
        cmocka_unit_test(there_is_a_limit),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
