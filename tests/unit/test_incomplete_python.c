/* test_incomplete_python.c - which beginnings of Python want more lines. */
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
    if (!python_is_incomplete(source, strlen(source))) {
        fail_msg("taken for complete: %s", source);
    }
}

static void assert_complete(const char *source)
{
    if (python_is_incomplete(source, strlen(source))) {
        fail_msg("taken for incomplete: %s", source);
    }
}

static void brackets_and_long_strings_go_on(void **state)
{
    (void)state;
    assert_incomplete("f(1,\n");
    assert_incomplete("x = [\n  1,\n");
    assert_incomplete("'''a\n");
    assert_incomplete("x = \"\"\"a\nb\n");
    assert_complete("f(1)\n");
    assert_complete("'''a\nb'''\n");
    assert_complete("'(' + \"[\"  # {\n");
    assert_complete("'a\\'('\n");
}

static void blocks_end_with_an_empty_line(void **state)
{
    (void)state;
    assert_incomplete("def f():\n");
    assert_incomplete("def f():\n    return 1\n");
    assert_incomplete("if x:  # why\n");
    assert_incomplete("@wraps\n");
    assert_incomplete("for i in x:\n    if i:\n        pass\n");
    assert_complete("def f():\n    return 1\n\n");
    assert_incomplete("def f():\n\n");
    assert_complete("x = {1: 2}\n");
    assert_complete("x[1:2]\n");
}

static void a_backslash_joins_lines(void **state)
{
    (void)state;
    assert_incomplete("x = 1 + \\\n");
    assert_complete("x = 1 + \\\n  2\n");
}

static void what_is_wrong_wants_no_more(void **state)
{
    (void)state;
    assert_complete("f)\n");
    assert_complete("'a\n");
    assert_complete("");
    assert_complete("\n");
}

static void assert_anew(int expected, const char *source, const char *line)
{
    if (python_begins_anew(source, strlen(source), line, strlen(line)) != expected) {
        fail_msg("%s after %s", line, source);
    }
}

static void a_line_at_the_margin_ends_a_block(void **state)
{
    static const char BLOCK[] = "if x:\n    y = 1\n";

    (void)state;
    assert_anew(1, BLOCK, "z\n");
    assert_anew(1, BLOCK, "elsewhere = 1\n");
    assert_anew(1, BLOCK, ".branch\n");
    assert_anew(1, "@f\ndef g():\n    pass\n", "g()\n");
    assert_anew(0, BLOCK, "else:\n");
    assert_anew(0, BLOCK, "elif y:\n");
    assert_anew(0, "try:\n    f()\n", "except* E:\n");
    assert_anew(0, "try:\n    f()\n", "finally:\n");
    assert_anew(0, BLOCK, "    z\n");
    assert_anew(0, BLOCK, "# more\n");
    assert_anew(0, BLOCK, "\n");
    assert_anew(0, "@f\n", "def g():\n");
    assert_anew(0, "if x:\n    y = [\n", "1]\n");
    assert_anew(0, "if x:\n    y = '''\n", "z'''\n");
    assert_anew(0, "f(\n", "1)\n");
    assert_anew(0, "", "1\n");
}

static void any_depth_is_survived(void **state)
{
    size_t len = 1000000;
    char *source = malloc(len);

    (void)state;
    assert_non_null(source);
    memset(source, '(', len);
    assert_int_equal(python_is_incomplete(source, len), 1);
    memset(source, ')', len);
    assert_int_equal(python_is_incomplete(source, len), 0);
    memset(source, '"', len);
    (void)python_is_incomplete(source, len);
    memset(source, '\\', len);
    (void)python_is_incomplete(source, len);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brackets_and_long_strings_go_on),
        cmocka_unit_test(blocks_end_with_an_empty_line),
        cmocka_unit_test(a_backslash_joins_lines),
        cmocka_unit_test(what_is_wrong_wants_no_more),
        cmocka_unit_test(a_line_at_the_margin_ends_a_block),
        cmocka_unit_test(any_depth_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
