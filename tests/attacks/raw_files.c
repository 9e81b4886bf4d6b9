/* raw_files.c - raw attacks on files, in a cell that has a private tree for them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "raw.h"

enum {
    PIECE = 65536,
    PATHS_MAX = 5000,
    FILES = 10000, /* more than any limit these cases run with */
};

static void note_open(const char *label, const char *path, int flags, const char *want)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);

    raw_note(label, fd, want);
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* Writes megabytes into one file, and then into another that has no name any more. */
void raw_disk_fill(uint64_t megabytes)
{
    static char piece[PIECE];
    size_t left = (size_t)megabytes << 20;
    int fd = open("big", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ssize_t n = 0;

    memset(piece, 1, sizeof(piece));
    while (left > 0 && n >= 0) {
        n = write(fd, piece, sizeof(piece));
        left -= n > 0 ? (size_t)n : 0;
    }
    raw_note("write until it is full", n, "ENOSPC EFBIG");
    (void)close(fd);
    raw_note("unlink", unlink("big"), "ok");
    fd = open("hidden", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    raw_note("unlink what is open", unlink("hidden"), "ok");
    do {
        n = write(fd, piece, sizeof(piece));
    } while (n > 0);
    raw_note("write to a file without a name", n, "ENOSPC EFBIG");
}

/* Many files, then many directories, each until there is no room. */
void raw_inode_fill(uint64_t unused)
{
    char name[32];
    int fd = 0;
    int i;
    int r = 0;

    (void)unused;
    for (i = 0; i < FILES && fd >= 0; i++) {
        (void)snprintf(name, sizeof(name), "f%d", i);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    raw_note("files until it is full", fd, "ENOSPC");
    while (--i > 0) {
        (void)snprintf(name, sizeof(name), "f%d", i - 1);
        (void)unlink(name);
    }
    for (i = 0; i < FILES && r == 0; i++) {
        (void)snprintf(name, sizeof(name), "d%d", i);
        r = mkdir(name, 0700);
    }
    raw_note("directories until it is full", r, "ENOSPC");
    r = 0;
    for (i = 0; i < FILES && r == 0; i++) {
        (void)snprintf(name, sizeof(name), "s%d", i);
        r = symlink("x", name);
    }
    raw_note("links until it is full", r, "ENOSPC");
}

void raw_sparse(uint64_t unused)
{
    int fd = open("sparse", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    (void)unused;
    raw_note("open", fd, "ok");
    raw_note("a file of a terabyte", ftruncate(fd, 1L << 40), "EFBIG");
    raw_note("a byte far away", pwrite(fd, "x", 1, 1L << 40), "EFBIG");
    raw_note("reserving a terabyte", fallocate(fd, 0, 0, 1L << 40), "EFBIG ENOSPC");
    raw_note("reserving behind the end", fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1L << 40),
        "EFBIG ENOSPC");
    raw_note("a negative size", ftruncate(fd, -1), "EINVAL");
    raw_note("copying onto itself", syscall(SYS_copy_file_range, fd, 0, fd, 0, 1L << 40, 0),
        "ok EINVAL");
}

void raw_open_without_end(uint64_t unused)
{
    int fd = 0;
    int i;

    (void)unused;
    for (i = 0; i < FILES && fd >= 0; i++) {
        fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    raw_note("open without close", fd, "EMFILE");
    raw_note_yes("the limit is that of the run", i <= 32);
    raw_note("dup", dup(0), "EMFILE");
    raw_note("dup3 to a high number", dup3(0, 1000, O_CLOEXEC), "EBADF");
    raw_note("fcntl", fcntl(0, F_DUPFD_CLOEXEC, 0), "EMFILE");
    RAW(pipe2, "EPERM", RAW_NOWHERE, 0);
    RAW(epoll_create1, "EPERM", 0);
    RAW(eventfd2, "EPERM", 0, 0);
}

/* Things every Linux has, and that do not exist here. */
void raw_host_paths(uint64_t unused)
{
    static const char *const paths[] = {"/proc/self/environ", "/proc/1/environ", "/proc/self/maps",
        "/proc/self/mem", "/proc/self/exe", "/proc/1/root", "/proc/1/cwd", "/proc/sysrq-trigger",
        "/proc/sys/kernel/core_pattern", "/proc/self/fd/3", "/proc/kcore", "/sys", "/sys/fs/cgroup",
        "/dev", "/dev/null", "/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/shm", "/dev/pts/0",
        "/dev/tty", "/etc/passwd", "/etc/shadow", "/etc/hostname", "/root", "/usr", "/bin/sh",
        "/lib", "/lib64", "/tmp", "/var", "/run", "/boot", "/opt", "/mnt",
        "/home/vial/../../etc/passwd"};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        note_open(paths[i], paths[i], O_RDONLY, "ENOENT");
        raw_note(paths[i], access(paths[i], F_OK), "ENOENT");
    }
    note_open("writing to /proc/self/mem", "/proc/self/mem", O_WRONLY, "ENOENT");
}

void raw_odd_paths(uint64_t unused)
{
    static char path[PATHS_MAX + 1];
    size_t i;

    (void)unused;
    note_open("up and away", "../../../../../../../../etc/passwd", O_RDONLY, "ENOENT");
    note_open("up in the middle", "./x/../../../../etc/passwd", O_RDONLY, "ENOENT");
    note_open("two slashes", "//etc//passwd", O_RDONLY, "ENOENT");
    note_open("nothing", "", O_RDONLY, "ENOENT");
    note_open("a bad address", RAW_NOWHERE, O_RDONLY, "EFAULT");
    note_open("the parent", "..", O_RDONLY | O_DIRECTORY, "EACCES");
    note_open("the top", "/", O_RDONLY | O_DIRECTORY, "EACCES");
    note_open("the top as a mere path", "/", O_PATH, "ok");
    memset(path, 'a', PATHS_MAX);
    note_open("a long path", path, O_RDONLY, "ENAMETOOLONG");
    note_open("a long new file", path, O_RDONLY | O_CREAT, "ENAMETOOLONG");
    path[300] = '\0';
    note_open("a long name", path, O_RDONLY | O_CREAT, "ENAMETOOLONG");
    for (i = 0; i + 2 < 4000; i += 2) {
        memcpy(path + i, "./", 2);
    }
    (void)snprintf(path + i, sizeof(path) - i, "x");
    note_open("many dots", path, O_RDONLY, "ENOENT");
    note_open("a name of odd bytes", "\x1b[2J\n\xff\xfe", O_RDONLY | O_CREAT, "ok");
    RAW(openat2, "ENOSYS", AT_FDCWD, "/", RAW_NOWHERE, 24);
    RAW(faccessat2, "ENOSYS", AT_FDCWD, "/", 0, 0);
}

void raw_symlinks(uint64_t unused)
{
    (void)unused;
    raw_note("link to a secret", symlink("/etc/shadow", "secret"), "ok");
    note_open("through it", "secret", O_RDONLY, "ENOENT");
    note_open("writing through it", "secret", O_WRONLY | O_CREAT, "ENOENT");
    raw_note("link to the top", symlink("/", "top"), "ok");
    note_open("through it", "top", O_RDONLY | O_DIRECTORY, "EACCES");
    note_open("a file behind it", "top/etc/passwd", O_RDONLY, "ENOENT");
    note_open("a new file behind it", "top/x", O_WRONLY | O_CREAT, "EROFS EACCES");
    raw_note("link up", symlink("../..", "up"), "ok");
    note_open("through it", "up", O_RDONLY | O_DIRECTORY, "EACCES");
    raw_note("link to itself", symlink("loop", "loop"), "ok");
    note_open("through it", "loop", O_RDONLY, "ELOOP");
    raw_note("link to a descriptor", symlink("/proc/self/fd/3", "fd"), "ok");
    note_open("through it", "fd", O_RDONLY, "ENOENT");
}

void raw_hard_links(uint64_t unused)
{
    int fd = open("own", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    (void)unused;
    raw_note("open", fd, "ok");
    raw_note("a second name", link("own", "twin"), "ok");
    raw_note("a name outside", link("own", "/home/own"), "EXDEV EROFS EACCES");
    raw_note("a name for a directory", link("/home", "home"), "EXDEV EPERM EACCES");
    raw_note("moving out", rename("own", "/home/own"), "EXDEV EROFS EACCES");
    raw_note("moving in", rename("/home", "home"), "EXDEV EBUSY EACCES EROFS");
    RAW(renameat2, "EXDEV EROFS EACCES EINVAL", AT_FDCWD, "own", AT_FDCWD, "/home/vial", 2);
    raw_note("a name for what is open",
        linkat(AT_FDCWD, "/proc/self/fd/3", AT_FDCWD, "three", AT_SYMLINK_FOLLOW), "ENOENT");
    raw_note("a name for a descriptor", linkat(3, "", AT_FDCWD, "three", AT_EMPTY_PATH),
        "ENOENT EXDEV EPERM EACCES");
}

void raw_nodes(uint64_t unused)
{
    (void)unused;
    RAW(mknod, "EPERM", "fifo", S_IFIFO | 0600, 0);
    RAW(mknod, "EPERM", "socket", S_IFSOCK | 0600, 0);
    RAW(mknod, "EPERM", "null", S_IFCHR | 0600, makedev(1, 3));
    RAW(mknod, "EPERM", "disk", S_IFBLK | 0600, makedev(254, 0));
    RAW(mknod, "EPERM", "plain", S_IFREG | 0600, 0);
    RAW(mknodat, "EPERM", AT_FDCWD, "fifo", S_IFIFO | 0600, 0);
}

void raw_deep_tree(uint64_t unused)
{
    int r = 0;
    int i;

    (void)unused;
    for (i = 0; i < FILES && r == 0; i++) {
        r = mkdir("d", 0700) < 0 ? -1 : chdir("d");
    }
    raw_note("a tree until it is full", r, "ENOSPC");
    raw_note_yes("it is as deep as the limit on files", i > 32 && i <= 64);
}

void raw_file_attributes(uint64_t unused)
{
    int fd = open("own", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat st;

    (void)unused;
    raw_note("open", fd, "ok");
    RAW(setxattr, "EPERM", "own", "user.x", "x", 1, 0);
    RAW(fsetxattr, "EPERM", fd, "security.capability", "x", 1, 0);
    RAW(lsetxattr, "EPERM", "own", "system.posix_acl_access", "x", 1, 0);
    RAW(getxattr, "EPERM", "own", "user.x", RAW_NOWHERE, 1);
    RAW(listxattr, "EPERM", "own", RAW_NOWHERE, 1);
    RAW(removexattr, "EPERM", "own", "user.x");
    RAW(chown, "EPERM", "own", 0, 0);
    RAW(fchown, "EPERM", fd, 0, 0);
    RAW(lchown, "EPERM", "own", 0, 0);
    RAW(fchownat, "EPERM", AT_FDCWD, "own", 0, 0, 0);
    RAW(ioctl, "EPERM", fd, 0x40086602, RAW_NOWHERE);
    raw_note("a set-user bit", chmod("own", 06777), "ok"); /* means nothing: the tree is nosuid */
    raw_note("status", fstat(fd, &st), "ok");
    raw_note_yes("it is not a file of user 0, or user 0 is us", st.st_uid == 0 || st.st_uid > 0);
    RAW_NUMBER(452, "fchmodat2", "ENOSYS", AT_FDCWD, "own", 06777, 0);
}

void raw_outside_of_work(uint64_t unused)
{
    (void)unused;
    note_open("a new file at the top", "/x", O_WRONLY | O_CREAT, "EROFS EACCES");
    note_open("a new file beside", "/home/x", O_WRONLY | O_CREAT, "EROFS EACCES");
    note_open("a file without a name", "/home", O_TMPFILE | O_RDWR, "EROFS EACCES");
    raw_note("mkdir", mkdir("/x", 0700), "EROFS EACCES");
    raw_note("rmdir", rmdir("/home/vial"), "EROFS EACCES EBUSY");
    raw_note("symlink", symlink("x", "/x"), "EROFS EACCES");
    raw_note("chmod", chmod("/home", 0777), "EROFS EACCES EPERM");
    raw_note("truncate", truncate("/home", 0), "EISDIR EROFS EACCES");
    raw_note("utimensat", utimensat(AT_FDCWD, "/home", NULL, 0), "EROFS EACCES EPERM");
}

void raw_move_the_floor(uint64_t unused)
{
    (void)unused;
    raw_note("removing the work directory", rmdir("/home/vial"), "EROFS EACCES EBUSY");
    raw_note("renaming it", rename("/home/vial", "/home/x"), "EROFS EACCES EBUSY EXDEV");
    raw_note("going up", chdir(".."), "ok");
    raw_note("going to the top", chdir("/"), "ok");
    raw_note("and no further", chdir(".."), "ok");
    note_open("looking around", ".", O_RDONLY | O_DIRECTORY, "EACCES");
    raw_note("the host is not there", access("etc", F_OK), "ENOENT");
    RAW(fchdir, "EPERM", 3);
    RAW(chroot, "EPERM", "/home");
    raw_note("going back", chdir("/home/vial"), "ok");
}

void raw_mounts(uint64_t unused)
{
    (void)unused;
    RAW(mount, "EPERM", "x", "/home", "tmpfs", 0, 0);
    RAW(mount, "EPERM", 0, "/", 0, MS_REMOUNT | MS_BIND, 0);
    RAW(umount2, "EPERM", "/home/vial", MNT_DETACH);
    RAW(pivot_root, "EPERM", ".", ".");
    RAW(chroot, "EPERM", ".");
    RAW_NUMBER(428, "open_tree", "EPERM", AT_FDCWD, "/", 1);
    RAW_NUMBER(429, "move_mount", "EPERM", 3, "", AT_FDCWD, "/home", 4);
    RAW_NUMBER(430, "fsopen", "EPERM", "tmpfs", 0);
    RAW_NUMBER(431, "fsconfig", "EPERM", 3, 6, 0, 0, 0);
    RAW_NUMBER(432, "fsmount", "EPERM", 3, 0, 0);
    RAW_NUMBER(433, "fspick", "EPERM", AT_FDCWD, "/", 0);
    RAW_NUMBER(442, "mount_setattr", "EPERM", AT_FDCWD, "/", 0, RAW_NOWHERE, 32);
    RAW_NUMBER(457, "statmount", "ENOSYS", RAW_NOWHERE, RAW_NOWHERE, 1, 0);
    RAW(unshare, "EPERM", 0x20000);
    RAW(setns, "EPERM", 3, 0x20000);
    RAW(name_to_handle_at, "EPERM", AT_FDCWD, "/", RAW_NOWHERE, RAW_NOWHERE, 0);
    RAW(open_by_handle_at, "EPERM", AT_FDCWD, RAW_NOWHERE, 0);
}

/* Two runs of this must not meet: what the first one leaves, the second one finds. */
void raw_leave_a_file(uint64_t unused)
{
    (void)unused;
    raw_note("what another run left", access("left", F_OK), "ENOENT");
    note_open("leaving something", "left", O_WRONLY | O_CREAT, "ok");
}

/* A mapped file that shrinks under the reader's feet. */
void raw_vanishing_file(uint64_t unused)
{
    int fd = open("map", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    volatile char *p;

    (void)unused;
    raw_note("making it long", ftruncate(fd, 4096), "ok");
    p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    raw_note("making it short", ftruncate(fd, 0), "ok");
    p[0] = 1;
    raw_note_yes("still alive", 0);
}
