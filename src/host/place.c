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
#include "host/env.h"
#include "host/family.h"
#include "wire/control.h"

int place_spec_equal(const struct cell_spec *a, const struct cell_spec *b)
{
    return a->breed == b->breed && a->threads_max == b->threads_max && a->kind == b->kind &&
           a->attack == b->attack && a->attack_argument == b->attack_argument &&
           a->open_files_max == b->open_files_max;
}

unsigned place_wanted(const struct vial_engine *e, const struct breed *b)
{
    /* A quick engine with one run at a time is there for one run; it makes no cell for a second one
     * that nobody has asked for. */
    int single = e->quick && e->runs_max == 1 && e->run_count > 0;

    if (!b->wanted) {
        return 0;
    }
    return single ? e->queue_count : e->pool_count;
}

int place_suits(const struct vial_engine *e, const struct waiter *w, const struct cell *c)
{
    /* A late branch may have come from another cell that had the place of the origin before. */
    int same_family = c->origin == CELL_NONE || e->cells[c->origin].family == c->family;

    return w->custom && w->cell == CELL_NONE && w->want.env == NULL &&
           w->want.origin == c->origin && same_family && place_spec_equal(&w->want.spec, &c->spec);
}

void place_disappoint(struct vial_engine *e, const struct cell *c, int failed)
{
    struct waiter *w;

    for (w = e->waiters; c->custom && w != NULL; w = w->next) {
        if (w->ordered && place_suits(e, w, c)) {
            w->ordered = 0;
            w->failed = failed;
            return;
        }
    }
}

/* A cell that is on its way is not any more. */
static void place_not_coming(struct vial_engine *e, struct cell *c)
{
    if (c->state != CELL_FORKING && c->state != CELL_BORN) {
        return;
    }
    if (c->env != NULL) {
        env_not_coming(c->env);
    } else {
        e->breeds[c->spec.breed].coming_count -= c->custom ? 0 : 1;
    }
    place_disappoint(e, c, 0);
}

void place_clear(struct vial_engine *e, struct cell *c)
{
    struct template *t = &e->templates[c->template_index];

    place_not_coming(e, c);
    fd_closep(&c->sock);
    fd_closep(&c->pidfd);
    fd_closep(&c->statm_fd);
    buf_clear(&c->in);
    c->state = CELL_FREE;
    if (c->family != FAMILY_NONE) { /* the template counts the family as one */
        family_forget_member(e, c);
        return;
    }
    t->cells_count--;
    if (t->retired && t->cells_count == 0) {
        template_release(t);
    }
}

void place_drop(struct vial_engine *e, struct cell *c)
{
    place_not_coming(e, c);
    if (c->pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
    }
    fd_closep(&c->sock);
    c->state = CELL_ENDING;
}

void place_unready(struct vial_engine *e, uint32_t index)
{
    struct breed *b = &e->breeds[e->cells[index].spec.breed];
    unsigned i;

    for (i = 0; i < b->ready_count; i++) {
        if (b->ready[i] == index) {
            memmove(&b->ready[i], &b->ready[i + 1], (b->ready_count - i - 1) * sizeof(b->ready[0]));
            b->ready_count--;
            return;
        }
    }
    if (e->cells[index].env != NULL) {
        env_unready(e->cells[index].env, index);
    }
}

/* Members of a family are given the files by which one joins the groups of their branches, and may
 * keep them. So a group that a family knows is not used for anybody else: the files of one that was
 * removed are good for nothing. */
static int cell_open_slot(
    struct vial_engine *e, struct cell *c, uint32_t index, unsigned processes, uint64_t owner)
{
    if (c->has_slot && c->slot_owner != owner) {
        (void)cgroup_slot_close(&e->cgroups, index, &c->cgroups);
        c->has_slot = 0;
    }
    if (!c->has_slot) {
        if (cgroup_slot_open(&e->cgroups, index, e->memory_default, &c->cgroups) < 0) {
            return -1;
        }
        c->has_slot = 1;
        c->slot_owner = owner;
        return cgroup_slot_processes(&e->cgroups, index, &c->cgroups, processes);
    }
    if (cgroup_slot_processes(&e->cgroups, index, &c->cgroups, processes) < 0 ||
        cgroup_slot_limit(&c->cgroups, e->memory_default) < 0 ||
        cgroup_slot_reset(&c->cgroups) < 0) {
        (void)cgroup_slot_close(&e->cgroups, index, &c->cgroups);
        c->has_slot = 0;
        return -1;
    }
    return 0;
}

/* A free place with an open slot, best one whose groups can be kept. */
static int find_place(struct vial_engine *e, unsigned processes, uint64_t owner, uint32_t *ret)
{
    uint32_t index, first = CELL_NONE;

    for (index = 0; index < e->cells_count; index++) {
        const struct cell *c = &e->cells[index];

        if (c->state == CELL_FREE && c->has_slot && c->slot_owner == owner) {
            first = index;
            break;
        }
        first = first == CELL_NONE && c->state == CELL_FREE ? index : first;
    }
    if (first == CELL_NONE) {
        return vial__fail(&e->failure, VIAL_E_BUSY, "all %u cells are in use", e->cells_count);
    }
    for (index = first; index < e->cells_count; index++) { /* of some the groups cannot be had */
        if (e->cells[index].state == CELL_FREE &&
            cell_open_slot(e, &e->cells[index], index, processes, owner) == 0) {
            *ret = index;
            return VIAL_OK;
        }
    }
    return vial__fail_sys(&e->failure, errno, "making a control group");
}

int place_begin(struct vial_engine *e, const struct cell_spec *spec, enum cell_purpose purpose,
    unsigned processes, uint64_t owner, uint32_t *ret_index, int *ret_sock)
{
    struct cell *c;
    uint32_t index = 0;
    int sv[2];
    int r = find_place(e, processes + spec->threads_max, owner, &index);

    if (r < 0) {
        return r;
    }
    c = &e->cells[index];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0) {
        return vial__fail_sys(&e->failure, errno, "making a socket pair");
    }
    c->sock = sv[0];
    c->pidfd = c->statm_fd = -1;
    c->pid = 0;
    c->gone = 0;
    c->branches = c->unborn = 0;
    c->family = FAMILY_NONE;
    c->origin = CELL_NONE;
    c->env = NULL;
    c->custom = purpose != PURPOSE_POOL;
    c->phase = PHASE_BORN;
    c->state = CELL_FORKING;
    c->born_us = clock_now_us();
    c->spec = *spec;
    c->spec.hurry =
        (uint32_t)(purpose == PURPOSE_WAITER || e->pace_us < PLACE_HURRY_US || e->queue_count > 0);
    c->spec.modules = __atomic_load_n(&e->modules_until_us, __ATOMIC_RELAXED) > c->born_us;
    c->spec.longer = __atomic_load_n(&e->longer_until_us, __ATOMIC_RELAXED) > c->born_us;
    c->spec.scan = (uint32_t)__atomic_load_n(&e->scans, __ATOMIC_RELAXED);
    *ret_index = index;
    *ret_sock = sv[1];
    return VIAL_OK;
}

int place_order(struct vial_engine *e, const struct cell_spec *spec, enum cell_purpose purpose)
{
    struct breed *b = &e->breeds[spec->breed];
    struct control_message m;
    struct cell *c;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count = 0;
    unsigned i;
    uint32_t index;
    int sock;
    int r = place_begin(e, spec, purpose, 1, 0, &index, &sock);

    if (r < 0) {
        return r;
    }
    c = &e->cells[index];
    c->template_index = (unsigned)b->current;
    c->spec.uid = 1 + index;
    fds[fds_count++] = sock;
    for (i = 0; i < c->cgroups.procs_fds_count; i++) {
        fds[fds_count++] = c->cgroups.procs_fds[i];
    }
    control_message_init(&m, CONTROL_FORK, index, &c->spec, sizeof(c->spec));
    e->templates[b->current].cells_count++;
    e->templates[b->current].forks_count++;
    b->coming_count += c->custom ? 0 : 1;
    if (control_send(e->templates[b->current].sock, &m, fds, fds_count) < 0) {
        (void)vial__fail_sys(&e->failure, errno, "ordering a cell");
        place_clear(e, c);
        fd_closep(&sock);
        return VIAL_E_SYS;
    }
    fd_closep(&sock);
    return VIAL_OK;
}

void place_forget_env(struct vial_engine *e, const struct vial_env *env)
{
    unsigned i;

    for (i = 0; i < e->cells_count; i++) {
        if (e->cells[i].env == env) {
            e->cells[i].env = NULL; /* one that is coming is dropped when it is there */
        }
    }
}
