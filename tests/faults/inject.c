/* inject.c - see inject.h. */
#include "inject.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "suite.h"

enum {
    PATIENCE_MS = 80000, /* four times what the host gives a template that does not answer */
    GONE_MS = 1000,      /* whatever the program started is gone so long after its own end */
    PAUSE_US = 200,
    NO_LISTENER = -2, /* the kernel gives none */
};

void inject_arm(struct inject_shared *shared, int on)
{
    __atomic_store_n(&shared->armed, on, __ATOMIC_SEQ_CST);
}

/* In the program: its own calls of this number, and those of all that it starts, wait for us. */
static int install(int nr)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    long fd;

    /* Whoever may do without it does: that it is set is one of the steps which are to fail. */
    fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (fd < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        fd = syscall(
            SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    }
    return (int)fd;
}

static _Noreturn void run_program(const struct fault *fault,
    void (*program)(struct inject_shared *shared, void *user), void *user,
    struct inject_shared *shared)
{
    int fd = install(fault->nr);

    __atomic_store_n(&shared->listener, fd >= 0 ? fd : NO_LISTENER, __ATOMIC_SEQ_CST);
    if (fd < 0) {
        _exit(0);
    }
    /* Until somebody listens we may make no call of that number, and only look at memory. */
    while (!__atomic_load_n(&shared->taken, __ATOMIC_SEQ_CST)) {
    }
    (void)close(fd);
    program(shared, user);
    _exit(0);
}

/* The listener of the program, when it is there. */
static int take_listener(int pidfd, struct inject_shared *shared)
{
    uint64_t until = clock_now_us() + PATIENCE_MS * 1000ULL;
    int number, fd;

    while ((number = __atomic_load_n(&shared->listener, __ATOMIC_SEQ_CST)) == -1 &&
           clock_now_us() < until) {
        (void)usleep(PAUSE_US);
    }
    if (number < 0) {
        return -1;
    }
    fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
    __atomic_store_n(&shared->taken, 1, __ATOMIC_SEQ_CST);
    return fd;
}

/* Is the thread one of this process? */
static int is_thread_of(pid_t thread, pid_t process)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)process, (int)thread);
    return access(path, F_OK) == 0;
}

/* Answers one question of the kernel. */
static void answer(int listener, pid_t host, const struct fault *fault,
    const struct inject_shared *shared, struct inject_outcome *out)
{
    struct seccomp_notif question = {.id = 0};
    struct seccomp_notif_resp response = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) < 0) {
        return; /* it was killed while it asked */
    }
    response.id = question.id;
    if (__atomic_load_n(&shared->armed, __ATOMIC_SEQ_CST)) {
        out->calls++;
        if (out->calls == fault->n) {
            out->hit = 1;
            out->hit_host = is_thread_of((pid_t)question.pid, host);
            if (fault->sys == 0) {
                out->killed_host = out->hit_host;
                (void)kill(out->hit_host ? host : (pid_t)question.pid, SIGKILL);
            }
            response.flags = 0; /* the call is not made, also by one that is dying */
            response.error = fault->sys != 0 ? -fault->sys : -EINTR;
        }
    }
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* Listens until the program has ended; what it started may go on a little longer. */
static void listen_to(int listener, int pidfd, pid_t host, const struct fault *fault,
    const struct inject_shared *shared, struct inject_outcome *out)
{
    struct pollfd polls[2] = {{.fd = listener, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
    uint64_t until = clock_now_us() + PATIENCE_MS * 1000ULL;

    while ((polls[1].revents & POLLIN) == 0) {
        if (poll(polls, 2, 100) < 0 && errno != EINTR) {
            break;
        }
        if ((polls[0].revents & POLLIN) != 0) {
            answer(listener, host, fault, shared, out);
        }
        if (clock_now_us() > until) {
            out->hung = 1;
            (void)kill(host, SIGKILL);
            until += PATIENCE_MS * 1000ULL;
        }
    }
}

/* The program has ended: everything that it started must do so by itself, within a second. We go on
 * answering, because calls that fail for want of us would end them, too. */
static void wait_for_rest(int listener, pid_t host, const struct fault *fault,
    const struct inject_shared *shared, struct inject_outcome *out)
{
    struct pollfd p = {.fd = listener, .events = POLLIN};
    uint64_t start = clock_now_us();

    do {
        if (poll(&p, 1, 1) > 0 && (p.revents & POLLIN) != 0) {
            answer(listener, host, fault, shared, out);
        } else {
            out->left = leftovers_descendants();
        }
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
        out->gone_ms = (unsigned)((clock_now_us() - start) / 1000);
    } while (out->left > 0 && out->gone_ms < GONE_MS);
}

int inject_run(const struct fault *fault, void (*program)(struct inject_shared *shared, void *user),
    void *user, struct inject_shared *shared, struct inject_outcome *ret)
{
    int pidfd, listener;
    pid_t host;

    *ret = (struct inject_outcome){.calls = 0};
    memset(shared, 0, sizeof(*shared));
    shared->listener = -1;
    (void)fflush(stdout);
    host = fork();
    if (host == 0) {
        run_program(fault, program, user, shared);
    }
    pidfd = (int)syscall(SYS_pidfd_open, host, 0);
    listener = host > 0 && pidfd >= 0 ? take_listener(pidfd, shared) : -1;
    if (listener < 0 && host > 0) {
        (void)kill(host, SIGKILL);
    }
    if (listener >= 0) {
        listen_to(listener, pidfd, host, fault, shared, ret);
    }
    if (host > 0) {
        (void)waitpid(host, &ret->status, 0);
    }
    if (listener >= 0) {
        ret->left = 1;
        wait_for_rest(listener, host, fault, shared, ret);
        (void)close(listener); /* whoever asks now gets ENOSYS, and nobody waits for us */
    }
    fd_closep(&pidfd);
    return listener >= 0 ? 0 : -1;
}
