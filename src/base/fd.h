/* fd.h - small helpers for descriptors: owned, close-on-exec, and read or written whole. */
#ifndef VIAL_BASE_FD_H
#define VIAL_BASE_FD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Closes *fd unless it is negative, and makes it -1. Fits the cleanup attribute. */
void fd_closep(int *fd);

/* Writes all n bytes to a blocking descriptor; 0, or -1 with errno. */
int fd_write_all(int fd, const void *bytes, size_t n);

/* Sends all of it through a socket, whose other side may be hostile and need not read: until the
 * time (clock_now_us) has come. Changes iov. 0, or -1 with errno, which is ETIMEDOUT then. */
int fd_send_until(int sock, struct iovec *iov, size_t count, uint64_t until_us);

/* Reads up to max bytes until end of file into bytes; the count, or -1 with errno. */
ssize_t fd_read_up_to(int fd, void *bytes, size_t max);

/* One write of a short text to an open control file (cgroup, /proc); 0, or -1 with errno. */
int fd_put_text(int dirfd, const char *path, const char *text);

/* Reads a small control file into text, NUL-terminated and without the last newline; 0 or -1. */
int fd_get_text(int dirfd, const char *path, char *text, size_t size);

#endif
