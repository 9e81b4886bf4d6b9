/* test_egress_resolve.c - names that are found, not found, and never answered. */
#include "host/egress_resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

/* In the place of the resolver, by the link option --wrap. */
int __wrap_getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret);
int __real_getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret);

static pthread_mutex_t hang = PTHREAD_MUTEX_INITIALIZER;

int __wrap_getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    if (strcmp(name, "unknown.test") == 0) {
        return EAI_NONAME;
    }
    if (strcmp(name, "hangs.test") == 0) {
        (void)pthread_mutex_lock(&hang);
        (void)pthread_mutex_unlock(&hang);
        return EAI_AGAIN;
    }
    return __real_getaddrinfo(name, service, hints, ret);
}

static struct net_address found[EGRESS_ADDRESSES_MAX];

static void a_name_has_addresses(void **state)
{
    size_t count = 0;

    (void)state;
    assert_int_equal(egress_resolve("127.0.0.1", clock_now_us() + 5000000, NULL, found, &count),
        EGRESS_RESOLVED);
    assert_int_equal(count, 1);
    assert_non_null(net_address_fault(&found[0]));
}

static void a_name_that_is_none_is_unknown(void **state)
{
    size_t count = 0;

    (void)state;
    assert_int_equal(egress_resolve("unknown.test", clock_now_us() + 5000000, NULL, found, &count),
        EGRESS_UNKNOWN);
}

static void a_name_server_that_hangs_holds_nobody(void **state)
{
    int cancelled = 0, i, crowded = 0;
    size_t count = 0;

    (void)state;
    (void)pthread_mutex_lock(&hang);
    assert_int_equal(egress_resolve("hangs.test", clock_now_us() + 1000, &cancelled, found, &count),
        EGRESS_LATE);
    cancelled = 1;
    assert_int_equal(
        egress_resolve("hangs.test", UINT64_MAX / 2, &cancelled, found, &count), EGRESS_CANCELLED);
    for (i = 0; i < EGRESS_RESOLVERS_MAX; i++) {
        crowded += egress_resolve("hangs.test", UINT64_MAX / 2, &cancelled, found, &count) ==
                   EGRESS_CROWDED;
    }
    assert_int_equal(crowded, 2);
    (void)pthread_mutex_unlock(&hang);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_addresses),
        cmocka_unit_test(a_name_that_is_none_is_unknown),
        cmocka_unit_test(a_name_server_that_hangs_holds_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
