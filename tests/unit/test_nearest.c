/* test_nearest.c - which word was meant, and when nobody can tell. */
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const KNOWN[] = {"name", "prefix", "tools", "limits", "env", NULL};

static void a_slip_of_the_finger_finds_its_word(void **state)
{
    (void)state;
    assert_string_equal(nearest_word("tool", KNOWN), "tools");
    assert_string_equal(nearest_word("perfix", KNOWN), "prefix");
    assert_string_equal(nearest_word("limitss", KNOWN), "limits");
    assert_string_equal(nearest_word("name", KNOWN), "name");
}

static void another_word_finds_none(void **state)
{
    (void)state;
    assert_null(nearest_word("colour", KNOWN));
    assert_null(nearest_word("", KNOWN));
    assert_null(nearest_word("xyz", KNOWN)); /* three changes make "env" of it, and of anything */
}

static void a_long_word_is_not_compared(void **state)
{
    (void)state;
    assert_null(nearest_word("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", KNOWN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_finger_finds_its_word),
        cmocka_unit_test(another_word_finds_none),
        cmocka_unit_test(a_long_word_is_not_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
