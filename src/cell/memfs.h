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

/* What memfs.judge is asked about; names are made, changed and removed by MEMFS_ASK_WRITE. To look
 * is to read what is known about a file, and not what is in it. */
enum memfs_ask {
    MEMFS_ASK_READ = 1,
    MEMFS_ASK_WRITE = 2,
    MEMFS_ASK_ENTER = 4,
    MEMFS_ASK_LOOK = 8,
};

struct memfs_node;
struct memfs_fd;

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
    char *cwd_served;     /* where in what is served it is, when cwd is such a directory; owned */
    struct memfs_fd *fds; /* by descriptor; owned */
    uint32_t fds_capacity;
    uint32_t files_count;
    uint32_t mounts_count;
    uint64_t pages_count; /* that contents take */
    uint64_t ino_last;
    uint32_t umask;
    uint32_t tmp_made;
    int (*on_begin)(struct memfs *fs); /* puts more into a tree that was just made; may be NULL */
    /* Asked before each operation, when there is something to ask about: may that be done with the
     * file of this absolute path? 0 or -errno. A quiet question is not told to anybody. */
    int (*judge)(struct memfs *fs, unsigned asked, const char *path, int quiet);
    char denied_by[256]; /* who refused last; empty: nobody, or it was told */
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
int64_t memfs_lseek(struct memfs *fs, int fd, int64_t offset, int whence);

/* Takes the room of what is still a hole, and makes the file so long. */
int memfs_fallocate(struct memfs *fs, int fd, int64_t offset, int64_t len);

/* Another descriptor for what is open: both are at the same place in the file. The lowest free one
 * that is not below least, or this one, which is closed before; of the first MEMFS_FD_FIRST it may
 * be one of the three standard ones. */
int memfs_dup(struct memfs *fs, int fd, int least);
int memfs_dup2(struct memfs *fs, int fd, int to);

/* The flags that it was opened with; of those that are set, only O_APPEND, O_NOATIME and O_NONBLOCK
 * count. */
int memfs_get_flags(struct memfs *fs, int fd);
int memfs_set_flags(struct memfs *fs, int fd, int flags);

/* A bit of the descriptor itself that programs set and ask for. */
int memfs_get_cloexec(struct memfs *fs, int fd);
int memfs_set_cloexec(struct memfs *fs, int fd, int is_set);

/* Descriptors of something that is no file here, and that the caller knows by a number from 0 on:
 * nothing but closing and duplicating can be done with them. fd is one of the three standard ones,
 * or -1 for the lowest free one. */
int memfs_open_stream(struct memfs *fs, int fd, int stream, int flags);
int memfs_stream_of(struct memfs *fs, int fd); /* its number; -1 for a file, or nothing */

/* ---- directories that are open ---- */

/* Where relative paths began before. */
struct memfs_at {
    struct memfs_node *cwd;
    char *cwd_served;
};

/* Relative paths begin at this directory until memfs_at_end. In between no directory is entered and
 * no descriptor closed. */
int memfs_at_begin(struct memfs *fs, int fd, struct memfs_at *ret_before);
void memfs_at_end(struct memfs *fs, const struct memfs_at *before);

int memfs_fchdir(struct memfs *fs, int fd);
int memfs_fd_path(struct memfs *fs, int fd, char path[PATH_MAX]); /* of a directory */

/* What stat says is the number of a name in the working directory, without asking who serves it; 0:
 * there is no such name. */
uint64_t memfs_ino_of(struct memfs *fs, const char *name);

/* ---- copying ---- */

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

/* The same anywhere, at an absolute path, for what is not the guest's: it counts as no file. */
int memfs_mount_fixed(struct memfs *fs, const char *path, const struct memfs_served *served);

#endif
