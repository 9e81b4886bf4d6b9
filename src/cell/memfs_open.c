/* memfs_open.c - descriptors: opening, reading, writing, closing; see memfs.h. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cell/memfs_tree.h"

enum {
    OPENS_FIRST = 8,
    DAY_S = 24 * 60 * 60,
    /* Ways to open that nobody could make use of here. */
    FLAGS_REFUSED = O_PATH | (O_TMPFILE & ~O_DIRECTORY),
};

struct memfs_open {
    struct memfs_node *node; /* referred to; NULL: the descriptor is free */
    char *served;            /* where in what is served it is; owned; NULL: the node itself */
    uint64_t at;
    int flags;
};

static struct memfs_open *find_open(struct memfs *fs, int fd)
{
    struct memfs_open *o;

    if (fd < MEMFS_FD_FIRST || (uint32_t)(fd - MEMFS_FD_FIRST) >= fs->opens_capacity) {
        return NULL;
    }
    o = &fs->opens[fd - MEMFS_FD_FIRST];
    return o->node != NULL ? o : NULL;
}

/* The lowest free descriptor, or -errno. */
static int free_fd(struct memfs *fs)
{
    uint32_t max = fs->limits.open_max > MEMFS_FD_FIRST ? fs->limits.open_max - MEMFS_FD_FIRST : 0;
    uint32_t i, capacity;
    struct memfs_open *grown;

    for (i = 0; i < fs->opens_capacity && fs->opens[i].node != NULL; i++) {
    }
    if (i >= max) {
        return -EMFILE;
    }
    if (i == fs->opens_capacity) {
        capacity = i == 0 ? OPENS_FIRST : 2 * i;
        grown = realloc(fs->opens, capacity * sizeof(*grown));
        if (grown == NULL) {
            return -ENOMEM;
        }
        memset(grown + i, 0, (capacity - i) * sizeof(*grown));
        fs->opens = grown;
        fs->opens_capacity = capacity;
    }
    return MEMFS_FD_FIRST + (int)i;
}

static int reads(int flags)
{
    return (flags & O_ACCMODE) != O_WRONLY;
}

static int writes(int flags)
{
    return (flags & O_ACCMODE) != O_RDONLY;
}

/* ---- opening ---- */

static int check_flags(int flags)
{
    if ((flags & O_ACCMODE) == O_ACCMODE || (flags & FLAGS_REFUSED) != 0 ||
        ((flags & O_CREAT) != 0 && (flags & O_DIRECTORY) != 0)) {
        return -EINVAL;
    }
    return 0;
}

/* Makes the file that is not there. */
static int create_file(struct memfs *fs, struct memfs_place *place, uint32_t mode)
{
    int r = memfs_may_change(place->dir);

    return r < 0 ? r
                 : memfs_make(fs, place->dir, place->name, place->name_len,
                       S_IFREG | (mode & 07777 & ~fs->umask), &place->node);
}

/* May what is there be opened like this? */
static int check_existing(const struct memfs_node *node, int flags)
{
    uint32_t rights =
        (reads(flags) ? MEMFS_R : 0U) | (writes(flags) || (flags & O_TRUNC) != 0 ? MEMFS_W : 0U);

    if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) {
        return -EEXIST;
    }
    if ((flags & O_DIRECTORY) != 0 && !S_ISDIR(node->mode)) {
        return -ENOTDIR;
    }
    if (S_ISLNK(node->mode)) {
        return -ELOOP;
    }
    if (S_ISDIR(node->mode) && ((flags & (O_CREAT | O_TRUNC)) != 0 || writes(flags))) {
        return -EISDIR;
    }
    return memfs_may(node, rights);
}

static int check_served(const struct memfs_place *place, int flags)
{
    struct stat st;
    int r = memfs_served_stat(place->node, place->served, &st);

    if (r == -ENOENT && (flags & O_CREAT) != 0) {
        return -EROFS;
    }
    if (r < 0) {
        return r;
    }
    if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) {
        return -EEXIST;
    }
    if (!S_ISDIR(st.st_mode) && (place->slash || (flags & O_DIRECTORY) != 0)) {
        return -ENOTDIR;
    }
    if (writes(flags) || (flags & O_TRUNC) != 0) {
        return S_ISDIR(st.st_mode) ? -EISDIR : -EROFS;
    }
    return (st.st_mode & 0400) != 0 ? 0 : -EACCES;
}

/* Finds or makes what a path names. */
static int open_place(
    struct memfs *fs, const char *path, int flags, uint32_t mode, struct memfs_place *place)
{
    int creates = (flags & O_CREAT) != 0;
    int follows = (flags & O_NOFOLLOW) == 0 && !(creates && (flags & O_EXCL) != 0);
    int r = memfs_resolve(fs, path, follows ? MEMFS_FOLLOW : MEMFS_NO_FOLLOW, place);

    if (r < 0) {
        return r;
    }
    if (place->is_served) {
        return check_served(place, flags);
    }
    if (creates && place->slash) {
        return -EISDIR;
    }
    if (place->node == NULL) {
        return creates ? create_file(fs, place, mode) : -ENOENT;
    }
    if (place->slash && !S_ISDIR(place->node->mode)) {
        return -ENOTDIR;
    }
    r = check_existing(place->node, flags);
    if (r == 0 && (flags & O_TRUNC) != 0 && S_ISREG(place->node->mode)) {
        r = memfs_data_resize(fs, &place->node->data, 0);
        place->node->mtime = place->node->ctime = memfs_now();
    }
    return r;
}

int memfs_open(struct memfs *fs, const char *path, int flags, uint32_t mode)
{
    struct memfs_place place;
    struct memfs_open *o;
    char *served = NULL;
    int fd;
    int r = check_flags(flags);

    if (r < 0) {
        return r;
    }
    fd = free_fd(fs); /* before anything is made or truncated */
    r = fd < 0 ? fd : open_place(fs, path, flags, mode, &place);
    if (r < 0) {
        return r;
    }
    if (place.is_served) {
        served = strdup(place.served);
        if (served == NULL) {
            return -ENOMEM;
        }
    }
    assert(place.node != NULL);
    o = &fs->opens[fd - MEMFS_FD_FIRST];
    *o = (struct memfs_open){.node = place.node, .served = served, .flags = flags};
    o->node->refs++;
    return fd;
}

int memfs_close(struct memfs *fs, int fd)
{
    struct memfs_open *o = find_open(fs, fd);
    struct memfs_node *node;

    if (o == NULL) {
        return -EBADF;
    }
    node = o->node;
    free(o->served);
    *o = (struct memfs_open){.node = NULL};
    memfs_node_unref(fs, node);
    return 0;
}

/* ---- reading and writing ---- */

/* As with relatime: often enough for programs that want to know whether a file was read. */
static void touch_atime(struct memfs_node *node)
{
    struct timespec now = memfs_now();
    const struct timespec *m = &node->mtime, *a = &node->atime;

    if (a->tv_sec < m->tv_sec || (a->tv_sec == m->tv_sec && a->tv_nsec <= m->tv_nsec) ||
        now.tv_sec - a->tv_sec >= DAY_S) {
        node->atime = now;
    }
}

int64_t memfs_read(struct memfs *fs, int fd, char *bytes, size_t len, int64_t offset)
{
    struct memfs_open *o = find_open(fs, fd);
    uint64_t at;
    int64_t n;

    if (o == NULL || !reads(o->flags)) {
        return -EBADF;
    }
    if (offset < -1) {
        return -EINVAL;
    }
    at = offset >= 0 ? (uint64_t)offset : o->at;
    if (o->served != NULL) {
        n = memfs_served_read(o->node, o->served, at, bytes, len);
    } else if (S_ISDIR(o->node->mode)) {
        return -EISDIR;
    } else {
        n = (int64_t)memfs_data_read(&o->node->data, bytes, len, at);
        if ((o->flags & O_NOATIME) == 0) {
            touch_atime(o->node);
        }
    }
    if (n > 0 && offset < 0) {
        o->at = at + (uint64_t)n;
    }
    return n;
}

int64_t memfs_write(struct memfs *fs, int fd, const char *bytes, size_t len, int64_t offset)
{
    struct memfs_open *o = find_open(fs, fd);
    uint64_t at;
    int64_t n;

    if (o == NULL || !writes(o->flags)) {
        return -EBADF;
    }
    if (offset < -1) {
        return -EINVAL;
    }
    at = offset >= 0 ? (uint64_t)offset : o->at;
    if ((o->flags & O_APPEND) != 0) { /* on Linux this holds for pwrite as well */
        at = o->node->data.size;
    }
    n = memfs_data_write(fs, &o->node->data, bytes, len, at);
    if (n > 0) {
        o->node->mtime = o->node->ctime = memfs_now();
        o->at = offset < 0 ? at + (uint64_t)n : o->at;
    }
    return n;
}

int memfs_ftruncate(struct memfs *fs, int fd, int64_t size)
{
    struct memfs_open *o = find_open(fs, fd);
    int r;

    if (o == NULL) {
        return -EBADF;
    }
    if (size < 0 || !writes(o->flags)) {
        return -EINVAL;
    }
    r = memfs_data_resize(fs, &o->node->data, (uint64_t)size);
    if (r == 0) {
        o->node->mtime = o->node->ctime = memfs_now();
    }
    return r;
}

int memfs_fstat(struct memfs *fs, int fd, struct stat *ret)
{
    const struct memfs_open *o = find_open(fs, fd);

    if (o == NULL) {
        return -EBADF;
    }
    if (o->served != NULL) {
        return memfs_served_stat(o->node, o->served, ret);
    }
    memfs_node_stat(o->node, ret);
    return 0;
}

int memfs_fchmod(struct memfs *fs, int fd, uint32_t mode)
{
    const struct memfs_open *o = find_open(fs, fd);

    return o == NULL ? -EBADF : o->served != NULL ? -EROFS : memfs_node_chmod(o->node, mode);
}

int memfs_futimens(struct memfs *fs, int fd, const struct timespec times[2])
{
    const struct memfs_open *o = find_open(fs, fd);

    return o == NULL ? -EBADF : o->served != NULL ? -EROFS : memfs_node_utimens(o->node, times);
}

int memfs_fsync(struct memfs *fs, int fd)
{
    return find_open(fs, fd) == NULL ? -EBADF : 0; /* memory is as safe as it gets */
}

/* ---- copying ---- */

/* The contents of a served file come piece by piece. */
static int copy_served(struct memfs *fs, int from, int to)
{
    static char piece[MEMFS_CHUNK];
    int64_t n, done, put;

    do {
        n = memfs_read(fs, from, piece, sizeof(piece), -1);
        for (done = 0; n > 0 && done < n; done += put) {
            put = memfs_write(fs, to, piece + done, (size_t)(n - done), -1);
            if (put <= 0) {
                return put < 0 ? (int)put : -ENOSPC;
            }
        }
    } while (n > 0);
    return (int)n;
}

/* Copies what is open, with its permissions; but copies of what is served can be written to. */
static int copy_open(struct memfs *fs, int from, int to, uint32_t mode)
{
    const struct memfs_open *source = find_open(fs, from), *target = find_open(fs, to);
    int r;

    assert(source != NULL && target != NULL);
    r = source->served != NULL ? copy_served(fs, from, to)
                               : memfs_data_copy(fs, &source->node->data, &target->node->data);
    target->node->mtime = memfs_now();
    return r < 0 ? r : memfs_node_chmod(target->node, mode | (source->served != NULL ? 0200U : 0));
}

int memfs_copy(struct memfs *fs, const char *from_path, const char *to_path, int exclusive)
{
    struct stat a, b;
    int from = memfs_open(fs, from_path, O_RDONLY, 0);
    int to = -1;
    int r = from < 0 ? from : memfs_fstat(fs, from, &a);

    if (r == 0 && S_ISDIR(a.st_mode)) {
        r = -EISDIR;
    }
    if (r == 0 && (exclusive || memfs_stat(fs, to_path, &b) < 0 || a.st_ino != b.st_ino)) {
        to = memfs_open(
            fs, to_path, O_WRONLY | O_CREAT | (exclusive ? O_EXCL : O_TRUNC), a.st_mode & 0777);
        r = to < 0 ? to : copy_open(fs, from, to, a.st_mode & 0777);
    }
    if (from >= 0) {
        (void)memfs_close(fs, from);
    }
    if (to >= 0) {
        (void)memfs_close(fs, to);
    }
    return r;
}
