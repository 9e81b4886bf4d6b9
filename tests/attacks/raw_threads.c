/* raw_threads.c - raw attacks in cells of a language that has threads: what is true for the first
 * thread must be true for the others, and nothing else than a thread may be made. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "raw.h"

enum {
    BITS = 64,           /* of the flags of clone */
    THREADS_MAX = 16,    /* that a cell may have beside its first one: host/engine.h */
    THREADS_TRY = 64,    /* so many are tried, where the kernel is to say no */
    STACK_BYTES = 16384, /* for threads that do next to nothing */
};

/* As libc makes a thread, and as a branch is made: tools/gen-filter.c has the same. */
#define THREAD_FLAGS                                                                               \
    ((unsigned long)(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |            \
                     CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID))
#define BRANCH_FLAGS                                                                               \
    ((unsigned long)(CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD))

static _Noreturn void sleep_on(void)
{
    const struct timespec long_time = {.tv_sec = 1000};

    for (;;) {
        (void)nanosleep(&long_time, NULL);
    }
}

static void *sleeper(void *unused)
{
    (void)unused;
    sleep_on();
}

static void *spinner(void *unused)
{
    (void)unused;
    for (;;) {
        __asm__ volatile("");
    }
    return NULL;
}

/* A thread as every program makes one. 0, or an errno. */
static int start(void *(*body)(void *), void *user)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int r;

    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    r = pthread_create(&thread, &attributes, body, user);
    (void)pthread_attr_destroy(&attributes);
    return r;
}

/* ---- what can be made ---- */

/* A new process of whatever kind ends itself, and is found by the number that clone returned. */
static void try_clone(const char *what, unsigned long flags)
{
    static char stack[STACK_BYTES] __attribute__((aligned(16)));
    static pid_t number;
    long r;

    errno = 0;
    r = syscall(SYS_clone, flags, (flags & CLONE_VM) != 0 ? stack + sizeof(stack) : NULL, &number,
        &number, 0UL);
    if (r == 0) {
        (void)syscall(SYS_exit, 0);
    }
    raw_note(what, r, "EPERM");
}

/* Every flag that a thread has and one more, or one less; and what makes processes. */
void raw_clone_flags(uint64_t unused)
{
    static const unsigned long others[] = {0, SIGCHLD, BRANCH_FLAGS,
        BRANCH_FLAGS & ~(unsigned long)CLONE_PARENT, CLONE_VM | CLONE_VFORK | SIGCHLD,
        CLONE_NEWUSER | SIGCHLD, CLONE_NEWPID | SIGCHLD, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD,
        THREAD_FLAGS | CLONE_CHILD_SETTID, THREAD_FLAGS | SIGCHLD, THREAD_FLAGS | BRANCH_FLAGS,
        ~0UL};
    char name[64];
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        (void)snprintf(name, sizeof(name), "clone with flags %lx", others[i]);
        try_clone(name, others[i]);
    }
    for (i = 0; i < BITS; i++) {
        (void)snprintf(name, sizeof(name), "clone as a thread but for bit %zu", i);
        try_clone(name, THREAD_FLAGS ^ 1UL << i);
    }
    RAW(fork, "EPERM", 0);
    RAW(vfork, "EPERM", 0);
    RAW_NUMBER(SYS_clone3, "clone3", "ENOSYS", RAW_NOWHERE, 88);
    RAW(unshare, "EPERM", CLONE_THREAD);
    RAW(unshare, "EPERM", CLONE_FILES);
}

/* A process in the cell of a run, made as a branch is. */
void raw_clone_branch(uint64_t unused)
{
    (void)unused;
    try_clone("clone as a branch", BRANCH_FLAGS);
}

/* A thread where the language has none; libc's own way would trip over libraries that are gone. */
void raw_clone_thread(uint64_t unused)
{
    (void)unused;
    try_clone("clone as a thread", THREAD_FLAGS);
}

/* As many as there can be. */
void raw_thread_count(uint64_t unused)
{
    int made = 0;
    int r = 0;

    (void)unused;
    while (made < THREADS_TRY && r == 0) {
        r = start(sleeper, NULL);
        made += r == 0;
    }
    raw_note_text("one more thread", r == 0 ? "ok" : strerrorname_np(r), "EAGAIN");
    raw_note_yes("as many as there may be", made == THREADS_MAX);
}

/* ---- what they can do ---- */

struct errand {
    void (*attack)(uint64_t argument);
    uint64_t argument;
    uint32_t done;
};

static void *go(void *user)
{
    struct errand *e = user;

    e->attack(e->argument);
    __atomic_store_n(&e->done, 1, __ATOMIC_SEQ_CST);
    (void)syscall(SYS_futex, &e->done, FUTEX_WAKE, 1, NULL, NULL, 0);
    return NULL;
}

/* The same by a second thread, while the first one waits: only one of them notes at a time. */
static void by_thread(void (*attack)(uint64_t argument), uint64_t argument)
{
    struct errand e = {.attack = attack, .argument = argument};
    pthread_t thread;
    int r = pthread_create(&thread, NULL, go, &e);

    while (r == 0 && __atomic_load_n(&e.done, __ATOMIC_SEQ_CST) == 0) {
        (void)syscall(SYS_futex, &e.done, FUTEX_WAIT, 0, NULL, NULL, 0);
    }
    raw_note_text("a thread", r == 0 ? "ok" : strerrorname_np(r), "ok");
}

void raw_thread_sweep(uint64_t who)
{
    by_thread(raw_sweep, who);
}

void raw_thread_clone(uint64_t unused)
{
    by_thread(raw_clone_flags, unused);
}

void raw_thread_exec(uint64_t unused)
{
    by_thread(raw_exec, unused);
    by_thread(raw_signals_out, unused);
    by_thread(raw_new_code, unused);
}

void raw_thread_kill_listed(uint64_t number)
{
    by_thread(raw_kill_listed, number);
}

void raw_thread_crash(uint64_t how)
{
    by_thread(raw_crash, how);
}

/* A clone that waits for the host's consent, in a thread that nobody waits for. */
void raw_thread_branch(uint64_t unused)
{
    by_thread(raw_clone_unordered, unused);
}

/* All that there can be compute, with every signal blocked. */
void raw_threads_compute(uint64_t unused)
{
    sigset_t all;
    int i;

    (void)unused;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    for (i = 0; i < THREADS_MAX; i++) {
        (void)start(spinner, NULL);
    }
    (void)spinner(NULL);
}

/* The first thread goes, and the others stay: the process is not over. */
void raw_thread_outlives(uint64_t computes)
{
    (void)start(computes ? spinner : sleeper, NULL);
    (void)start(sleeper, NULL);
    (void)syscall(SYS_exit, 0);
    raw_note_yes("still alive", 0);
}
