/* test_landlock.c - rulesets: nothing at all, or one tree only. Each test works in a child. */
#include "jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"

static void skip_without_landlock(void)
{
    if (landlock_abi() < 1) {
        helper_say_skip("this kernel has no Landlock (%s)", strerrorname_np(errno));
        skip();
    }
}

static int enter(const char *tree)
{
    int fd = landlock_ruleset(tree);

    if (fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || landlock_enter(fd) < 0) {
        return -1;
    }
    return close(fd);
}

static int reach_for_everything(void *user)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    int abi = landlock_abi();
    int fd;

    (void)user;
    CHILD_CHECK(enter(NULL) == 0);
    CHILD_CHECK(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0 && errno == EACCES);
    CHILD_CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) < 0 && errno == EACCES);
    CHILD_CHECK(mkdir("/tmp/vial-landlock", 0700) < 0 && errno == EACCES);
    if (abi >= 4) {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHILD_CHECK(fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0);
        CHILD_CHECK(fd < 0 || errno == EACCES);
    }
    if (abi >= 6) {
        CHILD_CHECK(kill(getppid(), 0) < 0 && errno == EPERM);
    }
    return CHILD_FINE;
}

static void with_an_empty_ruleset_nothing_can_be_reached(void **state)
{
    (void)state;
    skip_without_landlock();
    assert_int_equal(helper_in_child(reach_for_everything, NULL), CHILD_FINE);
}

static int stay_in_the_tree(void *user)
{
    const char *tree = user;
    int dir, fd;

    CHILD_CHECK(enter(tree) == 0);
    dir = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHILD_CHECK(dir >= 0);
    fd = openat(dir, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0700);
    CHILD_CHECK(fd >= 0);
    CHILD_CHECK(write(fd, "#!/bin/true\n", 12) == 12);
    (void)close(fd);
    CHILD_CHECK(mkdirat(dir, "sub", 0700) == 0);
    CHILD_CHECK(renameat(dir, "file", dir, "sub/file") == 0 || landlock_abi() < 2);
    CHILD_CHECK(mkfifoat(dir, "fifo", 0600) < 0 && errno == EACCES);
    CHILD_CHECK(execl("/bin/true", "true", (char *)NULL) < 0 && errno == EACCES);
    CHILD_CHECK(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
    CHILD_CHECK(openat(dir, "../../etc/passwd", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
    CHILD_CHECK(unlinkat(dir, "sub/file", 0) == 0 || unlinkat(dir, "file", 0) == 0);
    CHILD_CHECK(unlinkat(dir, "sub", AT_REMOVEDIR) == 0);
    return CHILD_FINE;
}

static void with_a_tree_only_plain_files_in_it_can_be_used(void **state)
{
    char tree[] = "/tmp/vial-test-XXXXXX";

    (void)state;
    skip_without_landlock();
    assert_non_null(mkdtemp(tree));
    assert_int_equal(helper_in_child(stay_in_the_tree, tree), CHILD_FINE);
    assert_int_equal(rmdir(tree), 0);
}

static void a_tree_that_is_not_there_is_an_error_without_a_leak(void **state)
{
    unsigned before = helper_fds_count();

    (void)state;
    skip_without_landlock();
    assert_int_equal(landlock_ruleset("/there/is/no/such/tree"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(landlock_ruleset("/etc/passwd"), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(helper_fds_count(), before);
}

static void what_is_no_ruleset_cannot_be_entered(void **state)
{
    (void)state;
    skip_without_landlock();
    assert_int_equal(landlock_enter(-1), -1);
    assert_int_equal(landlock_enter(0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_an_empty_ruleset_nothing_can_be_reached),
        cmocka_unit_test(with_a_tree_only_plain_files_in_it_can_be_used),
        cmocka_unit_test(a_tree_that_is_not_there_is_an_error_without_a_leak),
        cmocka_unit_test(what_is_no_ruleset_cannot_be_entered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
