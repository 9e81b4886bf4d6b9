/* raw_process.c - raw attacks on processes: making them, signalling them, becoming another program,
 * dying. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "raw.h"

enum { FORKS = 1000 }; /* a bomb that worked would be seen long before */

void raw_fork_bomb(uint64_t unused)
{
    int i;
    long r = 0;

    (void)unused;
    for (i = 0; i < FORKS && r <= 0; i++) {
        r = syscall(SYS_fork);
        if (r == 0) {
            _exit(0);
        }
    }
    raw_note("fork", r, "EPERM");
    RAW(vfork, "EPERM", 0);
    RAW(clone, "EPERM", SIGCHLD, 0, 0, 0, 0);
    RAW_NUMBER(SYS_clone3, "clone3", "ENOSYS", RAW_NOWHERE, 88);
}

void raw_thread_bomb(uint64_t unused)
{
    static char stack[65536];
    long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

    (void)unused;
    raw_note("clone as pthread_create does",
        syscall(SYS_clone, flags, stack + sizeof(stack), 0, 0, 0), "EPERM");
    raw_note("clone of memory without a thread",
        syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0), "EPERM");
    raw_note(
        "clone into the parent", syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0), "EPERM");
    raw_note("clone with all flags", syscall(SYS_clone, -1, 0, 0, 0, 0), "EPERM");
    RAW_NUMBER(SYS_clone3, "clone3", "ENOSYS", RAW_NOWHERE, 88);
}

void raw_signals_out(uint64_t unused)
{
    (void)unused;
    RAW(kill, "EPERM", -1, SIGKILL);
    RAW(kill, "EPERM", 1, SIGKILL);
    RAW(kill, "EPERM", 0, SIGKILL);
    RAW(kill, "EPERM", 2, 0);
    RAW(tkill, "EPERM", 1, SIGKILL);
    RAW(tgkill, "EPERM", 2, 2, SIGKILL);
    RAW(rt_sigqueueinfo, "EPERM", 2, SIGKILL, RAW_NOWHERE);
    RAW(rt_tgsigqueueinfo, "EPERM", 2, 2, SIGKILL, RAW_NOWHERE);
    RAW(pidfd_open, "EPERM", 1, 0);
    RAW(pidfd_send_signal, "EPERM", 3, SIGKILL, 0, 0);
    RAW(getppid, "EPERM", 0);
    raw_note_yes("own number is 1 or there is no pid namespace", getpid() >= 1);
}

static volatile sig_atomic_t caught;

static void on_any(int number)
{
    (void)number;
    caught = caught + 1;
}

/* Everything that can be blocked, ignored or caught is; then it computes, or sleeps. */
void raw_deaf(uint64_t sleeps)
{
    struct sigaction action = {.sa_handler = on_any};
    struct timespec long_time = {.tv_sec = 1000000000};
    sigset_t all;
    int number;

    for (number = 1; number < 32; number++) {
        (void)sigaction(number, &action, NULL);
    }
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        if (sleeps) {
            (void)nanosleep(&long_time, NULL);
        }
    }
}

void raw_look_into_others(uint64_t unused)
{
    (void)unused;
    RAW(kcmp, "EPERM", 1, 2, 0, 3, 3);
    RAW(pidfd_getfd, "EPERM", 3, 0, 0);
    RAW_NUMBER(440, "process_madvise", "EPERM", 3, RAW_NOWHERE, 1, 4, 0);
    RAW_NUMBER(448, "process_mrelease", "EPERM", 3, 0);
    RAW(get_robust_list, "EPERM", 2, RAW_NOWHERE, RAW_NOWHERE);
    RAW(move_pages, "EPERM", 2, 1, RAW_NOWHERE, 0, 0, 0);
    RAW(migrate_pages, "EPERM", 2, 1, RAW_NOWHERE, RAW_NOWHERE);
    RAW(sched_getattr, "EPERM", 2, RAW_NOWHERE, 48, 0);
    RAW(getpgid, "EPERM", 2);
    RAW(getsid, "EPERM", 0);
    RAW(wait4, "EPERM", -1, 0, 1, 0);
    RAW(waitid, "EPERM", 0, 0, 0, 5, 0);
}

void raw_prctl(uint64_t unused)
{
    static const int options[] = {PR_SET_DUMPABLE, PR_SET_PTRACER, PR_SET_PDEATHSIG, PR_SET_NAME,
        PR_SET_MM, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_SET_KEEPCAPS, PR_SET_SECUREBITS,
        PR_CAP_AMBIENT, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_TSC, PR_SET_TIMERSLACK,
        PR_SET_THP_DISABLE, PR_SET_SPECULATION_CTRL, 65 /* no writing and executing */,
        PR_GET_DUMPABLE, 0, -1};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        RAW(prctl, "EPERM", options[i], 0, 0, 0, 0);
    }
}

void raw_exec(uint64_t unused)
{
    static const char *const none[] = {NULL};

    (void)unused;
    RAW(execve, "EPERM", "/bin/sh", none, none);
    RAW(execve, "EPERM", "/proc/self/exe", none, none);
    RAW(execve, "EPERM", "/lib64/ld-linux-x86-64.so.2", none, none);
    RAW(execveat, "EPERM", 3, "", none, none, AT_EMPTY_PATH);
    RAW(memfd_create, "EPERM", "x", 0);
    RAW(uselib, "EPERM", "/bin/sh");
}

/* With files: writes a program of its own and tries to run it in every way. */
void raw_exec_file(uint64_t unused)
{
    static const char *const none[] = {NULL};

    (void)unused;
    RAW(open, "EPERM", "program", O_RDWR | O_CREAT, 0700);
    RAW(memfd_create, "EPERM", "program", 0);
    RAW(chmod, "EPERM", "program", 04755);
    RAW(execve, "EPERM", "program", none, none);
    RAW(execveat, "EPERM", 0, "", none, none, AT_EMPTY_PATH);
    RAW(execveat, "EPERM", 3, "", none, none, AT_EMPTY_PATH);
    raw_note("mapping what is open as code",
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, 0, 0) == MAP_FAILED ? -1 : 0, "EPERM");
}

/* volatile hides the null from a compiler that would make something else of it. */
static int *volatile nowhere;

static __attribute__((noinline)) unsigned deep(unsigned n)
{
    volatile char room[4096];

    room[0] = (char)n;
    return n == 0 ? 0 : deep(n + 1) + (unsigned)room[0];
}

void raw_crash(uint64_t how)
{
    switch (how) {
    case 0:
        *nowhere = 1;
        break;
    case 1:
        abort();
    case 2:
        raw_note_yes("the stack has no end", deep(1) == 0);
        break;
#if defined(__x86_64__)
    case 3:
        __asm__ volatile("int3");
        break;
    case 4:
        __asm__ volatile("ud2");
        break;
    case 5:
        __asm__ volatile("hlt");
        break;
#endif
    default:
        _exit((int)how);
    }
    raw_note_yes("still alive", 0);
}

/* A crash with the handler for crashes on a stack that is not there. */
void raw_crash_in_handler(uint64_t unused)
{
    struct sigaction action = {.sa_handler = on_any, .sa_flags = SA_ONSTACK | SA_NODEFER};
    stack_t stack = {.ss_sp = (void *)(uintptr_t)0x10000, .ss_size = 65536};

    (void)unused;
    (void)sigaltstack(&stack, NULL);
    (void)sigaction(SIGSEGV, &action, NULL);
    *nowhere = 1;
}

/* A signal frame of its own making: all registers, segments included, are what it likes. */
void raw_forged_signal_frame(uint64_t unused)
{
    static char frame[8192] __attribute__((aligned(64)));

    (void)unused;
    memset(frame, 0xff, sizeof(frame));
#if defined(__x86_64__)
    __asm__ volatile("lea 2048(%0), %%rsp\n\tmov $15, %%eax\n\tsyscall" : : "r"(frame) : "memory");
#else
    (void)syscall(SYS_rt_sigreturn);
#endif
}
