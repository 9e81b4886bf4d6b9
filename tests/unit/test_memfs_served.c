/* test_memfs_served.c - a directory that somebody else serves: it is asked about nothing but what
 * the guest looks at, with paths that cannot lead out of it, and nothing in it can be changed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cell/memfs.h"

static const struct memfs_limits LIMITS = {.bytes_max = 1 << 20, .files_max = 64, .open_max = 16};
static struct memfs fs;
static unsigned asked_count;
static char asked[PATH_MAX]; /* the path that was asked about last */

/* "" and "sub" are directories; "a.txt" and "sub/b.txt" are files; "link" is what no guest may
 * have.
 */
static const char *const FILES[] = {"a.txt", "alpha", "sub/b.txt", "beta"};

static int serve_stat(void *user, const char *path, struct memfs_served_stat *ret)
{
    size_t i;

    assert_ptr_equal(user, &asked_count);
    asked_count++;
    (void)snprintf(asked, sizeof(asked), "%s", path);
    ret->mtime = (struct timespec){.tv_sec = 77};
    if (strcmp(path, "") == 0 || strcmp(path, "sub") == 0) {
        ret->mode = S_IFDIR | 0777;
        return 0;
    }
    if (strcmp(path, "link") == 0) {
        ret->mode = S_IFLNK | 0777;
        return 0;
    }
    for (i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i += 2) {
        if (strcmp(path, FILES[i]) == 0) {
            ret->mode = S_IFREG | 0666;
            ret->size = strlen(FILES[i + 1]);
            return 0;
        }
        if (strncmp(path, FILES[i], strlen(FILES[i])) == 0) {
            return -ENOTDIR;
        }
    }
    return -ENOENT;
}

static int serve_list(void *user, const char *path, memfs_entry_fn fn, void *fn_user)
{
    int r;

    (void)user;
    if (strcmp(path, "sub") == 0) {
        return fn("b.txt", 5, S_IFREG, fn_user);
    }
    r = fn("a.txt", 5, S_IFREG, fn_user);
    r = r != 0 ? r : fn("sub", 3, S_IFDIR, fn_user);
    r = r != 0 ? r : fn("link", 4, S_IFLNK, fn_user); /* none of these is passed on */
    r = r != 0 ? r : fn("../x", 4, S_IFREG, fn_user);
    r = r != 0 ? r : fn("..", 2, S_IFDIR, fn_user);
    return r != 0 ? r : fn("", 0, S_IFREG, fn_user);
}

static ssize_t serve_read(void *user, const char *path, uint64_t offset, char *bytes, size_t len)
{
    size_t i, there;

    (void)user;
    for (i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i += 2) {
        if (strcmp(path, FILES[i]) == 0) {
            there = offset < strlen(FILES[i + 1]) ? strlen(FILES[i + 1]) - (size_t)offset : 0;
            there = there < len ? there : len;
            memcpy(bytes, FILES[i + 1] + offset, there);
            return (ssize_t)there;
        }
    }
    return -EISDIR;
}

static const struct memfs_served SERVED = {
    .list = serve_list, .stat = serve_stat, .read = serve_read, .user = &asked_count};

static int open_fs(void **state)
{
    (void)state;
    memfs_init(&fs, &LIMITS);
    asked_count = 0;
    asked[0] = '\0';
    return memfs_mount(&fs, "data", &SERVED);
}

static int close_fs(void **state)
{
    (void)state;
    memfs_release(&fs);
    return 0;
}

static int join(const char *name, size_t len, uint32_t type, void *user)
{
    char *text = user;

    (void)snprintf(text + strlen(text), 100 - strlen(text), "%.*s%c", (int)len, name,
        type == S_IFDIR ? '/' : ' ');
    return 0;
}

static const char *get(const char *path)
{
    static char text[100];
    int fd = memfs_open(&fs, path, O_RDONLY, 0);
    int64_t n;

    if (fd < 0) {
        return strerrorname_np(-fd);
    }
    n = memfs_read(&fs, fd, text, sizeof(text) - 1, -1);
    assert_int_equal(memfs_close(&fs, fd), 0);
    if (n < 0) {
        return strerrorname_np((int)-n);
    }
    text[n] = '\0';
    return text;
}

static void what_is_served_can_be_read(void **state)
{
    char text[100] = "", path[PATH_MAX];
    struct stat st, other;
    int fd;

    (void)state;
    assert_int_equal(asked_count, 0); /* not before somebody looks */
    assert_string_equal(get("data/a.txt"), "alpha");
    assert_string_equal(get("/home/vial/data/sub//./b.txt"), "beta");
    assert_string_equal(get("data/no"), "ENOENT");
    assert_string_equal(get("data/a.txt/"), "ENOTDIR");
    assert_string_equal(get("data/a.txt/x"), "ENOTDIR");
    assert_string_equal(get("data/link"), "ENOENT");
    assert_string_equal(get("data"), "EISDIR");
    assert_int_equal(memfs_list(&fs, "data", join, text), 0);
    assert_string_equal(text, "a.txt sub/");
    text[0] = '\0';
    assert_int_equal(memfs_list(&fs, ".", join, text), 0);
    assert_string_equal(text, "data/");
    assert_int_equal(memfs_list(&fs, "data/a.txt", join, text), -ENOTDIR);
    assert_int_equal(memfs_stat(&fs, "data/a.txt", &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0444);
    assert_int_equal(st.st_size, 5);
    assert_int_equal(st.st_mtim.tv_sec, 77);
    assert_int_equal(memfs_lstat(&fs, "data/sub/b.txt", &other), 0);
    assert_int_not_equal(st.st_ino, other.st_ino);
    assert_true(st.st_ino < UINT64_C(1) << 53);
    assert_int_equal(memfs_stat(&fs, "data/sub/../a.txt", &other), 0);
    assert_int_equal(st.st_ino, other.st_ino);
    assert_int_equal(memfs_realpath(&fs, "data/./sub/b.txt", path), 0);
    assert_string_equal(path, "/home/vial/data/sub/b.txt");
    fd = memfs_open(&fs, "data/a.txt", O_RDONLY, 0);
    assert_int_equal(memfs_read(&fs, fd, text, 2, 3), 2);
    assert_memory_equal(text, "ha", 2);
    assert_int_equal(memfs_fstat(&fs, fd, &other), 0);
    assert_int_equal(other.st_size, 5);
}

static void no_path_leads_out_of_it(void **state)
{
    struct stat st, work;

    (void)state;
    assert_int_equal(memfs_stat(&fs, "data/sub/../../data/../data/a.txt", &st), 0);
    assert_string_equal(asked, "a.txt");
    assert_int_equal(memfs_stat(&fs, "data/..", &st), 0);
    assert_int_equal(memfs_stat(&fs, "/home/vial", &work), 0);
    assert_int_equal(st.st_ino, work.st_ino);
    assert_int_equal(memfs_stat(&fs, "data/../../../etc/passwd", &st), -ENOENT);
    assert_string_equal(asked, "a.txt"); /* that was not asked */
    assert_int_equal(memfs_symlink(&fs, "data/sub/../sub", "in"), 0);
    assert_string_equal(get("in/b.txt"), "beta");
    assert_string_equal(asked, "sub/b.txt");
}

static void one_can_be_in_it(void **state)
{
    char path[PATH_MAX];

    (void)state;
    assert_int_equal(memfs_chdir(&fs, "data/a.txt"), -ENOTDIR);
    assert_int_equal(memfs_chdir(&fs, "data/no"), -ENOENT);
    assert_int_equal(memfs_chdir(&fs, "data/sub"), 0);
    assert_int_equal(memfs_getcwd(&fs, path), 0);
    assert_string_equal(path, "/home/vial/data/sub");
    assert_string_equal(get("b.txt"), "beta");
    assert_string_equal(get("../a.txt"), "alpha");
    assert_int_equal(memfs_chdir(&fs, ".."), 0);
    assert_int_equal(memfs_getcwd(&fs, path), 0);
    assert_string_equal(path, "/home/vial/data");
    assert_int_equal(memfs_chdir(&fs, ".."), 0);
    assert_int_equal(memfs_getcwd(&fs, path), 0);
    assert_string_equal(path, "/home/vial");
}

static void nothing_in_it_can_be_changed(void **state)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    struct stat st;
    int fd;

    (void)state;
    assert_int_equal(memfs_open(&fs, "data/a.txt", O_WRONLY, 0), -EROFS);
    assert_int_equal(memfs_open(&fs, "data/a.txt", O_RDONLY | O_TRUNC, 0), -EROFS);
    assert_int_equal(memfs_open(&fs, "data/new", O_WRONLY | O_CREAT, 0666), -EROFS);
    assert_int_equal(memfs_open(&fs, "data/a.txt", O_RDWR | O_CREAT | O_EXCL, 0666), -EEXIST);
    assert_int_equal(memfs_open(&fs, "data/sub", O_WRONLY, 0), -EISDIR);
    assert_int_equal(memfs_mkdir(&fs, "data/new", 0777), -EROFS);
    assert_int_equal(memfs_mkdir(&fs, "data", 0777), -EEXIST);
    assert_int_equal(memfs_symlink(&fs, "x", "data/new"), -EROFS);
    assert_int_equal(memfs_unlink(&fs, "data/a.txt"), -EROFS);
    assert_int_equal(memfs_rmdir(&fs, "data/sub"), -EROFS);
    assert_int_equal(memfs_chmod(&fs, "data/a.txt", 0777), -EROFS);
    assert_int_equal(memfs_chmod(&fs, "data", 0777), -EROFS);
    assert_int_equal(memfs_truncate(&fs, "data/a.txt", 0), -EROFS);
    assert_int_equal(memfs_utimens(&fs, "data/a.txt", times, 0), -EROFS);
    assert_int_equal(memfs_access(&fs, "data/a.txt", W_OK), -EROFS);
    assert_int_equal(memfs_access(&fs, "data/a.txt", R_OK), 0);
    assert_int_equal(memfs_link(&fs, "data/a.txt", "x"), -EXDEV);
    assert_int_equal(memfs_rename(&fs, "data/a.txt", "x"), -EXDEV);
    assert_int_equal(memfs_rename(&fs, "data/a.txt", "data/x"), -EROFS);
    assert_int_equal(memfs_mkdir(&fs, "d", 0777), 0);
    assert_int_equal(memfs_rename(&fs, "d", "data/x"), -EXDEV);
    assert_int_equal(memfs_rename(&fs, "d", "data"), -EBUSY);
    assert_int_equal(memfs_rename(&fs, "data", "d"), -EBUSY);
    assert_int_equal(memfs_rmdir(&fs, "data"), -EBUSY);
    assert_int_equal(memfs_readlink(&fs, "data/a.txt", (char[PATH_MAX]){0}), -EINVAL);
    fd = memfs_open(&fs, "data/a.txt", O_RDONLY, 0);
    assert_int_equal(memfs_write(&fs, fd, "x", 1, -1), -EBADF);
    assert_int_equal(memfs_ftruncate(&fs, fd, 0), -EINVAL);
    assert_int_equal(memfs_fchmod(&fs, fd, 0), -EROFS);
    assert_int_equal(memfs_futimens(&fs, fd, times), -EROFS);
    assert_int_equal(memfs_copy(&fs, "data/a.txt", "copy", 0), 0); /* but a copy can */
    assert_string_equal(get("copy"), "alpha");
    assert_int_equal(memfs_stat(&fs, "copy", &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0644);
}

static void a_place_is_taken_once(void **state)
{
    char name[16];
    int i, r = 0;

    (void)state;
    assert_int_equal(memfs_mount(&fs, "data", &SERVED), -EEXIST);
    assert_int_equal(memfs_mount(&fs, "data/sub", &SERVED), -EEXIST);
    assert_int_equal(memfs_mount(&fs, "data/x/y", &SERVED), -EROFS);
    assert_int_equal(memfs_mount(&fs, "../x", &SERVED), -EINVAL);
    assert_int_equal(memfs_mount(&fs, "", &SERVED), -EINVAL);
    assert_int_equal(memfs_mount(&fs, "deep/er/data", &SERVED), 0);
    assert_string_equal(get("deep/er/data/a.txt"), "alpha");
    for (i = 0; i < 100 && r == 0; i++) {
        (void)snprintf(name, sizeof(name), "m%d", i);
        r = memfs_mount(&fs, name, &SERVED);
    }
    assert_int_equal(r, -ENOSPC);
}

#define WITH_FS(function) cmocka_unit_test_setup_teardown(function, open_fs, close_fs)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FS(what_is_served_can_be_read),
        WITH_FS(no_path_leads_out_of_it),
        WITH_FS(one_can_be_in_it),
        WITH_FS(nothing_in_it_can_be_changed),
        WITH_FS(a_place_is_taken_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
