/* files_fd.c - see files.h: opening, and everything that is done with a descriptor. */
#include "cell/python/files_inside.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cell/guest.h"

enum {
    COPY_BYTES = 16384, /* at a time, on the stack */
    IOV_COUNT_MAX = 1024,
    /* What says how the descriptor behaves and not what it is opened for. */
    FLAGS_KEPT_AWAY = O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_SYNC | O_DSYNC | O_DIRECT | O_ASYNC,
};

static const char *input;
static size_t input_len, input_at;

int __open_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);

void files_set_input(const char *bytes, size_t len)
{
    input = bytes;
    input_len = bytes != NULL ? len : 0;
    input_at = 0;
}

/* ---- opening and closing ---- */

static int open_device(int stream, int flags)
{
    int fd;

    files_lock();
    fd = memfs_open_stream(files_fs, -1, stream, flags & (O_ACCMODE | O_APPEND));
    files_unlock();
    return fd;
}

int files_open(int dirfd, const char *path, int flags, uint32_t mode)
{
    int stream = files_device(path);
    int fd = stream >= 0 ? (int)files_answer(open_device(stream, flags))
                         : (int)FILES_AT(dirfd, path,
                               memfs_open(files_fs, path, flags & ~FLAGS_KEPT_AWAY, mode));

    if (fd >= 0 && (flags & O_CLOEXEC) != 0) {
        (void)FILES_DO(memfs_set_cloexec(files_fs, fd, 1));
    }
    return fd;
}

FILES_API int open(const char *path, int flags, ...)
{
    uint32_t mode = 0;
    va_list rest;

    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
        va_start(rest, flags);
        mode = va_arg(rest, uint32_t);
        va_end(rest);
    }
    return files_are_on ? files_open(AT_FDCWD, path, flags, mode)
                        : FILES_REAL(open)(path, flags, mode);
}
FILES_ALSO(open, open64);

FILES_API int openat(int dirfd, const char *path, int flags, ...)
{
    uint32_t mode = 0;
    va_list rest;

    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
        va_start(rest, flags);
        mode = va_arg(rest, uint32_t);
        va_end(rest);
    }
    return files_are_on ? files_open(dirfd, path, flags, mode)
                        : FILES_REAL(openat)(dirfd, path, flags, mode);
}
FILES_ALSO(openat, openat64);

FILES_API int __open_2(const char *path, int flags)
{
    return files_are_on ? files_open(AT_FDCWD, path, flags, 0) : FILES_REAL(__open_2)(path, flags);
}
FILES_ALSO(__open_2, __open64_2);

FILES_API int __openat_2(int dirfd, const char *path, int flags)
{
    return files_are_on ? files_open(dirfd, path, flags, 0)
                        : FILES_REAL(__openat_2)(dirfd, path, flags);
}
FILES_ALSO(__openat_2, __openat64_2);

FILES_API int creat(const char *path, mode_t mode)
{
    return files_are_on ? files_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode)
                        : FILES_REAL(creat)(path, mode);
}
FILES_ALSO(creat, creat64);

int files_close(int fd)
{
    return (int)FILES_DO(memfs_close(files_fs, fd));
}

FILES_API int close(int fd)
{
    return files_are_on ? files_close(fd) : FILES_REAL(close)(fd);
}

FILES_API int close_range(unsigned first, unsigned last, int flags)
{
    unsigned fd;

    if (!files_are_on) {
        return FILES_REAL(close_range)(first, last, flags);
    }
    if (first > last) {
        return (int)files_answer(-EINVAL);
    }
    files_lock();
    for (fd = first; fd <= last && fd < files_fs->fds_capacity; fd++) {
        if ((flags & (int)CLOSE_RANGE_CLOEXEC) != 0) {
            (void)memfs_set_cloexec(files_fs, (int)fd, 1);
        } else {
            (void)memfs_close(files_fs, (int)fd);
        }
    }
    files_unlock();
    return 0;
}

FILES_API int dup(int fd)
{
    return files_are_on ? (int)FILES_DO(memfs_dup(files_fs, fd, 0)) : FILES_REAL(dup)(fd);
}

FILES_API int dup2(int fd, int to)
{
    return files_are_on ? (int)FILES_DO(memfs_dup2(files_fs, fd, to)) : FILES_REAL(dup2)(fd, to);
}

FILES_API int dup3(int fd, int to, int flags)
{
    if (!files_are_on) {
        return FILES_REAL(dup3)(fd, to, flags);
    }
    if (fd == to) {
        return (int)files_answer(-EINVAL);
    }
    to = (int)FILES_DO(memfs_dup2(files_fs, fd, to));
    if (to >= 0 && (flags & O_CLOEXEC) != 0) {
        (void)FILES_DO(memfs_set_cloexec(files_fs, to, 1));
    }
    return to;
}

/* ---- reading and writing ---- */

static int64_t read_stream(int stream, void *bytes, size_t len)
{
    ssize_t n;

    if (stream == STREAM_IN) {
        len = len < input_len - input_at ? len : input_len - input_at;
        memcpy(bytes, len > 0 ? input + input_at : "", len);
        input_at += len;
        return (int64_t)len;
    }
    if (stream == STREAM_RANDOM) {
        n = getrandom(bytes, len < COPY_BYTES ? len : COPY_BYTES, 0);
        return n >= 0 ? n : -errno;
    }
    return stream == STREAM_NULL ? 0 : -EBADF;
}

int64_t files_read(int fd, void *bytes, size_t len, int64_t offset)
{
    int64_t n;
    int stream;

    files_lock();
    stream = memfs_stream_of(files_fs, fd);
    if (stream >= 0) {
        n = offset >= 0 && stream < STREAM_NULL ? -ESPIPE : read_stream(stream, bytes, len);
    } else {
        if (files_maps_count > 0) {
            files_maps_flush(fd);
        }
        n = memfs_read(files_fs, fd, bytes, len, offset);
    }
    files_unlock();
    return files_answer(n);
}

int64_t files_write(int fd, const void *bytes, size_t len, int64_t offset)
{
    int64_t n = 0;
    int stream;

    files_lock();
    stream = memfs_stream_of(files_fs, fd);
    if (stream < 0) {
        n = memfs_write(files_fs, fd, bytes, len, offset);
        if (n > 0 && files_maps_count > 0) {
            files_maps_refresh(fd);
        }
    }
    files_unlock();
    if (stream < 0) {
        return files_answer(n);
    }
    if (stream == STREAM_IN) {
        return files_answer(-EBADF);
    }
    if (offset >= 0 && stream < STREAM_NULL) {
        return files_answer(-ESPIPE);
    }
    if (stream == STREAM_OUT || stream == STREAM_ERR) {
        cell_output(stream, bytes, len); /* the numbers are the same */
    }
    return (int64_t)len;
}

/* These two may be short, as libc's may. */
FILES_API ssize_t read(int fd, void *bytes, size_t len) /* short counts handled */
{
    return files_are_on ? files_read(fd, bytes, len, -1) : FILES_REAL(read)(fd, bytes, len);
}

FILES_API ssize_t write(int fd, const void *bytes, size_t len) /* short counts handled */
{
    return files_are_on ? files_write(fd, bytes, len, -1) : FILES_REAL(write)(fd, bytes, len);
}

FILES_API ssize_t pread(int fd, void *bytes, size_t len, off_t offset)
{
    if (!files_are_on) {
        return FILES_REAL(pread)(fd, bytes, len, offset);
    }
    return offset < 0 ? files_answer(-EINVAL) : files_read(fd, bytes, len, offset);
}
FILES_ALSO(pread, pread64);

FILES_API ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
    if (!files_are_on) {
        return FILES_REAL(pwrite)(fd, bytes, len, offset);
    }
    return offset < 0 ? files_answer(-EINVAL) : files_write(fd, bytes, len, offset);
}
FILES_ALSO(pwrite, pwrite64);

/* All parts, up to the first that is not read or written as a whole; offset -1 as above. */
static ssize_t do_parts(int fd, const struct iovec *parts, int count, int64_t offset, int writes)
{
    int64_t done = 0, n = 0;
    int i;

    if (count < 0 || count > IOV_COUNT_MAX) {
        return files_answer(-EINVAL);
    }
    for (i = 0; i < count && (i == 0 || n == (int64_t)parts[i - 1].iov_len); i++) {
        int64_t at = offset < 0 ? -1 : offset + done;

        n = writes ? files_write(fd, parts[i].iov_base, parts[i].iov_len, at)
                   : files_read(fd, parts[i].iov_base, parts[i].iov_len, at);
        if (n < 0) {
            return done > 0 ? done : -1;
        }
        done += n;
    }
    return done;
}

FILES_API ssize_t readv(int fd, const struct iovec *parts, int count)
{
    return files_are_on ? do_parts(fd, parts, count, -1, 0) : FILES_REAL(readv)(fd, parts, count);
}

FILES_API ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return files_are_on ? do_parts(fd, parts, count, -1, 1) : FILES_REAL(writev)(fd, parts, count);
}

FILES_API ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    if (!files_are_on) {
        return FILES_REAL(preadv2)(fd, parts, count, offset, flags);
    }
    return offset < -1 ? files_answer(-EINVAL) : do_parts(fd, parts, count, offset, 0);
}
FILES_ALSO(preadv2, preadv64v2);

FILES_API ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    if (!files_are_on) {
        return FILES_REAL(pwritev2)(fd, parts, count, offset, flags);
    }
    return offset < -1 ? files_answer(-EINVAL) : do_parts(fd, parts, count, offset, 1);
}
FILES_ALSO(pwritev2, pwritev64v2);

int64_t files_lseek(int fd, int64_t offset, int whence)
{
    int stream;
    int64_t r;

    files_lock();
    stream = memfs_stream_of(files_fs, fd);
    r = stream >= STREAM_NULL ? 0
        : stream >= 0         ? -ESPIPE
                              : memfs_lseek(files_fs, fd, offset, whence);
    files_unlock();
    return files_answer(r);
}

FILES_API off_t lseek(int fd, off_t offset, int whence)
{
    return files_are_on ? files_lseek(fd, offset, whence) : FILES_REAL(lseek)(fd, offset, whence);
}
FILES_ALSO(lseek, lseek64);

/* ---- copying from one to another ---- */

static ssize_t copy_between(int from, off_t *from_at, int to, off_t *to_at, size_t len)
{
    char piece[COPY_BYTES];
    int64_t n, put;
    size_t done = 0;

    while (done < len) {
        n = files_read(from, piece, len - done < COPY_BYTES ? len - done : COPY_BYTES,
            from_at != NULL ? *from_at : -1);
        put = n > 0 ? files_write(to, piece, (size_t)n, to_at != NULL ? *to_at : -1) : n;
        if (put <= 0) {
            return done > 0 || put == 0 ? (ssize_t)done : -1;
        }
        if (from_at == NULL && put < n) {
            (void)files_lseek(from, put - n, SEEK_CUR);
        }
        *(from_at != NULL ? from_at : &(off_t){0}) += put;
        *(to_at != NULL ? to_at : &(off_t){0}) += put;
        done += (size_t)put;
    }
    return (ssize_t)done;
}

FILES_API ssize_t sendfile(int to, int from, off_t *offset, size_t len)
{
    return files_are_on ? copy_between(from, offset, to, NULL, len)
                        : FILES_REAL(sendfile)(to, from, offset, len);
}
FILES_ALSO(sendfile, sendfile64);

FILES_API ssize_t copy_file_range(
    int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned flags)
{
    return files_are_on ? copy_between(from, from_at, to, to_at, len)
                        : FILES_REAL(copy_file_range)(from, from_at, to, to_at, len, flags);
}

FILES_API ssize_t splice(
    int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned flags)
{
    return files_are_on ? (ssize_t)files_answer(-EINVAL) /* as when neither end is a pipe */
                        : FILES_REAL(splice)(from, from_at, to, to_at, len, flags);
}
