/* test_check.c - which values are valid by which schema, and what is said about those that are not.
 */
#include "schema/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { EACH_MAX = 10 };

struct row {
    const char *schema;
    const char *good[EACH_MAX];
    const char *bad[EACH_MAX];
};

static struct schema *compile(const char *text)
{
    struct schema *schema = NULL;
    struct vial_error err;

    if (schema_compile(text, strlen(text), &schema, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return schema;
}

/* The verdict has to be the same whether a report is wanted or not, and a report has to say
 * something. */
static int check(const struct schema *schema, const char *json)
{
    struct vial_error err = {.code = 0};
    struct buf report;
    int r, again;

    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    r = schema_check(schema, json, strlen(json), &report, &err);
    again = schema_check(schema, json, strlen(json), NULL, &err);
    assert_int_equal(r, again);
    if (r == 1) {
        assert_true(report.len > strlen("[]"));
    } else {
        assert_int_equal(report.len, 0);
    }
    buf_release(&report);
    return r;
}

static void go_through(const struct row *rows, size_t count)
{
    struct schema *schema;
    size_t i, k;

    for (i = 0; i < count; i++) {
        schema = compile(rows[i].schema);
        for (k = 0; k < EACH_MAX && rows[i].good[k] != NULL; k++) {
            if (check(schema, rows[i].good[k]) != 0) {
                fail_msg("%s does not take %s", rows[i].schema, rows[i].good[k]);
            }
        }
        for (k = 0; k < EACH_MAX && rows[i].bad[k] != NULL; k++) {
            if (check(schema, rows[i].bad[k]) != 1) {
                fail_msg("%s takes %s", rows[i].schema, rows[i].bad[k]);
            }
        }
        schema_free(schema);
    }
}

#define GO_THROUGH(rows) go_through(rows, sizeof(rows) / sizeof((rows)[0]))

static void types_enums_and_constants(void **state)
{
    static const struct row rows[] = {{"true", {"1", "null", "{}"}, {NULL}},
        {"false", {NULL}, {"1", "null"}},
        {"{\"type\":\"integer\"}", {"0", "-3", "1.0", "1e3", "12345678901234567890123"},
            {"1.5", "\"1\"", "null", "true", "[]"}},
        {"{\"type\":\"number\"}", {"0", "1.5", "1e400"}, {"\"1\"", "null"}},
        {"{\"type\":\"string\"}", {"\"\"", "\"\\u0000\""}, {"1", "null", "{}"}},
        {"{\"type\":\"boolean\"}", {"true", "false"}, {"0", "\"true\"", "null"}},
        {"{\"type\":\"null\"}", {"null"}, {"0", "\"\"", "false", "{}"}},
        {"{\"type\":\"array\"}", {"[]", "[1]"}, {"{}", "null"}},
        {"{\"type\":\"object\"}", {"{}"}, {"[]", "null", "1"}},
        {"{\"type\":[\"integer\",\"null\"]}", {"1", "null"}, {"1.5", "\"\""}},
        {"{\"type\":[\"integer\",\"number\"]}", {"1.5"}, {"\"\""}},
        {"{\"enum\":[1,\"a\",null,[1,{\"a\":2}],{\"x\":1,\"y\":[]},false]}",
            {"1", "1.0", "\"a\"", "null", "[1,{\"a\":2.0}]", "{\"y\":[],\"x\":1}", "false"},
            {"2", "\"b\"", "[1]", "{\"x\":1}", "true", "0", "{\"x\":1,\"y\":[0]}",
                "[{\"a\":2},1]"}},
        {"{\"const\":{\"a\":[1,2]}}", {"{\"a\":[1,2]}", "{\"a\":[1.0,2e0]}"},
            {"{\"a\":[2,1]}", "{\"a\":[1,2],\"b\":1}", "null"}},
        {"{\"const\":0}", {"0", "-0", "0.0", "0e9"}, {"false", "null", "\"\"", "1"}},
        {"{\"const\":false}", {"false"}, {"0", "[]", "true"}},
        {"{\"const\":9007199254740993}", {"9007199254740993"},
            {"9007199254740992", "9007199254740994"}},
        {"{\"const\":\"a\\u0000b\"}", {"\"a\\u0000b\""}, {"\"a\"", "\"a\\u0000c\""}},
        {"{\"enum\":[\"a\",\"b\"],\"const\":\"a\"}", {"\"a\""}, {"\"b\""}}};

    (void)state;
    GO_THROUGH(rows);
}

static void numbers(void **state)
{
    static const struct row rows[] = {
        {"{\"minimum\":1}", {"1", "1.0", "1e9", "\"x\"", "null"}, {"0.999", "0", "-1", "-1e400"}},
        {"{\"maximum\":18446744073709551615}", {"18446744073709551615", "0"},
            {"18446744073709551616", "1e400"}},
        {"{\"exclusiveMinimum\":0}", {"0.0001", "1e-400"}, {"0", "-0.0"}},
        {"{\"exclusiveMaximum\":3}", {"2.9"}, {"3", "3.0"}},
        {"{\"minimum\":0,\"exclusiveMinimum\":0,\"maximum\":10}", {"10", "1"}, {"0", "11"}},
        {"{\"multipleOf\":0.01}", {"0.07", "19.99", "4", "0"}, {"0.005", "1.001"}},
        {"{\"multipleOf\":3}", {"9007199254740993", "-3"}, {"9007199254740992"}}};

    (void)state;
    GO_THROUGH(rows);
}

static void strings(void **state)
{
    static const struct row rows[] = {{"{\"minLength\":2}", {"\"ab\"", "\"\xc3\xa4\xc3\xa4\"", "1"},
                                          {"\"a\"", "\"\xf0\x9f\x98\x80\"", "\"\""}},
        {"{\"maxLength\":2}",
            {"\"ab\"", "\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\"", "\"\\ud83d\\ude00a\"",
                "\"\\ud83d\""},
            {"\"abc\"", "\"\\u0000\\u0000\\u0000\""}},
        {"{\"pattern\":\"^a+$\"}", {"\"aa\"", "3"}, {"\"ab\"", "\"\"", "\"a\\n\""}},
        {"{\"pattern\":\"b\"}", {"\"abc\""}, {"\"ac\""}},
        {"{\"format\":\"date\"}", {"\"2024-02-29\"", "5"}, {"\"2023-02-29\"", "\"tomorrow\""}},
        {"{\"format\":\"unheard-of\"}", {"\"x\""}, {NULL}}};

    (void)state;
    GO_THROUGH(rows);
}

static void objects(void **state)
{
    static const struct row rows[] = {
        {"{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":false}}",
            {"{}", "{\"a\":1}", "{\"c\":1}", "[]", "3"}, {"{\"a\":\"\"}", "{\"b\":1}"}},
        {"{\"required\":[\"a\",\"b\"]}", {"{\"a\":1,\"b\":2}", "{\"b\":null,\"a\":null}", "[]"},
            {"{}", "{\"a\":1}"}},
        {"{\"required\":[\"__proto__\",\"\"]}", {"{\"__proto__\":1,\"\":2}"}, {"{}", "{\"\":1}"}},
        {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", {"{}", "{\"a\":1}"},
            {"{\"b\":1}", "{\"a\":1,\"A\":1}"}},
        {"{\"properties\":{\"a\":{}},\"additionalProperties\":{\"type\":\"string\"}}",
            {"{\"a\":1,\"b\":\"\"}"}, {"{\"b\":1}"}},
        {"{\"required\":[\"a\"],\"additionalProperties\":false}", {NULL}, {"{\"a\":1}", "{}"}},
        {"{\"patternProperties\":{\"^n_\":{\"type\":\"number\"},\"x\":{\"minimum\":5}},"
         "\"additionalProperties\":false}",
            {"{\"n_a\":1}", "{\"n_x\":5}", "{}"}, {"{\"n_a\":\"\"}", "{\"n_x\":1}", "{\"b\":1}"}},
        {"{\"propertyNames\":{\"maxLength\":2,\"pattern\":\"^[a-z]*$\"}}", {"{\"ab\":1}", "{}"},
            {"{\"abc\":1}", "{\"A\":1}"}},
        {"{\"propertyNames\":false}", {"{}"}, {"{\"a\":1}"}},
        {"{\"minProperties\":1,\"maxProperties\":2}", {"{\"a\":1}", "[]"},
            {"{}", "{\"a\":1,\"b\":1,\"c\":1}"}},
        {"{\"dependentRequired\":{\"card\":[\"name\",\"zip\"]}}",
            {"{}", "{\"card\":1,\"name\":1,\"zip\":1}", "{\"zip\":1}"},
            {"{\"card\":1}", "{\"card\":1,\"zip\":1}"}},
        {"{\"dependentSchemas\":{\"a\":{\"required\":[\"b\"]},\"c\":false}}",
            {"{}", "{\"a\":1,\"b\":1}"}, {"{\"a\":1}", "{\"c\":1}"}},
        {"{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"minProperties\":2}}}",
            {"{\"b\":1}", "{\"c\":1,\"d\":1}"}, {"{\"a\":1}", "{\"c\":1}"}},
        {"{\"properties\":{\"a\\u0000b\":{\"type\":\"null\"}}}", {"{\"a\":1}"},
            {"{\"a\\u0000b\":1}"}}};

    (void)state;
    GO_THROUGH(rows);
}

static void arrays(void **state)
{
    static const struct row rows[] = {
        {"{\"items\":{\"type\":\"integer\"}}", {"[]", "[1,2]", "{}", "3"}, {"[1,\"\"]", "[null]"}},
        {"{\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"items\":false}",
            {"[]", "[1]", "[1,\"a\"]"}, {"[\"a\"]", "[1,2]", "[1,\"a\",null]"}},
        {"{\"prefixItems\":[{\"type\":\"integer\"}]}", {"[1,\"x\",null]"}, {"[\"x\"]"}},
        {"{\"items\":[{\"type\":\"integer\"}],\"additionalItems\":{\"type\":\"null\"}}",
            {"[1]", "[1,null,null]"}, {"[1,2]", "[null]"}},
        {"{\"items\":{\"type\":\"integer\"},\"additionalItems\":false}", {"[1,2,3]"}, {"[\"a\"]"}},
        {"{\"minItems\":1,\"maxItems\":2}", {"[1]", "[1,2]", "\"\""}, {"[]", "[1,2,3]"}},
        {"{\"contains\":{\"const\":1}}", {"[1]", "[0,1.0]", "{}"}, {"[]", "[0,2]"}},
        {"{\"contains\":{\"const\":1},\"minContains\":2,\"maxContains\":3}", {"[1,1]", "[1,0,1,1]"},
            {"[1]", "[1,1,1,1]"}},
        {"{\"contains\":{\"const\":1},\"minContains\":0}", {"[]", "[2]"}, {NULL}},
        {"{\"uniqueItems\":true}",
            {"[]", "[1,2]", "[1,\"1\",true]", "[0,false]", "[{\"a\":1},{\"a\":2}]", "[[1],[[1]]]"},
            {"[1,1.0]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]", "[1,2,3,4,5,6,7,8,9,10,1]",
                "[null,null]"}},
        {"{\"uniqueItems\":false}", {"[1,1]"}, {NULL}}};

    (void)state;
    GO_THROUGH(rows);
}

static void combinations(void **state)
{
    static const struct row rows[] = {
        {"{\"allOf\":[{\"minimum\":1},{\"maximum\":5}]}", {"3"}, {"0", "6"}},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":5}]}", {"\"x\"", "7", "null"}, {"1"}},
        {"{\"oneOf\":[{\"multipleOf\":2},{\"multipleOf\":3}]}", {"2", "3", "4"}, {"6", "5"}},
        {"{\"not\":{\"type\":\"string\"}}", {"1"}, {"\"\""}}, {"{\"not\":{}}", {NULL}, {"1"}},
        {"{\"if\":{\"properties\":{\"k\":{\"const\":1}},\"required\":[\"k\"]},\"then\":{"
         "\"required\":[\"a\"]},"
         "\"else\":{\"required\":[\"b\"]}}",
            {"{\"k\":1,\"a\":1}", "{\"b\":1}", "{\"k\":2,\"b\":1}"},
            {"{\"k\":1}", "{}", "{\"k\":2,\"a\":1}"}},
        {"{\"then\":false}", {"1"}, {NULL}}, {"{\"if\":true,\"else\":false}", {"1"}, {NULL}},
        {"{\"anyOf\":[{\"$ref\":\"#/$defs/"
         "a\"},{\"type\":\"null\"}],\"$defs\":{\"a\":{\"type\":\"object\"}}}",
            {"{}", "null"}, {"1"}}};

    (void)state;
    GO_THROUGH(rows);
}

static void references(void **state)
{
    static const struct row rows[] = {
        {"{\"properties\":{\"v\":{\"type\":\"integer\"},\"kids\":{\"type\":\"array\",\"items\":{\"$"
         "ref\":\"#\"}}},"
         "\"required\":[\"v\"]}",
            {"{\"v\":1}", "{\"v\":1,\"kids\":[{\"v\":2,\"kids\":[]}]}"},
            {"{\"v\":1,\"kids\":[{}]}", "{\"v\":1,\"kids\":[{\"v\":2,\"kids\":[{\"v\":\"\"}]}]}"}},
        {"{\"$ref\":\"#/$defs/p\",\"maximum\":9,\"$defs\":{\"p\":{\"minimum\":1}}}", {"5"},
            {"0", "10"}},
        {"{\"properties\":{\"a\":{\"minimum\":3},\"b\":{\"$ref\":\"#/properties/a\"}}}",
            {"{\"b\":3}"}, {"{\"b\":2}"}},
        {"{\"items\":{\"$ref\":\"#x\"},\"$defs\":{\"q\":{\"$anchor\":\"x\",\"type\":\"null\"}}}",
            {"[null]"}, {"[1]"}}};

    (void)state;
    GO_THROUGH(rows);
}

/* schema, value, text of the report */
static void messages_say_what_was_expected_and_what_was_there(void **state)
{
    static const char *const rows[][3] = {
        {"{\"properties\":{\"rows\":{\"items\":{\"properties\":{\"id\":{\"type\":\"integer\"}}}}},"
         "\"required\":[\"name\"]}",
            "{\"rows\":[{\"id\":\"1\"}]}",
            "rows[0].id: must be an integer, is a string; name: is missing"},
        {"{\"type\":[\"string\",\"integer\",\"null\"]}", "1.5",
            "must be a string, an integer or null, is 1.5"},
        {"{\"enum\":[\"red\",\"green\"]}", "\"gren\"",
            "must be one of \"red\", \"green\", is \"gren\"; did you mean \"green\"?"},
        {"{\"const\":\"x\"}", "[]", "must be \"x\", is an array"},
        {"{\"minimum\":1,\"multipleOf\":5}", "-3",
            "must be at least 1, is -3; must be a multiple of 5, is -3"},
        {"{\"exclusiveMaximum\":2.5}", "3", "must be less than 2.5, is 3"},
        {"{\"minLength\":3}", "\"ab\"", "must have at least 3 characters, has 2"},
        {"{\"maxItems\":1}", "[1,2]", "must have at most 1 element, has 2"},
        {"{\"minProperties\":1}", "{}", "must have at least 1 property, has 0"},
        {"{\"pattern\":\"^\\\\d+$\"}", "\"x\\u001b[2J\"",
            "must match the pattern \"^\\\\d+$\", is \"x\\u001b[2J\""},
        {"{\"format\":\"date\"}", "\"now\"", "must be a date such as 2024-12-31, is \"now\""},
        {"{\"uniqueItems\":true}", "[3,1,2,1]",
            "must have elements that all differ; those at 1 and 3 are equal"},
        {"{\"contains\":{\"const\":1}}", "[2]",
            "must have at least 1 element as \"contains\" describes, has 0"},
        {"{\"properties\":{\"name\":{},\"a b\":{}},\"additionalProperties\":false}",
            "{\"nmae\":1,\"zzzzz\":2}",
            "nmae: is not a known property; did you mean \"name\"?; zzzzz: is not a known "
            "property; known are \"name\", "
            "\"a b\""},
        {"{\"additionalProperties\":false}", "{\"a b\":1}",
            "[\"a b\"]: is not a known property; none is"},
        {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
            "b: is missing; it is needed because \"a\" is there"},
        {"{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}",
            "ab: has a name that must have at most 1 character, has 2"},
        {"{\"not\":{\"const\":0}}", "0", "must not be 0, is 0"},
        {"{\"not\":{\"type\":\"string\"}}", "\"x\"", "must not be a string as \"not\" describes"},
        {"{\"properties\":{\"a\":false}}", "{\"a\":1}", "a: is not allowed here"},
        {"{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "3",
            "must fit exactly one alternative, fits the alternatives 1 and 2 of 2"}};
    struct schema *schema;
    struct buf report, text;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
        buf_init(&text, SCHEMA_REPORT_BYTES_MAX);
        schema = compile(rows[i][0]);
        assert_int_equal(schema_check(schema, rows[i][1], strlen(rows[i][1]), &report, NULL), 1);
        assert_int_equal(schema_report_text(report.data, report.len, &text, NULL), 0);
        assert_string_equal(text.data, rows[i][2]);
        schema_free(schema);
        buf_release(&report);
        buf_release(&text);
    }
}

static void the_closest_alternative_is_explained(void **state)
{
    static const char shapes[] = "{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"kind\":{"
                                 "\"const\":\"circle\"},\"r\":{\"type\":\"number\"}},"
                                 "\"required\":[\"kind\",\"r\"]},{\"type\":\"object\","
                                 "\"properties\":{\"kind\":{\"const\":\"box\"},"
                                 "\"w\":{\"type\":\"number\"},\"h\":{\"type\":\"number\"}},"
                                 "\"required\":[\"kind\",\"w\",\"h\"]},{\"type\":\"null\"}]}";
    static const char *const rows[][2] = {
        {"{\"kind\":\"box\",\"w\":1}", "h: is missing (alternative 2 of 3 is the closest)"},
        {"{\"kind\":\"circle\",\"r\":\"1\"}",
            "r: must be a number, is a string (alternative 1 of 3 is the closest)"},
        {"{\"kind\":\"bax\"}", "kind: must be one of \"circle\", \"box\", is \"bax\""},
        {"3", "must be an object or null, is 3"}};
    struct schema *schema = compile(shapes);
    struct buf report, text;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
        buf_init(&text, SCHEMA_REPORT_BYTES_MAX);
        assert_int_equal(schema_check(schema, rows[i][0], strlen(rows[i][0]), &report, NULL), 1);
        assert_int_equal(schema_report_text(report.data, report.len, &text, NULL), 0);
        assert_string_equal(text.data, rows[i][1]);
        buf_release(&report);
        buf_release(&text);
    }
    schema_free(schema);
}

static void what_is_no_json_is_our_error(void **state)
{
    static const char *const rows[] = {"", "{", "[1,]", "{\"a\":1,\"a\":1}", "nan"};
    struct schema *schema = compile("{}");
    struct vial_error err;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(
            schema_check(schema, rows[i], strlen(rows[i]), NULL, &err), VIAL_E_INVALID);
        assert_true(strlen(err.text) > 10);
    }
    schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_enums_and_constants),
        cmocka_unit_test(numbers),
        cmocka_unit_test(strings),
        cmocka_unit_test(objects),
        cmocka_unit_test(arrays),
        cmocka_unit_test(combinations),
        cmocka_unit_test(references),
        cmocka_unit_test(messages_say_what_was_expected_and_what_was_there),
        cmocka_unit_test(the_closest_alternative_is_explained),
        cmocka_unit_test(what_is_no_json_is_our_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
