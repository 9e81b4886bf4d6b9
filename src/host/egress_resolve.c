/* egress_resolve.c - see egress_resolve.h.
 *
 * getaddrinfo() cannot be told to stop. So it runs in a thread that owns its question together
 * with whoever asked: when nobody waits any more, the thread is left alone and frees what is
 * there. */
#include "host/egress_resolve.h"

#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"

enum {
    TICK_US = 20 * 1000,
    STACK_BYTES = 512 * 1024, /* modules of the resolver have buffers on it */
};

struct question {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    int references;
    int is_answered;
    char *name;
    struct net_address addresses[EGRESS_ADDRESSES_MAX];
    size_t count;
};

static int resolvers_count; /* atomic; of the process, because the threads are */

static void unref(struct question *q)
{
    int left;

    (void)pthread_mutex_lock(&q->lock);
    left = --q->references;
    (void)pthread_mutex_unlock(&q->lock);
    if (left == 0) {
        (void)pthread_cond_destroy(&q->answered);
        (void)pthread_mutex_destroy(&q->lock);
        free(q->name);
        free(q);
    }
}

static void take_answers(struct question *q, const struct addrinfo *list)
{
    const struct addrinfo *a;

    for (a = list; a != NULL && q->count < EGRESS_ADDRESSES_MAX; a = a->ai_next) {
        if (a->ai_family == AF_INET) {
            struct sockaddr_in in;

            memcpy(&in, a->ai_addr, sizeof(in));
            q->addresses[q->count++] = net_address_v4((const uint8_t *)&in.sin_addr);
        } else if (a->ai_family == AF_INET6) {
            struct sockaddr_in6 in6;

            memcpy(&in6, a->ai_addr, sizeof(in6));
            q->addresses[q->count++] = net_address_v6(in6.sin6_addr.s6_addr);
        }
    }
}

static void *ask(void *user)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    struct question *q = user;
    int r = getaddrinfo(q->name, NULL, &hints, &list);

    (void)pthread_mutex_lock(&q->lock);
    if (r == 0) {
        take_answers(q, list);
    }
    q->is_answered = 1;
    (void)pthread_cond_signal(&q->answered);
    (void)pthread_mutex_unlock(&q->lock);
    if (r == 0) {
        freeaddrinfo(list);
    }
    unref(q);
    (void)__atomic_sub_fetch(&resolvers_count, 1, __ATOMIC_RELAXED);
    return NULL;
}

static struct question *question_new(const char *name)
{
    struct question *q = calloc(1, sizeof(*q));
    pthread_condattr_t attributes;

    if (q == NULL || (q->name = strdup(name)) == NULL) {
        free(q);
        return NULL;
    }
    q->references = 2;
    (void)pthread_mutex_init(&q->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&q->answered, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return q;
}

static int start(struct question *q)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    int r;

    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)sigfillset(&all); /* none of the program's handlers shall run in our threads */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&thread, &attributes, ask, q);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return r;
}

static enum egress_resolved wait_for(struct question *q, uint64_t until_us, const int *cancelled)
{
    enum egress_resolved r = EGRESS_RESOLVED;

    while (!q->is_answered && r == EGRESS_RESOLVED) {
        uint64_t now = clock_now_us();
        uint64_t next = now + TICK_US < until_us ? now + TICK_US : until_us;
        struct timespec t = {
            .tv_sec = (time_t)(next / 1000000), .tv_nsec = (long)(next % 1000000) * 1000};

        if (cancelled != NULL && __atomic_load_n(cancelled, __ATOMIC_ACQUIRE) != 0) {
            r = EGRESS_CANCELLED;
        } else if (now >= until_us) {
            r = EGRESS_LATE;
        } else {
            (void)pthread_cond_timedwait(&q->answered, &q->lock, &t);
        }
    }
    return r;
}

enum egress_resolved egress_resolve(const char *name, uint64_t until_us, const int *cancelled,
    struct net_address ret[EGRESS_ADDRESSES_MAX], size_t *ret_count)
{
    struct question *q;
    enum egress_resolved r;

    if (__atomic_add_fetch(&resolvers_count, 1, __ATOMIC_RELAXED) > EGRESS_RESOLVERS_MAX ||
        (q = question_new(name)) == NULL) {
        (void)__atomic_sub_fetch(&resolvers_count, 1, __ATOMIC_RELAXED);
        return EGRESS_CROWDED;
    }
    if (start(q) != 0) {
        (void)__atomic_sub_fetch(&resolvers_count, 1, __ATOMIC_RELAXED);
        q->references = 1;
        unref(q);
        return EGRESS_CROWDED;
    }
    (void)pthread_mutex_lock(&q->lock);
    r = wait_for(q, until_us, cancelled);
    if (r == EGRESS_RESOLVED && q->count == 0) {
        r = EGRESS_UNKNOWN;
    } else if (r == EGRESS_RESOLVED) {
        memcpy(ret, q->addresses, q->count * sizeof(q->addresses[0]));
        *ret_count = q->count;
    }
    (void)pthread_mutex_unlock(&q->lock);
    unref(q);
    return r;
}
