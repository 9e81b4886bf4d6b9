/* family.c - see family.h. */
#include "cell/family.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/confine.h"
#include "jail/fork.h"
#include "wire/control.h"
#include "wire/frame.h"

/* The first process: tells the host of every member's end, and ends with the last one. */
static _Noreturn void family_reap(void)
{
    struct control_message m;
    struct control_exited exited;
    struct rusage usage;
    int status;
    pid_t pid;

    for (;;) {
        pid = wait4(-1, &status, __WALL, &usage);
        if (pid < 0 && errno == EINTR) {
            continue;
        }
        if (pid < 0) {
            _exit(0);
        }
        exited = (struct control_exited){.status = status,
            .cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)};
        control_message_init(&m, CONTROL_EXITED, (uint32_t)pid, &exited, sizeof(exited));
        /* One message, taken whole or not at all. */
        if (write(CONFINE_FAMILY_FD, &m, sizeof(m)) < 0) { /* short counts handled */
            _exit(0);
        }
    }
}

/* The first frame of the origin, with the listener when there is one. */
static int send_born(int listener)
{
    struct frame_header header = {.type = FRAME_BORN};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } ancillary = {.bytes = {0}};
    struct iovec iov = {.iov_base = &header, .iov_len = sizeof(header)};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    struct cmsghdr *c;

    if (listener >= 0) {
        msg.msg_control = ancillary.bytes;
        msg.msg_controllen = sizeof(ancillary.bytes);
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &listener, sizeof(listener));
    }
    return sendmsg(FORK_CONTROL_FD, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof(header) ? 0 : -1;
}

void family_split(int threads, void (*failed)(const char *step, int sys))
{
    int pidfd = -1;
    int listener = -1;
    pid_t pid = fork_clone(0, &pidfd);

    if (pid < 0) {
        failed("first member of the family", errno);
    }
    if (pid > 0) {
        if (confine_init() < 0) {
            _exit(1);
        }
        family_reap();
    }
    if (confine_origin(threads, &listener) < 0) {
        failed("origin", errno);
    }
    if (send_born(listener) < 0) {
        _exit(1);
    }
    fd_closep(&listener);
    if (confine_origin_end() < 0) {
        failed("last filter", errno);
    }
}

int family_read(void *bytes, size_t len, int fds[FAMILY_FDS_MAX], unsigned *ret_fds_count)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * FAMILY_FDS_MAX)];
        struct cmsghdr align;
    } ancillary;
    struct iovec iov = {.iov_base = bytes, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = ancillary.bytes,
        .msg_controllen = sizeof(ancillary.bytes)};
    struct cmsghdr *c;
    ssize_t n;

    do {
        n = recvmsg(FORK_CONTROL_FD, &msg, MSG_WAITALL | MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    *ret_fds_count = 0;
    if (n != (ssize_t)len || (msg.msg_flags & MSG_CTRUNC) != 0) {
        return -1;
    }
    for (c = CMSG_FIRSTHDR(&msg); c != NULL; c = CMSG_NXTHDR(&msg, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            *ret_fds_count = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(fds, CMSG_DATA(c), *ret_fds_count * sizeof(int));
        }
    }
    return 0;
}

/* In the copy: onto its own account first, then onto its own socket. */
static void settle(const int *fds, unsigned fds_count)
{
    struct frame_header header = {.type = FRAME_BORN};
    unsigned i;

    if (confine_branch() < 0) {
        _exit(1);
    }
    for (i = 1; i < fds_count; i++) {
        if (write(fds[i], "0", 1) != 1) { /* short counts handled */
            _exit(1);
        }
        (void)close(fds[i]);
    }
    if (dup2(fds[0], FORK_CONTROL_FD) < 0) {
        _exit(1);
    }
    (void)close(fds[0]);
    if (fd_write_all(FORK_CONTROL_FD, &header, sizeof(header)) < 0) {
        _exit(1);
    }
}

void family_let_go(const int *fds, unsigned fds_count)
{
    unsigned i;

    for (i = 0; i < fds_count; i++) {
        (void)close(fds[i]);
    }
}

int family_branch(const int *fds, unsigned fds_count)
{
    pid_t pid = fork_branch();

    if (pid == 0) {
        settle(fds, fds_count);
        return 1;
    }
    return pid < 0 ? -1 : 0;
}
