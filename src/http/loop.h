/* loop.h - the one thread that everything of HTTP happens in: an epoll loop.
 *
 * Descriptors are watched through a source each. Other threads hand things over by loop_post: what
 * they post runs in the loop, in the order in which it was posted. */
#ifndef VIAL_HTTP_LOOP_H
#define VIAL_HTTP_LOOP_H

#include <pthread.h>
#include <stdint.h>

#include "vial.h"

/* Embedded in whatever owns the descriptor. */
struct loop_source {
    void (*ready)(struct loop_source *source, uint32_t events);
};

/* Embedded in whatever is handed over; run may free it. */
struct loop_post {
    struct loop_post *next;
    void (*run)(struct loop_post *post);
};

struct loop {
    int epoll_fd;
    int event_fd;
    struct loop_source event_source;
    pthread_mutex_t lock;                 /* of first and last */
    struct loop_post *first, *last;       /* posted and not yet run */
    struct loop_post *later, *later_last; /* the same of the loop itself, without the lock */
};

VIAL_NODISCARD int loop_init(struct loop *loop, struct vial_error *err);
void loop_release(struct loop *loop);

/* events as epoll_ctl takes them. 0, or -1 with errno. */
int loop_watch(struct loop *loop, int fd, uint32_t events, struct loop_source *source);
void loop_forget(struct loop *loop, int fd);

/* From any thread. */
void loop_post(struct loop *loop, struct loop_post *post);

/* From the loop only: waits for a descriptor for up to us, less than a second, unless there is
 * something else to do. Has the descriptor something to read? */
int loop_wait_for(struct loop *loop, int fd, unsigned us);

/* From the loop only: run when the loop has slept, so when answers are on their way and those who
 * wait for them are awake; at the latest when something else happens, and before that. */
void loop_later(struct loop *loop, struct loop_post *post);

/* The same now. */
void loop_run_later(struct loop *loop);

/* Waits for at most timeout_ms (-1: as long as it takes) and calls what is ready. */
void loop_step(struct loop *loop, int timeout_ms);

#endif
