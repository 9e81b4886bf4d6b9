/* test_value.c - values of Python on their way to the host: each row of docs/values.md, what is
 * refused and where, classes that lie, and limits at their edge. */
#include "cell/python/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "python_helper.h"

struct row {
    const char *code;
    const char *shown;
};

static void assert_rows(const struct row *rows, size_t count)
{
    char *shown;
    size_t i;

    for (i = 0; i < count; i++) {
        shown = python_shown_code(rows[i].code);
        if (strcmp(shown, rows[i].shown) != 0) {
            fail_msg("%s is shown as %s, not as %s", rows[i].code, shown, rows[i].shown);
        }
        free(shown);
    }
}

static const struct row PLAIN[] = {
    {"None", "null"},
    {"[True, False]", "[true,false]"},
    {"0", "0"},
    {"[1, -1, 2**53 - 1, -2**53 + 1]", "[1,-1,9007199254740991,-9007199254740991]"},
    {"[1.0, 1.5, 1e16, 1e-7, 5e-324, 1.7976931348623157e308, 0.1]",
        "[1.0,1.5,1e+16,1e-07,5e-324,1.7976931348623157e+308,0.1]"},
    {"''", "\"\""},
    {"'a\"b\\\\c/\\n\\t\\x01\\x7f'", "\"a\\\"b\\\\c/\\n\\t\\u0001\x7f\""},
    {"'\\xe4\\u20ac\\U0001f600\\n'", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\\n\""},
    {"'\\ud800x'", "\"\\ud800x\""},
    {"[]", "[]"},
    {"[[], {}, ()]", "[[],{},[]]"},
    {"(1, 'x')", "[1,\"x\"]"},
    {"{'a': 1, 'b': {'c': []}}", "{\"a\":1,\"b\":{\"c\":[]}}"},
    {"{'\\xe4\\n': 1}", "{\"\xc3\xa4\\n\":1}"},
    {"range(3)", "[0,1,2]"},
    {"range(0)", "[]"},
    {"pathlib.PurePosixPath('/a/b')", "\"/a/b\""},
    {"Colour.RED", "\"red\""},
    {"[Number.ONE, Flags.A | Flags.B]", "[1,3]"},
    {"Point(1, [2])", "{\"x\":1,\"y\":[2]}"},
    {"Named(1, 2)", "[1,2]"},
    {"collections.OrderedDict(a=1)", "{\"a\":1}"},
    {"collections.Counter('aab')", "{\"a\":2,\"b\":1}"},
    {"collections.defaultdict(list, a=[1])", "{\"a\":[1]}"},
    {"v = collections.OrderedDict(a=1, b=2); v.move_to_end('a')", "{\"b\":2,\"a\":1}"},
    {"array.array('u', 'hi')", "\"hi\""},
    {"re.compile('a', re.X)", "\"a\""},
    {"{'$date': 1}", "{\"$date\":1}"},
};

static void what_json_says_goes_as_json(void **state)
{
    (void)state;
    assert_rows(PLAIN, sizeof(PLAIN) / sizeof(PLAIN[0]));
}

static const struct row TAGGED[] = {
    {"[math.nan, math.inf, -math.inf, -0.0]", "~[{\"$number\":\"NaN\"},{\"$number\":\"Infinity\"},"
                                              "{\"$number\":\"-Infinity\"},{\"$number\":\"-0\"}]"},
    {"[math.nan, 1.0, 1, 0.1, 1e300, 2.0**53, -3.0]",
        "~[{\"$number\":\"NaN\"},1.0,1,0.1,1e+300,9007199254740992,-3.0]"},
    {"[2**53, -2**53]",
        "~[{\"$bigint\":\"9007199254740992\"},{\"$bigint\":\"-9007199254740992\"}]"},
    {"[2**64, -2**64, -2**64 - 1]",
        "~[{\"$bigint\":\"18446744073709551616\"},{\"$bigint\":\"-18446744073709551616\"},"
        "{\"$bigint\":\"-18446744073709551617\"}]"},
    {"3 + 4j", "~{\"$complex\":[3.0,4.0]}"},
    {"complex('nan')", "~{\"$complex\":[{\"$number\":\"NaN\"},0.0]}"},
    {"[b'ab', bytearray(b'c'), memoryview(b'abcd')[::2], b'']",
        "~[{\"$bytes\":\"YWI=\"},{\"$bytes\":\"Yw==\"},{\"$bytes\":\"YWM=\"},{\"$bytes\":\"\"}]"},
    {"array.array('d', [1.5])", "~{\"$Float64Array\":\"AAAAAAAA+D8=\"}"},
    {"[array.array('f', [1]), array.array('b', [1]), array.array('B', [1])]",
        "~[{\"$Float32Array\":\"AACAPw==\"},{\"$Int8Array\":\"AQ==\"},{\"$bytes\":\"AQ==\"}]"},
    {"[array.array(c, [1]) for c in 'hHiI']",
        "~[{\"$Int16Array\":\"AQA=\"},{\"$Uint16Array\":\"AQA=\"},{\"$Int32Array\":\"AQAAAA==\"},"
        "{\"$Uint32Array\":\"AQAAAA==\"}]"},
    {"[array.array(c, [1]) for c in 'lL']",
        "~[{\"$BigInt64Array\":\"AQAAAAAAAAA=\"},{\"$BigUint64Array\":\"AQAAAAAAAAA=\"}]"},
    {"datetime(2026, 1, 1, tzinfo=UTC)", "~{\"$date\":\"2026-01-01T00:00:00.000Z\"}"},
    {"datetime(1969, 12, 31, 23, 59, 59, 999000, UTC)",
        "~{\"$date\":\"1969-12-31T23:59:59.999Z\"}"},
    {"datetime(1969, 12, 31, 23, 59, 59, 999999, UTC)",
        "~{\"$date\":\"1969-12-31T23:59:59.999999Z\"}"},
    {"datetime(2026, 1, 1, 0, 0, 0, 123456, UTC)", "~{\"$date\":\"2026-01-01T00:00:00.123456Z\"}"},
    {"datetime(2026, 1, 1, 5, tzinfo=timezone(timedelta(hours=2)))",
        "~{\"$date\":\"2026-01-01T03:00:00.000Z\"}"},
    {"datetime.min.replace(tzinfo=timezone(timedelta(hours=2)))",
        "~{\"$date\":\"0000-12-31T22:00:00.000Z\"}"},
    {"datetime.max.replace(tzinfo=timezone(-timedelta(hours=2)))",
        "~{\"$date\":\"+010000-01-01T01:59:59.999999Z\"}"},
    {"datetime(2024, 2, 29, 1, 2, 3)", "~{\"$datetime\":\"2024-02-29T01:02:03\"}"},
    {"datetime(1, 1, 1, 1, 2, 3, 4)", "~{\"$datetime\":\"0001-01-01T01:02:03.000004\"}"},
    {"date(2026, 2, 3)", "~{\"$day\":\"2026-02-03\"}"},
    {"[time(1, 2, 3), time(1, 2, 3, 4, UTC)]",
        "~[{\"$time\":\"01:02:03\"},{\"$time\":\"01:02:03.000004+00:00\"}]"},
    {"[timedelta(1), timedelta(0, 1.5), timedelta(microseconds=-1), timedelta(-1)]",
        "~[{\"$timedelta\":86400},{\"$timedelta\":1.500000},{\"$timedelta\":-0.000001},"
        "{\"$timedelta\":-86400}]"},
    {"[timedelta.max, timedelta.min]",
        "~[{\"$timedelta\":86399999999999.999999},{\"$timedelta\":-86399999913600}]"},
    {"{1}", "~{\"$set\":[1]}"},
    {"[set(), frozenset([(1, 2)])]", "~[{\"$set\":[]},{\"$set\":[[1,2]]}]"},
    {"{1: 'a', 'b': 2, None: (), (1, 2): 3}",
        "~{\"$map\":[[1,\"a\"],[\"b\",2],[null,[]],[[1,2],3]]}"},
    {"[Decimal(t) for t in ('1.10', '-1.5', '0.00', '0', '1E+3', '0.000001', '1E-7', '-12.3E-10')]",
        "~[{\"$decimal\":\"1.10\"},{\"$decimal\":\"-1.5\"},{\"$decimal\":\"0.00\"},"
        "{\"$decimal\":\"0\"},{\"$decimal\":\"1E+3\"},{\"$decimal\":\"0.000001\"},"
        "{\"$decimal\":\"1E-7\"},{\"$decimal\":\"-1.23E-9\"}]"},
    {"[Decimal(t) for t in ('-0', 'NaN', '-Infinity', 'sNaN12')]",
        "~[{\"$decimal\":\"-0\"},{\"$decimal\":\"NaN\"},{\"$decimal\":\"-Infinity\"},"
        "{\"$decimal\":\"sNaN12\"}]"},
    {"Decimal('123456789012345678901234567890.5')",
        "~{\"$decimal\":\"123456789012345678901234567890.5\"}"},
    {"Decimal('1E+999999999999999999')", "~{\"$decimal\":\"1E+999999999999999999\"}"},
    {"[Fraction(-1, 3), Fraction(2**64, 3)]",
        "~[{\"$fraction\":[-1,3]},{\"$fraction\":[{\"$bigint\":\"18446744073709551616\"},3]}]"},
    {"uuid.UUID(int=5)", "~{\"$uuid\":\"00000000-0000-0000-0000-000000000005\"}"},
    {"[re.compile('a/b', re.I | re.M | re.S), re.compile('a'), re.compile(b'a')]",
        "~[{\"$regexp\":[\"a/b\",\"ims\"]},{\"$regexp\":[\"a\",\"\"]},{\"$bytes\":\"YQ==\"}]"},
    {"ValueError('x')", "~{\"$error\":{\"name\":\"ValueError\",\"message\":\"x\",\"stack\":\"\"}}"},
    {"v = ValueError('x'); v.__cause__ = KeyError(1)",
        "~{\"$error\":{\"name\":\"ValueError\",\"message\":\"x\",\"stack\":\"\",\"cause\":"
        "{\"$error\":{\"name\":\"KeyError\",\"message\":\"1\",\"stack\":\"\"}}}}"},
    {"[b'', '\\ud800x', '\\xe4\\u20ac\\U0001f600', {'\\xe4': 1}]",
        "~[{\"$bytes\":\"\"},\"\xef\xbf\xbdx\",\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\","
        "{\"\xc3\xa4\":1}]"},
    {"[b'', {'$date': 1}]", "~[{\"$bytes\":\"\"},{\"$object\":{\"$date\":1}}]"},
    {"[b'', Point(1, b''), Colour.RED, range(2), pathlib.PurePosixPath('a'), True, None, False]",
        "~[{\"$bytes\":\"\"},{\"x\":1,\"y\":{\"$bytes\":\"\"}},\"red\",[0,1],\"a\",true,null,"
        "false]"},
    {"o = [1]; v = [o, o, b'']", "~[[1],[1],{\"$bytes\":\"\"}]"},
};

static void what_json_cannot_say_keeps_its_identity(void **state)
{
    (void)state;
    assert_rows(TAGGED, sizeof(TAGGED) / sizeof(TAGGED[0]));
}

static const struct row REFUSED[] = {
    {"print", "!TypeError: value is a function, which cannot cross to the host; call it and return "
              "the result"},
    {"lambda: 1", "!TypeError: value is a function"},
    {"{'rows': [1, 2, 3, Point(1, print)]}", "!TypeError: value[\"rows\"][3].y is a function"},
    {"{'a b': {1: [int]}}", "!TypeError: value[\"a b\"][1][0] is a class"},
    {"{'it\\'s \"x\"': print}", "!TypeError: value['it\\'s \"x\"'] is a function"},
    {"{(1,): print}", "!TypeError: value[<tuple>] is a function"},
    {"{print: 1}", "!TypeError: value.keys()[0] is a function"},
    {"{'x' * 100: print}",
        "!TypeError: value[\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxx\"] is a function"},
    {"math", "!TypeError: value is a module"},
    {"(x for x in [])", "!TypeError: value is a generator, which cannot cross to the host; use "
                        "list(...)"},
    {"v = coroutine()",
        "!TypeError: value is a coroutine, which cannot cross to the host; await it"},
    {"iter([])", "!TypeError: value is an iterator"},
    {"zip([])", "!TypeError: value is an iterator"},
    {"{}.keys()", "!TypeError: value is a view of a dict"},
    {"{}.values()", "!TypeError: value is a view of a dict"},
    {"io.StringIO()", "!TypeError: value is a file"},
    {"threading.Lock()", "!TypeError: value is an object of class lock, which cannot cross to the "
                         "host; return a dict, or make it a dataclass"},
    {"threading.Thread()", "!TypeError: value is an object of class Thread"},
    {"Foo()", "!TypeError: value is an object of class Foo"},
    {"Foo", "!TypeError: value is a class"},
    {"object()", "!TypeError: value is an object of class object"},
    {"[Ellipsis]", "!TypeError: value[0] is an object of class ellipsis"},
    {"v = []; v.append(v)", "!TypeError: value[0] is a cycle back to value"},
    {"v = {}; v['a'] = [v]", "!TypeError: value[\"a\"][0] is a cycle back to value"},
    {"v = Point(1, 2); v.y = [v]", "!TypeError: value.y[0] is a cycle back to value"},
    {"v = {1: {}}; v[1][2] = v", "!TypeError: value[1][2] is a cycle back to value"},
    {"v = ValueError(); v.__cause__ = v", "!TypeError: value.__cause__ is a cycle back to value"},
    {"v = Loop.A; v._value_ = v", "!TypeError: value.value is a cycle back to value"},
    {"v = Loop.B; del v.__dict__['_value_']", "!TypeError: value is an object of class Loop"},
    {"v = memoryview(b'x'); v.release()",
        "!ValueError: operation forbidden on released memoryview"},
    {"datetime(2026, 1, 1, tzinfo=BadZone())", "!ZeroDivisionError: "},
    {"Point(1, BadText('x'))", "!ZeroDivisionError: "},
    {"Computed()", "!ZeroDivisionError: "},
    {"range(10**30)", "!ValueError: the value is more than 16777216 bytes long"},
    {"range(10**9)", "!ValueError: the value is more than 16777216 bytes long"},
    {"2**200000000", "!ValueError: the value is more than 16777216 bytes long"},
    {"v = [0]\nfor i in range(60): v = [v, v]", "!ValueError: the value is more than 16777216"},
    {"v = [b'']\nfor i in range(60): v = [v, v]", "!ValueError: the value is more than 16777216"},
};

static void the_rest_is_an_error_that_names_the_place(void **state)
{
    char *shown;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++) {
        shown = python_shown_code(REFUSED[i].code);
        if (strncmp(shown, REFUSED[i].shown, strlen(REFUSED[i].shown)) != 0) {
            fail_msg("%s gives %s, not %s", REFUSED[i].code, shown, REFUSED[i].shown);
        }
        free(shown);
    }
}

/* Subclasses whose methods lie: what arrives is what the built-in part holds. */
static void classes_that_lie_are_not_asked(void **state)
{
    static const struct row rows[] = {
        {"LyingInt(7)", "7"},
        {"LyingInt(-2**70)", "~{\"$bigint\":\"-1180591620717411303424\"}"},
        {"LyingFloat(1.5)", "1.5"},
        {"LyingStr('abc')", "\"abc\""},
        {"LyingList([1, 2])", "[1,2]"},
        {"LyingTuple((1, 2))", "[1,2]"},
        {"LyingDict(a=1)", "{\"a\":1}"},
        {"LyingDict({LyingStr('k'): LyingStr('v')})", "{\"k\":\"v\"}"},
        {"LyingSet([1])", "~{\"$set\":[1]}"},
        {"LyingBytes(b'ab')", "~{\"$bytes\":\"YWI=\"}"},
        {"LyingDate(2026, 1, 2)", "~{\"$day\":\"2026-01-02\"}"},
        {"LyingDatetime(2026, 1, 2, tzinfo=UTC)", "~{\"$date\":\"2026-01-02T00:00:00.000Z\"}"},
        {"LyingDecimal('1.5')", "~{\"$decimal\":\"1.5\"}"},
        {"LyingFraction(1, 2)", "~{\"$fraction\":[1,2]}"},
        {"LyingUuid(int=1)", "~{\"$uuid\":\"00000000-0000-0000-0000-000000000001\"}"},
        {"LyingEnum.A", "5"},
        {"Pretender()", "!TypeError: value is an object of class Pretender, which cannot cross to "
                        "the host; return a dict, or make it a dataclass"},
        {"FakeArray()",
            "!TypeError: value is an object of class ndarray, which cannot cross to the "
            "host; return a dict, or make it a dataclass"},
    };

    (void)state;
    assert_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Code of the guest runs in the middle of the walk, and changes what is being walked. */
static void what_changes_while_it_is_read_is_refused(void **state)
{
    static const struct row rows[] = {
        {"v = []; v[:] = [Changing(v.clear), 1, 2]",
            "!TypeError: value was changed while it was read"},
        {"v = []; v[:] = [Changing(lambda: v.append(1))]",
            "!TypeError: value was changed while it was read"},
        {"v = {}; v.update(a=Changing(v.clear), b=1)",
            "!TypeError: value was changed while it was read"},
        {"v = {}; v.update(a=Changing(lambda: v.update({str(i): 1 for i in range(1000)})))",
            "!TypeError: value was changed while it was read"},
        {"v = {}; v.update(a=Changing(lambda: (v.clear(), v.update({1: 2}))), b=b'')",
            "!TypeError: value was changed while it was read"},
        {"v = {b''}; v.add(Changing(v.clear))", "!TypeError: value was changed while it was read"},
        {"v = [b'']; v.append(Changing(lambda: v.append(1)))",
            "!TypeError: value was changed while it was read"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_rows(&rows[i], 1);
    }
}

static void limits_hold_at_their_edge(void **state)
{
    static const struct {
        const char *code;
        uint32_t bytes; /* exactly */
    } rows[] = {{"'x' * 98", 100}, {"'\\xe4' * 49", 100}, {"'\\n' * 49", 100}, {"[1] * 10", 21},
        {"{'a': 'b'}", 9}, {"1234567", 7}, {"b'x' * 98", 100}, {"2**64", 11}, {"math.nan", 9},
        {"None", 4}, {"array.array('d', [1])", 11}, {"[b'', '\\xe4']", 5}, {"range(10)", 21},
        {"{1}", 5}, {"uuid.UUID(int=1)", 19}, {"memoryview(b'abc')", 4}};
    PyObject *value;
    char *shown;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        value = python_value(rows[i].code);
        shown = python_shown(value, rows[i].bytes, 0);
        if (shown[0] == '!') {
            fail_msg("%s is refused: %s", rows[i].code, shown);
        }
        free(shown);
        shown = python_shown(value, rows[i].bytes - 1, 0);
        if (strstr(shown, "!ValueError") == NULL || strstr(shown, "--value-bytes") == NULL) {
            fail_msg("%s is not refused: %s", rows[i].code, shown);
        }
        free(shown);
        Py_DECREF(value);
    }
}

static void depth_is_bounded(void **state)
{
    static const struct row rows[] = {
        {"v = 1\nfor i in range(100): v = [v]", "["},
        {"v = 1\nfor i in range(101): v = [v]", "!TypeError: value[0][0][0][0][0][0][0][0][0][0][0]"
                                                "[0]... is nested deeper than 100 levels"},
        {"v = b''\nfor i in range(100): v = {'a': v}", "~{"},
        {"v = b''\nfor i in range(101): v = {'a': v}", "!TypeError: value[\"a\"]"},
        {"v = 1\nfor i in range(100): v = frozenset([v])", "~{\"$set\""},
        {"v = 1\nfor i in range(100): v = {1: v}", "~{\"$map\""},
        {"v = 1\nfor i in range(100): v = {(1,): v}", "!TypeError: "},
        {"v = 1\nfor i in range(10**6): v = [v]", "!TypeError: "},
        {"v = 1\nfor i in range(10**6): v = (v,)", "!TypeError: "},
        {"v = b''\nfor i in range(10**6): v = Point(1, v)", "!TypeError: value.y.y.y"},
    };
    char *shown;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        shown = python_shown_code(rows[i].code);
        if (strncmp(shown, rows[i].shown, strlen(rows[i].shown)) != 0) {
            fail_msg("%s gives %s, not %s", rows[i].code, shown, rows[i].shown);
        }
        free(shown);
    }
    /* Python takes deep values apart by recursion that it bounds itself. */
    python_run("v = None");
}

static void a_function_is_a_handle_in_a_session(void **state)
{
    PyObject *value = python_value("[len, {'f': print}, 1.5]");
    char *shown = python_shown(value, 1000, 1);
    PyObject *function;

    (void)state;
    assert_string_equal(shown, "~[{\"$function\":1},{\"f\":{\"$function\":2}},1.5]");
    free(shown);
    Py_DECREF(value);
    function = py_handle_get(1);
    assert_true(function != NULL && PyCFunction_Check(function));
    Py_DECREF(function);
    value = python_value("[len, Foo()]"); /* what was kept for a value that is refused is let go */
    shown = python_shown(value, 1000, 1);
    assert_non_null(strstr(shown, "value[1] is an object of class Foo"));
    free(shown);
    Py_DECREF(value);
    assert_null(py_handle_get(3));
    assert_true(PyErr_ExceptionMatches(PyExc_LookupError));
    PyErr_Clear();
    value = python_value("[int]");
    shown = python_shown(value, 1000, 1);
    assert_non_null(strstr(shown, "value[0] is a class"));
    free(shown);
    Py_DECREF(value);
}

static void arguments_of_tools_are_json_unless_cbor_is_allowed(void **state)
{
    static const struct row rows[] = {
        {"{'when': datetime(2026, 1, 1)}", "!TypeError: value[\"when\"] is a datetime, which JSON "
                                           "cannot say; use its isoformat()"},
        {"[math.nan]", "!TypeError: value[0] is nan, which JSON cannot say; use None or a str"},
        {"[2**60]",
            "!TypeError: value[0] is an int beyond 2**53, which JSON cannot say; use str(...)"},
        {"{1: 2}", "!TypeError: value is a dict with keys that are not str, which JSON cannot say; "
                   "make them str"},
    };
    PyObject *value;
    int is_cbor = -1;
    struct buf out;
    char *text;
    size_t i;

    (void)state;
    buf_init(&out, 4096);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        value = python_value(rows[i].code);
        assert_int_equal(py_value_encode(value, 0, 1000, &out, &is_cbor), -1);
        text = python_repr(NULL);
        assert_string_equal(text, rows[i].shown);
        free(text);
        assert_int_equal(out.len, 0);
        assert_int_equal(py_value_encode(value, 1, 1000, &out, &is_cbor), 0);
        assert_int_equal(is_cbor, 1);
        buf_clear(&out);
        Py_DECREF(value);
    }
    value = python_value("Point(1, ['x'])");
    assert_int_equal(py_value_encode(value, 0, 1000, &out, &is_cbor), 0);
    assert_int_equal(is_cbor, 0);
    assert_string_equal(out.data, "{\"x\":1,\"y\":[\"x\"]}");
    Py_DECREF(value);
    buf_release(&out);
}

static void text_is_the_repr_cut_between_characters(void **state)
{
    static const struct {
        const char *code;
        uint32_t max;
        const char *text;
    } rows[] = {{"[1, 'a']", 100, "[1, 'a']"}, {"'abc'", 3, "'ab"},
        {"'\\xe4\\xe4'", 4, "'\xc3\xa4"},
        {"BadRepr('\\ud800\\U0001f600')", 100, "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"BadRepr('\\u20acab')", 2, ""}, {"'x' * 5000", 3000, NULL}};
    PyObject *value;
    struct buf out;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        buf_init(&out, 10000);
        value = python_value(rows[i].code);
        assert_int_equal(py_value_text(value, rows[i].max, &out), 0);
        if (rows[i].text != NULL) {
            assert_string_equal(out.data, rows[i].text);
        } else {
            assert_int_equal(out.len, rows[i].max);
        }
        Py_DECREF(value);
        buf_release(&out);
    }
    buf_init(&out, 100);
    value = python_value("BadRepr(1)");
    assert_int_equal(py_value_text(value, 100, &out), -1);
    assert_true(PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    Py_DECREF(value);
    buf_release(&out);
}

/* All that the tests take. Lie is what every method of a class that lies is. */
static const char DEFINITIONS[] =
    "import array, collections, dataclasses, enum, io, math, pathlib, re, threading, typing, uuid\n"
    "from datetime import date, datetime, time, timedelta, timezone, tzinfo\n"
    "from decimal import Decimal\n"
    "from fractions import Fraction\n"
    "UTC = timezone.utc\n"
    "@dataclasses.dataclass(unsafe_hash=True)\n"
    "class Point:\n"
    "    kind: typing.ClassVar[str] = 'point'\n"
    "    x: int\n"
    "    y: object\n"
    "class Named(typing.NamedTuple):\n"
    "    a: int\n"
    "    b: int\n"
    "class Colour(enum.Enum):\n"
    "    RED = 'red'\n"
    "class Number(enum.IntEnum):\n"
    "    ONE = 1\n"
    "class Flags(enum.Flag):\n"
    "    A = 1\n"
    "    B = 2\n"
    "class Loop(enum.Enum):\n"
    "    A = 1\n"
    "    B = 2\n"
    "class Foo: pass\n"
    "async def coroutine(): pass\n"
    "class BadZone(tzinfo):\n"
    "    def utcoffset(self, when): return 1 // 0\n"
    "class BadText(Exception):\n"
    "    def __str__(self): return 1 // 0\n"
    "class BadRepr:\n"
    "    def __init__(self, text): self.text = text\n"
    "    def __repr__(self): return self.text\n"
    "@dataclasses.dataclass\n"
    "class Computed:\n"
    "    x: int = 1\n"
    "    def __getattribute__(self, name): return 1 // 0\n"
    "def lie(*args, **named): raise SystemError('asked')\n"
    "NAMES = ['__iter__', '__len__', '__getitem__', '__str__', '__repr__', '__int__', "
    "'__index__',\n"
    "    '__float__', '__abs__', '__neg__', '__invert__', '__bool__', 'keys', 'items', 'values',\n"
    "    'bit_length', 'to_bytes', '__bytes__', 'encode', 'isoformat', 'utcoffset', 'timestamp',\n"
    "    'as_tuple', '__contains__', '__getattribute__', '__instancecheck__', '__format__',\n"
    "    '__lt__', '__next__', '__call__', '__class__', 'year', 'numerator', 'int', '_value_']\n"
    "def lying(base, without=()):\n"
    "    return type('Lying', (base,), {n: lie for n in NAMES if n not in without})\n"
    "LyingInt, LyingFloat, LyingStr, LyingList, LyingTuple, LyingDict, LyingSet, LyingBytes = "
    "map(\n"
    "    lying, (int, float, str, list, tuple, dict, set, bytes))\n"
    "LyingDate, LyingDatetime, LyingDecimal = map(lying, (date, datetime, Decimal))\n"
    "LyingFraction = lying(Fraction, ['__getattribute__'])\n"
    "LyingUuid = lying(uuid.UUID, ['__getattribute__', 'int'])\n"
    "class LyingEnum(enum.Enum):\n"
    "    A = 5\n"
    "    value = property(lie)\n"
    "class Pretender:\n"
    "    __class__ = dict\n"
    "    def __iter__(self): return self\n"
    "    def keys(self): return ['a']\n"
    "    def __getitem__(self, key): return 1\n"
    "FakeArray = type('numpy.ndarray', (), {'tolist': lambda self: 1})\n"
    "@dataclasses.dataclass(eq=False)\n"
    "class Changing:\n"
    "    change: object\n"
    "    def __getattribute__(self, name):\n"
    "        object.__getattribute__(self, 'change')()\n"
    "        return 1\n";

static int start(void **state)
{
    (void)state;
    python_start(0);
    python_run(DEFINITIONS);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_json_says_goes_as_json),
        cmocka_unit_test(what_json_cannot_say_keeps_its_identity),
        cmocka_unit_test(the_rest_is_an_error_that_names_the_place),
        cmocka_unit_test(classes_that_lie_are_not_asked),
        cmocka_unit_test(what_changes_while_it_is_read_is_refused),
        cmocka_unit_test(limits_hold_at_their_edge),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(a_function_is_a_handle_in_a_session),
        cmocka_unit_test(arguments_of_tools_are_json_unless_cbor_is_allowed),
        cmocka_unit_test(text_is_the_repr_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
