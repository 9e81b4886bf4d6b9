/* template.c - starting a template: the handshake, and the canary that proves its wall. See
 * engine.h. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "host/engine.h"
#include "jail/fork.h"
#include "jail/mutate.h"
#include "jail/namespace.h"
#include "wire/control.h"
#include "wire/field.h"

enum {
    START_MS_MAX =
        20000, /* an engine starts in 20 ms; a machine in deep trouble still answers in this */
    CANARY_SLOT = 1000000, /* a control group of its own, above those of all cells */
    FDS_LOW = 16,          /* descriptors we make are moved above those that fork_spawn fills */
    LINKER_STATUS = 127,   /* a program ends so when a library or a function of one is missing */
};

/* Waits until there is a message, the deadline has come, or the process of this descriptor (-1:
 * none), who is to send it, has ended without. 1: there is one; 0 or -1: there is none. */
static int wait_for_message(int sock, int sender, uint64_t deadline_us)
{
    struct pollfd p[2] = {{.fd = sock, .events = POLLIN}, {.fd = sender, .events = POLLIN}};
    uint64_t now = clock_now_us();
    int r;

    do {
        r = poll(p, 2, now < deadline_us ? (int)((deadline_us - now) / 1000 + 1) : 0);
        now = clock_now_us();
    } while (r < 0 && errno == EINTR);
    if (r > 0 && p[0].revents == 0) { /* it may have sent it and ended while we looked */
        return poll(p, 1, 0) > 0 ? 1 : -1;
    }
    return r > 0;
}

/* Waits for the next message of the template until the deadline; of the first one sender, which may
 * be -1, is the process that sends it. */
static int receive(int sock, int sender, uint64_t deadline_us, struct control_message *m,
    int *ret_fd, pid_t *ret_pid, struct vial_error *err)
{
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count = 0;
    int r;

    *ret_fd = -1;
    r = wait_for_message(sock, sender, deadline_us);
    if (r == 0) {
        return vial__fail(
            err, VIAL_E_CELL, "the cell program does not answer after %d ms", START_MS_MAX);
    }
    r = r < 0 ? 0 : control_receive(sock, m, fds, CONTROL_FDS_MAX, &fds_count, ret_pid);
    if (r == 0 || (r < 0 && errno == ECONNRESET)) { /* the latter: without reading what we wrote */
        return vial__fail(err, VIAL_E_CELL, "the cell program ended while it was starting");
    }
    if (r < 0) {
        return vial__fail_sys(err, errno, "reading from the cell program");
    }
    if (fds_count > 0) {
        *ret_fd = fds[0];
        while (fds_count > 1) {
            (void)close(fds[--fds_count]);
        }
    }
    if (m->type == CONTROL_FAILED) {
        struct control_failed failed;

        memcpy(&failed, m->payload, sizeof(failed));
        failed.step[sizeof(failed.step) - 1] = '\0';
        fd_closep(ret_fd);
        r = failed.sys != 0 ? vial__fail_sys(err, failed.sys, "template: %s", failed.step)
                            : vial__fail(err, VIAL_E_CELL, "template: %s", failed.step);
        return r;
    }
    return VIAL_OK;
}

static int expect(const struct control_message *m, uint32_t type, struct vial_error *err)
{
    return m->type == type ? VIAL_OK
                           : vial__fail(err, VIAL_E_CELL, "the cell program sent %u instead of %u",
                                 m->type, type);
}

static int make_pair(int type, int sv[2], struct vial_error *err)
{
    int i, moved;

    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, sv) < 0) {
        sv[0] = sv[1] = -1;
        return vial__fail_sys(err, errno, "making a socket pair");
    }
    for (i = 0; i < 2; i++) {
        if (sv[i] < FDS_LOW) {
            moved = fcntl(sv[i], F_DUPFD_CLOEXEC, FDS_LOW);
            if (moved < 0) {
                int sys = errno;

                fd_closep(&sv[0]);
                fd_closep(&sv[1]);
                return vial__fail_sys(err, sys, "moving a descriptor");
            }
            (void)close(sv[i]);
            sv[i] = moved;
        }
    }
    return VIAL_OK;
}

/* The directory with stand-ins for libraries that the engine never calls (standins/meson.build), or
 * -1. By a descriptor, so that no cell has its path in memory. */
static int open_standins(const struct vial_engine *engine, unsigned breed)
{
    const char *path = engine->breeds[breed].cell_path;
    const char *slash = strrchr(path, '/');
    char name[PATH_MAX];
    int fd, moved;

    if (breed != BREED_JS || engine->has_no_standins || slash == NULL) {
        return -1;
    }
    (void)snprintf(name, sizeof(name), "%.*s/standins", (int)(slash - path), path);
    fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    moved = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, FDS_LOW) : -1;
    fd_closep(&fd);
    return moved;
}

/* Starts the program; the first process of it is gone again when the template is there. */
static int spawn(struct vial_engine *engine, unsigned breed, int stays, int control_fd,
    int standins_fd, pid_t *ret, struct vial_error *err)
{
    const char *argv[] = {"vial-cell", engine->no_jit ? "--no-jit" : "--jit",
        engine->quick ? "--quick" : "--warm", stays ? "--stays" : "--runs",
        breed == BREED_DATA ? "--data" : NULL, NULL};
    const char *path = engine->breeds[breed].cell_path;
    const char *envp[4] = {NULL};
    size_t count = 0;
    char without[256];
    int r;

    if (mutate_environment(without, sizeof(without))) {
        envp[count++] = without;
    }
    if (!engine->quick) {
        /* A warm template unmaps libraries (slim.c), and the linker looks a function up in all of
         * them when it is first called. So it does that for every function at the start. */
        envp[count++] = "LD_BIND_NOW=1";
    }
    if (standins_fd >= 0) {
        envp[count] = FORK_STANDINS_VARIABLE "=/proc/self/fd/5"; /* FORK_STANDINS_FD */
    }
    r = fork_spawn(path, argv, envp, control_fd, engine->host_pidfd, standins_fd, ret);
    return r == 0 ? VIAL_OK : vial__fail_sys(err, r, "starting the cell program %s", path);
}

/* Waits for the first process. Did the linker give up on it? */
static int reap(pid_t pid)
{
    int status = 0;

    /* Somebody else in this program may have waited for it already; then there is nothing to do. */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == LINKER_STATUS;
}

/* SPAWNED, MAPPED, UP. */
static int handshake(
    struct template *t, int first_fd, struct layer_report *report, struct vial_error *err)
{
    uint64_t deadline = clock_now_us() + START_MS_MAX * 1000ULL;
    struct control_message m = {.type = 0};
    struct control_failed note;
    uint32_t users = 0;
    pid_t pid = 0;
    int fd, r;

    r = receive(t->sock, first_fd, deadline, &m, &t->pidfd, &pid, err);
    r = r < 0 ? r : expect(&m, CONTROL_SPAWNED, err);
    if (r < 0 || t->pidfd < 0) {
        return r < 0 ? r : vial__fail(err, VIAL_E_CELL, "the template has no process descriptor");
    }
    memcpy(&note, m.payload, sizeof(note));
    t->pid = fork_pid_of(t->pidfd);
    if (t->pid <= 0) {
        return vial__fail(err, VIAL_E_CELL, "the template has no process number");
    }
    if (note.sys == 0 && namespace_map(t->pid, &users) < 0) {
        return vial__fail_sys(err, errno, "mapping the users of the template");
    }
    control_message_init(&m, CONTROL_MAPPED, 0, &users, sizeof(users));
    if (control_send(t->sock, &m, NULL, 0) < 0) {
        return vial__fail_sys(err, errno, "writing to the template");
    }
    r = receive(t->sock, -1, deadline, &m, &fd, &pid, err);
    fd_closep(&fd);
    r = r < 0 ? r : expect(&m, CONTROL_UP, err);
    if (r == 0) {
        memcpy(report, m.payload, sizeof(*report));
        t->image_pages = m.cell;
        if (note.sys != 0) {
            report->entries[LAYER_USERNS].sys = (uint16_t)note.sys;
        }
    }
    return r;
}

/* The step that the canary could not take, as it said itself. */
static int canary_failed(const char *fields, size_t len, struct vial_error *err)
{
    char step[64] = "an unknown step";
    struct field f;
    uint32_t sys = 0;
    size_t at = 0;

    while (field_next(fields, len, &at, &f) == 1) {
        if (f.tag == FIELD_STEP) {
            (void)snprintf(step, sizeof(step), "%.*s", (int)f.len, f.bytes);
        } else if (f.tag == FIELD_ERRNO) {
            (void)field_u32(&f, &sys);
        }
    }
    return vial__fail(err, VIAL_E_ISOLATION,
        "the canary could not confine itself (step \"%s\": %s), so no guest will run; `vial "
        "doctor` says more",
        step, sys != 0 ? strerrordesc_np((int)sys) : "no reason given");
}

/* The canary's only frame. */
static int canary_read(int sock, struct layer_report *report, struct vial_error *err)
{
    char bytes[FRAME_HEADER_BYTES + sizeof(*report)];
    struct frame_header header;
    ssize_t n = fd_read_up_to(sock, bytes, sizeof(bytes));

    if (n >= (ssize_t)sizeof(header)) {
        memcpy(&header, bytes, sizeof(header));
        if (header.type == FRAME_CANARY && n == (ssize_t)sizeof(bytes)) {
            memcpy(report, bytes + sizeof(header), sizeof(*report));
            return VIAL_OK;
        }
        if (header.type == FRAME_FAILED && header.len <= (size_t)n - sizeof(header)) {
            return canary_failed(bytes + sizeof(header), header.len, err);
        }
    }
    return vial__fail(err, VIAL_E_ISOLATION,
        "the canary could not confine itself, so no guest will run; `vial doctor` says more");
}

static int canary_order(struct vial_engine *engine, struct template *t, int sock,
    const struct cgroup_slot *slot, struct vial_error *err)
{
    struct cell_spec spec = engine->spec_default;
    struct control_message m;
    int fds[CONTROL_FDS_MAX];
    unsigned i, fds_count = 0;

    spec.kind = CELL_CANARY;
    spec.uid = 1;
    spec.groups = cgroup_base_groups(&engine->cgroups);
    fds[fds_count++] = sock;
    for (i = 0; i < slot->procs_fds_count; i++) {
        fds[fds_count++] = slot->procs_fds[i];
    }
    control_message_init(&m, CONTROL_FORK, CELL_NONE, &spec, sizeof(spec));
    return control_send(t->sock, &m, fds, fds_count) < 0
               ? vial__fail_sys(err, errno, "ordering the canary")
               : VIAL_OK;
}

/* Lets a cell of the new template violate every layer and report. */
static int canary(struct vial_engine *engine, struct template *t, struct layer_report *report,
    struct vial_error *err)
{
    struct timeval patience = {.tv_sec = START_MS_MAX / 1000};
    struct control_message m = {.type = 0};
    struct cgroup_slot slot;
    uint64_t deadline = clock_now_us() + START_MS_MAX * 1000ULL;
    pid_t pid;
    int sv[2];
    int fd, r;

    if (cgroup_slot_open(&engine->cgroups, CANARY_SLOT, engine->memory_default, &slot) < 0) {
        return vial__fail_sys(err, errno, "making a control group");
    }
    r = make_pair(SOCK_STREAM, sv, err);
    if (r < 0) {
        (void)cgroup_slot_close(&engine->cgroups, CANARY_SLOT, &slot);
        return r;
    }
    (void)setsockopt(sv[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    r = canary_order(engine, t, sv[1], &slot, err);
    fd_closep(&sv[1]);
    r = r < 0 ? r : canary_read(sv[0], report, err);
    fd_closep(&sv[0]);
    if (r == 0 && cgroup_slot_peak(&slot) > 0) { /* it is on the account that will be limited */
        report->entries[LAYER_CGROUP_MEMORY].state = LAYER_PROVEN;
    }
    while (r == 0) { /* FORKED and EXITED, in this order; nothing else is under way */
        r = receive(t->sock, -1, deadline, &m, &fd, &pid, err);
        fd_closep(&fd);
        if (r == 0 && m.type == CONTROL_EXITED) {
            break;
        }
    }
    (void)cgroup_slot_close(&engine->cgroups, CANARY_SLOT, &slot);
    return r;
}

static int start(struct vial_engine *engine, unsigned breed, int stays, int standins_fd,
    struct template *ret, struct layer_report *report, struct vial_error *err)
{
    struct template t = {
        .sock = -1, .pidfd = -1, .started_us = clock_now_us(), .stays = stays, .breed = breed};
    int on = 1;
    int sv[2];
    int first_fd;
    struct control_message adopted;
    pid_t first;
    int r;

    r = make_pair(SOCK_SEQPACKET, sv, err);
    if (r < 0) {
        return r;
    }
    t.sock = sv[0];
    (void)setsockopt(t.sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
    r = spawn(engine, breed, stays, sv[1], standins_fd, &first, err);
    fd_closep(&sv[1]);
    if (r < 0) {
        template_release(&t);
        return r;
    }
    /* The first attachment after a while makes the kernel wait for a grace period of some 15 ms;
     * here it does so while the engine starts, and the cells that follow find the way open. */
    cgroup_base_adopt(&engine->cgroups, first);
    control_message_init(&adopted, CONTROL_ADOPTED, 0, NULL, 0);
    (void)control_send(t.sock, &adopted, NULL, 0); /* who has ended is noticed when it is heard */
    first_fd = (int)syscall(SYS_pidfd_open, first, 0); /* without it we wait longer for nothing */
    r = handshake(&t, first_fd, report, err);
    fd_closep(&first_fd);
    if (t.pidfd < 0) {
        (void)kill(first, SIGKILL); /* it is our child and not yet reaped */
    }
    r = r < 0 ? r : canary(engine, &t, report, err);
    /* Its end has had time to come meanwhile. A newer engine may call what the stand-ins lack. */
    engine->has_no_standins |= reap(first) && standins_fd >= 0;
    if (r < 0) {
        template_release(&t);
        return r;
    }
    (void)fcntl(
        t.sock, F_SETFL, O_NONBLOCK); /* from here on the keeper listens to several at once */
    *ret = t;
    return VIAL_OK;
}

int template_start(struct vial_engine *engine, unsigned breed, int stays, struct template *ret,
    struct layer_report *report, struct vial_error *err)
{
    int standins_fd = open_standins(engine, breed);
    int r = start(engine, breed, stays, standins_fd, ret, report, err);

    if (r < 0 && standins_fd >= 0 && engine->has_no_standins) {
        r = start(engine, breed, stays, -1, ret, report, err);
    }
    fd_closep(&standins_fd);
    return r;
}

void template_release(struct template *t)
{
    siginfo_t info;

    if (t->pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, t->pidfd, SIGKILL, NULL, 0);
        while (waitid(P_PIDFD, (id_t)t->pidfd, &info, WEXITED | __WALL) < 0 && errno == EINTR) {
        }
    }
    fd_closep(&t->sock);
    fd_closep(&t->pidfd);
    t->pid = 0;
}
