/* test_value_decode.c - CBOR on its way to Python: there and back for each row of docs/values.md,
 * what JavaScript writes, and bytes that are bent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "python_helper.h"

static int start(void **state)
{
    (void)state;
    python_start(0);
    python_run("import array, re, uuid, math\n"
               "from datetime import date, datetime, time, timedelta, timezone\n"
               "from decimal import Decimal\n"
               "from fractions import Fraction\n"
               "UTC = timezone.utc\n");
    return 0;
}

static void what_goes_out_comes_back(void **state)
{
    static const char *const codes[] = {"None", "True", "0", "-1", "2**53", "-2**70", "2**3000",
        "-2**3000", "1.0", "-0.0", "math.inf", "5e-324", "''", "'\\xe4\\u20ac\\U0001f600'", "b'ab'",
        "[1, [2]]", "{'a': {'b': 1}}", "{1: 'a', (1, (2, 3)): 'b', None: 1}", "{1, 2}",
        "{(1, (2,))}", "{frozenset([1])}", "3 + 4j", "array.array('d', [1.5, 2])",
        "array.array('h', [-1])", "array.array('Q', [2**64 - 1])", "array.array('f', [])",
        "datetime(2026, 1, 1, tzinfo=UTC)", "datetime(1969, 12, 31, 23, 59, 59, 999000, UTC)",
        "datetime(2026, 1, 1, 1, 1, 1, 123456, UTC)",
        "datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)", "datetime(1, 1, 1, tzinfo=UTC)",
        "datetime(2026, 1, 1)", "datetime(2026, 1, 1, 1, 2, 3, 4)", "date(2026, 2, 3)",
        "time(1, 2, 3)", "time(1, 2, 3, 4, timezone(timedelta(hours=-3)))", "timedelta(1, 2, 3)",
        "timedelta(microseconds=-1)", "timedelta.max", "timedelta.min", "Decimal('1.10')",
        "Decimal('-1E+30')", "Decimal('-0.00')", "Decimal('Infinity')", "Decimal('1' * 400)",
        "Decimal('123456789012345678901234567890.5')", "Decimal('1E-999999')", "Fraction(-1, 3)",
        "Fraction(2**70, 3**50)", "uuid.UUID(int=2**128 - 1)", "re.compile('a', re.I | re.S)",
        "ValueError('x')", "ValueError('')", "[1.5] * 1000"};
    PyObject *value, *back;
    char *before, *after;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        value = python_value(codes[i]);
        back = python_through_cbor(value);
        before = python_repr(value);
        after = python_repr(back);
        if (strcmp(before, after) != 0) {
            fail_msg("%s comes back as %s", before, after);
        }
        free(before);
        free(after);
    }
}

static PyObject *from_hex(const char *hex)
{
    char bytes[512];
    size_t n = 0;
    unsigned v;

    for (; hex[0] != '\0' && sscanf(hex, "%2x", &v) == 1; hex += 2) {
        bytes[n++] = (char)v;
    }
    return py_value_from_cbor(bytes, n);
}

static const struct {
    const char *hex;
    const char *repr;
} ROWS[] = {
    {"f7", "None"},
    {"1b7fffffffffffffff", "9223372036854775807"},
    {"3b7fffffffffffffff", "-9223372036854775808"},
    {"f93e00", "1.5"},
    {"fa3fc00000", "1.5"},
    {"c100", "datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)"},
    {"c1fbbff8000000000000",
        "datetime.datetime(1969, 12, 31, 23, 59, 58, 500000, tzinfo=datetime.timezone.utc)"},
    {"c1fb7ff8000000000000", "None"},
    {"c11b001fffffffffffff", "None"},
    {"c07818323032362d30312d30315430303a30303a30302e3132335a",
        "datetime.datetime(2026, 1, 1, 0, 0, 0, 123000, tzinfo=datetime.timezone.utc)"},
    {"c06178", "!ValueError: Invalid isoformat string: 'x'"},
    {"c11b00000fffffffffff", "None"},
    {"c11b000000ffffffffff", "!ValueError: CBOR: a date beyond the years 1 to 9999 at byte 10"},
    {"d8206178", "'x'"},
    {"d9010282018101", "{1, (1,)}"},
    {"d90102820182a00a", "[1, ({}, 10)]"},
    {"d90103a1016178", "{1: 'x'}"},
    {"d90103a2016178a002", "[(1, 'x'), ({}, 2)]"},
    {"d9524a8261616167", "re.compile('a')"},
    {"d9524a82616162696d", "re.compile('a', re.IGNORECASE|re.MULTILINE)"},
    {"d9524a82683f3c6e616d653e786160", "'?<name>x'"},
    {"d9524a82612860", "'('"},
    {"d84542ffff", "array('H', [65535])"},
    {"d84441ff", "array('B', [255])"},
    {"d854420038", "array('f', [0.5])"},
    {"d856480000000000000000", "array('d', [0.0])"},
    {"d82882820203460102030405ff", "[[1, 2, 3], [4, 5, 255]]"},
    {"d82882820201d84544ffff0000", "[[65535], [0]]"},
    {"d8288282001b000000007fffffff40", "[]"},
    {"d8288282020340", "!ValueError: "},
    {"d82882829b7fffffffffffffff0340", "!ValueError: "},
    {"d81b826b41727261794275666665724101", "b'\\x01'"},
    {"d81b8365417272617903a10105", "[None, 5, None]"},
    {"d81b836541727261791affffffffa0",
        "!ValueError: CBOR: a sparse array that is too long at byte 15"},
    {"d81b84654572726f726954797065457272"
     "6f72616d6173",
        "TypeError('m')"},
    {"d81b84654572726f726145616d6173", "Exception('m')"},
    {"d81b84654572726f727153797374656d45786974"
     "20616d6173",
        "!ValueError: "},
    {"d81b8268467574757265", "!ValueError: "},
    {"d81b826846756e6374696f6e07",
        "!LookupError: there is no function 7 in this session: it was released, or never given"},
    {"d81b82655461626c65a467636f6c756d6e7381616165696e646578f664726f77738181016"
     "9726f775f636f756e7401",
        "{'columns': ['a'], 'index': None, 'rows': [[1]], 'row_count': 1}"},
    {"", "!ValueError: CBOR: the value ends too early at byte 0"},
    {"0000", "!ValueError: CBOR: something behind the value at byte 1"},
    {"9f00ff", "!ValueError: CBOR: an indefinite length at byte 1"},
    {"9bffffffffffffffff", "!ValueError: CBOR: a length beyond the end at byte 9"},
    {"bbffffffffffffffff", "!ValueError: CBOR: a length beyond the end at byte 9"},
    {"5bffffffffffffffff", "!ValueError: CBOR: the value ends too early at byte 9"},
    {"c482011bffffffffffffffff", "Decimal('1.8446744073709551615E+20')"},
    {"c4821bffffffffffffffff01", "!ValueError: CBOR: a decimal beyond what there is at byte 12"},
    {"d81e820100", "!ValueError: CBOR: a fraction without a denominator at byte 5"},
    {"d82540", "!ValueError: CBOR: a UUID that is not 16 bytes long at byte 3"},
};

static void each_row_becomes_its_object(void **state)
{
    char *shown;
    size_t i, n;

    (void)state;
    for (i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        shown = python_repr(from_hex(ROWS[i].hex));
        n = strlen(ROWS[i].repr);
        if (strncmp(shown, ROWS[i].repr, n) != 0 || (ROWS[i].repr[0] != '!' && shown[n] != '\0')) {
            fail_msg("%s becomes %s, not %s", ROWS[i].hex, shown, ROWS[i].repr);
        }
        free(shown);
    }
}

static void an_error_keeps_name_stack_and_cause(void **state)
{
    PyObject *error = from_hex("d81b85654572726f726145616d617364626c6f62");
    PyObject *name;

    (void)state;
    assert_non_null(error);
    name = PyObject_GetAttrString(error, "name");
    assert_true(name != NULL && PyUnicode_CompareWithASCIIString(name, "E") == 0);
    Py_DECREF(name);
    name = PyObject_GetAttrString(error, "stack");
    assert_true(name != NULL && PyUnicode_CompareWithASCIIString(name, "s") == 0);
    Py_DECREF(name);
    name = PyObject_GetAttrString(error, "cause");
    assert_true(name != NULL && PyUnicode_CompareWithASCIIString(name, "blob") == 0);
    Py_DECREF(name);
    Py_DECREF(error);
}

static void depth_is_bounded(void **state)
{
    static char bytes[100000];
    PyObject *value;

    (void)state;
    memset(bytes, 0x81, sizeof(bytes));
    bytes[320] = 0;
    value = py_value_from_cbor(bytes, 321);
    assert_non_null(value);
    Py_DECREF(value);
    bytes[320] = (char)0x81;
    assert_null(py_value_from_cbor(bytes, sizeof(bytes)));
    PyErr_Clear();
    memset(bytes, 0xc1, sizeof(bytes)); /* tags in tags */
    assert_null(py_value_from_cbor(bytes, sizeof(bytes)));
    PyErr_Clear();
}

/* Every sample cut at every byte, and with every bit turned: an object, or an exception. */
static void nothing_crashes_it(void **state)
{
    char bytes[512];
    PyObject *value;
    size_t i, n, at;
    unsigned v;

    (void)state;
    for (i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        for (n = 0; sscanf(ROWS[i].hex + 2 * n, "%2x", &v) == 1; n++) {
            bytes[n] = (char)v;
        }
        for (at = 0; at < 8 * n; at++) {
            bytes[at / 8] = (char)(bytes[at / 8] ^ (1 << at % 8));
            value = py_value_from_cbor(bytes, n);
            assert_true((value == NULL) == (PyErr_Occurred() != NULL));
            Py_XDECREF(value);
            PyErr_Clear();
            value = py_value_from_cbor(bytes, at / 8);
            assert_true((value == NULL) == (PyErr_Occurred() != NULL));
            Py_XDECREF(value);
            PyErr_Clear();
            bytes[at / 8] = (char)(bytes[at / 8] ^ (1 << at % 8));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_out_comes_back),
        cmocka_unit_test(each_row_becomes_its_object),
        cmocka_unit_test(an_error_keeps_name_stack_and_cause),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(nothing_crashes_it),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
