/* memfs.h - the files of a cell: a small file system in the memory of its own process.
 *
 * It holds nothing of the kernel's, no descriptor and no mount. So a cell with files needs no
 * system call that another one has not, and a fork of the process has the files too, copied on
 * write. Nothing is allocated before the first use.
 *
 * The tree has /home/vial, where everything may be changed, and /tmp, a link to /home/vial/.tmp,
 * which is made when somebody first goes through it. All else is read-only and empty. There is one
 * user, who owns all files and is bound by the bits of the owner.
 *
 * Functions do what the system calls of their names do on Linux. Results below 0 are -errno: what
 * goes wrong here is the guest's, not ours, and it knows these numbers. */
#ifndef VIAL_CELL_MEMFS_H
#define VIAL_CELL_MEMFS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>

enum {
    MEMFS_FD_FIRST = 4,   /* below are the three standard ones and the control socket */
    MEMFS_LINKS_MAX = 40, /* symbolic links followed for one path, as on Linux */
    MEMFS_PAGE = 4096,    /* what room is given by */
    MEMFS_MOUNTS_MAX = 64 /* directories that somebody else serves; a run has a few */
};

struct memfs_node;
struct memfs_open;

struct memfs_limits {
    uint64_t bytes_max; /* of all files together, in pages; also the largest single file */
    uint32_t files_max; /* names, /home/vial itself included */
    uint32_t open_max;  /* descriptors, the first MEMFS_FD_FIRST included */
};

struct memfs {
    struct memfs_limits limits;
    struct memfs_node *root; /* NULL: nobody has used it yet */
    struct memfs_node *work; /* /home/vial */
    struct memfs_node *tmp;  /* the link */
    struct memfs_node *cwd;
    char *cwd_served; /* where in what is served it is, when cwd is such a directory; owned */
    struct memfs_open *opens; /* by descriptor - MEMFS_FD_FIRST; owned */
    uint32_t opens_capacity;
    uint32_t files_count;
    uint32_t mounts_count;
    uint64_t pages_count; /* that contents take */
    uint64_t ino_last;
    uint32_t umask;
    uint32_t tmp_made;
};

/* Nothing can fail: this makes no file yet. */
void memfs_init(struct memfs *fs, const struct memfs_limits *limits);
void memfs_release(struct memfs *fs);

/* From now on these limits hold. -ENOSPC when more than that is there already; they hold then, too.
 */
int memfs_limit(struct memfs *fs, const struct memfs_limits *limits);

/* ---- descriptors ---- */

int memfs_open(struct memfs *fs, const char *path, int flags, uint32_t mode);
int memfs_close(struct memfs *fs, int fd);

/* offset -1: where the descriptor is, which then moves. The count may be short. */
int64_t memfs_read(struct memfs *fs, int fd, char *bytes, size_t len, int64_t offset);
int64_t memfs_write(struct memfs *fs, int fd, const char *bytes, size_t len, int64_t offset);
int memfs_ftruncate(struct memfs *fs, int fd, int64_t size);
int memfs_fstat(struct memfs *fs, int fd, struct stat *ret);
int memfs_fchmod(struct memfs *fs, int fd, uint32_t mode);
int memfs_futimens(struct memfs *fs, int fd, const struct timespec times[2]);
int memfs_fsync(struct memfs *fs, int fd);

/* Copies the bytes and the permissions of a file; onto itself it does nothing. */
int memfs_copy(struct memfs *fs, const char *from, const char *to, int exclusive);

/* ---- names ---- */

int memfs_mkdir(struct memfs *fs, const char *path, uint32_t mode);
int memfs_mkdtemp(struct memfs *fs, char *path); /* which ends in XXXXXX, written over */
int memfs_rmdir(struct memfs *fs, const char *path);
int memfs_unlink(struct memfs *fs, const char *path);
int memfs_rename(struct memfs *fs, const char *from, const char *to);
int memfs_link(struct memfs *fs, const char *from, const char *to);
int memfs_symlink(struct memfs *fs, const char *target, const char *path);

/* ---- what is known about them ---- */

int memfs_stat(struct memfs *fs, const char *path, struct stat *ret);
int memfs_lstat(struct memfs *fs, const char *path, struct stat *ret);
int memfs_statfs(struct memfs *fs, const char *path, struct statfs *ret);
int memfs_access(struct memfs *fs, const char *path, int mode);
int memfs_chmod(struct memfs *fs, const char *path, uint32_t mode);
int memfs_truncate(struct memfs *fs, const char *path, int64_t size);
int memfs_utimens(
    struct memfs *fs, const char *path, const struct timespec times[2], int no_follow);
uint32_t memfs_umask(struct memfs *fs, uint32_t mask); /* the one before */

/* These write text that ends in NUL. */
int memfs_readlink(struct memfs *fs, const char *path, char target[PATH_MAX]);
int memfs_realpath(struct memfs *fs, const char *path, char resolved[PATH_MAX]);
int memfs_getcwd(struct memfs *fs, char path[PATH_MAX]);
int memfs_chdir(struct memfs *fs, const char *path);

/* Called with each name in a directory and its type as S_IFMT has it; not 0 ends the listing with
 * that. It must not change the directory. */
typedef int (*memfs_entry_fn)(const char *name, size_t len, uint32_t type, void *user);

/* All names in a directory but . and .., in the order they were made. */
int memfs_list(struct memfs *fs, const char *path, memfs_entry_fn fn, void *user);

/* ---- directories that somebody else serves ---- */

struct memfs_served_stat {
    uint32_t mode; /* S_IFREG or S_IFDIR, and permissions, of which those to write are ignored */
    uint64_t size;
    struct timespec mtime;
};

/* Each is asked anew whenever the guest looks, so what is served may change. Paths are relative to
 * the directory, "" for itself, with one slash between parts and none of them "." or "..". Results
 * are 0 or a count, or -errno. */
struct memfs_served {
    int (*list)(void *user, const char *path, memfs_entry_fn fn, void *fn_user);
    int (*stat)(void *user, const char *path, struct memfs_served_stat *ret);
    ssize_t (*read)(void *user, const char *path, uint64_t offset, char *bytes, size_t len);
    void *user;
};

/* Makes a directory beneath /home/vial, with those above it, in which all is read-only and comes
 * from served. The name is relative, as base/name.h has it. -EEXIST when something is there. */
int memfs_mount(struct memfs *fs, const char *name, const struct memfs_served *served);

#endif
