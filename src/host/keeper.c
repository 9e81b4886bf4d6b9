/* keeper.c - the thread that keeps cells coming; see engine.h.
 *
 * It sleeps until a template says something, a new cell says that it is ready, or a run took or
 * gave back a cell. After each it orders what is missing. Everything here is done under the
 * engine's lock, except sleeping and the start of a template. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "host/engine.h"
#include "host/meter.h"
#include "host/place.h"
#include "jail/fork.h"
#include "wire/control.h"
#include "wire/field.h"

enum {
    BIRTH_US_MAX = 10 * 1000 * 1000, /* a cell that is not ready by then is killed */
    RETRY_US = 1000 * 1000,          /* between templates that fail, and between rotations */
    ROTATE_FORKS = 20000,            /* a template's address layout is not used for ever */
    ROTATE_US_MIN = 1000 * 1000,     /* who crashes on purpose costs at most one start a second */
};

/* ---- templates, with the lock held ---- */

/* The template is gone, and the kernel has ended all its cells. Those that runs have are told by
 * their sockets; the others are dropped here. */
static void template_lost(struct vial_engine *e, unsigned index)
{
    struct template *t = &e->templates[index];
    unsigned i;

    for (i = 0; i < e->cells_count; i++) {
        struct cell *c = &e->cells[i];

        if (c->state == CELL_FREE || c->template_index != index) {
            continue;
        }
        c->gone = 1;
        c->exit_status = SIGKILL;
        c->exit_cpu_us = 0;
        if (c->state == CELL_READY) {
            place_unready(e, i);
        }
        if (c->state != CELL_TAKEN) {
            t->retired = 0; /* so that place_clear leaves the release to us */
            place_clear(e, c);
        }
    }
    t->retired = 1;
    if (e->current == (int)index) {
        e->current = -1;
    }
    if (t->cells_count == 0) {
        template_release(t);
    } else { /* runs still hold cells of it; nothing will be heard of it any more */
        fd_closep(&t->sock);
    }
    (void)pthread_cond_broadcast(&e->changed);
}

/* No further cells from the current template; its waiting ones go, its running ones end in peace.
 */
static void template_retire(struct vial_engine *e)
{
    struct template *t;
    unsigned i;

    if (e->current < 0) {
        return;
    }
    t = &e->templates[e->current];
    while (e->ready_count > 0) {
        place_drop(e, &e->cells[e->ready[--e->ready_count]]);
    }
    for (i = 0; i < e->cells_count; i++) {
        struct cell *c = &e->cells[i];

        if (c->state == CELL_BORN && (int)c->template_index == e->current) {
            place_drop(e, c);
        }
    }
    t->retired = 1;
    e->current = -1;
    if (t->cells_count == 0) {
        template_release(t);
    }
}

/* Starts a template when there is none. The lock is let go of meanwhile. */
static void template_renew(struct vial_engine *e)
{
    struct template t;
    struct layer_report report;
    struct vial_error err;
    unsigned i;
    int r;

    for (i = 0;
         i < TEMPLATES_MAX && (e->templates[i].pidfd >= 0 || e->templates[i].cells_count > 0);
         i++) {
    }
    if (i == TEMPLATES_MAX || clock_now_us() < e->retry_us) {
        return;
    }
    (void)pthread_mutex_unlock(&e->lock);
    r = template_start(e, &t, &report, &err);
    if (r == 0) {
        memcpy(&report.entries[LAYER_CGROUP_MEMORY], &e->report.entries[LAYER_CGROUP_MEMORY],
            2 * sizeof(report.entries[0]));
        r = layer_report_require(&report, e->require, &err);
        if (r < 0) {
            template_release(&t);
        }
    }
    (void)pthread_mutex_lock(&e->lock);
    e->retry_us = clock_now_us() + RETRY_US;
    if (r < 0) {
        e->failure = err;
        e->failures_count++;
        (void)pthread_cond_broadcast(&e->changed);
        return;
    }
    e->failures_count = 0;
    e->templates[i] = t;
    e->current = (int)i;
    e->template_count++;
    e->rotate = 0;
}

static void rotate_if_due(struct vial_engine *e)
{
    const struct template *t = e->current >= 0 ? &e->templates[e->current] : NULL;

    if (t != NULL && clock_now_us() >= t->started_us + ROTATE_US_MIN &&
        (e->rotate || t->forks_count >= ROTATE_FORKS)) {
        template_retire(e);
        e->retry_us = 0;
    }
}

/* ---- what the keeper hears ---- */

static void give_to_waiter(struct vial_engine *e, uint32_t index)
{
    struct cell *c = &e->cells[index];
    struct waiter *w;

    for (w = e->waiters; c->custom && w != NULL; w = w->next) {
        if (w->custom && w->cell == CELL_NONE && place_spec_equal(&w->spec, &c->spec)) {
            w->cell = index;
            c->state = CELL_TAKEN;
            return;
        }
    }
    if (c->custom) { /* whoever wanted it has gone */
        place_drop(e, c);
        return;
    }
    e->ready[e->ready_count++] = index;
}

static void on_forked(
    struct vial_engine *e, struct cell *c, const struct control_message *m, int pidfd)
{
    struct control_failed failed;

    memcpy(&failed, m->payload, sizeof(failed));
    if (failed.sys != 0 || pidfd < 0) {
        (void)vial__fail_sys(&e->failure, failed.sys, "forking a cell");
        e->failures_count++;
        (void)pthread_cond_broadcast(&e->changed);
        fd_closep(&pidfd);
        place_clear(e, c);
        return;
    }
    c->pidfd = pidfd;
    c->state = CELL_BORN;
    if (e->templates[c->template_index].retired) {
        place_drop(e, c);
    }
}

static void on_exited(struct vial_engine *e, struct cell *c, const struct control_message *m)
{
    struct control_exited exited;

    memcpy(&exited, m->payload, sizeof(exited));
    c->gone = 1;
    c->exit_status = exited.status;
    c->exit_cpu_us = exited.cpu_us;
    if (c->state == CELL_READY) { /* nobody killed it: it fell over while waiting */
        place_unready(e, (uint32_t)(c - e->cells));
    }
    if (c->state != CELL_TAKEN) {
        if (c->state == CELL_BORN) {
            (void)vial__fail(&e->failure, VIAL_E_CELL,
                "a cell ended before it was ready (wait status 0x%x)", (unsigned)exited.status);
            e->failures_count++;
            (void)pthread_cond_broadcast(&e->changed);
        }
        place_clear(e, c);
    } else { /* its run may be waiting to learn how it died */
        (void)pthread_cond_broadcast(&e->changed);
    }
}

/* Takes everything a template has to say. */
static void hear_template(struct vial_engine *e, unsigned index)
{
    struct template *t = &e->templates[index];
    struct control_message m;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count;
    struct cell *c;
    int r;

    while (t->sock >= 0) {
        r = control_receive(t->sock, &m, fds, CONTROL_FDS_MAX, &fds_count, NULL);
        if (r < 0 && errno == EAGAIN) {
            return;
        }
        if (r <= 0 || m.cell >= e->cells_count || e->cells[m.cell].template_index != index ||
            e->cells[m.cell].state == CELL_FREE) {
            while (r > 0 && fds_count > 0) {
                (void)close(fds[--fds_count]);
            }
            template_lost(e, index);
            return;
        }
        c = &e->cells[m.cell];
        if (m.type == CONTROL_FORKED && c->state == CELL_FORKING) {
            on_forked(e, c, &m, fds_count > 0 ? fds[0] : -1);
        } else if (m.type == CONTROL_EXITED) {
            on_exited(e, c, &m);
        }
    }
}

static void note_failed(struct vial_engine *e, const struct frame *f)
{
    struct field field;
    char step[64] = "?";
    uint32_t sys = 0;
    size_t at = 0;

    while (field_next(f->payload, f->len, &at, &field) == 1) {
        if (field.tag == FIELD_STEP && field.len < sizeof(step)) {
            memcpy(step, field.bytes, field.len);
            step[field.len] = '\0';
        } else if (field.tag == FIELD_ERRNO) {
            (void)field_u32(&field, &sys);
        }
    }
    (void)vial__fail_sys(&e->failure, (int)sys, "confining a cell: %s", step);
    e->failures_count++;
}

/* A cell that confines itself says READY, or FAILED with the reason, or goes away. */
static void hear_cell(struct vial_engine *e, uint32_t index)
{
    struct cell *c = &e->cells[index];
    struct frame f;
    size_t at = 0;
    ssize_t n;

    if (buf_reserve(&c->in, FRAME_SMALL_BYTES_MAX, NULL) < 0) {
        place_drop(e, c);
        return;
    }
    n = recv(c->sock, c->in.data + c->in.len, FRAME_SMALL_BYTES_MAX, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    c->in.len += n > 0 ? (size_t)n : 0;
    if (n <= 0 || frame_next(&c->in, &at, &c->phase, 0, &f) < 0) {
        place_drop(e, c);
        return;
    }
    if (at == 0) {
        return; /* not whole yet */
    }
    buf_consume(&c->in, at);
    c->pid = fork_pid_of(c->pidfd);
    if (c->phase != PHASE_WAITING) {
        note_failed(e, &f);
        place_drop(e, c);
    } else if (c->pid == 0) { /* dead already; and as a number 0 would mean ourselves */
        place_drop(e, c);
    } else {
        e->coming_count -= c->custom ? 0 : 1;
        c->state = CELL_READY;
        meter_base(e, c);
        e->failures_count = 0;
        give_to_waiter(e, index);
    }
    (void)pthread_cond_broadcast(&e->changed);
}

/* Orders what is missing: first for runs that wait for a cell of their own, then for the pool. */
static void order_missing(struct vial_engine *e)
{
    struct waiter *w;

    if (e->current < 0 || e->failures_count > POOL_FAILURES_MAX) {
        return;
    }
    for (w = e->waiters; w != NULL; w = w->next) {
        if (w->custom && !w->ordered && w->cell == CELL_NONE) {
            w->ordered = place_order(e, &w->spec, PLACE_RUN) == 0;
        }
    }
    while (e->ready_count + e->coming_count < place_wanted(e)) {
        if (place_order(e, &e->spec_default, PLACE_POOL) < 0) {
            return;
        }
    }
}

/* Cells that were ordered long ago and are still not there. */
static void drop_late(struct vial_engine *e)
{
    uint64_t now = clock_now_us();
    unsigned i;

    for (i = 0; i < e->cells_count; i++) {
        struct cell *c = &e->cells[i];

        if (c->state == CELL_BORN && now > c->born_us + BIRTH_US_MAX) {
            (void)vial__fail(&e->failure, VIAL_E_CELL, "a cell was not ready after 10 s");
            e->failures_count++;
            place_drop(e, c);
        }
    }
}

/* ---- the keeper ---- */

struct watch {
    struct vial_engine *engine;
    struct pollfd *fds; /* wake_fd, then templates, then cells */
    uint32_t *cells;
    unsigned templates[TEMPLATES_MAX];
    unsigned templates_count;
    unsigned fds_count;
};

static void watch_free(struct watch *w)
{
    if (w != NULL) {
        free(w->fds);
        free(w->cells);
        free(w);
    }
}

static struct watch *watch_new(struct vial_engine *e)
{
    struct watch *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        return NULL;
    }
    w->engine = e;
    w->fds = calloc(1 + TEMPLATES_MAX + e->cells_count, sizeof(*w->fds));
    w->cells = calloc(e->cells_count, sizeof(*w->cells));
    if (w->fds == NULL || w->cells == NULL) {
        watch_free(w);
        return NULL;
    }
    return w;
}

static void watch_fill(struct vial_engine *e, struct watch *w)
{
    unsigned i;

    w->fds[0] = (struct pollfd){.fd = e->wake_fd, .events = POLLIN};
    w->fds_count = 1;
    w->templates_count = 0;
    for (i = 0; i < TEMPLATES_MAX; i++) {
        if (e->templates[i].sock >= 0) {
            w->templates[w->templates_count++] = i;
            w->fds[w->fds_count++] = (struct pollfd){.fd = e->templates[i].sock, .events = POLLIN};
        }
    }
    for (i = 0; i < e->cells_count; i++) {
        if (e->cells[i].state == CELL_BORN || e->cells[i].state == CELL_READY) {
            w->cells[w->fds_count - 1 - w->templates_count] = i;
            w->fds[w->fds_count++] = (struct pollfd){.fd = e->cells[i].sock, .events = POLLIN};
        }
    }
}

static void watch_serve(struct vial_engine *e, const struct watch *w)
{
    uint64_t count;
    unsigned i;

    if (w->fds[0].revents != 0) {
        (void)!read(e->wake_fd, &count, sizeof(count)); /* short counts handled */
    }
    for (i = 0; i < w->templates_count; i++) {
        if (w->fds[1 + i].revents != 0) {
            hear_template(e, w->templates[i]);
        }
    }
    for (i = 1 + w->templates_count; i < w->fds_count; i++) {
        uint32_t index = w->cells[i - 1 - w->templates_count];
        struct cell *c = &e->cells[index];

        if (w->fds[i].revents == 0 || c->sock != w->fds[i].fd) {
            continue;
        }
        if (c->state == CELL_BORN) {
            hear_cell(e, index);
        } else if (c->state == CELL_READY) { /* a waiting cell has nothing to say */
            place_unready(e, index);
            place_drop(e, c);
        }
    }
}

static void *keeper_main(void *user)
{
    struct watch *w = user;
    struct vial_engine *e = w->engine;
    int ms;

    (void)pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        rotate_if_due(e);
        if (e->current < 0) {
            template_renew(e);
        }
        order_missing(e);
        watch_fill(e, w);
        ms = e->current < 0 || e->rotate || e->coming_count > 0 ? 50 : 1000;
        (void)pthread_mutex_unlock(&e->lock);
        (void)poll(w->fds, w->fds_count, ms);
        (void)pthread_mutex_lock(&e->lock);
        watch_serve(e, w);
        drop_late(e);
    }
    e->keeper_runs = 0;
    (void)pthread_cond_broadcast(&e->changed);
    (void)pthread_mutex_unlock(&e->lock);
    watch_free(w);
    return NULL;
}

int keeper_start(struct vial_engine *e, struct vial_error *err)
{
    struct watch *w = watch_new(e);
    sigset_t all, before;
    int r;

    if (w == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for an engine");
    }
    /* Signals are the program's; none of its handlers shall run in our thread. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    e->keeper_runs = 1;
    r = pthread_create(&e->keeper, NULL, keeper_main, w);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r != 0) {
        e->keeper_runs = 0;
        watch_free(w);
        return vial__fail_sys(err, r, "starting the keeper thread");
    }
    return VIAL_OK;
}

void keeper_stop(struct vial_engine *e)
{
    unsigned i;
    int ran;

    (void)pthread_mutex_lock(&e->lock);
    ran = e->keeper_runs;
    e->stopping = 1;
    (void)pthread_mutex_unlock(&e->lock);
    if (ran) {
        pool_wake_keeper(e);
        (void)pthread_join(e->keeper, NULL);
    }
    for (i = 0; i < TEMPLATES_MAX; i++) {
        template_release(&e->templates[i]); /* and with it all its cells */
    }
    for (i = 0; i < e->cells_count; i++) {
        fd_closep(&e->cells[i].sock);
        fd_closep(&e->cells[i].pidfd);
        fd_closep(&e->cells[i].statm_fd);
        buf_release(&e->cells[i].in);
        if (e->cells[i].has_slot) {
            (void)cgroup_slot_close(&e->cgroups, i, &e->cells[i].cgroups);
        }
    }
}
