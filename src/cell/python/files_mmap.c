/* files_mmap.c - see files.h: files as memory.
 *
 * Behind a file of the run is no memory that the kernel could map, so a mapping is a copy. One that
 * is shared is kept in step with its file: what is written to the file goes to the copy at once,
 * and what is written to the copy goes to the file when the file is next read, or msync or munmap
 * is called, or the program ends. Two that overlap and can be written to would have to agree as
 * well; the second is refused with ENODEV. */
#include "cell/python/files_inside.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cell/memfs_tree.h"

enum { MAPS_MAX = 256 }; /* programs have a few; one of 32 KiB is enough for 4096 pages of SQLite */

struct map {
    char *bytes;
    size_t len;
    struct memfs_node *node; /* referred to */
    uint64_t offset;
    int writes;
};

unsigned files_maps_count;
static struct map maps[MAPS_MAX]; /* the first files_maps_count */

static void *kernel_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, at, len, prot, flags, fd, offset);
}

/* ---- in step with the file ---- */

static int flush(const struct map *m)
{
    struct memfs_data *data = &m->node->data;
    size_t len;
    int64_t n;

    if (!m->writes || data->size <= m->offset) {
        return 0;
    }
    len = m->len < data->size - m->offset ? m->len : (size_t)(data->size - m->offset);
    n = memfs_data_write(files_fs, data, m->bytes, len, m->offset);
    m->node->mtime = m->node->ctime = memfs_now();
    return n < 0 ? (int)n : (size_t)n < len ? -ENOSPC : 0;
}

static void refresh(const struct map *m)
{
    size_t there = memfs_data_read(&m->node->data, m->bytes, m->len, m->offset);

    memset(m->bytes + there, 0, m->len - there);
}

static const struct memfs_node *node_of(int fd)
{
    const struct memfs_open *o = memfs_find_file(files_fs, fd);

    return o != NULL ? o->node : NULL;
}

void files_maps_flush(int fd)
{
    const struct memfs_node *node = node_of(fd);
    unsigned i;

    for (i = 0; i < files_maps_count; i++) {
        if (maps[i].node == node) {
            (void)flush(&maps[i]);
        }
    }
}

void files_maps_refresh(int fd)
{
    const struct memfs_node *node = node_of(fd);
    unsigned i;

    for (i = 0; i < files_maps_count; i++) {
        if (maps[i].node == node) {
            refresh(&maps[i]);
        }
    }
}

void files_maps_flush_all(void)
{
    unsigned i;

    for (i = 0; i < files_maps_count; i++) {
        (void)flush(&maps[i]);
    }
}

/* ---- mapping ---- */

/* May this be mapped like that? */
static int check_map(const struct memfs_open *o, size_t len, int prot, int flags, off_t offset)
{
    int shares = (flags & MAP_TYPE) != MAP_PRIVATE, mode = o != NULL ? o->flags & O_ACCMODE : 0;
    unsigned i;

    if (o == NULL) {
        return -EBADF;
    }
    if (o->served == NULL && !S_ISREG(o->node->mode)) {
        return -ENODEV;
    }
    if (len == 0 || offset < 0 || offset % MEMFS_PAGE != 0 || (flags & MAP_FIXED) != 0) {
        return -EINVAL;
    }
    if (mode == O_WRONLY || (shares && (prot & PROT_WRITE) != 0 && mode != O_RDWR)) {
        return -EACCES;
    }
    if ((prot & PROT_EXEC) != 0) {
        return -EPERM;
    }
    if (!shares || o->served != NULL) {
        return 0;
    }
    if (files_maps_count == MAPS_MAX) {
        return -ENOMEM;
    }
    for (i = 0; i < files_maps_count; i++) {
        const struct map *m = &maps[i];

        if (m->node == o->node && (uint64_t)offset < m->offset + m->len &&
            m->offset < (uint64_t)offset + len && (m->writes || (prot & PROT_WRITE) != 0)) {
            return -ENODEV;
        }
    }
    return 0;
}

/* The room that writing to the copy will need is taken now: later nobody could be told. */
static int reserve(int fd, const struct memfs_open *o, size_t len, off_t offset)
{
    uint64_t size = o->node->data.size;

    if ((uint64_t)offset >= size) {
        return 0;
    }
    len = len < size - (uint64_t)offset ? len : (size_t)(size - (uint64_t)offset);
    return memfs_fallocate(files_fs, fd, offset, (int64_t)len);
}

static void fill(const struct memfs_open *o, char *bytes, size_t len, off_t offset)
{
    size_t done = 0;
    int64_t n;

    if (o->served == NULL) {
        (void)memfs_data_read(&o->node->data, bytes, len, (uint64_t)offset);
        return;
    }
    do {
        n = memfs_served_read(
            o->node, o->served, (uint64_t)offset + done, bytes + done, len - done);
        done += n > 0 ? (size_t)n : 0;
    } while (n > 0 && done < len);
}

/* With the lock held; the address, or -errno. */
static int64_t map_file(size_t len, int prot, int flags, int fd, off_t offset)
{
    struct memfs_open *o = memfs_find_file(files_fs, fd);
    int shares = (flags & MAP_TYPE) != MAP_PRIVATE;
    int r = check_map(o, len, prot, flags, offset);
    void *bytes;

    files_maps_flush(fd);
    if (r == 0 && shares && (prot & PROT_WRITE) != 0) {
        r = reserve(fd, o, len, offset);
    }
    if (r < 0) {
        return r;
    }
    bytes = kernel_mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) {
        return -errno;
    }
    fill(o, bytes, len, offset);
    if (shares && o->served == NULL) {
        o->node->refs++;
        maps[files_maps_count++] = (struct map){.bytes = bytes,
            .len = len,
            .node = o->node,
            .offset = (uint64_t)offset,
            .writes = (prot & PROT_WRITE) != 0};
    }
    return (int64_t)(intptr_t)bytes;
}

FILES_API void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    int64_t r;

    if ((flags & MAP_ANONYMOUS) != 0 && (flags & MAP_SHARED) != 0) {
        /* There is nobody to share it with, and the filter refuses it. */
        flags = (flags & ~MAP_TYPE) | MAP_PRIVATE;
    }
    if (!files_are_on || (flags & MAP_ANONYMOUS) != 0) {
        return kernel_mmap(at, len, prot, flags, fd, offset);
    }
    r = FILES_DO(map_file(len, prot, flags, fd, offset));
    return r < 0 ? MAP_FAILED : (void *)(intptr_t)r;
}
FILES_ALSO(mmap, mmap64);

/* ---- changing and ending ---- */

static int touches(const struct map *m, const char *at, size_t len)
{
    return at < m->bytes + m->len && m->bytes < at + len;
}

/* What is taken away, in part or as a whole, is no mapping of a file any more. */
static void forget(const char *at, size_t len)
{
    unsigned i = 0;

    while (i < files_maps_count) {
        if (touches(&maps[i], at, len)) {
            (void)flush(&maps[i]);
            memfs_node_unref(files_fs, maps[i].node);
            maps[i] = maps[--files_maps_count];
        } else {
            i++;
        }
    }
}

FILES_API int munmap(void *at, size_t len)
{
    if (files_are_on && files_maps_count > 0) {
        files_lock();
        forget(at, len);
        files_unlock();
    }
    return (int)syscall(SYS_munmap, at, len);
}

/* With the lock held: the mapping is this long now, perhaps at another place. */
static void *remap(struct map *m, size_t len, int flags)
{
    void *moved;

    (void)flush(m);
    moved = (void *)syscall(SYS_mremap, m->bytes, m->len, len, flags, NULL);
    if (moved != MAP_FAILED) {
        m->bytes = moved;
        m->len = len;
        refresh(m);
    }
    return moved;
}

FILES_API void *mremap(void *at, size_t len, size_t new_len, int flags, ...)
{
    void *moved = NULL, *wanted = NULL;
    va_list rest;
    unsigned i;

    if ((flags & MREMAP_FIXED) != 0) {
        va_start(rest, flags);
        wanted = va_arg(rest, void *);
        va_end(rest);
    }
    if (files_are_on && files_maps_count > 0) {
        files_lock();
        for (i = 0; i < files_maps_count && moved == NULL; i++) {
            if (maps[i].bytes == at && (flags & MREMAP_FIXED) == 0) {
                moved = remap(&maps[i], new_len, flags);
            }
        }
        files_unlock();
        if (moved != NULL) {
            return moved;
        }
    }
    return (void *)syscall(SYS_mremap, at, len, new_len, flags, wanted);
}

static int sync_maps(const char *at, size_t len)
{
    unsigned i;
    int r = 0;

    for (i = 0; i < files_maps_count && r == 0; i++) {
        r = touches(&maps[i], at, len) ? flush(&maps[i]) : 0;
    }
    return r;
}

FILES_API int msync(void *at, size_t len, int flags)
{
    return files_are_on ? (int)FILES_DO(sync_maps(at, len))
                        : (int)syscall(SYS_msync, at, len, flags);
}
