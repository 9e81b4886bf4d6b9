/* test_json_check.c - the checker: what RFC 8259 accepts, what it rejects, and where the fault is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

/* Checks a copy that ends exactly at the allocation, so that a byte read too far is seen. */
static int check(const char *text, size_t len, unsigned depth_max, struct json_fault *fault)
{
    char *copy = len > 0 ? malloc(len) : NULL;
    int r;

    assert_true(copy != NULL || len == 0);
    if (len > 0) {
        memcpy(copy, text, len);
    }
    r = json_check(copy, len, depth_max, fault);
    free(copy);
    return r;
}

struct sample {
    const char *text;
    size_t len;
    size_t offset; /* of the fault */
};

#define GOOD(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1, 0                                                                  \
    }
#define BAD(offset, text)                                                                          \
    {                                                                                              \
        text, sizeof(text) - 1, offset                                                             \
    }

static const struct sample good_table[] = {
    GOOD("null"),
    GOOD("true"),
    GOOD("false"),
    GOOD("0"),
    GOOD("-0"),
    GOOD("1"),
    GOOD("-1"),
    GOOD("10"),
    GOOD("1234567890123456789012345678901234567890"),
    GOOD("0.5"),
    GOOD("-0.0"),
    GOOD("1.25"),
    GOOD("1e5"),
    GOOD("1E5"),
    GOOD("1e+5"),
    GOOD("1e-5"),
    GOOD("0e0"),
    GOOD("1.5e007"),
    GOOD("1e999999"),
    GOOD("\"\""),
    GOOD("\"a\""),
    GOOD("\"12345678\""),
    GOOD("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
    GOOD("\"\\u0000\\uABCD\\uabcd\\u09aF\""),
    GOOD("\"\\ud800\""),
    GOOD("\"\\udc00\\ud800x\""),
    GOOD("\"\\ud83d\\ude00\""),
    GOOD("\"\x7f\""),
    GOOD("\"gr\xc3\xbc\xc3\x9f\""),
    GOOD("\"\xf0\x9f\x98\x80\""),
    GOOD("\"\xe2\x80\xa8\""),
    GOOD("\"\xef\xbb\xbf\""),
    GOOD("\"\xf4\x8f\xbf\xbf\""),
    GOOD("[]"),
    GOOD("{}"),
    GOOD("[[]]"),
    GOOD("[{}]"),
    GOOD("{\"\":{}}"),
    GOOD("[1,2,3]"),
    GOOD("[1,[2,[3]],{\"a\":[{}]}]"),
    GOOD("{\"a\":1,\"b\":[true,false,null]}"),
    GOOD("{\"a\":1,\"a\":2}"),
    GOOD(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } } \n"),
    GOOD("[ ]"),
    GOOD("{ }"),
    GOOD(" 1 "),
    GOOD("{\"{[,:\":\"]}\"}"),
};

static void accepts_every_form_of_the_grammar(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(good_table) / sizeof(good_table[0]); i++) {
        struct json_fault fault = {0};

        if (check(good_table[i].text, good_table[i].len, 8, &fault) != 0) {
            fail_msg("%s: rejected at %zu: %s", good_table[i].text, fault.offset, fault.why);
        }
    }
}

static const struct sample bad_table[] = {
    /* nothing, or too little, or too much */
    BAD(0, ""),
    BAD(1, " "),
    BAD(1, "["),
    BAD(1, "{"),
    BAD(2, "[1"),
    BAD(3, "[1,"),
    BAD(4, "{\"a\""),
    BAD(5, "{\"a\":"),
    BAD(6, "{\"a\":1"),
    BAD(7, "{\"a\":1,"),
    BAD(2, "[["),
    BAD(3, "[[]"),
    BAD(2, "1 2"),
    BAD(3, "[] []"),
    BAD(2, "{}}"),
    BAD(2, "[]]"),
    BAD(4, "null,"),
    BAD(1, "1,"),
    BAD(2, "\"\"x"),
    BAD(1, "0\0"),
    /* commas, colons and brackets */
    BAD(3, "[1,]"),
    BAD(1, "[,1]"),
    BAD(3, "[1,,2]"),
    BAD(3, "[1 2]"),
    BAD(7, "{\"a\":1,}"),
    BAD(1, "{,}"),
    BAD(4, "{\"a\"}"),
    BAD(5, "{\"a\":}"),
    BAD(4, "{\"a\",1}"),
    BAD(5, "{\"a\" 1}"),
    BAD(5, "{\"a\"::1}"),
    BAD(7, "{\"a\":1 \"b\":2}"),
    BAD(2, "[1}"),
    BAD(6, "{\"a\":1]"),
    BAD(1, "{1:2}"),
    BAD(1, "{a:1}"),
    BAD(1, "{'a':1}"),
    BAD(1, "[}"),
    BAD(1, "{]"),
    BAD(0, "]"),
    BAD(0, "}"),
    BAD(0, ","),
    BAD(0, ":"),
    BAD(4, "[\"a\":1]"),
    BAD(2, "[1:2]"),
    /* words that are none */
    BAD(0, "nul1"),
    BAD(3, "nul"),
    BAD(0, "True"),
    BAD(0, "NULL"),
    BAD(0, "NaN"),
    BAD(0, "Infinity"),
    BAD(1, "-Infinity"),
    BAD(0, "undefined"),
    BAD(4, "truex"),
    BAD(0, "fals0"),
    BAD(0, "nan"),
    BAD(0, "'a'"),
    BAD(0, "`a`"),
    BAD(0, "/* c */ 1"),
    BAD(2, "1 // c"),
    BAD(0, "\xef\xbb\xbf{}"),
    BAD(0, "\xc2\xa0"
           "1"),
    BAD(0, "\f1"),
    BAD(0, "\v1"),
    BAD(0, "\0"),
    /* numbers that are none */
    BAD(0, "01"),
    BAD(1, "-01"),
    BAD(0, "00"),
    BAD(1, "-"),
    BAD(1, "-a"),
    BAD(0, "+1"),
    BAD(0, ".5"),
    BAD(2, "1."),
    BAD(2, "1.e5"),
    BAD(2, "1e"),
    BAD(3, "1e+"),
    BAD(2, "1ex"),
    BAD(3, "1.5.5"),
    BAD(1, "1_000"),
    BAD(1, "0x10"),
    BAD(1, "1n"),
    BAD(1, "--1"),
    BAD(3, "1e5.5"),
    BAD(3, "1e5e5"),
    BAD(1, "1a"),
    BAD(3, "[1.]"),
    BAD(2, "[-]"),
    BAD(3, "[1e]"),
    /* strings that are none */
    BAD(1, "\""),
    BAD(4, "\"abc"),
    BAD(9, "\"12345678"),
    BAD(1, "\"\n\""),
    BAD(2, "\"a\tb\""),
    BAD(1, "\"\0\""),
    BAD(9, "\"12345678\x1f\""),
    BAD(2, "\"\\"),
    BAD(2, "\"\\x41\""),
    BAD(2, "\"\\a\""),
    BAD(2, "\"\\'\""),
    BAD(2, "\"\\0\""),
    BAD(2, "\"\\U0041\""),
    BAD(3, "\"\\u"),
    BAD(3, "\"\\u\""),
    BAD(6, "\"\\u123\""),
    BAD(4, "\"\\u1g34\""),
    BAD(3, "\"\\u-123\""),
    BAD(3, "\"\\u{41}\""),
    BAD(2, "\"\\\n\""),
    BAD(2, "\"\\\0\""),
    BAD(2, "\"\\\xc3\xbc\""),
    BAD(3, "\"\\\""),
    /* bytes that are not UTF-8 */
    BAD(1, "\"\xff\""),
    BAD(1, "\"\x80\""),
    BAD(1, "\"\xc0\x80\""),
    BAD(1, "\"\xc3\""),
    BAD(1, "\"\xed\xa0\x80\""),
    BAD(1, "\"\xe0\x80\x80\""),
    BAD(1, "\"\xf5\x80\x80\x80\""),
    BAD(1, "\"\xf4\x90\x80\x80\""),
    BAD(9, "\"12345678\xe2\x82\""),
    BAD(0, "\xff"),
    BAD(2, "{\"\xfe\":1}"),
};

static void rejects_everything_else_at_the_right_byte(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad_table) / sizeof(bad_table[0]); i++) {
        const struct sample *s = &bad_table[i];
        struct json_fault fault = {0};

        assert_int_equal(check(s->text, s->len, 8, NULL), VIAL_E_INVALID);
        assert_int_equal(check(s->text, s->len, 8, &fault), VIAL_E_INVALID);
        if (fault.offset != s->offset) {
            fail_msg("%s: at %zu instead of %zu: %s", s->text, fault.offset, s->offset, fault.why);
        }
        assert_non_null(fault.why);
        assert_true(fault.line == 1 || memchr(s->text, '\n', s->len) != NULL);
    }
}

static void a_text_that_ends_early_says_so(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad_table) / sizeof(bad_table[0]); i++) {
        const struct sample *s = &bad_table[i];
        struct json_fault fault = {0};

        assert_int_equal(check(s->text, s->len, 8, &fault), VIAL_E_INVALID);
        assert_int_equal(strcmp(fault.why, "the text ends too early") == 0, s->offset == s->len);
    }
}

static void no_text_at_all_is_not_json(void **state)
{
    struct json_fault fault = {0};

    (void)state;
    assert_int_equal(json_check(NULL, 0, 8, &fault), VIAL_E_INVALID);
    assert_int_equal(fault.offset, 0);
    assert_int_equal(fault.line, 1);
    assert_int_equal(fault.column, 1);
}

static void tells_line_and_column_in_characters(void **state)
{
    static const char text[] = "{\r\n  \"a\": 1,\n  \"gr\xc3\xbc\xc3\x9f\": nope\n}";
    struct json_fault fault = {0};

    (void)state;
    assert_int_equal(check(text, sizeof(text) - 1, 8, &fault), VIAL_E_INVALID);
    assert_int_equal(fault.line, 3);
    assert_int_equal(fault.column, 11);
    assert_memory_equal(text + fault.offset, "nope", 4);
    assert_string_equal(fault.why, "this is no JSON value");
}

static void every_byte_value_is_judged_at_every_place_of_a_string(void **state)
{
    char text[26];
    unsigned c;
    size_t at;

    (void)state;
    for (c = 0; c < 256; c++) {
        int good = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';

        for (at = 1; at + 2 < sizeof(text); at++) {
            struct json_fault fault = {0};
            int r;

            memset(text, 'x', sizeof(text)); /* \x is no escape, and "..."x has more after it */
            text[0] = text[sizeof(text) - 1] = '"';
            text[at] = (char)c;
            r = check(text, sizeof(text), 0, &fault);
            assert_int_equal(r, good ? 0 : VIAL_E_INVALID);
            if (!good) {
                assert_int_equal(fault.offset, at + (c == '"' || c == '\\'));
            }
        }
    }
}

static void counts_the_depth_of_containers(void **state)
{
    struct json_fault fault = {0};

    (void)state;
    assert_int_equal(check("1", 1, 0, NULL), 0);
    assert_int_equal(check("[]", 2, 0, &fault), VIAL_E_INVALID);
    assert_string_equal(fault.why, "the text nests too deeply");
    assert_int_equal(check("[[],[],{}]", 10, 2, NULL), 0);
    assert_int_equal(check("[[],[[]]]", 9, 2, &fault), VIAL_E_INVALID);
    assert_int_equal(fault.offset, 5);
}

/* depth containers, each an object when bit i % 13 of pattern says so, and then the same back. */
static size_t make_nest(char *text, unsigned depth, unsigned pattern, int wrong)
{
    size_t len = 0;
    unsigned i;

    for (i = 0; i < depth; i++) {
        if ((pattern >> i % 13 & 1) != 0) {
            memcpy(text + len, "{\"\":", 4);
            len += 4;
        } else {
            text[len++] = '[';
        }
    }
    text[len++] = '1';
    for (i = depth; i > 0; i--) {
        int is_object = (int)(pattern >> (i - 1) % 13 & 1);

        if (wrong == (int)i) {
            is_object = !is_object;
        }
        text[len++] = is_object ? '}' : ']';
    }
    return len;
}

static void remembers_the_kind_of_every_open_container(void **state)
{
    char *text = malloc((size_t)JSON_CHECK_DEPTH_MAX * 5 + 16);
    unsigned depth;
    size_t len;

    (void)state;
    assert_non_null(text);
    for (depth = 1; depth <= JSON_CHECK_DEPTH_MAX; depth = depth * 2 + (depth < 60 ? 1 : 0)) {
        len = make_nest(text, depth, 0x1a5b, 0);
        assert_int_equal(check(text, len, depth, NULL), 0);
        assert_int_equal(check(text, len, depth - 1, NULL), VIAL_E_INVALID);
        len = make_nest(text, depth, 0x1a5b, (int)depth / 2 + 1);
        assert_int_equal(check(text, len, depth, NULL), VIAL_E_INVALID);
    }
    len = make_nest(text, JSON_CHECK_DEPTH_MAX, 0x1a5b, 0);
    assert_int_equal(check(text, len, JSON_CHECK_DEPTH_MAX, NULL), 0);
    len = make_nest(text, JSON_CHECK_DEPTH_MAX, 0x1a5b, 1);
    assert_int_equal(check(text, len, JSON_CHECK_DEPTH_MAX, NULL), VIAL_E_INVALID);
    free(text);
}

static void every_prefix_of_a_document_ends_too_early(void **state)
{
    static const char text[] =
        "{\"a\":[1,-2.5e3,\"x\\u00e4\\n\xc3\xa4\"],\"b\":{\"c\":null,\"d\":true}}";
    size_t len;

    (void)state;
    assert_int_equal(check(text, sizeof(text) - 1, 8, NULL), 0);
    for (len = 0; len < sizeof(text) - 1; len++) {
        struct json_fault fault = {0};

        assert_int_equal(check(text, len, 8, &fault), VIAL_E_INVALID);
        /* A sequence that is cut is a fault of its bytes, not of the end. */
        assert_true(fault.offset == len || (unsigned char)text[fault.offset] >= 0x80);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_every_form_of_the_grammar),
        cmocka_unit_test(rejects_everything_else_at_the_right_byte),
        cmocka_unit_test(a_text_that_ends_early_says_so),
        cmocka_unit_test(no_text_at_all_is_not_json),
        cmocka_unit_test(tells_line_and_column_in_characters),
        cmocka_unit_test(every_byte_value_is_judged_at_every_place_of_a_string),
        cmocka_unit_test(counts_the_depth_of_containers),
        cmocka_unit_test(remembers_the_kind_of_every_open_container),
        cmocka_unit_test(every_prefix_of_a_document_ends_too_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
