/* test_directory.c - the directory of a store: made, and refused when others have a hand in it. */
#include "store/directory.h"

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
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"

static char top[64], inner[128];
static struct vial_error err;

static int make_top(void **state)
{
    (void)state;
    (void)snprintf(top, sizeof(top), "/tmp/vial-directory-XXXXXX");
    (void)snprintf(inner, sizeof(inner), "%s", mkdtemp(top) != NULL ? top : "");
    (void)snprintf(inner, sizeof(inner), "%s/a", top);
    return 0;
}

static int remove_top(void **state)
{
    char path[192];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/b", inner);
    (void)rmdir(path);
    (void)unlink(path);
    (void)rmdir(inner);
    (void)unlink(inner);
    return rmdir(top);
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void it_and_its_parents_are_made_for_us_alone(void **state)
{
    char path[192];
    mode_t before = umask(0);

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/b", inner);
    assert_int_equal(directory_make(path, &err), 0);
    assert_int_equal(directory_make(path, &err), 0); /* it is there now */
    (void)umask(before);
    assert_int_equal(mode_of(path), 0700);
    assert_int_equal(mode_of(inner), 0700);
}

static void one_that_others_may_write_to_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(chmod(inner, 0770), 0);
    assert_int_equal(directory_make(inner, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "others may write"));
    assert_int_equal(chmod(inner, 0755), 0); /* reading is their owner's decision */
    assert_int_equal(directory_make(inner, &err), 0);
}

static int as_nobody(void *user)
{
    int (*fn)(void) = *(int (**)(void))user;

    if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0) {
        return CHILD_SKIPPED;
    }
    return fn();
}

/* Does fn in a child that is not root, when we are. */
static void check_as_nobody(int (*fn)(void))
{
    int r = helper_in_child(as_nobody, &fn);

    if (r == CHILD_SKIPPED) {
        helper_say_skip("only root can become somebody else");
        return;
    }
    assert_int_equal(r, CHILD_FINE);
}

static int make_in_foreign_directory(void)
{
    CHILD_CHECK(directory_make(inner, &err) == VIAL_E_SYS);
    CHILD_CHECK(err.sys == EACCES);
    CHILD_CHECK(strstr(err.text, "cannot make the data directory") != NULL);
    return CHILD_FINE;
}

static int use_read_only(void)
{
    CHILD_CHECK(directory_make(inner, &err) == VIAL_E_SYS);
    CHILD_CHECK(err.sys == EACCES);
    CHILD_CHECK(strstr(err.text, "cannot be used") != NULL);
    return CHILD_FINE;
}

static void one_that_we_may_not_write_to_says_so(void **state)
{
    (void)state;
    assert_int_equal(chmod(top, 0755), 0);
    check_as_nobody(make_in_foreign_directory);
    assert_int_equal(mkdir(inner, 0755), 0);
    check_as_nobody(use_read_only);
}

static void one_of_somebody_else_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(inner, 0700), 0);
    if (chown(inner, 12345, 12345) < 0) {
        helper_say_skip("only root can give a directory away");
        return;
    }
    assert_int_equal(directory_make(inner, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "belongs to user 12345"));
}

static void what_is_no_directory_is_refused(void **state)
{
    char *path = malloc(DIRECTORY_BYTES_MAX + 2);
    int fd = open(inner, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    (void)state;
    assert_non_null(path);
    (void)close(fd);
    assert_int_equal(directory_make(inner, &err), VIAL_E_SYS);
    assert_int_equal(err.sys, ENOTDIR);
    assert_int_equal(directory_make("", &err), VIAL_E_INVALID);
    memset(path, 'a', DIRECTORY_BYTES_MAX + 1);
    path[DIRECTORY_BYTES_MAX + 1] = '\0';
    assert_int_equal(directory_make(path, &err), VIAL_E_INVALID);
    free(path);
}

static void files_are_taken_from_others(void **state)
{
    (void)state;
    assert_int_equal(directory_make_file(inner, &err), 0);
    assert_int_equal(mode_of(inner), 0600);
    assert_int_equal(chmod(inner, 0664), 0);
    assert_int_equal(directory_make_file(inner, &err), 0);
    assert_int_equal(mode_of(inner), 0600);
    assert_int_equal(unlink(inner), 0);
    assert_int_equal(symlink("/etc/passwd", inner), 0);
    assert_int_equal(directory_make_file(inner, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "not a regular file"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_top, remove_top)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_and_its_parents_are_made_for_us_alone),
        TEST(one_that_others_may_write_to_is_refused),
        TEST(one_that_we_may_not_write_to_says_so),
        TEST(one_of_somebody_else_is_refused),
        TEST(what_is_no_directory_is_refused),
        TEST(files_are_taken_from_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
