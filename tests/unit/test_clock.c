/* test_clock.c - the clock goes forward, in microseconds. */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

static void never_goes_back(void **state)
{
    uint64_t before = clock_now_us();
    int i;

    (void)state;
    for (i = 0; i < 10000; i++) {
        uint64_t now = clock_now_us();

        assert_true(now >= before);
        before = now;
    }
}

static void counts_microseconds(void **state)
{
    struct timespec pause = {.tv_nsec = 20000000};
    uint64_t before = clock_now_us();
    uint64_t passed;

    (void)state;
    assert_int_equal(nanosleep(&pause, NULL), 0);
    passed = clock_now_us() - before;
    assert_true(passed >= 20000);
    assert_true(passed < 20000000); /* a loaded machine is late, but not by a factor of 1000 */
}

static void is_the_monotonic_clock(void **state)
{
    struct timespec t;
    uint64_t before;

    (void)state;
    before = clock_now_us();
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
    assert_true((uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 >= before);
    assert_true((uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 <= clock_now_us());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_goes_back),
        cmocka_unit_test(counts_microseconds),
        cmocka_unit_test(is_the_monotonic_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
