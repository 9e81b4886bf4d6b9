/* test_problem.c - reports: bounded in number and length, and as one text. */
#include "schema/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static void problems_beyond_the_maximum_are_not_kept(void **state)
{
    struct problems p = {.list = NULL};
    int i;

    (void)state;
    for (i = 0; i < SCHEMA_PROBLEMS_MAX + 5; i++) {
        assert_int_equal(problems_full(&p), i >= SCHEMA_PROBLEMS_MAX);
        assert_int_equal(problems_add(&p, 0, PROBLEM_OTHER, NULL, "number %d", i), 1);
    }
    assert_int_equal(p.count, SCHEMA_PROBLEMS_MAX);
    assert_string_equal(problems_last(&p)->message, "number 15");
    p.scope = p.count; /* an alternative has room of its own */
    assert_false(problems_full(&p));
    assert_null(problems_last(&p));
    problems_release(&p);
}

/* A value with long names and many faults: the report stays JSON and within its size. */
static void a_report_is_bounded_json(void **state)
{
    static const char schema_text[] = "{\"additionalProperties\":{\"type\":\"null\"}}";
    enum { NAME = 2000, COUNT = 40 };
    char *json = malloc((size_t)(NAME + 40) * COUNT);
    struct schema *schema = NULL;
    struct buf report, text;
    size_t len = 1;
    int i;

    (void)state;
    json[0] = '{';
    for (i = 0; i < COUNT; i++) {
        len += (size_t)sprintf(json + len, "\"%d\\n\\u001b", i);
        memset(json + len, '/', NAME);
        len += NAME;
        len += (size_t)sprintf(json + len, "\":1,");
    }
    json[len - 1] = '}';
    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    buf_init(&text, SCHEMA_REPORT_BYTES_MAX);
    assert_int_equal(schema_compile(schema_text, strlen(schema_text), &schema, NULL), 0);
    assert_int_equal(schema_check(schema, json, len, &report, NULL), 1);
    assert_int_equal(json_check(report.data, report.len, 8, NULL), 0);
    assert_int_equal(schema_report_text(report.data, report.len, &text, NULL), 0);
    assert_null(memchr(text.data, '\n', text.len));
    assert_null(memchr(text.data, 0x1b, text.len));
    assert_true(text.len <
                (size_t)SCHEMA_PROBLEMS_MAX * (SCHEMA_PATH_BYTES_MAX + SCHEMA_MESSAGE_BYTES_MAX));
    buf_release(&report);
    buf_release(&text);
    schema_free(schema);
    free(json);
}

static void a_report_becomes_one_text(void **state)
{
    static const char report[] = "[{\"path\":\"\",\"message\":\"is odd\"},{\"path\":\"/a/0/b "
                                 "c/~0~1/$x/01\",\"message\":\"m\"}]";
    struct buf out;

    (void)state;
    buf_init(&out, 1000);
    assert_int_equal(schema_report_text(report, strlen(report), &out, NULL), 0);
    assert_string_equal(out.data, "is odd; a[0][\"b c\"][\"~/\"].$x[01]: m");
    buf_release(&out);
}

static void what_is_no_report_is_refused(void **state)
{
    static const char *const rows[] = {
        "", "{}", "[1]", "[{}]", "[{\"path\":1,\"message\":\"\"}]", "[{\"path\":\"\"}]"};
    struct buf out;
    size_t i;

    (void)state;
    buf_init(&out, 1000);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(schema_report_text(rows[i], strlen(rows[i]), &out, NULL), VIAL_E_INVALID);
    }
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_beyond_the_maximum_are_not_kept),
        cmocka_unit_test(a_report_is_bounded_json),
        cmocka_unit_test(a_report_becomes_one_text),
        cmocka_unit_test(what_is_no_report_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
