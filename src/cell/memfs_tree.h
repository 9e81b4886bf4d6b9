/* memfs_tree.h - what the files of memfs share: nodes, directories, contents, and ways to them.
 *
 * A node is a file, a directory or a symbolic link; an entry is a name for it in a directory. A
 * node lives while it has a name or somebody refers to it: a descriptor, the working directory, or
 * a directory in it. So what was removed while in use goes on working, and goes with its last user.
 *
 * The guest decides how deep and how wide the tree is. Nothing here recurses, and a name is found
 * by its hash. Who makes names that collide slows down itself. */
#ifndef VIAL_CELL_MEMFS_TREE_H
#define VIAL_CELL_MEMFS_TREE_H

#include <time.h>

#include "cell/memfs.h"

enum {
    MEMFS_NAME_MAX = 255,
    MEMFS_CHUNK = 65536, /* of contents: small enough for holes, large enough to be few */
};

enum memfs_flag {
    MEMFS_FIXED = 1,     /* ours: it can be neither moved nor removed */
    MEMFS_READ_ONLY = 2, /* a directory whose names, or a node whose properties are fixed, too */
    MEMFS_COUNTED = 4,   /* it takes one of files_max */
};

enum memfs_right { MEMFS_X = 1, MEMFS_W = 2, MEMFS_R = 4 };

struct memfs_entry {
    struct memfs_entry *next, *before; /* in the order they were made */
    struct memfs_entry *chain;         /* with the same bucket */
    struct memfs_node *node;
    uint32_t hash;
    uint32_t len;
    char name[]; /* ends in NUL */
};

struct memfs_dir {
    struct memfs_node *parent; /* referred to; the root has itself, unreferred */
    struct memfs_entry *own;   /* its name in parent; NULL for the root, and once removed */
    struct memfs_entry *first, *last;
    struct memfs_entry **buckets; /* a power of two of them; NULL while empty */
    uint32_t buckets_count;
    uint32_t entries_count;
    struct memfs_served *served; /* owned; NULL: the names are here */
};

/* A piece of contents. What lies behind used reads as zeros. */
struct memfs_chunk {
    char *bytes;
    uint32_t used;
    uint32_t capacity;
};

struct memfs_data {
    uint64_t size;
    struct memfs_chunk *chunks; /* what lies behind the last one is a hole */
    size_t chunks_count;
    uint64_t pages; /* that it takes */
};

struct memfs_node {
    uint32_t mode;  /* type and permissions */
    uint32_t nlink; /* as stat has it; 0: removed */
    uint32_t refs;  /* beside its names */
    uint32_t flags; /* enum memfs_flag */
    uint64_t ino;
    struct timespec atime, mtime, ctime;
    union {
        struct memfs_dir dir;
        struct memfs_data data;
        struct {
            char *target;
            uint64_t pages;
        } link;
    };
};

/* ---- memfs.c: the tree ---- */

/* Makes the tree when nobody has used it yet. */
int memfs_begin(struct memfs *fs);

struct timespec memfs_now(void);

/* A node without a name. */
int memfs_node_new(struct memfs *fs, uint32_t mode, struct memfs_node **ret);

/* Frees a node that has neither names nor references, and then those that only it referred to. */
void memfs_node_settle(struct memfs *fs, struct memfs_node *node);
void memfs_node_unref(struct memfs *fs, struct memfs_node *node);

/* May the user do that with it? 0 or -EACCES. */
int memfs_may(const struct memfs_node *node, uint32_t rights);

/* May names be added to or removed from this directory? */
int memfs_may_change(const struct memfs_node *dir);

struct memfs_entry *memfs_find(const struct memfs_node *dir, const char *name, size_t len);

/* An entry that can be attached without any chance to fail; the caller frees it when it does not.
 */
int memfs_entry_new(struct memfs_node *dir, const char *name, size_t len, struct memfs_entry **ret);
void memfs_attach(
    struct memfs *fs, struct memfs_node *dir, struct memfs_entry *entry, struct memfs_node *node);

/* Takes a name away and frees it; the node may have to be settled then. */
void memfs_detach(struct memfs *fs, struct memfs_node *dir, struct memfs_entry *entry);

/* Makes a node and gives it a name. Rights have been looked at. */
int memfs_make(struct memfs *fs, struct memfs_node *dir, const char *name, size_t len,
    uint32_t mode, struct memfs_node **ret);

/* Takes room for contents, or gives it back. 0 or -ENOSPC. */
int memfs_take_pages(struct memfs *fs, uint64_t count);
void memfs_give_pages(struct memfs *fs, uint64_t count);

/* ---- memfs_data.c: contents ---- */

size_t memfs_data_read(const struct memfs_data *data, char *bytes, size_t len, uint64_t offset);
int64_t memfs_data_write(
    struct memfs *fs, struct memfs_data *data, const char *bytes, size_t len, uint64_t offset);
int memfs_data_resize(struct memfs *fs, struct memfs_data *data, uint64_t size);
int memfs_data_copy(struct memfs *fs, const struct memfs_data *from, struct memfs_data *to);
void memfs_data_release(struct memfs *fs, struct memfs_data *data);

/* ---- memfs_path.c: ways ---- */

enum memfs_last {
    MEMFS_LAST_NAME,
    MEMFS_LAST_ROOT,
    MEMFS_LAST_DOT,
    MEMFS_LAST_DOT_DOT,
};

/* Where a path leads. */
struct memfs_place {
    struct memfs_node *dir;    /* that the last name is in */
    struct memfs_entry *entry; /* that name; NULL: there is none */
    struct memfs_node *node;   /* what is there; NULL: nothing */
    enum memfs_last last;
    int slash;     /* a slash follows: it is meant to be a directory */
    int is_served; /* then node is the directory that is served, and served the path in it */
    size_t name_len;
    char name[MEMFS_NAME_MAX + 1];
    char served[PATH_MAX];
};

enum memfs_follow {
    MEMFS_FOLLOW,    /* a link at the end, too */
    MEMFS_NO_FOLLOW, /* unless a slash follows */
    MEMFS_PARENT,    /* not even then: it is about the name */
};

/* Where a path leads; the last name need not exist. */
int memfs_resolve(
    struct memfs *fs, const char *path, enum memfs_follow follow, struct memfs_place *ret);

/* The same for something that must exist, and with which that may be done (enum memfs_ask; 0: it is
 * not asked). What is served is not looked at. */
int memfs_resolve_node(struct memfs *fs, const char *path, enum memfs_follow follow, unsigned asked,
    struct memfs_place *ret);

/* May that be done there? 0 or -errno. */
int memfs_ask(struct memfs *fs, const struct memfs_place *place, unsigned asked, int quiet);

/* The path of a directory, and of a name in it unless that is NULL. */
int memfs_path_of(
    const struct memfs *fs, const struct memfs_node *dir, const char *name, char path[PATH_MAX]);

/* Makes a directory beneath /home/vial, with those above it, never through a link; "" is that. Its
 * parts have been checked. */
int memfs_make_dirs(struct memfs *fs, const char *name, size_t len, struct memfs_node **ret);

/* The working directory is here from now on; served NULL unless it is served. */
int memfs_enter(struct memfs *fs, struct memfs_node *dir, const char *served);

/* ---- memfs_status.c ---- */

void memfs_node_stat(const struct memfs_node *node, struct stat *ret);
int memfs_node_chmod(struct memfs_node *node, uint32_t mode);
int memfs_node_utimens(struct memfs_node *node, const struct timespec times[2]);

/* ---- memfs_open.c ---- */

/* What is open. Descriptors that were duplicated have one in common. */
struct memfs_open {
    struct memfs_node *node; /* referred to; NULL: a stream */
    char *served;            /* where in what is served it is; owned; NULL: the node itself */
    uint64_t at;
    uint32_t fds_count; /* that stand for it */
    int stream;
    int flags;
    int is_read_only; /* rules say that it may not be written to */
};

struct memfs_fd {
    struct memfs_open *open; /* NULL: the descriptor is free */
    int cloexec;
};

/* NULL: it is not open. */
struct memfs_open *memfs_find_open(struct memfs *fs, int fd);

/* The same, and not for streams. */
struct memfs_open *memfs_find_file(struct memfs *fs, int fd);

/* The lowest free descriptor that is not below least, with room for it in the table; or -errno. */
int memfs_free_fd(struct memfs *fs, int least);

/* ---- memfs_served.c ---- */

uint64_t memfs_served_ino(const struct memfs_node *node, const char *path);
int memfs_served_stat(const struct memfs_node *node, const char *path, struct stat *ret);
int memfs_served_list(
    const struct memfs_node *node, const char *path, memfs_entry_fn fn, void *user);
int64_t memfs_served_read(
    const struct memfs_node *node, const char *path, uint64_t offset, char *bytes, size_t len);

#endif
