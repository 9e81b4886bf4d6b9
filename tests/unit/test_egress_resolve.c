/* test_egress_resolve.c - names that are found, not found, and never answered. */
#include "host/egress_resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

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
static size_t count;

static int start(void **state)
{
    static int fd;

    fd = eventfd(0, EFD_CLOEXEC);
    *state = &fd;
    return fd >= 0 ? 0 : -1;
}

static int stop(void **state)
{
    return close(*(int *)*state);
}

/* Asks and waits for the answer, as the thread of a run does. */
static enum egress_resolved ask(int fd, const char *name)
{
    struct egress_question *q = egress_question_new(name, fd);
    enum egress_resolved r;
    uint64_t once;

    assert_non_null(q);
    assert_int_equal(read(fd, &once, sizeof(once)), sizeof(once));
    r = egress_question_look(q, found, &count);
    egress_question_free(q);
    return r;
}

static void a_name_has_addresses(void **state)
{
    assert_int_equal(ask(*(int *)*state, "127.0.0.1"), EGRESS_RESOLVED);
    assert_int_equal(count, 1);
    assert_non_null(net_address_fault(&found[0]));
}

static void a_name_that_is_none_is_unknown(void **state)
{
    assert_int_equal(ask(*(int *)*state, "unknown.test"), EGRESS_UNKNOWN);
}

static void a_name_server_that_hangs_holds_nobody(void **state)
{
    struct egress_question *all[EGRESS_RESOLVERS_MAX];
    int fd = *(int *)*state, i, patience;

    (void)pthread_mutex_lock(&hang);
    for (i = 0; i < EGRESS_RESOLVERS_MAX; i++) {
        /* The thread of a question before may take a moment more to end. */
        for (patience = 0;
             (all[i] = egress_question_new("hangs.test", fd)) == NULL && patience < 1000;
             patience++) {
            (void)usleep(10000);
        }
        assert_non_null(all[i]);
        assert_int_equal(egress_question_look(all[i], found, &count), EGRESS_PENDING);
    }
    assert_null(egress_question_new("hangs.test", fd)); /* so many, and no more */
    for (i = 0; i < EGRESS_RESOLVERS_MAX; i++) {
        egress_question_free(all[i]); /* who asked does not wait */
    }
    assert_null(egress_question_new("hangs.test", fd)); /* the threads are still there */
    (void)pthread_mutex_unlock(&hang);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_addresses),
        cmocka_unit_test(a_name_that_is_none_is_unknown),
        cmocka_unit_test(a_name_server_that_hangs_holds_nobody),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
