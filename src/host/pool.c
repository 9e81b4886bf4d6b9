/* pool.c - cells that wait for runs, as runs see them; see engine.h. The keeper fills the pool. */
#include <errno.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "host/engine.h"
#include "host/env.h"
#include "host/place.h"

enum {
    PAUSE_US_MAX = 100 * 1000,  /* between two runs; a longer one counts as this */
    QUEUE_SLICE_US = 20 * 1000, /* how often a waiting run looks whether it was cancelled */
};

void pool_wake_keeper(struct vial_engine *e)
{
    uint64_t one = 1;

    /* The kernel takes all eight bytes or none. */
    (void)!write(e->wake_fd, &one, sizeof(one)); /* short counts handled */
}

static void unlink_waiter(struct vial_engine *e, struct waiter *w)
{
    struct waiter **p;

    for (p = &e->waiters; *p != NULL; p = &(*p)->next) {
        if (*p == w) {
            *p = w->next;
            return;
        }
    }
}

/* With the lock held: a cell for this waiter, or CELL_NONE. */
static uint32_t try_take(struct vial_engine *e, struct waiter *w)
{
    struct breed *b = &e->breeds[w->want.spec.breed];

    if (e->busy_count >= e->runs_max && !w->want.stays) {
        return CELL_NONE;
    }
    if (w->cell == CELL_NONE && w->want.env != NULL) {
        w->cell = env_take(w->want.env);
    } else if (!w->custom && b->ready_count > 0) {
        w->cell = b->ready[--b->ready_count];
        e->cells[w->cell].state = CELL_TAKEN;
    }
    return w->cell;
}

/* Will there be no cell? */
static int has_failed(const struct vial_engine *e, const struct waiter *w)
{
    return w->failed || e->breeds[w->want.spec.breed].failures_count > POOL_FAILURES_MAX ||
           (w->want.env != NULL && !env_is_up(w->want.env));
}

/* With the lock held: waits until there is a cell, the time is over, or there will never be one. */
static int queue_for(
    struct vial_engine *e, struct waiter *w, const int *cancelled, struct vial_error *err)
{
    uint64_t deadline = clock_now_us() + e->queue_ms_max * 1000ULL;
    struct timespec slice;

    if (e->queue_count >= e->queue_count_max) {
        return vial__fail(err, VIAL_E_BUSY,
            "%u runs are waiting for a cell already; try again later", e->queue_count);
    }
    e->queue_count++;
    pool_wake_keeper(e);
    while (try_take(e, w) == CELL_NONE && !__atomic_load_n(cancelled, __ATOMIC_RELAXED) &&
           clock_now_us() < deadline && !has_failed(e, w)) {
        (void)clock_gettime(CLOCK_MONOTONIC, &slice);
        slice.tv_nsec += QUEUE_SLICE_US * 1000L;
        slice.tv_sec += slice.tv_nsec / 1000000000;
        slice.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&e->changed, &e->lock, &slice);
    }
    e->queue_count--;
    if (w->cell != CELL_NONE || __atomic_load_n(cancelled, __ATOMIC_RELAXED)) {
        return VIAL_OK;
    }
    if (w->want.env != NULL && !env_is_up(w->want.env) && e->failure.code == 0) {
        return vial__fail(err, VIAL_E_BUSY, "the environment was put down; try again");
    }
    if (has_failed(e, w)) {
        if (err != NULL) {
            *err = e->failure;
        }
        e->breeds[w->want.spec.breed].failures_count = 0; /* the next run tries anew */
        return vial__wrap(err, e->failure.code, "no cell can be made");
    }
    return vial__fail(
        err, VIAL_E_BUSY, "no cell became free within %u ms; try again later", e->queue_ms_max);
}

/* How fast cells are taken, as a mean over the last eight or so. */
static void note_pace(struct vial_engine *e)
{
    uint64_t now = clock_now_us();
    uint64_t pause = now - e->taken_us < PAUSE_US_MAX ? now - e->taken_us : PAUSE_US_MAX;

    e->taken_us = now;
    e->pace_us = (7 * e->pace_us + pause) / 8;
}

int pool_take(struct vial_engine *e, const struct cell_want *want, int wait, const int *cancelled,
    uint32_t *ret_cell, int *ret_pidfd, struct vial_error *err)
{
    struct waiter w = {.want = *want, .cell = CELL_NONE};
    struct breed *b = &e->breeds[want->spec.breed];
    struct cell_spec plain = e->spec_default;
    int r = VIAL_OK;

    engine_set_breed(&plain, want->spec.breed);
    w.custom =
        want->origin != CELL_NONE || want->env != NULL || !place_spec_equal(&want->spec, &plain);
    (void)pthread_mutex_lock(&e->lock);
    b->stays_wanted |= want->spec.kind == CELL_ORIGIN;
    b->wanted |= want->spec.kind != CELL_ORIGIN && want->env == NULL && want->origin == CELL_NONE;
    if (try_take(e, &w) == CELL_NONE) {
        if (!wait) {
            r = VIAL_E_BUSY;
        } else {
            w.next = e->waiters;
            e->waiters = &w;
            r = queue_for(e, &w, cancelled, err);
            unlink_waiter(e, &w);
        }
    }
    *ret_cell = w.cell;
    if (w.cell != CELL_NONE) {
        r = VIAL_OK;
        note_pace(e);
        *ret_pidfd = e->cells[w.cell].pidfd;
        e->cells[w.cell].pidfd = -1;
        if (!want->stays) {
            e->busy_count++;
            e->run_count++;
        }
    }
    (void)pthread_mutex_unlock(&e->lock);
    return r;
}

/* With the lock held: while the pool is half full, the keeper can wait until the template tells of
 * the cell's end. To wake it now takes time from whoever waits for the result. */
static int has_time(const struct vial_engine *e, const struct cell *c)
{
    const struct breed *b = &e->breeds[c->spec.breed];

    return !c->gone && !c->custom && c->env == NULL && c->family == FAMILY_NONE && !b->rotate &&
           e->queue_count == 0 && e->waiters == NULL && 2 * b->ready_count >= e->pool_count;
}

static void give_back(struct vial_engine *e, uint32_t cell, int suspicious, int stayed)
{
    struct cell *c = &e->cells[cell];
    int is_hurried;

    (void)pthread_mutex_lock(&e->lock);
    e->busy_count -= stayed ? 0 : 1;
    e->breeds[c->spec.breed].rotate |= suspicious;
    fd_closep(&c->sock);
    fd_closep(&c->statm_fd);
    c->state = CELL_ENDING;
    is_hurried = !has_time(e, c);
    if (c->gone) {
        place_clear(e, c);
    }
    if (e->queue_count > 0) {
        (void)pthread_cond_broadcast(&e->changed);
    }
    (void)pthread_mutex_unlock(&e->lock);
    if (is_hurried) {
        pool_wake_keeper(e);
    }
}

void pool_give_back(struct vial_engine *e, uint32_t cell, int suspicious)
{
    give_back(e, cell, suspicious, 0);
}

void pool_give_back_member(struct vial_engine *e, uint32_t cell, int suspicious)
{
    give_back(e, cell, suspicious, 1);
}

int pool_wait_gone(struct vial_engine *e, uint32_t cell, uint32_t ms)
{
    struct timespec until;
    int gone;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&e->lock);
    while (!e->cells[cell].gone && e->keeper_runs &&
           pthread_cond_timedwait(&e->changed, &e->lock, &until) != ETIMEDOUT) {
    }
    gone = e->cells[cell].gone;
    (void)pthread_mutex_unlock(&e->lock);
    return gone;
}
