/* test_limits.c - defaults, bounds, flags, and structs that were compiled against other headers. */
#include "policy/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct limit_row *row_of(const char *field)
{
    size_t count = 0;
    const struct limit_row *rows = limits_table(&count);
    size_t i;

    for (i = 0; i < count; i++) {
        if (strcmp(rows[i].field, field) == 0) {
            return &rows[i];
        }
    }
    fail_msg("there is no limit named %s", field);
    return NULL;
}

static void nothing_set_means_the_documented_defaults(void **state)
{
    struct vial_limits l = VIAL_LIMITS_INIT;

    (void)state;
    assert_int_equal(vial_limits_resolve(&l, NULL), 0);
    assert_int_equal(l.size, sizeof(l));
    assert_int_equal(l.wall_ms_max, 10000);
    assert_int_equal(l.cpu_ms_max, 5000);
    assert_int_equal(l.timers_max, 10000);
    assert_int_equal(l.memory_bytes_max, 128u << 20);
    assert_int_equal(l.stdout_bytes_max, 1 << 20);
    assert_int_equal(l.stderr_bytes_max, 1 << 20);
    assert_int_equal(l.value_bytes_max, 16 << 20);
    assert_int_equal(l.disk_bytes_max, 64 << 20);
    assert_int_equal(l.files_max, 4096);
    assert_int_equal(l.open_files_max, 32);
}

static void the_table_covers_the_whole_struct_in_order(void **state)
{
    size_t count = 0;
    const struct limit_row *rows = limits_table(&count);
    size_t end = sizeof(uint32_t); /* after the size */
    size_t i;

    (void)state;
    for (i = 0; i < count; i++) {
        assert_int_equal(rows[i].offset, end);
        end += rows[i].width;
    }
    assert_int_equal(end, sizeof(struct vial_limits));
}

static void every_row_makes_sense(void **state)
{
    size_t count = 0;
    const struct limit_row *rows = limits_table(&count);
    size_t i;

    (void)state;
    for (i = 0; i < count; i++) {
        const struct limit_row *row = &rows[i];

        assert_true(row->min >= 1 || row->by_default == 0); /* 0 stands for the default */
        assert_true(row->min <= row->by_default);
        assert_true(row->by_default <= row->max);
        assert_true(row->width == 8 || (row->width == 4 && row->max <= UINT32_MAX));
        assert_true(row->max / row->flag_factor >= 1);
        assert_int_equal(strncmp(row->flag, "--", 2), 0);
        assert_true(strlen(row->help) < 90 && strchr(row->help, '\n') == NULL);
        assert_int_equal(row->help[strlen(row->help) - 1], '.');
        assert_true(strlen(row->why) > 20);
        assert_true(strlen(row->at_limit) > 0 && strlen(row->unit) > 0);
        assert_true(row->status == -1 || row->status > VIAL_STATUS_OK);
    }
}

static void takes_both_bounds_and_nothing_beyond(void **state)
{
    size_t count = 0;
    const struct limit_row *rows = limits_table(&count);
    size_t i;

    (void)state;
    for (i = 0; i < count; i++) {
        uint64_t below = rows[i].min > 0 ? rows[i].min - 1 : 0;
        uint64_t tries[] = {rows[i].min, rows[i].max, below, rows[i].max + 1};
        size_t k;

        for (k = 0; k < 4; k++) {
            struct vial_limits l = VIAL_LIMITS_INIT;
            struct vial_error err = {0};
            uint32_t narrow = (uint32_t)tries[k];

            if (rows[i].width == 4) {
                memcpy((char *)&l + rows[i].offset, &narrow, sizeof(narrow));
            } else {
                memcpy((char *)&l + rows[i].offset, &tries[k], sizeof(tries[k]));
            }
            if (k < 2 || tries[k] == 0) {
                assert_int_equal(vial_limits_resolve(&l, &err), 0);
                assert_int_equal(
                    limits_get(&l, &rows[i]), tries[k] != 0 ? tries[k] : rows[i].by_default);
            } else {
                assert_int_equal(vial_limits_resolve(&l, &err), VIAL_E_INVALID);
                assert_non_null(strstr(err.text, rows[i].field));
                assert_non_null(strstr(err.text, rows[i].flag));
                assert_int_equal(limits_get(&l, &rows[i]), tries[k]);
            }
        }
    }
}

static void the_error_names_the_field_its_flag_and_the_range(void **state)
{
    struct vial_limits l = VIAL_LIMITS_INIT;
    struct vial_error err = {0};

    (void)state;
    l.memory_bytes_max = 5;
    assert_int_equal(vial_limits_resolve(&l, &err), VIAL_E_INVALID);
    assert_string_equal(err.text, "memory_bytes_max (--memory-mb) is 5 bytes; it must be between "
                                  "16777216 and 68719476736");
}

static void a_failure_changes_nothing(void **state)
{
    struct vial_limits l = VIAL_LIMITS_INIT;
    struct vial_limits before;

    (void)state;
    l.wall_ms_max = 7;
    l.open_files_max = 100000;
    before = l;
    assert_int_equal(vial_limits_resolve(&l, NULL), VIAL_E_INVALID);
    assert_memory_equal(&l, &before, sizeof(l));
    assert_int_equal(vial_limits_resolve(NULL, NULL), VIAL_E_INVALID);
}

static void resolving_twice_is_resolving_once(void **state)
{
    struct vial_limits l = VIAL_LIMITS_INIT;
    struct vial_limits once;

    (void)state;
    l.cpu_ms_max = 77;
    assert_int_equal(vial_limits_resolve(&l, NULL), 0);
    once = l;
    assert_int_equal(vial_limits_resolve(&l, NULL), 0);
    assert_memory_equal(&l, &once, sizeof(l));
    assert_int_equal(l.cpu_ms_max, 77);
}

static void an_older_struct_is_written_only_as_far_as_it_goes(void **state)
{
    struct vial_limits l;
    struct vial_limits whole = {0};
    uint32_t size;

    (void)state;
    for (size = sizeof(uint32_t); size < sizeof(l); size++) {
        size_t i;

        memset(&l, 0xee, sizeof(l));
        memset(&l, 0, size);
        l.size = size;
        assert_int_equal(vial_limits_resolve(&l, NULL), 0);
        assert_int_equal(l.size, size);
        for (i = size; i < sizeof(l); i++) {
            assert_int_equal(((unsigned char *)&l)[i], 0xee);
        }
        assert_int_equal(limits_resolve(&l, &whole, NULL), 0);
        assert_int_equal(whole.size, sizeof(whole));
        assert_int_equal(whole.wall_ms_max, 10000);
        assert_int_equal(whole.open_files_max, 32);
    }
}

static void a_newer_struct_must_not_ask_for_the_unknown(void **state)
{
    struct {
        struct vial_limits limits;
        unsigned char tail[16];
    } newer = {.limits = {.size = sizeof(newer), .wall_ms_max = 5}};
    struct vial_error err = {0};

    (void)state;
    assert_int_equal(vial_limits_resolve(&newer.limits, &err), 0);
    assert_int_equal(newer.limits.size, sizeof(newer));
    assert_int_equal(newer.limits.wall_ms_max, 5);
    newer.tail[15] = 1;
    assert_int_equal(vial_limits_resolve(&newer.limits, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "cannot enforce"));
}

static void a_size_that_nobody_set_is_refused(void **state)
{
    static const uint32_t sizes[] = {0, 1, 3, 4097, UINT32_MAX};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct vial_limits l = {.size = sizes[i]};
        struct vial_error err = {0};

        assert_int_equal(vial_limits_resolve(&l, &err), VIAL_E_INVALID);
        assert_non_null(strstr(err.text, "VIAL_LIMITS_INIT"));
    }
}

static void no_limits_at_all_are_the_defaults(void **state)
{
    struct vial_limits l = {0};

    (void)state;
    assert_int_equal(limits_resolve(NULL, &l, NULL), 0);
    assert_int_equal(l.size, sizeof(l));
    assert_int_equal(l.value_bytes_max, 16 << 20);
}

static void a_flag_counts_in_its_own_unit(void **state)
{
    struct vial_limits l = VIAL_LIMITS_INIT;
    struct vial_error err = {0};

    (void)state;
    assert_int_equal(limits_set_from_flag(&l, row_of("memory_bytes_max"), 256, &err), 0);
    assert_int_equal(l.memory_bytes_max, 256u << 20);
    assert_int_equal(limits_set_from_flag(&l, row_of("wall_ms_max"), 250, &err), 0);
    assert_int_equal(l.wall_ms_max, 250);
    assert_int_equal(limits_set_from_flag(&l, row_of("disk_bytes_max"), 1, &err), 0);
    assert_int_equal(l.disk_bytes_max, 1 << 20);
}

static void a_flag_out_of_range_is_refused(void **state)
{
    struct vial_limits l = VIAL_LIMITS_INIT;
    struct vial_error err = {0};

    (void)state;
    assert_int_equal(limits_set_from_flag(&l, row_of("wall_ms_max"), 0, &err), VIAL_E_INVALID);
    assert_int_equal(limits_set_from_flag(&l, row_of("memory_bytes_max"), 1, &err), VIAL_E_INVALID);
    /* These would be in range if they wrapped. */
    assert_int_equal(limits_set_from_flag(&l, row_of("wall_ms_max"), UINT64_C(4294967297), &err),
        VIAL_E_INVALID);
    assert_int_equal(
        limits_set_from_flag(&l, row_of("memory_bytes_max"), (UINT64_C(1) << 44) + 128, &err),
        VIAL_E_INVALID);
    assert_int_equal(l.wall_ms_max, 0);
    assert_int_equal(l.memory_bytes_max, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_set_means_the_documented_defaults),
        cmocka_unit_test(the_table_covers_the_whole_struct_in_order),
        cmocka_unit_test(every_row_makes_sense),
        cmocka_unit_test(takes_both_bounds_and_nothing_beyond),
        cmocka_unit_test(the_error_names_the_field_its_flag_and_the_range),
        cmocka_unit_test(a_failure_changes_nothing),
        cmocka_unit_test(resolving_twice_is_resolving_once),
        cmocka_unit_test(an_older_struct_is_written_only_as_far_as_it_goes),
        cmocka_unit_test(a_newer_struct_must_not_ask_for_the_unknown),
        cmocka_unit_test(a_size_that_nobody_set_is_refused),
        cmocka_unit_test(no_limits_at_all_are_the_defaults),
        cmocka_unit_test(a_flag_counts_in_its_own_unit),
        cmocka_unit_test(a_flag_out_of_range_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
