/* test_pattern.c - regular expressions of ECMA-262: what they match, what is refused, and that none
 * of them can stop the host. */
#include "schema/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int match(const char *text, const char *subject)
{
    struct pattern_work work = {.us = 0};
    struct pattern *pattern = NULL;
    struct vial_error err;
    int r;

    if (pattern_new(text, strlen(text), &pattern, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    r = pattern_match(pattern, subject, strlen(subject), &work, &err);
    pattern_work_release(&work);
    pattern_free(pattern);
    return r;
}

static void patterns_match_as_in_javascript(void **state)
{
    static const char *const rows[][2] = {{"", ""}, {"a", "xax"}, {"^a$", "a"}, {"^\\d+$", "0129"},
        {"^\\w$", "_"}, {"\\s", "\xc2\xa0"}, {"\\s", "\xe2\x80\xa8"}, {"^[\\s\\S]$", "\n"},
        {"^[^\\S]$", "\xe3\x80\x80"}, {"^.$", "\xf0\x9f\x98\x80"}, {"^\\u00e4$", "\xc3\xa4"},
        {"^\\u{1F600}$", "\xf0\x9f\x98\x80"}, {"^\\ud83d\\ude00$", "\xf0\x9f\x98\x80"},
        {"^\\x41$", "A"}, {"^\\cA$", "\x01"}, {"^\\v$", "\v"}, {"^\\/\\-\\_\\@$", "/-_@"},
        {"^[\\w-.]+$", "a-b.c"}, {"^[\\w.-]+$", "a-b.c"}, {"^[-a]$", "-"}, {"^[[:a]+$", "[:a"},
        {"^[a-c-]$", "-"}, {"^(?<y>\\d)\\k<y>$", "11"}, {"^(a)\\1$", "aa"}, {"^a{2,3}$", "aaa"},
        {"^a{,3}$", "a{,3}"}, {"^{}$", "{}"}, {"^\\p{L}+$", "\xc3\xa4x"},
        {"^\\p{Letter}$", "\xc3\xa4"}, {"^\\p{Script=Greek}$", "\xce\xb1"}, {"^\\P{Lu}$", "a"},
        {"(?=b)b", "ab"}, {"(?<=a)b", "ab"}, {"(?<!x)b", "ab"}, {"^[^]$", "\n"},
        {"^\\bfoo\\b", "foo bar"}, {"^[\\b]$", "\b"}, {"^a+?$", "aaa"}, {"^[\\]^]+$", "]^"},
        {"^\\.\\*\\+$", ".*+"}, {"#", "a#b"}, {"a b", "a b"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (match(rows[i][0], rows[i][1]) != 1) {
            fail_msg("%s does not match %s", rows[i][0], rows[i][1]);
        }
    }
}

static void patterns_match_nothing_else_than_in_javascript(void **state)
{
    static const char *const rows[][2] = {{"^a$", "a\n"}, {"^a$", "b\na"}, {"\\d", "\xd9\xa1"},
        {"\\w", "\xc3\xa4"}, {"^.$", "\n"}, {"^.$", "\r"}, {"^.$", "\xe2\x80\xa8"}, {"[]", "a"},
        {"^\\S$", "\xc2\xa0"}, {"^[\\w-.]$", ","}, {"a", "A"}, {"^[^\\s]$", "\xef\xbb\xbf"},
        {"\\v", "\n"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (match(rows[i][0], rows[i][1]) != 0) {
            fail_msg("%s matches %s", rows[i][0], rows[i][1]);
        }
    }
}

static void what_is_no_expression_is_refused(void **state)
{
    static const char *const rows[] = {"(", ")", "[a", "*", "a**", "a++", "a{2}{3}", "a{3,2}", "\\",
        "(?i)a", "(?P<n>a)", "(?>a)", "(?R)", "(*UTF)a", "(?#x)", "\\A", "a\\Z", "\\Qa\\E", "\\h",
        "\\C", "\\R", "\\K", "\\u{110000}", "\\u12", "\\ud800", "\\p{Nonsense}", "\\p", "\\k",
        "\\k<x>", "\\2(a)", "[\\1]", "[b-a]", "\xff", "((((a))"};
    struct pattern *pattern = NULL;
    struct vial_error err;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        err.text[0] = '\0';
        if (pattern_new(rows[i], strlen(rows[i]), &pattern, &err) != VIAL_E_INVALID) {
            fail_msg("%s is taken", rows[i]);
        }
        assert_true(strlen(err.text) > 10);
        assert_null(pattern);
    }
}

static void lengths_are_bounded(void **state)
{
    char *text = malloc(PATTERN_BYTES_MAX + 2);
    struct pattern *pattern = NULL;

    (void)state;
    memset(text, 'a', PATTERN_BYTES_MAX + 1);
    assert_int_equal(pattern_new(text, PATTERN_BYTES_MAX, &pattern, NULL), 0);
    pattern_free(pattern);
    assert_int_equal(pattern_new(text, PATTERN_BYTES_MAX + 1, &pattern, NULL), VIAL_E_INVALID);
    free(text);
}

/* Without the limits of PCRE2 this takes longer than anybody waits. */
static void backtracking_is_bounded(void **state)
{
    char subject[64];

    (void)state;
    memset(subject, 'a', sizeof(subject));
    /* 200,000 steps, which PCRE2 would do by itself, and far more than it would */
    assert_int_equal(match("^(a+)+$", "aaaaaaaaaaaaaaaaaa!"), VIAL_E_INVALID);
    subject[62] = '!';
    subject[63] = '\0';
    assert_int_equal(match("^(a+)+$", subject), VIAL_E_INVALID);
    assert_int_equal(match("^(a|aa)+$", subject), VIAL_E_INVALID);
    assert_int_equal(match("^(.*a){20}$", subject), VIAL_E_INVALID);
}

/* Each turn of the outer group keeps all the others; 50,000 turns would take 400 MB. */
static void memory_is_bounded(void **state)
{
    enum { GROUPS = 500, TURNS = 50000 };
    char *pattern = malloc((size_t)GROUPS * 2 + 16), *subject = malloc(TURNS + 1);
    size_t i;

    (void)state;
    for (i = 0; i < GROUPS; i++) {
        memcpy(pattern + i * 2, "()", 2);
    }
    memcpy(pattern + i * 2, "(?:a|b)*c$", 11);
    memset(subject, 'a', TURNS);
    memcpy(subject + TURNS - 2, "c!", 3);
    assert_int_equal(match(pattern, subject), VIAL_E_INVALID);
    free(pattern);
    free(subject);
}

static void long_texts_match_patterns_that_are_harmless(void **state)
{
    enum { BYTES = 1024 * 1024 };
    char *subject = malloc(BYTES + 1);

    (void)state;
    memset(subject, 'A', BYTES);
    subject[BYTES] = '\0';
    assert_int_equal(
        match("^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", subject), 1);
    assert_int_equal(match("^[^<>]+$", subject), 1);
    subject[BYTES - 1] = '<';
    assert_int_equal(match("^[^<>]+$", subject), 0);
    free(subject);
}

static void many_slow_matches_are_bounded_together(void **state)
{
    static const char text[] = "^(a+)+$";
    struct pattern_work work = {.us = 0};
    struct pattern *pattern = NULL;
    int i, r = 0;

    (void)state;
    assert_int_equal(pattern_new(text, strlen(text), &pattern, NULL), 0);
    for (i = 0; i < 1000 * 1000 && r >= 0; i++) {
        r = pattern_match(pattern, "aaaaaaaaaaaa!", 13, &work, NULL); /* 4,000 steps */
    }
    assert_int_equal(r, VIAL_E_INVALID);
    pattern_work_release(&work);
    pattern_free(pattern);
}

static void half_a_surrogate_pair_matches_nothing(void **state)
{
    (void)state;
    assert_int_equal(match("^[\\s\\S]*$", "\xed\xa0\xbd"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_javascript),
        cmocka_unit_test(patterns_match_nothing_else_than_in_javascript),
        cmocka_unit_test(what_is_no_expression_is_refused),
        cmocka_unit_test(lengths_are_bounded),
        cmocka_unit_test(backtracking_is_bounded),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(long_texts_match_patterns_that_are_harmless),
        cmocka_unit_test(many_slow_matches_are_bounded_together),
        cmocka_unit_test(half_a_surrogate_pair_matches_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
