/* test_namespace.c - which namespaces differ, and the users in them. A child waits in new
 * namespaces while the test maps its users, as a template waits for the host. */
#include "jail/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "helper.h"

static void all_seven_kinds_are_asked_for(void **state)
{
    (void)state;
    assert_true(namespace_flags() == (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                         CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP));
}

static void nothing_differs_from_itself(void **state)
{
    static const unsigned layers[] = {LAYER_USERNS, LAYER_PRIVATE_ROOT, LAYER_PIDNS, LAYER_NETNS,
        LAYER_IPCNS, LAYER_UTSNS, LAYER_CGROUPNS};
    struct namespace_names names;
    struct layer_report report;
    size_t i;

    (void)state;
    memset(&report, 0, sizeof(report));
    namespace_read(&names);
    namespace_compare(&names, &report);
    for (i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
        assert_int_equal(report.entries[layers[i]].state, LAYER_OFF);
    }
}

static int differ_in_one(void *user)
{
    struct namespace_names names;
    struct layer_report report;

    (void)user;
    memset(&report, 0, sizeof(report));
    namespace_read(&names);
    if (unshare(CLONE_NEWUSER | CLONE_NEWUTS) < 0) {
        return CHILD_SKIPPED;
    }
    namespace_compare(&names, &report);
    CHILD_CHECK(report.entries[LAYER_USERNS].state == LAYER_PROVEN);
    CHILD_CHECK(report.entries[LAYER_UTSNS].state == LAYER_PROVEN);
    CHILD_CHECK(report.entries[LAYER_NETNS].state == LAYER_OFF);
    CHILD_CHECK(report.entries[LAYER_PRIVATE_ROOT].state == LAYER_OFF);
    return CHILD_FINE;
}

static void what_differs_is_proven_and_the_rest_is_off(void **state)
{
    int status = helper_in_child(differ_in_one, NULL);

    (void)state;
    if (status == CHILD_SKIPPED) {
        helper_say_skip("this kernel gives us no user namespace");
        skip();
    }
    assert_int_equal(status, CHILD_FINE);
}

/* The child's side: new namespaces, a word to the parent, and a wait for its users. */
struct waiting {
    int up[2], down[2];
    uid_t as; /* who maps the users */
};

static int wait_for_users(const struct waiting *w)
{
    uint32_t users = 0;
    char host[16] = "";

    if (unshare(CLONE_NEWUSER | CLONE_NEWUTS) < 0) {
        return CHILD_SKIPPED;
    }
    CHILD_CHECK(fd_write_all(w->up[1], "x", 1) == 0);
    CHILD_CHECK(fd_read_up_to(w->down[0], &users, sizeof(users)) == (ssize_t)sizeof(users));
    CHILD_CHECK(namespace_settle(users > 1) == 0);
    CHILD_CHECK(getuid() == 0 && getgid() == 0);
    CHILD_CHECK(gethostname(host, sizeof(host)) == 0 && strcmp(host, "vial") == 0);
    if (users > 1) {
        CHILD_CHECK(syscall(SYS_setresuid, users - 1, users - 1, users - 1) == 0);
    } else {
        CHILD_CHECK(syscall(SYS_setresuid, 1, 1, 1) < 0 && errno == EINVAL);
    }
    return CHILD_FINE;
}

static int map_users(void *user)
{
    struct waiting *w = user;
    uint32_t users = 0;
    char byte;
    int status = 0, mapped;
    pid_t pid;

    CHILD_CHECK(w->as == geteuid() || (setgid(w->as) == 0 && setuid(w->as) == 0));
    /* A change of user hides a process in /proc from that user. */
    CHILD_CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
    CHILD_CHECK(pipe2(w->up, O_CLOEXEC) == 0 && pipe2(w->down, O_CLOEXEC) == 0);
    pid = fork();
    if (pid == 0) {
        (void)close(w->up[0]);
        (void)close(w->down[1]);
        _exit(wait_for_users(w));
    }
    (void)close(w->up[1]);
    (void)close(w->down[0]);
    if (fd_read_up_to(w->up[0], &byte, 1) == 1) {
        mapped = namespace_map(pid, &users);
        CHILD_CHECK(mapped == 0);
        CHILD_CHECK(users == (w->as == 0 ? NAMESPACE_USERS : 1U));
        CHILD_CHECK(fd_write_all(w->down[1], &users, sizeof(users)) == 0);
    }
    (void)close(w->down[1]);
    CHILD_CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_FAILED;
}

static void root_maps_a_range_of_users(void **state)
{
    struct waiting w = {.as = 0};
    int status;

    (void)state;
    if (geteuid() != 0) {
        helper_say_skip("only root maps a range of users");
        skip();
    }
    status = helper_in_child(map_users, &w);
    if (status == CHILD_SKIPPED) {
        helper_say_skip("this kernel gives us no user namespace");
        skip();
    }
    assert_int_equal(status, CHILD_FINE);
}

static void a_plain_user_maps_itself(void **state)
{
    struct waiting w = {.as = geteuid() == 0 ? 65534 : geteuid()};
    int status = helper_in_child(map_users, &w);

    (void)state;
    if (status == CHILD_SKIPPED) {
        helper_say_skip("this kernel gives plain users no user namespace");
        skip();
    }
    assert_int_equal(status, CHILD_FINE);
}

static void users_of_nobody_cannot_be_mapped(void **state)
{
    uint32_t users = 99;

    (void)state;
    assert_int_equal(namespace_map(getpid(), &users), -1); /* we have a map already */
    assert_int_equal(namespace_map(INT32_MAX, &users), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_seven_kinds_are_asked_for),
        cmocka_unit_test(nothing_differs_from_itself),
        cmocka_unit_test(what_differs_is_proven_and_the_rest_is_off),
        cmocka_unit_test(root_maps_a_range_of_users),
        cmocka_unit_test(a_plain_user_maps_itself),
        cmocka_unit_test(users_of_nobody_cannot_be_mapped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
