/* raw_kernel.c - raw attacks on the kernel's surface: every call there is, and the famous ones by
 * name. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "raw.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

enum {
    NUMBERS = 1024,    /* far above the newest call */
    NUMBER_LAST = 450, /* the newest one that the table was written with */
    /* uretprobe and uprobe: the kernel's own traps. Since 6.14 it passes them by every filter, and
     * ends a process that makes one without having been told to. */
    TRAP_FIRST = 335,
    TRAP_LAST = 336,
};

/* What the table says about a number when all arguments are wrong. */
enum verdict { VERDICT_REFUSED = 0, VERDICT_ANSWERED, VERDICT_NOSYS, VERDICT_LEFT_OUT };
enum who { CELL = 1, SETUP = 2, ORIGIN = 4, INIT = 8, THREADS = 16 };

struct sweep {
    uint8_t verdicts[NUMBERS];
    unsigned who;
};

static void sweep_set(struct sweep *s, long number, unsigned who, int conditional)
{
    if ((who & s->who) != 0 && !conditional) {
        s->verdicts[number] = VERDICT_ANSWERED;
    }
}

#define CALL(name, who, reason) sweep_set(s, SYS_##name, who, 0);
#define CALL_IN(name, who, arg, reason, ...) sweep_set(s, SYS_##name, who, 1);
#define CALL_CLEAR(name, who, arg, bits, reason) sweep_set(s, SYS_##name, who, 1);
#define CALL_CLEAR2(name, who, arg, bits, arg2, bits2, reason) sweep_set(s, SYS_##name, who, 1);
#define CALL_ONLY(name, who, arg, reason, ...)
#define CALL_NOSYS(name, reason) s->verdicts[SYS_##name] = VERDICT_NOSYS;
#define CALL_KILL(name, reason) s->verdicts[SYS_##name] = VERDICT_LEFT_OUT;

static void sweep_fill(struct sweep *s)
{
    int i;

#include "jail/filter_table.inc"

    for (i = NUMBER_LAST + 1; i < NUMBERS; i++) {
        s->verdicts[i] = VERDICT_NOSYS;
    }
    s->verdicts[SYS_clone3] = VERDICT_NOSYS;
    s->verdicts[SYS_prctl] = VERDICT_REFUSED; /* a branch may do one thing with it: filter.c */
    /* These end the sweep or go back to a place that never was. */
    s->verdicts[SYS_exit] = VERDICT_LEFT_OUT;
    s->verdicts[SYS_exit_group] = VERDICT_LEFT_OUT;
    s->verdicts[SYS_rt_sigreturn] = VERDICT_LEFT_OUT;
    s->verdicts[SYS_restart_syscall] = VERDICT_LEFT_OUT;
#if defined(__x86_64__)
    s->verdicts[TRAP_FIRST] = VERDICT_LEFT_OUT;
    s->verdicts[TRAP_LAST] = VERDICT_LEFT_OUT;
#endif
}

/* Every number with arguments that are no address, no descriptor and no known flag; who is what the
 * cell has beside what all have. */
void raw_sweep(uint64_t who)
{
    static struct sweep s;
    char name[32];
    long r;
    int i;

    s.who = CELL | (who == 2 ? ORIGIN : 0);
    sweep_fill(&s);
    for (i = 0; i < NUMBERS; i++) {
        if (s.verdicts[i] == VERDICT_LEFT_OUT) {
            continue;
        }
        (void)snprintf(name, sizeof(name), "number %d", i);
        r = syscall(i, -1L, -1L, -1L, -1L, -1L, -1L);
        if (s.verdicts[i] == VERDICT_ANSWERED) {
            int refused = r == -1 && (errno == EPERM || errno == ENOSYS);

            raw_note_text(name, refused ? "refused" : "answered", "answered");
        } else {
            raw_note(name, r, s.verdicts[i] == VERDICT_NOSYS ? "ENOSYS" : "EPERM");
        }
    }
}

/* One call that ends the process. */
void raw_kill_listed(uint64_t number)
{
    (void)syscall((long)number, -1L, -1L, -1L, -1L, -1L, -1L);
    raw_note_yes("still alive", 0);
}

/* A call that the kernel may not show to the filter: then it must refuse, or end the process, by
 * itself. */
void raw_trap(uint64_t number)
{
    raw_note(
        "a trap of the kernel", syscall((long)number, -1L, -1L, -1L, -1L, -1L, -1L), "EPERM ENXIO");
}

/* The older entry into the kernel, whose numbers mean something else: 20 is getpid there, writev
 * here. */
void raw_i386(uint64_t number)
{
    long r = -1;

#if defined(__x86_64__)
    __asm__ volatile("int $0x80" : "=a"(r) : "a"(number), "b"(0), "c"(0), "d"(0) : "memory");
#endif
    (void)r;
    raw_note_yes("still alive", 0);
}

/* The third set of numbers, and numbers that are none. */
void raw_x32(uint64_t unused)
{
    static const long numbers[] = {0x40000000, 0x40000001, 0x40000029 /* socket */,
        0x40000038 /* clone */, 0x4000003b, 0x40000200 /* rt_sigaction */, 0x40000208 /* execve */,
        0x40000209 /* ptrace */, 0x7fffffff, 0x80000000, 0xffffffff, -1, 0x100000027};
    char name[32];
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        (void)snprintf(name, sizeof(name), "number %lx", (unsigned long)numbers[i]);
        /* The kernel looks at 32 bits of the number, so the last of these is getpid. */
        raw_note(name, syscall(numbers[i], -1L, -1L, -1L, -1L, -1L, -1L),
            numbers[i] == 0x100000027 ? "ok" : "ENOSYS");
    }
}

void raw_io_uring(uint64_t unused)
{
    (void)unused;
    RAW(io_uring_setup, "ENOSYS", 8, RAW_NOWHERE);
    RAW(io_uring_enter, "ENOSYS", 3, 1, 1, 0, 0, 0);
    RAW(io_uring_register, "ENOSYS", 3, 0, 0, 0);
    RAW(io_setup, "EPERM", 8, RAW_NOWHERE);
    RAW(io_submit, "EPERM", 0, 1, RAW_NOWHERE);
}

void raw_keys_and_watches(uint64_t unused)
{
    (void)unused;
    RAW(keyctl, "EPERM", 0, -3, 1, 0, 0);
    RAW(add_key, "EPERM", "user", "x", "x", 1, -3);
    RAW(request_key, "EPERM", "user", "x", 0, 0);
    RAW(fanotify_init, "EPERM", 0, 0);
    RAW(fanotify_mark, "EPERM", 3, 1, 1, -1, 0);
    RAW(inotify_init, "EPERM", 0);
    RAW(inotify_add_watch, "EPERM", 3, "/", 1);
    RAW(lookup_dcookie, "EPERM", 0, RAW_NOWHERE, 1);
    RAW(name_to_handle_at, "EPERM", -100, "/", RAW_NOWHERE, RAW_NOWHERE, 0);
    RAW(open_by_handle_at, "EPERM", 3, RAW_NOWHERE, 0);
}

void raw_namespaces(uint64_t unused)
{
    static const long flags[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
        CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80 /* time */, CLONE_FILES, CLONE_FS, 0};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        RAW(unshare, "EPERM", flags[i]);
        RAW(clone, "EPERM", flags[i] | SIGCHLD, 0, 0, 0, 0);
        RAW(setns, "EPERM", 3, flags[i]);
    }
    RAW(clone3, "ENOSYS", RAW_NOWHERE, 88);
}

void raw_sockets(uint64_t unused)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_PACKET};
    int fds[2];
    char name[32];
    size_t t;
    int family;

    (void)unused;
    for (family = 0; family < 48; family++) { /* the newest family has number 45 */
        for (t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
            (void)snprintf(name, sizeof(name), "socket %d %d", family, types[t]);
            raw_note(name, syscall(SYS_socket, family, types[t], 0), "EPERM");
        }
    }
    RAW(socketpair, "EPERM", AF_UNIX, SOCK_STREAM, 0, fds);
    RAW(bind, "EPERM", 3, RAW_NOWHERE, 2);
    RAW(listen, "EPERM", 3, 1);
    RAW(accept, "EPERM", 3, 0, 0);
    RAW(accept4, "EPERM", 3, 0, 0, 0);
    RAW(connect, "EPERM", 3, RAW_NOWHERE, 2);
    RAW(shutdown, "EPERM", 3, 2);
    RAW(getsockname, "EPERM", 3, RAW_NOWHERE, RAW_NOWHERE);
    RAW(getpeername, "EPERM", 3, RAW_NOWHERE, RAW_NOWHERE);
    RAW(setsockopt, "EPERM", 3, 1, 7, RAW_NOWHERE, 4);
    RAW(getsockopt, "EPERM", 3, 1, 17, RAW_NOWHERE, RAW_NOWHERE);
}

void raw_futex(uint64_t unused)
{
    static const int refused[] = {FUTEX_LOCK_PI, FUTEX_UNLOCK_PI, FUTEX_TRYLOCK_PI,
        FUTEX_WAIT_REQUEUE_PI, FUTEX_CMP_REQUEUE_PI, FUTEX_LOCK_PI2, FUTEX_FD,
        FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, FUTEX_CMP_REQUEUE_PI | FUTEX_PRIVATE_FLAG,
        FUTEX_LOCK_PI | FUTEX_CLOCK_REALTIME};
    static uint32_t word;
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        RAW(futex, "EPERM", &word, refused[i], 0, 0, &word, 0);
    }
    RAW(futex, "EPERM", &word, FUTEX_WAKE | 1L << 32, 1, 0, 0, 0);
    RAW(futex, "ok", &word, FUTEX_WAKE, 1, 0, 0, 0);
    RAW(get_robust_list, "EPERM", 0, RAW_NOWHERE, RAW_NOWHERE);
    RAW_NUMBER(449, "futex_waitv", "EPERM", RAW_NOWHERE, 1, 0, 0, 0);
    RAW(set_robust_list, "EINVAL", RAW_NOWHERE, 1);
}

void raw_ioctl(uint64_t unused)
{
    static const unsigned long requests[] = {0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */,
        0x5401 /* TCGETS */, 0x541b /* FIONREAD */, 0x40086602 /* FS_IOC_SETFLAGS */,
        0x5421 /* FIONBIO */, 0x5452 /* FIOASYNC */, 0x8901 /* FIOSETOWN */, 0};
    size_t i;
    int fd;

    (void)unused;
    for (fd = 0; fd <= 3; fd++) {
        for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
            RAW(ioctl, "EPERM", fd, requests[i], RAW_NOWHERE);
            RAW(ioctl, "EPERM", fd, requests[i] | 1UL << 32, RAW_NOWHERE);
        }
    }
}

void raw_processor_state(uint64_t unused)
{
    (void)unused;
    RAW(personality, "EPERM", 0x0040000);
    RAW(personality, "EPERM", 0x0400000);
    RAW(personality, "EPERM", 0xffffffffUL);
#if defined(__x86_64__)
    RAW(arch_prctl, "EPERM", 0x1001, RAW_NOWHERE);
    RAW(arch_prctl, "EPERM", 0x1022, 18);
    RAW(modify_ldt, "EPERM", 1, RAW_NOWHERE, 16);
    RAW(set_thread_area, "EPERM", RAW_NOWHERE);
    RAW(get_thread_area, "EPERM", RAW_NOWHERE);
    RAW(iopl, "EPERM", 3);
    RAW(ioperm, "EPERM", 0, 1024, 1);
#endif
}

void raw_clocks(uint64_t unused)
{
    struct timespec t;

    (void)unused;
    RAW(clock_settime, "EPERM", CLOCK_REALTIME, RAW_NOWHERE);
    RAW(settimeofday, "EPERM", RAW_NOWHERE, 0);
    RAW(adjtimex, "EPERM", RAW_NOWHERE);
    RAW(clock_adjtime, "EPERM", 0, RAW_NOWHERE);
    RAW(clock_gettime, "EPERM", -29L, &t); /* a clock that descriptor 3 would be */
    RAW(clock_gettime, "EPERM", -14L, &t); /* the processor time of process 1 */
    RAW(clock_gettime, "EPERM", CLOCK_TAI, &t);
    RAW(clock_gettime, "EPERM", CLOCK_MONOTONIC | 1L << 32, &t);
    RAW(clock_gettime, "ok", CLOCK_MONOTONIC, &t);
    RAW(timer_create, "EPERM", 1, RAW_NOWHERE, RAW_NOWHERE);
    RAW(timerfd_create, "EPERM", 1, 0);
    RAW(clock_nanosleep, "EPERM", CLOCK_PROCESS_CPUTIME_ID, 0, &t, 0);
}

void raw_own_jail(uint64_t unused)
{
    (void)unused;
    RAW(seccomp, "EPERM", 1, 0, RAW_NOWHERE);
    RAW(seccomp, "EPERM", 0, 0, 0);
    RAW(prctl, "EPERM", 22, 1, 0, 0, 0);
    RAW_NUMBER(444, "landlock_create_ruleset", "EPERM", RAW_NOWHERE, 8, 0);
    RAW_NUMBER(445, "landlock_add_rule", "EPERM", 3, 1, RAW_NOWHERE, 0);
    RAW_NUMBER(446, "landlock_restrict_self", "EPERM", 3, 0);
    RAW_NUMBER(459, "lsm_get_self_attr", "ENOSYS", 0, RAW_NOWHERE, RAW_NOWHERE, 0);
    RAW(close_range, "EPERM", 3, ~0U, 0);
}

void raw_become(uint64_t unused)
{
    (void)unused;
    RAW(setuid, "EPERM", 0);
    RAW(setgid, "EPERM", 0);
    RAW(setreuid, "EPERM", 0, 0);
    RAW(setregid, "EPERM", 0, 0);
    RAW(setresuid, "EPERM", 0, 0, 0);
    RAW(setresgid, "EPERM", 0, 0, 0);
    RAW(setfsuid, "EPERM", 0);
    RAW(setfsgid, "EPERM", 0);
    RAW(setgroups, "EPERM", 0, 0);
    RAW(capset, "EPERM", RAW_NOWHERE, RAW_NOWHERE);
    RAW(capget, "EPERM", RAW_NOWHERE, RAW_NOWHERE);
    RAW(getuid, "EPERM", 0);
    RAW(geteuid, "EPERM", 0);
    RAW(setsid, "EPERM", 0);
    RAW(setpgid, "EPERM", 0, 0);
}

void raw_machine(uint64_t unused)
{
    (void)unused;
    RAW(swapon, "EPERM", "/", 0);
    RAW(swapoff, "EPERM", "/");
    RAW(acct, "EPERM", "/");
    RAW(quotactl, "EPERM", 0, 0, 0, 0);
    RAW(syslog, "EPERM", 10, 0, 0);
    RAW(sethostname, "EPERM", "x", 1);
    RAW(setdomainname, "EPERM", "x", 1);
    RAW(uname, "EPERM", RAW_NOWHERE);
    RAW(sysinfo, "EPERM", RAW_NOWHERE);
    RAW(vhangup, "EPERM", 0);
    RAW(sync, "EPERM", 0);
    RAW(getcpu, "EPERM", RAW_NOWHERE, RAW_NOWHERE, 0);
#if defined(__x86_64__)
    RAW(ustat, "EPERM", 0, RAW_NOWHERE);
    RAW(sysfs, "EPERM", 3);
    RAW(create_module, "EPERM", "x", 1);
    RAW(nfsservctl, "EPERM", 0, 0, 0);
#endif
}

/* With files: arguments that only look like allowed ones. */
void raw_fcntl(uint64_t unused)
{
    static const int refused[] = {F_GETLK, F_SETLK, F_SETLKW, F_SETOWN, F_GETOWN, F_SETSIG,
        F_SETLEASE, F_GETLEASE, F_NOTIFY, F_SETPIPE_SZ, F_ADD_SEALS, F_OFD_SETLK, F_SET_RW_HINT,
        -1};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        RAW(fcntl, "EPERM", 3, refused[i], 0);
    }
    RAW(fcntl, "EPERM", 3, F_GETFD | 1L << 32, 0);
    RAW(fcntl, "EPERM", 3, F_GETFD, 0);
    RAW(fcntl, "EPERM", 3, F_SETFL, O_ASYNC);
    RAW(flock, "EPERM", 3, 1);
}
