/* test_completion.c - finding the word before the cursor, and what it could go on as. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/completion.h"

static size_t start_of(const char *line)
{
    return completion_start(line, strlen(line));
}

static void the_word_is_the_dotted_name_before_the_cursor(void **state)
{
    (void)state;
    assert_int_equal(start_of("Math.a"), 0);
    assert_int_equal(start_of("f(Math.a"), 2);
    assert_int_equal(start_of("let x = $a_1.b"), 8);
    assert_int_equal(start_of(".br"), 0);
    assert_int_equal(completion_start("abc def", 3), 0);
}

static void what_no_name_leads_to_is_no_word(void **state)
{
    static const char *const lines[] = {
        "", "  ", "f().b", "a[0].b", "'x'.b", "[...na", "h\xc3\xa4ll"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_int_equal(start_of(lines[i]), strlen(lines[i]));
    }
}

static void names_are_taken_and_have_a_common_beginning(void **state)
{
    struct buf words;

    (void)state;
    buf_init(&words, COMPLETION_BYTES_MAX);
    assert_int_equal(completion_take("[\"Math.abs\",\"Math.acos\", \"Math.acosh\"]", &words), 0);
    assert_int_equal(completion_count(&words), 3);
    assert_string_equal(words.data, "Math.abs");
    assert_int_equal(completion_common(&words), strlen("Math.a"));
    assert_int_equal(completion_add(&words, "x"), 0);
    assert_int_equal(completion_common(&words), 0);
    buf_release(&words);
}

static void without_words_there_is_nothing_in_common(void **state)
{
    struct buf words;

    (void)state;
    buf_init(&words, COMPLETION_BYTES_MAX);
    assert_int_equal(completion_take("[]", &words), 0);
    assert_int_equal(completion_count(&words), 0);
    assert_int_equal(completion_common(&words), 0);
    buf_release(&words);
}

/* They go to a terminal, and come out of a process that a guest may have taken over. */
static void anything_but_plain_names_is_passed_over(void **state)
{
    static const char *const texts[] = {"[\"a\\u001b[31m\"]", "[\"a\033[31m\"]", "[\"a b\"]",
        "[\"\"]", "[\"a\\\"b\"]", "[\"a", "\"", "", "[1, 2]"};
    struct buf words;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        buf_init(&words, COMPLETION_BYTES_MAX);
        assert_int_equal(completion_take(texts[i], &words), 0);
        assert_int_equal(words.len, 0);
        buf_release(&words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_word_is_the_dotted_name_before_the_cursor),
        cmocka_unit_test(what_no_name_leads_to_is_no_word),
        cmocka_unit_test(names_are_taken_and_have_a_common_beginning),
        cmocka_unit_test(without_words_there_is_nothing_in_common),
        cmocka_unit_test(anything_but_plain_names_is_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
