/* test_memfs_judge.c - what memfs asks before it does something, and that no way leads around it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cell/memfs.h"

static const struct memfs_limits LIMITS = {.bytes_max = 1 << 20, .files_max = 100, .open_max = 32};

static struct memfs fs;
static char asked[1024]; /* all questions since it was emptied */

/* Nothing in /home/vial/no, nothing but reading in /home/vial/ro. */
static int judge(struct memfs *of, unsigned what, const char *path, int quiet)
{
    size_t used = strlen(asked);

    assert_ptr_equal(of, &fs);
    if (!quiet) {
        (void)snprintf(asked + used, sizeof(asked) - used, "%u%s ", what, path);
    }
    if (strncmp(path, "/home/vial/no", 13) == 0) {
        return -EACCES;
    }
    return strncmp(path, "/home/vial/ro", 13) == 0 && (what & MEMFS_ASK_WRITE) != 0 ? -EACCES : 0;
}

static void put(const char *path)
{
    int fd = memfs_open(&fs, path, O_WRONLY | O_CREAT, 0644);

    assert_true(fd >= 0);
    assert_int_equal(memfs_write(&fs, fd, "x", 1, -1), 1);
    assert_int_equal(memfs_close(&fs, fd), 0);
}

static int begin(void **state)
{
    (void)state;
    memfs_init(&fs, &LIMITS);
    assert_int_equal(memfs_mkdir(&fs, "no", 0755), 0);
    assert_int_equal(memfs_mkdir(&fs, "ro", 0755), 0);
    assert_int_equal(memfs_mkdir(&fs, "yes", 0755), 0);
    put("no/a");
    put("ro/a");
    put("yes/a");
    fs.judge = judge;
    asked[0] = '\0';
    return 0;
}

static int end(void **state)
{
    (void)state;
    fs.judge = NULL;
    memfs_release(&fs);
    return 0;
}

static void every_spelling_of_a_path_is_one_question(void **state)
{
    static const char *const spellings[] = {"no/a", "/home/vial/no/a", "./no//a", "yes/../no/a",
        "/home/../home/vial/yes/./../no/a", "//home///vial/no/a", "link", "yes/up"};
    size_t i;

    (void)state;
    assert_int_equal(memfs_symlink(&fs, "/home/vial/no/a", "link"), 0);
    assert_int_equal(memfs_symlink(&fs, "../no/a", "yes/up"), 0);
    for (i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        asked[0] = '\0';
        assert_int_equal(memfs_open(&fs, spellings[i], O_RDONLY, 0), -EACCES);
        assert_string_equal(asked, "1/home/vial/no/a ");
    }
    assert_int_equal(memfs_chdir(&fs, "no"), -EACCES);
}

static void all_that_can_be_done_is_asked_about(void **state)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    char text[PATH_MAX];
    struct stat st;

    (void)state;
    assert_int_equal(memfs_stat(&fs, "no/a", &st), -EACCES);
    assert_int_equal(memfs_lstat(&fs, "no/a", &st), -EACCES);
    assert_int_equal(memfs_access(&fs, "no/a", F_OK), -EACCES);
    assert_int_equal(memfs_realpath(&fs, "no/a", text), -EACCES);
    assert_int_equal(memfs_readlink(&fs, "no/a", text), -EACCES);
    assert_int_equal(memfs_list(&fs, "no", NULL, NULL), -EACCES);
    assert_int_equal(memfs_mkdir(&fs, "no/d", 0755), -EACCES);
    assert_int_equal(memfs_rmdir(&fs, "no"), -EACCES);
    assert_int_equal(memfs_unlink(&fs, "no/a"), -EACCES);
    assert_int_equal(memfs_chmod(&fs, "ro/a", 0600), -EACCES);
    assert_int_equal(memfs_truncate(&fs, "ro/a", 0), -EACCES);
    assert_int_equal(memfs_utimens(&fs, "ro/a", times, 0), -EACCES);
    assert_int_equal(memfs_symlink(&fs, "x", "ro/l"), -EACCES);
    assert_int_equal(memfs_access(&fs, "ro/a", W_OK), -EACCES);
    assert_int_equal(memfs_access(&fs, "ro/a", R_OK), 0);
    assert_int_equal(memfs_open(&fs, "ro/a", O_RDWR, 0), -EACCES);
    assert_int_equal(memfs_open(&fs, "ro/a", O_RDONLY | O_TRUNC, 0), -EACCES);
    assert_int_equal(memfs_open(&fs, "ro/new", O_RDONLY | O_CREAT, 0), -EACCES);
    assert_int_equal(memfs_copy(&fs, "no/a", "yes/b", 0), -EACCES);
    assert_int_equal(memfs_copy(&fs, "yes/a", "ro/b", 0), -EACCES);
    assert_int_equal(memfs_copy(&fs, "ro/a", "yes/b", 0), 0);
}

/* A file by another name would be under other rules. */
static void nothing_is_moved_to_where_other_rules_hold(void **state)
{
    (void)state;
    assert_int_equal(memfs_rename(&fs, "no/a", "yes/b"), -EACCES);
    assert_int_equal(memfs_rename(&fs, "ro/a", "yes/b"), -EACCES);
    assert_int_equal(memfs_rename(&fs, "yes/a", "ro/b"), -EACCES);
    assert_int_equal(memfs_link(&fs, "no/a", "yes/b"), -EACCES);
    assert_int_equal(memfs_link(&fs, "ro/a", "yes/b"), -EACCES);
    assert_int_equal(memfs_rename(&fs, "yes/a", "yes/b"), 0);
    assert_int_equal(memfs_link(&fs, "yes/b", "yes/c"), 0);
    assert_int_equal(memfs_rename(&fs, "yes", "maybe"), -EXDEV);
    assert_int_equal(memfs_mkdir(&fs, "empty", 0755), 0);
    assert_int_equal(memfs_rename(&fs, "empty", "moved"), 0);
}

/* What was opened for reading may not be changed by way of its descriptor. */
static void a_descriptor_can_do_no_more_than_its_path(void **state)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    int fd = memfs_open(&fs, "ro/a", O_RDONLY, 0);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(memfs_fchmod(&fs, fd, 0600), -EACCES);
    assert_int_equal(memfs_futimens(&fs, fd, times), -EACCES);
    assert_int_equal(memfs_ftruncate(&fs, fd, 0), -EINVAL);
    assert_int_equal(memfs_close(&fs, fd), 0);
    fd = memfs_open(&fs, "yes/a", O_RDONLY, 0);
    assert_int_equal(memfs_fchmod(&fs, fd, 0600), 0);
    assert_int_equal(memfs_close(&fs, fd), 0);
}

static void relative_to_an_open_directory_paths_are_whole(void **state)
{
    struct memfs_at before;
    int dir = memfs_open(&fs, "yes", O_RDONLY | O_DIRECTORY, 0);

    (void)state;
    assert_true(dir >= 0);
    assert_int_equal(memfs_at_begin(&fs, dir, &before), 0);
    assert_int_equal(memfs_open(&fs, "../no/a", O_RDONLY, 0), -EACCES);
    memfs_at_end(&fs, &before);
    asked[0] = '\0';
    assert_int_equal(memfs_fchdir(&fs, dir), 0);
    assert_string_equal(asked, "4/home/vial/yes ");
}

static void without_a_judge_nobody_is_asked(void **state)
{
    struct stat st;

    (void)state;
    fs.judge = NULL;
    assert_int_equal(memfs_stat(&fs, "no/a", &st), 0);
    assert_int_equal(memfs_rename(&fs, "no", "yes/no"), 0);
    assert_string_equal(asked, "");
}

#define WITH_FS(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FS(every_spelling_of_a_path_is_one_question),
        WITH_FS(all_that_can_be_done_is_asked_about),
        WITH_FS(nothing_is_moved_to_where_other_rules_hold),
        WITH_FS(a_descriptor_can_do_no_more_than_its_path),
        WITH_FS(relative_to_an_open_directory_paths_are_whole),
        WITH_FS(without_a_judge_nobody_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
