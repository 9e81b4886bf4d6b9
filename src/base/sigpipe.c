/* sigpipe.c - see sigpipe.h. */
#include "base/sigpipe.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static int is_pending(void)
{
    sigset_t pending;

    (void)sigemptyset(&pending);
    (void)sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

static void set_of_one(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGPIPE);
}

void sigpipe_hold(struct sigpipe *s)
{
    sigset_t one;

    set_of_one(&one);
    s->was_pending = is_pending();
    (void)pthread_sigmask(SIG_BLOCK, &one, &s->before);
}

void sigpipe_release(const struct sigpipe *s)
{
    static const struct timespec at_once;
    int saved = errno;
    sigset_t one;

    if (!s->was_pending && is_pending()) {
        set_of_one(&one);
        while (sigtimedwait(&one, NULL, &at_once) < 0 && errno == EINTR) {
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &s->before, NULL);
    errno = saved;
}
