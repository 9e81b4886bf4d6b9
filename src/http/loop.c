/* loop.c - see loop.h. */
#include "http/loop.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"

enum {
    EVENTS_AT_ONCE = 256,
    LATER_MS = 1, /* who got an answer has the processor first */
};

static void run_posts(struct loop *loop)
{
    struct loop_post *post, *next;
    uint64_t count;

    (void)!eventfd_read(loop->event_fd, &count);
    (void)pthread_mutex_lock(&loop->lock);
    post = loop->first;
    loop->first = loop->last = NULL;
    (void)pthread_mutex_unlock(&loop->lock);
    for (; post != NULL; post = next) {
        next = post->next;
        post->run(post);
    }
}

static void on_event(struct loop_source *source, uint32_t events)
{
    (void)events;
    run_posts((struct loop *)((char *)source - offsetof(struct loop, event_source)));
}

int loop_init(struct loop *loop, struct vial_error *err)
{
    *loop = (struct loop){.epoll_fd = -1, .event_fd = -1, .event_source = {.ready = on_event}};
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&loop->lock, NULL);
    if (loop->epoll_fd < 0 || loop->event_fd < 0 ||
        loop_watch(loop, loop->event_fd, EPOLLIN, &loop->event_source) < 0) {
        return vial__fail_sys(err, errno, "making the loop of the server");
    }
    return VIAL_OK;
}

void loop_release(struct loop *loop)
{
    if (loop->event_source.ready != NULL) {
        fd_closep(&loop->event_fd);
        fd_closep(&loop->epoll_fd);
        (void)pthread_mutex_destroy(&loop->lock);
    }
}

int loop_watch(struct loop *loop, int fd, uint32_t events, struct loop_source *source)
{
    struct epoll_event event = {.events = events, .data = {.ptr = source}};

    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

void loop_forget(struct loop *loop, int fd)
{
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void loop_post(struct loop *loop, struct loop_post *post)
{
    int was_empty;

    post->next = NULL;
    (void)pthread_mutex_lock(&loop->lock);
    was_empty = loop->first == NULL;
    if (was_empty) {
        loop->first = post;
    } else {
        loop->last->next = post;
    }
    loop->last = post;
    (void)pthread_mutex_unlock(&loop->lock);
    if (was_empty) {
        (void)!eventfd_write(loop->event_fd, 1);
    }
}

int loop_wait_for(struct loop *loop, int fd, unsigned us)
{
    struct timespec most = {.tv_nsec = (long)us * 1000};
    struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = loop->epoll_fd, .events = POLLIN}};

    return ppoll(p, 2, &most, NULL) > 0 && p[0].revents != 0;
}

void loop_later(struct loop *loop, struct loop_post *post)
{
    post->next = NULL;
    if (loop->later == NULL) {
        loop->later = post;
    } else {
        loop->later_last->next = post;
    }
    loop->later_last = post;
}

void loop_run_later(struct loop *loop)
{
    struct loop_post *post, *next;

    post = loop->later;
    loop->later = loop->later_last = NULL;
    for (; post != NULL; post = next) {
        next = post->next;
        post->run(post);
    }
}

void loop_step(struct loop *loop, int timeout_ms)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int is_sooner = loop->later != NULL && (timeout_ms < 0 || timeout_ms > LATER_MS);
    int i, n;

    n = epoll_wait(loop->epoll_fd, events, EVENTS_AT_ONCE, is_sooner ? LATER_MS : timeout_ms);
    if (n != 0 || timeout_ms != 0) { /* else it has not slept */
        loop_run_later(loop);
    }
    for (i = 0; i < n; i++) {
        struct loop_source *source = events[i].data.ptr;

        source->ready(source, events[i].events);
    }
}
