/* test_scan.c - what one walk over a source finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "code/scan.h"

static struct scan scan;
static struct names names;

static void look(const char *source)
{
    TSTree *tree = NULL;

    assert_int_equal(code_parse(tree_sitter_javascript(), source, strlen(source), &tree, NULL), 0);
    assert_int_equal(
        scan_tree(ts_tree_root_node(tree), source, strlen(source), &names, &scan, NULL), 0);
    ts_tree_delete(tree);
}

static uint32_t flags_of_x(const char *source)
{
    uint32_t flags;

    names_init(&names);
    assert_non_null(names_add(&names, "x", 1));
    look(source);
    flags = names_find(&names, "x", 1)->flags;
    scan_release(&scan);
    names_release(&names);
    return flags;
}

static void names_are_found_again(void **state)
{
    char texts[5000][8];

    (void)state;
    names_init(&names);
    assert_null(names_find(&names, "a", 1));
    for (size_t i = 0; i < 5000; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "n%zu", i);
        names_add(&names, texts[i], strlen(texts[i]))->value = (uint32_t)i;
    }
    assert_int_equal(names.count, 5000);
    for (size_t i = 0; i < 5000; i++) {
        assert_int_equal(names_add(&names, texts[i], strlen(texts[i]))->value, i);
    }
    assert_int_equal(names.count, 5000);
    assert_null(names_find(&names, "n5000", 5));
    names_release(&names);
}

static void assignments_are_found_in_every_form(void **state)
{
    static const char *const yes[] = {"x = 1", "x += 1", "x ||= 1", "x++", "--x", "[x] = y",
        "[a, [x]] = y", "({x} = y)", "({a: x} = y)", "({a: [x = 1]} = y)", "[...x] = y", "(x) = 1",
        "for (x of y);", "for (x in y);", "for ([x] of y);", "function f() { x = 1 }",
        "() => { x++ }", "class A { m() { x = 1 } }", "a = x = 1"};
    static const char *const no[] = {"x", "x.a = 1", "x[0]++", "y = x", "f(x)", "let x = 1",
        "var x", "x === 1", "({x: 1})", "for (const x of y);", "[x.a] = y", "({a: x.b} = y)",
        "x.y.z += x"};

    (void)state;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        if (!(flags_of_x(yes[i]) & NAME_ASSIGNED)) {
            fail_msg("%s", yes[i]);
        }
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        if (flags_of_x(no[i]) & NAME_ASSIGNED) {
            fail_msg("%s", no[i]);
        }
    }
}

static void declarations_outside_of_functions_are_found(void **state)
{
    static const char *const yes[] = {"let x", "const {a: [x]} = y", "var a = 1, x",
        "function x() {}", "class x {}", "async function* x() {}", "{ var x }", "for (var x of y);",
        "export let x"};
    static const char *const no[] = {"x", "function f() { let x }", "(function x() {})",
        "f(x => x)", "class A { x = 1 }", "({x: 1})", "import {x as y} from 'z'",
        "() => { function x() {} }"};

    (void)state;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        if (!(flags_of_x(yes[i]) & NAME_DECLARED)) {
            fail_msg("%s", yes[i]);
        }
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        if (flags_of_x(no[i]) & NAME_DECLARED) {
            fail_msg("%s", no[i]);
        }
    }
}

static void what_may_assign_anything_is_noticed(void **state)
{
    (void)state;
    names_init(&names);
    look("eval('x = 1')");
    assert_int_equal(scan.assigns_anything, 1);
    scan_release(&scan);
    look("\\u0078 = 1");
    assert_int_equal(scan.assigns_anything, 1);
    scan_release(&scan);
    look("a.eval('x'); \\u0078; (0, eval)('x')");
    assert_int_equal(scan.assigns_anything, 0);
    scan_release(&scan);
}

static void keywords_count_outside_of_functions_only(void **state)
{
    (void)state;
    look("f(); await a; return b; yield");
    assert_int_equal(scan.await_at, 5);
    assert_int_equal(scan.return_at, 14);
    scan_release(&scan);
    look("async () => { await a; return b }; function* g() { yield 1 } x.await; class A { await() "
         "{} }");
    assert_int_equal(scan.await_at, NO_OFFSET);
    assert_int_equal(scan.return_at, NO_OFFSET);
    assert_int_equal(scan.yield_at, NO_OFFSET);
    assert_int_equal(scan.await_name_at, NO_OFFSET);
    scan_release(&scan);
    look("var await; yield 1");
    assert_int_equal(scan.await_name_at, 4);
    assert_int_equal(scan.yield_at, 11);
    scan_release(&scan);
}

static void asking_for_modules_is_found_at_any_depth(void **state)
{
    const struct span *spans;

    (void)state;
    look("import('a'); () => { import.meta.url; import ('b') }; x.import('c'); new.target; "
         "'import(1)'; import 'd'");
    assert_int_equal(scan.import_calls.len, 2 * sizeof(*spans));
    spans = (const struct span *)(const void *)scan.import_calls.data;
    assert_int_equal(spans[1].at, 38);
    assert_int_equal(spans[1].end, 44);
    assert_int_equal(scan.metas.len, sizeof(*spans));
    assert_int_equal(scan.bad_import_at, NO_OFFSET);
    scan_release(&scan);
    look("a; import()");
    assert_int_equal(scan.bad_import_at, 3);
    scan_release(&scan);
}

static void calls_of_imported_names_are_found(void **state)
{
    (void)state;
    names_init(&names);
    names_add(&names, "f", 1)->flags = NAME_IMPORTED;
    look("f(1); f`x`; f?.(2); g(f); new f(); x.f()");
    assert_int_equal(scan.named_calls.len, 3 * sizeof(struct span));
    scan_release(&scan);
    names_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_again),
        cmocka_unit_test(assignments_are_found_in_every_form),
        cmocka_unit_test(declarations_outside_of_functions_are_found),
        cmocka_unit_test(what_may_assign_anything_is_noticed),
        cmocka_unit_test(keywords_count_outside_of_functions_only),
        cmocka_unit_test(asking_for_modules_is_found_at_any_depth),
        cmocka_unit_test(calls_of_imported_names_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
