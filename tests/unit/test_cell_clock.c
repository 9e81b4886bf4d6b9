/* test_cell_clock.c - the time of day that a program is given, and the clocks that stay true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cell/clock.h"

enum { AT_S = 1767225600 }; /* 2026-01-01 */

static void a_clock_that_stands_says_one_time_by_every_name(void **state)
{
    struct timespec t;
    struct timeval v;

    (void)state;
    clock_set((int64_t)AT_S * 1000000 + 250000, 0);
    assert_true(clock_stands());
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &t), 0);
    assert_true(t.tv_sec == AT_S && t.tv_nsec == 250000000);
    assert_int_equal(clock_gettime(CLOCK_REALTIME_COARSE, &t), 0);
    assert_true(t.tv_sec == AT_S && t.tv_nsec == 250000000);
    assert_int_equal(clock_gettime(CLOCK_TAI, &t), 0);
    assert_true(t.tv_sec == AT_S);
    assert_int_equal(gettimeofday(&v, NULL), 0);
    assert_true(v.tv_sec == AT_S && v.tv_usec == 250000);
    assert_int_equal(time(NULL), AT_S);
    assert_int_equal(timespec_get(&t, TIME_UTC), TIME_UTC);
    assert_int_equal(t.tv_sec, AT_S);
    clock_unset();
    assert_false(clock_stands());
}

static void what_limits_and_timers_live_from_goes_on(void **state)
{
    uint64_t before = clock_now_us();
    struct timespec t;

    (void)state;
    clock_set(0, 0);
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
    assert_true((uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 >= before);
    while (clock_now_us() == before) { /* it does */
    }
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    assert_true(t.tv_sec > 0 || t.tv_nsec > 0);
    assert_int_equal(time(NULL), 0);
    clock_unset();
    assert_true(time(NULL) > AT_S / 2);
}

static void a_clock_that_runs_goes_on_from_what_it_was_set_to(void **state)
{
    struct timespec first, t;

    (void)state;
    clock_set((int64_t)AT_S * 1000000 + 999999, 1);
    assert_false(clock_stands());
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &first), 0);
    assert_true(first.tv_sec >= AT_S && first.tv_sec < AT_S + 3600);
    do {
        assert_int_equal(clock_gettime(CLOCK_REALTIME, &t), 0);
        assert_true(t.tv_nsec >= 0 && t.tv_nsec < 1000000000);
    } while (t.tv_sec == first.tv_sec && t.tv_nsec == first.tv_nsec);
    assert_true(t.tv_sec > first.tv_sec || t.tv_nsec > first.tv_nsec);
    clock_unset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_stands_says_one_time_by_every_name),
        cmocka_unit_test(what_limits_and_timers_live_from_goes_on),
        cmocka_unit_test(a_clock_that_runs_goes_on_from_what_it_was_set_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
