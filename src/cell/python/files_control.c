/* files_control.c - see files.h: what is known about a descriptor, its size, its flags and its
 * locks. Nobody else has the files of a run open, so every lock is to be had at once. */
#include "cell/python/files_inside.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* 0 for a descriptor that is open. With the lock held. */
static int is_open(int fd)
{
    return memfs_get_flags(files_fs, fd) >= 0 ? 0 : -EBADF;
}

/* ---- status ---- */

static int stat_open(int fd, struct stat *ret)
{
    int stream = memfs_stream_of(files_fs, fd);

    if (stream < 0) {
        return memfs_fstat(files_fs, fd, ret);
    }
    files_stream_stat(stream, ret);
    return 0;
}

FILES_API int fstat(int fd, struct stat *ret)
{
    return files_are_on ? (int)FILES_DO(stat_open(fd, ret)) : FILES_REAL(fstat)(fd, ret);
}
FILES_ALSO(fstat, fstat64);

/* A field of one is named as in the other, but the types differ. */
static int statvfs_of(const char *path, struct statvfs *ret)
{
    struct statfs st;
    int r = memfs_statfs(files_fs, path, &st);

    if (r == 0) {
        *ret = (struct statvfs){.f_bsize = (unsigned long)st.f_bsize,
            .f_frsize = (unsigned long)st.f_bsize,
            .f_blocks = st.f_blocks,
            .f_bfree = st.f_bfree,
            .f_bavail = st.f_bavail,
            .f_files = st.f_files,
            .f_ffree = st.f_ffree,
            .f_favail = st.f_ffree,
            .f_namemax = (unsigned long)st.f_namelen};
    }
    return r;
}

FILES_API int statvfs(const char *path, struct statvfs *ret)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, statvfs_of(path, ret))
                        : FILES_REAL(statvfs)(path, ret);
}
FILES_ALSO(statvfs, statvfs64);

FILES_API int fstatvfs(int fd, struct statvfs *ret)
{
    if (!files_are_on) {
        return FILES_REAL(fstatvfs)(fd, ret);
    }
    return (int)FILES_DO(is_open(fd) < 0 ? -EBADF : files_exist ? statvfs_of("/", ret) : -EPERM);
}
FILES_ALSO(fstatvfs, fstatvfs64);

FILES_API int statfs(const char *path, struct statfs *ret)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, memfs_statfs(files_fs, path, ret))
                        : FILES_REAL(statfs)(path, ret);
}
FILES_ALSO(statfs, statfs64);

FILES_API int fstatfs(int fd, struct statfs *ret)
{
    if (!files_are_on) {
        return FILES_REAL(fstatfs)(fd, ret);
    }
    return (int)FILES_DO(is_open(fd) < 0 ? -EBADF
                         : files_exist   ? memfs_statfs(files_fs, "/", ret)
                                         : -EPERM);
}
FILES_ALSO(fstatfs, fstatfs64);

static long limit_of(int name)
{
    switch (name) {
    case _PC_NAME_MAX:
        return 255;
    case _PC_PATH_MAX:
    case _PC_PIPE_BUF:
        return 4096;
    case _PC_LINK_MAX:
        return 32000;
    default:
        return files_answer(-EINVAL);
    }
}

FILES_API long fpathconf(int fd, int name)
{
    return files_are_on ? limit_of(name) : FILES_REAL(fpathconf)(fd, name);
}

FILES_API long pathconf(const char *path, int name)
{
    return files_are_on ? limit_of(name) : FILES_REAL(pathconf)(path, name);
}

/* There are no terminals. */
FILES_API int isatty(int fd)
{
    if (!files_are_on) {
        return FILES_REAL(isatty)(fd);
    }
    (void)FILES_DO(is_open(fd) < 0 ? -EBADF : -ENOTTY);
    return 0;
}

FILES_API int ttyname_r(int fd, char *name, size_t size)
{
    (void)name;
    return files_are_on ? (FILES_DO(is_open(fd)) < 0 ? EBADF : ENOTTY)
                        : FILES_REAL(ttyname_r)(fd, name, size);
}

/* ---- size and contents ---- */

static int truncate_open(int fd, int64_t size)
{
    int r;

    if (memfs_stream_of(files_fs, fd) >= 0) {
        return -EINVAL;
    }
    if (files_maps_count > 0) {
        files_maps_flush(fd);
    }
    r = memfs_ftruncate(files_fs, fd, size);
    if (files_maps_count > 0) {
        files_maps_refresh(fd);
    }
    return r;
}

FILES_API int ftruncate(int fd, off_t size)
{
    return files_are_on ? (int)FILES_DO(truncate_open(fd, size)) : FILES_REAL(ftruncate)(fd, size);
}
FILES_ALSO(ftruncate, ftruncate64);

static int allocate_open(int fd, int64_t offset, int64_t len)
{
    if (files_maps_count > 0) {
        files_maps_flush(fd);
    }
    return memfs_stream_of(files_fs, fd) >= 0 ? -ESPIPE
                                              : memfs_fallocate(files_fs, fd, offset, len);
}

FILES_API int fallocate(int fd, int mode, off_t offset, off_t len)
{
    if (!files_are_on) {
        return FILES_REAL(fallocate)(fd, mode, offset, len);
    }
    return (int)FILES_DO(mode != 0 ? -EOPNOTSUPP : allocate_open(fd, offset, len));
}
FILES_ALSO(fallocate, fallocate64);

/* This one and the next return what others put into errno. */
FILES_API int posix_fallocate(int fd, off_t offset, off_t len)
{
    int r;

    if (!files_are_on) {
        return FILES_REAL(posix_fallocate)(fd, offset, len);
    }
    files_lock();
    r = allocate_open(fd, offset, len);
    files_unlock();
    return -r;
}
FILES_ALSO(posix_fallocate, posix_fallocate64);

FILES_API int posix_fadvise(int fd, off_t offset, off_t len, int advice)
{
    int r;

    if (!files_are_on) {
        return FILES_REAL(posix_fadvise)(fd, offset, len, advice);
    }
    files_lock();
    r = memfs_stream_of(files_fs, fd) >= 0 ? -ESPIPE : is_open(fd);
    files_unlock();
    return -r;
}
FILES_ALSO(posix_fadvise, posix_fadvise64);

static int sync_open(int fd)
{
    return memfs_stream_of(files_fs, fd) >= 0 ? -EINVAL : memfs_fsync(files_fs, fd);
}

FILES_API int fsync(int fd)
{
    return files_are_on ? (int)FILES_DO(sync_open(fd)) : FILES_REAL(fsync)(fd);
}

FILES_API int fdatasync(int fd)
{
    return files_are_on ? (int)FILES_DO(sync_open(fd)) : FILES_REAL(fdatasync)(fd);
}

FILES_API void sync(void)
{
    if (!files_are_on) {
        FILES_REAL(sync)();
    }
}

FILES_API int fchmod(int fd, mode_t mode)
{
    return files_are_on ? (int)FILES_DO(memfs_fchmod(files_fs, fd, mode))
                        : FILES_REAL(fchmod)(fd, mode);
}

FILES_API int fchown(int fd, uid_t user, gid_t group)
{
    int is_same =
        (user == (uid_t)-1 || user == FILES_USER) && (group == (gid_t)-1 || group == FILES_USER);

    return files_are_on ? (int)FILES_DO(is_open(fd) < 0 ? -EBADF
                                        : is_same       ? 0
                                                        : -EPERM)
                        : FILES_REAL(fchown)(fd, user, group);
}

FILES_API int futimens(int fd, const struct timespec times[2])
{
    const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

    return files_are_on ? (int)FILES_DO(memfs_futimens(files_fs, fd, times != NULL ? times : now))
                        : FILES_REAL(futimens)(fd, times);
}

FILES_API int fchdir(int fd)
{
    return files_are_on ? (int)FILES_DO(memfs_fchdir(files_fs, fd)) : FILES_REAL(fchdir)(fd);
}

/* ---- flags and locks ---- */

static int duplicate(int fd, int least, int cloexec)
{
    int to = memfs_dup(files_fs, fd, least);

    if (to >= 0 && cloexec) {
        (void)memfs_set_cloexec(files_fs, to, 1);
    }
    return to;
}

/* With the lock held. */
static int control(int fd, int what, void *arg)
{
    int number = (int)(intptr_t)arg;
    int r = is_open(fd);

    if (r < 0) {
        return r;
    }
    switch (what) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return duplicate(fd, number, what == F_DUPFD_CLOEXEC);
    case F_GETFD:
        return memfs_get_cloexec(files_fs, fd) != 0 ? FD_CLOEXEC : 0;
    case F_SETFD:
        return memfs_set_cloexec(files_fs, fd, number & FD_CLOEXEC);
    case F_GETFL:
        return memfs_get_flags(files_fs, fd);
    case F_SETFL:
        return memfs_set_flags(files_fs, fd, number);
    case F_GETLK:
    case F_OFD_GETLK:
        ((struct flock *)arg)->l_type = F_UNLCK;
        return 0;
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        return 0;
    default:
        return -EINVAL;
    }
}

FILES_API int fcntl(int fd, int what, ...)
{
    va_list rest;
    void *arg;

    va_start(rest, what);
    arg = va_arg(rest, void *);
    va_end(rest);
    return files_are_on ? (int)FILES_DO(control(fd, what, arg)) : FILES_REAL(fcntl)(fd, what, arg);
}
FILES_ALSO(fcntl, fcntl64);

FILES_API int flock(int fd, int what)
{
    return files_are_on ? (int)FILES_DO(is_open(fd)) : FILES_REAL(flock)(fd, what);
}

FILES_API int lockf(int fd, int what, off_t len)
{
    return files_are_on ? (int)FILES_DO(is_open(fd)) : FILES_REAL(lockf)(fd, what, len);
}
FILES_ALSO(lockf, lockf64);

static int control_device(int fd, unsigned long what)
{
    if (is_open(fd) < 0) {
        return -EBADF;
    }
    if (what == FIOCLEX || what == FIONCLEX) {
        return memfs_set_cloexec(files_fs, fd, what == FIOCLEX);
    }
    return what == FIONBIO ? 0 : -ENOTTY;
}

FILES_API int ioctl(int fd, unsigned long what, ...)
{
    va_list rest;
    void *arg;

    va_start(rest, what);
    arg = va_arg(rest, void *);
    va_end(rest);
    return files_are_on ? (int)FILES_DO(control_device(fd, what))
                        : FILES_REAL(ioctl)(fd, what, arg);
}
