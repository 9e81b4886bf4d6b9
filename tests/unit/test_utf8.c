/* test_utf8.c - what is UTF-8 and what is not, by every code point and by hand. */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Writes the code point as if every number had a form; returns its length. */
static size_t encode(unsigned code_point, char bytes[4])
{
    if (code_point < 0x80) {
        bytes[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        bytes[0] = (char)(0xc0 | code_point >> 6);
        bytes[1] = (char)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        bytes[0] = (char)(0xe0 | code_point >> 12);
        bytes[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
        bytes[2] = (char)(0x80 | (code_point & 0x3f));
        return 3;
    }
    bytes[0] = (char)(0xf0 | code_point >> 18);
    bytes[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
    bytes[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
    bytes[3] = (char)(0x80 | (code_point & 0x3f));
    return 4;
}

static void takes_every_code_point_but_surrogates(void **state)
{
    unsigned code_point;
    char bytes[4];

    (void)state;
    for (code_point = 0; code_point < 0x140000; code_point++) {
        size_t n = encode(code_point, bytes);
        int good = code_point < 0xd800 || (code_point > 0xdfff && code_point < 0x110000);

        assert_int_equal(utf8_valid(bytes, n, NULL), good);
        if (good) {
            assert_int_equal(utf8_sequence(bytes, n), (int)n);
        }
    }
}

struct bad {
    const char *bytes;
    size_t len;
    int n; /* what utf8_sequence says at the first byte */
};

#define BAD(text, count)                                                                           \
    {                                                                                              \
        text, sizeof(text) - 1, count                                                              \
    }

static void counts_the_longest_prefix_of_a_good_sequence(void **state)
{
    static const struct bad table[] = {
        BAD("\x80", -1),             /* a continuation without a lead */
        BAD("\xbf", -1),             /* likewise */
        BAD("\xc0\x80", -1),         /* overlong NUL */
        BAD("\xc1\xbf", -1),         /* overlong */
        BAD("\xc2", -1),             /* cut */
        BAD("\xc2\x41", -1),         /* broken off by ASCII */
        BAD("\xe0\x80\x80", -1),     /* overlong */
        BAD("\xe0\x9f\xbf", -1),     /* overlong */
        BAD("\xe0\xa0", -2),         /* cut */
        BAD("\xe2\x82\x28", -2),     /* broken off */
        BAD("\xed\xa0\x80", -1),     /* the first surrogate */
        BAD("\xed\xbf\xbf", -1),     /* the last surrogate */
        BAD("\xf0\x80\x80\x80", -1), /* overlong */
        BAD("\xf0\x8f\xbf\xbf", -1), /* overlong */
        BAD("\xf0\x90", -2),         /* cut */
        BAD("\xf0\x9f\x98", -3),     /* cut */
        BAD("\xf1\x80\x80\xc0", -3), /* broken off */
        BAD("\xf4\x90\x80\x80", -1), /* U+110000 */
        BAD("\xf5\x80\x80\x80", -1), /* no such lead */
        BAD("\xff", -1),             /* no such byte */
        BAD("\xfe", -1),             /* likewise */
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_int_equal(utf8_sequence(table[i].bytes, table[i].len), table[i].n);
        assert_int_equal(utf8_valid(table[i].bytes, table[i].len, NULL), 0);
    }
}

static void finds_the_first_bad_byte_at_every_offset(void **state)
{
    char text[40];
    size_t at;
    size_t bad;

    (void)state;
    for (at = 0; at < sizeof(text); at++) {
        memset(text, 'a', sizeof(text));
        text[at] = '\xff';
        bad = 99;
        assert_int_equal(utf8_valid(text, sizeof(text), &bad), 0);
        assert_int_equal(bad, at);
        assert_int_equal(utf8_valid(text, at, &bad), 1);
        assert_int_equal(bad, at);
    }
}

static void a_sequence_may_straddle_any_word(void **state)
{
    char text[40];
    size_t at;

    (void)state;
    for (at = 0; at + 4 <= sizeof(text); at++) {
        size_t bad = 99;

        memset(text, 'a', sizeof(text));
        memcpy(text + at, "\xf0\x9f\x98\x80", 4);
        assert_int_equal(utf8_valid(text, sizeof(text), NULL), 1);
        assert_int_equal(utf8_valid(text, at + 3, &bad), 0);
        assert_int_equal(bad, at);
    }
}

static void nothing_is_valid(void **state)
{
    (void)state;
    assert_int_equal(utf8_valid("", 0, NULL), 1);
    assert_int_equal(utf8_valid(NULL, 0, NULL), 1);
    assert_int_equal(utf8_valid("\0\0", 2, NULL), 1);
}

static void a_plain_run_ends_at_each_byte_that_is_not_plain(void **state)
{
    char text[24];
    unsigned c;
    size_t at;

    (void)state;
    for (c = 0; c < 256; c++) {
        int plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';

        for (at = 0; at < sizeof(text); at++) {
            memset(text, '~', sizeof(text));
            text[at] = (char)c;
            assert_int_equal(utf8_plain_run(text, text + sizeof(text)), plain ? sizeof(text) : at);
            /* Whatever stands behind the first stop must not hide it. */
            memset(text + at, (int)c, sizeof(text) - at);
            assert_int_equal(utf8_plain_run(text, text + sizeof(text)), plain ? sizeof(text) : at);
        }
    }
    assert_int_equal(utf8_plain_run(text, text), 0);
}

static void what_is_written_is_read_again(void **state)
{
    char bytes[4];
    uint32_t c;
    size_t n;

    (void)state;
    for (c = 0; c < 0x110000; c++) {
        n = utf8_put(bytes, c);
        if (c < 0xd800 || c > 0xdfff) {
            assert_int_equal(utf8_sequence(bytes, n), (int)n);
        }
        assert_int_equal(utf8_is_ascii(bytes, n), c < 0x80);
    }
}

static void one_byte_above_ascii_is_seen_at_every_offset(void **state)
{
    char text[40];
    size_t i;

    (void)state;
    memset(text, 'x', sizeof(text));
    assert_int_equal(utf8_is_ascii(text, sizeof(text)), 1);
    assert_int_equal(utf8_is_ascii(text, 0), 1);
    for (i = 0; i < sizeof(text); i++) {
        text[i] = (char)0x80;
        assert_int_equal(utf8_is_ascii(text, sizeof(text)), 0);
        assert_int_equal(utf8_is_ascii(text, i), 1);
        text[i] = 'x';
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_every_code_point_but_surrogates),
        cmocka_unit_test(counts_the_longest_prefix_of_a_good_sequence),
        cmocka_unit_test(finds_the_first_bad_byte_at_every_offset),
        cmocka_unit_test(a_sequence_may_straddle_any_word),
        cmocka_unit_test(nothing_is_valid),
        cmocka_unit_test(a_plain_run_ends_at_each_byte_that_is_not_plain),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(one_byte_above_ascii_is_seen_at_every_offset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
