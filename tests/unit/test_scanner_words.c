/* test_scanner_words.c - a source is read when it has a word that a rule needs, and only then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "code/parse.h"
#include "code/scanner.h"

#define HEAD(id, more)                                                                             \
    "; id: " id "\n; severity: warn\n; languages: javascript\n; message: m\n; advice: a\n" more

static int is_needed(const char *rules, const char *source, int has_imports)
{
    struct scanner *s = scanner_new(tree_sitter_javascript(), SCANNER_JAVASCRIPT);
    struct vial_error err = {0};
    uint32_t places[4];
    int needed;

    if (scanner_add(s, "t", rules, strlen(rules), &err) < 0) {
        fail_msg("%s", err.text);
    }
    needed = scanner_places(s, source, strlen(source), has_imports, places, 4) != 0;
    scanner_free(s);
    return needed;
}

static void words_come_from_conditions(void **state)
{
    static const char rules[] =
        HEAD("a", "") "((identifier) @finding (#eq? @finding \"eval\"))" HEAD(
            "b", "") "((identifier) @finding (#any-of? @finding \"exec\" \"compile\"))";

    (void)state;
    assert_false(is_needed(rules, "", 0));
    assert_false(is_needed(rules, "e", 0));
    assert_false(is_needed(rules, "let x = 1; eva", 0));
    assert_true(is_needed(rules, "x.eval", 0));
    assert_true(is_needed(rules, "compile", 0));
}

static void a_rule_without_words_is_about_everything(void **state)
{
    (void)state;
    assert_true(is_needed(HEAD("a", "") "(identifier) @finding", "", 0));
    assert_true(
        is_needed(HEAD("a", "") "((identifier) @finding (#not-eq? @finding \"eval\"))", "x", 0));
    assert_true(is_needed(HEAD("a", "") "((identifier) @finding (#eq? @finding \"x\"))", "y", 0));
    /* The capture need not be there. */
    assert_true(is_needed(
        HEAD("a", "") "(call_expression (identifier)? @f (#eq? @f \"eval\")) @finding", "x", 0));
}

static void words_of_the_header_come_first(void **state)
{
    static const char rules[] =
        HEAD("a", "; needs: while\\s( ;;\n") "((identifier) @finding (#eq? @finding \"eval\"))";

    (void)state;
    assert_false(is_needed(rules, "eval", 0));
    assert_true(is_needed(rules, "for(;;)", 0));
    assert_false(is_needed(rules, "while(", 0));
    assert_true(is_needed(rules, "while (", 0));
}

static void rules_about_imports_need_restricted_ones(void **state)
{
    static const char rules[] = HEAD(
        "a", "; needs: import\n") "((string_fragment) @finding (#not-allowed-import? @finding))";

    (void)state;
    assert_false(is_needed(rules, "import 'x'", 0));
    assert_true(is_needed(rules, "import 'x'", 1));
}

static void places_are_where_words_begin(void **state)
{
    static const char rules[] = HEAD("a", "") "((identifier) @finding (#eq? @finding \"eval\"))";
    static const char source[] = "eval; x.eval; evaluate";
    struct scanner *s = scanner_new(tree_sitter_javascript(), SCANNER_JAVASCRIPT);
    uint32_t places[3];

    (void)state;
    assert_int_equal(scanner_add(s, "t", rules, strlen(rules), NULL), 0);
    assert_int_equal(scanner_places(s, source, strlen(source), 0, places, 3), 3);
    assert_int_equal(places[0], 0);
    assert_int_equal(places[1], 8);
    assert_int_equal(places[2], 14);
    assert_int_equal(scanner_places(s, source, strlen(source), 0, places, 2), -1);
    scanner_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_come_from_conditions),
        cmocka_unit_test(a_rule_without_words_is_about_everything),
        cmocka_unit_test(words_of_the_header_come_first),
        cmocka_unit_test(rules_about_imports_need_restricted_ones),
        cmocka_unit_test(places_are_where_words_begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
