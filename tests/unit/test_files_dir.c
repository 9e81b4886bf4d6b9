/* test_files_dir.c - reading directories with libc's functions. */
#include "python_files.h"

#include <dirent.h>

static void make(const char *path)
{
    assert_int_equal(close(open(path, O_WRONLY | O_CREAT, 0644)), 0);
}

/* The names that are left, with a space behind each; their numbers are those that stat tells. */
static const char *names_of(DIR *dir)
{
    static char names[256];
    const struct dirent *e;
    struct stat st;

    names[0] = '\0';
    while ((e = readdir(dir)) != NULL) {
        (void)strcat(strcat(names, e->d_name), " ");
        assert_int_equal(fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW), 0);
        assert_int_equal(e->d_ino, st.st_ino);
        assert_int_equal(e->d_type, IFTODT(st.st_mode));
    }
    return names;
}

static void before_a_program_they_are_libcs(void **state)
{
    DIR *dir = opendir("/proc/self/fd");

    (void)state;
    assert_non_null(dir);
    assert_non_null(readdir(dir));
    assert_true(dirfd(dir) >= 3);
    assert_int_equal(closedir(dir), 0);
}

static void every_name_comes_once(void **state)
{
    DIR *dir;

    (void)state;
    make("a");
    assert_int_equal(mkdir("b", 0777), 0);
    assert_int_equal(symlink("a", "c"), 0);
    dir = opendir(".");
    assert_string_equal(names_of(dir), ". .. a b c ");
    assert_null(readdir(dir));
    make("d");
    rewinddir(dir);
    assert_string_equal(names_of(dir), ". .. a b c d ");
    assert_int_equal(closedir(dir), 0);
    assert_int_equal(open("a", O_RDONLY), MEMFS_FD_FIRST); /* its descriptor is closed */
    assert_null(opendir("a"));
    assert_int_equal(errno, ENOTDIR);
    assert_null(opendir("none"));
    assert_int_equal(errno, ENOENT);
}

static void names_may_go_meanwhile(void **state)
{
    DIR *dir;

    (void)state;
    make("a");
    make("b");
    dir = opendir(".");
    assert_non_null(readdir(dir));
    assert_int_equal(unlink("a"), 0);
    assert_non_null(readdir(dir));
    assert_non_null(readdir(dir));
    assert_non_null(readdir(dir));
    assert_null(readdir(dir));
    assert_int_equal(closedir(dir), 0);
}

static void a_descriptor_becomes_a_directory(void **state)
{
    DIR *dir;
    int fd;

    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    make("d/x");
    fd = open("d", O_RDONLY | O_DIRECTORY);
    assert_int_equal(rename("d", "e"), 0);
    dir = fdopendir(fd);
    assert_int_equal(dirfd(dir), fd);
    assert_string_equal(names_of(dir), ". .. x ");
    assert_int_equal(closedir(dir), 0);
    assert_fails(close(fd), EBADF);
    assert_null(fdopendir(99));
    assert_int_equal(errno, EBADF);
    assert_null(fdopendir(1));
    assert_int_equal(errno, ENOTDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_a_program_they_are_libcs),
        WITH_FILES(every_name_comes_once),
        WITH_FILES(names_may_go_meanwhile),
        WITH_FILES(a_descriptor_becomes_a_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
