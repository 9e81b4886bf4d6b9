/* test_lock.c - locks on versions: who excludes whom, and for how long one waits. */
#include "store/lock.h"

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

#include "base/clock.h"
#include "base/fd.h"

static char path[64];
static int first = -1, second = -1;

static int open_both(void **state)
{
    int fd;

    (void)state;
    (void)snprintf(path, sizeof(path), "/tmp/vial-lock-XXXXXX");
    fd = mkstemp(path);
    (void)close(fd);
    (void)unlink(path); /* lock_open makes it */
    return lock_open(path, &first, NULL) < 0 || lock_open(path, &second, NULL) < 0 ? -1 : 0;
}

static int close_both(void **state)
{
    (void)state;
    fd_closep(&first);
    fd_closep(&second);
    return unlink(path);
}

static int take(int fd, int64_t environment, uint32_t version, enum lock_kind kind)
{
    const struct lock_place place = {environment, version};

    return lock_take(fd, &place, kind, 0, NULL);
}

static void shared_locks_go_together_and_exclude_the_other_kind(void **state)
{
    const struct lock_place place = {3, 7};

    (void)state;
    assert_int_equal(take(first, 3, 7, LOCK_SHARED), 0);
    assert_int_equal(take(second, 3, 7, LOCK_SHARED), 0);
    lock_drop(second, &place);
    assert_int_equal(take(second, 3, 7, LOCK_EXCLUSIVE), VIAL_E_BUSY);
    lock_drop(first, &place);
    assert_int_equal(take(second, 3, 7, LOCK_EXCLUSIVE), 0);
    assert_int_equal(take(first, 3, 7, LOCK_SHARED), VIAL_E_BUSY);
}

static void all_of_an_environment_is_each_of_its_versions(void **state)
{
    (void)state;
    assert_int_equal(take(first, 3, INT32_MAX, LOCK_SHARED), 0);
    assert_int_equal(take(second, 3, 0, LOCK_EXCLUSIVE), VIAL_E_BUSY);
    assert_int_equal(take(second, 2, 0, LOCK_EXCLUSIVE), 0);
    assert_int_equal(take(second, 4, 0, LOCK_EXCLUSIVE), 0);
    assert_int_equal(take(second, 3, 1, LOCK_EXCLUSIVE), 0);
    assert_int_equal(take(second, 0, 0, LOCK_EXCLUSIVE), 0);
    assert_int_equal(take(first, 2, 1, LOCK_SHARED), VIAL_E_BUSY);
    assert_int_equal(take(first, INT32_MAX - 1, 0, LOCK_EXCLUSIVE), 0);
}

static void closing_lets_go(void **state)
{
    (void)state;
    assert_int_equal(take(first, 1, 1, LOCK_EXCLUSIVE), 0);
    assert_int_equal(take(second, 1, 1, LOCK_SHARED), VIAL_E_BUSY);
    fd_closep(&first);
    assert_int_equal(take(second, 1, 1, LOCK_SHARED), 0);
}

static void waiting_ends(void **state)
{
    const struct lock_place place = {1, 1};
    uint64_t before = clock_now_us(), took;

    (void)state;
    assert_int_equal(take(first, 1, 1, LOCK_EXCLUSIVE), 0);
    assert_int_equal(lock_take(second, &place, LOCK_SHARED, 40, NULL), VIAL_E_BUSY);
    took = clock_now_us() - before;
    assert_true(took >= 40000 && took < 5000000);
}

static void a_link_is_not_followed(void **state)
{
    struct vial_error err;
    char link_path[80];
    int fd = -1;

    (void)state;
    (void)snprintf(link_path, sizeof(link_path), "%s.link", path);
    assert_int_equal(symlink(path, link_path), 0);
    assert_int_equal(lock_open(link_path, &fd, &err), VIAL_E_SYS);
    assert_int_equal(fd, -1);
    (void)unlink(link_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            shared_locks_go_together_and_exclude_the_other_kind, open_both, close_both),
        cmocka_unit_test_setup_teardown(
            all_of_an_environment_is_each_of_its_versions, open_both, close_both),
        cmocka_unit_test_setup_teardown(closing_lets_go, open_both, close_both),
        cmocka_unit_test_setup_teardown(waiting_ends, open_both, close_both),
        cmocka_unit_test_setup_teardown(a_link_is_not_followed, open_both, close_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
