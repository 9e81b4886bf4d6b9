/* test_number.c - decimal numbers: order, wholeness and division without rounding. */
#include "schema/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct number number(const char *text)
{
    struct number n;

    number_read(&n, text, strlen(text));
    return n;
}

static int compare(const char *a, const char *b)
{
    struct number x = number(a), y = number(b);
    int d = number_compare(&x, &y), back = number_compare(&y, &x);

    assert_int_equal((d > 0) - (d < 0), (back < 0) - (back > 0));
    return (d > 0) - (d < 0);
}

static void numbers_are_compared_by_what_they_are_worth(void **state)
{
    static const char *const equal[][2] = {{"0", "-0"}, {"0", "0.000e5"}, {"1", "1.0"},
        {"100", "1e2"}, {"0.01", "1E-2"}, {"12.50", "1.25e1"}, {"-3", "-30e-1"},
        {"0.0012", "12e-4"}};
    static const char *const less[][2] = {{"1", "2"}, {"-2", "-1"}, {"-1", "0"}, {"0", "0.001"},
        {"9", "10"}, {"0.9", "1"}, {"9007199254740992", "9007199254740993"},
        {"18446744073709551615", "18446744073709551616"}, {"1e-400", "1e-399"}, {"1e400", "1e401"},
        {"-1e400", "1e-400"}, {"1.09", "1.1"}, {"0.1", "0.10000000000000000000001"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(equal) / sizeof(equal[0]); i++) {
        assert_int_equal(compare(equal[i][0], equal[i][1]), 0);
    }
    for (i = 0; i < sizeof(less) / sizeof(less[0]); i++) {
        assert_int_equal(compare(less[i][0], less[i][1]), -1);
    }
}

static void whole_numbers_may_be_written_with_a_point(void **state)
{
    static const char *const whole[] = {
        "0", "-0.0", "1", "1.0", "1e3", "1.5e1", "120e-1", "1e400", "12345678901234567890123"};
    static const char *const broken[] = {
        "0.5", "1.5", "1e-1", "15e-1", "1e-400", "1.00000000000000000001"};
    struct number n;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        n = number(whole[i]);
        assert_true(number_is_whole(&n));
    }
    for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        n = number(broken[i]);
        assert_false(number_is_whole(&n));
    }
}

static int is_multiple(const char *a, const char *b)
{
    struct number x = number(a), y = number(b);

    assert_true(number_can_divide(&y));
    return number_is_multiple(&x, &y);
}

static void multiples_are_exact(void **state)
{
    (void)state;
    assert_true(is_multiple("0", "7"));
    assert_true(is_multiple("0.3", "0.1"));
    assert_true(is_multiple("1.1", "0.01"));
    assert_true(is_multiple("-21", "7"));
    assert_true(is_multiple("1e308", "0.5"));
    assert_true(is_multiple("9007199254740993", "3"));
    assert_true(is_multiple("123456789012345678901234567890", "10"));
    assert_true(is_multiple("19.99", "0.01"));
    assert_false(is_multiple("0.35", "0.1"));
    assert_false(is_multiple("9007199254740993", "2"));
    assert_false(is_multiple("7", "7.5"));
    assert_false(is_multiple("0.30000000000000004", "0.1"));
    assert_false(is_multiple("1e400", "7"));
}

static void what_cannot_divide_is_known(void **state)
{
    struct number n = number("0");

    (void)state;
    assert_false(number_can_divide(&n));
    n = number("-1");
    assert_false(number_can_divide(&n));
    n = number("1234567890123456789");
    assert_false(number_can_divide(&n));
    n = number("123456789012345678");
    assert_true(number_can_divide(&n));
}

static void endless_exponents_do_not_wrap(void **state)
{
    (void)state;
    assert_int_equal(compare("1e99999999999999999999999999", "1"), 1);
    assert_int_equal(compare("1e-99999999999999999999999999", "1"), -1);
    assert_true(is_multiple("1e99999999999999999999999999", "2"));
    assert_false(is_multiple("1e-99999999999999999999999999", "2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_compared_by_what_they_are_worth),
        cmocka_unit_test(whole_numbers_may_be_written_with_a_point),
        cmocka_unit_test(multiples_are_exact),
        cmocka_unit_test(what_cannot_divide_is_known),
        cmocka_unit_test(endless_exponents_do_not_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
