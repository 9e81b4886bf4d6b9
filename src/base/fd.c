/* fd.c - see fd.h. */
#include "base/fd.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    POLL_MS =
        1000 * 1000, /* a wait in one piece; the number of milliseconds must fit into an int */
    POLL_US_MAX = POLL_MS * 1000,
};

void fd_closep(int *fd)
{
    int saved = errno; /* a cleanup runs between the failure and the caller who reads errno */

    if (*fd >= 0) {
        (void)close(*fd);
        errno = saved;
        *fd = -1;
    }
}

int fd_write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    ssize_t done;

    while (n > 0) {
        done = write(fd, p, n);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done == 0) {
            errno = EIO; /* nothing was taken and nothing will be: do not spin */
        }
        if (done <= 0) {
            return -1;
        }
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

static int wait_for_room(int sock, uint64_t until_us)
{
    struct pollfd p = {.fd = sock, .events = POLLOUT};
    uint64_t now = clock_now_us();

    if (now >= until_us) {
        errno = ETIMEDOUT;
        return -1;
    }
    (void)poll(&p, 1, until_us - now < POLL_US_MAX ? (int)((until_us - now) / 1000 + 1) : POLL_MS);
    return 0;
}

int fd_send_until(int sock, struct iovec *iov, size_t count, uint64_t until_us)
{
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = count};
    ssize_t n;

    while (msg.msg_iovlen > 0) {
        n = sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_room(sock, until_us) == 0))) {
            continue;
        }
        if (n < 0) {
            return -1;
        }
        while (msg.msg_iovlen > 0 && (size_t)n >= msg.msg_iov->iov_len) {
            n -= (ssize_t)msg.msg_iov->iov_len;
            msg.msg_iov++;
            msg.msg_iovlen--;
        }
        if (msg.msg_iovlen > 0) {
            msg.msg_iov->iov_base = (char *)msg.msg_iov->iov_base + n;
            msg.msg_iov->iov_len -= (size_t)n;
        }
    }
    return 0;
}

ssize_t fd_read_up_to(int fd, void *bytes, size_t max)
{
    char *p = bytes;
    size_t len = 0;
    ssize_t got;

    while (len < max) {
        got = read(fd, p + len, max - len);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        len += (size_t)got;
    }
    return (ssize_t)len;
}

int fd_put_text(int dirfd, const char *path, const char *text)
{
    int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    size_t n = strlen(text);
    ssize_t done;
    int saved;

    if (fd < 0) {
        return -1;
    }
    do {
        done = write(fd, text, n);
    } while (done < 0 && errno == EINTR);
    saved = errno;
    (void)close(fd);
    if (done >= 0 && (size_t)done != n) {
        saved = EIO;
    }
    errno = saved;
    return done >= 0 && (size_t)done == n ? 0 : -1;
}

int fd_get_text(int dirfd, const char *path, char *text, size_t size)
{
    int fd;
    ssize_t got;
    int saved;

    assert(size > 0);
    fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    got = fd_read_up_to(fd, text, size - 1);
    saved = errno;
    (void)close(fd);
    errno = saved;
    if (got < 0) {
        return -1;
    }
    text[got] = '\0';
    if (got > 0 && text[got - 1] == '\n') {
        text[got - 1] = '\0';
    }
    return 0;
}
