/* test_time_args.c - times as people type them. */
#include "cli/time_args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000)
#define NOW (UINT64_C(1800000000) * SECOND)

static void lengths_have_a_unit(void **state)
{
    static const char *const bad[] = {"", "5", "d", "0d", "-1d", "1.5h", "1 d", "1dd", "1D",
        "30days", "99999999999999999999d", "999999w", "+1d"};
    uint64_t us = 77;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(time_args_length(bad[i], &us), -1);
        assert_int_equal(us, 77);
    }
    assert_int_equal(time_args_length("90s", &us), 0);
    assert_int_equal(us, 90 * SECOND);
    assert_int_equal(time_args_length("15m", &us), 0);
    assert_int_equal(us, 900 * SECOND);
    assert_int_equal(time_args_length("2h", &us), 0);
    assert_int_equal(us, 7200 * SECOND);
    assert_int_equal(time_args_length("30d", &us), 0);
    assert_int_equal(us, UINT64_C(30) * 86400 * SECOND);
    assert_int_equal(time_args_length("2w", &us), 0);
    assert_int_equal(us, UINT64_C(14) * 86400 * SECOND);
}

static void points_are_dates_or_lengths_ago(void **state)
{
    static const char *const bad[] = {"", "today", "2026-13-01", "2026-11-18T",
        "2026-11-18T02:30:00", "2026-11-18T02:30:00+01:00", "2026-11-18 02:30", "1969-01-01",
        "18.11.2026"};
    uint64_t us = 77;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(time_args_point(bad[i], NOW, &us), -1);
        assert_int_equal(us, 77);
    }
    assert_int_equal(time_args_point("2027-01-15", NOW, &us), 0);
    assert_int_equal(us, NOW - UINT64_C(8) * 3600 * SECOND);
    assert_int_equal(time_args_point("2027-01-15T08:00:00Z", NOW, &us), 0);
    assert_int_equal(us, NOW);
    assert_int_equal(time_args_point("2h", NOW, &us), 0);
    assert_int_equal(us, NOW - 7200 * SECOND);
    assert_int_equal(time_args_point("2h", 5, &us), 0);
    assert_int_equal(us, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_have_a_unit),
        cmocka_unit_test(points_are_dates_or_lengths_ago),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
