/* memfs_status.c - what is known about files, and changing it; see memfs.h. */
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cell/memfs_tree.h"

enum {
    OWNER = 1000, /* of every file; the user that programs are told they are */
    BLOCK = 512,  /* that stat counts in */
    /* What the kernel's tmpfs says of a directory. */
    DIR_BYTES = 40,
    DIR_ENTRY_BYTES = 20,
};

void memfs_node_stat(const struct memfs_node *node, struct stat *ret)
{
    *ret = (struct stat){.st_ino = node->ino,
        .st_dev = 1,
        .st_mode = node->mode,
        .st_nlink = node->nlink,
        .st_uid = OWNER,
        .st_gid = OWNER,
        .st_blksize = MEMFS_PAGE,
        .st_atim = node->atime,
        .st_mtim = node->mtime,
        .st_ctim = node->ctime};
    if (S_ISREG(node->mode)) {
        ret->st_size = (off_t)node->data.size;
        ret->st_blocks = (blkcnt_t)(node->data.pages * (MEMFS_PAGE / BLOCK));
    } else if (S_ISLNK(node->mode)) {
        ret->st_size = (off_t)strlen(node->link.target);
    } else {
        ret->st_size = DIR_BYTES + (off_t)node->dir.entries_count * DIR_ENTRY_BYTES;
    }
}

static int stat_place(const struct memfs_place *place, struct stat *ret)
{
    int r;

    if (place->is_served) {
        r = memfs_served_stat(place->node, place->served, ret);
        return r == 0 && place->slash && !S_ISDIR(ret->st_mode) ? -ENOTDIR : r;
    }
    memfs_node_stat(place->node, ret);
    return 0;
}

int memfs_stat(struct memfs *fs, const char *path, struct stat *ret)
{
    struct memfs_place place;
    int r = memfs_resolve_node(fs, path, MEMFS_FOLLOW, MEMFS_ASK_LOOK, &place);

    return r < 0 ? r : stat_place(&place, ret);
}

int memfs_lstat(struct memfs *fs, const char *path, struct stat *ret)
{
    struct memfs_place place;
    int r = memfs_resolve_node(fs, path, MEMFS_NO_FOLLOW, MEMFS_ASK_LOOK, &place);

    return r < 0 ? r : stat_place(&place, ret);
}

int memfs_statfs(struct memfs *fs, const char *path, struct statfs *ret)
{
    uint64_t pages = fs->limits.bytes_max / MEMFS_PAGE;
    struct stat st;
    int r = memfs_stat(fs, path, &st);

    if (r < 0) {
        return r;
    }
    *ret = (struct statfs){.f_type = TMPFS_MAGIC,
        .f_bsize = MEMFS_PAGE,
        .f_blocks = pages,
        .f_bfree = pages > fs->pages_count ? pages - fs->pages_count : 0,
        .f_files = fs->limits.files_max,
        .f_ffree =
            fs->limits.files_max > fs->files_count ? fs->limits.files_max - fs->files_count : 0,
        .f_namelen = MEMFS_NAME_MAX};
    ret->f_bavail = ret->f_bfree;
    return 0;
}

int memfs_access(struct memfs *fs, const char *path, int mode)
{
    struct memfs_place place;
    struct stat st;
    int r = memfs_resolve_node(fs, path, MEMFS_FOLLOW, MEMFS_ASK_LOOK, &place);

    r = r < 0 ? r : stat_place(&place, &st);
    if (r < 0 || mode == F_OK) {
        return r;
    }
    if ((mode & W_OK) != 0 && (place.is_served || (place.node->flags & MEMFS_READ_ONLY) != 0)) {
        return -EROFS;
    }
    if ((mode & W_OK) != 0 && memfs_ask(fs, &place, MEMFS_ASK_WRITE, 1) < 0) {
        return -EACCES;
    }
    return (st.st_mode >> 6 & (uint32_t)mode) == (uint32_t)mode ? 0 : -EACCES;
}

int memfs_node_chmod(struct memfs_node *node, uint32_t mode)
{
    if ((node->flags & MEMFS_READ_ONLY) != 0) {
        return -EROFS;
    }
    node->mode = (node->mode & S_IFMT) | (mode & 07777);
    node->ctime = memfs_now();
    return 0;
}

/* What is there and may be changed. */
static int resolve_own(
    struct memfs *fs, const char *path, enum memfs_follow follow, struct memfs_node **ret)
{
    struct memfs_place place;
    struct stat st;
    int r = memfs_resolve_node(fs, path, follow, MEMFS_ASK_WRITE, &place);

    if (r == 0 && place.is_served) {
        r = memfs_served_stat(place.node, place.served, &st);
        r = r < 0 ? r : -EROFS;
    }
    if (r == 0) {
        *ret = place.node;
    }
    return r;
}

int memfs_chmod(struct memfs *fs, const char *path, uint32_t mode)
{
    struct memfs_node *node = NULL;
    int r = resolve_own(fs, path, MEMFS_FOLLOW, &node);

    return r != 0 ? r : memfs_node_chmod(node, mode);
}

int memfs_truncate(struct memfs *fs, const char *path, int64_t size)
{
    struct memfs_node *node = NULL;
    int r = size < 0 ? -EINVAL : resolve_own(fs, path, MEMFS_FOLLOW, &node);

    if (r != 0) {
        return r;
    }
    if (S_ISDIR(node->mode)) {
        return -EISDIR;
    }
    r = memfs_may(node, MEMFS_W);
    r = r < 0 ? r : memfs_data_resize(fs, &node->data, (uint64_t)size);
    if (r == 0) {
        node->mtime = node->ctime = memfs_now();
    }
    return r;
}

static int is_time(const struct timespec *t)
{
    return (t->tv_nsec >= 0 && t->tv_nsec < 1000000000) || t->tv_nsec == UTIME_NOW ||
           t->tv_nsec == UTIME_OMIT;
}

static void set_time(struct timespec *to, const struct timespec *t, const struct timespec *now)
{
    if (t->tv_nsec != UTIME_OMIT) {
        *to = t->tv_nsec == UTIME_NOW ? *now : *t;
    }
}

int memfs_node_utimens(struct memfs_node *node, const struct timespec times[2])
{
    struct timespec now = memfs_now();

    if (!is_time(&times[0]) || !is_time(&times[1])) {
        return -EINVAL;
    }
    if ((node->flags & MEMFS_READ_ONLY) != 0) {
        return -EROFS;
    }
    set_time(&node->atime, &times[0], &now);
    set_time(&node->mtime, &times[1], &now);
    node->ctime = now;
    return 0;
}

int memfs_utimens(struct memfs *fs, const char *path, const struct timespec times[2], int no_follow)
{
    struct memfs_node *node = NULL;
    int r = resolve_own(fs, path, no_follow ? MEMFS_NO_FOLLOW : MEMFS_FOLLOW, &node);

    return r != 0 ? r : memfs_node_utimens(node, times);
}

uint32_t memfs_umask(struct memfs *fs, uint32_t mask)
{
    uint32_t before = fs->umask;

    fs->umask = mask & 0777;
    return before;
}

int memfs_readlink(struct memfs *fs, const char *path, char target[PATH_MAX])
{
    struct memfs_place place;
    struct stat st;
    int r = memfs_resolve_node(fs, path, MEMFS_NO_FOLLOW, MEMFS_ASK_READ, &place);

    r = r < 0 ? r : stat_place(&place, &st);
    if (r < 0) {
        return r;
    }
    if (place.is_served || !S_ISLNK(place.node->mode)) {
        return -EINVAL;
    }
    memcpy(target, place.node->link.target, strlen(place.node->link.target) + 1);
    return 0;
}

int memfs_list(struct memfs *fs, const char *path, memfs_entry_fn fn, void *user)
{
    struct memfs_place place;
    const struct memfs_entry *e;
    int r = memfs_resolve_node(fs, path, MEMFS_FOLLOW, MEMFS_ASK_READ, &place);

    if (r < 0) {
        return r;
    }
    if (place.is_served) {
        return memfs_served_list(place.node, place.served, fn, user);
    }
    if (!S_ISDIR(place.node->mode)) {
        return -ENOTDIR;
    }
    r = memfs_may(place.node, MEMFS_R);
    for (e = place.node->dir.first; e != NULL && r == 0; e = e->next) {
        r = fn(e->name, e->len, e->node->mode & S_IFMT, user);
    }
    return r;
}
