/* test_schema_alloc.c - fails the n-th allocation of a schema's life, for every n, until everything
 * goes well again.
 *
 * The linker sends the calls of malloc and its kin through the functions here. Whatever fails must
 * say that there is no memory, store nothing and leave nothing behind; the build with sanitizers
 * sees what is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schema/schema.h"
#include "schema/stubs.h"

enum { SWEEP_MAX = 2000, OUT_BYTES_MAX = 1024 * 1024 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int left = -1; /* allocations that still succeed; below 0 all do */
static int refused;

static int refuse(void)
{
    if (left < 0 || left-- != 0) {
        return 0;
    }
    refused = 1;
    return 1;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse() ? NULL : __real_realloc(old, size);
}

static const char schema_text[] = "{\"type\":\"object\",\"properties\":{\"a\":{\"pattern\":\"^a+$"
                                  "\"},\"b\":{\"uniqueItems\":true,\"items\":{\"enum\":"
                                  "[1,{\"x\":[1]},\"\\u00e4\"]}},\"c\":{\"anyOf\":[{\"$ref\":\"#/"
                                  "$defs/n\"},{\"type\":\"null\"}]}},\"required\":[\"z\"],"
                                  "\"patternProperties\":{\"^q\":{}},\"dependentRequired\":{\"a\":["
                                  "\"k\"]},\"additionalProperties\":false,"
                                  "\"$defs\":{\"n\":{\"$anchor\":\"n\",\"type\":\"object\","
                                  "\"properties\":{\"n\":{\"$ref\":\"#n\"}}}}}";

/* Does the step once without trouble and then with each of its allocations failing. */
static void sweep(int (*step)(struct vial_error *err))
{
    struct vial_error err;
    int n, r;

    assert_true(step(&err) >= 0);
    for (n = 0; n < SWEEP_MAX; n++) {
        err = (struct vial_error){.code = 0};
        refused = 0;
        left = n;
        r = step(&err);
        left = -1;
        if (!refused) {
            assert_true(r >= 0);
            break;
        }
        if (r < 0) {
            assert_int_equal(r, VIAL_E_NOMEM);
            assert_int_equal(err.code, VIAL_E_NOMEM);
            assert_true(strlen(err.text) > 0);
        }
    }
    assert_in_range(n, 2, SWEEP_MAX - 1);
}

static int compile_once(struct vial_error *err)
{
    struct schema *schema = NULL;
    int r = schema_compile(schema_text, strlen(schema_text), &schema, err);

    assert_true((r < 0) == (schema == NULL));
    schema_free(schema);
    return r;
}

static struct schema *shared;

static int check_once(struct vial_error *err)
{
    static const char json[] = "{\"a\":\"b\\n\",\"b\":[1,2,3,4,5,6,7,8,9,{\"x\":[1]},{\"x\":[1]}],"
                               "\"c\":{\"n\":{\"n\":3}},\"qq\":1,\"l\":[0,0,0,0,0,0,0,"
                               "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
                               "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}";
    struct buf report, text;
    int r;

    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    buf_init(&text, SCHEMA_REPORT_BYTES_MAX);
    r = schema_check(shared, json, strlen(json), &report, err);
    if (r < 0) {
        assert_int_equal(report.len, 0);
    } else {
        assert_int_equal(r, 1);
        r = schema_report_text(report.data, report.len, &text, err);
    }
    buf_release(&report);
    buf_release(&text);
    return r;
}

static int write_once(enum stub_language language, struct vial_error *err)
{
    static const struct stub_tool tools[] = {
        {.name = "a.find", .description = "Finds.", .input = schema_text, .output = schema_text},
        {.name = "b-c", .input = schema_text}, {.name = "d"}};
    struct buf out;
    int r;

    buf_init(&out, OUT_BYTES_MAX);
    r = stubs_write(tools, 3, language, &out, err);
    assert_true((r < 0) == (out.len == 0));
    if (r == 0) {
        buf_clear(&out);
        r = stubs_describe(tools, language, &out, err);
    }
    buf_release(&out);
    return r;
}

static int write_typescript_once(struct vial_error *err)
{
    return write_once(STUB_TYPESCRIPT, err);
}

static int write_python_once(struct vial_error *err)
{
    return write_once(STUB_PYTHON, err);
}

static void a_schema_is_compiled_or_there_is_no_memory(void **state)
{
    (void)state;
    sweep(compile_once);
}

static void a_value_is_checked_or_there_is_no_memory(void **state)
{
    (void)state;
    assert_int_equal(schema_compile(schema_text, strlen(schema_text), &shared, NULL), 0);
    sweep(check_once);
    schema_free(shared);
}

static void stubs_are_written_or_there_is_no_memory(void **state)
{
    (void)state;
    sweep(write_typescript_once);
    sweep(write_python_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schema_is_compiled_or_there_is_no_memory),
        cmocka_unit_test(a_value_is_checked_or_there_is_no_memory),
        cmocka_unit_test(stubs_are_written_or_there_is_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
