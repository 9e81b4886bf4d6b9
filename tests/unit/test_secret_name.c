/* test_secret_name.c - what a secret may be called. */
#include "base/secret_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *name, int is_good)
{
    assert_int_equal(secret_name_fault(name, strlen(name)) == NULL, is_good);
}

static void names_are_those_of_variables(void **state)
{
    (void)state;
    expect("A", 1);
    expect("_", 1);
    expect("api_KEY2", 1);
    expect("", 0);
    expect("2A", 0);
    expect("a-b", 0);
    expect("a.b", 0);
    expect("a b", 0);
    expect("a\n", 0);
    expect("\xc3\xa4", 0);
}

static void names_have_64_bytes_at_most(void **state)
{
    char name[66];

    (void)state;
    memset(name, 'a', sizeof(name));
    assert_null(secret_name_fault(name, 64));
    assert_non_null(secret_name_fault(name, 65));
    assert_non_null(secret_name_fault("A\0B", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_variables),
        cmocka_unit_test(names_have_64_bytes_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
