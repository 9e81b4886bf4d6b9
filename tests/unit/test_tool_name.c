/* test_tool_name.c - which names tools may have, and which exclude each other. */
#include "policy/tool_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void plain_and_dotted_names_are_taken(void **state)
{
    static const char *const names[] = {
        "find", "crm.find", "a.b.c.d.e.f.g.h", "_x", "$", "crm.input", "db2.query", "crm.process"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(tool_name_check(names[i], NULL), 0);
    }
}

static void names_that_mean_something_else_are_refused(void **state)
{
    static const char *const names[] = {"", ".", "a.", ".a", "a..b", "1a", "a-b", "a b", "ä", "a\n",
        "__proto__", "crm.__proto__", "constructor", "crm.constructor", "then", "crm.then", "class",
        "crm.delete", "await", "crm.toString", "console", "console.log", "JSON.parse", "process",
        "globalThis", "undefined", "a.b.c.d.e.f.g.h.i", "print", "None"};
    struct vial_error err;
    char name[TOOL_NAME_BYTES_MAX + 2];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        err.text[0] = '\0';
        assert_int_equal(tool_name_check(names[i], &err), VIAL_E_INVALID);
        assert_true(strlen(err.text) > 10);
    }
    assert_int_equal(tool_name_check(NULL, &err), VIAL_E_INVALID);
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(tool_name_check(name, &err), VIAL_E_INVALID);
    name[TOOL_NAME_BYTES_MAX] = '\0';
    assert_int_equal(tool_name_check(name, &err), 0);
}

static void a_tool_is_no_object_of_others(void **state)
{
    (void)state;
    assert_true(tool_names_clash("crm", "crm"));
    assert_true(tool_names_clash("crm", "crm.find"));
    assert_true(tool_names_clash("crm.find", "crm"));
    assert_true(tool_names_clash("a.b", "a.b.c"));
    assert_false(tool_names_clash("crm.find", "crm.finder"));
    assert_false(tool_names_clash("crm", "crmx.find"));
    assert_false(tool_names_clash("a", "b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_dotted_names_are_taken),
        cmocka_unit_test(names_that_mean_something_else_are_refused),
        cmocka_unit_test(a_tool_is_no_object_of_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
