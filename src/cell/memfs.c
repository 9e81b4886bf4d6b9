/* memfs.c - see memfs.h: the tree itself, its nodes and its names. */
#include "cell/memfs.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell/memfs_tree.h"

enum {
    BUCKETS_FIRST = 8,
    UMASK_DEFAULT = 022,
    DIR_MODE = S_IFDIR | 0755,
    WORK_MODE = S_IFDIR | 0700,
    LINK_MODE = S_IFLNK | 0777,
};

void memfs_init(struct memfs *fs, const struct memfs_limits *limits)
{
    *fs = (struct memfs){.limits = *limits, .umask = UMASK_DEFAULT};
}

int memfs_limit(struct memfs *fs, const struct memfs_limits *limits)
{
    fs->limits = *limits;
    return fs->files_count > limits->files_max || fs->pages_count > limits->bytes_max / MEMFS_PAGE
               ? -ENOSPC
               : 0;
}

struct timespec memfs_now(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

/* ---- nodes ---- */

static struct memfs_node *node_alloc(struct memfs *fs, uint32_t mode, uint32_t flags)
{
    struct memfs_node *node = calloc(1, sizeof(*node));

    if (node != NULL) {
        node->mode = mode;
        node->flags = flags;
        node->ino = ++fs->ino_last;
        node->atime = node->mtime = node->ctime = memfs_now();
        fs->files_count += (flags & MEMFS_COUNTED) != 0;
    }
    return node;
}

int memfs_node_new(struct memfs *fs, uint32_t mode, struct memfs_node **ret)
{
    if (fs->files_count >= fs->limits.files_max) {
        return -ENOSPC;
    }
    *ret = node_alloc(fs, mode, MEMFS_COUNTED);
    return *ret != NULL ? 0 : -ENOMEM;
}

static void node_free(struct memfs *fs, struct memfs_node *node)
{
    if (S_ISREG(node->mode)) {
        memfs_data_release(fs, &node->data);
    } else if (S_ISLNK(node->mode)) {
        memfs_give_pages(fs, node->link.pages);
        free(node->link.target);
    } else {
        assert(node->dir.entries_count == 0);
        free(node->dir.buckets);
        free(node->dir.served);
    }
    fs->files_count -= (node->flags & MEMFS_COUNTED) != 0;
    free(node);
}

void memfs_node_settle(struct memfs *fs, struct memfs_node *node)
{
    struct memfs_node *parent;

    while (node != NULL && node->nlink == 0 && node->refs == 0) {
        parent = S_ISDIR(node->mode) ? node->dir.parent : NULL;
        node_free(fs, node);
        if (parent != NULL) {
            parent->refs--;
        }
        node = parent;
    }
}

void memfs_node_unref(struct memfs *fs, struct memfs_node *node)
{
    assert(node->refs > 0);
    node->refs--;
    memfs_node_settle(fs, node);
}

int memfs_may(const struct memfs_node *node, uint32_t rights)
{
    return (node->mode >> 6 & rights) == rights ? 0 : -EACCES;
}

int memfs_may_change(const struct memfs_node *dir)
{
    if ((dir->flags & MEMFS_READ_ONLY) != 0) {
        return -EROFS;
    }
    return dir->nlink == 0 ? -ENOENT : memfs_may(dir, MEMFS_W | MEMFS_X);
}

int memfs_take_pages(struct memfs *fs, uint64_t count)
{
    uint64_t max = fs->limits.bytes_max / MEMFS_PAGE;

    if (fs->pages_count > max || count > max - fs->pages_count) {
        return -ENOSPC;
    }
    fs->pages_count += count;
    return 0;
}

void memfs_give_pages(struct memfs *fs, uint64_t count)
{
    assert(count <= fs->pages_count);
    fs->pages_count -= count;
}

/* ---- names ---- */

static uint32_t hash_of(const char *name, size_t len)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    size_t i;

    for (i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 16777619U;
    }
    return hash;
}

struct memfs_entry *memfs_find(const struct memfs_node *dir, const char *name, size_t len)
{
    uint32_t hash = hash_of(name, len);
    struct memfs_entry *e;

    if (dir->dir.buckets == NULL) {
        return NULL;
    }
    for (e = dir->dir.buckets[hash & (dir->dir.buckets_count - 1)]; e != NULL; e = e->chain) {
        if (e->hash == hash && e->len == len && memcmp(e->name, name, len) == 0) {
            return e;
        }
    }
    return NULL;
}

/* Makes room for one more name; the chains stay short when there is memory for it. */
static int grow_buckets(struct memfs_dir *dir)
{
    uint32_t count = dir->buckets_count == 0 ? BUCKETS_FIRST : 2 * dir->buckets_count;
    struct memfs_entry **grown;
    struct memfs_entry *e;

    if (dir->buckets != NULL && dir->entries_count < dir->buckets_count) {
        return 0;
    }
    grown = calloc(count, sizeof(struct memfs_entry *));
    if (grown == NULL) {
        return dir->buckets != NULL ? 0 : -ENOMEM;
    }
    for (e = dir->first; e != NULL; e = e->next) {
        e->chain = grown[e->hash & (count - 1)];
        grown[e->hash & (count - 1)] = e;
    }
    free(dir->buckets);
    dir->buckets = grown;
    dir->buckets_count = count;
    return 0;
}

int memfs_entry_new(struct memfs_node *dir, const char *name, size_t len, struct memfs_entry **ret)
{
    struct memfs_entry *e;

    assert(len > 0 && len <= MEMFS_NAME_MAX);
    if (grow_buckets(&dir->dir) < 0) {
        return -ENOMEM;
    }
    e = calloc(1, sizeof(*e) + len + 1);
    if (e == NULL) {
        return -ENOMEM;
    }
    memcpy(e->name, name, len);
    e->len = (uint32_t)len;
    e->hash = hash_of(name, len);
    *ret = e;
    return 0;
}

void memfs_attach(
    struct memfs *fs, struct memfs_node *dir, struct memfs_entry *e, struct memfs_node *node)
{
    struct memfs_dir *d = &dir->dir;
    struct memfs_entry **bucket = &d->buckets[e->hash & (d->buckets_count - 1)];

    e->node = node;
    e->chain = *bucket;
    *bucket = e;
    e->next = NULL;
    e->before = d->last;
    *(d->last != NULL ? &d->last->next : &d->first) = e;
    d->last = e;
    d->entries_count++;
    if (S_ISDIR(node->mode)) {
        node->nlink = 2 + node->nlink; /* the directories in it keep theirs when it moves */
        node->dir.parent = dir;
        node->dir.own = e;
        dir->nlink++;
        dir->refs++;
    } else {
        fs->files_count += node->nlink > 0; /* a second name takes as much room as a file */
        node->nlink++;
    }
    dir->mtime = dir->ctime = node->ctime = memfs_now();
}

void memfs_detach(struct memfs *fs, struct memfs_node *dir, struct memfs_entry *e)
{
    struct memfs_dir *d = &dir->dir;
    struct memfs_entry **p = &d->buckets[e->hash & (d->buckets_count - 1)];
    struct memfs_node *node = e->node;

    while (*p != e) {
        p = &(*p)->chain;
    }
    *p = e->chain;
    *(e->before != NULL ? &e->before->next : &d->first) = e->next;
    *(e->next != NULL ? &e->next->before : &d->last) = e->before;
    d->entries_count--;
    free(e);
    node->nlink -= S_ISDIR(node->mode) ? 2 : 1;
    if (S_ISDIR(node->mode)) { /* it goes on referring to what was above it */
        node->dir.own = NULL;
        dir->nlink--;
    } else {
        fs->files_count -= node->nlink > 0;
    }
    dir->mtime = dir->ctime = node->ctime = memfs_now();
}

int memfs_make(struct memfs *fs, struct memfs_node *dir, const char *name, size_t len,
    uint32_t mode, struct memfs_node **ret)
{
    struct memfs_entry *e = NULL;
    struct memfs_node *node = NULL;
    int r = memfs_node_new(fs, mode, &node);

    if (r < 0) {
        return r;
    }
    r = memfs_entry_new(dir, name, len, &e);
    if (r < 0) {
        memfs_node_settle(fs, node);
        return r;
    }
    memfs_attach(fs, dir, e, node);
    *ret = node;
    return 0;
}

/* ---- beginning and end ---- */

/* Makes one of the nodes that are always there; NULL without memory. */
static struct memfs_node *make_fixed(
    struct memfs *fs, struct memfs_node *dir, const char *name, uint32_t mode, uint32_t flags)
{
    struct memfs_node *node = node_alloc(fs, mode, flags | MEMFS_FIXED);
    struct memfs_entry *e = NULL;

    if (node == NULL || memfs_entry_new(dir, name, strlen(name), &e) < 0) {
        if (node != NULL) {
            memfs_node_settle(fs, node);
        }
        return NULL;
    }
    memfs_attach(fs, dir, e, node);
    return node;
}

int memfs_mount_fixed(struct memfs *fs, const char *path, const struct memfs_served *served)
{
    struct memfs_node *dir = fs->root;
    const struct memfs_entry *e;
    char name[MEMFS_NAME_MAX + 1];
    const char *end;

    for (; *path != '\0' && dir != NULL; path = end) {
        path += strspn(path, "/");
        end = path + strcspn(path, "/");
        (void)snprintf(name, sizeof(name), "%.*s", (int)(end - path), path);
        e = memfs_find(dir, name, strlen(name));
        dir = e != NULL ? e->node : make_fixed(fs, dir, name, DIR_MODE, MEMFS_READ_ONLY);
    }
    if (dir == NULL || dir->dir.served != NULL) {
        return dir == NULL ? -ENOMEM : -EEXIST;
    }
    dir->dir.served = malloc(sizeof(*served));
    if (dir->dir.served == NULL) {
        return -ENOMEM;
    }
    *dir->dir.served = *served;
    return 0;
}

int memfs_begin(struct memfs *fs)
{
    struct memfs_node *home;

    if (fs->root != NULL) {
        return 0;
    }
    fs->root = node_alloc(fs, DIR_MODE, MEMFS_FIXED | MEMFS_READ_ONLY);
    if (fs->root == NULL) {
        return -ENOMEM;
    }
    fs->root->nlink = 2;
    fs->root->dir.parent = fs->root;
    home = make_fixed(fs, fs->root, "home", DIR_MODE, MEMFS_READ_ONLY);
    fs->work = home != NULL ? make_fixed(fs, home, "vial", WORK_MODE, MEMFS_COUNTED) : NULL;
    fs->tmp = fs->work != NULL ? make_fixed(fs, fs->root, "tmp", LINK_MODE, MEMFS_READ_ONLY) : NULL;
    if (fs->tmp != NULL) {
        fs->tmp->link.target = strdup("/home/vial/.tmp");
    }
    if (fs->tmp == NULL || fs->tmp->link.target == NULL) {
        memfs_release(fs);
        return -ENOMEM;
    }
    fs->cwd = fs->work;
    fs->cwd->refs++;
    return fs->on_begin != NULL ? fs->on_begin(fs) : 0;
}

/* Removes everything beneath the root: down to a directory that has none in it, and up again. */
static void remove_all(struct memfs *fs)
{
    struct memfs_node *at = fs->root, *node;
    struct memfs_entry *e;

    for (;;) {
        e = at->dir.first;
        if (e != NULL && S_ISDIR(e->node->mode)) {
            at = e->node;
        } else if (e != NULL) {
            node = e->node;
            memfs_detach(fs, at, e);
            memfs_node_settle(fs, node);
        } else if (at == fs->root) {
            return;
        } else {
            node = at;
            at = at->dir.parent;
            memfs_detach(fs, at, node->dir.own);
            at->refs--; /* by hand: this one stays whatever settling frees */
            node->dir.parent = NULL;
            memfs_node_settle(fs, node);
        }
    }
}

void memfs_release(struct memfs *fs)
{
    const struct memfs_limits limits = fs->limits;
    int (*on_begin)(struct memfs *) = fs->on_begin;
    int (*judge)(struct memfs *, unsigned, const char *, int) = fs->judge;
    uint32_t i;

    for (i = 0; i < fs->fds_capacity; i++) {
        (void)memfs_close(fs, (int)i);
    }
    if (fs->cwd != NULL) {
        memfs_node_unref(fs, fs->cwd);
    }
    if (fs->root != NULL) {
        remove_all(fs);
        node_free(fs, fs->root);
    }
    free(fs->cwd_served);
    free(fs->fds);
    memfs_init(fs, &limits);
    fs->on_begin = on_begin;
    fs->judge = judge;
}
