/* control.c - see control.h. */
#include "wire/control.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void control_message_init(
    struct control_message *m, uint32_t type, uint32_t cell, const void *payload, size_t len)
{
    assert(len <= sizeof(m->payload));
    memset(m, 0, sizeof(*m));
    m->type = type;
    m->cell = cell;
    if (len > 0) {
        memcpy(m->payload, payload, len);
    }
}

int control_send(int sock, const struct control_message *m, const int *fds, unsigned fds_count)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * CONTROL_FDS_MAX)];
        struct cmsghdr align;
    } ancillary;
    struct control_message copy = *m; /* an iovec cannot point to const */
    struct iovec iov = {.iov_base = &copy, .iov_len = sizeof(copy)};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    struct cmsghdr *c;
    ssize_t sent;

    if (fds_count > 0) {
        memset(&ancillary, 0, sizeof(ancillary));
        msg.msg_control = ancillary.bytes;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * fds_count);
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * fds_count);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * fds_count);
    }
    do {
        sent = sendmsg(sock, &msg, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof(copy) ? 0 : -1;
}

/* Closes the descriptors of a message that nobody wants. */
static void close_all(const struct cmsghdr *c, unsigned count)
{
    unsigned i;
    int fd;

    for (i = 0; i < count; i++) {
        memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
        (void)close(fd);
    }
}

static int control_take_fds(
    struct msghdr *msg, int *fds, unsigned fds_max, unsigned *ret_fds_count, pid_t *ret_pid)
{
    struct cmsghdr *c;
    struct ucred cred;
    unsigned n;

    *ret_fds_count = 0;
    for (c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET) {
            continue;
        }
        if (c->cmsg_type == SCM_CREDENTIALS && ret_pid != NULL) {
            memcpy(&cred, CMSG_DATA(c), sizeof(cred));
            *ret_pid = cred.pid;
        }
        if (c->cmsg_type == SCM_RIGHTS) {
            n = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            if (n > fds_max) {
                close_all(c, n);
                return -1;
            }
            memcpy(fds, CMSG_DATA(c), n * sizeof(int));
            *ret_fds_count = n;
        }
    }
    return 0;
}

int control_receive(int sock, struct control_message *m, int *fds, unsigned fds_max,
    unsigned *ret_fds_count, pid_t *ret_pid)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * CONTROL_FDS_MAX) + CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } ancillary;
    struct iovec iov = {.iov_base = m, .iov_len = sizeof(*m)};
    struct msghdr msg = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = ancillary.bytes,
        .msg_controllen = sizeof(ancillary.bytes)};
    ssize_t got;
    unsigned i;

    do {
        got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return -1;
    }
    if (control_take_fds(&msg, fds, fds_max, ret_fds_count, ret_pid) < 0) {
        errno = EPROTO;
        return -1;
    }
    if (got == 0) {
        return 0;
    }
    if (got != (ssize_t)sizeof(*m) || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
        for (i = 0; i < *ret_fds_count; i++) {
            (void)close(fds[i]);
        }
        *ret_fds_count = 0;
        errno = EPROTO;
        return -1;
    }
    return 1;
}
