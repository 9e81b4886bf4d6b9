/* test_session_walk.c - what a walk over a source finds, and what it passes over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/session_walk.h"

static const char *source;
static char found[4096];

static void add(const char *what, TSNode node)
{
    size_t used = strlen(found);
    uint32_t at = ts_node_start_byte(node);

    (void)snprintf(found + used, sizeof(found) - used, "%s%s%.*s", used > 0 ? " " : "", what,
        (int)(ts_node_end_byte(node) - at), source + at);
}

static void see_var(TSNode node, enum var_place place, void *user)
{
    static const char *const places[] = {"list:", "alone:", "for:", "loop:"};

    (void)user;
    if (place == VAR_IN_FOR_IN) {
        add(places[place], node_child(node, "left"));
    } else {
        add(places[place], node_child(ts_node_named_child(node, 0), "name"));
    }
}

static void see_target(TSNode node, void *user)
{
    (void)user;
    add("=", node);
}

static void see_binding(TSNode node, void *user)
{
    (void)user;
    add("", node);
}

static void see_unknown(void *user)
{
    (void)user;
    assert_true(strlen(found) + 2 < sizeof(found));
    (void)strncat(found, "?", 2);
}

static void assert_finds(const char *text, const char *expected)
{
    static const struct session_walk_ops ops = {.see_var = see_var,
        .see_target = see_target,
        .see_binding = see_binding,
        .see_unknown = see_unknown};
    TSTree *tree = NULL;

    source = text;
    found[0] = '\0';
    assert_int_equal(code_parse(tree_sitter_javascript(), text, strlen(text), &tree, NULL), 0);
    assert_int_equal(
        session_walk(ts_tree_root_node(tree), text, strlen(text), &ops, NULL, NULL), 0);
    ts_tree_delete(tree);
    if (strcmp(found, expected) != 0) {
        fail_msg("%s\n    has %s\n    and not %s", text, found, expected);
    }
}

static void every_way_to_declare_a_name_is_found(void **state)
{
    (void)state;
    assert_finds("const a = 1, {b, c: [d], ...e} = f", "a b d e");
    assert_finds("function f(a, {b}, [c], ...d) {}", "f a b c d");
    assert_finds("x => y; (async (z) => {})", "x z");
    assert_finds("class A { m(a) {} }; (class B {}); (function c() {})", "A a B c");
    assert_finds("try {} catch (e) {} try {} catch ({f}) {}", "e f");
    assert_finds("for (const a of b) ; for (let [c] in d) ;", "a c");
}

static void default_values_and_keys_declare_nothing(void **state)
{
    (void)state;
    assert_finds("const {a = b, [c]: d = e} = f", "a d");
    assert_finds("(a = b) => c", "a");
    assert_finds("export {a, b as c}; import d from 'd'", "");
}

static void every_way_to_assign_is_found(void **state)
{
    (void)state;
    assert_finds("a = 1; b += 1; c++; --d; e ||= 1; (f) = 1", "=a =b =c =d =e =f");
    assert_finds("[a, {b, c: d, ...e}, ...f] = g", "=a =b =d =e =f");
    assert_finds("for (a of b) ; for ([c] in d) ;", "=a =c");
    assert_finds("function f() { a = 1 }", "f =a");
}

static void members_of_objects_are_no_names(void **state)
{
    (void)state;
    assert_finds("a.b = 1; c[d] = 1; [e.f] = g; h.i++", "");
    assert_finds("[a = b] = c; ({[d]: e} = f)", "=a =e");
}

static void each_var_outside_of_functions_is_found_with_its_place(void **state)
{
    (void)state;
    assert_finds("var a; { var b } switch (0) { case 1: var c; default: var d }",
        "list:a a list:b b list:c c list:d d");
    assert_finds("if (x) var a; else var b; while (x) var c; l: var d",
        "alone:a a alone:b b alone:c c alone:d d");
    assert_finds("for (var a = 0;;) var b; for (var c of d) ; for (var [e] in f) ;",
        "for:a a alone:b b loop:c c loop:[e] e");
    assert_finds("export var a = 1", "list:a a");
    assert_finds("if (x) {} else { var a }", "list:a a");
    assert_finds("function f() { var a } () => { for (var b of c) ; } class A { static { var d } }",
        "f a b A d");
}

static void what_makes_names_uncertain_is_told(void **state)
{
    (void)state;
    assert_finds("eval('x')", "?");
    assert_finds("with (a) {}", "?");
    assert_finds("a.eval('x'); (0, eval)('x')", "");
}

static void deep_trees_are_walked_without_recursion(void **state)
{
    enum { DEPTH = 10000 };
    char *text = malloc((size_t)2 * DEPTH + 2);

    (void)state;
    assert_non_null(text);
    memset(text, '[', DEPTH);
    text[DEPTH] = 'a';
    memset(text + DEPTH + 1, ']', DEPTH);
    text[2 * DEPTH + 1] = '\0';
    assert_finds(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_declare_a_name_is_found),
        cmocka_unit_test(default_values_and_keys_declare_nothing),
        cmocka_unit_test(every_way_to_assign_is_found),
        cmocka_unit_test(members_of_objects_are_no_names),
        cmocka_unit_test(each_var_outside_of_functions_is_found_with_its_place),
        cmocka_unit_test(what_makes_names_uncertain_is_told),
        cmocka_unit_test(deep_trees_are_walked_without_recursion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
