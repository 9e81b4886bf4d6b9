/* control.c - messages between host and template: only whole ones are taken, and descriptors that
 * come with anything else are closed. */
#include "wire/control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

enum { FDS_SENT_MAX = 12, MESSAGES_MAX = 8 };

/* Descriptors are given out from the lowest on: when none is lost, the next one is always the same.
 */
static int next_fd(void)
{
    int fd = dup(0);

    FUZZ_CHECK(fd >= 0, "there is no descriptor: %s", strerror(errno));
    (void)close(fd);
    return fd;
}

/* Sends bytes of any length with so many descriptors. */
static void send_anything(int sock, const char *bytes, size_t len, unsigned fds_count)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * FDS_SENT_MAX)];
        struct cmsghdr align;
    } ancillary;
    char *copy = fuzz_copy(bytes, len);
    struct iovec iov = {.iov_base = copy, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    int fds[FDS_SENT_MAX] = {0};
    struct cmsghdr *c;

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
    (void)sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    free(copy);
}

static void receive_one(int sock, unsigned fds_max)
{
    struct control_message *m = malloc(sizeof(*m)); /* what is behind it is not ours */
    int *fds = malloc((fds_max + 1) * sizeof(int));
    unsigned count = 0, i;
    pid_t pid = 0;
    int r;

    FUZZ_CHECK(m != NULL && fds != NULL, "there is no memory");
    r = control_receive(sock, m, fds, fds_max, &count, &pid);
    FUZZ_CHECK(r != 1 || count <= fds_max, "%u descriptors of %u", count, fds_max);
    for (i = 0; r == 1 && i < count; i++) {
        FUZZ_CHECK((fcntl(fds[i], F_GETFD) & FD_CLOEXEC) != 0, "a descriptor that exec keeps");
        (void)close(fds[i]);
    }
    FUZZ_CHECK(r != 1 || pid == getpid(), "it came from process %d", (int)pid);
    free(m);
    free(fds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input(data, size);
    int before = next_fd();
    unsigned messages = 0, fds_count, fds_max;
    size_t len;
    int one = 1;
    int pair[2];

    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0,
        "there is no socket");
    (void)setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one));
    while (in.left > 0 && messages++ < MESSAGES_MAX) {
        fds_count = fuzz_byte(&in) % (FDS_SENT_MAX + 1);
        fds_max = fuzz_byte(&in) % (CONTROL_FDS_MAX + 1);
        len = fuzz_byte(&in) + (size_t)1;
        len = len == 256 ? sizeof(struct control_message) : len; /* the length that is right */
        len = len < in.left ? len : in.left;
        send_anything(pair[0], in.at, len, fds_count);
        in.at += len;
        in.left -= len;
        receive_one(pair[1], fds_max);
    }
    (void)close(pair[0]);
    (void)close(pair[1]);
    FUZZ_CHECK(next_fd() == before, "a descriptor is left");
    return 0;
}
