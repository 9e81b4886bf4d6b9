/* template.c - the program of a language: warms the engine, confines itself, and forks cells on
 * order.
 *
 * It goes through two lives. The first process starts the engine, without any helper thread, and
 * clones itself into new namespaces. That copy confines itself and is the template: it holds no
 * secret, sees no file, and does nothing but clone cells and report their ends. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "cell/cell.h"
#include "cell/guest.h"
#include "cell/image.h"
#include "cell/scan_program.h"
#include "cell/slim.h"
#include "jail/fork.h"
#include "wire/control.h"

enum { CELLS_MAX = 4096 }; /* as many as a range has users */

struct template_state {
    struct layer_report report;
    uint32_t users;
    struct {
        pid_t pid; /* 0: free */
        uint32_t cell;
    } cells[CELLS_MAX];
};

static struct template_state state;

static void on_child(int number)
{
    (void)number; /* ending the wait is all it is for */
}

static void send_or_end(uint32_t type, uint32_t cell, const void *payload, size_t len, int fd)
{
    struct control_message m;

    control_message_init(&m, type, cell, payload, len);
    if (control_send(FORK_CONTROL_FD, &m, &fd, fd >= 0 ? 1 : 0) < 0) {
        _exit(1); /* the host is gone, and all cells go with us */
    }
}

static _Noreturn void fail(const char *step, int sys)
{
    struct control_failed failed = {.sys = sys};

    (void)snprintf(failed.step, sizeof(failed.step), "%s", step);
    send_or_end(CONTROL_FAILED, 0, &failed, sizeof(failed), -1);
    _exit(1);
}

static void reap(void)
{
    struct control_exited exited;
    struct rusage usage;
    int status;
    pid_t pid;
    unsigned i;

    while ((pid = wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0) {
        exited = (struct control_exited){.status = status,
            .cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)};
        for (i = 0; i < CELLS_MAX; i++) {
            if (state.cells[i].pid == pid) {
                state.cells[i].pid = 0;
                send_or_end(CONTROL_EXITED, state.cells[i].cell, &exited, sizeof(exited), -1);
                break;
            }
        }
    }
}

static void fork_cell(const struct control_message *m, const int *fds, unsigned fds_count)
{
    struct control_failed failed = {.sys = 0};
    struct confine_cell_input in = {
        .template_report = &state.report, .control_fd = fds[0], .users = state.users};
    struct cell_spec spec;
    unsigned i, slot;
    int pidfd = -1;
    pid_t pid = -1;

    memcpy(&spec, m->payload, sizeof(spec));
    in.spec = &spec;
    i = 1;
    if (spec.kind == CELL_ORIGIN) {
        if (fds_count < 2) {
            _exit(1);
        }
        in.family_fd = fds[i++];
    }
    for (; i < fds_count && in.cgroup_fds_count < CONFINE_CGROUP_FDS_MAX; i++) {
        in.cgroup_fds[in.cgroup_fds_count++] = fds[i];
    }
    if (spec.scan != 0) {
        scan_warm(); /* the first time; its copies have it then */
    }
    for (slot = 0; slot < CELLS_MAX && state.cells[slot].pid != 0; slot++) {
    }
    /* A second thread would be lost in the copy with whatever it holds. */
    assert(syscall(SYS_unshare, CLONE_THREAD) == 0);
    if (slot == CELLS_MAX) {
        errno = EAGAIN;
    } else {
        pid = fork_clone(confine_cell_flags(state.users), &pidfd);
    }
    if (pid == 0) {
        cell_main(&in);
    }
    failed.sys = pid < 0 ? errno : 0;
    if (pid > 0) {
        state.cells[slot].pid = pid;
        state.cells[slot].cell = m->cell;
    }
    for (i = 0; i < fds_count; i++) {
        (void)close(fds[i]);
    }
    send_or_end(CONTROL_FORKED, m->cell, &failed, sizeof(failed), pidfd);
    fd_closep(&pidfd);
}

static _Noreturn void serve(void)
{
    struct pollfd polls[2] = {
        {.fd = FORK_CONTROL_FD, .events = POLLIN}, {.fd = FORK_HOST_FD, .events = POLLIN}};
    struct sigaction action = {.sa_handler = on_child};
    struct control_message m;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count;
    sigset_t blocked, open_mask;

    (void)sigemptyset(&blocked);
    (void)sigprocmask(SIG_SETMASK, &blocked, &open_mask);
    (void)sigaddset(&blocked, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &blocked, NULL);
    (void)sigemptyset(&open_mask);
    (void)sigaction(SIGCHLD, &action, NULL);
    for (;;) {
        if (ppoll(polls, 2, NULL, &open_mask) < 0 && errno != EINTR) {
            _exit(1);
        }
        reap();
        if (polls[1].revents != 0) {
            _exit(0); /* the host has ended, and the kernel ends all cells with this process */
        }
        if ((polls[0].revents & (POLLIN | POLLHUP)) != 0) {
            polls[0].revents = 0;
            if (control_receive(FORK_CONTROL_FD, &m, fds, CONTROL_FDS_MAX, &fds_count, NULL) != 1) {
                _exit(0);
            }
            if (m.type != CONTROL_FORK || fds_count == 0) {
                _exit(1);
            }
            fork_cell(&m, fds, fds_count);
        }
    }
}

/* In the copy: waits for the host to map users, confines itself, serves. */
static _Noreturn void template_main(const struct namespace_names *before, int namespaces, int many)
{
    struct control_message m;
    const char *step = "waiting for the user map";
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count;

    if (control_receive(FORK_CONTROL_FD, &m, fds, CONTROL_FDS_MAX, &fds_count, NULL) != 1 ||
        m.type != CONTROL_MAPPED || fds_count != 0) {
        _exit(1);
    }
    memcpy(&state.users, m.payload, sizeof(state.users));
    if (many) {
        slim_template(&GUEST);
    }
    if (!namespaces) {
        state.users = 0;
    }
    if (confine_template(before, state.users, &state.report, &step) < 0) {
        fail(step, errno);
    }
    send_or_end(
        CONTROL_UP, (uint32_t)(image_bytes() / PAGE), &state.report, sizeof(state.report), -1);
    serve();
}

/* The copy has the groups that this process is in by then for the top of all. */
static void wait_for_adoption(void)
{
    struct control_message m;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count;

    if (control_receive(FORK_CONTROL_FD, &m, fds, CONTROL_FDS_MAX, &fds_count, NULL) != 1 ||
        m.type != CONTROL_ADOPTED || fds_count != 0) {
        _exit(1);
    }
}

/* The kernel leaves the path of the program on the stack, where every cell would have it. */
static void forget_path(void)
{
    uintptr_t at = getauxval(AT_EXECFN);
    char *path;

    memcpy(&path, &at, sizeof(path));
    if (path != NULL) {
        memset(path, 'x', strlen(path));
    }
}

int main(int argc, char **argv)
{
    struct namespace_names before;
    struct control_failed note = {.sys = 0};
    struct control_message m;
    struct stat st;
    const char *why = "starting the engine";
    int pidfd = -1;
    const struct guest_warmth warmth = {.jit = argc < 2 || strcmp(argv[1], "--no-jit") != 0,
        .quick = argc > 2 && strcmp(argv[2], "--quick") == 0,
        .stays = argc > 3 && strcmp(argv[3], "--stays") == 0,
        .data = argc > 4 && strcmp(argv[4], "--data") == 0};
    pid_t pid;

    if (fcntl(FORK_CONTROL_FD, F_GETFD) < 0 || fcntl(FORK_HOST_FD, F_GETFD) < 0) {
        static const char text[] =
            "This program is started by libvial and does nothing by itself.\n";

        (void)fd_write_all(2, text, sizeof(text) - 1);
        return 2;
    }
    forget_path();
    if (fstat(FORK_STANDINS_FD, &st) == 0 && S_ISDIR(st.st_mode)) {
        (void)close(FORK_STANDINS_FD); /* the linker has done with it */
    }
    (void)fcntl(FORK_CONTROL_FD, F_SETFD, FD_CLOEXEC);
    (void)fcntl(FORK_HOST_FD, F_SETFD, FD_CLOEXEC);
    if (fork_prepare() < 0) {
        fail("finding libc's thread number", errno);
    }
    if (!warmth.quick) {
        image_prepare();
    }
    if (GUEST.warm(&warmth, &why) < 0) {
        fail(why, 0);
    }
    wait_for_adoption();
    namespace_read(&before);
    /* A second thread would be lost in the copy, with whatever it holds. */
    if (syscall(SYS_unshare, CLONE_THREAD) < 0) {
        fail("being the only thread", errno);
    }
    pid = fork_clone(namespace_flags() | CLONE_PARENT, &pidfd);
    if (pid <
        0) { /* user namespaces are forbidden or used up: the lower level, and the host is told */
        note.sys = errno;
        pid = fork_clone(CLONE_PARENT, &pidfd);
    }
    if (pid < 0) {
        fail("cloning the template", errno);
    }
    if (pid == 0) {
        template_main(&before, note.sys == 0, !warmth.quick);
    }
    control_message_init(&m, CONTROL_SPAWNED, 0, &note, sizeof(note));
    if (control_send(FORK_CONTROL_FD, &m, &pidfd, 1) < 0) {
        /* Nobody knows of the copy, and both would wait for each other: the host for a message, the
         * copy for its users. */
        (void)kill(pid, SIGKILL);
        _exit(1);
    }
    _exit(0); /* not exit: the copy owns what the handlers would tear down */
}
