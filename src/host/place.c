/* place.c - see place.h. */
#include "host/place.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "wire/control.h"

int place_spec_equal(const struct cell_spec *a, const struct cell_spec *b)
{
    return a->kind == b->kind && a->profile == b->profile && a->attack == b->attack &&
           a->files_max == b->files_max && a->open_files_max == b->open_files_max &&
           a->disk_bytes_max == b->disk_bytes_max;
}

unsigned place_wanted(const struct vial_engine *e)
{
    /* A quick engine with one run at a time is there for one run; it makes no cell for a second one
     * that nobody has asked for. */
    int single = e->quick && e->runs_max == 1 && e->run_count > 0;

    return single ? e->queue_count : e->pool_count;
}

/* A cell that a run waits for will not come: another one is to be ordered for it. */
static void order_again(struct vial_engine *e, const struct cell *c)
{
    struct waiter *w;

    for (w = e->waiters; c->custom && w != NULL; w = w->next) {
        if (w->custom && w->ordered && w->cell == CELL_NONE &&
            place_spec_equal(&w->spec, &c->spec)) {
            w->ordered = 0;
            return;
        }
    }
}

void place_clear(struct vial_engine *e, struct cell *c)
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

void place_drop(struct vial_engine *e, struct cell *c)
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

void place_unready(struct vial_engine *e, uint32_t index)
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

int place_order(struct vial_engine *e, const struct cell_spec *spec, enum place_purpose purpose)
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
    c->custom = purpose != PLACE_POOL;
    c->phase = PHASE_BORN;
    c->state = CELL_FORKING;
    c->template_index = (unsigned)e->current;
    c->born_us = clock_now_us();
    c->spec = *spec;
    c->spec.uid = 1 + index;
    c->spec.hurry =
        (uint32_t)(purpose == PLACE_RUN || e->pace_us < PLACE_HURRY_US || e->queue_count > 0);
    c->spec.modules = __atomic_load_n(&e->modules_until_us, __ATOMIC_RELAXED) > c->born_us;
    fds[fds_count++] = sv[1];
    for (i = 0; i < c->cgroups.procs_fds_count; i++) {
        fds[fds_count++] = c->cgroups.procs_fds[i];
    }
    control_message_init(&m, CONTROL_FORK, index, &c->spec, sizeof(c->spec));
    e->templates[e->current].cells_count++;
    e->templates[e->current].forks_count++;
    e->coming_count += c->custom ? 0 : 1;
    if (control_send(e->templates[e->current].sock, &m, fds, fds_count) < 0) {
        (void)vial__fail_sys(&e->failure, errno, "ordering a cell");
        place_clear(e, c);
        fd_closep(&sv[1]);
        return VIAL_E_SYS;
    }
    fd_closep(&sv[1]);
    return VIAL_OK;
}
