/* test_name.c - which names of files may cross the wall. */
#include "base/name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *fault_of(const char *name)
{
    return name_fault(name, strlen(name));
}

static void good_names_have_no_fault(void **state)
{
    static const char *const names[] = {"a", "a/b/c.txt", ".hidden", "..a", "a..", "...", "a b",
        "\xc3\xa4/\xe6\x97\xa5\xe6\x9c\xac.csv", "-rf", "a\\b", "*", "$(reboot)"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_null(fault_of(names[i]));
    }
}

static void names_that_lead_elsewhere_are_refused(void **state)
{
    static const char *const names[] = {"", "/", "/a", "..", ".", "a/..", "a/../b", "./a", "a/.",
        "a//b", "a/", "//a", "../a", "a/./b"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_non_null(fault_of(names[i]));
    }
}

static void names_that_hurt_are_refused(void **state)
{
    static const char *const names[] = {"a\nb", "\x1b[2J", "a\tb", "\x7f",
        "a\xc2\x9b"
        "31m",
        "\xff",
        "a\xc0\xaf"
        "b",
        "\xed\xa0\x80", "a\xc3"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_non_null(fault_of(names[i]));
    }
    assert_non_null(name_fault("a\0b", 3));
}

static void lengths_are_bounded(void **state)
{
    char name[FILE_NAME_BYTES_MAX + 2];
    size_t i;

    (void)state;
    memset(name, 'a', sizeof(name));
    assert_null(name_fault(name, FILE_NAME_PART_BYTES_MAX));
    assert_non_null(name_fault(name, FILE_NAME_PART_BYTES_MAX + 1));
    for (i = 64; i < sizeof(name); i += 65) {
        name[i] = '/';
    }
    assert_null(name_fault(name, 64 * 65 - 66));
    for (i = 0; i < sizeof(name); i++) {
        name[i] = i % 2 == 0 ? 'a' : '/';
    }
    assert_null(name_fault(name, 2 * FILE_NAME_PARTS_MAX - 1));
    assert_non_null(name_fault(name, 2 * FILE_NAME_PARTS_MAX + 1));
    for (i = 0; i < sizeof(name); i++) {
        name[i] = i % 256 == 255 ? '/' : 'a';
    }
    assert_null(name_fault(name, FILE_NAME_BYTES_MAX - 1));
    assert_non_null(name_fault(name, FILE_NAME_BYTES_MAX + 1));
}

static void a_single_part_has_no_slash(void **state)
{
    char name[257];

    (void)state;
    memset(name, 'x', sizeof(name));
    assert_null(name_part_fault("a b", 3));
    assert_null(name_part_fault(name, 255));
    assert_non_null(name_part_fault(name, 256));
    assert_string_equal(name_part_fault("a/b", 3), "has a slash");
    assert_non_null(name_part_fault("..", 2));
    assert_non_null(name_part_fault("", 0));
    assert_non_null(name_part_fault("a\nb", 3));
}

static void a_path_beneath_loses_its_directory(void **state)
{
    static const char *const rows[][2] = {{"/home/vial/a", "a"}, {"/home/vial", ""},
        {"/home/vial/", ""}, {"/home/vial//a/b/", "a/b"}, {"a", "a"}, {"./a", "a"}, {".//a/", "a"},
        {".", ""}, {"./", ""}, {"/home/vial/./a", "a"}, {".a", ".a"}, {"../a", "../a"},
        {"/home/vialx", NULL}, {"/home", NULL}, {"/", NULL}, {"/etc/passwd", NULL}, {"", ""}};
    const char *got;
    size_t i, len;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        len = 99;
        got = name_beneath(rows[i][0], strlen(rows[i][0]), "/home/vial", &len);
        if (rows[i][1] == NULL) {
            assert_null(got);
        } else {
            assert_non_null(got);
            assert_int_equal(len, strlen(rows[i][1]));
            assert_memory_equal(got, rows[i][1], len);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_names_have_no_fault),
        cmocka_unit_test(names_that_lead_elsewhere_are_refused),
        cmocka_unit_test(names_that_hurt_are_refused),
        cmocka_unit_test(lengths_are_bounded),
        cmocka_unit_test(a_single_part_has_no_slash),
        cmocka_unit_test(a_path_beneath_loses_its_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
