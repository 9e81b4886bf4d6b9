/* test_id.c - names that sort by time and that nobody guesses. */
#include "base/id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 5000 };

static struct vial_error err;
static char many[MANY][ID_BYTES_MAX + 1];

static void a_name_tells_its_time(void **state)
{
    char id[ID_BYTES_MAX + 1];

    (void)state;
    /* 1469918176385 ms is the example that everybody has: 01ARYZ6S41. */
    assert_int_equal(id_make("run_", UINT64_C(1469918176385) * 1000, id, &err), 0);
    assert_int_equal(strlen(id), 30);
    assert_memory_equal(id, "run_01ARYZ6S41", 14);
    assert_true(id_is_valid("run_", id, strlen(id)));
    assert_int_equal(id_time_ms("run_", id), UINT64_C(1469918176385));
    id_first("run_", UINT64_C(1469918176385) * 1000, id);
    assert_string_equal(id, "run_01ARYZ6S410000000000000000");
    assert_true(id_now_us() > UINT64_C(1600000000000000));
}

static void later_ones_sort_behind_earlier_ones(void **state)
{
    char before[ID_BYTES_MAX + 1], id[ID_BYTES_MAX + 1], first[ID_BYTES_MAX + 1];
    uint64_t us = 0;
    int i;

    (void)state;
    assert_int_equal(id_make("run_", 0, before, &err), 0);
    for (i = 1; i < 48; i++) {
        us = (UINT64_C(1) << i) * 1000;
        assert_int_equal(id_make("run_", us, id, &err), 0);
        id_first("run_", us, first);
        assert_true(strcmp(id, before) > 0);
        assert_true(strcmp(first, before) > 0);
        assert_true(strcmp(id, first) >= 0);
        memcpy(before, id, sizeof(id));
    }
    assert_int_equal(id_make("run_", UINT64_MAX, id, &err), 0); /* the end of time */
    assert_true(strcmp(id, before) > 0);
    assert_true(id_is_valid("run_", id, strlen(id)));
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void no_two_are_the_same(void **state)
{
    int i;

    (void)state;
    for (i = 0; i < MANY; i++) {
        assert_int_equal(id_make("ses_", 1000, many[i], &err), 0);
    }
    qsort(many, MANY, sizeof(many[0]), compare);
    for (i = 1; i < MANY; i++) {
        assert_true(strcmp(many[i - 1], many[i]) != 0);
    }
}

static void other_texts_are_none(void **state)
{
    static const char *const bad[] = {"", "run_", "run_01ARYZ6S41000000000000000",
        "run_01ARYZ6S4100000000000000000", "ses_01ARYZ6S410000000000000000",
        "run_01ARYZ6S41000000000000000I", "run_01ARYZ6S41000000000000000L",
        "run_01ARYZ6S41000000000000000O", "run_01ARYZ6S41000000000000000U",
        "run_01aryz6s410000000000000000", "run_81ARYZ6S410000000000000000",
        "run_01ARYZ6S41000000000000000 ", "RUN_01ARYZ6S410000000000000000"};
    char id[] = "run_01ARYZ6S410000000000000000";
    size_t i;

    (void)state;
    assert_true(id_is_valid("run_", id, 30));
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(id_is_valid("run_", bad[i], strlen(bad[i])));
    }
    id[20] = '\0';
    assert_false(id_is_valid("run_", id, 30));
}

static void bytes_are_written_in_lower_case(void **state)
{
    static const unsigned char bytes[10] = {0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const unsigned char counted[5] = {0x00, 0x44, 0x32, 0x14, 0xc7}; /* 0 1 2 3 4 5 6 7 */
    char text[17] = {0};

    (void)state;
    id_text_lower(bytes, 10, text);
    assert_string_equal(text, "00000000zzzzzzzz");
    id_text_lower(counted, 5, text);
    assert_memory_equal(text, "01234567", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_tells_its_time),
        cmocka_unit_test(later_ones_sort_behind_earlier_ones),
        cmocka_unit_test(no_two_are_the_same),
        cmocka_unit_test(other_texts_are_none),
        cmocka_unit_test(bytes_are_written_in_lower_case),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
