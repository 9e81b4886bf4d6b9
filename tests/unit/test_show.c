/* test_show.c - values in messages are short and cannot move a cursor. */
#include "schema/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

static void texts_are_quoted_and_escaped(void **state)
{
    struct show s;

    (void)state;
    assert_string_equal(show_text(&s, "a", 1), "\"a\"");
    assert_string_equal(show_text(&s, "", 0), "\"\"");
    assert_string_equal(show_text(&s, "a\"\\b", 4), "\"a\\\"\\\\b\"");
    assert_string_equal(show_text(&s, "\x1b[2J\n\0", 6), "\"\\u001b[2J\\u000a\\u0000\"");
    assert_string_equal(show_text(&s, "\xc2\x9b\xc3\xa4", 4), "\"\\u009b\xc3\xa4\"");
    assert_string_equal(show_text(&s, "\xff", 1), "\"\xef\xbf\xbd\"");
}

static void long_texts_are_cut_between_characters(void **state)
{
    char text[1000];
    struct show s;
    size_t i, from;

    (void)state;
    for (from = 0; from < 4; from++) {
        memset(text, 'a', from);
        for (i = from; i + 4 <= sizeof(text); i += 4) {
            memcpy(text + i, "\xf0\x9f\x98\x80", 4);
        }
        (void)show_text(&s, text, i);
        assert_true(utf8_valid(s.text, strlen(s.text), NULL));
        assert_true(strlen(s.text) < sizeof(s.text));
        assert_string_equal(s.text + strlen(s.text) - 4, "...\"");
    }
}

static void values_are_shown_as_json_has_them(void **state)
{
    static const char text[] =
        "[null,true,-1.50,\"x\",{},123456789012345678901234567890123456789012345]";
    static const char *const rows[] = {
        "null", "true", "-1.50", "\"x\"", "an object", "123456789012345678901234567890123456..."};
    struct tree t;
    struct show s;
    uint32_t i, k = 0;

    (void)state;
    assert_int_equal(tree_read(&t, text, strlen(text), NULL), 0);
    for (i = tree_first(0); i != tree_end(&t, 0); i = tree_next(&t, i)) {
        assert_string_equal(show_value(&s, &t.values[i]), rows[k++]);
    }
    assert_string_equal(show_kind(&t.values[0]), "an array");
    tree_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_quoted_and_escaped),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(values_are_shown_as_json_has_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
