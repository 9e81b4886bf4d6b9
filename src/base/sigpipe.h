/* sigpipe.h - writing to somebody who may have gone, in a program whose signals are not ours.
 *
 * A library must not change how a program treats SIGPIPE, and must not let it be killed by one. So
 * the signal is held back in this thread only, and one that our own writing caused is taken away
 * before the thread goes on as it was. */
#ifndef VIAL_BASE_SIGPIPE_H
#define VIAL_BASE_SIGPIPE_H

#include <signal.h>

struct sigpipe {
    sigset_t before; /* the mask of the thread */
    int was_pending; /* one was there already: it is not ours to take */
};

/* From here to sigpipe_release, in the same thread, no SIGPIPE is delivered; writes fail with
 * EPIPE. */
void sigpipe_hold(struct sigpipe *s);
void sigpipe_release(const struct sigpipe *s);

#endif
