/* test_history_file.c - what was typed in, from one start of the program to the next. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/history_file.h"

static char directory[64];
static struct history_file file;

static int make_directory(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-history-XXXXXX");
    if (mkdtemp(directory) == NULL || setenv("XDG_STATE_HOME", directory, 1) < 0) {
        return -1;
    }
    history_file_init(&file);
    return 0;
}

static int remove_directory(void **state)
{
    char inside[96];

    (void)state;
    (void)unlink(file.path);
    (void)snprintf(inside, sizeof(inside), "%s/vial", directory);
    (void)rmdir(inside);
    return rmdir(directory);
}

struct seen {
    size_t count;
    char first[32], last[32];
};

static void see(const char *entry, size_t len, void *user)
{
    struct seen *seen = user;

    assert_int_equal(len, strlen(entry));
    if (seen->count++ == 0) {
        (void)snprintf(seen->first, sizeof(seen->first), "%s", entry);
    }
    (void)snprintf(seen->last, sizeof(seen->last), "%s", entry);
}

static void add(const char *entry)
{
    assert_int_equal(history_file_add(&file, entry, strlen(entry)), 0);
}

static void entries_come_back_as_they_were(void **state)
{
    struct seen seen = {.count = 0};

    (void)state;
    add("first");
    add("a \\ \\n {\n  b\n}");
    history_file_load(&file, see, &seen);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.first, "first");
    assert_string_equal(seen.last, "a \\ \\n {\n  b\n}");
}

static void nobody_else_may_read_it(void **state)
{
    struct stat status;

    (void)state;
    add("a secret");
    assert_int_equal(stat(file.path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(chmod(file.path, 0644), 0);
    add("another one");
    assert_int_equal(stat(file.path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void the_newest_are_kept(void **state)
{
    struct seen seen = {.count = 0};
    struct stat before, after;
    char entry[32];
    int i;

    (void)state;
    for (i = 0; i < 2 * HISTORY_ENTRIES_MAX + 10; i++) {
        (void)snprintf(entry, sizeof(entry), "entry %d", i);
        add(entry);
    }
    assert_int_equal(stat(file.path, &before), 0);
    history_file_load(&file, see, &seen);
    assert_int_equal(seen.count, HISTORY_ENTRIES_MAX);
    assert_string_equal(seen.first, "entry 1010");
    assert_string_equal(seen.last, "entry 2009");
    assert_int_equal(stat(file.path, &after), 0);
    assert_true(after.st_size < before.st_size);
    assert_int_equal(after.st_mode & 07777, 0600);
}

static void long_entries_do_not_fill_it(void **state)
{
    char *entry = malloc(HISTORY_ENTRY_BYTES_MAX + 1);
    struct seen seen = {.count = 0};
    struct stat status;
    int i;

    (void)state;
    assert_non_null(entry);
    memset(entry, 'x', HISTORY_ENTRY_BYTES_MAX + 1);
    assert_int_equal(history_file_add(&file, entry, HISTORY_ENTRY_BYTES_MAX + 1), -1);
    for (i = 0; i < 40; i++) {
        assert_int_equal(history_file_add(&file, entry, HISTORY_ENTRY_BYTES_MAX), 0);
    }
    free(entry);
    history_file_load(&file, see, &seen);
    assert_in_range(seen.count, 1, 39);
    assert_int_equal(stat(file.path, &status), 0);
    assert_true(status.st_size <= HISTORY_FILE_BYTES_MAX / 4);
}

static void a_link_in_its_place_is_left_alone(void **state)
{
    struct seen seen = {.count = 0};
    char target[96];
    struct stat status;

    (void)state;
    (void)snprintf(target, sizeof(target), "%s/target", directory);
    assert_int_equal(symlink(target, file.path), 0);
    assert_int_equal(history_file_add(&file, "a", 1), -1);
    assert_int_equal(stat(target, &status), -1);
    history_file_load(&file, see, &seen);
    assert_int_equal(seen.count, 0);
}

static void without_a_place_nothing_is_kept_and_nothing_fails(void **state)
{
    struct history_file none;
    struct seen seen = {.count = 0};

    (void)state;
    assert_int_equal(setenv("XDG_STATE_HOME", "/proc/no-such-place", 1), 0);
    history_file_init(&none);
    assert_string_equal(none.path, "");
    assert_int_equal(history_file_add(&none, "a", 1), -1);
    history_file_load(&none, see, &seen);
    assert_int_equal(seen.count, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(entries_come_back_as_they_were),
        TEST(nobody_else_may_read_it),
        TEST(the_newest_are_kept),
        TEST(long_entries_do_not_fill_it),
        TEST(a_link_in_its_place_is_left_alone),
        TEST(without_a_place_nothing_is_kept_and_nothing_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
