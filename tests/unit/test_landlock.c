/* test_landlock.c - a ruleset that allows nothing at all. What enters it is a child. */
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

static int enter(void)
{
    int fd = landlock_ruleset();

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
    CHILD_CHECK(enter() == 0);
    CHILD_CHECK(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0 && errno == EACCES);
    CHILD_CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) < 0 && errno == EACCES);
    CHILD_CHECK(mkdir("/tmp/vial-landlock", 0700) < 0 && errno == EACCES);
    CHILD_CHECK(execl("/bin/true", "true", (char *)NULL) < 0 && errno == EACCES);
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
        cmocka_unit_test(what_is_no_ruleset_cannot_be_entered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
