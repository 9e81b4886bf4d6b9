/* test_tool_answer.c - what guests are told about a tool: always clean text, always in bounds. */
#include "host/tool_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

static void a_failure_has_a_name_and_a_sentence(void **state)
{
    struct tool_failure f;

    (void)state;
    tool_failure_init(&f);
    assert_int_equal(tool_failure_set(&f, TOOL_ERROR_HTTP, "status %d", 404), TOOL_FAILED);
    tool_failure_detail(&f, "at %s", "home");
    assert_string_equal(f.name, "HttpError");
    assert_string_equal(f.message, "status 404");
    assert_string_equal(f.detail, "at home");
    assert_int_equal(buf_add_text(&f.fields, "{}", NULL), 0);
    tool_failure_clear(&f);
    assert_string_equal(f.name, "");
    assert_string_equal(f.message, "");
    assert_string_equal(f.detail, "");
    assert_int_equal(f.fields.len, 0);
    tool_failure_release(&f);
}

static void bad_bytes_and_control_characters_are_replaced(void **state)
{
    struct tool_failure f;

    (void)state;
    tool_failure_init(&f);
    (void)tool_failure_set(&f, "X", "%s", "a\x1b[31m\nb\xff\xc3\xa4\xe2\x82\x7f");
    assert_string_equal(f.message, "a [31m b?\xc3\xa4?? ");
    tool_failure_release(&f);
}

static void what_is_too_long_is_cut_between_characters(void **state)
{
    struct tool_failure f;
    char text[2000];
    size_t shift, i;

    (void)state;
    tool_failure_init(&f);
    for (shift = 0; shift < 4; shift++) {
        (void)memset(text, 'a', shift);
        for (i = shift; i + 4 < sizeof(text); i += 4) {
            (void)memcpy(text + i, "\xf0\x9f\x98\x80", 4);
        }
        text[i] = '\0';
        (void)tool_failure_set(&f, "X", "%s", text);
        assert_true(strlen(f.message) >= sizeof(f.message) - 5);
        assert_null(strchr(f.message, '?'));
        assert_true(utf8_valid(f.message, strlen(f.message), NULL));
        assert_int_equal(tool_excerpt_len(text, strlen(text), 100), shift == 0 ? 100 : 96 + shift);
    }
    assert_int_equal(tool_excerpt_len("abc", 3, 3), 3);
    assert_int_equal(tool_excerpt_len("abc", 3, 2), 2);
    assert_int_equal(tool_excerpt_len("", 0, 5), 0);
    tool_failure_release(&f);
}

static int check(const char *text, size_t len, struct tool_failure *f, char *ret, size_t size)
{
    struct buf b;
    int r;

    buf_init(&b, 10000);
    assert_int_equal(buf_add(&b, text, len, NULL), 0);
    tool_failure_clear(f);
    r = tool_answer_check(&b, f);
    assert_true(b.len < size);
    (void)memcpy(ret, b.data, b.len + 1);
    buf_release(&b);
    return r;
}

static void only_json_is_an_answer(void **state)
{
    struct tool_failure f;
    char text[5000], ret[5000];

    (void)state;
    tool_failure_init(&f);
    assert_int_equal(check("{\"a\": [1, null]}\n", 17, &f, ret, sizeof(ret)), 0);
    assert_int_equal(check("\xef\xbb\xbf\"x\"", 6, &f, ret, sizeof(ret)), 0);
    assert_string_equal(ret, "\"x\"");
    assert_int_equal(check("{\"a\":\n oops}", 12, &f, ret, sizeof(ret)), TOOL_FAILED);
    assert_string_equal(f.name, "AnswerError");
    assert_non_null(strstr(f.message, "line 2, column 2"));
    assert_int_equal(check("\"\xff\"", 3, &f, ret, sizeof(ret)), TOOL_FAILED);
    assert_non_null(strstr(f.message, "not UTF-8"));
    assert_int_equal(check("1\0", 2, &f, ret, sizeof(ret)), TOOL_FAILED);
    assert_int_equal(check("", 0, &f, ret, sizeof(ret)), TOOL_FAILED);
    (void)memset(text, '[', 2000);
    (void)memset(text + 2000, ']', 2000);
    assert_int_equal(check(text, 4000, &f, ret, sizeof(ret)), TOOL_FAILED);
    assert_non_null(strstr(f.message, "too deeply"));
    tool_failure_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_has_a_name_and_a_sentence),
        cmocka_unit_test(bad_bytes_and_control_characters_are_replaced),
        cmocka_unit_test(what_is_too_long_is_cut_between_characters),
        cmocka_unit_test(only_json_is_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
