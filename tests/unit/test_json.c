/* test_json.c - the writer: commas, escapes, hostile bytes, and what it leaves behind when it
 * fails. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

enum { ROOM = 100000 };

/* What one json_string makes of bytes; the caller releases out. */
static const char *written(struct buf *out, const char *bytes, size_t len)
{
    struct json_writer w;

    buf_clear(out);
    json_init(&w, out, NULL);
    json_write_string(&w, bytes, len);
    assert_int_equal(json_finish(&w), 0);
    assert_int_equal(json_check(out->data, out->len, 0, NULL), 0);
    return out->data;
}

static void sets_commas_and_colons_itself(void **state)
{
    struct json_writer w;
    struct buf out;

    (void)state;
    buf_init(&out, ROOM);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "empty");
    json_begin_array(&w);
    json_end_array(&w);
    json_key(&w, "list");
    json_begin_array(&w);
    json_u64(&w, 1);
    json_begin_object(&w);
    json_end_object(&w);
    json_begin_array(&w);
    json_write_null(&w);
    json_bool(&w, 1);
    json_bool(&w, 0);
    json_end_array(&w);
    json_text(&w, "x");
    json_end_array(&w);
    json_key(&w, "raw");
    json_raw(&w, "{\"a\":[1,2]}", 11);
    json_key(&w, "lines");
    json_raw(&w, "[1,\n\t2,\r\n\"\\n\"]", 14);
    json_key(&w, "none");
    json_text(&w, NULL);
    json_end_object(&w);
    assert_int_equal(json_finish(&w), 0);
    assert_string_equal(out.data,
        "{\"empty\":[],\"list\":[1,{},[null,true,false],\"x\"],"
        "\"raw\":{\"a\":[1,2]},\"lines\":[1,  2,  \"\\n\"],\"none\":null}");
    assert_int_equal(json_check(out.data, out.len, 8, NULL), 0);
    buf_release(&out);
}

static void writes_the_widest_numbers(void **state)
{
    struct json_writer w;
    struct buf out;

    (void)state;
    buf_init(&out, ROOM);
    json_init(&w, &out, NULL);
    json_begin_array(&w);
    json_u64(&w, UINT64_MAX);
    json_u64(&w, 0);
    json_i64(&w, INT64_MIN);
    json_i64(&w, INT64_MAX);
    json_i64(&w, -1);
    json_end_array(&w);
    assert_int_equal(json_finish(&w), 0);
    assert_string_equal(
        out.data, "[18446744073709551615,0,-9223372036854775808,9223372036854775807,-1]");
    buf_release(&out);
}

static void appends_to_what_is_there(void **state)
{
    struct json_writer w;
    struct buf out;

    (void)state;
    buf_init(&out, ROOM);
    assert_int_equal(buf_add_text(&out, "data: ", NULL), 0);
    json_init(&w, &out, NULL);
    json_write_null(&w);
    assert_int_equal(json_finish(&w), 0);
    assert_string_equal(out.data, "data: null");
    buf_release(&out);
}

struct pair {
    const char *bytes;
    size_t len;
    const char *json;
};

#define PAIR(bytes, json)                                                                          \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, json                                                             \
    }
#define REPLACED "\xef\xbf\xbd"

static void escapes_what_needs_it_and_nothing_else(void **state)
{
    static const struct pair table[] = {
        PAIR("", "\"\""),
        PAIR("plain text / with 'quotes'", "\"plain text / with 'quotes'\""),
        PAIR("\"\\", "\"\\\"\\\\\""),
        PAIR("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""),
        PAIR("\0", "\"\\u0000\""),
        PAIR("a\0b", "\"a\\u0000b\""),
        PAIR("\x01\x1b\x1f", "\"\\u0001\\u001b\\u001f\""),
        PAIR("\x7f", "\"\\u007f\""),
        PAIR("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\"\\u0080\\u009b\\u009f\xc2\xa0\""),
        PAIR("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa",
            "\"\xe2\x80\xa7\\u2028\\u2029\xe2\x80\xaa\""),
        PAIR("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
            "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\""),
    };
    struct buf out;
    size_t i;

    (void)state;
    buf_init(&out, ROOM);
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_string_equal(written(&out, table[i].bytes, table[i].len), table[i].json);
    }
    assert_string_equal(written(&out, NULL, 0), "\"\"");
    buf_release(&out);
}

static void replaces_what_is_not_utf8(void **state)
{
    static const struct pair table[] = {
        PAIR("\xff", "\"" REPLACED "\""),
        PAIR("a\x80z", "\"a" REPLACED "z\""),
        PAIR("\xc0\x80", "\"" REPLACED REPLACED "\""),
        PAIR("\xed\xa0\x80", "\"" REPLACED REPLACED REPLACED "\""),
        PAIR("\xe2\x82", "\"" REPLACED "\""),
        PAIR("\xe2\x82\"", "\"" REPLACED "\\\"\""),
        PAIR("\xf0\x9f\x98", "\"" REPLACED "\""),
        PAIR("\xf0\x9f\x98\x80\xf0\x9f\x98", "\"\xf0\x9f\x98\x80" REPLACED "\""),
        PAIR("\xf4\x90\x80\x80", "\"" REPLACED REPLACED REPLACED REPLACED "\""),
        /* The example of the Unicode standard for the maximal subpart rule. */
        PAIR("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64",
            "\"a" REPLACED REPLACED REPLACED "b" REPLACED "c" REPLACED REPLACED "d\""),
    };
    struct buf out;
    size_t i;

    (void)state;
    buf_init(&out, ROOM);
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_string_equal(written(&out, table[i].bytes, table[i].len), table[i].json);
    }
    buf_release(&out);
}

static void whatever_the_bytes_the_line_is_valid(void **state)
{
    static const char pieces[] = "\xe2\x80\xa8\xf0\x9f\xc2\"\\";
    struct buf out;
    char bytes[64];
    uint64_t random = 88172645463325252u;
    size_t round;
    size_t i;

    (void)state;
    buf_init(&out, ROOM);
    for (round = 0; round < 20000; round++) {
        for (i = 0; i < sizeof(bytes); i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            /* Half of them from the few that sequences and escapes are made of. */
            bytes[i] = (random >> 40 & 1) != 0 ? pieces[random >> 41 & 7] : (char)(random >> 41);
        }
        (void)written(&out, bytes, sizeof(bytes));
        for (i = 0; i < out.len; i++) {
            assert_true((unsigned char)out.data[i] >= 0x20 && out.data[i] != 0x7f);
        }
        assert_true(utf8_valid(out.data, out.len, NULL));
    }
    buf_release(&out);
}

/* In steps, between which there is no padding. */
static void bytes_become_base64(void **state)
{
    static char bytes[3 * 1024 + 1];
    struct json_writer w;
    struct buf out;

    (void)state;
    buf_init(&out, ROOM);
    json_init(&w, &out, NULL);
    json_begin_array(&w);
    json_base64(&w, NULL, 0);
    json_base64(&w, "foob", 4);
    json_base64(&w, bytes, sizeof(bytes));
    json_end_array(&w);
    assert_int_equal(json_finish(&w), 0);
    assert_memory_equal(out.data, "[\"\",\"Zm9vYg==\",\"AAAA", 20);
    assert_string_equal(out.data + out.len - 8, "AAAA==\"]");
    assert_int_equal(out.len, 15 + 2 + 4 * 1025 + 1);
    assert_ptr_equal(strchr(out.data + 17, '='), out.data + out.len - 4);
    buf_release(&out);
    buf_init(&out, 4000); /* and where there is no room, nothing is left */
    json_init(&w, &out, NULL);
    json_base64(&w, bytes, sizeof(bytes));
    assert_true(json_finish(&w) < 0);
    assert_int_equal(out.len, 0);
    buf_release(&out);
}

static void hostile_keys_are_escaped_too(void **state)
{
    struct json_writer w;
    struct buf out;

    (void)state;
    buf_init(&out, ROOM);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "a\":1,\"b\n\xff");
    json_write_null(&w);
    json_end_object(&w);
    assert_int_equal(json_finish(&w), 0);
    assert_string_equal(out.data, "{\"a\\\":1,\\\"b\\n" REPLACED "\":null}");
    buf_release(&out);
}

static void write_sample(struct json_writer *w)
{
    json_begin_object(w);
    json_key(w, "text");
    json_write_string(w, "line\nline \xff \xe2\x80\xa8", 15);
    json_key(w, "list");
    json_begin_array(w);
    json_i64(w, -5);
    json_bool(w, 0);
    json_raw(w, "[]", 2);
    json_end_array(w);
    json_end_object(w);
}

static void at_every_maximum_it_is_all_or_nothing(void **state)
{
    struct json_writer w;
    struct buf out;
    size_t whole;
    size_t max;

    (void)state;
    buf_init(&out, ROOM);
    json_init(&w, &out, NULL);
    write_sample(&w);
    assert_int_equal(json_finish(&w), 0);
    whole = out.len;
    buf_release(&out);
    for (max = 2; max <= whole + 2; max++) {
        struct vial_error err = {0};
        int r;

        buf_init(&out, max);
        assert_int_equal(buf_add_text(&out, "->", NULL), 0);
        json_init(&w, &out, &err);
        write_sample(&w);
        r = json_finish(&w);
        assert_int_equal(r, max == whole + 2 ? 0 : VIAL_E_NOMEM);
        assert_int_equal(err.code, r);
        assert_int_equal(out.len, r == 0 ? max : 2);
        assert_int_equal(strlen(out.data), out.len);
        buf_release(&out);
    }
}

static void a_failure_on_an_empty_buffer_leaves_it_empty(void **state)
{
    struct json_writer w;
    struct buf out;

    (void)state;
    buf_init(&out, 0);
    json_init(&w, &out, NULL);
    json_write_null(&w);
    assert_int_equal(json_finish(&w), VIAL_E_NOMEM);
    assert_int_equal(out.len, 0);
    buf_release(&out);
}

static void nests_to_the_documented_depth(void **state)
{
    struct json_writer w;
    struct buf out;
    int i;

    (void)state;
    buf_init(&out, ROOM);
    json_init(&w, &out, NULL);
    for (i = 0; i < JSON_WRITE_DEPTH_MAX / 2; i++) {
        json_begin_array(&w);
        json_write_null(&w);
        json_begin_object(&w);
        json_key(&w, "k");
        json_write_null(&w);
        if (i + 1 < JSON_WRITE_DEPTH_MAX / 2) {
            json_key(&w, "l");
        }
    }
    for (i = 0; i < JSON_WRITE_DEPTH_MAX / 2; i++) {
        json_end_object(&w);
        json_u64(&w, 7);
        json_end_array(&w);
    }
    assert_int_equal(json_finish(&w), 0);
    assert_int_equal(json_check(out.data, out.len, JSON_WRITE_DEPTH_MAX, NULL), 0);
    assert_int_equal(json_check(out.data, out.len, JSON_WRITE_DEPTH_MAX - 1, NULL), VIAL_E_INVALID);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_commas_and_colons_itself),
        cmocka_unit_test(writes_the_widest_numbers),
        cmocka_unit_test(appends_to_what_is_there),
        cmocka_unit_test(escapes_what_needs_it_and_nothing_else),
        cmocka_unit_test(replaces_what_is_not_utf8),
        cmocka_unit_test(whatever_the_bytes_the_line_is_valid),
        cmocka_unit_test(bytes_become_base64),
        cmocka_unit_test(hostile_keys_are_escaped_too),
        cmocka_unit_test(at_every_maximum_it_is_all_or_nothing),
        cmocka_unit_test(a_failure_on_an_empty_buffer_leaves_it_empty),
        cmocka_unit_test(nests_to_the_documented_depth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
