/* test_schema.c - schemas and values that mean harm, mutated ones, and many threads at once. */
#include "schema/schema.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/json.h"
#include "schema/tree.h"

static struct schema *compile(const char *text)
{
    struct schema *schema = NULL;
    struct vial_error err;

    if (schema_compile(text, strlen(text), &schema, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return schema;
}

/* "[0,1,...]" with a text before and behind each number; the caller frees it. */
static char *array_of(int count, const char *before, const char *after, size_t *ret_len)
{
    char *text = malloc((size_t)count * 64 + 2);
    size_t len = 1;
    int i;

    text[0] = '[';
    for (i = 0; i < count; i++) {
        len += (size_t)snprintf(text + len, 64, "%s%d%s", before, i, after);
        text[len++] = ',';
    }
    text[len - 1] = ']';
    *ret_len = len;
    return text;
}

/* Compared each with each, these would take minutes. */
static void a_hundred_thousand_elements_are_compared_quickly(void **state)
{
    static const char *const rows[][2] = {{"", ""}, {"\"prefix-that-is-the-same-", "\""},
        {"{\"a\":{\"b\":", "},\"c\":[]}"}, {"", ".50e0"}};
    struct schema *schema = compile("{\"uniqueItems\":true}");
    uint64_t start = clock_now_us();
    char *text;
    size_t i, len;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        text = array_of(100000, rows[i][0], rows[i][1], &len);
        assert_int_equal(schema_check(schema, text, len, NULL, NULL), 0);
        free(text);
    }
    assert_true(clock_now_us() - start < UINT64_C(20000000));
    schema_free(schema);
}

static void a_million_wrong_elements_give_a_short_report(void **state)
{
    struct schema *schema = compile("{\"items\":{\"type\":\"string\"}}");
    struct buf report;
    size_t len;
    char *text = array_of(1000 * 1000, "", "", &len);

    (void)state;
    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    assert_int_equal(schema_check(schema, text, len, &report, NULL), 1);
    assert_true(report.len < 4096);
    buf_release(&report);
    free(text);
    schema_free(schema);
}

/* A value as deep as can be, for a schema whose alternatives double at each level: two to the power
 * of a hundred rules, if nobody counted. */
static void alternatives_that_multiply_are_stopped(void **state)
{
    struct schema *schema = compile(
        "{\"anyOf\":[{\"items\":{\"$ref\":\"#\"},\"minItems\":1},{\"items\":{\"$ref\":\"#\"},"
        "\"minItems\":1,\"type\":\"array\"}]}");
    struct vial_error err;
    struct buf report;
    char text[2 * 100 + 1];

    (void)state;
    memset(text, '[', 100);
    memset(text + 100, ']', 100);
    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    assert_int_equal(schema_check(schema, text, 200, &report, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "too much work"));
    assert_int_equal(report.len, 0);
    buf_release(&report);
    schema_free(schema);
}

/* The stack is bounded by the product of both depths. */
static void depth_times_rules_is_stopped(void **state)
{
    char schema_text[4096], text[2 * TREE_DEPTH_MAX];
    struct schema *schema;
    struct vial_error err;
    size_t len = 0;
    int i;

    (void)state;
    for (i = 0; i < 20; i++) {
        len += (size_t)sprintf(schema_text + len, "{\"allOf\":[");
    }
    len += (size_t)sprintf(schema_text + len, "{\"items\":{\"$ref\":\"#\"}}");
    for (i = 0; i < 20; i++) {
        len += (size_t)sprintf(schema_text + len, "]}");
    }
    schema = compile(schema_text);
    memset(text, '[', TREE_DEPTH_MAX);
    memset(text + TREE_DEPTH_MAX, ']', TREE_DEPTH_MAX);
    assert_int_equal(schema_check(schema, text, sizeof(text), NULL, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "too deeply"));
    assert_int_equal(schema_check(schema, text + TREE_DEPTH_MAX - 20, 40, NULL, &err), 0);
    schema_free(schema);
}

static void deep_values_are_refused(void **state)
{
    struct schema *schema = compile("{}");
    char *text = malloc(200000);
    struct vial_error err;

    (void)state;
    memset(text, '[', 100000);
    memset(text + 100000, ']', 100000);
    assert_int_equal(schema_check(schema, text, 200000, NULL, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "too deeply"));
    free(text);
    schema_free(schema);
}

static void slow_patterns_are_stopped(void **state)
{
    struct schema *schema =
        compile("{\"items\":{\"pattern\":\"^(a+)+$\"},\"patternProperties\":{\"^(a|aa)+$\":{}}}");
    struct vial_error err;
    size_t len;
    char *text = array_of(20000, "\"aaaaaaaaaaaaaaaaaaaaaaaaaaa", "\"", &len);

    (void)state;
    assert_int_equal(schema_check(schema, text, len, NULL, &err), VIAL_E_INVALID);
    free(text);
    text = strdup("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}");
    assert_int_equal(schema_check(schema, text, strlen(text), NULL, &err), VIAL_E_INVALID);
    free(text);
    schema_free(schema);
}

/* An enum of many values for an array of many elements: the product is what counts. */
static void long_enums_for_long_arrays_are_stopped(void **state)
{
    size_t enum_len, len;
    char *values = array_of(50000, "\"value-", "\"", &enum_len);
    char *text = array_of(1000 * 1000, "\"value-x", "\"", &len);
    char *schema_text = malloc(enum_len + 64);
    struct schema *schema = NULL;

    (void)state;
    (void)sprintf(schema_text, "{\"contains\":{\"enum\":%.*s}}", (int)enum_len, values);
    assert_int_equal(schema_compile(schema_text, strlen(schema_text), &schema, NULL), 0);
    assert_int_equal(schema_check(schema, text, len, NULL, NULL), VIAL_E_INVALID);
    schema_free(schema);
    free(schema_text);
    free(text);
    free(values);
}

static void *check_often(void *user)
{
    static const char good[] = "{\"a\":\"aaa\",\"b\":[1,2]}", bad[] = "{\"a\":\"b\",\"c\":1}";
    const struct schema *schema = user;
    struct buf report;
    long wrong = 0;
    int i;

    for (i = 0; i < 3000; i++) {
        buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
        wrong += schema_check(schema, good, strlen(good), &report, NULL) != 0;
        wrong += schema_check(schema, bad, strlen(bad), &report, NULL) != 1;
        buf_release(&report);
    }
    return (void *)wrong;
}

static void many_threads_use_one_schema(void **state)
{
    struct schema *schema =
        compile("{\"properties\":{\"a\":{\"pattern\":\"^a+$\"},\"b\":{\"uniqueItems\":true}},"
                "\"additionalProperties\":false}");
    pthread_t threads[4];
    void *wrong;
    size_t i;

    (void)state;
    for (i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, check_often, schema), 0);
    }
    for (i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    schema_free(schema);
}

static const char seed_tool[] = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\","
                                "\"minimum\":1},\"tags\":{\"type\":\"array\",\"items\":"
                                "{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"},\"uniqueItems\":"
                                "true}},\"required\":[\"id\"],\"additionalProperties\":false}";
static const char seed_node[] =
    "{\"$ref\":\"#/$defs/"
    "node\",\"$defs\":{\"node\":{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"object\","
    "\"properties\":{"
    "\"next\":{\"$ref\":\"#/$defs/"
    "node\"},\"v\":{\"enum\":[1,\"a\",{\"x\":[]}]}},\"dependentRequired\":{\"v\":[\"next\"]}}]}}}";
static const char seed_logic[] = "{\"oneOf\":[{\"prefixItems\":[{\"const\":1},{\"format\":\"date-"
                                 "time\"}],\"items\":false},{\"contains\":{\"multipleOf\":"
                                 "0.5},\"maxContains\":2}],\"not\":{\"type\":\"string\"},\"if\":{"
                                 "\"minItems\":1},\"then\":{\"maxItems\":3},\"else\":true}";
static const char seed_names[] = "{\"patternProperties\":{\"^x-\":{\"minLength\":1}},"
                                 "\"propertyNames\":{\"maxLength\":8},\"minProperties\":1,"
                                 "\"dependentSchemas\":{\"a\":{\"required\":[\"b\"]}},"
                                 "\"additionalProperties\":{\"type\":[\"number\",\"null\"]}}";
static const char seed_object[] = "{\"id\":12,\"tags\":[\"a\",\"b\"],\"next\":{\"next\":null,\"v\":"
                                  "{\"x\":[]}},\"x-y\":\"\\u00e4\\ud83d\\ude00\"}";
static const char seed_array[] =
    "[1,\"2024-12-31T00:00:00Z\",[1.5e-3,-0,1E400],{\"a\":{\"b\":null}},true,false]";
static const char *const seeds[] = {
    seed_tool, seed_node, seed_logic, seed_names, seed_object, seed_array};

enum { SEEDS = sizeof(seeds) / sizeof(seeds[0]), MUTANT_MAX = 2048 };

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Bytes that are changed, dropped, doubled, and pieces of other seeds put in between. */
static size_t mutate(uint32_t *random, const char *seed, char *out)
{
    static const char signs[] = "{}[]\",:0123456789-+.eE\\u$#/truefalsn \x01\xff\xc3";
    size_t len = strlen(seed), at, from, n;
    const char *other;
    uint32_t i, changes = next_random(random) % 4;

    memcpy(out, seed, len);
    for (i = 0; i < changes; i++) {
        at = next_random(random) % len;
        switch (next_random(random) % 4) {
        case 0:
            out[at] = signs[next_random(random) % (sizeof(signs) - 1)];
            break;
        case 1:
            n = next_random(random) % 8;
            n = n < len - at ? n : len - at - 1;
            memmove(out + at, out + at + n, len - at - n);
            len -= n;
            break;
        default:
            other = seeds[next_random(random) % SEEDS];
            from = next_random(random) % strlen(other);
            n = next_random(random) % 24;
            n = n < strlen(other) - from ? n : strlen(other) - from;
            if (len + n < MUTANT_MAX) {
                memmove(out + at + n, out + at, len - at);
                memcpy(out + at, other + from, n);
                len += n;
            }
        }
    }
    return len;
}

static void report_holds(const struct schema *schema, const char *json, size_t len)
{
    struct vial_error err = {.code = 0};
    struct buf report, text;
    int r, again;

    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    buf_init(&text, SCHEMA_REPORT_BYTES_MAX);
    r = schema_check(schema, json, len, &report, &err);
    again = schema_check(schema, json, len, NULL, NULL);
    assert_int_equal(r, again);
    if (r < 0) {
        assert_true(r == VIAL_E_INVALID && strlen(err.text) > 0);
    } else if (r == 1) {
        assert_int_equal(json_check(report.data, report.len, 4, NULL), 0);
        assert_int_equal(schema_report_text(report.data, report.len, &text, NULL), 0);
        assert_true(text.len > 0);
    }
    buf_release(&report);
    buf_release(&text);
}

/* Whatever the bytes are, there is an answer, and both passes agree on it. What reads beyond its
 * memory is found in the build with sanitizers, so each text lies in memory of its own size. */
static void mutated_schemas_and_values_always_have_an_answer(void **state)
{
    uint32_t random = 2463534242u;
    char *mutant = malloc(MUTANT_MAX + 64), *schema_text, *json;
    struct schema *schema;
    struct vial_error err;
    size_t i, len, taken = 0;

    (void)state;
    for (i = 0; i < 20000; i++) {
        len = mutate(&random, seeds[next_random(&random) % SEEDS], mutant);
        schema_text = malloc(len + 1);
        memcpy(schema_text, mutant, len);
        schema = NULL;
        if (schema_compile(schema_text, len, &schema, &err) < 0) {
            assert_int_equal(err.code, VIAL_E_INVALID);
            assert_null(schema);
        }
        free(schema_text);
        if (schema == NULL) {
            continue;
        }
        taken++;
        len = mutate(&random, seeds[next_random(&random) % SEEDS], mutant);
        json = malloc(len + 1);
        memcpy(json, mutant, len);
        report_holds(schema, json, len);
        free(json);
        schema_free(schema);
    }
    assert_true(taken > 1000); /* else the test looks at nothing */
    free(mutant);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_thousand_elements_are_compared_quickly),
        cmocka_unit_test(a_million_wrong_elements_give_a_short_report),
        cmocka_unit_test(alternatives_that_multiply_are_stopped),
        cmocka_unit_test(depth_times_rules_is_stopped),
        cmocka_unit_test(deep_values_are_refused),
        cmocka_unit_test(slow_patterns_are_stopped),
        cmocka_unit_test(long_enums_for_long_arrays_are_stopped),
        cmocka_unit_test(many_threads_use_one_schema),
        cmocka_unit_test(mutated_schemas_and_values_always_have_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
