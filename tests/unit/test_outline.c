/* test_outline.c - what is known of a source without a tree, that it is what the tree says, and
 * what is left to the tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "code/module.h"
#include "code/outline.h"
#include "code/script.h"

enum { TEXT_MAX = 1 << 16 };

/* Known without a tree. */
static const char *const PLAIN[] = {
    "1 + 1",
    "const x = await f(); x",
    "for await (const x of y) { x }",
    "async function f() { await 1; return 2 } f()",
    "const f = async x => await x; f(1)",
    "const f = async (x) => { await x }\nf(1)",
    "class A { x = async () => await 1; async m() { return await 2 } static { f() } }",
    "class A { [await x]() {} }",
    "({ async m() { return await 1 }, get x() { return 1 } })",
    "function f(a = () => { return 1 }) { return a }",
    "if (await a) { b } else if (c) d; else { e; function f() {} }",
    "try { await a; b } catch (e) { c } finally { d }",
    "try { await a } catch { }",
    "await a; while (b) { c }",
    "await a; do { c } while (b)",
    "await a; for (const b of c) d",
    "await a; switch (b) { case 1: c; break; default: d }",
    "await a; x: { b }",
    "await a; b;;; // nothing more",
    "await a; b\nfunction c() { return 1 }",
    "await a; b\nclass C {}",
    "await a; { b; { c } }",
    "await a; 'text'",
    "await a;\n/re[/]+/.test(b)",
    "await a / 2 / 3",
    "await `a${await b}c`; `d`",
    "return 1",
    "if (a) return 1\nb",
    "throw await a",
    "#!/usr/bin/env node\nawait a; b",
    "/* await */ 'await' // return\n",
    "let a = { await: 1, return: 2 }; a.await + a.return",
    "import a from 'b'; a",
    "import a, { b, c as d } from \"e\"\nimport * as f from 'g'\nimport 'h'\na(b, d, f)",
    "import { default as a, } from 'b'\nexport default a + 1",
    "export default await a\n",
    "export default { a: 1 }",
    "export default [() => 1]",
    "import a from 'b'\nexport const c = a, { d, e: [f] } = c\nexport function g() {}",
    "export class H {}",
    "export async function f() { return await 1 }",
    "import {} from 'a'; await 1; 2",
    "import a from 'b'\nimport a from 'c'",
    "import { x as let } from 'b'",
    "import a from '\\x62'",
    "import a from 'b'\nexport const a = 1",
    "import a from 'b'\nreturn a",
};

/* For the tree. */
static const char *const ODD[] = {
    "await",
    "let await = 1",
    "await => 1",
    "async await => 1",
    "(a = await b) => 1",
    "({ await })",
    "yield: 1",
    "let yield = 1; await yield",
    "import('a')",
    "await import.meta.url",
    "{ a: 1 }",
    "await a; { b: 1 }",
    "using a = b",
    "await using a = b",
    "<!-- html\nawait a",
    "await a\n--> html",
    "await a /* never ends",
    "await (a",
    "await a }",
    "let a: number = await b",
    "await a!",
    "f<T>(await a)",
    "export { a }",
    "export * from 'a'",
    "export default () => 1",
    "export default (function () {})",
    "export default function () {}",
    "export default class {}",
    "{ import a from 'b' }",
    "if (a) export default 1",
};

/* For the tree when it is a module. */
static const char *const ODD_STATEMENTS[] = {
    "import a from 'b' with { type: 'json' }",
    "import { 'a b' as c } from 'd'",
    "export const \\u0061 = 1",
};

static int is_known(const char *source)
{
    struct outline outline;
    int known = outline_read(source, strlen(source), &outline);

    outline_release(&outline);
    return known;
}

static void assert_same(const struct buf *a, const struct buf *b)
{
    assert_int_equal(a->len, b->len);
    if (a->len > 0) {
        assert_memory_equal(a->data, b->data, a->len);
    }
}

static void assert_same_script(const char *source)
{
    size_t len = strlen(source);
    struct outline outline;
    struct changes by_outline, by_tree;
    struct rewrite a, b;
    int wraps = -1;

    changes_init(&by_outline, TEXT_MAX);
    changes_init(&by_tree, TEXT_MAX);
    rewrite_init(&a, TEXT_MAX);
    rewrite_init(&b, TEXT_MAX);
    assert_int_equal(outline_read(source, len, &outline), 1);
    outline_change_values(&outline, &by_outline);
    assert_int_equal(script_note_tree(source, len, &by_tree, &wraps, NULL), 0);
    assert_int_equal(wraps, outline.await_at >= 0 || outline.return_at >= 0);
    assert_int_equal(changes_apply(&by_outline, source, len, "", "", &a, NULL), 0);
    assert_int_equal(changes_apply(&by_tree, source, len, "", "", &b, NULL), 0);
    assert_same(&a.text, &b.text);
    outline_release(&outline);
    changes_release(&by_outline);
    changes_release(&by_tree);
    rewrite_release(&a);
    rewrite_release(&b);
}

static void assert_same_module(const char *source, enum module_kind kind, unsigned flags)
{
    size_t len = strlen(source);
    struct module a, b;

    assert_int_equal(module_read(source, len, kind, flags, &a, NULL), 0);
    assert_int_equal(module_read(source, len, kind, flags | MODULE_BY_TREE, &b, NULL), 0);
    assert_int_equal(a.kind, b.kind);
    assert_int_equal(a.is_async, b.is_async);
    assert_int_equal(a.is_wrapped, b.is_wrapped);
    assert_int_equal(a.fault_line, b.fault_line);
    assert_int_equal(a.fault_column, b.fault_column);
    assert_string_equal(a.fault, b.fault);
    assert_same(&a.rewrite.text, &b.rewrite.text);
    assert_same(&a.rewrite.edits, &b.rewrite.edits);
    assert_same(&a.strings, &b.strings);
    assert_same(&a.requests, &b.requests);
    assert_same(&a.imports, &b.imports);
    assert_int_equal(a.exports.len, b.exports.len);
    module_release(&a);
    module_release(&b);
}

static void what_is_plain_is_known_as_the_tree_has_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(PLAIN) / sizeof(PLAIN[0]); i++) {
        if (!is_known(PLAIN[i])) {
            fail_msg("not known: %s", PLAIN[i]);
        }
        assert_same_script(PLAIN[i]);
        assert_same_module(PLAIN[i], MODULE_AUTO, MODULE_MAIN);
        assert_same_module(PLAIN[i], MODULE_AUTO, MODULE_REQUIRED);
        assert_same_module(PLAIN[i], MODULE_ES, MODULE_MAIN);
        assert_same_module(PLAIN[i], MODULE_ES, 0);
        assert_same_module(PLAIN[i], MODULE_SCRIPT, MODULE_NOT_WRAPPED);
    }
}

static void what_is_odd_is_left_to_the_tree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(ODD) / sizeof(ODD[0]); i++) {
        if (is_known(ODD[i])) {
            fail_msg("known: %s", ODD[i]);
        }
    }
    for (size_t i = 0; i < sizeof(ODD_STATEMENTS) / sizeof(ODD_STATEMENTS[0]); i++) {
        assert_same_module(ODD_STATEMENTS[i], MODULE_AUTO, MODULE_MAIN);
    }
}

/* Whether the others may see an export change is for the tree to tell. */
static void exports_of_modules_that_others_import_are_the_trees(void **state)
{
    static const char source[] = "export let a = 1; export const b = 2; a = 3";
    const struct module_export *exports;
    struct module m;

    (void)state;
    assert_int_equal(module_read(source, sizeof(source) - 1, MODULE_ES, 0, &m, NULL), 0);
    assert_int_equal(m.exports.len, 2 * sizeof(*exports));
    exports = (const struct module_export *)(const void *)m.exports.data;
    assert_int_equal(exports[0].may_change, 1);
    assert_int_equal(exports[1].may_change, 0);
    module_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_plain_is_known_as_the_tree_has_it),
        cmocka_unit_test(what_is_odd_is_left_to_the_tree),
        cmocka_unit_test(exports_of_modules_that_others_import_are_the_trees),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
