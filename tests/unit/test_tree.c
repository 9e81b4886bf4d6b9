/* test_tree.c - JSON as a row of values: how it lies, what is refused, pointers and canonical
 * bytes.
 */
#include "schema/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void the_values_lie_in_the_order_of_the_text(void **state)
{
    static const char text[] = " {\"a\" : [1, -2.5e3 , []], \"b\":{\"c\":null},\"d\":true} ";
    struct tree t;
    uint32_t a;

    (void)state;
    assert_int_equal(tree_read(&t, text, strlen(text), NULL), 0);
    assert_int_equal(t.count, 12);
    assert_int_equal(t.values[0].kind, TREE_OBJECT);
    assert_int_equal(t.values[0].count, 3);
    assert_int_equal(t.values[0].next, 12);
    a = tree_member(&t, 0, "a");
    assert_int_equal(t.values[a].kind, TREE_ARRAY);
    assert_int_equal(t.values[a].count, 3);
    assert_int_equal(t.values[a].len, strlen("[1, -2.5e3 , []]"));
    assert_int_equal(t.values[tree_first(a)].len, 1);
    assert_int_equal(t.values[tree_next(&t, tree_first(a))].len, strlen("-2.5e3"));
    assert_int_equal(t.values[tree_member(&t, 0, "d")].kind, TREE_TRUE);
    assert_int_equal(tree_member(&t, 0, "x"), 0);
    assert_int_equal(tree_member(&t, a, "x"), 0);
    assert_true(t.strings == NULL); /* nothing was copied */
    tree_release(&t);
}

static void escapes_are_decoded(void **state)
{
    static const char text[] = "[\"a\\n\\u00e4\\ud83d\\ude00\", \"\\/\\\\\\\"\", \"\\ud83dx\", "
                               "\"\\u0000b\", \"\xc3\xa4\"]";
    static const struct {
        const char *bytes;
        size_t len;
    } rows[] = {{"a\n\xc3\xa4\xf0\x9f\x98\x80", 8}, {"/\\\"", 3}, {"\xed\xa0\xbdx", 4}, {"\0b", 2},
        {"\xc3\xa4", 2}};
    struct tree t;
    uint32_t i;

    (void)state;
    assert_int_equal(tree_read(&t, text, strlen(text), NULL), 0);
    for (i = 0; i < 5; i++) {
        assert_int_equal(t.values[i + 1].len, rows[i].len);
        assert_memory_equal(t.values[i + 1].text, rows[i].bytes, rows[i].len);
    }
    tree_release(&t);
}

static void what_is_no_json_or_has_a_name_twice_is_refused(void **state)
{
    static const char *const rows[] = {"", "{", "[1,]", "nul", "01", "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"\\u0061\":2}", "{\"b\":{\"a\":1,\"c\":1,\"a\":1}}", "\"\xff\"", "1 2"};
    struct vial_error err;
    struct tree t;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        err.text[0] = '\0';
        assert_int_equal(tree_read(&t, rows[i], strlen(rows[i]), &err), VIAL_E_INVALID);
        assert_true(strlen(err.text) > 10);
    }
}

/* Many names are sorted to be compared; a pair is found wherever it is. */
static void a_name_is_found_twice_among_many(void **state)
{
    enum { COUNT = 5000 };
    char *text = malloc((size_t)COUNT * 16);
    struct tree t;
    size_t len = 0;
    int i;

    (void)state;
    text[len++] = '{';
    for (i = 0; i < COUNT; i++) {
        len += (size_t)sprintf(text + len, "\"n%d\":%d,", i, i);
    }
    memcpy(text + len - 1, "}", 2);
    assert_int_equal(tree_read(&t, text, len, NULL), 0);
    assert_int_equal(t.values[0].count, COUNT);
    tree_release(&t);
    memcpy(text + len - 1, ",\"n7\":0}", 8);
    assert_int_equal(tree_read(&t, text, len + 7, NULL), VIAL_E_INVALID);
    free(text);
}

static void depth_is_bounded(void **state)
{
    char text[2 * TREE_DEPTH_MAX + 2];
    struct tree t;

    (void)state;
    memset(text, '[', TREE_DEPTH_MAX);
    memset(text + TREE_DEPTH_MAX, ']', TREE_DEPTH_MAX);
    assert_int_equal(tree_read(&t, text, (size_t)2 * TREE_DEPTH_MAX, NULL), 0);
    tree_release(&t);
    memset(text, '[', TREE_DEPTH_MAX + 1);
    memset(text + TREE_DEPTH_MAX + 1, ']', TREE_DEPTH_MAX + 1);
    assert_int_equal(tree_read(&t, text, sizeof(text), NULL), VIAL_E_INVALID);
}

static void pointers_lead_there_and_back(void **state)
{
    static const char text[] = "{\"a\":[10,{\"b/c\":1,\"~\":2}],\"\":{\"0\":3}}";
    static const char *const rows[] = {
        "", "/a", "/a/0", "/a/1", "/a/1/b~1c", "/a/1/~0", "/", "//0"};
    static const char *const nowhere[] = {"/b", "/a/2", "/a/01", "/a/-", "a", "/a/0/x", "/a/1/b"};
    struct tree t;
    struct buf out;
    uint32_t at;
    size_t i;

    (void)state;
    assert_int_equal(tree_read(&t, text, strlen(text), NULL), 0);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        at = tree_pointer(&t, rows[i], strlen(rows[i]));
        assert_int_not_equal(at, UINT32_MAX);
        buf_init(&out, 100);
        assert_int_equal(tree_path(&t, at, &out, NULL), 0);
        assert_int_equal(out.len, strlen(rows[i]));
        if (out.len > 0) {
            assert_string_equal(out.data, rows[i]);
        }
        buf_release(&out);
    }
    for (i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
        assert_int_equal(tree_pointer(&t, nowhere[i], strlen(nowhere[i])), UINT32_MAX);
    }
    tree_release(&t);
}

static int same(const char *a, const char *b)
{
    struct buf x, y;
    struct tree t;
    int result;

    buf_init(&x, 10000);
    buf_init(&y, 10000);
    assert_int_equal(tree_read(&t, a, strlen(a), NULL), 0);
    assert_int_equal(tree_canonical(&t, 0, &x, NULL), 0);
    tree_release(&t);
    assert_int_equal(tree_read(&t, b, strlen(b), NULL), 0);
    assert_int_equal(tree_canonical(&t, 0, &y, NULL), 0);
    tree_release(&t);
    result = x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
    buf_release(&x);
    buf_release(&y);
    return result;
}

static void equal_values_have_equal_bytes(void **state)
{
    (void)state;
    assert_true(same("{\"a\":1,\"b\":[true,null]}", "{ \"b\" : [ true , null ], \"a\":1.0 }"));
    assert_true(same("[100, -0]", "[1e2, 0]"));
    assert_true(same("\"a\"", "\"\\u0061\""));
    assert_false(same("1", "\"1\""));
    assert_false(same("[1,[2]]", "[[1],2]"));
    assert_false(same("{\"a\":1}", "[\"a\",1]"));
    assert_false(same("9007199254740993", "9007199254740992"));
    assert_false(same("false", "0"));
    assert_false(same("[\"ab\",\"c\"]", "[\"a\",\"bc\"]"));
    assert_false(same("12", "1.2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_values_lie_in_the_order_of_the_text),
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(what_is_no_json_or_has_a_name_twice_is_refused),
        cmocka_unit_test(a_name_is_found_twice_among_many),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(pointers_lead_there_and_back),
        cmocka_unit_test(equal_values_have_equal_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
