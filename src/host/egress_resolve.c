/* egress_resolve.c - see egress_resolve.h.
 *
 * getaddrinfo() cannot be told to stop. So it runs in a thread that owns its question together
 * with whoever asked: when nobody waits any more, the thread is left alone and frees what is
 * there. */
#include "host/egress_resolve.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STACK_BYTES = 512 * 1024 }; /* modules of the resolver have buffers on it */

struct egress_question {
    pthread_mutex_t lock;
    int references;
    int is_answered;
    int wake_fd; /* a duplicate */
    char *name;
    struct net_address addresses[EGRESS_ADDRESSES_MAX];
    size_t count;
};

static int resolvers_count; /* atomic; of the process, because the threads are */

static void unref(struct egress_question *q)
{
    int left;

    (void)pthread_mutex_lock(&q->lock);
    left = --q->references;
    (void)pthread_mutex_unlock(&q->lock);
    if (left == 0) {
        (void)pthread_mutex_destroy(&q->lock);
        (void)close(q->wake_fd);
        free(q->name);
        free(q);
    }
}

static void take_answers(struct egress_question *q, const struct addrinfo *list)
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
    struct egress_question *q = user;
    uint64_t one = 1;
    int r = getaddrinfo(q->name, NULL, &hints, &list);

    (void)pthread_mutex_lock(&q->lock);
    if (r == 0) {
        take_answers(q, list);
    }
    q->is_answered = 1;
    (void)pthread_mutex_unlock(&q->lock);
    (void)!write(q->wake_fd, &one, sizeof(one)); /* short counts handled */
    if (r == 0) {
        freeaddrinfo(list);
    }
    unref(q);
    (void)__atomic_sub_fetch(&resolvers_count, 1, __ATOMIC_RELAXED);
    return NULL;
}

static int start(struct egress_question *q)
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

static struct egress_question *question_new(const char *name, int wake_fd)
{
    struct egress_question *q = calloc(1, sizeof(*q));

    if (q == NULL || (q->name = strdup(name)) == NULL) {
        free(q);
        return NULL;
    }
    q->wake_fd = fcntl(wake_fd, F_DUPFD_CLOEXEC, 0);
    if (q->wake_fd < 0) {
        free(q->name);
        free(q);
        return NULL;
    }
    q->references = 2;
    (void)pthread_mutex_init(&q->lock, NULL);
    return q;
}

struct egress_question *egress_question_new(const char *name, int wake_fd)
{
    struct egress_question *q;

    if (__atomic_add_fetch(&resolvers_count, 1, __ATOMIC_RELAXED) > EGRESS_RESOLVERS_MAX ||
        (q = question_new(name, wake_fd)) == NULL) {
        (void)__atomic_sub_fetch(&resolvers_count, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    if (start(q) != 0) {
        (void)__atomic_sub_fetch(&resolvers_count, 1, __ATOMIC_RELAXED);
        q->references = 1;
        unref(q);
        return NULL;
    }
    return q;
}

enum egress_resolved egress_question_look(
    struct egress_question *q, struct net_address ret[EGRESS_ADDRESSES_MAX], size_t *ret_count)
{
    enum egress_resolved r;

    (void)pthread_mutex_lock(&q->lock);
    r = !q->is_answered ? EGRESS_PENDING : q->count == 0 ? EGRESS_UNKNOWN : EGRESS_RESOLVED;
    if (r == EGRESS_RESOLVED) {
        memcpy(ret, q->addresses, q->count * sizeof(q->addresses[0]));
        *ret_count = q->count;
    }
    (void)pthread_mutex_unlock(&q->lock);
    return r;
}

void egress_question_free(struct egress_question *q)
{
    if (q != NULL) {
        unref(q);
    }
}
