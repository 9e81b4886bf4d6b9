/* test_memfs_open.c - descriptors: their numbers, where they are, and what may be done with them.
 */
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

static const struct memfs_limits LIMITS = {.bytes_max = 1 << 20, .files_max = 64, .open_max = 8};
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

static int open_new(const char *path, int flags)
{
    int fd = memfs_open(&fs, path, flags | O_CREAT, 0666);

    assert_true(fd >= MEMFS_FD_FIRST);
    return fd;
}

static void numbers_begin_behind_the_cells_own(void **state)
{
    int fd;

    (void)state;
    for (fd = -1; fd < 20; fd++) {
        assert_int_equal(memfs_close(&fs, fd), -EBADF);
        assert_int_equal(memfs_fsync(&fs, fd), -EBADF);
        assert_int_equal(memfs_read(&fs, fd, (char[1]){0}, 1, -1), -EBADF);
        assert_int_equal(memfs_write(&fs, fd, "x", 1, -1), -EBADF);
        assert_int_equal(memfs_ftruncate(&fs, fd, 0), -EBADF);
        assert_int_equal(memfs_fstat(&fs, fd, &(struct stat){0}), -EBADF);
        assert_int_equal(memfs_fchmod(&fs, fd, 0), -EBADF);
        assert_int_equal(memfs_futimens(&fs, fd, (struct timespec[2]){{0}}), -EBADF);
    }
    for (fd = 4; fd < 8; fd++) {
        assert_int_equal(open_new("f", O_RDWR), fd);
    }
    assert_int_equal(memfs_open(&fs, "f", O_RDONLY, 0), -EMFILE);
    assert_int_equal(memfs_open(&fs, "g", O_WRONLY | O_CREAT, 0666), -EMFILE);
    assert_int_equal(memfs_stat(&fs, "g", &(struct stat){0}), -ENOENT); /* nothing was made */
    assert_int_equal(memfs_close(&fs, 5), 0);
    assert_int_equal(memfs_close(&fs, 5), -EBADF);
    assert_int_equal(open_new("f", O_RDWR), 5); /* the lowest free one */
    assert_int_equal(memfs_close(&fs, 5), 0);
    assert_int_equal(memfs_copy(&fs, "f", "g", 0), -EMFILE); /* it takes two */
}

static void each_has_a_place_of_its_own(void **state)
{
    char got[8] = "";
    int a = open_new("f", O_RDWR), b = open_new("f", O_RDWR);

    (void)state;
    assert_int_equal(memfs_write(&fs, a, "abcdef", 6, -1), 6);
    assert_int_equal(memfs_read(&fs, b, got, 2, -1), 2);
    assert_memory_equal(got, "ab", 2);
    assert_int_equal(memfs_read(&fs, b, got, 8, 4), 2); /* which does not move it */
    assert_memory_equal(got, "ef", 2);
    assert_int_equal(memfs_write(&fs, b, "X", 1, 0), 1);
    assert_int_equal(memfs_write(&fs, b, "Y", 1, -1), 1);
    assert_int_equal(memfs_read(&fs, a, got, 8, -1), 0);
    assert_int_equal(memfs_read(&fs, a, got, 8, 0), 6);
    assert_memory_equal(got, "XbYdef", 6);
    assert_int_equal(memfs_read(&fs, a, got, 8, -2), -EINVAL);
    assert_int_equal(memfs_write(&fs, a, got, 8, INT64_MIN), -EINVAL);
    assert_int_equal(memfs_ftruncate(&fs, a, 2), 0);
    assert_int_equal(memfs_write(&fs, a, "Z", 1, -1), 1); /* behind a hole now */
    assert_int_equal(memfs_read(&fs, a, got, 8, 0), 7);
    assert_memory_equal(got, "Xb\0\0\0\0Z", 7);
}

static void appending_is_always_at_the_end(void **state)
{
    char got[16];
    int a = open_new("f", O_WRONLY | O_APPEND), b = open_new("f", O_RDWR);

    (void)state;
    assert_int_equal(memfs_write(&fs, b, "12345", 5, -1), 5);
    assert_int_equal(memfs_write(&fs, a, "a", 1, -1), 1);
    assert_int_equal(memfs_write(&fs, a, "b", 1, 0), 1); /* as Linux has it */
    assert_int_equal(memfs_read(&fs, b, got, 16, 0), 7);
    assert_memory_equal(got, "12345ab", 7);
}

static void a_way_to_open_is_a_way_to_use(void **state)
{
    int r, w, d;

    (void)state;
    w = open_new("f", O_WRONLY);
    r = open_new("f", O_RDONLY);
    assert_int_equal(memfs_read(&fs, w, (char[1]){0}, 1, -1), -EBADF);
    assert_int_equal(memfs_write(&fs, r, "x", 1, -1), -EBADF);
    assert_int_equal(memfs_ftruncate(&fs, r, 0), -EINVAL);
    assert_int_equal(memfs_ftruncate(&fs, w, -1), -EINVAL);
    assert_int_equal(memfs_ftruncate(&fs, w, 1 << 30), -EFBIG);
    assert_int_equal(memfs_fsync(&fs, r), 0);
    d = memfs_open(&fs, ".", O_RDONLY | O_DIRECTORY, 0);
    assert_int_equal(memfs_read(&fs, d, (char[1]){0}, 1, -1), -EISDIR);
    assert_int_equal(memfs_open(&fs, "f", O_ACCMODE, 0), -EINVAL);
    assert_int_equal(memfs_open(&fs, "f", O_PATH, 0), -EINVAL);
    assert_int_equal(memfs_open(&fs, ".", O_TMPFILE | O_RDWR, 0600), -EINVAL);
    assert_int_equal(memfs_open(&fs, "n", O_CREAT | O_DIRECTORY, 0600), -EINVAL);
}

static void a_mode_counts_from_the_next_opening_on(void **state)
{
    struct stat st;
    int fd = memfs_open(&fs, "f", O_WRONLY | O_CREAT, 0);

    (void)state;
    assert_true(fd >= 0); /* who makes it may write to it */
    assert_int_equal(memfs_write(&fs, fd, "x", 1, -1), 1);
    assert_int_equal(memfs_open(&fs, "f", O_RDONLY, 0), -EACCES);
    assert_int_equal(memfs_fchmod(&fs, fd, 0604), 0);
    assert_int_equal(memfs_fstat(&fs, fd, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0604);
    assert_int_equal(
        memfs_futimens(&fs, fd, (struct timespec[2]){{.tv_sec = 3}, {.tv_sec = 4}}), 0);
    assert_int_equal(memfs_fstat(&fs, fd, &st), 0);
    assert_int_equal(st.st_mtim.tv_sec, 4);
    (void)memfs_umask(&fs, 0);
    assert_int_equal(memfs_close(&fs, memfs_open(&fs, "g", O_CREAT, 0666)), 0);
    assert_int_equal(memfs_stat(&fs, "g", &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0666);
}

static void what_is_open_outlives_its_name(void **state)
{
    struct stat st;
    char got[4];
    int fd = open_new("f", O_RDWR), d;

    (void)state;
    assert_int_equal(memfs_write(&fs, fd, "abc", 3, -1), 3);
    assert_int_equal(memfs_unlink(&fs, "f"), 0);
    assert_int_equal(fs.files_count, 2); /* it still takes its room */
    assert_int_equal(fs.pages_count, 1);
    assert_int_equal(memfs_fstat(&fs, fd, &st), 0);
    assert_int_equal(st.st_nlink, 0);
    assert_int_equal(memfs_read(&fs, fd, got, 4, 0), 3);
    assert_int_equal(memfs_close(&fs, fd), 0);
    assert_int_equal(fs.files_count, 1);
    assert_int_equal(fs.pages_count, 0);
    assert_int_equal(memfs_mkdir(&fs, "d", 0777), 0);
    d = memfs_open(&fs, "d", O_RDONLY, 0);
    assert_int_equal(memfs_rmdir(&fs, "d"), 0);
    assert_int_equal(memfs_fstat(&fs, d, &st), 0);
    assert_int_equal(memfs_close(&fs, d), 0);
    fd = open_new("a", O_RDWR); /* replaced while open */
    assert_int_equal(memfs_close(&fs, open_new("b", O_RDWR)), 0);
    assert_int_equal(memfs_rename(&fs, "b", "a"), 0);
    assert_int_equal(memfs_write(&fs, fd, "x", 1, -1), 1);
    assert_int_equal(memfs_stat(&fs, "a", &st), 0);
    assert_int_equal(st.st_size, 0);
}

static void seeking_moves_as_in_the_kernel(void **state)
{
    int fd = open_new("f", O_RDWR);
    char got[4];

    (void)state;
    assert_int_equal(memfs_write(&fs, fd, "abcdef", 6, -1), 6);
    assert_int_equal(memfs_lseek(&fs, fd, 0, SEEK_CUR), 6);
    assert_int_equal(memfs_lseek(&fs, fd, 2, SEEK_SET), 2);
    assert_int_equal(memfs_read(&fs, fd, got, 1, -1), 1);
    assert_int_equal(got[0], 'c');
    assert_int_equal(memfs_lseek(&fs, fd, -2, SEEK_END), 4);
    assert_int_equal(memfs_lseek(&fs, fd, -5, SEEK_CUR), -EINVAL);
    assert_int_equal(memfs_lseek(&fs, fd, INT64_MIN, SEEK_END), -EINVAL);
    assert_int_equal(memfs_lseek(&fs, fd, INT64_MAX, SEEK_CUR), -EOVERFLOW);
    assert_int_equal(memfs_lseek(&fs, fd, 0, 99), -EINVAL);
    assert_int_equal(memfs_lseek(&fs, fd, 0, SEEK_CUR), 4); /* failures do not move it */
    assert_int_equal(memfs_lseek(&fs, fd, 10, SEEK_END), 16);
    assert_int_equal(memfs_read(&fs, fd, got, 1, -1), 0);
    assert_int_equal(memfs_write(&fs, fd, "x", 1, -1), 1);
    assert_int_equal(memfs_lseek(&fs, fd, 0, SEEK_END), 17);
    assert_int_equal(memfs_lseek(&fs, 99, 0, SEEK_END), -EBADF);
}

static void holes_can_be_found_and_filled(void **state)
{
    int fd = open_new("f", O_RDWR);
    uint64_t pages;
    struct stat st;
    char got[3];

    (void)state;
    assert_int_equal(memfs_write(&fs, fd, "end", 3, 200000), 3);
    assert_int_equal(memfs_write(&fs, fd, "a", 1, 0), 1);
    assert_int_equal(memfs_lseek(&fs, fd, 0, SEEK_DATA), 0);
    assert_int_equal(memfs_lseek(&fs, fd, 0, SEEK_HOLE), 1);
    assert_int_equal(memfs_lseek(&fs, fd, 1, SEEK_DATA), 3 * 65536);
    assert_int_equal(memfs_lseek(&fs, fd, 200001, SEEK_DATA), 200001);
    assert_int_equal(memfs_lseek(&fs, fd, 200001, SEEK_HOLE), 200003);
    assert_int_equal(memfs_lseek(&fs, fd, 200003, SEEK_HOLE), -ENXIO);
    assert_int_equal(memfs_lseek(&fs, fd, -1, SEEK_DATA), -ENXIO);
    pages = fs.pages_count;
    assert_int_equal(memfs_fallocate(&fs, fd, 0, 300000), 0);
    assert_true(fs.pages_count > pages);
    assert_int_equal(memfs_fstat(&fs, fd, &st), 0);
    assert_int_equal(st.st_size, 300000);
    assert_int_equal(memfs_read(&fs, fd, got, 3, 200000), 3);
    assert_memory_equal(got, "end", 3);
    assert_int_equal(memfs_fallocate(&fs, fd, 0, 100), 0); /* never shorter */
    assert_int_equal(memfs_fstat(&fs, fd, &st), 0);
    assert_int_equal(st.st_size, 300000);
    assert_int_equal(memfs_fallocate(&fs, fd, 0, 0), -EINVAL);
    assert_int_equal(memfs_fallocate(&fs, fd, -1, 1), -EINVAL);
    assert_int_equal(memfs_fallocate(&fs, fd, 1, INT64_MAX), -EFBIG);
    assert_int_equal(memfs_fallocate(&fs, fd, 0, 2 << 20), -EFBIG);
    assert_int_equal(memfs_fallocate(&fs, memfs_open(&fs, "f", O_RDONLY, 0), 0, 1), -EBADF);
    assert_int_equal(memfs_close(&fs, open_new("g", O_RDWR)), 0);
    fd = memfs_open(&fs, "g", O_WRONLY, 0);
    assert_int_equal(memfs_fallocate(&fs, fd, 0, 1 << 20), -ENOSPC);
}

static void a_copy_has_bytes_and_permissions(void **state)
{
    struct stat st;
    char got[4];
    int fd = open_new("f", O_RDWR);

    (void)state;
    assert_int_equal(memfs_write(&fs, fd, "abc", 3, -1), 3);
    assert_int_equal(memfs_fchmod(&fs, fd, 0750), 0);
    assert_int_equal(memfs_close(&fs, fd), 0);
    assert_int_equal(memfs_copy(&fs, "f", "g", 1), 0);
    assert_int_equal(memfs_stat(&fs, "g", &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0750);
    assert_int_equal(memfs_copy(&fs, "f", "g", 1), -EEXIST);
    assert_int_equal(memfs_copy(&fs, "f", "g", 0), 0);
    assert_int_equal(memfs_link(&fs, "f", "h"), 0);
    assert_int_equal(memfs_copy(&fs, "f", "h", 0), 0); /* itself: it keeps its bytes */
    fd = memfs_open(&fs, "h", O_RDONLY, 0);
    assert_int_equal(memfs_read(&fs, fd, got, 4, -1), 3);
    assert_int_equal(memfs_close(&fs, fd), 0);
    assert_int_equal(memfs_copy(&fs, ".", "x", 0), -EISDIR);
    assert_int_equal(memfs_copy(&fs, "no", "x", 0), -ENOENT);
    assert_int_equal(memfs_copy(&fs, "f", "no/x", 0), -ENOENT);
    assert_int_equal(memfs_copy(&fs, "f", ".", 0), -EISDIR);
    assert_int_equal(memfs_open(&fs, "f", O_RDONLY, 0), 4); /* all are closed again */
}

#define WITH_FS(function) cmocka_unit_test_setup_teardown(function, open_fs, close_fs)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FS(numbers_begin_behind_the_cells_own),
        WITH_FS(each_has_a_place_of_its_own),
        WITH_FS(appending_is_always_at_the_end),
        WITH_FS(a_way_to_open_is_a_way_to_use),
        WITH_FS(a_mode_counts_from_the_next_opening_on),
        WITH_FS(what_is_open_outlives_its_name),
        WITH_FS(seeking_moves_as_in_the_kernel),
        WITH_FS(holes_can_be_found_and_filled),
        WITH_FS(a_copy_has_bytes_and_permissions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
