/* test_rlimits.c - the classic limits hold and cannot be raised again. Each test works in a child.
 */
#include "jail/rlimits.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"
#include "jail/caps.h"

enum { OPEN_FILES = 12 };

static int look_at_them(void *user)
{
    static const struct {
        __rlimit_resource_t resource;
        rlim_t max;
    } rows[] = {{RLIMIT_CORE, 0}, {RLIMIT_NOFILE, OPEN_FILES}, {RLIMIT_FSIZE, 0}, {RLIMIT_NPROC, 1},
        {RLIMIT_MEMLOCK, 0}, {RLIMIT_MSGQUEUE, 0}, {RLIMIT_SIGPENDING, 64}, {RLIMIT_RTPRIO, 0},
        {RLIMIT_NICE, 0}, {RLIMIT_LOCKS, 0}};
    struct rlimit limit;
    size_t i;

    (void)user;
    CHILD_CHECK(rlimits_apply(OPEN_FILES, 1) == 0);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHILD_CHECK(getrlimit(rows[i].resource, &limit) == 0);
        CHILD_CHECK(limit.rlim_cur == rows[i].max && limit.rlim_max == rows[i].max);
    }
    return CHILD_FINE;
}

static void both_sides_of_every_limit_are_set(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(look_at_them, NULL), CHILD_FINE);
}

static int open_too_many(void *user)
{
    struct rlimit more = {.rlim_cur = 1000, .rlim_max = 1000};
    int fd = 0;

    (void)user;
    CHILD_CHECK(rlimits_apply(OPEN_FILES, 1) == 0);
    CHILD_CHECK(caps_drop() == 0); /* as in a cell: root could raise its limits */
    while (fd >= 0 && fd < 100) {
        fd = dup(0);
    }
    CHILD_CHECK(fd < 0 && errno == EMFILE);
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &more) < 0 && errno == EPERM);
    return CHILD_FINE;
}

static void descriptors_run_out_and_the_limit_stays(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(open_too_many, NULL), CHILD_FINE);
}

static int write_a_file(void *user)
{
    int fd = open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

    (void)user;
    CHILD_CHECK(fd >= 0);
    CHILD_CHECK(rlimits_apply(OPEN_FILES, 1) == 0);
    (void)!write(fd, "x", 1);
    return CHILD_FAILED; /* not reached */
}

static void a_file_that_grows_is_the_end(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(write_a_file, NULL), 256 + SIGXFSZ);
}

static int raise_again(void *user)
{
    (void)user;
    CHILD_CHECK(rlimits_apply(OPEN_FILES, 1) == 0);
    CHILD_CHECK(caps_drop() == 0);
    CHILD_CHECK(rlimits_apply(OPEN_FILES + 1, 1) < 0 && errno == EPERM);
    CHILD_CHECK(rlimits_apply(OPEN_FILES - 1, 1) == 0); /* lower is always possible */
    return CHILD_FINE;
}

static void limits_only_go_down(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(raise_again, NULL), CHILD_FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_of_every_limit_are_set),
        cmocka_unit_test(descriptors_run_out_and_the_limit_stays),
        cmocka_unit_test(a_file_that_grows_is_the_end),
        cmocka_unit_test(limits_only_go_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
