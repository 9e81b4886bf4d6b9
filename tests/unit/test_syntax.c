/* test_syntax.c - sources of any language are read within their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/parse.h"
#include "code/syntax.h"

static void hidden_bytes_are_not_read(void **state)
{
    static const char source[] = "))) f(1)";
    TSTree *tree = NULL;

    (void)state;
    assert_int_equal(
        syntax_parse(tree_sitter_javascript(), source, sizeof(source) - 1, 3, &tree, NULL), 0);
    assert_false(ts_node_has_error(ts_tree_root_node(tree)));
    ts_tree_delete(tree);
}

static void too_many_brackets_are_refused(void **state)
{
    struct vial_error err = {0};
    TSTree *tree = NULL;
    char *source = malloc(CODE_NESTING_MAX + 1);

    (void)state;
    memset(source, '[', CODE_NESTING_MAX + 1);
    assert_int_equal(
        syntax_parse(tree_sitter_javascript(), source, CODE_NESTING_MAX + 1, 0, &tree, &err),
        VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "too large"));
    free(source);
}

static void a_tree_that_is_kept_is_used_once(void **state)
{
    static const char source[] = "f(1)";
    char copy[sizeof(source)];
    TSTree *tree = NULL, *same = NULL, *other = NULL;

    (void)state;
    memcpy(copy, source, sizeof(source));
    assert_int_equal(code_parse(tree_sitter_javascript(), source, 4, &tree, NULL), 0);
    code_parse_keep(source, 4, tree);
    assert_int_equal(code_parse(tree_sitter_javascript(), "g(1)", 4, &other, NULL), 0);
    assert_ptr_not_equal(other, tree);
    assert_int_equal(code_parse(tree_sitter_javascript(), copy, 4, &same, NULL), 0);
    assert_ptr_equal(same, tree);
    ts_tree_delete(other);
    assert_int_equal(code_parse(tree_sitter_javascript(), copy, 4, &other, NULL), 0);
    assert_ptr_not_equal(other, tree);
    ts_tree_delete(other);
    code_parse_keep(source, 4, same);
    code_parse_forget();
    assert_int_equal(code_parse(tree_sitter_javascript(), copy, 4, &other, NULL), 0);
    ts_tree_delete(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_bytes_are_not_read),
        cmocka_unit_test(too_many_brackets_are_refused),
        cmocka_unit_test(a_tree_that_is_kept_is_used_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
