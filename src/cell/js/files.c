/* files.c - see files.h. */
#include "cell/js/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "cell/js/context.h"
#include "cell/js/native.h"
#include "cell/memfs.h"

enum {
    STAT_NUMBERS = 18,                     /* see stat_array */
    LISTING_BYTES_MAX = 512 * 1024 * 1024, /* more than the largest number of files can have */
    TEXT_BYTES_MAX = 1024 * 1024,
};

/* Of the run in progress; NULL: it has none, and every function fails with EPERM. */
static struct memfs *fs;

void js_files_start(const struct guest_start *start)
{
    fs = start->files;
}

/* A result below 0 is -errno already. */
static JSValueRef number(JSContextRef ctx, int64_t r)
{
    return JSValueMakeNumber(ctx, (double)r);
}

static JSValueRef failure(JSContextRef ctx, int sys)
{
    return JSValueMakeNumber(ctx, -sys);
}

/* An argument as a path; 0, or an errno. */
static int take_path(
    JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t index, char path[PATH_MAX])
{
    JSStringRef string;
    struct buf text;
    int sys = EINVAL;

    if (fs == NULL) {
        return EPERM;
    }
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
        sys = 0;
    }
    buf_release(&text);
    JSStringRelease(string);
    return sys;
}

/* An argument as a descriptor; 0, or an errno. */
static int take_fd(JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t index, int *ret)
{
    int64_t fd = native_integer(ctx, argc, argv, index, -1);

    if (fs == NULL) {
        return EPERM;
    }
    *ret = (int)fd;
    return fd >= MEMFS_FD_FIRST && fd <= INT_MAX ? 0 : EBADF;
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
        int fd = -1;                                                                               \
        int sys = take_fd(ctx, argc, argv, 0, &fd);                                                \
                                                                                                   \
        NATIVE_UNUSED;                                                                             \
        return sys != 0 ? failure(ctx, sys) : number(ctx, (expression));                           \
    }

ON_PATH(files_open, memfs_open(fs, path, (int)native_integer(ctx, argc, argv, 1, 0) & ~O_NONBLOCK,
                        take_mode(ctx, argc, argv, 2)))
ON_PATH(files_mkdir, memfs_mkdir(fs, path, take_mode(ctx, argc, argv, 1)))
ON_PATH(files_rmdir, memfs_rmdir(fs, path))
ON_PATH(files_unlink, memfs_unlink(fs, path))
ON_PATH(files_chmod, memfs_chmod(fs, path, take_mode(ctx, argc, argv, 1)))
ON_PATH(files_truncate, memfs_truncate(fs, path, native_integer(ctx, argc, argv, 1, -1)))
ON_PATH(files_access, memfs_access(fs, path, (int)native_integer(ctx, argc, argv, 1, 0) & 7))
ON_PATH(files_chdir, memfs_chdir(fs, path))
ON_PATHS(files_rename, memfs_rename(fs, path, other))
ON_PATHS(files_link, memfs_link(fs, path, other))
ON_PATHS(files_symlink, memfs_symlink(fs, path, other))
ON_PATHS(files_copy, memfs_copy(fs, path, other, native_integer(ctx, argc, argv, 2, 0) != 0))
ON_FD(files_close, memfs_close(fs, fd))
ON_FD(files_fchmod, memfs_fchmod(fs, fd, take_mode(ctx, argc, argv, 1)))
ON_FD(files_ftruncate, memfs_ftruncate(fs, fd, native_integer(ctx, argc, argv, 1, -1)))
ON_FD(files_fsync, memfs_fsync(fs, fd))

/* The rule that refused the last operation, once; else undefined. */
NATIVE(files_denied_by)
{
    JSValueRef by;

    (void)argc;
    (void)argv;
    NATIVE_UNUSED;
    if (fs == NULL || fs->denied_by[0] == '\0') {
        return JSValueMakeUndefined(ctx);
    }
    by = native_text(ctx, fs->denied_by, strlen(fs->denied_by));
    fs->denied_by[0] = '\0';
    return by;
}

NATIVE(files_available)
{
    (void)argc;
    (void)argv;
    NATIVE_UNUSED;
    return JSValueMakeBoolean(ctx, fs != NULL);
}

/* (fd, bytes, offset, length, position), position -1 for where the file is. */
NATIVE(files_read)
{
    int fd = -1;
    int sys = take_fd(ctx, argc, argv, 0, &fd);
    int64_t position = native_integer(ctx, argc, argv, 4, -1);
    size_t len = 0;
    char *bytes = native_bytes(ctx, argc, argv, 1, &len);

    NATIVE_UNUSED;
    if (sys != 0 || bytes == NULL) {
        return failure(ctx, sys != 0 ? sys : EINVAL);
    }
    return number(ctx, memfs_read(fs, fd, bytes, len, position >= 0 ? position : -1));
}

NATIVE(files_write)
{
    int fd = -1;
    int sys = take_fd(ctx, argc, argv, 0, &fd);
    int64_t position = native_integer(ctx, argc, argv, 4, -1);
    size_t len = 0;
    const char *bytes = native_bytes(ctx, argc, argv, 1, &len);

    NATIVE_UNUSED;
    if (sys != 0 || bytes == NULL) {
        return failure(ctx, sys != 0 ? sys : EINVAL);
    }
    return number(ctx, memfs_write(fs, fd, bytes, len, position >= 0 ? position : -1));
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

static JSValueRef stat_path(JSContextRef ctx, size_t argc, const JSValueRef argv[],
    int (*look)(struct memfs *, const char *, struct stat *))
{
    char path[PATH_MAX];
    struct stat st;
    int sys = take_path(ctx, argc, argv, 0, path);

    sys = sys != 0 ? sys : -look(fs, path, &st);
    return sys != 0 ? failure(ctx, sys) : stat_array(ctx, &st);
}

NATIVE(files_stat)
{
    NATIVE_UNUSED;
    return stat_path(ctx, argc, argv, memfs_stat);
}

NATIVE(files_lstat)
{
    NATIVE_UNUSED;
    return stat_path(ctx, argc, argv, memfs_lstat);
}

NATIVE(files_fstat)
{
    int fd = -1;
    int sys = take_fd(ctx, argc, argv, 0, &fd);
    struct stat st;

    NATIVE_UNUSED;
    sys = sys != 0 ? sys : -memfs_fstat(fs, fd, &st);
    return sys != 0 ? failure(ctx, sys) : stat_array(ctx, &st);
}

NATIVE(files_statfs)
{
    char path[PATH_MAX];
    struct statfs st;
    int sys = take_path(ctx, argc, argv, 0, path);
    JSValueRef values[7];

    NATIVE_UNUSED;
    sys = sys != 0 ? sys : -memfs_statfs(fs, path, &st);
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
static int add_entry(const char *name, size_t len, uint32_t type, void *user)
{
    static const char digits[] = "0123456789abcdef";
    char kind = digits[type >> 12 & 15];
    struct buf *out = user;

    return buf_add(out, &kind, 1, NULL) < 0 || buf_add(out, name, len, NULL) < 0 ||
                   buf_add(out, "/", 1, NULL) < 0
               ? -ENOMEM
               : 0;
}

NATIVE(files_readdir)
{
    char path[PATH_MAX];
    JSValueRef value;
    struct buf out;
    int sys = take_path(ctx, argc, argv, 0, path);

    NATIVE_UNUSED;
    buf_init(&out, LISTING_BYTES_MAX);
    sys = sys != 0 ? sys : -memfs_list(fs, path, add_entry, &out);
    value = sys != 0 ? failure(ctx, sys) : native_text(ctx, out.len > 0 ? out.data : "", out.len);
    buf_release(&out);
    return value;
}

/* A path that becomes another text. */
static JSValueRef path_text(JSContextRef ctx, size_t argc, const JSValueRef argv[],
    int (*look)(struct memfs *, const char *, char *))
{
    char path[PATH_MAX], text[PATH_MAX];
    int sys = take_path(ctx, argc, argv, 0, path);

    sys = sys != 0 ? sys : -look(fs, path, text);
    return sys != 0 ? failure(ctx, sys) : native_text(ctx, text, strlen(text));
}

NATIVE(files_readlink)
{
    NATIVE_UNUSED;
    return path_text(ctx, argc, argv, memfs_readlink);
}

NATIVE(files_realpath)
{
    NATIVE_UNUSED;
    return path_text(ctx, argc, argv, memfs_realpath);
}

NATIVE(files_getcwd)
{
    char path[PATH_MAX];
    int sys = fs == NULL ? EPERM : -memfs_getcwd(fs, path);

    (void)argc;
    (void)argv;
    NATIVE_UNUSED;
    return sys != 0 ? failure(ctx, sys) : native_text(ctx, path, strlen(path));
}

NATIVE(files_mkdtemp)
{
    char path[PATH_MAX];
    int sys = take_path(ctx, argc, argv, 0, path);

    NATIVE_UNUSED;
    sys = sys != 0 ? sys : -memfs_mkdtemp(fs, path);
    return sys != 0 ? failure(ctx, sys) : native_text(ctx, path, strlen(path));
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
    int no_follow = native_integer(ctx, argc, argv, 5, 0) != 0;
    int sys = take_path(ctx, argc, argv, 0, path);

    NATIVE_UNUSED;
    return sys != 0 ? failure(ctx, sys) : number(ctx, memfs_utimens(fs, path, times, no_follow));
}

NATIVE(files_futimes)
{
    struct timespec times[2] = {take_time(ctx, argc, argv, 1), take_time(ctx, argc, argv, 3)};
    int fd = -1;
    int sys = take_fd(ctx, argc, argv, 0, &fd);

    NATIVE_UNUSED;
    return sys != 0 ? failure(ctx, sys) : number(ctx, memfs_futimens(fs, fd, times));
}

NATIVE(files_umask)
{
    NATIVE_UNUSED;
    return fs == NULL ? failure(ctx, EPERM)
                      : number(ctx, memfs_umask(fs, take_mode(ctx, argc, argv, 0)));
}

static const struct native_row ROWS[] = {
    {"available", files_available},
    {"deniedBy", files_denied_by},
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
