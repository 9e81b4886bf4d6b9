/* memfs_open.c - descriptors: opening, reading, writing, closing; see memfs.h. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cell/memfs_tree.h"

enum {
    FDS_FIRST = 16,
    DAY_S = 24 * 60 * 60,
    /* Ways to open that nobody could make use of here. */
    FLAGS_REFUSED = O_PATH | (O_TMPFILE & ~O_DIRECTORY),
};

struct memfs_open *memfs_find_open(struct memfs *fs, int fd)
{
    return fd >= 0 && (uint32_t)fd < fs->fds_capacity ? fs->fds[fd].open : NULL;
}

struct memfs_open *memfs_find_file(struct memfs *fs, int fd)
{
    struct memfs_open *o = memfs_find_open(fs, fd);

    return o != NULL && o->node != NULL ? o : NULL;
}

/* Makes the table long enough. */
static int reach_fd(struct memfs *fs, uint32_t fd)
{
    uint32_t capacity = fs->fds_capacity != 0 ? 2 * fs->fds_capacity : FDS_FIRST;
    struct memfs_fd *grown;

    if (fd < fs->fds_capacity) {
        return 0;
    }
    capacity = fd < capacity ? capacity : fd + 1; /* cannot wrap: fd is below open_max */
    grown = realloc(fs->fds, capacity * sizeof(*grown));
    if (grown == NULL) {
        return -ENOMEM;
    }
    memset(grown + fs->fds_capacity, 0, (capacity - fs->fds_capacity) * sizeof(*grown));
    fs->fds = grown;
    fs->fds_capacity = capacity;
    return 0;
}

int memfs_free_fd(struct memfs *fs, int least)
{
    uint32_t fd = (uint32_t)least;
    int r;

    assert(least >= 0);
    while (fd < fs->fds_capacity && fs->fds[fd].open != NULL) {
        fd++;
    }
    if (fd >= fs->limits.open_max) {
        return -EMFILE;
    }
    r = reach_fd(fs, fd);
    return r < 0 ? r : (int)fd;
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

/* What is to be done with a file that is opened like this. */
static unsigned asked_by(int flags)
{
    return (reads(flags) ? MEMFS_ASK_READ : 0U) |
           (writes(flags) || (flags & (O_TRUNC | O_CREAT)) != 0 ? MEMFS_ASK_WRITE : 0U);
}

/* Finds or makes what a path names. */
static int open_place(
    struct memfs *fs, const char *path, int flags, uint32_t mode, struct memfs_place *place)
{
    int creates = (flags & O_CREAT) != 0;
    int follows = (flags & O_NOFOLLOW) == 0 && !(creates && (flags & O_EXCL) != 0);
    int r = memfs_resolve(fs, path, follows ? MEMFS_FOLLOW : MEMFS_NO_FOLLOW, place);

    r = r < 0 ? r : memfs_ask(fs, place, asked_by(flags), 0);
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
    int fd;
    int r = check_flags(flags);

    if (r < 0) {
        return r;
    }
    fd = memfs_free_fd(fs, MEMFS_FD_FIRST); /* before anything is made or truncated */
    o = fd >= 0 ? calloc(1, sizeof(*o)) : NULL;
    if (o == NULL) {
        return fd < 0 ? fd : -ENOMEM;
    }
    r = open_place(fs, path, flags, mode, &place);
    if (r == 0 && place.is_served) {
        o->served = strdup(place.served);
        r = o->served != NULL ? 0 : -ENOMEM;
    }
    if (r < 0) {
        free(o);
        return r;
    }
    assert(place.node != NULL);
    o->node = place.node;
    o->node->refs++;
    o->fds_count = 1;
    o->flags = flags;
    o->is_read_only = !writes(flags) && memfs_ask(fs, &place, MEMFS_ASK_WRITE, 1) < 0;
    fs->fds[fd] = (struct memfs_fd){.open = o};
    return fd;
}

int memfs_close(struct memfs *fs, int fd)
{
    struct memfs_open *o = memfs_find_open(fs, fd);

    if (o == NULL) {
        return -EBADF;
    }
    fs->fds[fd] = (struct memfs_fd){.open = NULL};
    if (--o->fds_count > 0) {
        return 0;
    }
    if (o->node != NULL) {
        memfs_node_unref(fs, o->node);
    }
    free(o->served);
    free(o);
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
    struct memfs_open *o = memfs_find_file(fs, fd);
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
    struct memfs_open *o = memfs_find_file(fs, fd);
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
    struct memfs_open *o = memfs_find_file(fs, fd);
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
    const struct memfs_open *o = memfs_find_file(fs, fd);

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
    const struct memfs_open *o = memfs_find_file(fs, fd);

    return o == NULL           ? -EBADF
           : o->served != NULL ? -EROFS
           : o->is_read_only   ? -EACCES
                               : memfs_node_chmod(o->node, mode);
}

int memfs_futimens(struct memfs *fs, int fd, const struct timespec times[2])
{
    const struct memfs_open *o = memfs_find_file(fs, fd);

    return o == NULL           ? -EBADF
           : o->served != NULL ? -EROFS
           : o->is_read_only   ? -EACCES
                               : memfs_node_utimens(o->node, times);
}

int memfs_fsync(struct memfs *fs, int fd)
{
    return memfs_find_file(fs, fd) == NULL ? -EBADF : 0; /* memory is as safe as it gets */
}

/* The first byte from at on that is in a hole, or that is in none; what is behind the end is one.
 */
static uint64_t seek_hole(const struct memfs_data *data, uint64_t at, int hole)
{
    const struct memfs_chunk *c;
    uint64_t begin;
    size_t i;

    for (i = (size_t)(at / MEMFS_CHUNK); i < data->chunks_count && at < data->size; i++) {
        c = &data->chunks[i];
        begin = (uint64_t)i * MEMFS_CHUNK;
        at = at > begin ? at : begin;
        if (!hole && at < begin + c->used) {
            return at;
        }
        at = hole && at < begin + c->used ? begin + c->used : at;
        if (hole && c->used < MEMFS_CHUNK) {
            return at < data->size ? at : data->size;
        }
    }
    return hole && at < data->size ? at : data->size;
}

/* Where the next data or hole is, or -errno. */
static int64_t seek_kind(const struct memfs_open *o, uint64_t size, int64_t offset, int whence)
{
    uint64_t at;

    if (offset < 0 || (uint64_t)offset >= size) {
        return -ENXIO;
    }
    if (o->served != NULL || !S_ISREG(o->node->mode)) {
        return whence == SEEK_DATA ? offset : (int64_t)size;
    }
    at = seek_hole(&o->node->data, (uint64_t)offset, whence == SEEK_HOLE);
    return whence == SEEK_DATA && at >= size ? -ENXIO : (int64_t)at;
}

int64_t memfs_lseek(struct memfs *fs, int fd, int64_t offset, int whence)
{
    struct memfs_open *o = memfs_find_file(fs, fd);
    struct stat st = {0};
    int64_t base = 0;
    int r = o == NULL ? -EBADF : 0;

    if (r == 0 && whence != SEEK_SET && whence != SEEK_CUR) { /* who serves it is asked then only */
        r = memfs_fstat(fs, fd, &st);
    }
    if (r < 0) {
        return r;
    }
    if (whence == SEEK_DATA || whence == SEEK_HOLE) {
        base = seek_kind(o, (uint64_t)st.st_size, offset, whence);
        offset = 0;
    } else if (whence == SEEK_CUR || whence == SEEK_END) {
        base = whence == SEEK_CUR ? (int64_t)o->at : st.st_size;
    } else if (whence != SEEK_SET) {
        return -EINVAL;
    }
    if (base < 0) {
        return base;
    }
    if (offset > INT64_MAX - base || base + offset < 0) {
        return offset < 0 ? -EINVAL : -EOVERFLOW;
    }
    o->at = (uint64_t)(base + offset);
    return base + offset;
}

/* Writing what is there already takes the room that a hole has not. */
static int fill_holes(struct memfs *fs, struct memfs_data *data, uint64_t at, uint64_t end)
{
    static char piece[MEMFS_CHUNK];
    size_t len, there;
    int64_t n;

    while (at < end) {
        len = end - at < sizeof(piece) ? (size_t)(end - at) : sizeof(piece);
        there = memfs_data_read(data, piece, len, at);
        memset(piece + there, 0, len - there);
        n = memfs_data_write(fs, data, piece, len, at);
        if (n <= 0) {
            return n < 0 ? (int)n : -ENOSPC;
        }
        at += (uint64_t)n;
    }
    return 0;
}

int memfs_fallocate(struct memfs *fs, int fd, int64_t offset, int64_t len)
{
    struct memfs_open *o = memfs_find_file(fs, fd);
    int r;

    if (o == NULL || !writes(o->flags)) {
        return -EBADF;
    }
    if (offset < 0 || len <= 0) {
        return -EINVAL;
    }
    if (len > INT64_MAX - offset || (uint64_t)(offset + len) > fs->limits.bytes_max) {
        return -EFBIG;
    }
    r = fill_holes(fs, &o->node->data, (uint64_t)offset, (uint64_t)(offset + len));
    o->node->mtime = o->node->ctime = memfs_now();
    return r;
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
    const struct memfs_open *source = memfs_find_file(fs, from), *target = memfs_find_file(fs, to);
    int r;

    assert(source != NULL && target != NULL);
    r = source->served != NULL ? copy_served(fs, from, to)
                               : memfs_data_copy(fs, &source->node->data, &target->node->data);
    target->node->mtime = memfs_now();
    return r < 0 ? r : memfs_node_chmod(target->node, mode | (source->served != NULL ? 0200U : 0));
}

/* Does the path lead to what is open? */
static int is_same(struct memfs *fs, int fd, const char *path)
{
    const struct memfs_open *o = memfs_find_file(fs, fd);
    struct memfs_place place;

    return o != NULL && o->served == NULL &&
           memfs_resolve_node(fs, path, MEMFS_FOLLOW, 0, &place) == 0 && !place.is_served &&
           place.node == o->node;
}

int memfs_copy(struct memfs *fs, const char *from_path, const char *to_path, int exclusive)
{
    struct stat a;
    int from = memfs_open(fs, from_path, O_RDONLY, 0);
    int to = -1;
    int r = from < 0 ? from : memfs_fstat(fs, from, &a);

    if (r == 0 && S_ISDIR(a.st_mode)) {
        r = -EISDIR;
    }
    if (r == 0 && (exclusive || !is_same(fs, from, to_path))) {
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
