/* test_script.c - what script.c wraps, what it leaves alone, and where positions end up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/script.h"

#define HEAD "(async function vial_main(){"
#define TAIL "\n})()"
#define HEAD_LEN ((uint32_t)sizeof(HEAD) - 1)

/* Larger than any source here; the deep ones are below 1 MiB. */
enum { OUT_MAX = 4 << 20 };

static struct rewrite rewrite;
static const struct edit *edits;
static size_t edit_count;

/* Wraps source into rewrite; what script_wrap says. */
static int wrap(const char *source, int *ret_wrapped, struct vial_error *err)
{
    int r;

    rewrite_release(&rewrite);
    rewrite_init(&rewrite, OUT_MAX);
    r = script_wrap(source, strlen(source), &rewrite, ret_wrapped, err);
    edits = (const struct edit *)(const void *)rewrite.edits.data;
    edit_count = rewrite_edit_count(&rewrite);
    return r;
}

/* Wraps source and checks the whole text; body is what stands between head and tail. */
static void assert_wraps(const char *source, const char *body)
{
    struct vial_error err = {0};
    char *text;
    int wrapped = -1;

    assert_int_equal(wrap(source, &wrapped, &err), 0);
    assert_int_equal(wrapped, 1);
    text = malloc(strlen(body) + sizeof(HEAD TAIL));
    assert_non_null(text);
    memcpy(text, HEAD, HEAD_LEN);
    memcpy(text + HEAD_LEN, body, strlen(body));
    memcpy(text + HEAD_LEN + strlen(body), TAIL, sizeof(TAIL));
    assert_string_equal(rewrite.text.data, text);
    free(text);
}

static void assert_leaves(const char *source)
{
    struct vial_error err = {0};
    int wrapped = -1;

    assert_int_equal(wrap(source, &wrapped, &err), 0);
    assert_int_equal(wrapped, 0);
    assert_int_equal(rewrite.text.len, 0);
    assert_int_equal(edit_count, 0); /* so that positions stay as they are */
}

static void assert_edit(size_t index, uint32_t line, uint32_t column, uint32_t len)
{
    assert_true(index < edit_count);
    assert_int_equal(edits[index].line, line);
    assert_int_equal(edits[index].column, column);
    assert_int_equal(edits[index].len, len);
}

static void assert_maps(uint32_t line, uint32_t column, uint32_t to_line, uint32_t to_column)
{
    script_map_back(&rewrite, &line, &column);
    assert_int_equal(line, to_line);
    assert_int_equal(column, to_column);
}

/* times copies of text; the caller frees. */
static char *repeated(const char *before, const char *text, size_t times, const char *after)
{
    size_t n = strlen(text);
    char *all = malloc(strlen(before) + n * times + strlen(after) + 1);
    char *p = all;

    assert_non_null(all);
    memcpy(p, before, strlen(before));
    p += strlen(before);
    for (size_t i = 0; i < times; i++, p += n) {
        memcpy(p, text, n);
    }
    memcpy(p, after, strlen(after) + 1);
    return all;
}

static void a_source_without_the_words_needs_no_parsing(void **state)
{
    (void)state;
    assert_int_equal(script_may_need_wrap("let x = 1; x", 12), 0);
    assert_int_equal(script_may_need_wrap("", 0), 0);
    assert_int_equal(script_may_need_wrap(NULL, 0), 0);
    assert_int_equal(script_may_need_wrap("await", 4), 0);
    assert_int_equal(script_may_need_wrap("await", 5), 1);
    assert_int_equal(script_may_need_wrap("x return", 8), 1);
}

static void a_top_level_await_is_wrapped_and_its_value_returned(void **state)
{
    (void)state;
    assert_wraps("await f()", "return await f()");
    assert_wraps("const x = await f();\nx + 1;", "const x = await f();\nreturn x + 1;");
    assert_wraps("await (f())", "return await (f())");
    assert_wraps("let {a = await f()} = b", "let {a = await f()} = b");
}

static void a_top_level_return_is_wrapped(void **state)
{
    (void)state;
    assert_wraps("return 1", "return 1");
    assert_wraps("if (a) { return 1 }\nb", "if (a) { return 1 }\nreturn b");
    assert_wraps("for (;;) { return }", "for (;;) { return }");
}

static void await_in_functions_only_is_left_alone(void **state)
{
    (void)state;
    assert_leaves("async function f() { await g(); return 1 }\nf()");
    assert_leaves("const f = async () => await g(); f()");
    assert_leaves("const f = async function () { for await (const x of y) {} }");
    assert_leaves("async function* f() { yield await 1 }");
    assert_leaves("const f = async function* () { await 1 }");
    assert_leaves("const o = {async m() { await 1 }, get x() { return 1 }}");
    assert_leaves("(async () => { await 1 })()");
    assert_leaves("function f(a = () => { return 1 }) { return a }");
}

static void members_of_classes_count_as_functions(void **state)
{
    (void)state;
    assert_leaves("class A { static { await 1 } }");
    assert_leaves("class A { x = await 1; static y = await 2 }");
    assert_leaves("class A { async m() { await 1 } static get x() { return 1 } }");
    assert_leaves("class A { ['k'] = await 1; ['m'](a = await 1) { return 1 } }");
}

static void what_a_class_evaluates_at_once_is_outside_of_functions(void **state)
{
    (void)state;
    assert_wraps("class A extends (await f()) {}", "class A extends (await f()) {}");
    assert_wraps("class A { [await k]() {} }", "class A { [await k]() {} }");
    assert_wraps("class A { [await k] = 1 }", "class A { [await k] = 1 }");
    assert_wraps("x = {async [await k]() {}}", "return x = {async [await k]() {}}");
    assert_leaves("class A { m() { class B { [await k]() {} } } }");
}

/* The engine takes these as they are: in a script, await is a name like others. */
static void await_as_a_name_is_left_alone(void **state)
{
    (void)state;
    assert_leaves("var await = 1");
    assert_leaves("x.await; x.return; ({await: 1, return: 2, await() {}, return() {}})");
    assert_leaves("class A { await() {} return() {} }");
}

static void an_empty_source_and_words_in_text_are_left_alone(void **state)
{
    (void)state;
    assert_leaves("");
    assert_leaves("\n\n");
    assert_leaves("'await f()'; \"return 1\"");
    assert_leaves("// await f()\n/* return */ 1");
    assert_leaves("/await return/.test(x)");
    assert_leaves("`await ${x} return`");
    assert_wraps("`await ${await x}`", "return `await ${await x}`");
}

static void both_branches_of_an_if_give_the_value(void **state)
{
    (void)state;
    assert_wraps("await 1; if (a) b; else c", "await 1; if (a) return b; else return c");
    assert_wraps("await 1; if (a) { b } else if (c) { d } else /* e */ { f; g }",
        "await 1; if (a) { return b } else if (c) { return d } else /* e */ { f; return g }");
    assert_int_equal(edit_count, 4);
    assert_wraps("await 1; if (a) { b }", "await 1; if (a) { return b }");
}

static void try_and_catch_give_the_value_but_not_finally(void **state)
{
    (void)state;
    assert_wraps("try { await a } catch (e) { e.message } finally { done() }",
        "try { return await a } catch (e) { return e.message } finally { done() }");
    assert_wraps("try { await a } finally { b }", "try { return await a } finally { b }");
    assert_wraps("try { await a } catch { }", "try { return await a } catch { }");
}

static void blocks_and_labels_are_followed_inwards(void **state)
{
    (void)state;
    assert_wraps("await 1; { a; { b } }", "await 1; { a; { return b } }");
    assert_wraps("await 1; x: { a }", "await 1; x: { return a }");
    assert_wraps("await 1; x: y: a", "await 1; x: y: return a");
}

static void loops_and_declarations_give_no_value(void **state)
{
    (void)state;
    assert_wraps("await 1; for (;;) { a }", "await 1; for (;;) { a }");
    assert_wraps("await 1; while (a) b", "await 1; while (a) b");
    assert_wraps("a; let b = await 1", "a; let b = await 1");
    assert_wraps("switch (await 1) { case 1: a }", "switch (await 1) { case 1: a }");
    assert_wraps("await 1; throw a", "await 1; throw a");
}

static void for_await_is_wrapped(void **state)
{
    (void)state;
    assert_wraps("for await (const x of y) { f(x) }", "for await (const x of y) { f(x) }");
    assert_wraps(
        "let n = 0;\nfor await (x of y) n++;\nn", "let n = 0;\nfor await (x of y) n++;\nreturn n");
}

static void what_trails_the_last_statement_is_skipped(void **state)
{
    (void)state;
    assert_wraps("await a // why", "return await a // why");
    assert_wraps("await a\n/* x */\n;;\n// y\n", "return await a\n/* x */\n;;\n// y\n");
    assert_wraps("await f()\nasync function f() { return 1 }\nfunction* g() {}",
        "return await f()\nasync function f() { return 1 }\nfunction* g() {}");
}

/* A class exists only once it was reached, so a return in front would take it away. */
static void a_class_at_the_end_is_not_skipped(void **state)
{
    (void)state;
    assert_wraps("await a; class A {}", "await a; class A {}");
}

static void lines_without_semicolons_are_statements(void **state)
{
    (void)state;
    assert_wraps("const a = await f()\nlog(a)\na.b\n", "const a = await f()\nlog(a)\nreturn a.b\n");
    assert_wraps("await a\n[0].b", "return await a\n[0].b");
    assert_wraps("await a\n;[0].b", "await a\n;return [0].b");
}

static void any_start_of_an_expression_can_be_returned(void **state)
{
    (void)state;
    assert_wraps("await 1; (a, b)", "await 1; return (a, b)");
    assert_wraps("await 1; ({a: 1})", "await 1; return ({a: 1})");
    assert_wraps("await 1; /x/g", "await 1; return /x/g");
    assert_wraps("await 1; `x`", "await 1; return `x`");
    assert_wraps("await 1; a, b", "await 1; return a, b");
    assert_wraps("await 1; x => {}", "await 1; return x => {}");
}

static void a_block_that_looks_like_an_object_stays_a_block(void **state)
{
    (void)state;
    assert_wraps("await 1; {a: 1}", "await 1; {a: 1}");
    assert_wraps("await 1; {a: 1, b: 2}", "await 1; {a: 1, b: 2}");
}

static void directives_stay_first(void **state)
{
    (void)state;
    assert_wraps("'use strict'; await a", "'use strict'; return await a");
    assert_wraps("// x\n\"use strict\"\nawait a", "// x\n\"use strict\"\nreturn await a");
}

static void a_hashbang_becomes_a_comment(void **state)
{
    (void)state;
    assert_wraps("#!/usr/bin/env node\nawait a", "///usr/bin/env node\nreturn await a");
    assert_edit(1, 2, 1, 7);
    assert_wraps("#!x await\rawait a", "//x await\rreturn await a");
    assert_leaves("#!await 1");
    assert_leaves("#!");
}

static void lines_are_counted_as_the_engine_counts_them(void **state)
{
    (void)state;
    assert_wraps("await a\r\nb\r\nc", "await a\r\nb\r\nreturn c");
    assert_edit(1, 3, 1, 7);
    assert_int_equal(rewrite.line_count, 3);
    assert_wraps("await a;\rb", "await a;\rreturn b");
    assert_edit(1, 2, 1, 7);
    assert_wraps(
        "/*\xe2\x80\xa8\xe2\x80\xa9*/await b", "/*\xe2\x80\xa8\xe2\x80\xa9*/return await b");
    assert_edit(1, 3, 3, 7);
}

static void columns_are_counted_in_utf16(void **state)
{
    (void)state;
    /* One unit for a letter of two or three bytes, two for one of four. */
    assert_wraps("await 1; '\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'; x",
        "await 1; '\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'; return x");
    assert_edit(0, 1, 1, HEAD_LEN);
    assert_edit(1, 1, HEAD_LEN + 18, 7);
    assert_maps(1, HEAD_LEN + 18 + 7, 1, 18);
}

static void a_byte_order_mark_is_a_space(void **state)
{
    (void)state;
    assert_wraps("\xef\xbb\xbf;await a", "\xef\xbb\xbf;return await a");
    assert_edit(1, 1, HEAD_LEN + 3, 7);
}

static void positions_are_mapped_back(void **state)
{
    (void)state;
    assert_wraps("await 1; if (a) b; else c\nd: e", "await 1; if (a) b; else c\nd: return e");
    assert_maps(1, 1, 1, 1);
    assert_maps(1, 10, 1, 1);
    assert_maps(1, HEAD_LEN + 1, 1, 1);
    assert_maps(1, HEAD_LEN + 17, 1, 17);
    assert_maps(2, 1, 2, 1);
    assert_maps(2, 4, 2, 4);
    assert_maps(2, 8, 2, 4);
    assert_maps(2, 11, 2, 4);
    assert_maps(2, 12, 2, 5);
    assert_maps(3, 2, 2, 5);
}

static void several_insertions_in_a_line_add_up(void **state)
{
    (void)state;
    assert_wraps("await 1; if (a) b; else c", "await 1; if (a) return b; else return c");
    assert_edit(1, 1, HEAD_LEN + 17, 7);
    assert_edit(2, 1, HEAD_LEN + 32, 7);
    assert_maps(1, HEAD_LEN + 39, 1, 25);
}

static void syntax_errors_are_left_to_the_engine(void **state)
{
    (void)state;
    assert_wraps("await f(); let = = 3", "await f(); let = = 3");
    assert_wraps("if (x) { return 1", "if (x) { return 1");
    assert_wraps("await (1", "await (1");
    assert_wraps("await `${", "await `${");
    assert_wraps("await using x = f()", "await using x = f()");
    assert_leaves("function f( { return 1 }}}");
}

static void a_return_is_inserted_at_most_so_often(void **state)
{
    char *source = repeated("await 1;", "if(a)b;else ", 2000, "c");
    int wrapped = 0;

    (void)state;
    assert_int_equal(wrap(source, &wrapped, NULL), 0);
    assert_int_equal(wrapped, 1);
    assert_int_equal(edit_count, SCRIPT_EDITS_MAX);
    assert_int_equal(rewrite.text.len,
        strlen(source) + HEAD_LEN + sizeof(TAIL) - 1 + (size_t)7 * (SCRIPT_EDITS_MAX - 1));
    free(source);
}

static void deep_nesting_that_is_closed_is_followed_to_the_value(void **state)
{
    char *opened = repeated("await 1;", "{", 15000, "x");
    char *source = repeated(opened, "}", 15000, "");
    int wrapped = 0;

    (void)state;
    assert_int_equal(wrap(source, &wrapped, NULL), 0);
    assert_int_equal(wrapped, 1);
    assert_int_equal(edit_count, 2);
    assert_edit(1, 1, HEAD_LEN + 8 + 15000 + 1, 7);
    free(opened);
    free(source);
}

/* import() is for the tree, which has a maximum. */
static void a_script_over_a_maximum_is_refused_with_a_reason(void **state)
{
    char *source = repeated("await import('a'), [", "1,", CODE_TOKENS_MAX, "]");
    struct vial_error err = {0};
    int wrapped = 7;

    (void)state;
    assert_int_equal(wrap(source, &wrapped, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "1000000 words"));
    assert_int_equal(wrapped, 7);
    assert_int_equal(rewrite.text.len, 0);
    free(source);
}

static void a_script_of_a_megabyte_is_wrapped(void **state)
{
    char *source = repeated("let n = await 0;\n", "n = f(n, 1);\n", 70000, "n");
    int wrapped = 0;

    (void)state;
    assert_int_equal(wrap(source, &wrapped, NULL), 0);
    assert_int_equal(wrapped, 1);
    assert_edit(1, 70002, 1, 7);
    free(source);
}

static void a_full_buffer_is_an_error_that_changes_nothing(void **state)
{
    struct rewrite full;
    struct vial_error err = {0};
    int wrapped = 7;

    (void)state;
    rewrite_init(&full, HEAD_LEN + 21);
    assert_int_equal(buf_add_text(&full.text, "x;", NULL), 0);
    assert_int_equal(script_wrap("await 12", 8, &full, &wrapped, &err), VIAL_E_NOMEM);
    assert_int_equal(wrapped, 7);
    assert_string_equal(full.text.data, "x;");
    assert_int_equal(script_wrap("await 12", 7, &full, &wrapped, &err), 0);
    assert_string_equal(full.text.data, "x;" HEAD "return await 1" TAIL);
    rewrite_release(&full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_without_the_words_needs_no_parsing),
        cmocka_unit_test(a_top_level_await_is_wrapped_and_its_value_returned),
        cmocka_unit_test(a_top_level_return_is_wrapped),
        cmocka_unit_test(await_in_functions_only_is_left_alone),
        cmocka_unit_test(members_of_classes_count_as_functions),
        cmocka_unit_test(what_a_class_evaluates_at_once_is_outside_of_functions),
        cmocka_unit_test(await_as_a_name_is_left_alone),
        cmocka_unit_test(an_empty_source_and_words_in_text_are_left_alone),
        cmocka_unit_test(both_branches_of_an_if_give_the_value),
        cmocka_unit_test(try_and_catch_give_the_value_but_not_finally),
        cmocka_unit_test(blocks_and_labels_are_followed_inwards),
        cmocka_unit_test(loops_and_declarations_give_no_value),
        cmocka_unit_test(for_await_is_wrapped),
        cmocka_unit_test(what_trails_the_last_statement_is_skipped),
        cmocka_unit_test(a_class_at_the_end_is_not_skipped),
        cmocka_unit_test(lines_without_semicolons_are_statements),
        cmocka_unit_test(any_start_of_an_expression_can_be_returned),
        cmocka_unit_test(a_block_that_looks_like_an_object_stays_a_block),
        cmocka_unit_test(directives_stay_first),
        cmocka_unit_test(a_hashbang_becomes_a_comment),
        cmocka_unit_test(lines_are_counted_as_the_engine_counts_them),
        cmocka_unit_test(columns_are_counted_in_utf16),
        cmocka_unit_test(a_byte_order_mark_is_a_space),
        cmocka_unit_test(positions_are_mapped_back),
        cmocka_unit_test(several_insertions_in_a_line_add_up),
        cmocka_unit_test(syntax_errors_are_left_to_the_engine),
        cmocka_unit_test(a_return_is_inserted_at_most_so_often),
        cmocka_unit_test(deep_nesting_that_is_closed_is_followed_to_the_value),
        cmocka_unit_test(a_script_over_a_maximum_is_refused_with_a_reason),
        cmocka_unit_test(a_script_of_a_megabyte_is_wrapped),
        cmocka_unit_test(a_full_buffer_is_an_error_that_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
