/* fork.h - the one place where processes are made. */
#ifndef VIAL_JAIL_FORK_H
#define VIAL_JAIL_FORK_H

#include <stdint.h>
#include <sys/types.h>

/* The descriptors a cell program is started with, beside 0, 1 and 2, which are /dev/null. */
enum {
    FORK_CONTROL_FD = 3, /* the control socket to the host */
    FORK_HOST_FD = 4,    /* a process descriptor of the host: readable when the host is gone */
    FORK_STANDINS_FD =
        5, /* where there is one, a directory for the linker, by FORK_STANDINS_VARIABLE */
};
#define FORK_STANDINS_VARIABLE "LD_LIBRARY_PATH"

/* Host: starts the program with these descriptors (the last one may be -1), an environment of its
 * own and no signal blocked or ignored. 0, or an errno. The child is the caller's to wait for. */
int fork_spawn(const char *path, const char *const argv[], const char *const envp[], int control_fd,
    int host_fd, int standins_fd, pid_t *ret);

/* Host: starts a program that is no cell. fds become its 0, 1 and 2, and it has no others; they are
 * above 2 themselves. It begins in the directory cwd_fd, or where we are when that is negative, in
 * a session of its own, so that -*ret means it and what it starts; no signal is blocked or ignored.
 * 0, or an errno. The child is the caller's to wait for. */
int fork_spawn_tool(const char *path, const char *const argv[], const char *const envp[],
    int cwd_fd, const int fds[3], pid_t *ret);

/* Template and warm-up: a copy of this process in new namespaces (CLONE_NEW* and CLONE_PARENT).
 * Returns like fork; in the parent *ret_pidfd is the child's process descriptor. The caller must be
 * the only thread that matters: all others, and the locks they hold, are lost in the child. */
pid_t fork_clone(uint64_t flags, int *ret_pidfd);

/* A cell of a family: a copy of this process beside it, with the same parent. Waits until the host
 * consents. Returns like fork. */
pid_t fork_branch(void);

/* Prepares fork_clone: finds where libc keeps the thread's number, so that the kernel can write the
 * child's there. 0, or -1 when it cannot be found. */
int fork_prepare(void);

/* The number, in our namespace, of the process that a descriptor is for; 0 when it is gone. */
pid_t fork_pid_of(int pidfd);

#endif
