/* test_files_path.c - libc's functions for paths, on the files of a run. */
#include "python_files.h"

#include <stdlib.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

static void make(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0644);

    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static void before_a_program_they_are_libcs(void **state)
{
    char path[PATH_MAX];
    struct stat st;

    (void)state;
    assert_int_equal(stat("/proc/self", &st), 0);
    assert_int_equal(lstat("/proc/self", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(access("/proc", R_OK), 0);
    assert_true(readlink("/proc/self", path, sizeof(path)) > 0);
    assert_non_null(getcwd(path, sizeof(path)));
    assert_non_null(realpath("/proc/self", path));
}

static void a_program_sees_the_runs_alone(void **state)
{
    char path[PATH_MAX];
    struct stat st;

    (void)state;
    assert_fails(stat("/proc/self", &st), ENOENT);
    assert_fails(access("/etc", F_OK), ENOENT);
    assert_fails(mkdir("/x", 0777), EROFS);
    assert_string_equal(getcwd(path, sizeof(path)), "/home/vial");
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(access("/dev/null", R_OK | W_OK), 0);
}

static void where_we_are_can_change(void **state)
{
    char path[PATH_MAX], *made;

    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    assert_int_equal(chdir("d"), 0);
    made = getcwd(NULL, 0);
    assert_string_equal(made, "/home/vial/d");
    free(made);
    assert_null(getcwd(path, 5));
    assert_int_equal(errno, ERANGE);
    assert_string_equal(realpath("..", path), "/home/vial");
    made = realpath(".", NULL);
    assert_string_equal(made, "/home/vial/d");
    free(made);
    assert_null(realpath("none", path));
    assert_int_equal(errno, ENOENT);
    assert_fails(chdir("none"), ENOENT);
    assert_int_equal(fchdir(open("..", O_RDONLY | O_DIRECTORY)), 0);
    assert_string_equal(getcwd(path, sizeof(path)), "/home/vial");
}

static void names_come_and_go(void **state)
{
    char text[8] = "";
    struct stat st;

    (void)state;
    make("f");
    assert_int_equal(rename("f", "g"), 0);
    assert_int_equal(link("g", "h"), 0);
    assert_int_equal(stat("h", &st), 0);
    assert_int_equal(st.st_nlink, 2);
    assert_int_equal(symlink("h", "s"), 0);
    assert_int_equal(readlink("s", text, sizeof(text)), 1);
    assert_int_equal(readlink("s", text, 0), 0);
    assert_int_equal(lstat("s", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(unlink("h"), 0);
    assert_fails(stat("s", &st), ENOENT);
    assert_int_equal(mkdir("d", 0777), 0);
    assert_fails(unlink("d"), EISDIR);
    assert_fails(rmdir("g"), ENOTDIR);
    assert_int_equal(remove("d"), 0);
    assert_int_equal(remove("g"), 0);
    assert_fails(remove("g"), ENOENT);
    assert_fails(rename("g", NULL), EFAULT);
}

static void paths_begin_at_open_directories(void **state)
{
    char text[8] = "";
    struct stat st;
    int d, e;

    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    assert_int_equal(mkdir("e", 0777), 0);
    d = open("d", O_RDONLY | O_DIRECTORY);
    e = open("e", O_RDONLY | O_DIRECTORY);
    assert_int_equal(close(openat(d, "f", O_WRONLY | O_CREAT, 0644)), 0);
    assert_int_equal(stat("d/f", &st), 0);
    assert_int_equal(mkdirat(d, "sub", 0777), 0);
    assert_int_equal(fstatat(d, "sub", &st, 0), 0);
    assert_int_equal(fstatat(d, "", &st, AT_EMPTY_PATH), 0);
    assert_int_equal(renameat(d, "f", e, "g"), 0);
    assert_int_equal(linkat(e, "g", d, "h", 0), 0);
    assert_int_equal(symlinkat("h", d, "s"), 0);
    assert_int_equal(readlinkat(d, "s", text, sizeof(text)), 1);
    assert_int_equal(linkat(d, "s", AT_FDCWD, "t", AT_SYMLINK_FOLLOW), 0);
    assert_int_equal(lstat("t", &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(faccessat(d, "h", R_OK, 0), 0);
    assert_int_equal(fchmodat(d, "h", 0600, 0), 0);
    assert_fails(fchmodat(d, "s", 0600, AT_SYMLINK_NOFOLLOW), EOPNOTSUPP);
    assert_int_equal(utimensat(d, "h", NULL, 0), 0);
    assert_int_equal(fchownat(d, "h", FILES_USER, FILES_USER, 0), 0);
    assert_int_equal(unlinkat(d, "h", 0), 0);
    assert_int_equal(unlinkat(d, "sub", AT_REMOVEDIR), 0);
    assert_fails(mkdirat(99, "x", 0777), EBADF);
    assert_fails(mkdirat(1, "x", 0777), ENOTDIR);
    assert_int_equal(mkdirat(99, "/home/vial/x", 0777), 0); /* it does not matter there */
}

static void properties_change(void **state)
{
    const struct utimbuf seconds = {.actime = 5, .modtime = 6};
    const struct timeval times[2] = {{.tv_sec = 7}, {.tv_sec = 8, .tv_usec = 9}};
    struct stat st;

    (void)state;
    assert_int_equal(umask(077), 022);
    make("f");
    assert_int_equal(stat("f", &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0600);
    assert_int_equal(chmod("f", 0444), 0);
    assert_fails(access("f", W_OK), EACCES);
    assert_int_equal(utime("f", &seconds), 0);
    assert_int_equal(stat("f", &st), 0);
    assert_int_equal(st.st_mtim.tv_sec, 6);
    assert_int_equal(utimes("f", times), 0);
    assert_int_equal(stat("f", &st), 0);
    assert_int_equal(st.st_mtim.tv_nsec, 9000);
    assert_int_equal(utime("f", NULL), 0);
    assert_int_equal(chmod("f", 0644), 0);
    assert_int_equal(truncate("f", 10), 0);
    assert_int_equal(chown("f", (uid_t)-1, FILES_USER), 0);
    assert_fails(chown("f", 0, 0), EPERM);
    assert_fails(lchown("none", 0, 0), ENOENT);
}

static void what_there_is_not_says_so(void **state)
{
    char text[8];

    (void)state;
    make("f");
    assert_fails(mkfifo("p", 0600), EPERM);
    assert_fails(mknod("p", S_IFCHR, 0), EPERM);
    assert_fails(getxattr("f", "user.a", text, sizeof(text)), ENOTSUP);
    assert_fails(listxattr("f", text, sizeof(text)), ENOTSUP);
    assert_fails(setxattr("f", "user.a", "x", 1, 0), ENOTSUP);
}

static void without_files_nothing_may_be_done(void **state)
{
    char path[PATH_MAX];
    struct stat st;

    (void)state;
    assert_fails(stat("/", &st), EPERM);
    assert_fails(mkdir("d", 0777), EPERM);
    assert_fails(rename("a", "b"), EPERM);
    assert_null(getcwd(path, sizeof(path)));
    assert_int_equal(errno, EPERM);
    assert_int_equal(umask(022), 022);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_a_program_they_are_libcs),
        WITH_FILES(a_program_sees_the_runs_alone),
        WITH_FILES(where_we_are_can_change),
        WITH_FILES(names_come_and_go),
        WITH_FILES(paths_begin_at_open_directories),
        WITH_FILES(properties_change),
        WITH_FILES(what_there_is_not_says_so),
        WITHOUT_FILES(without_files_nothing_may_be_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
