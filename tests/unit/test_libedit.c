/* test_libedit.c - opening libedit, and what is not libedit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/libedit.h"

static void the_library_has_what_is_used(void **state)
{
    struct libedit lib;
    History *entries;

    (void)state;
    assert_int_equal(libedit_load("libedit.so.2", &lib, NULL), 0);
    entries = lib.history_init();
    assert_non_null(entries);
    lib.history_end(entries);
}

static void what_is_missing_is_said(void **state)
{
    struct vial_error err;
    struct libedit lib;

    (void)state;
    assert_int_equal(libedit_load("libno-such-thing.so.1", &lib, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "install libedit2"));
    assert_int_equal(libedit_load("libm.so.6", &lib, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "libm.so.6 is no libedit: it has no el_init"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_has_what_is_used),
        cmocka_unit_test(what_is_missing_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
