/* files_path.c - see files.h: what is done with paths. Those that begin at an open directory and
 * those that begin at the working directory are one function each. */
#include "cell/python/files_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

char *__realpath_chk(const char *path, char *resolved, size_t size);

/* ---- status ---- */

static int stat_path(int dirfd, const char *path, struct stat *ret, int flags)
{
    int stream = files_device(path);

    if (stream >= 0) {
        files_stream_stat(stream, ret);
        return 0;
    }
    if (path != NULL && path[0] == '\0' && (flags & AT_EMPTY_PATH) != 0) {
        return fstat(dirfd, ret);
    }
    return (int)FILES_AT(dirfd, path,
        (flags & AT_SYMLINK_NOFOLLOW) != 0 ? memfs_lstat(files_fs, path, ret)
                                           : memfs_stat(files_fs, path, ret));
}

FILES_API int stat(const char *path, struct stat *ret)
{
    return files_are_on ? stat_path(AT_FDCWD, path, ret, 0) : FILES_REAL(stat)(path, ret);
}
FILES_ALSO(stat, stat64);

FILES_API int lstat(const char *path, struct stat *ret)
{
    return files_are_on ? stat_path(AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW)
                        : FILES_REAL(lstat)(path, ret);
}
FILES_ALSO(lstat, lstat64);

FILES_API int fstatat(int dirfd, const char *path, struct stat *ret, int flags)
{
    return files_are_on ? stat_path(dirfd, path, ret, flags)
                        : FILES_REAL(fstatat)(dirfd, path, ret, flags);
}
FILES_ALSO(fstatat, fstatat64);

static int access_path(int dirfd, const char *path, int mode)
{
    if (files_device(path) >= 0) {
        return (mode & X_OK) != 0 ? (int)files_answer(-EACCES) : 0;
    }
    return (int)FILES_AT(dirfd, path, memfs_access(files_fs, path, mode));
}

FILES_API int access(const char *path, int mode)
{
    return files_are_on ? access_path(AT_FDCWD, path, mode) : FILES_REAL(access)(path, mode);
}

FILES_API int faccessat(int dirfd, const char *path, int mode, int flags)
{
    return files_are_on ? access_path(dirfd, path, mode)
                        : FILES_REAL(faccessat)(dirfd, path, mode, flags);
}

/* ---- properties ---- */

/* A link has no mode of its own. */
static int chmod_path(const char *path, uint32_t mode, int flags)
{
    struct stat st;
    int r = (flags & AT_SYMLINK_NOFOLLOW) != 0 ? memfs_lstat(files_fs, path, &st) : 0;

    if (r == 0 && (flags & AT_SYMLINK_NOFOLLOW) != 0 && S_ISLNK(st.st_mode)) {
        return -EOPNOTSUPP;
    }
    return r < 0 ? r : memfs_chmod(files_fs, path, mode);
}

FILES_API int chmod(const char *path, mode_t mode)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, chmod_path(path, mode, 0))
                        : FILES_REAL(chmod)(path, mode);
}

FILES_API int fchmodat(int dirfd, const char *path, mode_t mode, int flags)
{
    return files_are_on ? (int)FILES_AT(dirfd, path, chmod_path(path, mode, flags))
                        : FILES_REAL(fchmodat)(dirfd, path, mode, flags);
}

/* There is one user, to whom everything may be given that is his already. */
static int chown_path(const char *path, uid_t user, gid_t group, int flags)
{
    struct stat st;
    int r = (flags & AT_SYMLINK_NOFOLLOW) != 0 ? memfs_lstat(files_fs, path, &st)
                                               : memfs_stat(files_fs, path, &st);

    if (r < 0) {
        return r;
    }
    return (user == (uid_t)-1 || user == FILES_USER) && (group == (gid_t)-1 || group == FILES_USER)
               ? 0
               : -EPERM;
}

FILES_API int chown(const char *path, uid_t user, gid_t group)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, chown_path(path, user, group, 0))
                        : FILES_REAL(chown)(path, user, group);
}

FILES_API int lchown(const char *path, uid_t user, gid_t group)
{
    return files_are_on
               ? (int)FILES_AT(AT_FDCWD, path, chown_path(path, user, group, AT_SYMLINK_NOFOLLOW))
               : FILES_REAL(lchown)(path, user, group);
}

FILES_API int fchownat(int dirfd, const char *path, uid_t user, gid_t group, int flags)
{
    return files_are_on ? (int)FILES_AT(dirfd, path, chown_path(path, user, group, flags))
                        : FILES_REAL(fchownat)(dirfd, path, user, group, flags);
}

static int set_times(int dirfd, const char *path, const struct timespec times[2], int flags)
{
    const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

    return (int)FILES_AT(dirfd, path,
        memfs_utimens(
            files_fs, path, times != NULL ? times : now, (flags & AT_SYMLINK_NOFOLLOW) != 0));
}

FILES_API int utimensat(int dirfd, const char *path, const struct timespec times[2], int flags)
{
    return files_are_on ? set_times(dirfd, path, times, flags)
                        : FILES_REAL(utimensat)(dirfd, path, times, flags);
}

FILES_API int utime(const char *path, const struct utimbuf *times)
{
    struct timespec at[2];

    if (!files_are_on) {
        return FILES_REAL(utime)(path, times);
    }
    if (times != NULL) {
        at[0] = (struct timespec){.tv_sec = times->actime};
        at[1] = (struct timespec){.tv_sec = times->modtime};
    }
    return set_times(AT_FDCWD, path, times != NULL ? at : NULL, 0);
}

FILES_API int utimes(const char *path, const struct timeval times[2])
{
    struct timespec at[2];

    if (!files_are_on) {
        return FILES_REAL(utimes)(path, times);
    }
    if (times != NULL) {
        TIMEVAL_TO_TIMESPEC(&times[0], &at[0]);
        TIMEVAL_TO_TIMESPEC(&times[1], &at[1]);
    }
    return set_times(AT_FDCWD, path, times != NULL ? at : NULL, 0);
}

FILES_API int truncate(const char *path, off_t size)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, memfs_truncate(files_fs, path, size))
                        : FILES_REAL(truncate)(path, size);
}
FILES_ALSO(truncate, truncate64);

FILES_API mode_t umask(mode_t mask)
{
    return files_are_on ? (mode_t)FILES_DO(memfs_umask(files_fs, mask)) : FILES_REAL(umask)(mask);
}

/* ---- where we are ---- */

FILES_API int chdir(const char *path)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, memfs_chdir(files_fs, path))
                        : FILES_REAL(chdir)(path);
}

FILES_API char *getcwd(char *text, size_t size)
{
    char path[PATH_MAX];

    if (!files_are_on) {
        return FILES_REAL(getcwd)(text, size);
    }
    if (FILES_AT(AT_FDCWD, ".", memfs_getcwd(files_fs, path)) < 0) {
        return NULL;
    }
    if (text == NULL && size == 0) {
        return strdup(path);
    }
    if (strlen(path) + 1 > size) {
        errno = size == 0 ? EINVAL : ERANGE;
        return NULL;
    }
    text = text != NULL ? text : malloc(size);
    return text != NULL ? memcpy(text, path, strlen(path) + 1) : NULL;
}

FILES_API char *get_current_dir_name(void)
{
    return files_are_on ? getcwd(NULL, 0) : FILES_REAL(get_current_dir_name)();
}

FILES_API char *realpath(const char *path, char *resolved)
{
    char text[PATH_MAX];

    if (!files_are_on) {
        return FILES_REAL(realpath)(path, resolved);
    }
    if (path == NULL) {
        errno = EINVAL;
        return NULL;
    }
    if (FILES_AT(AT_FDCWD, path, memfs_realpath(files_fs, path, text)) < 0) {
        return NULL;
    }
    return resolved != NULL ? memcpy(resolved, text, strlen(text) + 1) : strdup(text);
}

FILES_API char *__realpath_chk(const char *path, char *resolved, size_t size)
{
    if (size < PATH_MAX) {
        abort(); /* the caller's bug, as libc sees it */
    }
    return realpath(path, resolved);
}

/* ---- names ---- */

FILES_API int mkdir(const char *path, mode_t mode)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, memfs_mkdir(files_fs, path, mode))
                        : FILES_REAL(mkdir)(path, mode);
}

FILES_API int mkdirat(int dirfd, const char *path, mode_t mode)
{
    return files_are_on ? (int)FILES_AT(dirfd, path, memfs_mkdir(files_fs, path, mode))
                        : FILES_REAL(mkdirat)(dirfd, path, mode);
}

FILES_API int rmdir(const char *path)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, memfs_rmdir(files_fs, path))
                        : FILES_REAL(rmdir)(path);
}

FILES_API int unlink(const char *path)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, memfs_unlink(files_fs, path))
                        : FILES_REAL(unlink)(path);
}

FILES_API int unlinkat(int dirfd, const char *path, int flags)
{
    if (!files_are_on) {
        return FILES_REAL(unlinkat)(dirfd, path, flags);
    }
    return (int)FILES_AT(dirfd, path,
        (flags & AT_REMOVEDIR) != 0 ? memfs_rmdir(files_fs, path) : memfs_unlink(files_fs, path));
}

static int remove_path(const char *path)
{
    int r = memfs_unlink(files_fs, path);

    return r == -EISDIR ? memfs_rmdir(files_fs, path) : r;
}

FILES_API int remove(const char *path)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, remove_path(path))
                        : FILES_REAL(remove)(path);
}

static int64_t read_link(const char *path, char *text, size_t size)
{
    char target[PATH_MAX];
    size_t len;
    int r = memfs_readlink(files_fs, path, target);

    if (r < 0) {
        return r;
    }
    len = strlen(target) < size ? strlen(target) : size;
    memcpy(text, target, len);
    return (int64_t)len;
}

FILES_API ssize_t readlink(const char *path, char *text, size_t size)
{
    return files_are_on ? FILES_AT(AT_FDCWD, path, read_link(path, text, size))
                        : FILES_REAL(readlink)(path, text, size);
}

FILES_API ssize_t readlinkat(int dirfd, const char *path, char *text, size_t size)
{
    return files_are_on ? FILES_AT(dirfd, path, read_link(path, text, size))
                        : FILES_REAL(readlinkat)(dirfd, path, text, size);
}

FILES_API int symlink(const char *target, const char *path)
{
    return files_are_on ? (int)FILES_AT(AT_FDCWD, path, memfs_symlink(files_fs, target, path))
                        : FILES_REAL(symlink)(target, path);
}

FILES_API int symlinkat(const char *target, int dirfd, const char *path)
{
    return files_are_on ? (int)FILES_AT(dirfd, path, memfs_symlink(files_fs, target, path))
                        : FILES_REAL(symlinkat)(target, dirfd, path);
}

/* ---- two paths ---- */

/* A path that begins at a directory as one that begins at the root: of two only one could begin at
 * a directory that is not the working one. With the lock held. */
static int whole_path(int dirfd, const char *path, char whole[PATH_MAX])
{
    size_t len = strlen(path), before = 0;
    int r;

    if (dirfd != AT_FDCWD && path[0] != '/' && len > 0) {
        r = memfs_fd_path(files_fs, dirfd, whole);
        if (r < 0) {
            return r;
        }
        before = strlen(whole) + 1;
        whole[before - 1] = '/';
    }
    if (before + len >= PATH_MAX) {
        return -ENAMETOOLONG;
    }
    memcpy(whole + before, path, len + 1);
    return 0;
}

static int on_two(int from_dirfd, const char *from, int to_dirfd, const char *to, int follow,
    int (*change)(struct memfs *, const char *, const char *))
{
    char from_whole[PATH_MAX], to_whole[PATH_MAX];
    int r;

    if (from == NULL || to == NULL || !files_exist) {
        return (int)files_answer(files_exist ? -EFAULT : -EPERM);
    }
    files_lock();
    r = whole_path(from_dirfd, from, from_whole);
    r = r < 0 ? r : whole_path(to_dirfd, to, to_whole);
    if (r == 0 && follow) {
        r = memfs_realpath(files_fs, from_whole, from_whole);
    }
    r = r < 0 ? r : change(files_fs, from_whole, to_whole);
    files_unlock();
    return (int)files_answer(r);
}

FILES_API int rename(const char *from, const char *to)
{
    return files_are_on ? on_two(AT_FDCWD, from, AT_FDCWD, to, 0, memfs_rename)
                        : FILES_REAL(rename)(from, to);
}

FILES_API int renameat(int from_dirfd, const char *from, int to_dirfd, const char *to)
{
    return files_are_on ? on_two(from_dirfd, from, to_dirfd, to, 0, memfs_rename)
                        : FILES_REAL(renameat)(from_dirfd, from, to_dirfd, to);
}

FILES_API int link(const char *from, const char *to)
{
    return files_are_on ? on_two(AT_FDCWD, from, AT_FDCWD, to, 0, memfs_link)
                        : FILES_REAL(link)(from, to);
}

FILES_API int linkat(int from_dirfd, const char *from, int to_dirfd, const char *to, int flags)
{
    return files_are_on ? on_two(from_dirfd, from, to_dirfd, to, (flags & AT_SYMLINK_FOLLOW) != 0,
                              memfs_link)
                        : FILES_REAL(linkat)(from_dirfd, from, to_dirfd, to, flags);
}

/* ---- what there is not ---- */

FILES_API int mkfifo(const char *path, mode_t mode)
{
    return files_are_on ? (int)files_answer(-EPERM) : FILES_REAL(mkfifo)(path, mode);
}

FILES_API int mkfifoat(int dirfd, const char *path, mode_t mode)
{
    return files_are_on ? (int)files_answer(-EPERM) : FILES_REAL(mkfifoat)(dirfd, path, mode);
}

FILES_API int mknod(const char *path, mode_t mode, dev_t device)
{
    return files_are_on ? (int)files_answer(-EPERM) : FILES_REAL(mknod)(path, mode, device);
}

FILES_API int mknodat(int dirfd, const char *path, mode_t mode, dev_t device)
{
    return files_are_on ? (int)files_answer(-EPERM)
                        : FILES_REAL(mknodat)(dirfd, path, mode, device);
}

/* Extended attributes: the same for a path, a link and a descriptor. */
#define NO_ATTRIBUTES(type, name, parameters, call)                                                \
    FILES_API type name parameters                                                                 \
    {                                                                                              \
        return files_are_on ? (type)files_answer(-ENOTSUP) : (call);                               \
    }

NO_ATTRIBUTES(ssize_t, getxattr, (const char *path, const char *name, void *value, size_t size),
    FILES_REAL(getxattr)(path, name, value, size))
NO_ATTRIBUTES(ssize_t, lgetxattr, (const char *path, const char *name, void *value, size_t size),
    FILES_REAL(lgetxattr)(path, name, value, size))
NO_ATTRIBUTES(ssize_t, fgetxattr, (int fd, const char *name, void *value, size_t size),
    FILES_REAL(fgetxattr)(fd, name, value, size))
NO_ATTRIBUTES(ssize_t, listxattr, (const char *path, char *list, size_t size),
    FILES_REAL(listxattr)(path, list, size))
NO_ATTRIBUTES(ssize_t, llistxattr, (const char *path, char *list, size_t size),
    FILES_REAL(llistxattr)(path, list, size))
NO_ATTRIBUTES(
    ssize_t, flistxattr, (int fd, char *list, size_t size), FILES_REAL(flistxattr)(fd, list, size))
NO_ATTRIBUTES(int, setxattr,
    (const char *path, const char *name, const void *value, size_t size, int flags),
    FILES_REAL(setxattr)(path, name, value, size, flags))
NO_ATTRIBUTES(int, lsetxattr,
    (const char *path, const char *name, const void *value, size_t size, int flags),
    FILES_REAL(lsetxattr)(path, name, value, size, flags))
NO_ATTRIBUTES(int, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags),
    FILES_REAL(fsetxattr)(fd, name, value, size, flags))
NO_ATTRIBUTES(
    int, removexattr, (const char *path, const char *name), FILES_REAL(removexattr)(path, name))
NO_ATTRIBUTES(
    int, lremovexattr, (const char *path, const char *name), FILES_REAL(lremovexattr)(path, name))
NO_ATTRIBUTES(int, fremovexattr, (int fd, const char *name), FILES_REAL(fremovexattr)(fd, name))
