/* session_pool.c - a number of sessions that are kept ready and lent out; see vial.h.
 *
 * A session is lent once: what comes back is ended, and a new one takes its place, so nobody finds
 * anything of somebody else's. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "vial.h"

enum { POOL_SESSIONS_MAX = 1024 }; /* as many as an engine can have */

struct vial_pool {
    struct vial_engine *engine;
    struct vial_session_options options; /* what it points to must live as long as the pool */
    uint32_t total_count;
    pthread_mutex_t lock; /* guards what follows; sessions are made without it */
    pthread_cond_t returned;
    struct vial_session **ready; /* ready_count of them */
    struct vial_session **lent;  /* lent_count of them */
    uint32_t ready_count, lent_count;
    uint32_t missing_count; /* that could not be made anew; the next acquire tries again */
};

static int is_alive(struct vial_session *s)
{
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;

    vial_session_info(s, &info);
    return info.state != VIAL_SESSION_ENDED;
}

/* Makes a session and puts it among those that are ready. */
static int add_one(struct vial_pool *p, struct vial_error *err)
{
    struct vial_session *s = NULL;
    int r = vial_session_new(p->engine, &p->options, &s, err);

    (void)pthread_mutex_lock(&p->lock);
    if (r == VIAL_OK) {
        p->ready[p->ready_count++] = s;
    } else {
        p->missing_count++;
    }
    (void)pthread_cond_signal(&p->returned);
    (void)pthread_mutex_unlock(&p->lock);
    return r;
}

int vial_pool_new(struct vial_engine *engine, uint32_t size,
    const struct vial_session_options *options, struct vial_pool **ret, struct vial_error *err)
{
    struct vial_session_options o = VIAL_SESSION_OPTIONS_INIT;
    pthread_condattr_t monotonic;
    struct vial_pool *p;
    uint32_t i;
    int r = VIAL_OK;

    if (engine == NULL || ret == NULL || size == 0 || size > POOL_SESSIONS_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "a pool needs an engine, a place for it, and a size from 1 to %d", POOL_SESSIONS_MAX);
    }
    if (options != NULL) {
        memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
        o.size = sizeof(o);
    }
    p = calloc(1, sizeof(*p));
    if (p == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a pool");
    }
    p->engine = engine;
    p->options = o;
    p->total_count = size;
    p->ready = calloc(size, sizeof(struct vial_session *));
    p->lent = calloc(size, sizeof(struct vial_session *));
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&p->returned, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    if (p->ready == NULL || p->lent == NULL) {
        r = vial__fail(err, VIAL_E_NOMEM, "no memory for a pool");
    }
    for (i = 0; i < size && r == VIAL_OK; i++) {
        r = add_one(p, err);
    }
    if (r < 0) {
        vial_pool_free(p);
        return r;
    }
    *ret = p;
    return VIAL_OK;
}

/* With the lock held: one that is ready and has not ended while it waited, or NULL. */
static struct vial_session *take(struct vial_pool *p)
{
    struct vial_session *s;

    while (p->ready_count > 0) {
        s = p->ready[--p->ready_count];
        if (is_alive(s)) {
            p->lent[p->lent_count++] = s;
            return s;
        }
        p->missing_count++;
        (void)pthread_mutex_unlock(&p->lock);
        vial_session_free(s);
        (void)pthread_mutex_lock(&p->lock);
    }
    return NULL;
}

int vial_pool_acquire(
    struct vial_pool *p, uint32_t wait_ms, struct vial_session **ret, struct vial_error *err)
{
    struct timespec until;
    int r = VIAL_OK, late = 0;

    if (p == NULL || ret == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "a pool and a place for a session are needed");
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&p->lock);
    while ((*ret = take(p)) == NULL && !late && r == VIAL_OK) {
        if (p->missing_count > 0) {
            p->missing_count--;
            (void)pthread_mutex_unlock(&p->lock);
            r = add_one(p, err);
            (void)pthread_mutex_lock(&p->lock);
        } else {
            late = pthread_cond_timedwait(&p->returned, &p->lock, &until) == ETIMEDOUT;
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
    if (*ret == NULL && r == VIAL_OK) {
        r = vial__fail(err, VIAL_E_BUSY, "all %u sessions of the pool are in use; try again later",
            p->total_count);
    }
    return r;
}

int vial_pool_release(struct vial_pool *p, struct vial_session *session, struct vial_error *err)
{
    uint32_t i;
    int found;

    if (p == NULL || session == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "a pool and a session are needed");
    }
    (void)pthread_mutex_lock(&p->lock);
    for (i = 0; i < p->lent_count && p->lent[i] != session; i++) {
    }
    found = i < p->lent_count;
    if (found) {
        p->lent[i] = p->lent[--p->lent_count];
    }
    (void)pthread_mutex_unlock(&p->lock);
    if (!found) {
        return vial__fail(err, VIAL_E_INVALID, "this session is not lent by the pool");
    }
    vial_session_free(session);
    return add_one(p, err);
}

void vial_pool_status(struct vial_pool *p, struct vial_pool_status *status)
{
    struct vial_pool_status s = VIAL_POOL_STATUS_INIT;
    size_t n = status->size < sizeof(s) ? status->size : sizeof(s);

    (void)pthread_mutex_lock(&p->lock);
    s.total_count = p->total_count;
    s.in_use_count = p->lent_count;
    s.available_count = p->total_count - p->lent_count;
    (void)pthread_mutex_unlock(&p->lock);
    s.size = status->size;
    memcpy(status, &s, n);
}

void vial_pool_free(struct vial_pool *p)
{
    uint32_t i;

    if (p == NULL) {
        return;
    }
    for (i = 0; p->ready != NULL && i < p->ready_count; i++) {
        vial_session_free(p->ready[i]);
    }
    for (i = 0; p->lent != NULL && i < p->lent_count; i++) {
        vial_session_free(p->lent[i]);
    }
    (void)pthread_cond_destroy(&p->returned);
    (void)pthread_mutex_destroy(&p->lock);
    free(p->ready);
    free(p->lent);
    free(p);
}
