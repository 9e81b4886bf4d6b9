/* test_scanner_condition.c - each condition of a rule, where it holds and where it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "code/parse.h"
#include "code/scanner.h"

#define HEAD "; id: a\n; severity: warn\n; languages: javascript\n; message: m\n; advice: a\n"

static int (*imports)(const char *name, size_t len, void *user);

/* How often the pattern is found in a source. */
static size_t count_of(const char *pattern, const char *text)
{
    static struct findings found;
    struct scanner_source source = {.name = "main.js",
        .name_len = 7,
        .text = text,
        .len = strlen(text),
        .language = SCANNER_JAVASCRIPT,
        .may_import = imports};
    struct scanner *s = scanner_new(tree_sitter_javascript(), SCANNER_JAVASCRIPT);
    struct vial_error err = {0};
    TSTree *tree = NULL;
    char rules[1024];

    (void)snprintf(rules, sizeof(rules), HEAD "%s", pattern);
    if (scanner_add(s, "t", rules, strlen(rules), &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(code_parse(tree_sitter_javascript(), text, strlen(text), &tree, NULL), 0);
    memset(&found, 0, sizeof(found));
    scanner_scan(s, ts_tree_root_node(tree), &source, &found);
    ts_tree_delete(tree);
    scanner_free(s);
    return found.count;
}

static void texts_are_compared(void **state)
{
    (void)state;
    assert_int_equal(count_of("((identifier) @finding (#eq? @finding \"a\"))", "a; b; ab"), 1);
    assert_int_equal(count_of("((identifier) @finding (#not-eq? @finding \"a\"))", "a; b; ab"), 2);
    assert_int_equal(
        count_of("((identifier) @finding (#any-of? @finding \"a\" \"b\"))", "a; b; ab"), 2);
    assert_int_equal(
        count_of("((identifier) @finding (#not-any-of? @finding \"a\" \"b\"))", "a; b; ab"), 1);
    assert_int_equal(
        count_of("(assignment_expression left: (_) @l right: (_) @r (#eq? @l @r)) @finding",
            "a = a; b = a; c.d = c.d"),
        2);
}

static void expressions_are_matched(void **state)
{
    (void)state;
    assert_int_equal(
        count_of("((identifier) @finding (#match? @finding \"^a+$\"))", "a; aa; ab"), 2);
    assert_int_equal(
        count_of("((identifier) @finding (#not-match? @finding \"b\"))", "a; aa; ab"), 2);
    assert_int_equal(
        count_of("((string_fragment) @finding (#match? @finding \"x$\"))", "'ax'; 'a'"), 1);
}

static void what_is_inside_is_looked_for(void **state)
{
    static const char lacks[] =
        "((while_statement) @finding (#lacks? @finding \"break_statement\" \"return_statement\"))";
    static const char has[] = "((while_statement) @finding (#has? @finding \"break_statement\"))";

    (void)state;
    assert_int_equal(count_of(lacks, "while (1) { f(); }"), 1);
    assert_int_equal(count_of(lacks, "while (1) { if (a) { break; } }"), 0);
    assert_int_equal(count_of(lacks, "while (1) { f(() => { return 1; }); }"), 1);
    assert_int_equal(count_of(lacks, "while (1) { f(); } if (a) { while (b) { break; } }"), 1);
    assert_int_equal(count_of(has, "while (1) { if (a) { break; } } while (1) ;"), 1);
}

static void what_is_around_is_looked_for(void **state)
{
    static const char inside[] =
        "(call_expression function: (identifier) @finding (#inside? @finding \"try_statement\"))";
    static const char outside[] = "(call_expression function: (identifier) @finding (#not-inside? "
                                  "@finding \"try_statement\"))";
    static const char source[] =
        "f(); try { if (a) { f(); } } catch {} try { x = () => { f(); } } catch {}";

    (void)state;
    assert_int_equal(count_of(inside, source), 1);
    assert_int_equal(count_of(outside, source), 2);
}

static void lengths_and_chance_are_measured(void **state)
{
    (void)state;
    assert_int_equal(
        count_of("((string_fragment) @finding (#min-length? @finding \"3\"))", "'ab'; 'abc'"), 1);
    assert_int_equal(count_of("((string_fragment) @finding (#min-entropy? @finding \"30\"))",
                         "'aaaaaaaaaaaaaaaa'; 'abcdefghijklmnop'; 'abababab'"),
        1);
}

static int only_json(const char *name, size_t len, void *user)
{
    (void)user;
    return len == 4 && memcmp(name, "json", 4) == 0;
}

static void imports_are_asked_for(void **state)
{
    static const char pattern[] = "((string_fragment) @finding (#not-allowed-import? @finding))";

    (void)state;
    imports = NULL;
    assert_int_equal(count_of(pattern, "'json'; 'os'"), 0);
    imports = only_json;
    assert_int_equal(count_of(pattern, "'json'; 'os'"), 1);
    imports = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_compared),
        cmocka_unit_test(expressions_are_matched),
        cmocka_unit_test(what_is_inside_is_looked_for),
        cmocka_unit_test(what_is_around_is_looked_for),
        cmocka_unit_test(lengths_and_chance_are_measured),
        cmocka_unit_test(imports_are_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
