/* test_error.c - codes, sentences and context of the library's own failures. */
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fills_in_the_code_and_the_sentence(void **state)
{
    struct vial_error err = {.sys = 7};

    (void)state;
    assert_int_equal(vial__fail(&err, VIAL_E_BUSY, "%d cells of %s", 3, "nothing"), VIAL_E_BUSY);
    assert_int_equal(err.code, VIAL_E_BUSY);
    assert_int_equal(err.sys, 0);
    assert_string_equal(err.text, "3 cells of nothing");
}

static void needs_no_place_for_the_sentence(void **state)
{
    (void)state;
    assert_int_equal(vial__fail(NULL, VIAL_E_INVALID, "x"), VIAL_E_INVALID);
    assert_int_equal(vial__fail_sys(NULL, ENOENT, "x"), VIAL_E_SYS);
    assert_int_equal(vial__wrap(NULL, VIAL_E_CELL, "x"), VIAL_E_CELL);
}

static void names_the_errno(void **state)
{
    struct vial_error err = {0};

    (void)state;
    assert_int_equal(vial__fail_sys(&err, ENOENT, "opening %s", "/x"), VIAL_E_SYS);
    assert_int_equal(err.code, VIAL_E_SYS);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(err.text, "opening /x: No such file or directory (ENOENT)");
    assert_int_equal(vial__fail_sys(&err, 99999, "odd"), VIAL_E_SYS);
    assert_string_equal(err.text, "odd: unknown error (?)");
}

static void context_goes_in_front(void **state)
{
    struct vial_error err = {0};
    int r = vial__fail(&err, VIAL_E_NOMEM, "no memory");

    (void)state;
    r = vial__wrap(&err, r, "starting cell %d", 2);
    r = vial__wrap(&err, r, "engine");
    assert_int_equal(r, VIAL_E_NOMEM);
    assert_int_equal(err.code, VIAL_E_NOMEM);
    assert_string_equal(err.text, "engine: starting cell 2: no memory");
}

static void a_long_sentence_is_cut_and_still_ends_in_nul(void **state)
{
    struct vial_error err = {0};
    char text[1000];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(vial__fail(&err, VIAL_E_INVALID, "%s", text), VIAL_E_INVALID);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_int_equal(vial__wrap(&err, VIAL_E_INVALID, "place"), VIAL_E_INVALID);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_memory_equal(err.text, "place: xxx", 10);
    assert_int_equal(vial__wrap(&err, VIAL_E_INVALID, "%s", text), VIAL_E_INVALID);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void a_long_sentence_leaves_room_for_every_errno(void **state)
{
    struct vial_error err = {0};
    char text[1000];
    char ending[40];
    int sys;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (sys = 1; sys < 134; sys++) {
        const char *name = strerrorname_np(sys);

        if (name == NULL) {
            continue;
        }
        assert_int_equal(vial__fail_sys(&err, sys, "%s", text), VIAL_E_SYS);
        assert_true(strlen(name) + 3 < sizeof(ending));
        ending[0] = '(';
        memcpy(ending + 1, name, strlen(name));
        memcpy(ending + 1 + strlen(name), ")", 2);
        assert_string_equal(err.text + strlen(err.text) - strlen(ending), ending);
    }
}

static void frees_once_and_forgets(void **state)
{
    void *p = malloc(10);

    (void)state;
    assert_non_null(p);
    vial__freep(&p);
    assert_null(p);
    vial__freep(&p);
}

static int cleaned;

static void clean(const int *value)
{
    cleaned += *value;
}

static void a_cleanup_runs_at_the_end_of_its_block(void **state)
{
    (void)state;
    {
        VIAL_CLEANUP(clean) int value = 7;

        assert_int_equal(value, 7);
        assert_int_equal(cleaned, 0);
    }
    assert_int_equal(cleaned, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_the_code_and_the_sentence),
        cmocka_unit_test(needs_no_place_for_the_sentence),
        cmocka_unit_test(names_the_errno),
        cmocka_unit_test(context_goes_in_front),
        cmocka_unit_test(a_long_sentence_is_cut_and_still_ends_in_nul),
        cmocka_unit_test(a_long_sentence_leaves_room_for_every_errno),
        cmocka_unit_test(frees_once_and_forgets),
        cmocka_unit_test(a_cleanup_runs_at_the_end_of_its_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
