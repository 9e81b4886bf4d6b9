/* test_value_read.c - JSON on its way to Python: what it becomes, what is refused and with which
 * words, and that Python's own reader says the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "python_helper.h"

static int start(void **state)
{
    (void)state;
    python_start(0);
    python_run("import json");
    return 0;
}

static void values_become_objects(void **state)
{
    static const struct {
        const char *json;
        const char *repr;
    } rows[] = {
        {" null ", "None"},
        {"[true,false]", "[True, False]"},
        {"[0,-0,1,-1,123456789012345678,-123456789012345678]",
            "[0, 0, 1, -1, 123456789012345678, -123456789012345678]"},
        {"[1234567890123456789,-99999999999999999999999999]",
            "[1234567890123456789, -99999999999999999999999999]"},
        {"[1.0,0.1,-0.0,1e3,1E-3,1.5e+300,5e-324,1e999,-1e999]",
            "[1.0, 0.1, -0.0, 1000.0, 0.001, 1.5e+300, 5e-324, inf, -inf]"},
        {"[0.3,123456.789,9007199254740993.0,0.1234567890123456789,1e22,1e23]",
            "[0.3, 123456.789, 9007199254740992.0, 0.12345678901234568, 1e+22, 1e+23]"},
        {"\"\"", "''"},
        {"\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e4\"", "'a\"\\\\/\\x08\\x0c\\n\\r\\tA\xc3\xa4'"},
        {"\"\\ud83d\\ude00\"", "'\xf0\x9f\x98\x80'"},
        {"\"\\ud83d\"", "'\\ud83d'"},
        {"\"\\ude00\\ud83d\"", "'\\ude00\\ud83d'"},
        {"\"\\ud83d\\u0041\"", "'\\ud83dA'"},
        {"\"\x7f\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"",
            "'\\x7f\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'"},
        {"[]", "[]"},
        {"[ [ ] , { } ]", "[[], {}]"},
        {"{\"a\":1,\"b\":{\"a\":[{\"a\":2}]}}", "{'a': 1, 'b': {'a': [{'a': 2}]}}"},
        {"{\"a\":1,\"a\":2}", "{'a': 2}"},
        {"{\"\xc3\xa4\\n\":1}", "{'\xc3\xa4\\n': 1}"},
        {"\r\n\t {\"a\" : [ 1 , 2 ] }\n", "{'a': [1, 2]}"},
    };
    char *shown;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        shown = python_repr(py_value_from_json(rows[i].json, strlen(rows[i].json)));
        if (strcmp(shown, rows[i].repr) != 0) {
            fail_msg("%s becomes %s, not %s", rows[i].json, shown, rows[i].repr);
        }
        free(shown);
    }
}

static const char *const REFUSED[] = {"", " ", "nul", "nulll", "True", "NaN", "Infinity",
    "-Infinity", "-", "+1", "01", "-01", "1.", ".1", "1e", "1e+", "0x1", "1_0", "[", "]", "[1",
    "[1,", "[1,]", "[,1]", "[1 2]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
    "{a:1}", "{\"a\" 1}", "{1:2}", "{'a':1}", "'a'", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"",
    "\"\\u12g4\"", "\"\n\"", "\"\x01\"", "\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xc3\"",
    "1 2", "[] []", "{}x", "\xef\xbb\xbf[]", "// x\n1", "\"\\ud83d\\u12\"", "[\"a]",
    "{\"a\xff\":1}"};

static void what_is_no_json_is_refused_with_its_place(void **state)
{
    char *shown;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++) {
        assert_int_equal(json_check(REFUSED[i], strlen(REFUSED[i]), 512, NULL), VIAL_E_INVALID);
        shown = python_repr(py_value_from_json(REFUSED[i], strlen(REFUSED[i])));
        if (strncmp(shown, "!ValueError: line ", 18) != 0) {
            fail_msg("%s becomes %s", REFUSED[i], shown);
        }
        free(shown);
    }
    shown = python_repr(py_value_from_json("[1,\n 2,]", 8));
    assert_string_equal(shown, "!ValueError: line 2, column 4: this is no JSON value");
    free(shown);
}

/* 4300 digits, as int() has it. */
static void long_numbers_are_bounded_as_int_bounds_them(void **state)
{
    char digits[5001];
    char *shown;

    (void)state;
    memset(digits, '7', sizeof(digits));
    shown = python_repr(py_value_from_json(digits, 4300));
    assert_int_equal(strlen(shown), 4300);
    free(shown);
    shown = python_repr(py_value_from_json(digits, 4301));
    assert_memory_equal(shown, "!ValueError: Exceeds the limit", 30);
    free(shown);
    digits[1] = '.';
    shown = python_repr(py_value_from_json(digits, sizeof(digits)));
    assert_string_equal(shown, "7.777777777777778");
    free(shown);
}

static void depth_is_bounded(void **state)
{
    static char text[2 * 100000];
    PyObject *value;
    char *shown;

    (void)state;
    memset(text, '[', VALUE_JSON_DEPTH_MAX);
    memset(text + VALUE_JSON_DEPTH_MAX, ']', VALUE_JSON_DEPTH_MAX);
    value = py_value_from_json(text, (size_t)2 * VALUE_JSON_DEPTH_MAX);
    assert_non_null(value);
    Py_DECREF(value);
    memset(text, '[', sizeof(text) / 2);
    memset(text + sizeof(text) / 2, ']', sizeof(text) / 2);
    shown = python_repr(py_value_from_json(text, sizeof(text)));
    assert_non_null(strstr(shown, "nests too deeply"));
    free(shown);
    memset(text, '[', VALUE_JSON_DEPTH_MAX + 1);
    memset(text + VALUE_JSON_DEPTH_MAX + 1, ']', VALUE_JSON_DEPTH_MAX + 1);
    assert_null(py_value_from_json(text, (size_t)2 * VALUE_JSON_DEPTH_MAX + 2));
    PyErr_Clear();
}

/* Texts that are made at random from pieces: what json_check accepts is read, and as Python's own
 * module reads it; what it does not is refused. */
static void pythons_own_reader_says_the_same(void **state)
{
    static const char *const pieces[] = {"[", "]", "{", "}", ",", ":", "\"a\"", "\"\\u00e4\"", "1",
        "-", "0", ".5", "e3", "true", "null", " ", "\"\xc3\xa4\"", "\"", "\\", "2.25", "\"b\":"};
    uint32_t seed = 12345;
    PyObject *loads = python_value("json.loads");
    unsigned round, accepted = 0;

    (void)state;
    for (round = 0; round < 200000; round++) {
        char text[64] = "";
        PyObject *value, *other;
        unsigned i;

        for (i = 0; i < 1 + round % 6; i++) {
            seed = seed * 1664525U + 1013904223U;
            (void)strncat(text, pieces[(seed >> 16) % (sizeof(pieces) / sizeof(pieces[0]))],
                sizeof(text) - strlen(text) - 1);
        }
        value = py_value_from_json(text, strlen(text));
        if ((value != NULL) != (json_check(text, strlen(text), 512, NULL) == VIAL_OK)) {
            fail_msg("%s is read differently", text);
        }
        if (value != NULL) {
            other = PyObject_CallFunction(loads, "s", text);
            assert_non_null(other);
            assert_int_equal(PyObject_RichCompareBool(value, other, Py_EQ), 1);
            Py_DECREF(other);
            Py_DECREF(value);
            accepted++;
        }
        PyErr_Clear();
    }
    assert_true(accepted > 1000);
    Py_DECREF(loads);
}

/* What cannot be written at once is written by both the same: rounding above all. */
static void floats_are_rounded_as_python_does(void **state)
{
    (void)state;
    python_run(
        "import random\n"
        "random.seed(1)\n"
        "numbers = [random.random() * 10 ** random.randrange(-30, 30) for _ in range(20000)]\n"
        "numbers += [round(n, 3) for n in numbers] + [float(int(n)) for n in numbers]\n"
        "texts = json.dumps(numbers).encode()\n");
    PyObject *bytes = python_value("texts");
    PyObject *numbers = python_value("numbers");
    PyObject *value = py_value_from_json(PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));

    assert_non_null(value);
    assert_int_equal(PyObject_RichCompareBool(value, numbers, Py_EQ), 1);
    Py_DECREF(value);
    Py_DECREF(bytes);
    Py_DECREF(numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_become_objects),
        cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
        cmocka_unit_test(long_numbers_are_bounded_as_int_bounds_them),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(pythons_own_reader_says_the_same),
        cmocka_unit_test(floats_are_rounded_as_python_does),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
