/* test_quota.c - windows that slide, reserves of CPU time, and when to try again. */
#include "policy/quota.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000)
#define START (UINT64_C(1800000000) * SECOND) /* a full quarter of an hour, too */

static struct vial_error err;
static struct quota_state used;

static int clear(void **state)
{
    (void)state;
    memset(&used, 0, sizeof(used));
    return 0;
}

static enum quota_verdict run_at(const struct quota *quota, uint64_t now)
{
    struct quota_answer answer = quota_ask_run(quota, &used, now);

    if (answer.verdict == QUOTA_YES) {
        quota_end_run(&used, now, quota_begin_run(quota, &used, now, SECOND), 0);
    }
    return answer.verdict;
}

static void runs_of_a_minute_are_counted(void **state)
{
    const struct quota quota = {4, 3, 10, 1};
    struct quota_answer answer;

    (void)state;
    assert_int_equal(run_at(&quota, START), QUOTA_YES);
    assert_int_equal(run_at(&quota, START + 10 * SECOND), QUOTA_YES);
    assert_int_equal(run_at(&quota, START + 20 * SECOND), QUOTA_YES);
    answer = quota_ask_run(&quota, &used, START + 30 * SECOND);
    assert_int_equal(answer.verdict, QUOTA_RATE);
    assert_int_equal(answer.limit, 3);
    assert_int_equal(answer.used, 3);
    assert_int_equal(answer.retry_us, 31 * SECOND); /* the first one leaves at 61 s */
    assert_int_equal(run_at(&quota, START + 61 * SECOND - 1), QUOTA_RATE);
    assert_int_equal(run_at(&quota, START + 61 * SECOND), QUOTA_YES);
    assert_int_equal(run_at(&quota, START + 61 * SECOND), QUOTA_RATE);
    assert_int_equal(run_at(&quota, START + 71 * SECOND), QUOTA_YES);
    assert_int_equal(run_at(&quota, START + 1000 * SECOND), QUOTA_YES);
}

/* Whatever the times are, no 60 seconds have more than the quota, and the time to try again is
 * right: not earlier, and then it works. */
static void no_minute_has_more_than_the_quota(void **state)
{
    const struct quota quota = {1, 20, 1000, 1};
    static uint64_t taken[4000];
    uint64_t now = START + 123456;
    unsigned seed = 1;
    size_t count = 0, i, j;

    (void)state;
    while (count < 1000) {
        struct quota_answer answer = quota_ask_run(&quota, &used, now);

        if (answer.verdict == QUOTA_YES) {
            quota_end_run(&used, now, quota_begin_run(&quota, &used, now, 1), 0);
            taken[count++] = now;
            seed = seed * 1103515245U + 12345U;
            now += (seed >> 8) % (2 * SECOND);
        } else {
            assert_int_equal(answer.verdict, QUOTA_RATE);
            assert_true(answer.retry_us > 0 && answer.retry_us <= 61 * SECOND);
            assert_int_equal(
                quota_ask_run(&quota, &used, now + answer.retry_us - 1).verdict, QUOTA_RATE);
            now += answer.retry_us;
            assert_int_equal(quota_ask_run(&quota, &used, now).verdict, QUOTA_YES);
        }
    }
    for (i = j = 0; i < count; i++) {
        while (taken[i] - taken[j] >= 60 * SECOND) {
            j++;
        }
        assert_true(i - j + 1 <= 20);
    }
}

static void cpu_time_is_reserved_and_paid(void **state)
{
    const struct quota quota = {10, 1000, 10, 1};
    struct quota_answer answer;
    uint64_t first, second;

    (void)state;
    assert_int_equal(quota_ask_run(&quota, &used, START).cpu_us_left, 10 * SECOND);
    first = quota_begin_run(&quota, &used, START, 7 * SECOND);
    assert_int_equal(first, 7 * SECOND);
    answer = quota_ask_run(&quota, &used, START);
    assert_int_equal(answer.verdict, QUOTA_YES);
    assert_int_equal(answer.cpu_us_left, 3 * SECOND);
    second = quota_begin_run(&quota, &used, START, 7 * SECOND);
    assert_int_equal(second, 3 * SECOND);
    answer = quota_ask_run(&quota, &used, START);
    assert_int_equal(answer.verdict, QUOTA_CPU);
    assert_int_equal(answer.limit, 10);
    assert_int_equal(answer.used, 10);
    assert_int_equal(answer.retry_us, SECOND); /* somebody may give back */
    quota_end_run(&used, START, first, SECOND);
    assert_int_equal(quota_ask_run(&quota, &used, START).cpu_us_left, 6 * SECOND);
    quota_end_run(&used, START, second, 9 * SECOND);
    answer = quota_ask_run(&quota, &used, START);
    assert_int_equal(answer.verdict, QUOTA_CPU);
    /* The slot of the first quarter leaves a quarter after a day. */
    assert_int_equal(answer.retry_us, 97 * QUOTA_CPU_SLOT_US);
    assert_int_equal(quota_ask_run(&quota, &used, START + answer.retry_us - 1).verdict, QUOTA_CPU);
    assert_int_equal(quota_ask_run(&quota, &used, START + answer.retry_us).verdict, QUOTA_YES);
}

static void a_day_slides_by_quarters_of_an_hour(void **state)
{
    const struct quota quota = {10, 100000, 100, 1};
    uint64_t now = START, spent = 0;
    int i;

    (void)state;
    for (i = 0; i < 97 * 4; i++, now += QUOTA_CPU_SLOT_US) {
        struct quota_answer answer = quota_ask_run(&quota, &used, now);

        if (answer.verdict == QUOTA_YES) {
            uint64_t reserved = quota_begin_run(&quota, &used, now, 5 * SECOND);

            quota_end_run(&used, now, reserved, reserved);
            spent += reserved;
        }
    }
    assert_true(spent > 390 * SECOND && spent <= 400 * SECOND); /* 100 in each day of 97 */
}

static void runs_at_once_are_counted(void **state)
{
    const struct quota quota = {2, 100, 100, 1};
    uint64_t a = quota_begin_run(&quota, &used, START, 1), b;
    struct quota_answer answer;

    (void)state;
    assert_int_equal(quota_ask_run(&quota, &used, START).verdict, QUOTA_YES);
    b = quota_begin_run(&quota, &used, START, 1);
    answer = quota_ask_run(&quota, &used, START);
    assert_int_equal(answer.verdict, QUOTA_CONCURRENT);
    assert_int_equal(answer.limit, 2);
    assert_int_equal(answer.used, 2);
    assert_true(answer.retry_us > 0);
    quota_end_run(&used, START, a, 0);
    assert_int_equal(quota_ask_run(&quota, &used, START).verdict, QUOTA_YES);
    quota_end_run(&used, START, b, 0);
}

static void sessions_are_counted(void **state)
{
    const struct quota quota = {2, 100, 100, 1};

    (void)state;
    assert_int_equal(quota_ask_session(&quota, &used).verdict, QUOTA_YES);
    quota_begin_session(&used);
    assert_int_equal(quota_ask_session(&quota, &used).verdict, QUOTA_SESSIONS);
    assert_true(quota_ask_session(&quota, &used).retry_us > 0);
    quota_end_session(&used);
    assert_int_equal(quota_ask_session(&quota, &used).verdict, QUOTA_YES);
}

static void a_quota_of_none_allows_none(void **state)
{
    struct quota quota = {4, 0, 10, 0};
    struct quota_answer answer = quota_ask_run(&quota, &used, START);

    (void)state;
    assert_int_equal(answer.verdict, QUOTA_RATE);
    assert_true(answer.retry_us >= 60 * SECOND);
    assert_int_equal(quota_ask_session(&quota, &used).verdict, QUOTA_SESSIONS);
    quota = (struct quota){0, 10, 10, 0};
    assert_int_equal(quota_ask_run(&quota, &used, START).verdict, QUOTA_CONCURRENT);
    quota = (struct quota){1, 10, 0, 0};
    assert_int_equal(quota_ask_run(&quota, &used, START).verdict, QUOTA_CPU);
}

static void what_was_used_before_a_restart_counts(void **state)
{
    const struct quota quota = {4, 10, 10, 1};

    (void)state;
    quota_restore(&used, START, START - 2 * UINT64_C(86400) * SECOND, 50 * SECOND); /* too old */
    assert_int_equal(quota_ask_run(&quota, &used, START).cpu_us_left, 10 * SECOND);
    quota_restore(&used, START, START - UINT64_C(80000) * SECOND, 4 * SECOND);
    quota_restore(&used, START, START + UINT64_C(80000) * SECOND, 1 * SECOND); /* is now */
    assert_int_equal(quota_ask_run(&quota, &used, START).cpu_us_left, 5 * SECOND);
    /* The older one leaves when its day is over. */
    assert_int_equal(
        quota_ask_run(&quota, &used, START + UINT64_C(8400) * SECOND).cpu_us_left, 9 * SECOND);
}

static void a_clock_that_goes_back_stands_still(void **state)
{
    const struct quota quota = {4, 2, 10, 1};

    (void)state;
    assert_int_equal(run_at(&quota, START), QUOTA_YES);
    assert_int_equal(run_at(&quota, START - 5000 * SECOND), QUOTA_YES);
    assert_int_equal(run_at(&quota, START - 5000 * SECOND), QUOTA_RATE);
    assert_int_equal(run_at(&quota, START + 61 * SECOND), QUOTA_YES);
}

static void idle_is_when_nothing_has_an_effect(void **state)
{
    const struct quota quota = {4, 10, 10, 1};
    uint64_t reserved = quota_begin_run(&quota, &used, START, SECOND);

    (void)state;
    assert_false(quota_is_idle(&used, START + 100000 * SECOND));
    quota_end_run(&used, START + 100000 * SECOND, reserved, SECOND);
    assert_false(quota_is_idle(&used, START + 100061 * SECOND));
    assert_true(quota_is_idle(&used, START + 200000 * SECOND));
    quota_begin_session(&used);
    assert_false(quota_is_idle(&used, START + 200000 * SECOND));
}

static void absurd_times_do_not_overflow(void **state)
{
    const struct quota quota = {4, 1000, 10, 1};
    int i;

    (void)state;
    for (i = 0; i < 200; i++) {
        quota_restore(&used, START, START, UINT64_MAX);
    }
    assert_int_equal(quota_ask_run(&quota, &used, START).verdict, QUOTA_CPU);
    assert_int_equal(quota_ask_run(&quota, &used, UINT64_MAX).verdict, QUOTA_YES);
}

static void text_is_read_and_written(void **state)
{
    static const char *const bad[] = {"", "concurrent", "concurrent=", "=4", "concurrent=-1",
        "concurrent=4,", ",concurrent=4", "concurrent=4 ", "concurrent=1e3", "concurrent=10001",
        "sessions=99999999999999999999999", "nothing=1", "runs_per_minute=4;sessions=2"};
    struct quota quota = QUOTA_DEFAULT;
    char text[QUOTA_TEXT_BYTES_MAX];
    size_t i;

    (void)state;
    quota_text(&quota, text);
    assert_string_equal(
        text, "concurrent=4,runs_per_minute=600,cpu_seconds_per_day=3600,sessions=8");
    assert_int_equal(quota_parse("sessions=0,concurrent=10000", &quota, &err), 0);
    quota_text(&quota, text);
    assert_string_equal(
        text, "concurrent=10000,runs_per_minute=600,cpu_seconds_per_day=3600,sessions=0");
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(quota_parse(bad[i], &quota, &err), VIAL_E_INVALID);
    }
    quota_text(&quota, text); /* nothing of them was taken */
    assert_string_equal(
        text, "concurrent=10000,runs_per_minute=600,cpu_seconds_per_day=3600,sessions=0");
    assert_int_equal(quota_parse("runs_per_minut=4", &quota, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "did you mean runs_per_minute?"));
    assert_string_equal(quota_verdict_name(QUOTA_CPU), "cpu_seconds_per_day");
}

#define TEST(name) cmocka_unit_test_setup(name, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(runs_of_a_minute_are_counted),
        TEST(no_minute_has_more_than_the_quota),
        TEST(cpu_time_is_reserved_and_paid),
        TEST(a_day_slides_by_quarters_of_an_hour),
        TEST(runs_at_once_are_counted),
        TEST(sessions_are_counted),
        TEST(a_quota_of_none_allows_none),
        TEST(what_was_used_before_a_restart_counts),
        TEST(a_clock_that_goes_back_stands_still),
        TEST(idle_is_when_nothing_has_an_effect),
        TEST(absurd_times_do_not_overflow),
        TEST(text_is_read_and_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
