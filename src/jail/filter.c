/* filter.c - loads the generated programs; see filter.h. */
#include "jail/filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/mutate.h"

int filter_load(const struct sock_fprog *program)
{
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
}

/* The low half of an argument; both processors there are programs for are little-endian. */
#define LOAD_ARG(n)                                                                                \
    {                                                                                              \
        BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args) + (size_t)8 * (n)      \
    }

int filter_hold_clone(int threads, int *ret_listener)
{
    uint32_t clone = mutate_without_part("clone-gate") ? SECCOMP_RET_ALLOW : SECCOMP_RET_USER_NOTIF;
    int may_thread = threads || mutate_without_part("family-threads");
    uint32_t thread = may_thread ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM;
    /* The answers are at the end. The flags of clone are one of two sets, as the filters above and
     * below this one see to. */
    struct sock_filter code[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_clone},
        LOAD_ARG(0),
        {BPF_JMP | BPF_JSET | BPF_K, 0, 6, CLONE_THREAD},
        {BPF_RET | BPF_K, 0, 0, thread},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 6, SYS_prctl},
        LOAD_ARG(0),
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, PR_SET_PDEATHSIG},
        LOAD_ARG(1),
        {BPF_JMP | BPF_JEQ | BPF_K, 2, 1, SIGKILL},
        {BPF_RET | BPF_K, 0, 0, clone},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

    *ret_listener = (int)syscall(
        SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (*ret_listener >= 0) {
        return 0;
    }
    code[program.len - 3].k = SECCOMP_RET_ERRNO | EPERM;
    return filter_load(&program);
}
