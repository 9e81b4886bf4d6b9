/* test_incomplete.c - which sources are only the beginning of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/incomplete.h"

static void assert_incomplete(const char *source)
{
    if (!session_is_incomplete(source, strlen(source))) {
        fail_msg("taken for complete: %s", source);
    }
}

static void assert_complete(const char *source)
{
    if (session_is_incomplete(source, strlen(source))) {
        fail_msg("taken for incomplete: %s", source);
    }
}

static void open_brackets_want_more(void **state)
{
    (void)state;
    assert_incomplete("(");
    assert_incomplete("f(1,");
    assert_incomplete("[1, 2\n");
    assert_incomplete("{");
    assert_incomplete("const o = {a: [1, {b: 2}]\n");
    assert_incomplete("function f() {\n  return 1\n");
    assert_incomplete("`a ${b(`c ${d");
    assert_complete("({a: [1, {b: 2}]})");
    assert_complete("function f() { return 1 }");
    assert_complete("");
    assert_complete(" \n\t // nothing");
}

static void templates_strings_and_comments_go_on(void **state)
{
    (void)state;
    assert_incomplete("`a");
    assert_incomplete("`a ${b} c\n");
    assert_incomplete("/* a");
    assert_incomplete("1 /* a *");
    assert_incomplete("'a\\");
    assert_incomplete("'a\\\n");
    assert_incomplete("\"a\\\r\n");
    assert_complete("`a ${b} c ${`d ${e}`}`");
    assert_complete("`\\``");
    assert_complete("/* a */ 1 // (");
    assert_complete("'a\\\nb'");
    assert_complete("'(' + \"[\" + '\\'{'");
}

static void what_is_wrong_wants_no_more(void **state)
{
    (void)state;
    assert_complete("'a");
    assert_complete("'a\n");
    assert_complete(")");
    assert_complete("(]");
    assert_complete("(1}");
    assert_complete("f(1))(");
    assert_complete("x = /a\n(");
    assert_complete("try {}\nfoo(");
}

static void operators_want_an_operand(void **state)
{
    static const char *const operators[] = {"a +", "a -", "a *", "a **", "a /", "a %",
        "a =", "a +=", "a => ", "a.", "a?.", "a ?", "a ? b :", "a,", "a &&", "a ||", "a \?\?",
        "a <", "a >", "a >= ", "a ==", "a ===", "a !=", "a & ", "a |", "a ^", "a <<", "a >> ", "!",
        "~", "-", "++", "a\n+ // and", "x = async () =>"};

    (void)state;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        assert_incomplete(operators[i]);
    }
    assert_complete("a++");
    assert_complete("a--\n");
    assert_complete("1.");
    assert_complete("x = 1.e+5");
    assert_complete("a;");
    assert_complete("a\n/b/\ng");
}

static void words_want_what_belongs_to_them(void **state)
{
    static const char *const words[] = {"new", "x = typeof", "await", "a in", "a instanceof",
        "throw", "const", "let", "var", "export", "export default", "if", "if (a)",
        "if (a) b; else", "for (;;)", "for (const a of b)", "for await (const a of b)", "while (a)",
        "do", "do {}", "do a(); while", "try", "try {}", "try {} catch", "try {} catch (e)",
        "try {} finally", "switch (a)", "function", "function f", "function f()",
        "async function* f(a, b)", "class", "class A", "class A extends B",
        "x = class extends f({})", "import", "import a", "import {a}", "import * as a",
        "import a, {b} from", "export * ", "export * from", "enum A"};

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        assert_incomplete(words[i]);
    }
}

static void whole_statements_are_complete(void **state)
{
    static const char *const sources[] = {"if (a) b", "if (a) {} else {}", "if (a) b; else c",
        "for (;;) {}", "do a(); while (b)", "do {} while (b)\n", "while (a) b()", "try {} catch {}",
        "try {} catch (e) {} finally {}", "switch (a) { case 1: b; default: }", "class A {}",
        "class A { m() { if (a) {} } static x = 1 }", "x = class extends B {}",
        "async function* f(a, {b} = {}) {}", "(function () {})()", "const f = function () {}",
        "const f = async (a) => { await a }", "import a from 'a'", "import 'a'", "import('a')",
        "import.meta.url", "export {a}", "export * from 'a'", "export {a} from 'a'",
        "export default {}", "return", "break", "await (a)", "a.class", "a.new.if", "a.catch(b)",
        "p.then(a).finally(b)", "({function: 1, class: 2, new: 3}); f()", "x = {if: 1}\nf()",
        "label: for (;;) { break label }", "async", "of", "from", "#!/usr/bin/env node\n1",
        "@d class A {}", "a ? b : c", "x = y\n(z)"};

    (void)state;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        assert_complete(sources[i]);
    }
}

static void slashes_are_told_apart(void **state)
{
    (void)state;
    assert_complete("x = /[/(]/g");
    assert_complete("if (a) /(/.test(b)");
    assert_complete("return /(/");
    assert_complete("a / b / c");
    assert_complete("(a) / b");
    assert_complete("a[0] / b");
    assert_complete("({}) / 2");
    assert_complete("f(() => { /(/ })");
    assert_complete("{}\n/(/.test(a)");
    assert_incomplete("a / (b");
    assert_incomplete("x = /a/ +");
}

static void types_are_not_operators(void **state)
{
    (void)state;
    assert_complete("let a: Array<number>");
    assert_complete("const m = new Map<string, Array<number>>()");
    assert_complete("let m: Map<string, Array<number>>");
    assert_complete("a!");
    assert_complete("type F = (a: number) => void");
    assert_complete("let f: () => void");
    assert_complete("interface A { a: number }");
    assert_incomplete("function f(a: number): void");
    assert_incomplete("interface A {");
    assert_incomplete("type A =");
}

static void no_input_does_harm(void **state)
{
    char deep[4 * INCOMPLETE_NESTING_MAX];
    char *piece;

    (void)state;
    memset(deep, '(', sizeof(deep));
    assert_int_equal(session_is_incomplete(deep, INCOMPLETE_NESTING_MAX), 1);
    assert_int_equal(session_is_incomplete(deep, sizeof(deep)), 0);
    assert_int_equal(session_is_incomplete("\0(", 2), 1);
    assert_int_equal(session_is_incomplete("\xff\xfe(", 3), 1);
    for (int c = 0; c < 256; c++) { /* at the end of what was allocated, for the sanitizers */
        for (int d = 0; d < 256; d++) {
            piece = malloc(2);
            assert_non_null(piece);
            piece[0] = (char)c;
            piece[1] = (char)d;
            (void)session_is_incomplete(piece, 2);
            (void)session_is_incomplete(piece + 1, 1);
            free(piece);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_brackets_want_more),
        cmocka_unit_test(templates_strings_and_comments_go_on),
        cmocka_unit_test(what_is_wrong_wants_no_more),
        cmocka_unit_test(operators_want_an_operand),
        cmocka_unit_test(words_want_what_belongs_to_them),
        cmocka_unit_test(whole_statements_are_complete),
        cmocka_unit_test(slashes_are_told_apart),
        cmocka_unit_test(types_are_not_operators),
        cmocka_unit_test(no_input_does_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
