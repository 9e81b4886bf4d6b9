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
#include "host/env.h"
#include "host/family.h"
#include "host/keeper.h"
#include "host/meter.h"
#include "host/place.h"
#include "host/session.h"
#include "jail/fork.h"
#include "wire/control.h"
#include "wire/field.h"

enum {
    BIRTH_US_MAX = 10 * 1000 * 1000, /* a cell that is not ready by then is killed */
    RETRY_US = 1000 * 1000,          /* between templates that fail, and between rotations */
    ROTATE_FORKS = 20000,            /* a template's address layout is not used for ever */
    ROTATE_US_MIN = 1000 * 1000,     /* who crashes on purpose costs at most one start a second */
    KEEPER_MS = 1000,                /* it looks around so often when nothing happens */
    KEEPER_BUSY_MS = 50,             /* and while something is missing */
    KEEPER_PRESSED_MS = 2,           /* and while it does not listen to templates */
};

/* ---- cells, with the lock held ---- */

static void cell_gone(struct vial_engine *e, struct cell *c, int status, uint64_t cpu_us)
{
    c->gone = 1;
    c->exit_status = status;
    c->exit_cpu_us = cpu_us;
    if (c->state == CELL_READY) { /* nobody killed it: it fell over while waiting */
        place_unready(e, (uint32_t)(c - e->cells));
    }
    if (c->state == CELL_TAKEN) { /* its run may be waiting to learn how it died */
        env_origin_gone(e, (uint32_t)(c - e->cells));
        (void)pthread_cond_broadcast(&e->changed);
        return;
    }
    if (c->state == CELL_BORN) {
        (void)vial__fail(&e->failure, VIAL_E_CELL,
            "a cell ended before it was ready (wait status 0x%x)", (unsigned)status);
        e->breeds[c->spec.breed].failures_count++;
        (void)pthread_cond_broadcast(&e->changed);
    }
    place_clear(e, c);
}

void keeper_cell_gone(struct vial_engine *e, struct cell *c, int status, uint64_t cpu_us)
{
    cell_gone(e, c, status, cpu_us);
}

/* ---- templates, with the lock held ---- */

/* The template is gone, and the kernel has ended all its cells. Those that runs have are told by
 * their sockets; the others are dropped here. */
static void template_lost(struct vial_engine *e, unsigned index)
{
    struct template *t = &e->templates[index];
    struct breed *b = &e->breeds[t->breed];
    unsigned i;

    t->retired = 0; /* so that place_clear leaves the release to us */
    family_template_lost(e, index);
    for (i = 0; i < e->cells_count; i++) {
        struct cell *c = &e->cells[i];

        if (c->state != CELL_FREE && c->template_index == index && !c->gone) {
            cell_gone(e, c, SIGKILL, 0);
        }
    }
    t->retired = 1;
    if (b->current == (int)index) {
        b->current = -1;
    }
    if (b->current_stays == (int)index) {
        b->current_stays = -1;
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
static void template_retire(struct vial_engine *e, struct breed *b)
{
    struct template *t;
    unsigned i;

    if (b->current < 0) {
        return;
    }
    t = &e->templates[b->current];
    while (b->ready_count > 0) {
        place_drop(e, &e->cells[b->ready[--b->ready_count]]);
    }
    for (i = 0; i < e->cells_count; i++) {
        struct cell *c = &e->cells[i];

        if (c->state == CELL_BORN && (int)c->template_index == b->current &&
            c->family == FAMILY_NONE) {
            place_drop(e, c);
        }
    }
    if (b->current_stays == b->current) {
        b->current_stays = -1;
    }
    t->retired = 1;
    b->current = -1;
    if (t->cells_count == 0) {
        template_release(t);
    }
}

/* The same for the template of families when it is another one. Families live on. */
static void template_retire_stays(struct vial_engine *e, struct breed *b)
{
    struct template *t = b->current_stays >= 0 ? &e->templates[b->current_stays] : NULL;

    if (t != NULL) {
        t->retired = 1;
        b->current_stays = -1;
        if (t->cells_count == 0) {
            template_release(t);
        }
    }
}

/* Starts a template, for families or for runs. The lock is let go of meanwhile. */
static void template_renew(struct vial_engine *e, unsigned breed, int stays)
{
    struct breed *b = &e->breeds[breed];
    struct template t;
    struct layer_report report;
    struct vial_error err;
    unsigned i;
    int r;

    for (i = 0;
         i < TEMPLATES_MAX && (e->templates[i].pidfd >= 0 || e->templates[i].cells_count > 0);
         i++) {
    }
    if (i == TEMPLATES_MAX || clock_now_us() < b->retry_us) {
        return;
    }
    if (e->has_changed) { /* who waits for what is there already need not wait for this */
        e->has_changed = 0;
        (void)pthread_cond_broadcast(&e->changed);
    }
    (void)pthread_mutex_unlock(&e->lock);
    r = engine_find_program(e, breed, &err);
    r = r < 0 ? r : template_start(e, breed, stays, &t, &report, &err);
    if (r == 0) {
        memcpy(&report.entries[LAYER_CGROUP_MEMORY], &e->report.entries[LAYER_CGROUP_MEMORY],
            2 * sizeof(report.entries[0]));
        r = layer_report_require(&report, e->require, &err);
        /* Results tell of the first one's layers, whichever template their cell came from. */
        r = r < 0 ? r : layer_report_keeps(&e->report, &report, &err);
        if (r < 0) {
            template_release(&t);
        }
    }
    (void)pthread_mutex_lock(&e->lock);
    b->retry_us = clock_now_us() + RETRY_US;
    if (r < 0) {
        e->failure = err;
        b->failures_count++;
        (void)pthread_cond_broadcast(&e->changed);
        return;
    }
    b->failures_count = 0;
    e->templates[i] = t;
    e->template_count++;
    if (stays) {
        b->current_stays = (int)i;
    }
    if (!stays || e->for_sessions) {
        b->current = (int)i;
        b->rotate = 0;
    }
}

/* Sessions keep their template alive for long. One place stays free for the next one. */
static int has_room(const struct vial_engine *e)
{
    unsigned i, used = 0;

    for (i = 0; i < TEMPLATES_MAX; i++) {
        used += e->templates[i].pidfd >= 0 || e->templates[i].cells_count > 0;
    }
    return used + 1 < TEMPLATES_MAX;
}

static void rotate_if_due(struct vial_engine *e, struct breed *b)
{
    const struct template *t = b->current >= 0 ? &e->templates[b->current] : NULL;

    if (t != NULL && has_room(e) && clock_now_us() >= t->started_us + ROTATE_US_MIN &&
        (b->rotate || t->forks_count >= ROTATE_FORKS)) {
        template_retire(e, b);
        template_retire_stays(e, b);
        b->retry_us = 0;
    }
}

/* Has somebody asked for a template of this kind that is not there? */
static int lacks_template(const struct breed *b)
{
    return b->current < 0 && b->wanted;
}

static int lacks_stays(const struct breed *b)
{
    return b->current_stays < 0 && b->stays_wanted;
}

/* Starts what is wanted, and what is old anew. 1: something is still missing. */
static int renew_missing(struct vial_engine *e)
{
    unsigned i;
    int missing = 0;

    for (i = 0; i < BREEDS; i++) {
        struct breed *b = &e->breeds[i];

        rotate_if_due(e, b);
        if (lacks_template(b)) {
            template_renew(e, i, e->for_sessions);
        }
        if (lacks_stays(b)) {
            template_renew(e, i, 1);
        }
        missing |= lacks_template(b) || lacks_stays(b) || b->rotate || b->coming_count > 0;
    }
    return missing;
}

/* ---- what the keeper hears ---- */

static void give_to_waiter(struct vial_engine *e, uint32_t index)
{
    struct cell *c = &e->cells[index];
    struct breed *b = &e->breeds[c->spec.breed];
    struct waiter *w;

    if (c->env != NULL) {
        env_ready(c->env, index);
        return;
    }
    for (w = e->waiters; c->custom && w != NULL; w = w->next) {
        if (place_suits(e, w, c)) {
            w->cell = index;
            c->state = CELL_TAKEN;
            return;
        }
    }
    if (c->custom) { /* whoever wanted it has gone */
        place_drop(e, c);
        return;
    }
    b->ready[b->ready_count++] = index;
}

static void on_forked(
    struct vial_engine *e, struct cell *c, const struct control_message *m, int pidfd)
{
    struct control_failed failed;

    memcpy(&failed, m->payload, sizeof(failed));
    if (failed.sys != 0 || pidfd < 0) {
        (void)vial__fail_sys(&e->failure, failed.sys, "forking a cell");
        e->breeds[c->spec.breed].failures_count++;
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
    keeper_cell_gone(e, c, exited.status, exited.cpu_us);
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
        if (r > 0 && m.cell >= FAMILY_BASE) {
            family_hear_template(e, &m, index, fds_count > 0 ? fds[0] : -1);
            continue;
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

static void note_failed(struct vial_engine *e, const struct cell *c, const struct frame *f)
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
    e->breeds[c->spec.breed].failures_count++;
}

void keeper_ready(struct vial_engine *e, uint32_t index)
{
    struct cell *c = &e->cells[index];
    struct breed *b = &e->breeds[c->spec.breed];

    b->coming_count -= c->custom ? 0 : 1;
    c->state = CELL_READY;
    meter_base(e, c);
    b->failures_count = 0;
    give_to_waiter(e, index);
    e->has_changed = 1; /* who is woken now would wait for the lock first of all */
}

/* A cell that confines itself says READY, or FAILED with the reason, or goes away. */
void keeper_hear_ready(struct vial_engine *e, uint32_t index)
{
    static const struct frame_limits no_limits = {0};
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
    if (n <= 0 || frame_next(&c->in, &at, &c->phase, &no_limits, &f) < 0) {
        place_drop(e, c);
        return;
    }
    if (at == 0) {
        return; /* not whole yet */
    }
    buf_consume(&c->in, at);
    c->pid = fork_pid_of(c->pidfd);
    if (c->phase != PHASE_WAITING) {
        note_failed(e, c, &f);
        place_drop(e, c);
    } else if (c->pid == 0) { /* dead already; and as a number 0 would mean ourselves */
        place_drop(e, c);
    } else {
        keeper_ready(e, index);
    }
    e->has_changed = 1;
}

/* Orders the cell that somebody waits for. */
static void order_for(struct vial_engine *e, struct waiter *w)
{
    const struct breed *b = &e->breeds[w->want.spec.breed];
    int r;

    if (w->want.origin != CELL_NONE) {
        r = family_order_branch(e, w->want.origin, PURPOSE_WAITER, NULL);
        w->failed = r < 0; /* another try would fail in the same way */
    } else if (w->want.spec.kind == CELL_ORIGIN) {
        if (b->current_stays < 0) {
            return; /* its template is on the way */
        }
        r = family_order_origin(e, &w->want.spec);
        w->failed = r < 0;
    } else if (b->current < 0) {
        return;
    } else {
        r = place_order(e, &w->want.spec, PURPOSE_WAITER);
    }
    w->ordered = r == 0;
    if (w->failed) {
        (void)pthread_cond_broadcast(&e->changed);
    }
}

/* Orders what is missing: first for those who wait for a cell of their own, then for the pools. */
static void order_missing(struct vial_engine *e)
{
    struct cell_spec spec = e->spec_default;
    struct waiter *w;
    unsigned i;

    for (w = e->waiters; w != NULL; w = w->next) {
        if (w->custom && !w->ordered && !w->failed && w->cell == CELL_NONE && w->want.env == NULL &&
            e->breeds[w->want.spec.breed].failures_count <= POOL_FAILURES_MAX) {
            order_for(e, w);
        }
    }
    env_order_missing(e);
    for (i = 0; i < BREEDS; i++) {
        const struct breed *b = &e->breeds[i];

        engine_set_breed(&spec, i);
        while (b->current >= 0 && b->failures_count <= POOL_FAILURES_MAX &&
               b->ready_count + b->coming_count < place_wanted(e, b)) {
            if (place_order(e, &spec, PURPOSE_POOL) < 0) {
                return;
            }
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
            e->breeds[c->spec.breed].failures_count++;
            if (c->family != FAMILY_NONE) { /* a process that we may not even know */
                place_disappoint(e, c, 1);
                family_kill(e, c->family);
            }
            place_drop(e, c);
        }
    }
}

/* ---- the keeper ---- */

/* What a descriptor that is watched belongs to. */
enum watch_kind { WATCH_WAKE, WATCH_TEMPLATE, WATCH_INIT, WATCH_LISTENER, WATCH_CELL };

struct watch {
    struct vial_engine *engine;
    struct pollfd *fds;
    struct {
        uint32_t kind; /* enum watch_kind */
        uint32_t index;
    } * of; /* beside fds */
    unsigned fds_count;
    int is_pressed; /* runs wait for cells: templates are not heard, see watch_fill */
    int is_early;   /* a cell was ready before its template told of it */
};

static void watch_free(struct watch *w)
{
    if (w != NULL) {
        free(w->fds);
        free(w->of);
        free(w);
    }
}

static struct watch *watch_new(struct vial_engine *e)
{
    struct watch *w = calloc(1, sizeof(*w));
    size_t count = 1 + TEMPLATES_MAX + 2 * (size_t)e->families_count + e->cells_count;

    if (w == NULL) {
        return NULL;
    }
    w->engine = e;
    w->fds = calloc(count, sizeof(*w->fds));
    w->of = calloc(count, sizeof(*w->of));
    if (w->fds == NULL || w->of == NULL) {
        watch_free(w);
        return NULL;
    }
    return w;
}

static void watch_add(struct watch *w, int fd, enum watch_kind kind, unsigned index)
{
    w->fds[w->fds_count] = (struct pollfd){.fd = fd, .events = POLLIN};
    w->of[w->fds_count].kind = kind;
    w->of[w->fds_count].index = index;
    w->fds_count++;
}

static int is_forking(const struct vial_engine *e)
{
    unsigned i;

    for (i = 0; i < e->cells_count; i++) {
        if (e->cells[i].state == CELL_FORKING && e->cells[i].family == FAMILY_NONE) {
            return 1;
        }
    }
    return 0;
}

/* A template tells that it has forked a cell, soon after that the cell itself tells that it is
 * ready. While runs wait for cells we wake up for the second only, and hear the template then. */
static void watch_fill(struct vial_engine *e, struct watch *w)
{
    unsigned i;

    w->fds_count = 0;
    w->is_pressed = e->queue_count > 0 && !w->is_early && is_forking(e);
    w->is_early = 0;
    watch_add(w, e->wake_fd, WATCH_WAKE, 0);
    for (i = 0; i < TEMPLATES_MAX; i++) {
        if (e->templates[i].sock >= 0 && !w->is_pressed) {
            watch_add(w, e->templates[i].sock, WATCH_TEMPLATE, i);
        }
    }
    for (i = 0; i < e->families_count; i++) {
        if (e->families[i].sock >= 0 && !e->families[i].hung_up) {
            watch_add(w, e->families[i].sock, WATCH_INIT, i);
        }
        if (e->families[i].sock >= 0 && e->families[i].orders_count > 0) {
            watch_add(w, e->families[i].listener, WATCH_LISTENER, i);
        }
    }
    for (i = 0; i < e->cells_count; i++) {
        const struct cell *c = &e->cells[i];

        /* A cell that has been taken is its run's, but for a member that is to make a branch. So
         * that what it says wakes nobody else, one that waits to be taken is not watched: of its
         * end the template tells. */
        if (c->state == CELL_BORN ||
            (w->is_pressed && c->state == CELL_FORKING && c->family == FAMILY_NONE) ||
            (c->state == CELL_READY && c->family != FAMILY_NONE) ||
            (c->state == CELL_TAKEN && c->unborn > 0)) {
            watch_add(w, c->sock, WATCH_CELL, i);
        }
    }
}

static void watch_serve_cell(struct vial_engine *e, uint32_t index, int fd)
{
    struct cell *c = &e->cells[index];

    if (c->sock != fd) {
        return; /* another one has the place by now */
    }
    if (c->family != FAMILY_NONE) {
        family_hear_member(e, index);
    } else if (c->state == CELL_BORN) {
        keeper_hear_ready(e, index);
    } else if (c->state == CELL_READY) { /* a waiting cell has nothing to say */
        place_unready(e, index);
        place_drop(e, c);
    }
}

static void watch_serve(struct vial_engine *e, struct watch *w)
{
    uint64_t count;
    unsigned i;

    for (i = 0; w->is_pressed && i < TEMPLATES_MAX; i++) {
        hear_template(e, i);
    }
    for (i = 0; i < w->fds_count; i++) {
        unsigned index = w->of[i].index;

        if (w->fds[i].revents == 0) {
            continue;
        }
        switch ((enum watch_kind)w->of[i].kind) {
        case WATCH_WAKE:
            (void)!read(e->wake_fd, &count, sizeof(count)); /* short counts handled */
            break;
        case WATCH_TEMPLATE:
            hear_template(e, index);
            break;
        case WATCH_INIT:
            if (e->families[index].sock == w->fds[i].fd) {
                family_hear_init(e, index);
                e->families[index].hung_up = (w->fds[i].revents & POLLHUP) != 0;
            }
            break;
        case WATCH_LISTENER:
            if (e->families[index].listener == w->fds[i].fd) {
                family_hear_listener(e, index);
            }
            break;
        case WATCH_CELL:
            w->is_early |= e->cells[index].state == CELL_FORKING;
            watch_serve_cell(e, index, w->fds[i].fd);
            break;
        }
    }
}

static void *keeper_main(void *user)
{
    struct watch *w = user;
    struct vial_engine *e = w->engine;
    int sweeping = 0;
    int missing, has_changed;

    (void)pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        missing = renew_missing(e);
        order_missing(e);
        watch_fill(e, w);
        has_changed = e->has_changed;
        e->has_changed = 0;
        (void)pthread_mutex_unlock(&e->lock);
        if (has_changed) {
            (void)pthread_cond_broadcast(&e->changed);
        }
        (void)poll(w->fds, w->fds_count,
            w->is_pressed         ? KEEPER_PRESSED_MS
            : missing || sweeping ? KEEPER_BUSY_MS
                                  : KEEPER_MS);
        (void)pthread_mutex_lock(&e->lock);
        watch_serve(e, w);
        drop_late(e);
        session_expire(e, clock_now_us());
        sweeping = family_sweep(e, clock_now_us());
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
    family_release_all(e);
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
