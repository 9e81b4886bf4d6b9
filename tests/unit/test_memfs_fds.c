/* test_memfs_fds.c - descriptors that have a file in common, streams, and directories that paths
 * begin at. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cell/memfs.h"

static const struct memfs_limits LIMITS = {.bytes_max = 1 << 20, .files_max = 64, .open_max = 12};
static struct memfs fs;

static int open_fs(void **state)
{
    (void)state;
    memfs_init(&fs, &LIMITS);
    return 0;
}

static int close_fs(void **state)
{
    (void)state;
    memfs_release(&fs);
    return 0;
}

static int open_new(const char *path)
{
    int fd = memfs_open(&fs, path, O_RDWR | O_CREAT, 0666);

    assert_true(fd >= MEMFS_FD_FIRST);
    return fd;
}

static void duplicates_are_at_one_place(void **state)
{
    int a = open_new("f"), b = memfs_dup(&fs, a, 0);
    char got[4] = "";

    (void)state;
    assert_int_equal(b, a + 1);
    assert_int_equal(memfs_write(&fs, a, "abc", 3, -1), 3);
    assert_int_equal(memfs_lseek(&fs, b, 0, SEEK_CUR), 3);
    assert_int_equal(memfs_lseek(&fs, b, 1, SEEK_SET), 1);
    assert_int_equal(memfs_read(&fs, a, got, 4, -1), 2);
    assert_int_equal(memfs_set_flags(&fs, a, O_APPEND), 0); /* flags, too */
    assert_int_equal(memfs_get_flags(&fs, b), O_RDWR | O_APPEND);
    assert_int_equal(memfs_set_cloexec(&fs, a, 1), 0); /* but not this one */
    assert_int_equal(memfs_get_cloexec(&fs, a), 1);
    assert_int_equal(memfs_get_cloexec(&fs, b), 0);
    assert_int_equal(memfs_unlink(&fs, "f"), 0);
    assert_int_equal(memfs_close(&fs, a), 0);
    assert_int_equal(memfs_read(&fs, a, got, 1, 0), -EBADF);
    assert_int_equal(memfs_read(&fs, b, got, 1, 0), 1); /* it lives with its last one */
    assert_int_equal(fs.files_count, 2);
    assert_int_equal(memfs_close(&fs, b), 0);
    assert_int_equal(fs.files_count, 1);
}

static void duplicates_take_the_numbers_they_may(void **state)
{
    int fd = open_new("f");

    (void)state;
    assert_int_equal(memfs_dup(&fs, fd, 9), 9);
    assert_int_equal(memfs_dup(&fs, fd, 9), 10);
    assert_int_equal(memfs_dup(&fs, fd, 0), 5);
    assert_int_equal(memfs_dup(&fs, fd, 12), -EINVAL);
    assert_int_equal(memfs_dup(&fs, fd, -1), -EINVAL);
    assert_int_equal(memfs_dup(&fs, 99, 0), -EBADF);
    assert_int_equal(memfs_dup(&fs, fd, 11), 11);
    assert_int_equal(memfs_dup(&fs, fd, 11), -EMFILE);
    assert_int_equal(memfs_dup2(&fs, fd, 11), 11); /* it was open */
    assert_int_equal(memfs_dup2(&fs, fd, fd), fd);
    assert_int_equal(memfs_dup2(&fs, 99, 1), -EBADF);
    assert_int_equal(memfs_dup2(&fs, 99, 99), -EBADF);
    assert_int_equal(memfs_dup2(&fs, fd, 3), -EBADF); /* the control socket's */
    assert_int_equal(memfs_dup2(&fs, fd, -1), -EBADF);
    assert_int_equal(memfs_dup2(&fs, fd, 12), -EBADF);
    assert_int_equal(memfs_dup2(&fs, fd, 1), 1);
    assert_int_equal(memfs_write(&fs, 1, "out", 3, -1), 3);
    assert_int_equal(memfs_lseek(&fs, fd, 0, SEEK_CUR), 3);
    assert_int_equal(memfs_close(&fs, 1), 0);
    assert_int_equal(memfs_close(&fs, 1), -EBADF);
}

static void a_stream_is_no_file(void **state)
{
    struct stat st;
    int copy;

    (void)state;
    assert_int_equal(memfs_stream_of(&fs, 1), -1);
    assert_int_equal(memfs_open_stream(&fs, 1, 7, O_WRONLY), 1);
    assert_int_equal(memfs_stream_of(&fs, 1), 7);
    assert_int_equal(memfs_get_flags(&fs, 1), O_WRONLY);
    assert_int_equal(memfs_write(&fs, 1, "x", 1, -1), -EBADF);
    assert_int_equal(memfs_fstat(&fs, 1, &st), -EBADF);
    assert_int_equal(memfs_lseek(&fs, 1, 0, SEEK_CUR), -EBADF);
    copy = memfs_dup(&fs, 1, 0);
    assert_int_equal(copy, 4);
    assert_int_equal(memfs_close(&fs, 1), 0);
    assert_int_equal(memfs_stream_of(&fs, copy), 7);
    assert_int_equal(memfs_dup2(&fs, copy, 1), 1);
    assert_int_equal(memfs_open_stream(&fs, -1, 8, O_RDWR), 5);
    assert_int_equal(memfs_stream_of(&fs, 5), 8);
    assert_int_equal(memfs_open_stream(&fs, 3, 8, O_RDWR), -EBADF);
    assert_int_equal(memfs_open_stream(&fs, 1, 9, O_RDWR), 1); /* in the place of the other */
    assert_int_equal(memfs_stream_of(&fs, 1), 9);
    assert_null(fs.root); /* there is no tree yet */
}

static void paths_begin_at_an_open_directory(void **state)
{
    struct memfs_at before;
    char path[PATH_MAX];
    struct stat st;
    int d, f;

    (void)state;
    assert_int_equal(memfs_mkdir(&fs, "d", 0777), 0);
    d = memfs_open(&fs, "d", O_RDONLY | O_DIRECTORY, 0);
    f = open_new("f");
    assert_int_equal(memfs_at_begin(&fs, f, &before), -ENOTDIR);
    assert_int_equal(memfs_at_begin(&fs, 99, &before), -EBADF);
    assert_int_equal(memfs_open_stream(&fs, 1, 0, O_WRONLY), 1);
    assert_int_equal(memfs_at_begin(&fs, 1, &before), -ENOTDIR);
    assert_int_equal(memfs_rename(&fs, "d", "e"), 0); /* it is not about its name */
    assert_int_equal(memfs_at_begin(&fs, d, &before), 0);
    assert_int_equal(memfs_mkdir(&fs, "inner", 0777), 0);
    assert_int_equal(memfs_stat(&fs, "inner", &st), 0);
    assert_int_equal(memfs_ino_of(&fs, "inner"), st.st_ino);
    assert_int_equal(memfs_ino_of(&fs, "none"), 0);
    memfs_at_end(&fs, &before);
    assert_int_equal(memfs_stat(&fs, "inner", &st), -ENOENT);
    assert_int_equal(memfs_stat(&fs, "e/inner", &st), 0);
    assert_int_equal(memfs_fd_path(&fs, d, path), 0);
    assert_string_equal(path, "/home/vial/e");
    assert_int_equal(memfs_fd_path(&fs, f, path), -ENOTDIR);
    assert_int_equal(memfs_fchdir(&fs, f), -ENOTDIR);
    assert_int_equal(memfs_fchdir(&fs, d), 0);
    assert_int_equal(memfs_stat(&fs, "inner", &st), 0);
    assert_int_equal(memfs_rmdir(&fs, "inner"), 0);
    assert_int_equal(memfs_rmdir(&fs, "/home/vial/e"), 0);
    assert_int_equal(memfs_mkdir(&fs, "late", 0777), -ENOENT);
    assert_int_equal(memfs_fd_path(&fs, d, path), -ENOENT);
}

#define WITH_FS(function) cmocka_unit_test_setup_teardown(function, open_fs, close_fs)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FS(duplicates_are_at_one_place),
        WITH_FS(duplicates_take_the_numbers_they_may),
        WITH_FS(a_stream_is_no_file),
        WITH_FS(paths_begin_at_an_open_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
