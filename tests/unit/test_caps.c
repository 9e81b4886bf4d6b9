/* test_caps.c - privileges that are given up stay gone. Each test works in a child. */
#include "jail/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"

enum { SOMEBODY = 54321 };

static int read_caps(struct __user_cap_data_struct data[2])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

    return (int)syscall(SYS_capget, &header, data);
}

static int drop_all(void *user)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    (void)user;
    CHILD_CHECK(caps_drop() == 0);
    CHILD_CHECK(read_caps(data) == 0);
    CHILD_CHECK((data[0].effective | data[0].permitted | data[0].inheritable) == 0);
    CHILD_CHECK((data[1].effective | data[1].permitted | data[1].inheritable) == 0);
    CHILD_CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
    data[0].permitted = data[0].effective = 1U << CAP_CHOWN;
    CHILD_CHECK(syscall(SYS_capset, &header, data) < 0 && errno == EPERM);
    CHILD_CHECK(sethostname("x", 1) < 0 && errno == EPERM);
    CHILD_CHECK(caps_drop() == 0); /* once more does no harm */
    return CHILD_FINE;
}

static void dropped_capabilities_do_not_come_back(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(drop_all, NULL), CHILD_FINE);
}

static int close_sources(void *user)
{
    unsigned cap;
    int bits;

    (void)user;
    CHILD_CHECK(caps_close_sources() == 0);
    if (geteuid() != 0) {
        return CHILD_FINE; /* a plain user has no sources, and that is fine */
    }
    for (cap = 0; cap <= CAP_LAST_CAP; cap++) {
        CHILD_CHECK(prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 0);
    }
    bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
    CHILD_CHECK((bits & SECBIT_NOROOT) != 0);
    CHILD_CHECK((bits & SECBIT_NOROOT_LOCKED) != 0);
    CHILD_CHECK((bits & SECBIT_NO_CAP_AMBIENT_RAISE) != 0);
    CHILD_CHECK(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) < 0 && errno == EPERM);
    return CHILD_FINE;
}

static void the_sources_of_capabilities_are_closed_for_ever(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(close_sources, NULL), CHILD_FINE);
}

static int become_somebody(void *user)
{
    uid_t r = 0, e = 0, s = 0;

    (void)user;
    CHILD_CHECK(caps_become(SOMEBODY, SOMEBODY + 1) == 0);
    CHILD_CHECK(getresuid(&r, &e, &s) == 0);
    CHILD_CHECK(r == SOMEBODY && e == SOMEBODY && s == SOMEBODY);
    CHILD_CHECK(getresgid(&r, &e, &s) == 0);
    CHILD_CHECK(r == SOMEBODY + 1 && e == SOMEBODY + 1 && s == SOMEBODY + 1);
    CHILD_CHECK(caps_become(0, 0) < 0 && errno == EPERM);
    return CHILD_FINE;
}

static void root_becomes_somebody_and_cannot_go_back(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        helper_say_skip("only root can become another user");
        skip();
    }
    assert_int_equal(helper_in_child(become_somebody, NULL), CHILD_FINE);
}

static int become_root(void *user)
{
    (void)user;
    if (geteuid() == 0) {
        CHILD_CHECK(caps_become(SOMEBODY, SOMEBODY) == 0);
    }
    CHILD_CHECK(caps_become(0, 0) < 0);
    CHILD_CHECK(errno == EPERM);
    CHILD_CHECK(caps_become(getuid(), getgid()) == 0); /* what one is, one may stay */
    return CHILD_FINE;
}

static void a_plain_user_does_not_become_root(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(become_root, NULL), CHILD_FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropped_capabilities_do_not_come_back),
        cmocka_unit_test(the_sources_of_capabilities_are_closed_for_ever),
        cmocka_unit_test(root_becomes_somebody_and_cannot_go_back),
        cmocka_unit_test(a_plain_user_does_not_become_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
