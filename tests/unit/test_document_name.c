/* test_document_name.c - names and references; the rest of their rules is in test_document_tools.c.
 */
#include "policy/document_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void references_have_a_name_and_perhaps_a_version(void **state)
{
    char name[DOCUMENT_NAME_BYTES_MAX + 1];
    uint32_t version = 9;

    (void)state;
    assert_int_equal(environment_ref_parse("crm", name, &version, NULL), 0);
    assert_string_equal(name, "crm");
    assert_int_equal(version, 0);
    assert_int_equal(environment_ref_parse("crm@12", name, &version, NULL), 0);
    assert_string_equal(name, "crm");
    assert_int_equal(version, 12);
    assert_int_equal(environment_ref_parse("a@2147483647", name, &version, NULL), 0);
    assert_int_equal(version, INT32_MAX);
}

static void what_is_no_reference_is_refused(void **state)
{
    static const char *const bad[] = {"", "@1", "crm@", "crm@0", "crm@01", "crm@x", "crm@1x",
        "crm@-1", "crm@ 1", "crm@1@2", "crm@2147483648", "crm@99999999999999999999", "CRM", "a/b",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    char name[DOCUMENT_NAME_BYTES_MAX + 1] = "kept";
    struct vial_error err;
    uint32_t version = 9;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(environment_ref_parse(bad[i], name, &version, &err), VIAL_E_INVALID);
        assert_true(strlen(err.text) > 20);
    }
    assert_string_equal(name, "kept");
    assert_int_equal(version, 9);
}

static void the_longest_name_is_one(void **state)
{
    char name[DOCUMENT_NAME_BYTES_MAX + 1];
    char text[DOCUMENT_NAME_BYTES_MAX + 1];
    uint32_t version;

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(environment_ref_parse(text, name, &version, NULL), 0);
    assert_string_equal(name, text);
}

static void patterns_match_names_and_what_is_beneath(void **state)
{
    (void)state;
    assert_true(tool_pattern_matches("*", "a.b"));
    assert_true(tool_pattern_matches("a.*", "a.b.c"));
    assert_false(tool_pattern_matches("a.*", "a"));
    assert_false(tool_pattern_matches("a.*", "ab.c"));
    assert_true(tool_pattern_matches("a.b", "a.b"));
    assert_false(tool_pattern_matches("a.b", "a.b.c"));
    assert_null(tool_pattern_fault("a.b.*", 5));
    assert_non_null(tool_pattern_fault(".*", 2));
    assert_non_null(tool_pattern_fault("*.a", 3));
    assert_non_null(tool_pattern_fault("a.*.*", 5));
    assert_non_null(tool_pattern_fault("", 0));
}

/* bsearch finds only what stands in its place. */
static void each_word_of_the_tables_is_found(void **state)
{
    static const char *const reserved[] = {"__proto__", "arguments", "await", "break", "case",
        "catch", "class", "const", "constructor", "continue", "debugger", "default", "delete", "do",
        "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if",
        "implements", "import", "in", "instanceof", "interface", "let", "new", "null", "package",
        "private", "protected", "prototype", "public", "return", "static", "super", "switch",
        "then", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield"};
    static const char *const globals[] = {"AbortController", "Array", "JSON", "NaN", "Object",
        "WebAssembly", "XMLHttpRequest", "__return", "atob", "console", "fetch", "globalThis",
        "input", "main", "parseInt", "require", "undefined", "window"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        assert_non_null(global_name_fault(reserved[i], strlen(reserved[i])));
    }
    for (i = 0; i < sizeof(globals) / sizeof(globals[0]); i++) {
        assert_non_null(global_name_fault(globals[i], strlen(globals[i])));
    }
    assert_null(global_name_fault("customers", 9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_have_a_name_and_perhaps_a_version),
        cmocka_unit_test(what_is_no_reference_is_refused),
        cmocka_unit_test(the_longest_name_is_one),
        cmocka_unit_test(patterns_match_names_and_what_is_beneath),
        cmocka_unit_test(each_word_of_the_tables_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
