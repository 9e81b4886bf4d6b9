/* memfs_served.c - directories whose contents somebody else has; see memfs.h.
 *
 * Nothing of what is served is kept here but its place in the tree. A number for a file is made of
 * its path: programs compare those to find out whether two names are one file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "cell/memfs_tree.h"

enum { PERMISSION_BITS = 0555 }; /* those to write are not given */

/* Above all numbers that nodes get, and exact as a number of JavaScript. */
static uint64_t ino_of(uint64_t mount, const char *path)
{
    uint64_t hash = (14695981039346656037ULL ^ mount) * 1099511628211ULL; /* FNV-1a */

    for (; *path != '\0'; path++) {
        hash = (hash ^ (unsigned char)*path) * 1099511628211ULL;
    }
    return 1ULL << 52 | hash >> 12;
}

uint64_t memfs_served_ino(const struct memfs_node *node, const char *path)
{
    return path[0] != '\0' ? ino_of(node->ino, path) : node->ino;
}

int memfs_served_stat(const struct memfs_node *node, const char *path, struct stat *ret)
{
    const struct memfs_served *served = node->dir.served;
    struct memfs_served_stat st = {.mode = S_IFREG};
    int r = served->stat(served->user, path, &st);

    if (r < 0) {
        return r;
    }
    if (!S_ISREG(st.mode) && !S_ISDIR(st.mode)) {
        return -ENOENT; /* links and devices are not ours to follow or to open */
    }
    memfs_node_stat(node, ret);
    ret->st_mode = st.mode & (S_IFMT | PERMISSION_BITS);
    ret->st_nlink = 1;
    ret->st_size = (off_t)(st.size < INT64_MAX ? st.size : INT64_MAX);
    ret->st_blocks = ret->st_size / 512 + (ret->st_size % 512 != 0);
    ret->st_atim = ret->st_mtim = ret->st_ctim = st.mtime;
    ret->st_ino = memfs_served_ino(node, path);
    return 0;
}

struct listing {
    memfs_entry_fn fn;
    void *user;
};

/* Hands on only what can be a name. */
static int pass_entry(const char *name, size_t len, uint32_t type, void *user)
{
    const struct listing *listing = user;

    if (len > MEMFS_NAME_MAX || memchr(name, '/', len) != NULL || memchr(name, '\0', len) != NULL ||
        len == 0 || (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'))) ||
        (type != S_IFREG && type != S_IFDIR)) {
        return 0;
    }
    return listing->fn(name, len, type, listing->user);
}

int memfs_served_list(
    const struct memfs_node *node, const char *path, memfs_entry_fn fn, void *user)
{
    const struct memfs_served *served = node->dir.served;
    struct listing listing = {.fn = fn, .user = user};
    struct stat st;
    int r = memfs_served_stat(node, path, &st);

    if (r == 0 && !S_ISDIR(st.st_mode)) {
        r = -ENOTDIR;
    }
    return r < 0 ? r : served->list(served->user, path, pass_entry, &listing);
}

int64_t memfs_served_read(
    const struct memfs_node *node, const char *path, uint64_t offset, char *bytes, size_t len)
{
    const struct memfs_served *served = node->dir.served;
    ssize_t n = len > 0 ? served->read(served->user, path, offset, bytes, len) : 0;

    return n > 0 && (size_t)n > len ? -EIO : n;
}

int memfs_mount(struct memfs *fs, const char *name, const struct memfs_served *served)
{
    const char *slash = strrchr(name, '/');
    const char *last = slash != NULL ? slash + 1 : name;
    struct memfs_node *dir, *node;
    struct memfs_served *copy;
    int r = name_fault(name, strlen(name)) != NULL ? -EINVAL : 0;

    if (r == 0 && fs->mounts_count >= MEMFS_MOUNTS_MAX) {
        r = -ENOSPC;
    }
    r = r < 0 ? r : memfs_make_dirs(fs, name, slash != NULL ? (size_t)(slash - name) : 0, &dir);
    if (r < 0) {
        return r;
    }
    if (dir->dir.served != NULL || memfs_find(dir, last, strlen(last)) != NULL) {
        return -EEXIST;
    }
    copy = malloc(sizeof(*copy));
    r = copy == NULL ? -ENOMEM
                     : memfs_make(fs, dir, last, strlen(last), S_IFDIR | PERMISSION_BITS, &node);
    if (r < 0) {
        free(copy);
        return r;
    }
    *copy = *served;
    node->dir.served = copy;
    node->flags |= MEMFS_FIXED | MEMFS_READ_ONLY;
    fs->mounts_count++;
    return 0;
}
