/* fork.c - see fork.h.
 *
 * A cell is made by a raw clone3, because libc's fork takes no namespaces. libc keeps the number of
 * the running thread in its thread block, and abort and the recursive mutexes believe it; its own
 * fork asks the kernel to write the child's number there, and so does fork_clone. */
#include "jail/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

static pid_t *thread_number; /* inside of libc's thread block */

int fork_prepare(void)
{
    pid_t *found = NULL;

    if (prctl(PR_GET_TID_ADDRESS, &found, 0, 0, 0) < 0 || found == NULL || *found != gettid()) {
        return -1;
    }
    thread_number = found;
    return 0;
}

pid_t fork_clone(uint64_t flags, int *ret_pidfd)
{
    struct clone_args args = {
        .flags = flags | CLONE_PIDFD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID,
        .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
        .child_tid = (uint64_t)(uintptr_t)thread_number,
        .exit_signal = (flags & CLONE_PARENT) != 0 ? 0 : SIGCHLD, /* inherited with CLONE_PARENT */
    };

    return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

pid_t fork_branch(void)
{
    /* Just these flags are what the filter lets through: filter_table.inc. */
    unsigned long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;

#if defined(__x86_64__)
    return (pid_t)syscall(SYS_clone, flags, NULL, NULL, thread_number, 0UL);
#else
    return (pid_t)syscall(SYS_clone, flags, NULL, NULL, 0UL, thread_number);
#endif
}

static int spawn_actions(
    posix_spawn_file_actions_t *actions, int control_fd, int host_fd, int standins_fd)
{
    int r = 0;
    int fd;

    for (fd = 0; fd <= 2 && r == 0; fd++) {
        r = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
    }
    if (r == 0) {
        r = posix_spawn_file_actions_adddup2(actions, control_fd, FORK_CONTROL_FD);
    }
    if (r == 0) {
        r = posix_spawn_file_actions_adddup2(actions, host_fd, FORK_HOST_FD);
    }
    if (r == 0 && standins_fd >= 0) {
        r = posix_spawn_file_actions_adddup2(actions, standins_fd, FORK_STANDINS_FD);
    }
    if (r == 0) {
        r = posix_spawn_file_actions_addclosefrom_np(
            actions, standins_fd >= 0 ? FORK_STANDINS_FD + 1 : FORK_HOST_FD + 1);
    }
    return r;
}

/* Spawns with signals as they are in a fresh program, in a session of its own. */
static int spawn_with(const posix_spawn_file_actions_t *actions, const char *path,
    const char *const argv[], const char *const envp[], pid_t *ret)
{
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int r;

    r = posix_spawnattr_init(&attributes);
    if (r != 0) {
        return r;
    }
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    (void)posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    /* posix_spawn does not write to the strings; its prototype is older than const. */
    r = posix_spawn(ret, path, actions, &attributes, (char *const *)(uintptr_t)argv,
        (char *const *)(uintptr_t)envp);
    (void)posix_spawnattr_destroy(&attributes);
    return r;
}

int fork_spawn(const char *path, const char *const argv[], const char *const envp[], int control_fd,
    int host_fd, int standins_fd, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    int r;

    /* They are never below 6 here: dup2 of one must not overwrite another. */
    if (control_fd <= FORK_STANDINS_FD || host_fd <= FORK_STANDINS_FD ||
        (standins_fd >= 0 && standins_fd <= FORK_STANDINS_FD)) {
        return EBADF;
    }
    r = posix_spawn_file_actions_init(&actions);
    if (r != 0) {
        return r;
    }
    r = spawn_actions(&actions, control_fd, host_fd, standins_fd);
    if (r == 0) {
        r = spawn_with(&actions, path, argv, envp, ret);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return r;
}

int fork_spawn_tool(const char *path, const char *const argv[], const char *const envp[],
    int cwd_fd, const int fds[3], pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    int fd;
    int r;

    if (fds[0] <= 2 || fds[1] <= 2 || fds[2] <= 2) {
        return EBADF;
    }
    r = posix_spawn_file_actions_init(&actions);
    if (r != 0) {
        return r;
    }
    if (cwd_fd >= 0) {
        r = posix_spawn_file_actions_addfchdir_np(&actions, cwd_fd);
    }
    for (fd = 0; fd <= 2 && r == 0; fd++) {
        r = posix_spawn_file_actions_adddup2(&actions, fds[fd], fd);
    }
    if (r == 0) {
        r = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    }
    if (r == 0) {
        r = spawn_with(&actions, path, argv, envp, ret);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return r;
}

/* What the ioctl below fills in; newer than the headers of Debian 12. */
struct pidfd_info_head {
    uint64_t mask;
    uint64_t cgroup_id;
    uint32_t pid;
    uint32_t rest[11]; /* 64 bytes, the first size that kernels know */
};
#define PIDFD_INFO _IOWR(0xFF, 11, struct pidfd_info_head)

pid_t fork_pid_of(int pidfd)
{
    struct pidfd_info_head info = {.mask = 1};
    char path[64], text[512];
    const char *found;
    int pid = 0;

    if (ioctl(pidfd, PIDFD_INFO, &info) == 0 && info.pid != 0) {
        return (pid_t)info.pid;
    }

    (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
    if (fd_get_text(AT_FDCWD, path, text, sizeof(text)) < 0) {
        return 0;
    }
    found = strstr(text, "\nPid:");
    return found != NULL && sscanf(found, "\nPid: %d", &pid) == 1 && pid > 0 ? pid : 0;
}
