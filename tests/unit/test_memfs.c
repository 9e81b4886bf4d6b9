/* test_memfs.c - the files of a cell: the tree, its names, what is known about them, and its
 * limits.
 *
 * A part of these goes through the same steps in a directory of the host and compares every answer:
 * the kernel says what is right. */
#include "cell/memfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cell/memfs_tree.h"
#include "helper.h"

enum { WIDE = 10000, DEEP = 20000 };

static const struct memfs_limits LIMITS = {.bytes_max = 1 << 20, .files_max = 64, .open_max = 12};
static const struct memfs_limits ROOMY = {
    .bytes_max = 64 << 20, .files_max = 100000, .open_max = 64};
static struct memfs fs;

static int open_small(void **state)
{
    (void)state;
    memfs_init(&fs, &LIMITS);
    return 0;
}

static int open_roomy(void **state)
{
    (void)state;
    memfs_init(&fs, &ROOMY);
    return 0;
}

/* Whatever a test did: all memory comes back, and the counts with it. */
static int close_all(void **state)
{
    (void)state;
    memfs_release(&fs);
    return fs.files_count == 0 && fs.pages_count == 0 && fs.root == NULL ? 0 : -1;
}

static void put(const char *path, const char *text)
{
    int fd = memfs_open(&fs, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    assert_true(fd >= 0);
    assert_int_equal(memfs_write(&fs, fd, text, strlen(text), -1), strlen(text));
    assert_int_equal(memfs_close(&fs, fd), 0);
}

static const char *get(const char *path)
{
    static char text[4096];
    int fd = memfs_open(&fs, path, O_RDONLY, 0);
    int64_t n;

    if (fd < 0) {
        return strerrorname_np(-fd);
    }
    n = memfs_read(&fs, fd, text, sizeof(text) - 1, -1);
    text[n > 0 ? n : 0] = '\0';
    assert_int_equal(memfs_close(&fs, fd), 0);
    return text;
}

static struct stat lstat_of(const char *path)
{
    struct stat st;

    assert_int_equal(memfs_lstat(&fs, path, &st), 0);
    return st;
}

static void nothing_is_allocated_before_the_first_use(void **state)
{
    (void)state;
    assert_null(fs.root);
    assert_null(fs.fds);
    assert_int_equal(memfs_umask(&fs, 077), 022);
    assert_int_equal(memfs_close(&fs, 4), -EBADF);
    assert_null(fs.root);
    assert_int_equal(memfs_mkdir(&fs, "d", 0777), 0);
    assert_non_null(fs.root);
    assert_int_equal(lstat_of("d").st_mode, S_IFDIR | 0700);
}

static void the_tree_begins_with_what_programs_expect(void **state)
{
    char path[PATH_MAX];

    (void)state;
    assert_int_equal(memfs_getcwd(&fs, path), 0);
    assert_string_equal(path, "/home/vial");
    assert_int_equal(lstat_of("/").st_mode, S_IFDIR | 0755);
    assert_int_equal(lstat_of("/").st_nlink, 3);
    assert_int_equal(lstat_of("/home/vial").st_mode, S_IFDIR | 0700);
    assert_int_equal(memfs_readlink(&fs, "/tmp", path), 0);
    assert_string_equal(path, "/home/vial/.tmp");
    assert_int_equal(memfs_access(&fs, ".tmp", 0), -ENOENT); /* until somebody goes there */
    put("/tmp/x", "y");
    assert_string_equal(get("/home/vial/.tmp/x"), "y");
    assert_int_equal(memfs_realpath(&fs, "/../tmp//./x", path), 0);
    assert_string_equal(path, "/home/vial/.tmp/x");
    assert_int_equal(memfs_realpath(&fs, "/..", path), 0);
    assert_string_equal(path, "/");
}

static void nothing_beside_the_work_directory_can_be_changed(void **state)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

    (void)state;
    put("f", "x");
    assert_int_equal(memfs_open(&fs, "/x", O_WRONLY | O_CREAT, 0666), -EROFS);
    assert_int_equal(memfs_mkdir(&fs, "/x", 0777), -EROFS);
    assert_int_equal(memfs_mkdir(&fs, "/home", 0777), -EEXIST);
    assert_int_equal(memfs_mkdir(&fs, "../x", 0777), -EROFS);
    assert_int_equal(memfs_symlink(&fs, "f", "/home/l"), -EROFS);
    assert_int_equal(memfs_link(&fs, "f", "/home/l"), -EROFS);
    assert_int_equal(memfs_link(&fs, "/tmp", "l"), -EXDEV);
    assert_int_equal(memfs_unlink(&fs, "/tmp"), -EROFS);
    assert_int_equal(memfs_rmdir(&fs, "/home/vial"), -EROFS);
    assert_int_equal(memfs_rename(&fs, "/home/vial", "/home/x"), -EROFS);
    assert_int_equal(memfs_rename(&fs, "/home/vial", "x"), -EXDEV);
    assert_int_equal(memfs_rename(&fs, "f", "/f"), -EXDEV);
    assert_int_equal(memfs_chmod(&fs, "/home", 0777), -EROFS);
    assert_int_equal(memfs_utimens(&fs, "/", times, 0), -EROFS);
    assert_int_equal(memfs_utimens(&fs, "/tmp", times, 1), -EROFS);
    assert_int_equal(memfs_access(&fs, "/", W_OK), -EROFS);
    assert_int_equal(memfs_access(&fs, "/", R_OK | X_OK), 0);
    assert_string_equal(get("/etc/passwd"), "ENOENT");
}

/* ---- the same on the host ---- */

struct step {
    const char *call; /* one letter */
    const char *a, *b;
    int number;
};

static int on_memfs(const struct step *s)
{
    struct stat st;
    char text[PATH_MAX];
    int fd;

    switch (s->call[0]) {
    case 'o':
        fd = memfs_open(&fs, s->a, s->number, 0644);
        return fd < 0 ? fd : memfs_close(&fs, fd);
    case 'd':
        return memfs_mkdir(&fs, s->a, 0755);
    case 'r':
        return memfs_rmdir(&fs, s->a);
    case 'u':
        return memfs_unlink(&fs, s->a);
    case 'm':
        return memfs_rename(&fs, s->a, s->b);
    case 'h':
        return memfs_link(&fs, s->a, s->b);
    case 'y':
        return memfs_symlink(&fs, s->a, s->b);
    case 's':
        return memfs_stat(&fs, s->a, &st) < 0 ? memfs_stat(&fs, s->a, &st)
                                              : (int)(st.st_mode >> 12);
    case 'l':
        return memfs_lstat(&fs, s->a, &st) < 0 ? memfs_lstat(&fs, s->a, &st)
                                               : (int)(st.st_mode >> 12);
    case 'n':
        return memfs_lstat(&fs, s->a, &st) < 0 ? memfs_lstat(&fs, s->a, &st) : (int)st.st_nlink;
    case 'c':
        return memfs_chdir(&fs, s->a);
    case 'p':
        return memfs_readlink(&fs, s->a, text);
    default:
        return memfs_truncate(&fs, s->a, s->number);
    }
}

static int on_host(const struct step *s)
{
    struct stat st = {0};
    char text[PATH_MAX];
    int r, fd;

    errno = 0;
    switch (s->call[0]) {
    case 'o':
        fd = open(s->a, s->number | O_CLOEXEC, 0644);
        r = fd < 0 ? -1 : close(fd);
        break;
    case 'd':
        r = mkdir(s->a, 0755);
        break;
    case 'r':
        r = rmdir(s->a);
        break;
    case 'u':
        r = unlink(s->a);
        break;
    case 'm':
        r = rename(s->a, s->b);
        break;
    case 'h':
        r = link(s->a, s->b);
        break;
    case 'y':
        r = symlink(s->a, s->b);
        break;
    case 's':
        r = stat(s->a, &st) < 0 ? -1 : (int)(st.st_mode >> 12);
        break;
    case 'l':
        r = lstat(s->a, &st) < 0 ? -1 : (int)(st.st_mode >> 12);
        break;
    case 'n':
        r = lstat(s->a, &st) < 0 ? -1 : (int)st.st_nlink;
        break;
    case 'c':
        r = chdir(s->a);
        break;
    case 'p':
        r = readlink(s->a, text, sizeof(text)) < 0 ? -1 : 0;
        break;
    default:
        r = truncate(s->a, s->number);
        break;
    }
    return r < 0 ? -errno : r;
}

#define NEW (O_WRONLY | O_CREAT)

/* One after the other; each builds on those before. */
static const struct step STEPS[] = {
    /* making, and what a name can be */
    {"o", "f", NULL, NEW},
    {"o", "f", NULL, NEW | O_EXCL},
    {"o", "f", NULL, O_RDONLY | O_DIRECTORY},
    {"o", "f/", NULL, O_RDONLY},
    {"o", "n/", NULL, NEW},
    {"o", "f/", NULL, NEW},
    {"o", "f/x", NULL, NEW},
    {"o", "no/x", NULL, NEW},
    {"o", "", NULL, NEW},
    {"o", "no", NULL, O_RDONLY},
    {"d", "d", NULL, 0},
    {"d", "d", NULL, 0},
    {"d", "d2/", NULL, 0},
    {"d", "f/", NULL, 0},
    {"d", ".", NULL, 0},
    {"d", "d/..", NULL, 0},
    {"d", "", NULL, 0},
    {"d", "no/x", NULL, 0},
    {"d", "f/x", NULL, 0},
    {"o", "d", NULL, O_RDONLY},
    {"o", "d", NULL, O_WRONLY},
    {"o", "d", NULL, NEW},
    {"o", "d", NULL, O_RDONLY | O_TRUNC},
    {"o", "d/", NULL, O_RDONLY | O_DIRECTORY},
    {"o", "d/.", NULL, O_RDONLY},
    {"o", "d/.", NULL, O_RDWR},
    {"s", "d/..", NULL, 0},
    {"s", "f/.", NULL, 0},
    {"s", "f/..", NULL, 0},
    {"s", "d//./../f", NULL, 0},
    {"n", "d", NULL, 0},
    {"d", "d/e", NULL, 0},
    {"n", "d", NULL, 0},
    /* symbolic links */
    {"y", "f", "l", 0},
    {"y", "f", "l", 0},
    {"y", "", "e", 0},
    {"y", "f", "d/e/", 0},
    {"y", "f", "new/", 0},
    {"y", "d", "ld", 0},
    {"y", "nowhere", "dead", 0},
    {"y", "b", "a", 0},
    {"y", "a", "b", 0},
    {"s", "l", NULL, 0},
    {"l", "l", NULL, 0},
    {"l", "ld", NULL, 0},
    {"l", "ld/", NULL, 0},
    {"l", "l/", NULL, 0},
    {"s", "ld/e", NULL, 0},
    {"s", "ld/../f", NULL, 0},
    {"s", "a", NULL, 0},
    {"l", "a", NULL, 0},
    {"s", "a/x", NULL, 0},
    {"s", "dead", NULL, 0},
    {"o", "l", NULL, O_RDONLY | O_NOFOLLOW},
    {"o", "ld", NULL, O_RDONLY | O_NOFOLLOW},
    {"o", "ld", NULL, O_RDONLY | O_NOFOLLOW | O_DIRECTORY},
    {"o", "ld/", NULL, O_NOFOLLOW},
    {"o", "dead", NULL, NEW | O_EXCL},
    {"o", "dead", NULL, NEW | O_NOFOLLOW},
    {"o", "dead", NULL, O_RDONLY},
    {"o", "dead", NULL, NEW},
    {"l", "nowhere", NULL, 0},
    {"d", "ld", NULL, 0},
    {"p", "l", NULL, 0},
    {"p", "f", NULL, 0},
    {"p", "d", NULL, 0},
    {"p", "ld/", NULL, 0},
    {"p", "no", NULL, 0},
    {"y", "x/", "slash", 0},
    {"o", "slash", NULL, NEW},
    {"s", "slash", NULL, 0},
    {"y", "/", "top", 0},
    {"s", "top", NULL, 0},
    {"s", "top/", NULL, 0},
    {"d", "top", NULL, 0},
    {"y", "d/", "dslash", 0},
    {"o", "dslash", NULL, O_RDONLY},
    {"y", "f/", "fslash", 0},
    {"o", "fslash", NULL, O_RDONLY},
    {"s", "fslash", NULL, 0},
    /* hard links */
    {"h", "f", "h", 0},
    {"n", "f", NULL, 0},
    {"h", "f", "h", 0},
    {"h", "d", "hd", 0},
    {"h", "l", "hl", 0},
    {"l", "hl", NULL, 0},
    {"h", "no", "x", 0},
    {"h", "f", "x/", 0},
    {"h", "f", "d/", 0},
    {"h", "f", ".", 0},
    {"h", "f/", "x", 0},
    {"h", "f", "no/x", 0},
    /* rename */
    {"m", "f", "h", 0},
    {"n", "h", NULL, 0},
    {"m", "f", "f", 0},
    {"m", "d", "d", 0},
    {"m", "no", "x", 0},
    {"m", "f", "d", 0},
    {"m", "d", "f", 0},
    {"m", "d", "d/in", 0},
    {"m", "d", "d/e/in", 0},
    {"m", "d/e", "d", 0},
    {"m", "f", "x/", 0},
    {"m", "f/", "x", 0},
    {"m", "d2/", "d3/", 0},
    {"m", ".", "x", 0},
    {"m", "d/..", "x", 0},
    {"m", "f", "..", 0},
    {"m", "f", "d/.", 0},
    {"m", "d3", "d", 0},
    {"m", "d3", "d/e", 0},
    {"n", "d", NULL, 0},
    {"m", "d/e", "e2", 0},
    {"n", "d", NULL, 0},
    {"m", "l", "d/l", 0},
    {"l", "d/l", NULL, 0},
    {"s", "d/l", NULL, 0},
    {"m", "ld/", "x", 0},
    {"m", "a", "dead", 0},
    {"m", "f", "no/x", 0},
    {"m", "f", "h/x", 0},
    {"m", "ld", "d2", 0},
    {"l", "d2", NULL, 0},
    {"m", "e2", "d2", 0},
    /* removing */
    {"u", "d", NULL, 0},
    {"u", "no", NULL, 0},
    {"u", "h/", NULL, 0},
    {"u", ".", NULL, 0},
    {"u", "d2/", NULL, 0},
    {"u", "h", NULL, 0},
    {"n", "f", NULL, 0},
    {"r", "f", NULL, 0},
    {"r", "d", NULL, 0},
    {"r", "d/.", NULL, 0},
    {"r", "d/..", NULL, 0},
    {"r", "no", NULL, 0},
    {"r", "d2", NULL, 0},
    {"r", "d2/", NULL, 0},
    {"u", "d2", NULL, 0},
    {"u", "d/l", NULL, 0},
    {"r", "d/", NULL, 0},
    {"t", "f", NULL, 5},
    {"t", "f", NULL, -1},
    {"t", "e2", NULL, 0},
    {"t", "no", NULL, 0},
    /* the working directory */
    {"c", "f", NULL, 0},
    {"c", "no", NULL, 0},
    {"d", "w", NULL, 0},
    {"d", "w/v", NULL, 0},
    {"c", "w/v", NULL, 0},
    {"r", "../v", NULL, 0},
    {"s", ".", NULL, 0},
    {"n", ".", NULL, 0},
    {"d", "x", NULL, 0},
    {"o", "x", NULL, NEW},
    {"y", "t", "x", 0},
    {"h", "../../f", "x", 0},
    {"s", "x", NULL, 0},
    {"s", "..", NULL, 0},
    {"r", "../../w", NULL, 0},
    {"s", "..", NULL, 0},
    {"s", "../../f", NULL, 0},
    {"c", "../..", NULL, 0},
    {"s", "f", NULL, 0},
    {"s", "w", NULL, 0},
};

/* In a child: it changes its directory. */
static int both_answer_alike(void *user)
{
    const char *directory = user;
    int wrong = 0, got, want;
    size_t i;

    (void)umask(022);
    CHILD_CHECK(memfs_limit(&fs, &ROOMY) == 0 && chdir(directory) == 0);
    for (i = 0; i < sizeof(STEPS) / sizeof(STEPS[0]); i++) {
        got = on_memfs(&STEPS[i]);
        want = on_host(&STEPS[i]);
        if (got != want) {
            wrong++;
            (void)fprintf(stderr, "step %zu: %s %s %s: %d instead of %d (%s)\n", i, STEPS[i].call,
                STEPS[i].a, STEPS[i].b != NULL ? STEPS[i].b : "", got, want,
                want < 0 ? strerrorname_np(-want) : "fine");
        }
    }
    CHILD_CHECK(wrong == 0);
    return CHILD_FINE;
}

static void every_step_answers_as_the_kernel_does(void **state)
{
    char directory[] = "/tmp/vial-memfs-XXXXXX", command[64];

    (void)state;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(helper_in_child(both_answer_alike, directory), CHILD_FINE);
    (void)snprintf(command, sizeof(command), "rm -rf %s", directory);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a tree that the test made */
}

/* ---- permissions ---- */

static void the_bits_of_the_owner_hold(void **state)
{
    (void)state;
    put("f", "x");
    assert_int_equal(memfs_chmod(&fs, "f", 0), 0);
    assert_string_equal(get("f"), "EACCES");
    assert_int_equal(memfs_open(&fs, "f", O_WRONLY, 0), -EACCES);
    assert_int_equal(memfs_truncate(&fs, "f", 0), -EACCES);
    assert_int_equal(memfs_access(&fs, "f", F_OK), 0);
    assert_int_equal(memfs_access(&fs, "f", R_OK), -EACCES);
    assert_int_equal(memfs_chmod(&fs, "f", 0444), 0);
    assert_string_equal(get("f"), "x");
    assert_int_equal(memfs_open(&fs, "f", O_RDONLY | O_TRUNC, 0), -EACCES);
    assert_int_equal(memfs_access(&fs, "f", R_OK | W_OK), -EACCES);
    assert_int_equal(memfs_access(&fs, "f", X_OK), -EACCES);
    assert_int_equal(memfs_mkdir(&fs, "d", 0777), 0);
    assert_int_equal(memfs_mkdir(&fs, "d/sub", 0777), 0);
    put("d/f", "y");
    assert_int_equal(memfs_chmod(&fs, "d", 0500), 0);
    assert_int_equal(memfs_unlink(&fs, "d/f"), -EACCES);
    assert_int_equal(memfs_rmdir(&fs, "d/sub"), -EACCES);
    assert_int_equal(memfs_mkdir(&fs, "d/x", 0777), -EACCES);
    assert_int_equal(memfs_symlink(&fs, "x", "d/x"), -EACCES);
    assert_int_equal(memfs_link(&fs, "f", "d/x"), -EACCES);
    assert_int_equal(memfs_rename(&fs, "d/f", "g"), -EACCES);
    assert_int_equal(memfs_rename(&fs, "f", "d/g"), -EACCES);
    assert_string_equal(get("d/f"), "y");
    assert_int_equal(memfs_chmod(&fs, "d", 0600), 0);
    assert_string_equal(get("d/f"), "EACCES");
    assert_int_equal(memfs_chdir(&fs, "d"), -EACCES);
    assert_int_equal(memfs_chmod(&fs, "d", 0700), 0);
    assert_int_equal(memfs_chmod(&fs, "d/sub", 0500), 0); /* its .. may not change */
    assert_int_equal(memfs_rename(&fs, "d/sub", "sub"), -EACCES);
    assert_int_equal(memfs_rename(&fs, "d/sub", "d/other"), 0);
    assert_int_equal(memfs_chmod(&fs, "d/other", 04755), 0);
    assert_int_equal(lstat_of("d/other").st_mode, S_IFDIR | 04755);
}

static int no_entry(const char *name, size_t len, uint32_t type, void *user)
{
    (void)name;
    (void)len;
    (void)type;
    (void)user;
    return -EIO;
}

static void a_directory_is_listed_by_who_may_read_it(void **state)
{
    (void)state;
    assert_int_equal(memfs_mkdir(&fs, "d", 0777), 0);
    assert_int_equal(memfs_list(&fs, "d", no_entry, NULL), 0); /* there is nothing */
    put("d/f", "");
    assert_int_equal(memfs_list(&fs, "d", no_entry, NULL), -EIO);
    assert_int_equal(memfs_list(&fs, "d/f", no_entry, NULL), -ENOTDIR);
    assert_int_equal(memfs_list(&fs, "no", no_entry, NULL), -ENOENT);
    assert_int_equal(memfs_chmod(&fs, "d", 0300), 0);
    assert_int_equal(memfs_list(&fs, "d", no_entry, NULL), -EACCES);
}

/* ---- what is known ---- */

static void times_tell_what_happened(void **state)
{
    const struct timespec set[2] = {{.tv_sec = 1000, .tv_nsec = 5}, {.tv_sec = -2, .tv_nsec = 7}};
    const struct timespec part[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
    const struct timespec bad[2] = {{.tv_nsec = 1000000000}, {.tv_nsec = 0}};
    struct stat st;

    (void)state;
    put("f", "x");
    assert_true(lstat_of("f").st_mtim.tv_sec > 1600000000);
    assert_int_equal(memfs_symlink(&fs, "f", "l"), 0);
    assert_int_equal(memfs_utimens(&fs, "l", set, 0), 0);
    st = lstat_of("f");
    assert_int_equal(st.st_atim.tv_sec, 1000);
    assert_int_equal(st.st_atim.tv_nsec, 5);
    assert_int_equal(st.st_mtim.tv_sec, -2);
    assert_true(st.st_ctim.tv_sec > 1600000000);
    assert_true(lstat_of("l").st_atim.tv_sec > 1600000000);
    assert_int_equal(memfs_utimens(&fs, "l", set, 1), 0);
    assert_int_equal(lstat_of("l").st_atim.tv_sec, 1000);
    assert_int_equal(memfs_utimens(&fs, "f", part, 0), 0);
    assert_int_equal(lstat_of("f").st_atim.tv_sec, 1000);
    assert_true(lstat_of("f").st_mtim.tv_sec > 1600000000);
    assert_int_equal(memfs_utimens(&fs, "f", bad, 0), -EINVAL);
    assert_string_equal(get("f"), "x"); /* it was older than the last change: it moves */
    assert_true(lstat_of("f").st_atim.tv_sec > 1600000000);
    assert_int_equal(memfs_utimens(&fs, ".", set, 0), 0);
    put("g", "");
    assert_true(lstat_of(".").st_mtim.tv_sec > 1600000000); /* a name was added */
}

static void numbers_are_those_of_a_file_system(void **state)
{
    struct statfs space;
    struct stat a, b;

    (void)state;
    put("f", "12345");
    assert_int_equal(memfs_link(&fs, "f", "g"), 0);
    a = lstat_of("f");
    b = lstat_of("g");
    assert_int_equal(a.st_ino, b.st_ino);
    assert_int_not_equal(a.st_ino, lstat_of(".").st_ino);
    assert_int_equal(a.st_size, 5);
    assert_int_equal(a.st_blocks, 8);
    assert_int_equal(a.st_blksize, 4096);
    assert_int_equal(a.st_nlink, 2);
    assert_int_equal(memfs_symlink(&fs, "1234567", "l"), 0);
    assert_int_equal(lstat_of("l").st_size, 7);
    assert_int_equal(memfs_statfs(&fs, ".", &space), 0);
    assert_int_equal(space.f_bsize, 4096);
    assert_int_equal(space.f_blocks, 256);
    assert_int_equal(space.f_bfree, 255);
    assert_int_equal(space.f_files, 64);
    assert_int_equal(space.f_ffree, 60); /* the directory, a file with two names, a link */
    assert_int_equal(memfs_statfs(&fs, "no", &space), -ENOENT);
}

static void temporary_directories_have_names_of_their_own(void **state)
{
    char a[] = "t-XXXXXX", b[] = "t-XXXXXX", c[] = "XXXXX", d[] = "no/XXXXXX";

    (void)state;
    assert_int_equal(memfs_mkdtemp(&fs, a), 0);
    assert_int_equal(memfs_mkdtemp(&fs, b), 0);
    assert_string_not_equal(a, b);
    assert_int_equal(lstat_of(a).st_mode, S_IFDIR | 0700);
    assert_int_equal(memfs_mkdtemp(&fs, c), -EINVAL);
    assert_int_equal(memfs_mkdtemp(&fs, d), -ENOENT);
}

/* ---- limits ---- */

static void names_and_paths_have_a_length(void **state)
{
    static char path[PATH_MAX + 16];
    char name[258];

    (void)state;
    memset(name, 'n', sizeof(name));
    name[256] = '\0';
    assert_int_equal(memfs_mkdir(&fs, name, 0777), -ENAMETOOLONG);
    name[255] = '\0';
    assert_int_equal(memfs_mkdir(&fs, name, 0777), 0);
    memset(path, '/', sizeof(path));
    path[PATH_MAX] = '\0';
    assert_int_equal(memfs_chdir(&fs, path), -ENAMETOOLONG);
    path[PATH_MAX - 1] = '\0';
    assert_int_equal(memfs_chdir(&fs, path), 0);
    memset(path, 'x', sizeof(path));
    path[PATH_MAX] = '\0';
    assert_int_equal(memfs_symlink(&fs, path, "/home/vial/l"), -ENAMETOOLONG);
    path[PATH_MAX - 1] = '\0';
    assert_int_equal(memfs_symlink(&fs, path, "/home/vial/l"), 0);
    assert_int_equal(memfs_stat(&fs, "/home/vial/l", &(struct stat){0}), -ENAMETOOLONG);
}

static void links_are_followed_forty_times(void **state)
{
    char name[16], target[16];
    struct stat st;
    int i;

    (void)state;
    put("l0", "end");
    for (i = 1; i <= MEMFS_LINKS_MAX + 1; i++) {
        (void)snprintf(name, sizeof(name), "l%d", i);
        (void)snprintf(target, sizeof(target), "./l%d", i - 1);
        assert_int_equal(memfs_symlink(&fs, target, name), 0);
    }
    assert_string_equal(get("l40"), "end");
    assert_string_equal(get("l41"), "ELOOP");
    assert_int_equal(memfs_lstat(&fs, "l41", &st), 0);
    assert_int_equal(memfs_symlink(&fs, "self/x", "self"), 0);
    assert_int_equal(memfs_stat(&fs, "self", &st), -ELOOP);
}

static void every_name_takes_one_of_the_files(void **state)
{
    char name[16];
    unsigned i;

    (void)state;
    for (i = 1; i < LIMITS.files_max; i++) { /* the directory itself is one */
        (void)snprintf(name, sizeof(name), "f%u", i);
        if (i % 4 == 0) {
            assert_int_equal(memfs_link(&fs, "f1", name), 0);
        } else if (i % 4 == 2) {
            assert_int_equal(memfs_symlink(&fs, "x", name), 0);
        } else if (i % 4 == 3) {
            assert_int_equal(memfs_mkdir(&fs, name, 0777), 0);
        } else {
            put(name, "");
        }
    }
    assert_int_equal(memfs_open(&fs, "x", O_WRONLY | O_CREAT, 0666), -ENOSPC);
    assert_int_equal(memfs_link(&fs, "f1", "x"), -ENOSPC);
    assert_int_equal(memfs_symlink(&fs, "x", "x"), -ENOSPC);
    assert_int_equal(memfs_mkdir(&fs, "x", 0777), -ENOSPC);
    assert_int_equal(memfs_rename(&fs, "f1", "x"), 0); /* which needs none */
    assert_int_equal(memfs_unlink(&fs, "f4"), 0);      /* a second name of it */
    assert_int_equal(memfs_mkdir(&fs, "y", 0777), 0);
    assert_int_equal(memfs_mkdir(&fs, "z", 0777), -ENOSPC);
    assert_int_equal(memfs_rename(&fs, "y", "f3"), 0); /* onto an empty one, which goes */
    assert_int_equal(memfs_mkdir(&fs, "z", 0777), 0);
}

static void limits_can_change_and_say_whether_they_are_kept(void **state)
{
    struct memfs_limits less = LIMITS;

    (void)state;
    put("a", "x");
    put("b", "x");
    less.files_max = 3;
    less.bytes_max = 8192;
    assert_int_equal(memfs_limit(&fs, &less), 0);
    assert_int_equal(memfs_mkdir(&fs, "c", 0777), -ENOSPC);
    less.files_max = 2;
    assert_int_equal(memfs_limit(&fs, &less), -ENOSPC);
    less.files_max = 3;
    less.bytes_max = 4096;
    assert_int_equal(memfs_limit(&fs, &less), -ENOSPC);
    assert_int_equal(memfs_truncate(&fs, "a", 0), 0);
    put("a", "");
    assert_int_equal(memfs_limit(&fs, &less), 0);
}

/* ---- wide and deep ---- */

static int count_entry(const char *name, size_t len, uint32_t type, void *user)
{
    unsigned *count = user;
    char expected[16];

    (void)snprintf(expected, sizeof(expected), "f%u", *count);
    assert_string_equal(name, expected); /* in the order they were made */
    assert_int_equal(len, strlen(expected));
    assert_int_equal(type, S_IFREG);
    ++*count;
    return 0;
}

static void ten_thousand_files_in_one_directory_are_normal(void **state)
{
    unsigned i, count = 0;
    char name[16];
    struct stat st;

    (void)state;
    for (i = 0; i < WIDE; i++) {
        (void)snprintf(name, sizeof(name), "f%u", i);
        put(name, name);
    }
    assert_int_equal(memfs_list(&fs, ".", count_entry, &count), 0);
    assert_int_equal(count, WIDE);
    assert_true(fs.work->dir.buckets_count >= WIDE); /* so that chains are short */
    for (i = 0; i < WIDE; i += 2) {
        (void)snprintf(name, sizeof(name), "f%u", i);
        assert_string_equal(get(name), name);
        assert_int_equal(memfs_unlink(&fs, name), 0);
        assert_int_equal(memfs_stat(&fs, name, &st), -ENOENT);
    }
    assert_int_equal(fs.files_count, 1 + WIDE / 2);
    assert_string_equal(get("f9999"), "f9999");
}

static void a_tree_without_a_bottom_is_no_problem(void **state)
{
    char path[PATH_MAX];
    struct stat st;
    int i;

    (void)state;
    for (i = 0; i < DEEP; i++) {
        assert_int_equal(memfs_mkdir(&fs, "d", 0777), 0);
        assert_int_equal(memfs_chdir(&fs, "d"), 0);
    }
    put("bottom", "x");
    assert_int_equal(memfs_getcwd(&fs, path), -ENAMETOOLONG);
    assert_int_equal(memfs_realpath(&fs, "bottom", path), -ENAMETOOLONG);
    assert_int_equal(memfs_rename(&fs, "/home/vial/d", "below"), -EINVAL);
    assert_int_equal(memfs_stat(&fs, "../../bottom", &st), -ENOENT);
    for (i = 0; i < DEEP / 2; i++) { /* from below, each one while we are in it */
        if (i == 0) {
            assert_int_equal(memfs_unlink(&fs, "bottom"), 0);
        }
        assert_int_equal(memfs_rmdir(&fs, "../d"), 0);
        assert_int_equal(memfs_getcwd(&fs, path), -ENOENT);
        assert_int_equal(memfs_chdir(&fs, ".."), 0);
    }
    assert_int_equal(fs.files_count, 1 + DEEP / 2);
}

static void a_chain_of_removed_directories_goes_at_once(void **state)
{
    char path[64];
    int i;

    (void)state;
    assert_int_equal(memfs_mkdir(&fs, "a", 0777), 0);
    assert_int_equal(memfs_chdir(&fs, "a"), 0);
    for (i = 0; i < 10; i++) {
        assert_int_equal(memfs_mkdir(&fs, "d", 0777), 0);
        assert_int_equal(memfs_chdir(&fs, "d"), 0);
    }
    for (i = 9; i >= 0; i--) { /* from above, and we stay at the bottom */
        int n = snprintf(path, sizeof(path), "/home/vial/a");

        for (int j = 0; j <= i; j++) {
            n += snprintf(path + n, sizeof(path) - (size_t)n, "/d");
        }
        assert_int_equal(memfs_rmdir(&fs, path), 0);
    }
    assert_int_equal(memfs_rmdir(&fs, "/home/vial/a"), 0);
    assert_int_equal(fs.files_count, 12); /* all wait for us */
    assert_int_equal(memfs_stat(&fs, "../../..", &(struct stat){0}), 0);
    assert_int_equal(memfs_chdir(&fs, "/home/vial"), 0);
    assert_int_equal(fs.files_count, 1);
}

static void a_fork_has_the_files_and_keeps_its_changes_to_itself(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    put("f", "before");
    pid = fork();
    if (pid == 0) {
        int fine = strcmp(get("f"), "before") == 0;

        put("f", "changed");
        _exit(fine && strcmp(get("f"), "changed") == 0 && memfs_mkdir(&fs, "d", 0777) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(get("f"), "before");
    assert_string_equal(get("d"), "ENOENT");
}

static void inputs_go_through_no_link(void **state)
{
    struct memfs_node *dir = NULL;

    (void)state;
    assert_int_equal(memfs_make_dirs(&fs, "a/b/c", 5, &dir), 0);
    assert_int_equal(lstat_of("a/b/c").st_ino, dir->ino);
    assert_int_equal(memfs_make_dirs(&fs, "", 0, &dir), 0);
    assert_ptr_equal(dir, fs.work);
    assert_int_equal(memfs_symlink(&fs, "a", "l"), 0);
    assert_int_equal(memfs_make_dirs(&fs, "l/b", 3, &dir), -ELOOP);
    put("f", "");
    assert_int_equal(memfs_make_dirs(&fs, "f/b", 3, &dir), -ENOTDIR);
}

#define SMALL(function) cmocka_unit_test_setup_teardown(function, open_small, close_all)
#define ROOMY(function) cmocka_unit_test_setup_teardown(function, open_roomy, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SMALL(nothing_is_allocated_before_the_first_use),
        SMALL(the_tree_begins_with_what_programs_expect),
        SMALL(nothing_beside_the_work_directory_can_be_changed),
        SMALL(every_step_answers_as_the_kernel_does),
        SMALL(the_bits_of_the_owner_hold),
        SMALL(a_directory_is_listed_by_who_may_read_it),
        SMALL(times_tell_what_happened),
        SMALL(numbers_are_those_of_a_file_system),
        SMALL(temporary_directories_have_names_of_their_own),
        SMALL(names_and_paths_have_a_length),
        SMALL(links_are_followed_forty_times),
        SMALL(every_name_takes_one_of_the_files),
        SMALL(limits_can_change_and_say_whether_they_are_kept),
        ROOMY(ten_thousand_files_in_one_directory_are_normal),
        ROOMY(a_tree_without_a_bottom_is_no_problem),
        SMALL(a_chain_of_removed_directories_goes_at_once),
        SMALL(a_fork_has_the_files_and_keeps_its_changes_to_itself),
        SMALL(inputs_go_through_no_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
