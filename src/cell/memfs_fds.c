/* memfs_fds.c - descriptors beside their files: several for one that is open, their flags, streams,
 * and directories that relative paths begin at; see memfs.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cell/memfs_tree.h"

enum {
    STANDARD_COUNT = 3, /* descriptors below MEMFS_FD_FIRST that programs may have */
    FLAGS_THAT_CHANGE = O_APPEND | O_NOATIME | O_NONBLOCK,
};

/* Makes room for this very descriptor. */
static int prepare_fd(struct memfs *fs, int fd)
{
    if (fd < 0 || (fd >= STANDARD_COUNT && fd < MEMFS_FD_FIRST) ||
        (uint32_t)fd >= fs->limits.open_max) {
        return -EBADF;
    }
    return memfs_find_open(fs, fd) != NULL ? fd : memfs_free_fd(fs, fd);
}

static int assign(struct memfs *fs, int fd, struct memfs_open *o)
{
    o->fds_count++;
    fs->fds[fd] = (struct memfs_fd){.open = o};
    return fd;
}

int memfs_dup(struct memfs *fs, int fd, int least)
{
    struct memfs_open *o = memfs_find_open(fs, fd);
    int to;

    if (o == NULL) {
        return -EBADF;
    }
    if (least < 0 || (uint32_t)least >= fs->limits.open_max) {
        return -EINVAL;
    }
    to = memfs_free_fd(fs, least > MEMFS_FD_FIRST ? least : MEMFS_FD_FIRST);
    return to < 0 ? to : assign(fs, to, o);
}

int memfs_dup2(struct memfs *fs, int fd, int to)
{
    struct memfs_open *o = memfs_find_open(fs, fd);
    int r = o == NULL ? -EBADF : prepare_fd(fs, to);

    if (r < 0 || fd == to) {
        return r;
    }
    (void)memfs_close(fs, to);
    return assign(fs, to, o);
}

/* ---- flags ---- */

int memfs_get_flags(struct memfs *fs, int fd)
{
    const struct memfs_open *o = memfs_find_open(fs, fd);

    return o == NULL ? -EBADF : o->flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOCTTY | O_CLOEXEC);
}

int memfs_set_flags(struct memfs *fs, int fd, int flags)
{
    struct memfs_open *o = memfs_find_open(fs, fd);

    if (o == NULL) {
        return -EBADF;
    }
    o->flags = (o->flags & ~FLAGS_THAT_CHANGE) | (flags & FLAGS_THAT_CHANGE);
    return 0;
}

int memfs_get_cloexec(struct memfs *fs, int fd)
{
    return memfs_find_open(fs, fd) == NULL ? -EBADF : fs->fds[fd].cloexec;
}

int memfs_set_cloexec(struct memfs *fs, int fd, int is_set)
{
    if (memfs_find_open(fs, fd) == NULL) {
        return -EBADF;
    }
    fs->fds[fd].cloexec = is_set != 0;
    return 0;
}

/* ---- streams ---- */

int memfs_open_stream(struct memfs *fs, int fd, int stream, int flags)
{
    struct memfs_open *o;

    fd = fd < 0 ? memfs_free_fd(fs, MEMFS_FD_FIRST) : prepare_fd(fs, fd);
    o = fd >= 0 ? calloc(1, sizeof(*o)) : NULL;
    if (o == NULL) {
        return fd < 0 ? fd : -ENOMEM;
    }
    o->stream = stream;
    o->flags = flags;
    (void)memfs_close(fs, fd);
    return assign(fs, fd, o);
}

int memfs_stream_of(struct memfs *fs, int fd)
{
    const struct memfs_open *o = memfs_find_open(fs, fd);

    return o != NULL && o->node == NULL ? o->stream : -1;
}

/* ---- directories ---- */

/* What is open, when it is a directory. */
static int find_dir(struct memfs *fs, int fd, struct memfs_open **ret)
{
    struct stat st;
    int r = memfs_find_open(fs, fd) == NULL   ? -EBADF
            : memfs_find_file(fs, fd) == NULL ? -ENOTDIR
                                              : memfs_fstat(fs, fd, &st);

    *ret = memfs_find_file(fs, fd);
    return r < 0 ? r : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int memfs_at_begin(struct memfs *fs, int fd, struct memfs_at *ret_before)
{
    struct memfs_open *o;
    int r = find_dir(fs, fd, &o);

    if (r == 0) {
        *ret_before = (struct memfs_at){.cwd = fs->cwd, .cwd_served = fs->cwd_served};
        fs->cwd = o->node;
        fs->cwd_served = o->served;
    }
    return r;
}

void memfs_at_end(struct memfs *fs, const struct memfs_at *before)
{
    fs->cwd = before->cwd;
    fs->cwd_served = before->cwd_served;
}

int memfs_fchdir(struct memfs *fs, int fd)
{
    char path[PATH_MAX];
    struct memfs_open *o;
    int r = find_dir(fs, fd, &o);

    r = r == 0 && o->served == NULL ? memfs_may(o->node, MEMFS_X) : r;
    if (r == 0 && fs->judge != NULL) {
        r = memfs_path_of(fs, o->node, o->served, path);
        r = r < 0 ? r : fs->judge(fs, MEMFS_ASK_ENTER, path, 0);
    }
    return r < 0 ? r : memfs_enter(fs, o->node, o->served);
}

int memfs_fd_path(struct memfs *fs, int fd, char path[PATH_MAX])
{
    struct memfs_open *o;
    int r = find_dir(fs, fd, &o);

    return r < 0 ? r : memfs_path_of(fs, o->node, o->served, path);
}

uint64_t memfs_ino_of(struct memfs *fs, const char *name)
{
    struct memfs_place place;

    if (memfs_resolve(fs, name, MEMFS_NO_FOLLOW, &place) < 0 || place.node == NULL) {
        return 0;
    }
    return place.is_served ? memfs_served_ino(place.node, place.served) : place.node->ino;
}
