/* memfs_names.c - making, removing and moving names; see memfs.h.
 *
 * The order of the checks is the kernel's, because programs tell apart what they did wrong by the
 * one error they get. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cell/memfs_tree.h"

enum {
    LINK_INLINE_BYTES = 128, /* a longer target takes a page, as in the kernel's own tmpfs */
    MKDTEMP_TRIES = 100,     /* of 62^6 names; whoever has all of those has no room either */
    MKDTEMP_LETTERS = 6,
};

/* Where a new name is to be; -EEXIST when it is there already. */
static int resolve_new(struct memfs *fs, const char *path, int is_dir, struct memfs_place *place)
{
    int r = memfs_resolve(fs, path, MEMFS_PARENT, place);

    r = r < 0 ? r : memfs_ask(fs, place, MEMFS_ASK_WRITE, 0);
    if (r < 0) {
        return r;
    }
    if (place->is_served && place->entry == NULL && place->last == MEMFS_LAST_NAME) {
        return -EROFS;
    }
    if (place->last != MEMFS_LAST_NAME || place->node != NULL) {
        return -EEXIST;
    }
    if (place->slash && !is_dir) {
        return -ENOENT;
    }
    return memfs_may_change(place->dir);
}

int memfs_mkdir(struct memfs *fs, const char *path, uint32_t mode)
{
    struct memfs_place place;
    struct memfs_node *node;
    int r = resolve_new(fs, path, 1, &place);

    return r < 0 ? r
                 : memfs_make(fs, place.dir, place.name, place.name_len,
                       S_IFDIR | (mode & 01777 & ~fs->umask), &node);
}

int memfs_mkdtemp(struct memfs *fs, char *path)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char chance[MKDTEMP_LETTERS];
    size_t len = strlen(path);
    int tries, i, r = -EEXIST;

    if (len < MKDTEMP_LETTERS || strcmp(path + len - MKDTEMP_LETTERS, "XXXXXX") != 0) {
        return -EINVAL;
    }
    for (tries = 0; tries < MKDTEMP_TRIES && r == -EEXIST; tries++) {
        /* Not by its name in libc, which says no to programs that may have none. */
        if (syscall(SYS_getrandom, chance, sizeof(chance), 0) != (long)sizeof(chance)) {
            return -EIO;
        }
        for (i = 0; i < MKDTEMP_LETTERS; i++) {
            path[len - MKDTEMP_LETTERS + (size_t)i] = letters[chance[i] % (sizeof(letters) - 1)];
        }
        r = memfs_mkdir(fs, path, 0700);
    }
    return r;
}

int memfs_symlink(struct memfs *fs, const char *target, const char *path)
{
    size_t len = strlen(target);
    uint64_t pages = len > LINK_INLINE_BYTES ? 1 : 0;
    struct memfs_place place;
    struct memfs_node *node;
    char *copy;
    int r;

    if (len == 0) {
        return -ENOENT;
    }
    if (len >= PATH_MAX) {
        return -ENAMETOOLONG;
    }
    r = resolve_new(fs, path, 0, &place);
    r = r < 0 ? r : memfs_take_pages(fs, pages);
    if (r < 0) {
        return r;
    }
    copy = strdup(target);
    r = copy == NULL ? -ENOMEM
                     : memfs_make(fs, place.dir, place.name, place.name_len, S_IFLNK | 0777, &node);
    if (r < 0) {
        memfs_give_pages(fs, pages);
        free(copy);
        return r;
    }
    node->link.target = copy;
    node->link.pages = pages;
    return 0;
}

int memfs_link(struct memfs *fs, const char *from, const char *to)
{
    struct memfs_place old, place;
    struct memfs_entry *e;
    /* By its other name it can be read and written where that is allowed. */
    int r = memfs_resolve_node(fs, from, MEMFS_NO_FOLLOW, MEMFS_ASK_READ | MEMFS_ASK_WRITE, &old);

    r = r < 0 ? r : resolve_new(fs, to, 0, &place);
    if (r < 0) {
        return r;
    }
    if (S_ISDIR(old.node->mode) && !old.is_served) {
        return -EPERM;
    }
    if (old.is_served || (old.node->flags & MEMFS_FIXED) != 0) {
        return -EXDEV;
    }
    if (fs->files_count >= fs->limits.files_max) {
        return -ENOSPC;
    }
    r = memfs_entry_new(place.dir, place.name, place.name_len, &e);
    if (r < 0) {
        return r;
    }
    memfs_attach(fs, place.dir, e, old.node);
    return 0;
}

/* May what is there be removed from its directory? */
static int may_remove(const struct memfs_place *place)
{
    int r;

    if (place->is_served && place->entry == NULL) {
        return -EROFS;
    }
    if (place->node == NULL) {
        return -ENOENT;
    }
    r = memfs_may_change(place->dir);
    return r == 0 && (place->node->flags & MEMFS_FIXED) != 0 ? -EBUSY : r;
}

int memfs_unlink(struct memfs *fs, const char *path)
{
    struct memfs_place place;
    int r = memfs_resolve(fs, path, MEMFS_PARENT, &place);

    r = r < 0 ? r : memfs_ask(fs, &place, MEMFS_ASK_WRITE, 0);
    if (r < 0) {
        return r;
    }
    if (place.last != MEMFS_LAST_NAME) {
        return -EISDIR;
    }
    r = may_remove(&place);
    if (r < 0) {
        return r;
    }
    if (S_ISDIR(place.node->mode)) {
        return -EISDIR;
    }
    if (place.slash) {
        return -ENOTDIR;
    }
    memfs_detach(fs, place.dir, place.entry);
    memfs_node_settle(fs, place.node);
    return 0;
}

int memfs_rmdir(struct memfs *fs, const char *path)
{
    static const int sys[] = {
        [MEMFS_LAST_ROOT] = -EBUSY, [MEMFS_LAST_DOT] = -EINVAL, [MEMFS_LAST_DOT_DOT] = -ENOTEMPTY};
    struct memfs_place place;
    int r = memfs_resolve(fs, path, MEMFS_PARENT, &place);

    r = r < 0 ? r : memfs_ask(fs, &place, MEMFS_ASK_WRITE, 0);
    if (r < 0) {
        return r;
    }
    if (place.last != MEMFS_LAST_NAME) {
        return sys[place.last];
    }
    r = may_remove(&place);
    if (r < 0) {
        return r;
    }
    if (!S_ISDIR(place.node->mode)) {
        return -ENOTDIR;
    }
    if (place.node->dir.entries_count > 0) {
        return -ENOTEMPTY;
    }
    memfs_detach(fs, place.dir, place.entry);
    memfs_node_settle(fs, place.node);
    return 0;
}

/* ---- rename ---- */

/* Is the first directory the second one, or above it? */
static int is_above(const struct memfs *fs, const struct memfs_node *a, const struct memfs_node *b)
{
    while (b != a && b != fs->root) {
        b = b->dir.parent;
    }
    return a == b;
}

/* Is one of both read-only ground, and what does that mean? */
static int check_ground(const struct memfs_place *from, const struct memfs_place *to)
{
    int from_fixed =
        (from->is_served && from->entry == NULL) || (from->dir->flags & MEMFS_READ_ONLY) != 0;
    int to_fixed = (to->is_served && to->entry == NULL) || (to->dir->flags & MEMFS_READ_ONLY) != 0;

    if (from_fixed != to_fixed) {
        return -EXDEV;
    }
    return from_fixed ? -EROFS : 0;
}

/* What the kinds of both say, when something is there already. */
static int check_onto(const struct memfs_place *from, const struct memfs_place *to)
{
    int from_dir = S_ISDIR(from->node->mode), to_dir = S_ISDIR(to->node->mode);

    if ((to->node->flags & MEMFS_FIXED) != 0) {
        return -EBUSY;
    }
    if (from_dir && !to_dir) {
        return -ENOTDIR;
    }
    if (!from_dir && to_dir) {
        return -EISDIR;
    }
    return to_dir && to->node->dir.entries_count > 0 ? -ENOTEMPTY : 0;
}

static int check_rename(
    const struct memfs *fs, const struct memfs_place *from, const struct memfs_place *to)
{
    int r;

    if (from->last != MEMFS_LAST_NAME || to->last != MEMFS_LAST_NAME) {
        return -EBUSY;
    }
    r = check_ground(from, to);
    if (r < 0) {
        return r;
    }
    if (from->node == NULL) {
        return -ENOENT;
    }
    if (!S_ISDIR(from->node->mode) && (from->slash || to->slash)) {
        return -ENOTDIR;
    }
    if (S_ISDIR(from->node->mode) && is_above(fs, from->node, to->dir)) {
        return -EINVAL;
    }
    if (to->node != NULL && S_ISDIR(to->node->mode) && is_above(fs, to->node, from->dir)) {
        return -ENOTEMPTY;
    }
    if (from->node == to->node) {
        return 0;
    }
    r = may_remove(from);
    r = r < 0 ? r : memfs_may_change(to->dir);
    r = r < 0 || to->node == NULL ? r : check_onto(from, to);
    if (r == 0 && S_ISDIR(from->node->mode) && from->dir != to->dir) {
        r = memfs_may(from->node, MEMFS_W); /* its .. changes */
    }
    return r;
}

/* Rules are about paths. What moves takes its contents to where other rules hold, so it must be a
 * file that could be read and written, or an empty directory: the names in another one would have
 * to be asked about one by one. Programs copy when they cannot move. */
static int ask_rename(
    struct memfs *fs, const struct memfs_place *from, const struct memfs_place *to)
{
    int r = memfs_ask(fs, from, MEMFS_ASK_READ | MEMFS_ASK_WRITE, 0);

    r = r < 0 ? r : memfs_ask(fs, to, MEMFS_ASK_WRITE, 0);
    if (r == 0 && fs->judge != NULL && from->node != NULL && !from->is_served &&
        S_ISDIR(from->node->mode) && from->node->dir.entries_count > 0) {
        return -EXDEV;
    }
    return r;
}

int memfs_rename(struct memfs *fs, const char *from_path, const char *to_path)
{
    struct memfs_place from, to;
    struct memfs_entry *e;
    int r = memfs_resolve(fs, from_path, MEMFS_PARENT, &from);

    r = r < 0 ? r : memfs_resolve(fs, to_path, MEMFS_PARENT, &to);
    r = r < 0 ? r : ask_rename(fs, &from, &to);
    r = r < 0 ? r : check_rename(fs, &from, &to);
    if (r < 0 || from.node == to.node) { /* two names of one file: both stay */
        return r;
    }
    r = memfs_entry_new(to.dir, to.name, to.name_len, &e);
    if (r < 0) {
        return r;
    }
    if (to.node != NULL) {
        memfs_detach(fs, to.dir, to.entry);
        memfs_node_settle(fs, to.node);
    }
    memfs_detach(fs, from.dir, from.entry);
    memfs_attach(fs, to.dir, e, from.node);
    if (S_ISDIR(from.node->mode)) {
        memfs_node_unref(fs, from.dir); /* attach has made it refer to the new one */
    }
    return 0;
}
