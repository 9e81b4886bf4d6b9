/* test_value_data.c - arrays of numpy and tables of pandas, there and back. Without the packages
 * this test says so and is skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper.h"
#include "python_helper.h"

static int has_packages;

static int start(void **state)
{
    PyObject *pandas;

    (void)state;
    python_start(1);
    pandas = PyImport_ImportModule("pandas");
    has_packages = pandas != NULL;
    Py_XDECREF(pandas);
    PyErr_Clear();
    if (!has_packages) {
        helper_say_skip("there is no pandas here");
        return 0;
    }
    python_run("import numpy as np, pandas as pd, datetime\n"
               "class Sub(np.ndarray):\n"
               "    tolist = __iter__ = __len__ = None\n");
    return 0;
}

struct row {
    const char *code;
    const char *shown;
};

static void assert_rows(const struct row *rows, size_t count)
{
    char *shown;
    size_t i;

    if (!has_packages) {
        skip();
    }
    for (i = 0; i < count; i++) {
        shown = python_shown_code(rows[i].code);
        if (strcmp(shown, rows[i].shown) != 0) {
            fail_msg("%s is shown as %s, not as %s", rows[i].code, shown, rows[i].shown);
        }
        free(shown);
    }
}

static void arrays_of_numpy_cross(void **state)
{
    static const struct row rows[] = {
        {"np.array([1.5])", "~{\"$Float64Array\":\"AAAAAAAA+D8=\"}"},
        {"np.array([1.5], '>f8')", "~{\"$Float64Array\":\"AAAAAAAA+D8=\"}"},
        {"np.array([], 'i4')", "~{\"$Int32Array\":\"\"}"},
        {"[np.array([1], t) for t in ('u1', 'i1', 'u2', 'i2', 'u4', 'i4')]",
            "~[{\"$bytes\":\"AQ==\"},{\"$Int8Array\":\"AQ==\"},{\"$Uint16Array\":\"AQA=\"},"
            "{\"$Int16Array\":\"AQA=\"},{\"$Uint32Array\":\"AQAAAA==\"},{\"$Int32Array\":\"AQAAAA=="
            "\"}]"},
        {"[np.array([1], t) for t in ('u8', 'i8', 'f2', 'f4')]",
            "~[{\"$BigUint64Array\":\"AQAAAAAAAAA=\"},{\"$BigInt64Array\":\"AQAAAAAAAAA=\"},"
            "{\"$Float16Array\":\"ADw=\"},{\"$Float32Array\":\"AACAPw==\"}]"},
        {"np.arange(6, dtype='u1').reshape(2, 3)",
            "~{\"$ndarray\":[[2,3],{\"$bytes\":\"AAECAwQF\"}]}"},
        {"np.arange(6, dtype='u1').reshape(2, 3).T",
            "~{\"$ndarray\":[[3,2],{\"$bytes\":\"AAMBBAIF\"}]}"},
        {"np.arange(4, dtype='u2')[::2]", "~{\"$Uint16Array\":\"AAACAA==\"}"},
        {"np.zeros((2, 0, 3))", "~{\"$ndarray\":[[2,0,3],{\"$Float64Array\":\"\"}]}"},
        {"np.array([1], 'u1').view(Sub)", "~{\"$bytes\":\"AQ==\"}"},
        {"np.array([[True, False]])", "[[true,false]]"},
        {"np.array(['a', None, [1]], object)", "[\"a\",null,[1]]"},
        {"np.array(['ab', 'c'])", "[\"ab\",\"c\"]"},
        {"np.array([1 + 2j])", "~[{\"$complex\":[1.0,2.0]}]"},
        {"np.array(5)", "5"},
        {"np.array([1.5], np.longdouble)", "[1.5]"},
        {"np.array([(1, 'x')], [('a', 'i4'), ('b', 'U1')])", "[[1,\"x\"]]"},
        {"np.ma.array([1, 2], mask=[0, 1])", "[1,null]"},
        {"np.array(['2026-01-01T00:00:00.000000001', 'NaT'], 'M8[ns]')",
            "~[{\"$datetime\":\"2026-01-01T00:00:00\"},null]"},
        {"np.array([1500], 'm8[ms]')", "~[{\"$timedelta\":1.500000}]"},
        {"[np.int64(5), np.float32(1.5), np.float64(2), np.bool_(True), np.str_('x')]",
            "[5,1.5,2.0,true,\"x\"]"},
        {"[np.bytes_(b'a'), np.complex64(1), np.longdouble(1.5)]",
            "~[{\"$bytes\":\"YQ==\"},{\"$complex\":[1.0,0.0]},1.5]"},
        {"[np.datetime64('2026-01-01'), np.datetime64('NaT'), np.timedelta64(1, 's')]",
            "~[{\"$datetime\":\"2026-01-01T00:00:00\"},null,{\"$timedelta\":1}]"},
        {"{np.int64(1): 2}", "~{\"$map\":[[1,2]]}"},
        {"v = np.empty(1, object); v[0] = v", "!TypeError: value[0] is a cycle back to value, "
                                              "which cannot cross to the host; return a "
                                              "tree"},
        {"v = np.empty((), object); v[()] = v",
            "!TypeError: value is a cycle back to value, which cannot cross to the host; return a "
            "tree"},
        {"np.array([print], object)", "!TypeError: value[0] is a function, which cannot cross to "
                                      "the host; call it and return "
                                      "the result"},
    };

    (void)state;
    assert_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void tables_of_pandas_cross(void **state)
{
    static const struct row rows[] = {
        {"pd.DataFrame({'a': [1, 2], 'b': ['x', None]})",
            "~{\"$table\":{\"columns\":[\"a\",\"b\"],\"index\":null,\"rows\":[[1,\"x\"],[2,null]],"
            "\"row_count\":2}}"},
        {"pd.DataFrame({'a': [1.5, np.nan]}, index=['x', 'y'])",
            "~{\"$table\":{\"columns\":[\"a\"],\"index\":[\"x\",\"y\"],\"rows\":[[1.5],[null]],"
            "\"row_count\":2}}"},
        {"pd.DataFrame()",
            "~{\"$table\":{\"columns\":[],\"index\":[],\"rows\":[],\"row_count\":0}}"},
        {"pd.DataFrame([[1, 2]], columns=['a', 'a'])",
            "~{\"$table\":{\"columns\":[\"a\",\"a\"],\"index\":null,\"rows\":[[1,2]],\"row_count\":"
            "1}}"},
        {"pd.DataFrame({'t': pd.to_datetime(['2026-01-01', None]), "
         "'d': pd.to_timedelta([1, None], 's')})",
            "~{\"$table\":{\"columns\":[\"t\",\"d\"],\"index\":null,\"rows\":[[{\"$datetime\":"
            "\"2026-01-01T00:00:00\"},{\"$timedelta\":1}],[null,null]],\"row_count\":2}}"},
        {"pd.DataFrame({'t': pd.to_datetime(['2026-01-01T02:00:00+02:00'])})",
            "~{\"$table\":{\"columns\":[\"t\"],\"index\":null,\"rows\":[[{\"$date\":"
            "\"2026-01-01T00:00:00.000Z\"}]],\"row_count\":1}}"},
        {"pd.DataFrame({'c': pd.Categorical(['a', None]), 'i': pd.array([1, None], 'Int64')})",
            "~{\"$table\":{\"columns\":[\"c\",\"i\"],\"index\":null,\"rows\":[[\"a\",1],[null,null]"
            "],"
            "\"row_count\":2}}"},
        {"pd.DataFrame({'p': [pd.Period('2026-01'), pd.Interval(0, 1)]})",
            "~{\"$table\":{\"columns\":[\"p\"],\"index\":null,\"rows\":[[\"2026-01\"],[\"(0, "
            "1]\"]],"
            "\"row_count\":2}}"},
        {"pd.DataFrame({'a': [1]}).set_index([['x'], ['y']])",
            "~{\"$table\":{\"columns\":[\"a\"],\"index\":[[\"x\",\"y\"]],\"rows\":[[1]],"
            "\"row_count\":1}}"},
        {"pd.Series([1, 2], name='n')", "~{\"$table\":{\"columns\":[\"n\"],\"index\":null,\"rows\":"
                                        "[[1],[2]],\"row_count\":2}}"},
        {"pd.Series({'x': 1.5})",
            "~{\"$table\":{\"columns\":[0],\"index\":[\"x\"],\"rows\":[[1.5]],"
            "\"row_count\":1}}"},
        {"[pd.Index([1, 2]), pd.RangeIndex(2), pd.Categorical(['a', 'b']), pd.NaT, pd.NA]",
            "[[1,2],[0,1],[\"a\",\"b\"],null,null]"},
        {"[pd.Timestamp('2026-01-01'), pd.Timestamp('2026-01-01', tz='UTC'), pd.Timedelta(1, 's')]",
            "~[{\"$datetime\":\"2026-01-01T00:00:00\"},{\"$date\":\"2026-01-01T00:00:00.000Z\"},"
            "{\"$timedelta\":1}]"},
        {"pd.DataFrame({'f': [1, print]})", "!TypeError: value.iloc[1, 0] is a function, which "
                                            "cannot cross to the host; call it and "
                                            "return the result"},
        {"pd.DataFrame({'a': [1]}).groupby('a')",
            "!TypeError: value is an object of class DataFrameGroupBy, which cannot cross to the "
            "host; return a dict, or make it a dataclass"},
        {"v = pd.DataFrame({'a': [None]}, dtype=object); v.iloc[0, 0] = [v]",
            "!TypeError: value.iloc[0, 0][0] is a cycle back to value, which cannot cross to the "
            "host; return a tree"},
    };

    (void)state;
    assert_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void long_tables_are_cut_and_say_so(void **state)
{
    char *shown;
    const char *p;
    unsigned rows = 0;

    (void)state;
    if (!has_packages) {
        skip();
    }
    shown = python_shown_code("pd.DataFrame({'a': np.arange(100000)})");
    assert_non_null(strstr(shown, "[999]],\"row_count\":100000}}"));
    for (p = shown; *p != '\0'; p++) {
        rows += *p == '[' ? 1 : 0;
    }
    assert_int_equal(rows, 2 + VALUE_ROWS_MAX); /* that of the columns, and that of the rows */
    free(shown);
}

static void tables_in_tables_stay_within_what_the_host_takes(void **state)
{
    char *shown;

    (void)state;
    if (!has_packages) {
        skip();
    }
    python_run("class DataFrame:\n"
               "    def __init__(self, inner): self.inner = inner\n"
               "    def __len__(self): return 1\n"
               "    iloc = property(lambda self: self)\n"
               "    columns = index = property(lambda self: pd.Index([0]))\n"
               "    def __getitem__(self, key):\n"
               "        return Cell(self.inner) if isinstance(key, tuple) else self\n"
               "class Cell(DataFrame):\n"
               "    def tolist(self): return [self.inner]\n"
               "DataFrame.__module__ = 'pandas.fake'\n"
               "v = 1\n"
               "for i in range(50): v = DataFrame(v)\n");
    shown = python_shown_code("v"); /* aborts when the host refuses it */
    assert_memory_equal(shown, "~{\"$table\"", 10);
    free(shown);
    shown = python_shown_code("DataFrame(v)");
    assert_non_null(strstr(shown, "nested deeper than 100 levels"));
    free(shown);
}

static void numpy_reads_what_numpy_wrote(void **state)
{
    static const char *const codes[] = {"np.array([1.5, 2.5])", "np.array([], 'float32')",
        "np.arange(6).reshape(2, 3)", "np.zeros((2, 0))", "np.array([1, 2], 'uint16')",
        "np.array([[1], [2]], 'uint8')", "np.array([0.5], 'float16')",
        "pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})", "pd.DataFrame({'a': [1.5]}, index=['x'])"};
    PyObject *value, *back;
    char *before, *after;
    size_t i;

    (void)state;
    if (!has_packages) {
        skip();
    }
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
    python_run("del v");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_numpy_cross),
        cmocka_unit_test(tables_of_pandas_cross),
        cmocka_unit_test(long_tables_are_cut_and_say_so),
        cmocka_unit_test(tables_in_tables_stay_within_what_the_host_takes),
        cmocka_unit_test(numpy_reads_what_numpy_wrote),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
