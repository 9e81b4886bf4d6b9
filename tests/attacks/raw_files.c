/* raw_files.c - raw attacks on files. No cell has a call that takes a path: a program's files are
 * in its memory. So each of these is refused by the filter, and once more behind it, where the tree
 * is empty and Landlock allows nothing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "raw.h"

enum { PATHS_MAX = 5000 };

/* What a call must say: the filter's refusal, or behind the filter one of these. */
static const char *want(uint64_t is_behind, const char *there)
{
    return is_behind ? there : "EPERM";
}

static void note_open(const char *label, const char *path, int flags, const char *wanted)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);

    raw_note(label, fd, wanted);
    if (fd >= 0) {
        (void)close(fd);
    }
}

void raw_open_without_end(uint64_t unused)
{
    (void)unused;
    note_open("open", ".", O_RDONLY | O_DIRECTORY, "EPERM");
    RAW(dup, "EPERM", 0);
    RAW(dup2, "EPERM", 0, 9);
    RAW(dup3, "EPERM", 0, 1000, O_CLOEXEC);
    RAW(fcntl, "EPERM", 0, F_DUPFD_CLOEXEC, 0);
    RAW(pipe2, "EPERM", RAW_NOWHERE, 0);
    RAW(epoll_create1, "EPERM", 0);
    RAW(eventfd2, "EPERM", 0, 0);
    RAW(inotify_init1, "EPERM", 0);
    RAW(timerfd_create, "EPERM", 0, 0);
    RAW(signalfd4, "EPERM", -1, RAW_NOWHERE, 8, 0);
    RAW(memfd_create, "EPERM", "x", 0);
}

/* Things every Linux has, and that do not exist here. */
void raw_host_paths(uint64_t is_behind)
{
    static const char *const paths[] = {"/proc/self/environ", "/proc/1/environ", "/proc/self/maps",
        "/proc/self/mem", "/proc/self/exe", "/proc/1/root", "/proc/1/cwd", "/proc/sysrq-trigger",
        "/proc/sys/kernel/core_pattern", "/proc/self/fd/3", "/proc/kcore", "/sys", "/sys/fs/cgroup",
        "/dev", "/dev/null", "/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/shm", "/dev/pts/0",
        "/dev/tty", "/etc/passwd", "/etc/shadow", "/etc/hostname", "/root", "/usr", "/bin/sh",
        "/lib", "/lib64", "/tmp", "/var", "/run", "/boot", "/opt", "/mnt", "/home",
        "/home/vial/../../etc/passwd"};
    size_t i;

    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        note_open(paths[i], paths[i], O_RDONLY, want(is_behind, "ENOENT"));
        raw_note(paths[i], access(paths[i], F_OK), want(is_behind, "ENOENT"));
    }
    note_open("writing", "/proc/self/mem", O_WRONLY, want(is_behind, "ENOENT"));
}

void raw_odd_paths(uint64_t is_behind)
{
    static char path[PATHS_MAX + 1];
    const char *gone = want(is_behind, "ENOENT");
    const char *kept = want(is_behind, "EACCES");
    size_t i;

    note_open("up and away", "../../../../../../../../etc/passwd", O_RDONLY, gone);
    note_open("up in the middle", "./x/../../../../etc/passwd", O_RDONLY, gone);
    note_open("two slashes", "//etc//passwd", O_RDONLY, gone);
    note_open("nothing", "", O_RDONLY, gone);
    note_open("a bad address", RAW_NOWHERE, O_RDONLY, want(is_behind, "EFAULT"));
    note_open("the parent", "..", O_RDONLY | O_DIRECTORY, kept);
    note_open("the top", "/", O_RDONLY | O_DIRECTORY, kept);
    note_open("the top as a mere path", "/", O_PATH, want(is_behind, "ok"));
    memset(path, 'a', PATHS_MAX);
    note_open("a long path", path, O_RDONLY, want(is_behind, "ENAMETOOLONG"));
    path[300] = '\0';
    note_open("a long name", path, O_RDONLY | O_CREAT, want(is_behind, "ENAMETOOLONG"));
    for (i = 0; i + 2 < 4000; i += 2) {
        memcpy(path + i, "./", 2);
    }
    (void)snprintf(path + i, sizeof(path) - i, "x");
    note_open("many dots", path, O_RDONLY, gone);
    note_open("a name of odd bytes", "\x1b[2J\n\xff\xfe", O_RDONLY, gone);
}

/* The newer forms of calls that take paths. */
void raw_newer_paths(uint64_t unused)
{
    (void)unused;
    RAW(openat2, "ENOSYS", AT_FDCWD, "/", RAW_NOWHERE, 24);
    RAW(faccessat2, "ENOSYS", AT_FDCWD, "/", 0, 0);
    RAW(statx, "EPERM", AT_FDCWD, "/", 0, 0, RAW_NOWHERE);
    RAW(execveat, "EPERM", AT_FDCWD, "/", RAW_NOWHERE, RAW_NOWHERE, 0);
    RAW_NUMBER(452, "fchmodat2", "ENOSYS", AT_FDCWD, "own", 06777, 0);
}

/* Everything that would make, change or take away a name. The tree is full and read-only. */
void raw_make_names(uint64_t is_behind)
{
    const char *no = want(is_behind, "EROFS EACCES ENOSPC EXDEV");
    const char *not_there = want(is_behind, "EROFS EACCES ENOENT EXDEV");

    note_open("a new file", "/x", O_WRONLY | O_CREAT, no);
    note_open("a file without a name", "/", O_TMPFILE | O_RDWR,
        want(is_behind, "EROFS EACCES EOPNOTSUPP"));
    raw_note("mkdir", mkdir("/x", 0700), no);
    raw_note("symlink to a secret", symlink("/etc/shadow", "/secret"), no);
    raw_note("link", link("/", "/x"), want(is_behind, "EROFS EACCES EPERM EXDEV"));
    raw_note("a name for a descriptor", linkat(3, "", AT_FDCWD, "/three", AT_EMPTY_PATH),
        want(is_behind, "ENOENT EXDEV EPERM EACCES EROFS"));
    raw_note("rename", rename("/x", "/y"), not_there);
    raw_note("unlink", unlink("/x"), not_there);
    raw_note("rmdir", rmdir("/x"), not_there);
    raw_note("chmod", chmod("/", 0777), want(is_behind, "EROFS EACCES EPERM"));
    raw_note("truncate", truncate("/", 0), want(is_behind, "EISDIR EROFS EACCES"));
    raw_note("utimensat", utimensat(AT_FDCWD, "/", NULL, 0), want(is_behind, "EROFS EACCES EPERM"));
}

void raw_nodes(uint64_t is_behind)
{
    const char *no = want(is_behind, "EROFS EACCES EPERM ENOSPC");

    RAW(mknod, no, "/fifo", S_IFIFO | 0600, 0);
    RAW(mknod, no, "/socket", S_IFSOCK | 0600, 0);
    RAW(mknod, no, "/null", S_IFCHR | 0600, makedev(1, 3));
    RAW(mknod, no, "/disk", S_IFBLK | 0600, makedev(254, 0));
    RAW(mknod, no, "/plain", S_IFREG | 0600, 0);
    RAW(mknodat, no, AT_FDCWD, "/fifo", S_IFIFO | 0600, 0);
}

void raw_file_attributes(uint64_t unused)
{
    struct stat st;

    (void)unused;
    RAW(setxattr, "EPERM", "/", "user.x", "x", 1, 0);
    RAW(fsetxattr, "EPERM", 3, "security.capability", "x", 1, 0);
    RAW(lsetxattr, "EPERM", "/", "system.posix_acl_access", "x", 1, 0);
    RAW(getxattr, "EPERM", "/", "user.x", RAW_NOWHERE, 1);
    RAW(listxattr, "EPERM", "/", RAW_NOWHERE, 1);
    RAW(removexattr, "EPERM", "/", "user.x");
    RAW(chown, "EPERM", "/", 0, 0);
    RAW(fchown, "EPERM", 3, 0, 0);
    RAW(lchown, "EPERM", "/", 0, 0);
    RAW(fchownat, "EPERM", AT_FDCWD, "/", 0, 0, 0);
    RAW(fchmod, "EPERM", 3, 06777);
    RAW(ioctl, "EPERM", 3, 0x40086602, RAW_NOWHERE);
    RAW(fstat, "EPERM", 3, &st);
    RAW(lseek, "EPERM", 3, 0, 0);
    RAW(ftruncate, "EPERM", 3, 0);
    RAW(fallocate, "EPERM", 3, 0, 0, 4096);
    RAW(sendfile, "EPERM", 3, 3, RAW_NOWHERE, 1);
    RAW(getdents64, "EPERM", 3, RAW_NOWHERE, 1);
}

void raw_move_the_floor(uint64_t is_behind)
{
    raw_note("going up", chdir(".."), want(is_behind, "ok"));
    raw_note("going to the top", chdir("/"), want(is_behind, "ok"));
    raw_note("and no further", chdir(".."), want(is_behind, "ok"));
    note_open("looking around", ".", O_RDONLY | O_DIRECTORY, want(is_behind, "EACCES"));
    raw_note("the host is not there", access("etc", F_OK), want(is_behind, "ENOENT"));
    RAW(chroot, "EPERM", "/");
    RAW(fchdir, want(is_behind, "ENOTDIR"), 3);
}

void raw_mounts(uint64_t unused)
{
    (void)unused;
    RAW(mount, "EPERM", "x", "/", "tmpfs", 0, 0);
    RAW(mount, "EPERM", 0, "/", 0, MS_REMOUNT | MS_BIND, 0);
    RAW(umount2, "EPERM", "/", MNT_DETACH);
    RAW(pivot_root, "EPERM", ".", ".");
    RAW(chroot, "EPERM", ".");
    RAW_NUMBER(428, "open_tree", "EPERM", AT_FDCWD, "/", 1);
    RAW_NUMBER(429, "move_mount", "EPERM", 3, "", AT_FDCWD, "/", 4);
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
