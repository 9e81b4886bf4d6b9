/* test_literal.c - what string literals and identifiers say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "code/literal.h"

static void escapes_are_decoded(void **state)
{
    static const char *const cases[][2] = {{"", ""}, {"abc", "abc"}, {"a\\nb\\tc", "a\nb\tc"},
        {"\\b\\f\\r\\v", "\b\f\r\v"}, {"\\x41\\u0042\\u{43}", "ABC"},
        {"\\u{1F600}", "\xf0\x9f\x98\x80"}, {"\\uD83D\\uDE00", "\xf0\x9f\x98\x80"},
        {"\\u00fc\\u20ac", "\xc3\xbc\xe2\x82\xac"}, {"\\\\ \\' \\\" \\q", "\\ ' \" q"},
        {"a\\\nb\\\r\nc\\\rd", "abcd"},
        {"a\\\xe2\x80\xa8"
         "b",
            "ab"},
        {"\\\xc3\xbc", "\xc3\xbc"}, {"\xc3\xbc", "\xc3\xbc"}, {"\\u{0000000041}", "A"}};
    struct buf out;

    (void)state;
    buf_init(&out, 100);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buf_clear(&out);
        assert_int_equal(literal_decode(cases[i][0], strlen(cases[i][0]), &out), 0);
        assert_int_equal(out.len, strlen(cases[i][1]));
        assert_memory_equal(out.len > 0 ? out.data : "", cases[i][1], out.len);
    }
    buf_clear(&out);
    assert_int_equal(literal_decode("a\\0b", 4, &out), 0);
    assert_memory_equal(out.data, "a\0b", 3);
    buf_release(&out);
}

static void bad_escapes_are_refused_and_change_nothing(void **state)
{
    static const char *const cases[] = {"\\", "\\x", "\\x4", "\\xg1", "\\u", "\\u12", "\\u{}",
        "\\u{110000}", "\\u{12", "\\uD83D", "\\uD83Dx", "\\uD83D\\u0041", "\\uDE00", "\\01", "\\1",
        "\\9"};
    struct buf out;

    (void)state;
    buf_init(&out, 100);
    assert_int_equal(buf_add_text(&out, "before", NULL), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[32] = "ok";

        (void)strncat(text, cases[i], sizeof(text) - 3);
        assert_int_equal(literal_decode(text, strlen(text), &out), -1);
        assert_int_equal(out.len, 6);
    }
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(bad_escapes_are_refused_and_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
