/* test_field.c - tagged fields: what is written is read back, and malformed bytes are refused. */
#include "wire/field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void reads_back_what_was_added(void **state)
{
    struct field f;
    struct buf b;
    size_t at = 0;
    uint32_t v = 0;
    uint64_t wide = 0;

    (void)state;
    buf_init(&b, 1000);
    assert_int_equal(field_add(&b, FIELD_NAME, "main.js", 7, NULL), 0);
    assert_int_equal(field_add(&b, FIELD_SOURCE, NULL, 0, NULL), 0);
    assert_int_equal(field_add_u32(&b, FIELD_TIMERS_MAX, 0xdeadbeef, NULL), 0);
    assert_int_equal(field_add_u64(&b, FIELD_DISK_MAX, UINT64_C(0x123456789abcdef0), NULL), 0);
    assert_int_equal(field_next(b.data, b.len, &at, &f), 1);
    assert_int_equal(f.tag, FIELD_NAME);
    assert_int_equal(f.len, 7);
    assert_memory_equal(f.bytes, "main.js", 7);
    assert_int_equal(field_u32(&f, &v), -1); /* seven bytes are no number */
    assert_int_equal(v, 0);
    assert_int_equal(field_next(b.data, b.len, &at, &f), 1);
    assert_int_equal(f.tag, FIELD_SOURCE);
    assert_int_equal(f.len, 0);
    assert_int_equal(field_next(b.data, b.len, &at, &f), 1);
    assert_int_equal(field_u32(&f, &v), 0);
    assert_int_equal(v, 0xdeadbeef);
    assert_int_equal(field_u64(&f, &wide), -1);
    assert_int_equal(field_next(b.data, b.len, &at, &f), 1);
    assert_int_equal(field_u64(&f, &wide), 0);
    assert_true(wide == UINT64_C(0x123456789abcdef0));
    assert_int_equal(field_u32(&f, &v), -1);
    assert_int_equal(field_next(b.data, b.len, &at, &f), 0);
    assert_int_equal(at, b.len);
    buf_release(&b);
}

static void the_head_alone_is_what_add_writes(void **state)
{
    char head[FIELD_HEAD_BYTES];
    struct buf b;

    (void)state;
    buf_init(&b, 100);
    assert_int_equal(field_add(&b, FIELD_INPUT, "abc", 3, NULL), 0);
    field_head(head, FIELD_INPUT, 3);
    assert_memory_equal(b.data, head, sizeof(head));
    assert_int_equal(b.len, sizeof(head) + 3);
    buf_release(&b);
}

static void a_field_that_does_not_fit_leaves_nothing_behind(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, FIELD_HEAD_BYTES + 3);
    assert_int_equal(field_add(&b, FIELD_NAME, "1234", 4, NULL), VIAL_E_NOMEM);
    assert_int_equal(b.len, 0);
    assert_int_equal(field_add(&b, FIELD_NAME, "123", 3, NULL), 0);
    buf_release(&b);
}

static void cut_anywhere_it_is_malformed(void **state)
{
    struct field f;
    struct buf b;
    size_t at, n;

    (void)state;
    buf_init(&b, 100);
    assert_int_equal(field_add(&b, FIELD_NAME, "abcdef", 6, NULL), 0);
    for (n = 1; n < b.len; n++) {
        at = 0;
        assert_int_equal(field_next(b.data, n, &at, &f), -1);
        assert_int_equal(at, 0);
    }
    buf_release(&b);
}

static void a_length_beyond_the_end_does_not_wrap(void **state)
{
    static const uint32_t lengths[] = {7, 8, 0x7fffffff, UINT32_MAX - 4, UINT32_MAX};
    char bytes[FIELD_HEAD_BYTES + 6] = {0};
    struct field f;
    size_t at, i;

    (void)state;
    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        at = 0;
        field_head(bytes, FIELD_VALUE, lengths[i]);
        assert_int_equal(field_next(bytes, sizeof(bytes), &at, &f), -1);
    }
    at = 0;
    field_head(bytes, FIELD_VALUE, 6);
    assert_int_equal(field_next(bytes, sizeof(bytes), &at, &f), 1);
}

static void nothing_at_all_is_the_end(void **state)
{
    struct field f;
    size_t at = 0;

    (void)state;
    assert_int_equal(field_next("", 0, &at, &f), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_what_was_added),
        cmocka_unit_test(the_head_alone_is_what_add_writes),
        cmocka_unit_test(a_field_that_does_not_fit_leaves_nothing_behind),
        cmocka_unit_test(cut_anywhere_it_is_malformed),
        cmocka_unit_test(a_length_beyond_the_end_does_not_wrap),
        cmocka_unit_test(nothing_at_all_is_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
