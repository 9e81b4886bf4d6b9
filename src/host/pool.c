/* pool.c - cells that wait for runs, and the thread that keeps them coming. See engine.h.
 *
 * The keeper sleeps until a template says something, a new cell says that it is ready, or a run
 * took or gave back a cell. After each it orders what is missing. Everything here is done under the
 * engine's lock, except sleeping and the start of a template. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "host/engine.h"
#include "host/meter.h"
#include "jail/fork.h"
#include "wire/control.h"
#include "wire/field.h"

enum {
    BIRTH_US_MAX = 10 * 1000 * 1000, /* a cell that is not ready by then is killed */
    RETRY_US = 1000 * 1000,          /* between templates that fail, and between rotations */
    ROTATE_FORKS = 20000,            /* a template's address layout is not used for ever */
    ROTATE_US_MIN =
        1000 * 1000,  /* a guest that crashes on purpose costs at most one start a second */
    FAILURES_MAX = 3, /* in a row, before waiting runs are told */
    HURRY_US = 1000,  /* between two runs; a warm-up takes as long, and from the runs */
    PAUSE_US_MAX = 100 * 1000,  /* a longer pause counts as this one */
    QUEUE_SLICE_US = 20 * 1000, /* how often a waiting run looks whether it was cancelled */
};

static void wake_keeper(struct vial_engine *e)
{
    uint64_t one = 1;

    (void)!write(e->wake_fd, &one, sizeof(one)); /* short counts handled */
}

static int spec_equal(const struct cell_spec *a, const struct cell_spec *b)
{
    return a->kind == b->kind && a->profile == b->profile && a->attack == b->attack &&
           a->files_max == b->files_max && a->open_files_max == b->open_files_max &&
           a->disk_bytes_max == b->disk_bytes_max;
}

/* ---- the life of a place for a cell, all with the lock held ---- */

/* A cell that a run waits for will not come: another one is to be ordered for it. */
static void order_again(struct vial_engine *e, const struct cell *c)
{
    struct waiter *w;

    for (w = e->waiters; c->custom && w != NULL; w = w->next) {
        if (w->custom && w->ordered && w->cell == CELL_NONE && spec_equal(&w->spec, &c->spec)) {
            w->ordered = 0;
            return;
        }
    }
}

static void cell_clear(struct vial_engine *e, struct cell *c)
{
    struct template *t = &e->templates[c->template_index];

    if (c->state == CELL_FORKING || c->state == CELL_BORN) {
        e->coming_count -= c->custom ? 0 : 1;
        order_again(e, c);
    }
    fd_closep(&c->sock);
    fd_closep(&c->pidfd);
    fd_closep(&c->statm_fd);
    buf_clear(&c->in);
    c->state = CELL_FREE;
    t->cells_count--;
    if (t->retired && t->cells_count == 0) {
        template_release(t);
    }
}

/* Kills a cell that no run has; the place is free when the template has seen its end. */
static void cell_drop(struct vial_engine *e, struct cell *c)
{
    if (c->state == CELL_FORKING || c->state == CELL_BORN) {
        e->coming_count -= c->custom ? 0 : 1;
        order_again(e, c);
    }
    if (c->pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
    }
    fd_closep(&c->sock);
    c->state = CELL_ENDING;
}

static void ready_remove(struct vial_engine *e, uint32_t index)
{
    unsigned i;

    for (i = 0; i < e->ready_count; i++) {
        if (e->ready[i] == index) {
            memmove(&e->ready[i], &e->ready[i + 1], (e->ready_count - i - 1) * sizeof(e->ready[0]));
            e->ready_count--;
            return;
        }
    }
}

static int cell_open_slot(struct vial_engine *e, struct cell *c, uint32_t index)
{
    if (!c->has_slot) {
        if (cgroup_slot_open(&e->cgroups, index, e->memory_default, &c->cgroups) < 0) {
            return -1;
        }
        c->has_slot = 1;
        return 0;
    }
    if (cgroup_slot_limit(&c->cgroups, e->memory_default) < 0 ||
        cgroup_slot_reset(&c->cgroups) < 0) {
        (void)cgroup_slot_close(&e->cgroups, index, &c->cgroups);
        c->has_slot = 0;
        return -1;
    }
    return 0;
}

/* Orders a cell from the current template. */
static int cell_order(struct vial_engine *e, const struct cell_spec *spec, int custom)
{
    struct control_message m;
    struct cell *c = NULL;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count = 0;
    unsigned i;
    uint32_t index;
    int sv[2];

    for (index = 0; index < e->cells_count && e->cells[index].state != CELL_FREE; index++) {
    }
    if (index == e->cells_count) {
        return vial__fail(&e->failure, VIAL_E_BUSY, "all %u cells are in use", e->cells_count);
    }
    c = &e->cells[index];
    if (cell_open_slot(e, c, index) < 0) {
        return vial__fail_sys(&e->failure, errno, "making a control group");
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0) {
        return vial__fail_sys(&e->failure, errno, "making a socket pair");
    }
    c->sock = sv[0];
    c->pidfd = c->statm_fd = -1;
    c->pid = 0;
    c->gone = 0;
    c->custom = (uint8_t)custom;
    c->phase = PHASE_BORN;
    c->state = CELL_FORKING;
    c->template_index = (unsigned)e->current;
    c->born_us = clock_now_us();
    c->spec = *spec;
    c->spec.uid = 1 + index;
    c->spec.hurry = (uint32_t)(custom || e->pace_us < HURRY_US || e->queue_count > 0);
    fds[fds_count++] = sv[1];
    for (i = 0; i < c->cgroups.procs_fds_count; i++) {
        fds[fds_count++] = c->cgroups.procs_fds[i];
    }
    control_message_init(&m, CONTROL_FORK, index, &c->spec, sizeof(c->spec));
    e->templates[e->current].cells_count++;
    e->templates[e->current].forks_count++;
    e->coming_count += custom ? 0 : 1;
    if (control_send(e->templates[e->current].sock, &m, fds, fds_count) < 0) {
        (void)vial__fail_sys(&e->failure, errno, "ordering a cell");
        cell_clear(e, c);
        fd_closep(&sv[1]);
        return VIAL_E_SYS;
    }
    fd_closep(&sv[1]);
    return VIAL_OK;
}

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
            ready_remove(e, i);
        }
        if (c->state != CELL_TAKEN) {
            t->retired = 0; /* so that cell_clear leaves the release to us */
            cell_clear(e, c);
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
        cell_drop(e, &e->cells[e->ready[--e->ready_count]]);
    }
    for (i = 0; i < e->cells_count; i++) {
        struct cell *c = &e->cells[i];

        if (c->state == CELL_BORN && (int)c->template_index == e->current) {
            cell_drop(e, c);
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
        if (w->custom && w->cell == CELL_NONE && spec_equal(&w->spec, &c->spec)) {
            w->cell = index;
            c->state = CELL_TAKEN;
            return;
        }
    }
    if (c->custom) { /* whoever wanted it has gone */
        cell_drop(e, c);
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
        cell_clear(e, c);
        return;
    }
    c->pidfd = pidfd;
    c->state = CELL_BORN;
    if (e->templates[c->template_index].retired) {
        cell_drop(e, c);
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
        ready_remove(e, (uint32_t)(c - e->cells));
    }
    if (c->state != CELL_TAKEN) {
        if (c->state == CELL_BORN) {
            (void)vial__fail(&e->failure, VIAL_E_CELL,
                "a cell ended before it was ready (wait status 0x%x)", (unsigned)exited.status);
            e->failures_count++;
            (void)pthread_cond_broadcast(&e->changed);
        }
        cell_clear(e, c);
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
        cell_drop(e, c);
        return;
    }
    n = recv(c->sock, c->in.data + c->in.len, FRAME_SMALL_BYTES_MAX, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    c->in.len += n > 0 ? (size_t)n : 0;
    if (n <= 0 || frame_next(&c->in, &at, &c->phase, 0, &f) < 0) {
        cell_drop(e, c);
        return;
    }
    if (at == 0) {
        return; /* not whole yet */
    }
    buf_consume(&c->in, at);
    if (c->phase != PHASE_WAITING) {
        note_failed(e, &f);
        cell_drop(e, c);
    } else {
        e->coming_count -= c->custom ? 0 : 1;
        c->state = CELL_READY;
        c->pid = fork_pid_of(c->pidfd);
        meter_base(e, c);
        e->failures_count = 0;
        give_to_waiter(e, index);
    }
    (void)pthread_cond_broadcast(&e->changed);
}

/* Orders what is missing: first for runs that wait for a cell of their own, then for the pool. */
static void order_missing(struct vial_engine *e)
{
    /* A quick engine with one run at a time is there for one run; it makes no cell for a second one
     * that nobody has asked for. */
    int single = e->quick && e->runs_max == 1 && e->run_count > 0;
    unsigned wanted = single ? e->queue_count : e->pool_count;
    struct waiter *w;

    if (e->current < 0 || e->failures_count > FAILURES_MAX) {
        return;
    }
    for (w = e->waiters; w != NULL; w = w->next) {
        if (w->custom && !w->ordered && w->cell == CELL_NONE) {
            w->ordered = cell_order(e, &w->spec, 1) == 0;
        }
    }
    while (e->ready_count + e->coming_count < wanted) {
        if (cell_order(e, &e->spec_default, 0) < 0) {
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
            cell_drop(e, c);
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
            ready_remove(e, index);
            cell_drop(e, c);
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

int pool_start(struct vial_engine *e, struct vial_error *err)
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

void pool_stop(struct vial_engine *e)
{
    unsigned i;
    int ran;

    (void)pthread_mutex_lock(&e->lock);
    ran = e->keeper_runs;
    e->stopping = 1;
    (void)pthread_mutex_unlock(&e->lock);
    if (ran) {
        wake_keeper(e);
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

/* ---- for runs ---- */

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
    if (e->busy_count >= e->runs_max) {
        return CELL_NONE;
    }
    if (!w->custom && e->ready_count > 0) {
        w->cell = e->ready[--e->ready_count];
        e->cells[w->cell].state = CELL_TAKEN;
    }
    return w->cell;
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
    wake_keeper(e);
    while (try_take(e, w) == CELL_NONE && !__atomic_load_n(cancelled, __ATOMIC_RELAXED) &&
           clock_now_us() < deadline && e->failures_count <= FAILURES_MAX) {
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
    if (e->failures_count > FAILURES_MAX) {
        if (err != NULL) {
            *err = e->failure;
        }
        e->failures_count = 0; /* the next run tries anew */
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

int pool_take(struct vial_engine *e, const struct cell_spec *spec, int wait, const int *cancelled,
    uint32_t *ret_cell, int *ret_pidfd, struct vial_error *err)
{
    struct waiter w = {.spec = *spec, .cell = CELL_NONE};
    int r = VIAL_OK;

    w.custom = !spec_equal(spec, &e->spec_default);
    (void)pthread_mutex_lock(&e->lock);
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
        e->busy_count++;
        e->run_count++;
    }
    (void)pthread_mutex_unlock(&e->lock);
    return r;
}

void pool_give_back(struct vial_engine *e, uint32_t cell, int suspicious)
{
    struct cell *c = &e->cells[cell];

    (void)pthread_mutex_lock(&e->lock);
    e->busy_count--;
    e->rotate |= suspicious;
    fd_closep(&c->sock);
    fd_closep(&c->statm_fd);
    c->state = CELL_ENDING;
    if (c->gone) {
        cell_clear(e, c);
    }
    if (e->queue_count > 0) {
        (void)pthread_cond_broadcast(&e->changed);
    }
    (void)pthread_mutex_unlock(&e->lock);
    wake_keeper(e);
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
