/* test_scanner.c - rules are held against sources, and a scan comes to its end whatever the source.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/parse.h"
#include "code/scanner.h"

#define HEAD(id, severity)                                                                         \
    "; id: " id "\n; severity: " severity "\n; languages: javascript\n; message: m\n; advice: a\n"
#define CALL(name) "(call_expression function: (identifier) @f (#eq? @f \"" name "\")) @finding\n"

static struct findings found;

static struct scanner *scanner_of(const char *rules)
{
    struct scanner *s = scanner_new(tree_sitter_javascript(), SCANNER_JAVASCRIPT);
    struct vial_error err = {0};

    assert_non_null(s);
    if (scanner_add(s, "test.scm", rules, strlen(rules), &err) < 0) {
        fail_msg("%s", err.text);
    }
    return s;
}

static void scan_text(struct scanner *s, const char *text, size_t len)
{
    struct scanner_source source = {
        .name = "main.js", .name_len = 7, .text = text, .len = len, .language = SCANNER_JAVASCRIPT};
    TSTree *tree = NULL;

    memset(&found, 0, sizeof(found));
    assert_int_equal(code_parse(tree_sitter_javascript(), text, len, &tree, NULL), 0);
    scanner_scan(s, ts_tree_root_node(tree), &source, &found);
    findings_sort(&found);
    ts_tree_delete(tree);
}

static void scan(struct scanner *s, const char *text)
{
    scan_text(s, text, strlen(text));
}

/* times copies of a text; the caller frees. */
static char *repeated(const char *text, size_t times)
{
    size_t n = strlen(text);
    char *all = malloc(n * times + 1);

    assert_non_null(all);
    for (size_t i = 0; i < times; i++) {
        memcpy(all + i * n, text, n);
    }
    all[n * times] = '\0';
    return all;
}

static void findings_have_their_place_and_text(void **state)
{
    struct scanner *s = scanner_of(HEAD("a", "warn") CALL("f"));

    (void)state;
    scan(s, "g();\n  '\xf0\x9f\x98\x80\xc3\xa9' + f(1,\n 2); f()");
    assert_int_equal(found.count, 2);
    assert_string_equal(found.items[0].id, "a");
    assert_string_equal(found.items[0].message, "m");
    assert_string_equal(found.items[0].advice, "a");
    assert_int_equal(found.items[0].severity, SEVERITY_WARN);
    assert_int_equal(found.items[0].line, 2);
    assert_int_equal(found.items[0].column, 11); /* UTF-16: the face counts two */
    assert_string_equal(found.items[0].text, "f(1,...");
    assert_int_equal(found.items[1].line, 3);
    assert_string_equal(found.items[1].text, "f()");
    scanner_free(s);
}

static void texts_that_are_none_are_shown_all_the_same(void **state)
{
    static const char source[] = "f('\xff\x01\0x')";
    struct scanner *s = scanner_of(HEAD("a", "warn") CALL("f"));

    (void)state;
    scan_text(s, source, sizeof(source) - 1);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.items[0].text, "f('???x')");
    scanner_free(s);
}

static void secrets_are_not_shown(void **state)
{
    struct scanner *s = scanner_of("; id: a\n; severity: warn\n; languages: javascript\n; text: "
                                   "masked\n; message: m\n; advice: a\n(string_fragment) @finding");

    (void)state;
    scan(s, "x = 'hunter2 and more'");
    assert_int_equal(found.count, 1);
    assert_string_equal(found.items[0].text, "hunt...");
    scanner_free(s);
}

static void later_rules_take_the_place_of_earlier_ones(void **state)
{
    static const char own[] = HEAD("a", "block") CALL("g") "; id: b\n; severity: off\n";
    struct scanner *s = scanner_of(HEAD("a", "warn") CALL("f") HEAD("b", "warn") CALL("h"));

    (void)state;
    assert_int_equal(scanner_add(s, "own.scm", own, sizeof(own) - 1, NULL), 0);
    scan(s, "f(); g(); h()");
    assert_int_equal(found.count, 1);
    assert_string_equal(found.items[0].text, "g()");
    assert_int_equal(found.items[0].severity, SEVERITY_BLOCK);
    scanner_free(s);
}

static void the_gravest_are_kept(void **state)
{
    struct scanner *s = scanner_of(HEAD("a", "info") CALL("f") HEAD("b", "block") CALL("g"));
    char *many = repeated("f();", 500);
    char *all;

    (void)state;
    assert_true(asprintf(&all, "%sg()", many) > 0);
    scan(s, all);
    assert_int_equal(found.count, SCANNER_FINDINGS_MAX);
    assert_int_equal(found.more_count, 501 - SCANNER_FINDINGS_MAX);
    assert_string_equal(found.items[found.count - 1].id, "b");
    free(all);
    free(many);
    scanner_free(s);
}

static void what_cannot_be_followed_is_incomplete(void **state)
{
    static const struct {
        const char *text;
        size_t times;
        const char *why;
    } rows[] = {
        {"!", 100000, "nested"},
        {"a=>", 60000, "nested"},
    };
    struct scanner *s = scanner_of(HEAD("a", "warn") CALL("f"));

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *many = repeated(rows[i].text, rows[i].times);
        char *text;
        size_t at = 0;

        assert_true(asprintf(&text, "%sf()", many) > 0);
        free(many);
        scan(s, text);
        while (at < found.count && strcmp(found.items[at].id, "scan-incomplete") != 0) {
            at++;
        }
        assert_true(at < found.count);
        assert_int_equal(found.items[at].severity, SEVERITY_BLOCK);
        assert_non_null(strstr(found.incomplete_why, rows[i].why));
        free(text);
    }
    scanner_free(s);
}

static void looking_through_everything_again_and_again_is_incomplete(void **state)
{
    struct scanner *s = scanner_of(
        HEAD("a", "warn") "((while_statement) @finding (#lacks? @finding \"break_statement\"))");
    char *open = repeated("while(1){", 5000);
    char *close = repeated("}", 5000);
    char *text;

    (void)state;
    assert_true(asprintf(&text, "%s%s", open, close) > 0);
    scan(s, text);
    assert_non_null(found.incomplete_why);
    assert_non_null(strstr(found.incomplete_why, "steps"));
    free(text);
    free(close);
    free(open);
    scanner_free(s);
}

static void too_many_places_are_incomplete(void **state)
{
    struct scanner *s =
        scanner_of(HEAD("a", "warn") "((identifier) @finding (#eq? @finding \"z\"))");
    char *text = repeated("a;", 210000);

    (void)state;
    scan(s, text);
    assert_int_equal(found.count, 1);
    /* With sanitizers on a busy machine the second that a scan may take is over before. */
    assert_true(strstr(found.incomplete_why, "more places") != NULL ||
                strstr(found.incomplete_why, "steps") != NULL);
    free(text);
    scanner_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_have_their_place_and_text),
        cmocka_unit_test(texts_that_are_none_are_shown_all_the_same),
        cmocka_unit_test(secrets_are_not_shown),
        cmocka_unit_test(later_rules_take_the_place_of_earlier_ones),
        cmocka_unit_test(the_gravest_are_kept),
        cmocka_unit_test(what_cannot_be_followed_is_incomplete),
        cmocka_unit_test(looking_through_everything_again_and_again_is_incomplete),
        cmocka_unit_test(too_many_places_are_incomplete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
