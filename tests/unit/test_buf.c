/* test_buf.c - the growable buffer: its maximum, its NUL, and who owns its bytes. */
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void an_empty_one_owns_nothing(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 100);
    assert_null(b.data);
    assert_int_equal(b.len, 0);
    buf_clear(&b);
    buf_consume(&b, 0);
    buf_release(&b);
    buf_release(&b);
}

static void keeps_what_is_added_and_ends_it_in_nul(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 100);
    assert_int_equal(buf_add(&b, "abc", 3, NULL), 0);
    assert_int_equal(buf_add_text(&b, "def", NULL), 0);
    assert_string_equal(b.data, "abcdef");
    assert_int_equal(b.len, 6);
    assert_int_equal(buf_add(&b, NULL, 0, NULL), 0);
    assert_int_equal(b.len, 6);
    buf_release(&b);
}

static void adds_a_word_in_host_order(void **state)
{
    struct buf b;
    uint32_t v = 0;

    (void)state;
    buf_init(&b, 4);
    assert_int_equal(buf_add_u32(&b, 0x01020304, NULL), 0);
    memcpy(&v, b.data, sizeof(v));
    assert_int_equal(v, 0x01020304);
    buf_release(&b);
}

static void takes_exactly_its_maximum(void **state)
{
    struct vial_error err = {0};
    struct buf b;

    (void)state;
    buf_init(&b, 5);
    assert_int_equal(buf_add(&b, "12345", 5, &err), 0);
    assert_int_equal(buf_add(&b, "6", 1, &err), VIAL_E_NOMEM);
    assert_int_equal(err.code, VIAL_E_NOMEM);
    assert_non_null(strstr(err.text, "5 + 1"));
    assert_string_equal(b.data, "12345");
    assert_int_equal(buf_add(&b, "", 0, &err), 0);
    buf_release(&b);
}

static void a_count_near_the_end_of_size_t_does_not_wrap(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 1000);
    assert_int_equal(buf_add(&b, "x", 1, NULL), 0);
    assert_int_equal(buf_reserve(&b, SIZE_MAX, NULL), VIAL_E_NOMEM);
    assert_int_equal(buf_reserve(&b, SIZE_MAX - 1, NULL), VIAL_E_NOMEM);
    assert_int_equal(b.len, 1);
    buf_release(&b);
}

static void grows_through_many_sizes_and_never_past_the_maximum(void **state)
{
    struct buf b;
    size_t i;

    (void)state;
    buf_init(&b, 100001);
    for (i = 0; i < 100001; i++) {
        char c = (char)('a' + i % 26);

        assert_int_equal(buf_add(&b, &c, 1, NULL), 0);
        assert_true(b.capacity <= b.max);
    }
    for (i = 0; i < 100001; i++) {
        assert_int_equal(b.data[i], 'a' + (int)(i % 26));
    }
    assert_int_equal(b.data[100001], '\0');
    buf_release(&b);
}

static void a_reservation_is_filled_in_place(void **state)
{
    struct buf b;
    char *before;

    (void)state;
    buf_init(&b, 10000);
    assert_int_equal(buf_reserve(&b, 5000, NULL), 0);
    assert_string_equal(b.data, "");
    before = b.data;
    memset(b.data, 'x', 5000);
    b.len = 5000;
    assert_int_equal(buf_reserve(&b, 0, NULL), 0);
    assert_ptr_equal(b.data, before);
    buf_release(&b);
}

static void clearing_keeps_the_memory_and_the_nul(void **state)
{
    struct buf b;
    size_t capacity;

    (void)state;
    buf_init(&b, 100);
    assert_int_equal(buf_add_text(&b, "abc", NULL), 0);
    capacity = b.capacity;
    buf_clear(&b);
    assert_string_equal(b.data, "");
    assert_int_equal(b.len, 0);
    assert_int_equal(b.capacity, capacity);
    buf_release(&b);
}

static void consuming_moves_the_rest_and_its_nul(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 100);
    assert_int_equal(buf_add_text(&b, "abcdef", NULL), 0);
    buf_consume(&b, 2);
    assert_string_equal(b.data, "cdef");
    assert_int_equal(b.len, 4);
    buf_consume(&b, 4);
    assert_string_equal(b.data, "");
    assert_int_equal(b.len, 0);
    buf_release(&b);
}

static void taking_gives_the_bytes_away(void **state)
{
    struct buf b;
    char *bytes = NULL;
    size_t len = 99;

    (void)state;
    buf_init(&b, 100);
    assert_int_equal(buf_add_text(&b, "abc", NULL), 0);
    assert_int_equal(buf_take(&b, &bytes, &len, NULL), 0);
    assert_string_equal(bytes, "abc");
    assert_int_equal(len, 3);
    assert_null(b.data);
    assert_int_equal(b.max, 100);
    free(bytes);
    assert_int_equal(buf_take(&b, &bytes, &len, NULL), 0);
    assert_string_equal(bytes, "");
    assert_int_equal(len, 0);
    free(bytes);
}

static void a_maximum_of_nothing_still_yields_a_text(void **state)
{
    struct buf b;
    char *bytes = NULL;
    size_t len = 99;

    (void)state;
    buf_init(&b, 0);
    assert_int_equal(buf_add(&b, "x", 1, NULL), VIAL_E_NOMEM);
    assert_int_equal(buf_take(&b, &bytes, &len, NULL), 0);
    assert_string_equal(bytes, "");
    free(bytes);
}

/* The flags that the kernel has for the memory around an address; "" when it does not say. */
static void flags_of(const void *address, char *flags, size_t size)
{
    FILE *f = fopen("/proc/self/smaps", "re");
    unsigned long start, end;
    char line[512];
    int here = 0;

    flags[0] = '\0';
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
            here = (unsigned long)address >= start && (unsigned long)address < end;
        } else if (here && strncmp(line, "VmFlags:", 8) == 0) {
            (void)snprintf(flags, size, "%s", line);
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
}

static void a_large_one_wants_huge_pages_and_a_small_one_does_not(void **state)
{
    struct buf small, large;
    char flags[512];

    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) < 0) {
        print_message("this kernel has no huge pages to ask for\n");
        skip();
    }
    buf_init(&small, SIZE_MAX / 4);
    buf_init(&large, SIZE_MAX / 4);
    assert_int_equal(buf_reserve(&small, 1 << 20, NULL), 0);
    assert_int_equal(buf_reserve(&large, 16 << 20, NULL), 0);
    flags_of(small.data + small.capacity / 2, flags, sizeof(flags));
    assert_null(strstr(flags, " hg"));
    flags_of(large.data + large.capacity / 2, flags, sizeof(flags));
    assert_non_null(strstr(flags, " hg"));
    buf_release(&small);
    buf_release(&large);
    buf_will_fill(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_one_owns_nothing),
        cmocka_unit_test(keeps_what_is_added_and_ends_it_in_nul),
        cmocka_unit_test(adds_a_word_in_host_order),
        cmocka_unit_test(takes_exactly_its_maximum),
        cmocka_unit_test(a_count_near_the_end_of_size_t_does_not_wrap),
        cmocka_unit_test(grows_through_many_sizes_and_never_past_the_maximum),
        cmocka_unit_test(a_reservation_is_filled_in_place),
        cmocka_unit_test(clearing_keeps_the_memory_and_the_nul),
        cmocka_unit_test(consuming_moves_the_rest_and_its_nul),
        cmocka_unit_test(taking_gives_the_bytes_away),
        cmocka_unit_test(a_maximum_of_nothing_still_yields_a_text),
        cmocka_unit_test(a_large_one_wants_huge_pages_and_a_small_one_does_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
