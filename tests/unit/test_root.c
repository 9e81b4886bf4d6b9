/* test_root.c - the empty file tree, in a child with a mount namespace of its own. */
#include "jail/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "helper.h"

/* Root needs only a mount namespace, everybody else also a user namespace to make one in. */
static int separate(void)
{
    char uid_map[32], gid_map[32];

    if (geteuid() == 0) {
        return unshare(CLONE_NEWNS);
    }
    (void)snprintf(uid_map, sizeof(uid_map), "0 %u 1", (unsigned)geteuid());
    (void)snprintf(gid_map, sizeof(gid_map), "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
        fd_put_text(AT_FDCWD, "/proc/self/setgroups", "deny") < 0 ||
        fd_put_text(AT_FDCWD, "/proc/self/gid_map", gid_map) < 0) {
        return -1;
    }
    return fd_put_text(AT_FDCWD, "/proc/self/uid_map", uid_map);
}

static unsigned entries_of(const char *path)
{
    DIR *dir = opendir(path);
    unsigned count = 0;
    struct dirent *e;

    while (dir != NULL && (e = readdir(dir)) != NULL) {
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 ? 1 : 0;
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return count;
}

static int enter_root(void *user)
{
    static const char *const gone[] = {"/etc/passwd", "/proc", "/dev", "/usr", "/tmp", "/sys"};
    char here[64];
    int undone = -1;
    size_t i;

    (void)user;
    if (separate() < 0) {
        return CHILD_SKIPPED;
    }
    CHILD_CHECK(root_enter(&undone) == 0);
    CHILD_CHECK(undone == 0);
    for (i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        CHILD_CHECK(access(gone[i], F_OK) < 0 && errno == ENOENT);
    }
    CHILD_CHECK(entries_of("/") == 0);
    CHILD_CHECK(getcwd(here, sizeof(here)) != NULL && strcmp(here, "/") == 0);
    CHILD_CHECK(access("../../../etc/passwd", F_OK) < 0 && errno == ENOENT);
    CHILD_CHECK(mkdir("/x", 0700) < 0 && errno == EROFS);
    CHILD_CHECK(open("/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EROFS);
    return CHILD_FINE;
}

static void the_hosts_files_are_gone_and_nothing_can_be_written(void **state)
{
    int status = helper_in_child(enter_root, NULL);

    (void)state;
    if (status == CHILD_SKIPPED) {
        helper_say_skip("this kernel gives us no mount namespace");
        skip();
    }
    assert_int_equal(status, CHILD_FINE);
}

static int enter_without_privilege(void *user)
{
    int undone = -1;

    (void)user;
    if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0)) {
        return CHILD_SKIPPED;
    }
    CHILD_CHECK(root_enter(&undone) < 0);
    CHILD_CHECK(errno == EPERM);
    CHILD_CHECK(undone == 1);
    CHILD_CHECK(access("/etc/passwd", F_OK) == 0);
    return CHILD_FINE;
}

static void a_refusal_leaves_the_old_tree_in_place(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(enter_without_privilege, NULL), CHILD_FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hosts_files_are_gone_and_nothing_can_be_written),
        cmocka_unit_test(a_refusal_leaves_the_old_tree_in_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
