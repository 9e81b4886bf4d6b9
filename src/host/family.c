/* family.c - see family.h. */
#include "host/family.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "host/env.h"
#include "host/keeper.h"
#include "host/meter.h"
#include "host/place.h"
#include "jail/fork.h"
#include "jail/mutate.h"

enum {
    BRANCHES_MAX = 16, /* on order of one member at the same time */
    /* Itself, and branches that have not left yet; each was consented to. The origin has the first
     * process beside it. */
    MEMBER_PROCESSES = 1 + BRANCHES_MAX,
    ORIGIN_PROCESSES = 1 + MEMBER_PROCESSES,
    STRAYS_US = 1000 * 1000,   /* a clone that has consent takes a few milliseconds */
    FAMILY_TEXT_BYTES = 65536, /* more numbers than a family can have members */
};

/* What GO says. */
enum { GO_REST = 0, GO_WARM = 1, GO_HURRY = 2 };

void family_kill(struct vial_engine *e, unsigned index)
{
    struct family *f = index < e->families_count ? &e->families[index] : NULL;

    if (f == NULL || f->pidfd < 0) {
        return;
    }
    if (e->report.entries[LAYER_PIDNS].state == LAYER_OFF) {
        /* Members that did not ask for it live on without the first process. It ends behind the
         * last of them. */
        f->doomed = 1;
        f->strays_us = clock_now_us();
    } else {
        (void)syscall(SYS_pidfd_send_signal, f->pidfd, SIGKILL, NULL, 0);
    }
}

/* The family is gone, with everybody in it. */
static void family_clear(struct vial_engine *e, unsigned index)
{
    struct family *f = &e->families[index];
    struct template *t = &e->templates[f->template_index];

    fd_closep(&f->sock);
    fd_closep(&f->pidfd);
    fd_closep(&f->listener);
    f->members_count = f->orders_count = 0;
    t->cells_count--;
    if (t->retired && t->cells_count == 0) {
        template_release(t);
    }
}

void family_forget_member(struct vial_engine *e, const struct cell *c)
{
    struct family *f = &e->families[c->family];

    f->members_count--;
    /* Its first process ends with the last member, and the template tells. */
    if (f->members_count == 0 && f->pidfd < 0) {
        family_clear(e, c->family);
    }
}

static int find_free(struct vial_engine *e, unsigned *ret)
{
    unsigned i;

    for (i = 0; i < e->families_count && e->families[i].sock >= 0; i++) {
    }
    if (i == e->families_count) {
        return vial__fail(
            &e->failure, VIAL_E_BUSY, "there are %u families of cells already", e->families_count);
    }
    *ret = i;
    return VIAL_OK;
}

int family_order_origin(struct vial_engine *e, const struct cell_spec *spec)
{
    struct control_message m;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count = 0;
    unsigned index = 0, i;
    struct family *f;
    const struct breed *b = &e->breeds[spec->breed];
    struct cell *c;
    uint32_t cell;
    int on = 1;
    int sv[2];
    int sock;
    int r;

    r = find_free(e, &index);
    r = r < 0 ? r
              : place_begin(
                    e, spec, PURPOSE_WAITER, ORIGIN_PROCESSES, ++e->family_serial, &cell, &sock);
    if (r < 0) {
        return r;
    }
    f = &e->families[index];
    c = &e->cells[cell];
    c->template_index = (unsigned)b->current_stays;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sv) < 0) {
        r = vial__fail_sys(&e->failure, errno, "making a socket pair");
        e->templates[b->current_stays].cells_count++; /* which place_clear takes back */
        place_clear(e, c);
        fd_closep(&sock);
        return r;
    }
    (void)fcntl(sv[1], F_SETFL, 0); /* the other side may wait */
    (void)setsockopt(c->sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
    *f = (struct family){.sock = sv[0],
        .pidfd = -1,
        .listener = -1,
        .template_index = (unsigned)b->current_stays,
        .members_count = 1,
        .serial = e->family_serial,
        .uid = 1 + e->cells_count + index};
    c->family = (uint16_t)index;
    c->spec.uid = f->uid;
    c->warm = e->quick ? GO_HURRY : GO_WARM;
    e->templates[b->current_stays].cells_count++;
    e->templates[b->current_stays].forks_count++;
    fds[fds_count++] = sock;
    fds[fds_count++] = sv[1];
    for (i = 0; i < c->cgroups.procs_fds_count; i++) {
        fds[fds_count++] = c->cgroups.procs_fds[i];
    }
    control_message_init(&m, CONTROL_FORK, FAMILY_BASE + index, &c->spec, sizeof(c->spec));
    if (control_send(e->templates[b->current_stays].sock, &m, fds, fds_count) < 0) {
        r = vial__fail_sys(&e->failure, errno, "ordering a family");
        place_clear(e, c);
    }
    fd_closep(&sv[1]);
    fd_closep(&sock);
    return r;
}

/* Sends the order with its descriptors; 0, or -1 with errno. */
static int send_branch(int to, uint32_t cell, const int *fds, unsigned fds_count)
{
    struct branch_order order = {
        .header = {.type = FRAME_BRANCH, .len = sizeof(uint32_t)}, .cell = cell};
    union {
        char bytes[CMSG_SPACE(sizeof(int) * CONTROL_FDS_MAX)];
        struct cmsghdr align;
    } ancillary;
    struct iovec iov = {.iov_base = &order, .iov_len = sizeof(order)};
    struct msghdr msg = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = ancillary.bytes,
        .msg_controllen = CMSG_SPACE(sizeof(int) * fds_count)};
    struct cmsghdr *c;

    memset(&ancillary, 0, sizeof(ancillary));
    c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * fds_count);
    memcpy(CMSG_DATA(c), fds, sizeof(int) * fds_count);
    return sendmsg(to, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(order) ? 0 : -1;
}

int family_order_branch(
    struct vial_engine *e, uint32_t origin, enum cell_purpose purpose, struct vial_env *env)
{
    struct cell *from = &e->cells[origin];
    struct family *f = &e->families[from->family];
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count = 0, i;
    struct cell *c;
    uint32_t cell;
    int on = 1;
    int sock;
    int r;

    if (from->unborn >= BRANCHES_MAX) {
        return vial__fail(
            &e->failure, VIAL_E_BUSY, "%d branches are on order already", BRANCHES_MAX);
    }
    if (f->listener < 0) {
        return vial__fail(&e->failure, VIAL_E_ISOLATION,
            "sessions cannot be branched here: the kernel lets nobody watch over clones");
    }
    r = place_begin(e, &from->spec, purpose, MEMBER_PROCESSES, f->serial, &cell, &sock);
    if (r < 0) {
        return r;
    }
    c = &e->cells[cell];
    c->template_index = f->template_index;
    c->family = from->family;
    c->origin = origin;
    c->env = env;
    c->state = CELL_BORN;
    c->warm = env == NULL ? GO_REST : c->spec.hurry != 0 ? GO_HURRY : GO_WARM;
    f->members_count++;
    (void)setsockopt(c->sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
    fds[fds_count++] = sock;
    for (i = 0; i < c->cgroups.procs_fds_count; i++) {
        fds[fds_count++] = c->cgroups.procs_fds[i];
    }
    if (env != NULL) {
        env_coming(env);
    }
    if (send_branch(from->sock, cell, fds, fds_count) < 0) {
        r = vial__fail_sys(&e->failure, errno, "ordering a branch");
        place_clear(e, c);
    } else {
        from->branches++;
        from->unborn++;
        f->orders_count++;
    }
    fd_closep(&sock);
    return r;
}

/* All members are gone. Those that runs or sessions have are told by their sockets. */
static void family_lost(struct vial_engine *e, unsigned index)
{
    unsigned i;

    for (i = 0; i < e->cells_count; i++) {
        struct cell *c = &e->cells[i];

        if (c->state != CELL_FREE && c->family == index && !c->gone) {
            keeper_cell_gone(e, c, SIGKILL, 0);
        }
    }
}

void family_hear_template(
    struct vial_engine *e, const struct control_message *m, unsigned template_index, int pidfd)
{
    unsigned index = m->cell - FAMILY_BASE;
    struct family *f = index < e->families_count ? &e->families[index] : NULL;
    struct control_failed failed;
    unsigned i;

    if (f == NULL || f->sock < 0 || f->template_index != template_index) {
        fd_closep(&pidfd);
        return;
    }
    if (m->type == CONTROL_EXITED) {
        fd_closep(&f->pidfd);
        family_hear_init(e, index); /* what it said last */
        family_lost(e, index);
        if (f->sock >= 0 && f->members_count == 0) {
            family_clear(e, index);
        } /* else with the last place that a run or session gives back */
        return;
    }
    memcpy(&failed, m->payload, sizeof(failed));
    f->pidfd = pidfd;
    f->pid = pidfd >= 0 ? fork_pid_of(pidfd) : 0;
    for (i = 0; i < e->cells_count; i++) {
        struct cell *c = &e->cells[i];

        if (c->state != CELL_FORKING || c->family != index) {
            continue;
        }
        if (failed.sys != 0 || pidfd < 0) {
            (void)vial__fail_sys(&e->failure, failed.sys, "forking a family");
            place_disappoint(e, c, 1);
            place_clear(e, c);
        } else {
            c->state = CELL_BORN;
        }
        (void)pthread_cond_broadcast(&e->changed);
        return;
    }
}

void family_hear_init(struct vial_engine *e, unsigned index)
{
    struct family *f = &e->families[index];
    struct control_message m;
    struct control_exited exited;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count, i;

    while (
        f->sock >= 0 && control_receive(f->sock, &m, fds, CONTROL_FDS_MAX, &fds_count, NULL) == 1) {
        if (m.type != CONTROL_EXITED || fds_count > 0) {
            while (fds_count > 0) {
                (void)close(fds[--fds_count]);
            }
            family_kill(e, index);
            return;
        }
        memcpy(&exited, m.payload, sizeof(exited));
        for (i = 0; i < e->cells_count; i++) {
            struct cell *c = &e->cells[i];

            if (c->state != CELL_FREE && c->family == index && !c->gone &&
                c->family_pid == (pid_t)m.cell) {
                keeper_cell_gone(e, c, exited.status, exited.cpu_us);
                break;
            }
        }
    }
}

void family_hear_listener(struct vial_engine *e, unsigned index)
{
    struct family *f = &e->families[index];
    struct seccomp_notif asked;
    struct seccomp_notif_resp answer;
    unsigned i;

    memset(&asked, 0, sizeof(asked));
    if (ioctl(f->listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0) {
        return;
    }
    answer = (struct seccomp_notif_resp){.id = asked.id, .error = -EPERM};
    for (i = 0; i < e->cells_count; i++) {
        struct cell *c = &e->cells[i];

        /* Only who was ordered to, and as often as it was. */
        if (c->state != CELL_FREE && c->family == index && c->pid == (pid_t)asked.pid &&
            c->branches > 0 && asked.data.nr == SYS_clone) {
            c->branches--;
            f->orders_count--;
            answer.error = 0;
            answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
            break;
        }
    }
    (void)ioctl(f->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* What the kernel says of a process: its parent, and its number inside of the family, which is the
 * last one of the line NSpid. */
static int look_at(pid_t pid, pid_t *ret_parent, pid_t *ret_inner)
{
    char path[64], text[4096];
    const char *line, *end, *at;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (fd_get_text(AT_FDCWD, path, text, sizeof(text)) < 0 ||
        (line = strstr(text, "\nPPid:")) == NULL || sscanf(line, "\nPPid: %d", ret_parent) != 1 ||
        (line = strstr(text, "\nNSpid:")) == NULL) {
        return -1;
    }
    end = strchr(line + 1, '\n');
    for (at = end != NULL ? end : line + strlen(line); at > line && at[-1] != '\t' && at[-1] != ' ';
         at--) {
    }
    return sscanf(at, "%d", ret_inner) == 1 && *ret_inner > 0 ? 0 : -1;
}

/* Does a cell have this process? */
static int is_known(const struct vial_engine *e, unsigned index, pid_t pid)
{
    unsigned i;

    for (i = 0; i < e->cells_count; i++) {
        const struct cell *c = &e->cells[i];

        if (c->state != CELL_FREE && c->family == index && c->pid == pid && !c->gone) {
            return 1;
        }
    }
    return 0;
}

/* ---- processes that nobody knows ---- */

/* An order was given up, and the clone may have happened all the same: a member that lies can have
 * a copy that no cell stands for. */
static void watch_for_strays(struct family *f)
{
    f->strays_us = mutate_without_part("strays") ? 0 : clock_now_us() + STRAYS_US;
}

/* Kills a process that is a child of the family's first one, and was when we looked. */
static void kill_stray(const struct family *f, pid_t pid)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    pid_t parent = 0, inner = 0;

    if (pidfd >= 0 && look_at(pid, &parent, &inner) == 0 && parent == f->pid) {
        (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    }
    fd_closep(&pidfd);
}

/* Is a branch on its way whose process we do not know yet? */
static int has_births(const struct vial_engine *e, unsigned index)
{
    unsigned i;

    for (i = 0; i < e->cells_count; i++) {
        const struct cell *c = &e->cells[i];

        if (c->state == CELL_BORN && c->phase == PHASE_BORN && c->family == index) {
            return 1;
        }
    }
    return 0;
}

static void sweep(struct vial_engine *e, unsigned index)
{
    const struct family *f = &e->families[index];
    char path[64], text[FAMILY_TEXT_BYTES];
    const char *at;
    int n, used;

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)f->pid, (int)f->pid);
    if (f->pidfd < 0) {
        return;
    }
    if (fd_get_text(AT_FDCWD, path, text, sizeof(text)) < 0) {
        /* Where nobody can look, nobody stays. */
        (void)syscall(SYS_pidfd_send_signal, f->pidfd, SIGKILL, NULL, 0);
        return;
    }
    for (at = text; sscanf(at, "%d%n", &n, &used) == 1; at += used) {
        if (f->doomed || !is_known(e, index, n)) {
            kill_stray(f, n);
        }
    }
}

int family_sweep(struct vial_engine *e, uint64_t now_us)
{
    unsigned i;
    int more = 0;

    for (i = 0; i < e->families_count; i++) {
        struct family *f = &e->families[i];

        if (f->sock < 0 || f->strays_us == 0) {
            continue;
        }
        if (f->doomed || !has_births(e, i)) {
            sweep(e, i);
            f->strays_us = now_us > f->strays_us && !f->doomed ? 0 : f->strays_us;
        }
        more |= f->strays_us != 0;
    }
    return more;
}

/* ---- members ---- */

/* What comes of a first word, beside 1, all is well, and 0, not yet. */
enum { BORN_NOBODY = -1, BORN_STRANGE = -2 };

/* The first word of a member: who it is, and for the origin its listener. */
static int receive_born(struct cell *c, pid_t *ret_pid, int *ret_listener)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } ancillary;
    struct frame_header header;
    struct iovec iov = {.iov_base = &header, .iov_len = sizeof(header)};
    struct msghdr msg = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = ancillary.bytes,
        .msg_controllen = sizeof(ancillary.bytes)};
    struct cmsghdr *h;
    struct ucred cred = {.pid = 0};
    ssize_t n = recvmsg(c->sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int off = 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }
    *ret_listener = -1;
    if (n <= 0) {
        return BORN_NOBODY; /* the order has died with who had it, or the copy at once */
    }
    for (h = CMSG_FIRSTHDR(&msg); h != NULL; h = CMSG_NXTHDR(&msg, h)) {
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS) {
            memcpy(ret_listener, CMSG_DATA(h), sizeof(*ret_listener));
        } else if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&cred, CMSG_DATA(h), sizeof(cred));
        }
    }
    if (n != (ssize_t)sizeof(header) || header.type != FRAME_BORN || header.len != 0 ||
        cred.pid <= 0) {
        return BORN_STRANGE; /* eight bytes of a first write always come whole */
    }
    (void)setsockopt(c->sock, SOL_SOCKET, SO_PASSCRED, &off, sizeof(off));
    *ret_pid = cred.pid;
    return 1;
}

static int send_go(struct cell *c)
{
    struct {
        struct frame_header header;
        uint32_t warm;
    } frame = {.header = {.type = FRAME_GO, .len = sizeof(uint32_t)}, .warm = c->warm};

    return send(c->sock, &frame, sizeof(frame), MSG_NOSIGNAL | MSG_DONTWAIT) ==
                   (ssize_t)sizeof(frame)
               ? 0
               : -1;
}

/* It is here, with its own account and socket. */
static int settle_member(struct vial_engine *e, struct cell *c)
{
    struct family *f = &e->families[c->family];
    int listener = -1;
    pid_t pid = 0, parent = 0;
    int r = receive_born(c, &pid, &listener);

    if (r <= 0) {
        fd_closep(&listener);
        return r;
    }
    if (c->origin == CELL_NONE && f->listener < 0) {
        f->listener = listener;
    } else {
        fd_closep(&listener);
    }
    if (is_known(e, c->family, pid) && !mutate_without_part("one-each")) {
        return BORN_STRANGE; /* a member that speaks for its branch, which is somebody else then */
    }
    c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (c->pidfd < 0 || look_at(pid, &parent, &c->family_pid) < 0 || parent != f->pid ||
        (!cgroup_slot_has(&e->cgroups, (unsigned)(c - e->cells), pid) &&
            !mutate_without_part("joined"))) {
        fd_closep(&c->pidfd); /* it is none of us, or not on its account */
        return BORN_STRANGE;
    }
    c->pid = pid;
    if (send_go(c) < 0) {
        return BORN_STRANGE;
    }
    c->phase = c->warm == GO_REST ? PHASE_WAITING : PHASE_JOINING;
    return 1;
}

/* A branch that was on order is there, or will never be. */
static void note_birth(struct vial_engine *e, const struct cell *c)
{
    struct cell *from = c->origin != CELL_NONE ? &e->cells[c->origin] : NULL;

    if (from != NULL && from->family == c->family && from->unborn > 0) {
        from->unborn--;
        /* Who gave an order up has no consent left for it. */
        if (from->branches > from->unborn && !mutate_without_part("spent-consent")) {
            e->families[c->family].orders_count -= from->branches - from->unborn;
            from->branches = from->unborn;
        }
    }
}

/* The branch will not come; who waits for it is told why. */
static void fail_branch(struct vial_engine *e, struct cell *c)
{
    note_birth(e, c);
    watch_for_strays(&e->families[c->family]);
    place_disappoint(e, c, 1);
    if (c->env != NULL) {
        env_failed(c->env, &e->failure);
    }
    (void)pthread_cond_broadcast(&e->changed);
}

/* Is this a branch of the member that is not there yet? */
static int is_unborn_of(const struct vial_engine *e, const struct cell *b, const struct cell *c)
{
    return b->state == CELL_BORN && b->phase == PHASE_BORN && b->family == c->family &&
           b->origin == (uint32_t)(c - e->cells);
}

/* A member that is at rest says nothing, but for a branch that could not be made. */
static void hear_at_rest(struct vial_engine *e, struct cell *c)
{
    struct branch_refusal refusal;
    ssize_t n = recv(c->sock, &refusal, sizeof(refusal), MSG_DONTWAIT);
    unsigned i;

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n == (ssize_t)sizeof(refusal) && refusal.header.type == FRAME_UNBORN &&
        refusal.cell < e->cells_count && is_unborn_of(e, &e->cells[refusal.cell], c)) {
        if (refusal.sys == EBUSY) {
            (void)vial__fail(&e->failure, VIAL_E_BUSY,
                "the process has threads, which a branch of it would not have; let them end first");
        } else {
            (void)vial__fail_sys(&e->failure, (int)refusal.sys, "branching");
        }
        fail_branch(e, &e->cells[refusal.cell]);
        place_clear(e, &e->cells[refusal.cell]);
        return;
    }
    (void)vial__fail(&e->failure, VIAL_E_GONE, "the process to branch has ended");
    e->families[c->family].orders_count -= c->branches;
    c->branches = 0;
    for (i = 0; i < e->cells_count; i++) {
        if (is_unborn_of(e, &e->cells[i], c)) {
            fail_branch(e, &e->cells[i]);
            place_clear(e, &e->cells[i]);
        }
    }
    c->unborn = 0;
    if (c->state == CELL_READY) { /* it is nobody's, and of no use any more */
        place_unready(e, (uint32_t)(c - e->cells));
        place_drop(e, c);
    }
}

void family_hear_member(struct vial_engine *e, uint32_t index)
{
    struct cell *c = &e->cells[index];
    int r;

    /* What a cell says that was taken meanwhile is for its run. */
    if (c->state == CELL_READY || (c->state == CELL_TAKEN && c->unborn > 0)) {
        hear_at_rest(e, c);
    }
    if (c->state != CELL_BORN) {
        return;
    }
    if (c->phase != PHASE_BORN) {
        keeper_hear_ready(e, index);
        return;
    }
    r = settle_member(e, c);
    if (r < 0 && c->origin != CELL_NONE && e->cells[c->origin].family == c->family &&
        e->cells[c->origin].unborn > 0) {
        hear_at_rest(e, &e->cells[c->origin]); /* it may say that it could not be made */
        if (c->state != CELL_BORN) {
            return;
        }
    }
    if (r < 0) {
        (void)vial__fail(&e->failure, VIAL_E_CELL, "a branch ended before it was ready");
        fail_branch(e, c);
        if (r == BORN_NOBODY && c->origin != CELL_NONE) {
            place_clear(e, c);
            return;
        }
        family_kill(e, c->family); /* whatever it is, nothing of it goes on */
        place_drop(e, c);
    } else if (r > 0) {
        note_birth(e, c);
        if (c->phase == PHASE_WAITING) {
            keeper_ready(e, index);
        }
    }
}

void family_template_lost(struct vial_engine *e, unsigned template_index)
{
    unsigned i;

    for (i = 0; i < e->families_count; i++) {
        if (e->families[i].sock >= 0 && e->families[i].template_index == template_index) {
            fd_closep(&e->families[i].pidfd);
            family_lost(e, i);
            if (e->families[i].sock >= 0 && e->families[i].members_count == 0) {
                family_clear(e, i);
            }
        }
    }
}

void family_release_all(struct vial_engine *e)
{
    unsigned i;

    for (i = 0; i < e->families_count; i++) {
        fd_closep(&e->families[i].sock);
        fd_closep(&e->families[i].pidfd);
        fd_closep(&e->families[i].listener);
    }
}
