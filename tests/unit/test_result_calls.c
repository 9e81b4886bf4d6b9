/* test_result_calls.c - the calls of tools that a result tells of. */
#include "host/result_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void calls_are_told_in_their_order(void **state)
{
    struct result_calls calls = {.items = NULL};
    struct json_writer w;
    struct buf out;
    uint32_t first, second;

    (void)state;
    first = result_calls_add(&calls, "a", 10, 3);
    second = result_calls_add(&calls, "b.c", 20, 4);
    result_calls_record(&calls, first, CALL_PART_INPUT, "[1]", 3);
    result_calls_record(&calls, first, CALL_PART_OUTPUT, "{}", 2);
    result_calls_end(&calls, second, VIAL_CALL_DENIED, "not \"now\"", 50, 0);
    result_calls_end(&calls, first, VIAL_CALL_OK, NULL, 30, 2);
    buf_init(&out, result_calls_bytes(&calls));
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    result_calls_write(&calls, &w);
    json_end_object(&w);
    assert_int_equal(json_finish(&w), 0);
    assert_string_equal(out.data,
        "{\"calls\":[{\"name\":\"a\",\"status\":\"ok\",\"reason\":null,\"start_us\":10,"
        "\"duration_us\":20,\"input_bytes\":3,\"output_bytes\":2,\"input\":[1],\"output\":{}},"
        "{\"name\":\"b.c\",\"status\":\"denied\",\"reason\":\"not \\\"now\\\"\",\"start_us\":20,"
        "\"duration_us\":30,\"input_bytes\":4,\"output_bytes\":0}]}");
    buf_release(&out);
    result_calls_release(&calls);
}

static void a_call_that_never_ended_was_cancelled(void **state)
{
    struct result_calls calls = {.items = NULL};

    (void)state;
    assert_int_equal(result_calls_add(&calls, "a", 0, 0), 0);
    assert_int_equal(calls.items[0].status, VIAL_CALL_CANCELLED);
    result_calls_release(&calls);
}

static void too_many_are_only_counted(void **state)
{
    struct result_calls calls = {.items = NULL};
    unsigned i;

    (void)state;
    for (i = 0; i < RESULT_CALLS_MAX; i++) {
        assert_int_equal(result_calls_add(&calls, "a", 0, 0), i);
    }
    assert_int_equal(result_calls_add(&calls, "a", 0, 0), RESULT_CALL_NONE);
    assert_int_equal(calls.dropped, 1);
    result_calls_end(&calls, RESULT_CALL_NONE, VIAL_CALL_OK, "x", 0, 0); /* does nothing */
    result_calls_record(&calls, RESULT_CALL_NONE, CALL_PART_INPUT, "1", 1);
    result_calls_release(&calls);
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(vial_call_status_name(VIAL_CALL_OK), "ok");
    assert_string_equal(vial_call_status_name(VIAL_CALL_CANCELLED), "cancelled");
    assert_string_equal(vial_call_status_name(-1), "unknown");
    assert_string_equal(vial_call_status_name(7), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_told_in_their_order),
        cmocka_unit_test(a_call_that_never_ended_was_cancelled),
        cmocka_unit_test(too_many_are_only_counted),
        cmocka_unit_test(every_status_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
