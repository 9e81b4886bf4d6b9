/* test_redact.c - which secrets can be kept out of answers, and what is found when they overlap.
 * How streams are read is in test_redact_stream.c. */
#include "host/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vial_error err;

static void expect(
    const struct redact_secret *secrets, size_t count, const char *text, const char *expected)
{
    struct redact *set = NULL;
    struct buf out;

    assert_int_equal(redact_new(secrets, count, &set, &err), 0);
    buf_init(&out, 100000);
    assert_int_equal(redact_text(set, text, strlen(text), &out, &err), 0);
    assert_string_equal(out.data != NULL ? out.data : "", expected);
    buf_release(&out);
    redact_free(set);
}

static void nothing_is_replaced_when_there_is_no_secret(void **state)
{
    (void)state;
    expect(NULL, 0, "hunter2 %41 aHVudGVyMg==", "hunter2 %41 aHVudGVyMg==");
    redact_free(NULL);
    redact_stream_free(NULL);
}

static void each_secret_has_its_name(void **state)
{
    const struct redact_secret secrets[] = {{"A", "hunter2", 7}, {"B", "correct horse", 13}};

    (void)state;
    expect(secrets, 2, "hunter2correct horsehunter2", "[secret A][secret B][secret A]");
    expect(secrets, 2, "hunter hunter22", "hunter [secret A]2");
    expect(secrets, 2, "hunhunter2", "hun[secret A]");
}

static void the_longest_of_those_that_overlap_gives_the_name(void **state)
{
    const struct redact_secret inside[] = {{"SHORT", "bcde", 4}, {"LONG", "abcdefgh", 8}};
    const struct redact_secret chain[] = {{"X", "abcdef", 6}, {"Y", "efghijkl", 8}};
    const struct redact_secret same[] = {{"ONE", "abcdef", 6}, {"TWO", "abcdef", 6}};

    (void)state;
    expect(inside, 2, "-abcdefgh-", "-[secret LONG]-");
    expect(inside, 2, "-abcdefg-", "-a[secret SHORT]fg-");
    expect(chain, 2, "-abcdefghijkl-", "-[secret Y]-");
    expect(same, 2, "-abcdef-", "-[secret ONE]-");
}

static void repetitions_are_one(void **state)
{
    const struct redact_secret secrets[] = {{"A", "aaaa", 4}};

    (void)state;
    expect(secrets, 1, "aaa", "aaa");
    expect(secrets, 1, "aaaaaaaaaaaab", "[secret A]b");
    expect(secrets, 1, "aaaabaaaa", "[secret A]b[secret A]");
}

static void all_bytes_may_be_in_a_value(void **state)
{
    char value[256], text[300];
    struct redact_secret secret = {"ALL", value, sizeof(value)};
    struct redact *set = NULL;
    struct buf out;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(value); i++) {
        value[i] = (char)i;
    }
    memset(text, 'x', sizeof(text));
    memcpy(text + 20, value, sizeof(value));
    assert_int_equal(redact_new(&secret, 1, &set, &err), 0);
    buf_init(&out, 1000);
    assert_int_equal(redact_text(set, text, sizeof(text), &out, &err), 0);
    assert_string_equal(out.data, "xxxxxxxxxxxxxxxxxxxx[secret ALL]xxxxxxxxxxxxxxxxxxxxxxxx");
    buf_release(&out);
    redact_free(set);
}

static void what_cannot_be_kept_out_is_refused(void **state)
{
    static char large[REDACT_BYTES_MAX];
    struct redact_secret many[REDACT_SECRETS_MAX + 1];
    struct redact *set = NULL;
    size_t i;

    (void)state;
    many[0] = (struct redact_secret){"PIN", "123", 3};
    assert_int_equal(redact_new(many, 1, &set, &err), VIAL_E_INVALID);
    assert_string_equal(
        err.text, "the secret PIN has fewer than 4 bytes, so it cannot be kept out of answers");
    for (i = 0; i < REDACT_SECRETS_MAX + 1; i++) {
        many[i] = (struct redact_secret){"A", "1234", 4};
    }
    assert_int_equal(redact_new(many, REDACT_SECRETS_MAX + 1, &set, &err), VIAL_E_INVALID);
    many[0] = (struct redact_secret){"LARGE", large, sizeof(large) - 3};
    assert_int_equal(redact_new(many, 2, &set, &err), VIAL_E_INVALID);
    assert_null(set);
    many[0].len--;
    assert_int_equal(redact_new(many, 2, &set, &err), 0);
    redact_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_replaced_when_there_is_no_secret),
        cmocka_unit_test(each_secret_has_its_name),
        cmocka_unit_test(the_longest_of_those_that_overlap_gives_the_name),
        cmocka_unit_test(repetitions_are_one),
        cmocka_unit_test(all_bytes_may_be_in_a_value),
        cmocka_unit_test(what_cannot_be_kept_out_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
