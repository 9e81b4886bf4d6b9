/* files.c - see files.h. */
#include "cell/js/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "cell/js/context.h"
#include "cell/js/native.h"
#include "jail/root.h"

enum {
    OWN_FDS_MAX = 3,                       /* 0, 1, 2 and the control socket */
    COPY_BYTES = 65536,                    /* at a time */
    STAT_NUMBERS = 18,                     /* see stat_array */
    LISTING_BYTES_MAX = 512 * 1024 * 1024, /* more than the largest number of files can have */
    TEXT_BYTES_MAX = 1024 * 1024,
};

static JSValueRef number(JSContextRef ctx, int64_t r)
{
    return JSValueMakeNumber(ctx, (double)(r < 0 ? -errno : r));
}

static JSValueRef failure(JSContextRef ctx, int sys)
{
    return JSValueMakeNumber(ctx, -sys);
}

/* Programs expect /tmp. It is a link into the private directory, and what it points to is made when
 * somebody first asks. */
static void make_tmp(const char *path)
{
    static int made;

    if (!made && (strcmp(path, "/tmp") == 0 || strncmp(path, "/tmp/", 5) == 0)) {
        made = mkdir(ROOT_TMP_DIR, 0777) == 0 || errno == EEXIST;
    }
}

/* An argument as a path; 0, or an errno. */
static int take_path(
    JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t index, char path[PATH_MAX])
{
    JSStringRef string;
    struct buf text;
    int sys = EINVAL;

    if (index >= argc || !JSValueIsString(ctx, argv[index])) {
        return EINVAL;
    }
    string = JSValueToStringCopy(ctx, argv[index], NULL);
    if (string == NULL) {
        return ENOMEM;
    }
    buf_init(&text, TEXT_BYTES_MAX);
    if (js_string_to_utf8(string, &text) < 0 || text.len >= PATH_MAX) {
        sys = ENAMETOOLONG;
    } else if (text.len == 0 || memchr(text.data, '\0', text.len) == NULL) {
        memcpy(path, text.len > 0 ? text.data : "", text.len);
        path[text.len] = '\0';
        make_tmp(path);
        sys = 0;
    }
    buf_release(&text);
    JSStringRelease(string);
    return sys;
}

static int take_fd(JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t index)
{
    int64_t fd = native_integer(ctx, argc, argv, index, -1);

    return fd > OWN_FDS_MAX && fd <= INT_MAX ? (int)fd : -1;
}

static unsigned take_mode(JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t index)
{
    return (unsigned)native_integer(ctx, argc, argv, index, 0) & 07777;
}

/* A NATIVE whose first argument is a path. */
#define ON_PATH(name, expression)                                                                  \
    NATIVE(name)                                                                                   \
    {                                                                                              \
        char path[PATH_MAX];                                                                       \
        int sys = take_path(ctx, argc, argv, 0, path);                                             \
                                                                                                   \
        NATIVE_UNUSED;                                                                             \
        return sys != 0 ? failure(ctx, sys) : number(ctx, (expression));                           \
    }

/* A NATIVE whose first two arguments are paths. */
#define ON_PATHS(name, expression)                                                                 \
    NATIVE(name)                                                                                   \
    {                                                                                              \
        char path[PATH_MAX], other[PATH_MAX];                                                      \
        int sys = take_path(ctx, argc, argv, 0, path);                                             \
                                                                                                   \
        NATIVE_UNUSED;                                                                             \
        sys = sys != 0 ? sys : take_path(ctx, argc, argv, 1, other);                               \
        return sys != 0 ? failure(ctx, sys) : number(ctx, (expression));                           \
    }

/* A NATIVE whose first argument is a descriptor. */
#define ON_FD(name, expression)                                                                    \
    NATIVE(name)                                                                                   \
    {                                                                                              \
        int fd = take_fd(ctx, argc, argv, 0);                                                      \
                                                                                                   \
        NATIVE_UNUSED;                                                                             \
        return fd < 0 ? failure(ctx, EBADF) : number(ctx, (expression));                           \
    }

ON_PATH(files_open,
    open(path, ((int)native_integer(ctx, argc, argv, 1, 0) & ~O_NONBLOCK) | O_CLOEXEC | O_NOCTTY,
        take_mode(ctx, argc, argv, 2)))
ON_PATH(files_mkdir, mkdir(path, take_mode(ctx, argc, argv, 1)))
ON_PATH(files_rmdir, rmdir(path))
ON_PATH(files_unlink, unlink(path))
ON_PATH(files_chmod, chmod(path, take_mode(ctx, argc, argv, 1)))
ON_PATH(files_truncate, truncate(path, native_integer(ctx, argc, argv, 1, -1)))
ON_PATH(files_access, access(path, (int)native_integer(ctx, argc, argv, 1, 0) & 7))
ON_PATH(files_chdir, chdir(path))
ON_PATHS(files_rename, rename(path, other))
ON_PATHS(files_link, link(path, other))
ON_PATHS(files_symlink, symlink(path, other))
ON_FD(files_close, close(fd))
ON_FD(files_fchmod, fchmod(fd, take_mode(ctx, argc, argv, 1)))
ON_FD(files_ftruncate, ftruncate(fd, native_integer(ctx, argc, argv, 1, -1)))
ON_FD(files_fsync, fsync(fd))

NATIVE(files_available)
{
    (void)argc;
    (void)argv;
    NATIVE_UNUSED;
    return JSValueMakeBoolean(ctx, access(ROOT_WORK_DIR, F_OK) == 0);
}

/* (fd, bytes, offset, length, position), position -1 for where the file is. */
NATIVE(files_read)
{
    int fd = take_fd(ctx, argc, argv, 0);
    int64_t position = native_integer(ctx, argc, argv, 4, -1);
    size_t len = 0;
    char *bytes = native_bytes(ctx, argc, argv, 1, &len);

    NATIVE_UNUSED;
    if (fd < 0 || bytes == NULL) {
        return failure(ctx, fd < 0 ? EBADF : EINVAL);
    }
    return number(ctx, position >= 0 ? pread(fd, bytes, len, position)
                                     : read(fd, bytes, len)); /* short counts handled */
}

NATIVE(files_write)
{
    int fd = take_fd(ctx, argc, argv, 0);
    int64_t position = native_integer(ctx, argc, argv, 4, -1);
    size_t len = 0;
    const char *bytes = native_bytes(ctx, argc, argv, 1, &len);

    NATIVE_UNUSED;
    if (fd < 0 || bytes == NULL) {
        return failure(ctx, fd < 0 ? EBADF : EINVAL);
    }
    return number(ctx, position >= 0 ? pwrite(fd, bytes, len, position)
                                     : write(fd, bytes, len)); /* short counts handled */
}

/* Numbers are no objects of the engine, so an array of them in our memory is safe from it. */
static JSValueRef stat_array(JSContextRef ctx, const struct stat *st)
{
    const double v[STAT_NUMBERS] = {(double)st->st_mode, (double)st->st_nlink, (double)st->st_uid,
        (double)st->st_gid, (double)st->st_rdev, (double)st->st_blksize, (double)st->st_ino,
        (double)st->st_size, (double)st->st_blocks, (double)st->st_atim.tv_sec,
        (double)st->st_atim.tv_nsec, (double)st->st_mtim.tv_sec, (double)st->st_mtim.tv_nsec,
        (double)st->st_ctim.tv_sec, (double)st->st_ctim.tv_nsec, 0, 0, 0};
    JSValueRef values[STAT_NUMBERS];
    size_t i;

    for (i = 0; i < STAT_NUMBERS; i++) {
        values[i] = JSValueMakeNumber(ctx, v[i]);
    }
    return JSObjectMakeArray(ctx, STAT_NUMBERS, values, NULL);
}

static JSValueRef stat_path(JSContextRef ctx, size_t argc, const JSValueRef argv[], int flags)
{
    char path[PATH_MAX];
    struct stat st;
    int sys = take_path(ctx, argc, argv, 0, path);

    if (sys == 0 && fstatat(AT_FDCWD, path, &st, flags) < 0) {
        sys = errno;
    }
    return sys != 0 ? failure(ctx, sys) : stat_array(ctx, &st);
}

NATIVE(files_stat)
{
    NATIVE_UNUSED;
    return stat_path(ctx, argc, argv, 0);
}

NATIVE(files_lstat)
{
    NATIVE_UNUSED;
    return stat_path(ctx, argc, argv, AT_SYMLINK_NOFOLLOW);
}

NATIVE(files_fstat)
{
    int fd = take_fd(ctx, argc, argv, 0);
    struct stat st;

    NATIVE_UNUSED;
    if (fd < 0 || fstat(fd, &st) < 0) {
        return failure(ctx, fd < 0 ? EBADF : errno);
    }
    return stat_array(ctx, &st);
}

NATIVE(files_statfs)
{
    char path[PATH_MAX];
    struct statfs st;
    int sys = take_path(ctx, argc, argv, 0, path);
    JSValueRef values[7];

    NATIVE_UNUSED;
    if (sys == 0 && statfs(path, &st) < 0) {
        sys = errno;
    }
    if (sys != 0) {
        return failure(ctx, sys);
    }
    values[0] = JSValueMakeNumber(ctx, (double)st.f_type);
    values[1] = JSValueMakeNumber(ctx, (double)st.f_bsize);
    values[2] = JSValueMakeNumber(ctx, (double)st.f_blocks);
    values[3] = JSValueMakeNumber(ctx, (double)st.f_bfree);
    values[4] = JSValueMakeNumber(ctx, (double)st.f_bavail);
    values[5] = JSValueMakeNumber(ctx, (double)st.f_files);
    values[6] = JSValueMakeNumber(ctx, (double)st.f_ffree);
    return JSObjectMakeArray(ctx, 7, values, NULL);
}

/* One entry as a digit for what it is (as d_type has it, in base 36), its name, and a slash. */
static int add_entry(struct buf *out, const struct dirent *e)
{
    static const char digits[] = "0123456789abcdef";
    char kind = digits[e->d_type & 15];

    return buf_add(out, &kind, 1, NULL) < 0 || buf_add_text(out, e->d_name, NULL) < 0 ||
                   buf_add(out, "/", 1, NULL) < 0
               ? -1
               : 0;
}

NATIVE(files_readdir)
{
    char path[PATH_MAX];
    const struct dirent *e;
    JSValueRef value;
    struct buf out;
    int sys = take_path(ctx, argc, argv, 0, path);
    DIR *dir = sys == 0 ? opendir(path) : NULL;

    NATIVE_UNUSED;
    if (dir == NULL) {
        return failure(ctx, sys != 0 ? sys : errno);
    }
    buf_init(&out, LISTING_BYTES_MAX);
    while (sys == 0 && (e = readdir(dir)) != NULL) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && add_entry(&out, e) < 0) {
            sys = ENOMEM;
        }
    }
    (void)closedir(dir);
    value = sys != 0 ? failure(ctx, sys) : native_text(ctx, out.len > 0 ? out.data : "", out.len);
    buf_release(&out);
    return value;
}

NATIVE(files_readlink)
{
    char path[PATH_MAX], target[PATH_MAX];
    int sys = take_path(ctx, argc, argv, 0, path);
    ssize_t n = sys == 0 ? readlink(path, target, sizeof(target)) : -1;

    NATIVE_UNUSED;
    return n < 0 ? failure(ctx, sys != 0 ? sys : errno) : native_text(ctx, target, (size_t)n);
}

NATIVE(files_realpath)
{
    char path[PATH_MAX], resolved[PATH_MAX];
    int sys = take_path(ctx, argc, argv, 0, path);

    NATIVE_UNUSED;
    if (sys != 0 || realpath(path, resolved) == NULL) {
        return failure(ctx, sys != 0 ? sys : errno);
    }
    return native_text(ctx, resolved, strlen(resolved));
}

NATIVE(files_getcwd)
{
    char path[PATH_MAX];

    (void)argc;
    (void)argv;
    NATIVE_UNUSED;
    return getcwd(path, sizeof(path)) == NULL ? failure(ctx, errno)
                                              : native_text(ctx, path, strlen(path));
}

NATIVE(files_mkdtemp)
{
    char path[PATH_MAX];
    int sys = take_path(ctx, argc, argv, 0, path);

    NATIVE_UNUSED;
    if (sys != 0 || mkdtemp(path) == NULL) {
        return failure(ctx, sys != 0 ? sys : errno);
    }
    return native_text(ctx, path, strlen(path));
}

static struct timespec take_time(
    JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t index)
{
    struct timespec t = {.tv_sec = native_integer(ctx, argc, argv, index, 0),
        .tv_nsec = native_integer(ctx, argc, argv, index + 1, 0)};

    return t;
}

/* (path, seconds, nanoseconds, seconds, nanoseconds, nofollow) */
NATIVE(files_utimes)
{
    char path[PATH_MAX];
    struct timespec times[2] = {take_time(ctx, argc, argv, 1), take_time(ctx, argc, argv, 3)};
    int flags = native_integer(ctx, argc, argv, 5, 0) != 0 ? AT_SYMLINK_NOFOLLOW : 0;
    int sys = take_path(ctx, argc, argv, 0, path);

    NATIVE_UNUSED;
    return sys != 0 ? failure(ctx, sys) : number(ctx, utimensat(AT_FDCWD, path, times, flags));
}

NATIVE(files_futimes)
{
    struct timespec times[2] = {take_time(ctx, argc, argv, 1), take_time(ctx, argc, argv, 3)};
    int fd = take_fd(ctx, argc, argv, 0);

    NATIVE_UNUSED;
    return fd < 0 ? failure(ctx, EBADF) : number(ctx, futimens(fd, times));
}

/* Copies what is open; 0, or an errno. */
static int copy_bytes(int from, int to)
{
    static char piece[COPY_BYTES];
    ssize_t n;

    do {
        n = read(from, piece, sizeof(piece)); /* short counts handled */
        if (n < 0 || (n > 0 && fd_write_all(to, piece, (size_t)n) < 0)) {
            return errno;
        }
    } while (n > 0);
    return 0;
}

static int copy_file(const char *from_path, const char *to_path, int exclusive)
{
    int from = open(from_path, O_RDONLY | O_CLOEXEC);
    int to = -1, sys;
    struct stat a, b;

    if (from < 0 || fstat(from, &a) < 0) {
        sys = errno;
    } else if (S_ISDIR(a.st_mode)) {
        sys = EISDIR;
    } else if (!exclusive && stat(to_path, &b) == 0 && a.st_ino == b.st_ino &&
               a.st_dev == b.st_dev) {
        sys = 0; /* it is there already */
    } else {
        to = open(to_path, O_WRONLY | O_CREAT | O_CLOEXEC | (exclusive ? O_EXCL : O_TRUNC),
            a.st_mode & 0777);
        sys = to < 0 ? errno : copy_bytes(from, to);
        if (sys == 0 && fchmod(to, a.st_mode & 0777) < 0) {
            sys = errno;
        }
    }
    fd_closep(&from);
    fd_closep(&to);
    return sys;
}

NATIVE(files_copy)
{
    char path[PATH_MAX], other[PATH_MAX];
    int sys = take_path(ctx, argc, argv, 0, path);

    NATIVE_UNUSED;
    sys = sys != 0 ? sys : take_path(ctx, argc, argv, 1, other);
    sys = sys != 0 ? sys : copy_file(path, other, native_integer(ctx, argc, argv, 2, 0) != 0);
    return failure(ctx, sys);
}

NATIVE(files_umask)
{
    NATIVE_UNUSED;
    return number(ctx, umask(take_mode(ctx, argc, argv, 0) & 0777));
}

static const struct native_row ROWS[] = {
    {"available", files_available},
    {"open", files_open},
    {"close", files_close},
    {"read", files_read},
    {"write", files_write},
    {"stat", files_stat},
    {"lstat", files_lstat},
    {"fstat", files_fstat},
    {"statfs", files_statfs},
    {"readdir", files_readdir},
    {"mkdir", files_mkdir},
    {"rmdir", files_rmdir},
    {"unlink", files_unlink},
    {"rename", files_rename},
    {"link", files_link},
    {"symlink", files_symlink},
    {"readlink", files_readlink},
    {"realpath", files_realpath},
    {"chmod", files_chmod},
    {"fchmod", files_fchmod},
    {"utimes", files_utimes},
    {"futimes", files_futimes},
    {"truncate", files_truncate},
    {"ftruncate", files_ftruncate},
    {"access", files_access},
    {"copy", files_copy},
    {"mkdtemp", files_mkdtemp},
    {"fsync", files_fsync},
    {"getcwd", files_getcwd},
    {"chdir", files_chdir},
    {"umask", files_umask},
};

void js_files_add(JSContextRef ctx, JSObjectRef native)
{
    native_add_object(ctx, native, "files", ROWS, sizeof(ROWS) / sizeof(ROWS[0]));
}
