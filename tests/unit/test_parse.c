/* test_parse.c - reading source stays within its limits, whatever the source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/parse.h"

static int parse(const char *source, size_t len, TSTree **ret, struct vial_error *err)
{
    return code_parse(tree_sitter_javascript(), source, len, ret, err);
}

/* times copies of text; the caller frees. */
static char *repeated(const char *before, const char *text, size_t times, const char *after)
{
    size_t n = strlen(text);
    size_t start = strlen(before);
    char *all = malloc(start + n * times + strlen(after) + 1);

    assert_non_null(all);
    memcpy(all, before, start);
    for (size_t i = 0; i < times; i++) {
        memcpy(all + start + i * n, text, n);
    }
    memcpy(all + start + n * times, after, strlen(after) + 1);
    return all;
}

static void kinds_are_told_apart(void **state)
{
    static const char source[] = "import 'a'; f(class {});";
    TSTree *tree = NULL;
    TSNode root, call;

    (void)state;
    assert_int_equal(parse(source, sizeof(source) - 1, &tree, NULL), 0);
    root = ts_tree_root_node(tree);
    assert_int_equal(node_kind(root), KIND_LIST);
    assert_int_equal(node_kind(ts_node_child(root, 0)), KIND_IMPORT);
    call = ts_node_child(ts_node_child(root, 1), 0);
    assert_int_equal(node_kind(call), KIND_CALL);
    assert_int_equal(node_kind(ts_node_named_child(node_child(call, "arguments"), 0)), KIND_CLASS);
    assert_true(ts_node_is_null(node_child(call, "name")));
    ts_tree_delete(tree);
}

static void a_hashbang_is_not_read(void **state)
{
    char *source = repeated("#!", "(", 200, "\na");
    TSTree *tree = NULL;
    TSNode root;

    (void)state;
    assert_int_equal(code_hashbang_len(source, strlen(source)), 202);
    assert_int_equal(code_hashbang_len("#!a\rb", 5), 3);
    assert_int_equal(code_hashbang_len("#!a\xe2\x80\xa9 b", 8), 3);
    assert_int_equal(code_hashbang_len("#!a\xe2\x80", 5), 5);
    assert_int_equal(code_hashbang_len("# !a", 4), 0);
    assert_int_equal(code_hashbang_len("#", 1), 0);
    assert_int_equal(parse(source, strlen(source), &tree, NULL), 0);
    root = ts_tree_root_node(tree);
    assert_false(ts_node_has_error(root));
    assert_int_equal(ts_node_start_byte(ts_node_child(root, 0)), 203);
    ts_tree_delete(tree);
    free(source);
}

/* Whatever is nested, to the deepest that is read and beyond, ended and not. */
static void deep_nesting_neither_crashes_nor_hangs(void **state)
{
    static const char *const opens[] = {"(", "[", "{", "`${", "{a:", "(()=>{", "if(a)",
        "a?b:", "class A{[", "!", "a:{", "({a,", "([a]=", "async(", "x=>", "new ", "a=", "<a>", "}",
        ")"};
    static const size_t times[] = {1000, CODE_NESTING_MAX, 40000};
    struct vial_error err;
    TSTree *tree;

    (void)state;
    for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]) * 3; i++) {
        const char *open = opens[i / 3];
        char *source = repeated("await 1;", open, times[i % 3], "");
        int opens_one = strpbrk(open, "([{") != NULL && strpbrk(open, ")]}") == NULL;
        int r = parse(source, strlen(source), &tree, &err);

        assert_true(r == VIAL_OK || r == VIAL_E_INVALID);
        assert_int_equal(r == VIAL_OK && opens_one && times[i % 3] == 40000, 0);
        if (r == VIAL_OK) {
            ts_tree_delete(tree);
        }
        free(source);
    }
}

/* 16 bits do not count these. */
static void a_node_may_have_many_children(void **state)
{
    static const char *const units[] = {"1,", "a;", "!", ") "};

    (void)state;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        char *source = repeated("", units[i], 200000, "");
        TSTree *tree = NULL;

        assert_int_equal(parse(source, strlen(source), &tree, NULL), 0);
        assert_int_equal(ts_node_end_byte(ts_tree_root_node(tree)) >= 200000, 1);
        ts_tree_delete(tree);
        free(source);
    }
}

static void too_many_tokens_are_refused_with_a_reason(void **state)
{
    static const char *const units[] = {"1,", "1n", "a b ", "\xc2\xa0x", "\x80\xc3\xa9"};

    (void)state;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        char *source = repeated("[", units[i], CODE_TOKENS_MAX, "]");
        struct vial_error err = {0};
        TSTree *tree = NULL;

        assert_int_equal(parse(source, strlen(source), &tree, &err), VIAL_E_INVALID);
        assert_non_null(strstr(err.text, "words and signs"));
        assert_null(tree);
        free(source);
    }
}

static void too_many_open_brackets_are_refused_with_a_reason(void **state)
{
    char *source = repeated("", "[", CODE_NESTING_MAX + 1, "");
    struct vial_error err = {0};
    TSTree *tree = NULL;

    (void)state;
    assert_int_equal(parse(source, strlen(source), &tree, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "open brackets"));
    free(source);
    source = repeated("", "[];(1);{}\n", CODE_NESTING_MAX + 1, "");
    assert_int_equal(parse(source, strlen(source), &tree, &err), 0);
    ts_tree_delete(tree);
    free(source);
}

static void what_takes_too_long_is_refused_with_a_reason(void **state)
{
    char *source = repeated("", "\"a", 100000, "");
    struct vial_error err = {0};
    TSTree *tree = NULL;

    (void)state;
    assert_int_equal(parse(source, strlen(source), &tree, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "ms"));
    free(source);
}

static void long_text_is_few_tokens(void **state)
{
    char *source = repeated("'", "\xd0\xb6\xe4\xb8\xad_a", 2000000, "'");
    TSTree *tree = NULL;

    (void)state;
    assert_int_equal(parse(source, strlen(source), &tree, NULL), 0);
    ts_tree_delete(tree);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_told_apart),
        cmocka_unit_test(a_hashbang_is_not_read),
        cmocka_unit_test(deep_nesting_neither_crashes_nor_hangs),
        cmocka_unit_test(a_node_may_have_many_children),
        cmocka_unit_test(too_many_tokens_are_refused_with_a_reason),
        cmocka_unit_test(too_many_open_brackets_are_refused_with_a_reason),
        cmocka_unit_test(what_takes_too_long_is_refused_with_a_reason),
        cmocka_unit_test(long_text_is_few_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
