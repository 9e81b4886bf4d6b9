/* test_result_findings.c - findings from a cell that cannot be trusted, and what a result says of
 * them. */
#include "host/result_findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/result.h"
#include "policy/limits.h"

static struct buf frame;

static void text(uint8_t tag, const char *bytes)
{
    assert_int_equal(field_add(&frame, tag, bytes, strlen(bytes), NULL), 0);
}

static void number(uint8_t tag, uint32_t v)
{
    assert_int_equal(field_add_u32(&frame, tag, v, NULL), 0);
}

static void begin(void)
{
    buf_release(&frame);
    buf_init(&frame, 1 << 20);
}

static enum findings_taken take(struct result_findings *r)
{
    return result_findings_take(r, frame.data != NULL ? frame.data : "", frame.len);
}

static void they_are_had_from_the_result(void **state)
{
    struct vial_finding f = VIAL_FINDING_INIT;
    struct vial_result *result = NULL;
    struct vial_limits limits;

    (void)state;
    assert_int_equal(limits_resolve(NULL, &limits, NULL), 0);
    assert_int_equal(result_new(&limits, "{}", &result, NULL), 0);
    assert_int_equal(vial_result_finding(result, 0, &f), VIAL_E_INVALID);
    begin();
    text(FIELD_FINDING_ID, "a-rule");
    number(FIELD_FINDING_SEVERITY, VIAL_SEVERITY_WARN);
    number(FIELD_FINDING_LINE, 3);
    number(FIELD_FINDING_COLUMN, 7);
    text(FIELD_FINDING_FILE, "");
    text(FIELD_FINDING_TEXT, "eval(x)");
    text(FIELD_FINDING_MESSAGE, "m");
    text(FIELD_FINDING_ADVICE, "say \"no\"");
    text(FIELD_FINDING_ID, "other");
    number(FIELD_FINDING_SEVERITY, VIAL_SEVERITY_BLOCK);
    text(FIELD_FINDING_FILE, "./m.js");
    number(FIELD_FINDINGS_MORE, 5);
    assert_int_equal(take(&result->findings), FINDINGS_TAKEN);
    result_name_files(result, "main.js");
    assert_int_equal(vial_result_finding_count(result), 2);
    assert_int_equal(vial_result_finding(result, 0, &f), 0);
    assert_string_equal(f.id, "a-rule");
    assert_string_equal(f.file, "main.js");
    assert_int_equal(f.line, 3);
    assert_int_equal(f.column, 7);
    assert_string_equal(vial_severity_name((int)f.severity), "warn");
    assert_string_equal(result_findings_gravest(&result->findings)->id, "other");
    assert_non_null(strstr(vial_result_json(result, NULL),
        "\"findings\":[{\"id\":\"a-rule\",\"severity\":\"warn\",\"file\":\"main.js\",\"line\":3,"
        "\"column\":7,\"text\":\"eval(x)\",\"message\":\"m\",\"advice\":\"say \\\"no\\\"\"},"));
    assert_non_null(strstr(vial_result_json(result, NULL), "\"findings_left_out\":5"));
    vial_result_free(result);
}

static void a_second_frame_is_refused(void **state)
{
    struct result_findings r = {.count = 0};

    (void)state;
    begin();
    text(FIELD_FINDING_ID, "a");
    assert_int_equal(take(&r), FINDINGS_TAKEN);
    assert_int_equal(take(&r), FINDINGS_MALFORMED);
    result_findings_release(&r);
}

static void what_is_malformed_is_refused(void **state)
{
    struct result_findings r = {.count = 0};

    (void)state;
    for (int i = 0; i < 6; i++) {
        begin();
        if (i != 0) {
            text(FIELD_FINDING_ID, i == 1 ? "\xff" : "a");
        }
        if (i == 0) {
            text(FIELD_FINDING_TEXT, "x"); /* of what? */
        } else if (i == 2) {
            number(FIELD_FINDING_SEVERITY, 3);
        } else if (i == 3) {
            text(FIELD_FINDING_LINE, "12345");
        } else if (i == 4) {
            text(FIELD_VALUE, "1");
        } else if (i == 5) {
            assert_int_equal(field_add(&frame, FIELD_FINDING_TEXT, "a\0b", 3, NULL), 0);
        }
        assert_int_equal(take(&r), FINDINGS_MALFORMED);
        assert_int_equal(r.count, 0);
        result_findings_release(&r);
    }
    assert_int_equal(result_findings_take(&r, "\x71\xff\xff", 3), FINDINGS_MALFORMED);
    result_findings_release(&r);
}

static void more_than_there_may_be_are_refused(void **state)
{
    struct result_findings r = {.count = 0};

    (void)state;
    begin();
    for (int i = 0; i <= SCAN_FINDINGS_MAX; i++) {
        text(FIELD_FINDING_ID, "a");
    }
    assert_int_equal(take(&r), FINDINGS_MALFORMED);
    result_findings_release(&r);
    buf_release(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_had_from_the_result),
        cmocka_unit_test(a_second_frame_is_refused),
        cmocka_unit_test(what_is_malformed_is_refused),
        cmocka_unit_test(more_than_there_may_be_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
