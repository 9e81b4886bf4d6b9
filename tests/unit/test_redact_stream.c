/* test_redact_stream.c - secrets in every form in which a server may echo them, streams in pieces
 * of every size, and what hostile bytes cost. */
#include "host/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/clock.h"

enum { OUT_BYTES_MAX = 8 << 20, ROUNDS = 2000, TEXT_BYTES_MAX = 400 };

static struct vial_error err;
static struct redact *set;
static unsigned chance = 12345;

static unsigned any(unsigned below)
{
    chance = chance * 1103515245u + 12345u;
    return (chance >> 8) % below;
}

static const char VALUE[] = "sk-A9/x+ \"\\q\xc3\xa4~z";

static int make_set(void **state)
{
    const struct redact_secret secret = {"KEY", VALUE, sizeof(VALUE) - 1};

    (void)state;
    return redact_new(&secret, 1, &set, &err);
}

static int free_set(void **state)
{
    (void)state;
    redact_free(set);
    return 0;
}

/* The text in pieces of a size, 0 for pieces of all sizes. */
static void run(
    const struct redact *with, const char *text, size_t len, size_t piece, struct buf *out)
{
    struct redact_stream *stream = NULL;
    size_t n;

    buf_clear(out);
    assert_int_equal(redact_stream_new(with, &stream, &err), 0);
    for (; len > 0; text += n, len -= n) {
        n = piece != 0 ? piece : 1 + any(20);
        n = n < len ? n : len;
        assert_int_equal(redact_feed(stream, text, n, out, &err), 0);
    }
    assert_int_equal(redact_end(stream, out, &err), 0);
    redact_stream_free(stream);
}

static void expect_bytes(const char *text, size_t len, const char *expected)
{
    static const size_t pieces[] = {100000, 1, 2, 3, 7, 0};
    struct buf out;
    size_t i;

    buf_init(&out, OUT_BYTES_MAX);
    for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        run(set, text, len, pieces[i], &out);
        assert_string_equal(out.data != NULL ? out.data : "", expected);
    }
    buf_release(&out);
}

static void expect(const char *text, const char *expected)
{
    expect_bytes(text, strlen(text), expected);
}

static void a_value_is_found_wherever_the_stream_is_cut(void **state)
{
    char text[64];

    (void)state;
    expect(VALUE, "[secret KEY]");
    (void)snprintf(text, sizeof(text), "<%s%s>", VALUE, VALUE);
    expect(text, "<[secret KEY][secret KEY]>");
    (void)snprintf(text, sizeof(text), "<%s>%.5s%s", VALUE, VALUE, VALUE);
    expect(text, "<[secret KEY]>sk-A9[secret KEY]");
    expect("", "");
    expect("sk-A9/x+ \"\\q", "sk-A9/x+ \"\\q");
}

static void percent_encoding_is_seen_through(void **state)
{
    (void)state;
    expect("?k=sk-A9%2Fx%2B%20%22%5Cq%C3%A4~z&", "?k=[secret KEY]&");
    expect("?k=sk-A9%2fx%2b+%22%5cq%c3%a4%7ez&", "?k=[secret KEY]&");
    expect("%73%6b%2d%41%39%2f%78%2b%20%22%5c%71%c3%a4%7e%7a", "[secret KEY]");
    expect("%%73k-A9%2Fx%2B%20%22%5Cq%C3%A4~z%4", "%[secret KEY]%4");
    expect("100%, %zz, %4z, %", "100%, %zz, %4z, %");
    expect("sk-A9%2Fx%2B%20%22%5Cq%C3%A", "sk-A9%2Fx%2B%20%22%5Cq%C3%A");
}

static void escapes_of_json_are_seen_through(void **state)
{
    (void)state;
    expect("{\"k\":\"sk-A9/x+ \\\"\\\\q\xc3\xa4~z\"}", "{\"k\":\"[secret KEY]\"}");
    expect("{\"k\":\"sk-A9\\/x\\u002b \\u0022\\u005Cq\\u00e4~z\"}", "{\"k\":\"[secret KEY]\"}");
    expect("\\u12\\n \\x \\u00zz \\", "\\u12\\n \\x \\u00zz \\");
}

/* The value after some bytes and before others, in base64, with the alphabet of URLs or not. */
static void expect_in_base64(const char *before, const char *after, int is_url)
{
    char plain[64], text[128], out_text[192];
    size_t len = (size_t)snprintf(plain, sizeof(plain), "%s%s%s", before, VALUE, after);
    size_t encoded = BASE64_ENCODED_BYTES(len), first, last, i;

    text[0] = '"';
    base64_encode(plain, len, text + 1);
    for (i = 1; is_url && i <= encoded; i++) {
        text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
    }
    text[1 + encoded] = '"';
    text[2 + encoded] = '\0';
    /* The characters that have a bit of the value. */
    first = 1 + strlen(before) * 8 / 6;
    last = 1 + (strlen(before) * 8 + (sizeof(VALUE) - 1) * 8 - 1) / 6;
    (void)snprintf(
        out_text, sizeof(out_text), "%.*s[secret KEY]%s", (int)first, text, text + last + 1);
    expect(text, out_text);
}

static void base64_is_seen_through_at_every_place(void **state)
{
    static const char *const around[] = {"", "u", "us", "use", "user", "user:"};
    size_t i, j;

    (void)state;
    for (i = 0; i < 6; i++) {
        for (j = 0; j < 6; j++) {
            expect_in_base64(around[i], around[j], 0);
            expect_in_base64(around[i], around[j], 1);
        }
    }
    /* Letters directly before it are other groups. */
    expect("Basic c2stQTkveCsgIlxxw6R+eg==", "Basic [secret KEY]==");
    expect("xBasicc2stQTkveCsgIlxxw6R+eg==", "xBasic[secret KEY]==");
    expect("abcc2stQTkveCsgIlxxw6R+eg", "abc[secret KEY]");
    expect("c2stQTkveCsgIlxxw6R+", "c2stQTkveCsgIlxxw6R+");
}

/* Is the value in these bytes, in one of the simple forms? A naive search. */
static int is_there(const char *bytes, size_t len, const char *value, size_t value_len)
{
    return memmem(bytes, len, value, value_len) != NULL;
}

/* Random texts of few letters, so that a lot nearly matches: what comes out does not depend on the
 * pieces, and has no value in it. */
static void pieces_make_no_difference(void **state)
{
    static const char letters[] = "aaaaabbab%62\\u06YWFh+/";
    const struct redact_secret secrets[] = {{"A", "aaba", 4}, {"B", "abaab", 5}, {"C", "a%6a", 4}};
    struct redact *with = NULL;
    struct buf whole, parts;
    char text[TEXT_BYTES_MAX];
    size_t len, i;
    int round, found = 0;

    (void)state;
    assert_int_equal(redact_new(secrets, 3, &with, &err), 0);
    buf_init(&whole, OUT_BYTES_MAX);
    buf_init(&parts, OUT_BYTES_MAX);
    for (round = 0; round < ROUNDS; round++) {
        len = any(TEXT_BYTES_MAX);
        for (i = 0; i < len; i++) {
            text[i] = letters[any(sizeof(letters) - 1)];
        }
        run(with, text, len, TEXT_BYTES_MAX, &whole);
        run(with, text, len, 0, &parts);
        assert_int_equal(whole.len, parts.len);
        assert_memory_equal(
            whole.len > 0 ? whole.data : "", parts.len > 0 ? parts.data : "", whole.len);
        for (i = 0; i < 3 && whole.len > 0; i++) {
            found += is_there(text, len, secrets[i].bytes, secrets[i].len);
            assert_false(is_there(whole.data, whole.len, secrets[i].bytes, secrets[i].len));
        }
    }
    assert_true(found > ROUNDS / 10); /* the letters were well chosen */
    buf_release(&whole);
    buf_release(&parts);
    redact_free(with);
}

static void nothing_is_held_back_without_need(void **state)
{
    struct redact_stream *stream = NULL;
    struct buf out;

    (void)state;
    buf_init(&out, 1000);
    assert_int_equal(redact_stream_new(set, &stream, &err), 0);
    assert_int_equal(redact_feed(stream, "data: {\"a\": 1}\n\n", 16, &out, &err), 0);
    assert_string_equal(out.data, "data: {\"a\": 1}\n\n");
    assert_int_equal(redact_feed(stream, "data: sk-A9", 11, &out, &err), 0);
    assert_string_equal(out.data, "data: {\"a\": 1}\n\ndata: ");
    assert_int_equal(redact_feed(stream, "!", 1, &out, &err), 0);
    assert_string_equal(out.data, "data: {\"a\": 1}\n\ndata: sk-A9!");
    redact_stream_free(stream);
    buf_release(&out);
}

static void a_stream_that_failed_says_nothing_more(void **state)
{
    struct redact_stream *stream = NULL;
    struct buf out;

    (void)state;
    buf_init(&out, 8);
    assert_int_equal(redact_stream_new(set, &stream, &err), 0);
    assert_int_equal(redact_feed(stream, "a lot of bytes;", 15, &out, &err), VIAL_E_NOMEM);
    buf_release(&out);
    buf_init(&out, 100);
    assert_int_equal(redact_feed(stream, "x;", 2, &out, &err), VIAL_E_GONE);
    assert_int_equal(redact_end(stream, &out, &err), VIAL_E_GONE);
    assert_int_equal(out.len, 0);
    redact_stream_free(stream);
    buf_release(&out);
}

/* Microseconds for a megabyte that repeats some bytes, with a long secret. */
static uint64_t time_of(const struct redact *with, const char *unit, size_t unit_len)
{
    static char text[1 << 20];
    struct buf out;
    uint64_t start;
    size_t i;

    for (i = 0; i < sizeof(text); i++) {
        text[i] = unit[i % unit_len];
    }
    buf_init(&out, OUT_BYTES_MAX);
    start = clock_now_us();
    run(with, text, sizeof(text), 16384, &out);
    start = clock_now_us() - start;
    buf_release(&out);
    return start;
}

/* A search that began anew at each byte would take 30000 times as long for these. */
static void hostile_bytes_cost_no_more_than_others(void **state)
{
    static char value[60000];
    const struct redact_secret secrets[] = {
        {"LONG", value, sizeof(value)}, {"HALF", value, sizeof(value) / 2}};
    struct redact *with = NULL;
    uint64_t harmless, hostile, matching;

    (void)state;
    memset(value, 'a', sizeof(value));
    value[sizeof(value) - 1] = 'b';
    assert_int_equal(redact_new(secrets, 2, &with, &err), 0);
    harmless = time_of(with, "The quick brown fox. ", 21);
    hostile = time_of(with, "a", 1);
    matching = time_of(with, "%61", 3);
    print_message("# 1 MiB: %llu us harmless, %llu us hostile, %llu us in percent-encoding\n",
        (unsigned long long)harmless, (unsigned long long)hostile, (unsigned long long)matching);
    assert_true(hostile < 100 * harmless + 1000000);
    assert_true(matching < 100 * harmless + 1000000);
    redact_free(with);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_set, free_set)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_value_is_found_wherever_the_stream_is_cut),
        TEST(percent_encoding_is_seen_through),
        TEST(escapes_of_json_are_seen_through),
        TEST(base64_is_seen_through_at_every_place),
        TEST(pieces_make_no_difference),
        TEST(nothing_is_held_back_without_need),
        TEST(a_stream_that_failed_says_nothing_more),
        TEST(hostile_bytes_cost_no_more_than_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
