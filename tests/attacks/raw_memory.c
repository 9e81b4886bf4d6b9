/* raw_memory.c - raw attacks on memory, and on the limits of memory and time. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "raw.h"

enum {
    PAGE = 4096,
    HIDE = 1 << 20,               /* that are let go of at once */
    TABLE_SPAN = 2 * 1024 * 1024, /* what one page of page tables covers */
};

static char *reserve(size_t bytes)
{
    void *p = mmap(
        NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Touches megabytes of memory, one page after the other. */
void raw_touch(uint64_t megabytes)
{
    size_t bytes = (size_t)megabytes << 20;
    char *p = reserve(bytes);
    size_t at;

    raw_note_yes("reserving", p != NULL);
    for (at = 0; p != NULL && at < bytes; at += PAGE) {
        p[at] = 1;
    }
    raw_note_yes("stopped before the end", 0);
}

/* In small pieces, as an allocator takes memory: either the kernel gives no more, or the run is
 * ended. */
void raw_touch_pieces(uint64_t megabytes)
{
    uint64_t i;
    char *p = NULL;

    for (i = 0; i < megabytes && p != MAP_FAILED; i++) {
        p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p != MAP_FAILED) {
            memset(p, 1, 1 << 20);
        }
    }
    raw_note("one more piece", p == MAP_FAILED ? -1 : 0, "ENOMEM");
}

/* By number: in a cell for Python the function of this name is ours. */
static void *shared_memory(size_t bytes)
{
    return (void *)syscall(
        SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* The same with memory that could be shared, though nobody is there to share it: it counts as a
 * file. */
void raw_touch_shared(uint64_t megabytes)
{
    size_t bytes = (size_t)megabytes << 20;
    char *p = shared_memory(bytes);
    size_t at;

    if (p == MAP_FAILED) {
        raw_note("reserving what could be shared", -1, "EPERM");
        return;
    }
    for (at = 0; at < bytes; at += PAGE) {
        p[at] = 1;
    }
    raw_note_yes("stopped before the end", 0);
}

/* Pages of memory that could be shared stay when the mapping lets go of them, and then no count of
 * the process's own pages shows them. */
void raw_hide_shared(uint64_t megabytes)
{
    size_t bytes = (size_t)megabytes << 20;
    char *p = shared_memory(bytes);
    size_t at, i;

    if (p == MAP_FAILED) {
        raw_note("reserving what could be shared", -1, "EPERM");
        return;
    }
    for (at = 0; at < bytes; at += HIDE) {
        for (i = 0; i < HIDE; i += PAGE) {
            p[at + i] = 1;
        }
        (void)madvise(p + at, HIDE, MADV_DONTNEED);
    }
    raw_note_yes("stopped before the end", 0);
}

/* Memory that is in nobody's account, where the machine has set some aside; and memory that stays.
 */
void raw_special_memory(uint64_t unused)
{
    (void)unused;
    RAW(mmap, "EPERM ENOMEM EINVAL", 0, 2 << 20, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    RAW(mmap, "EPERM ENOMEM EINVAL", 0, 1 << 30, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 30 << MAP_HUGE_SHIFT, -1, 0);
    RAW(mmap, "EPERM EAGAIN", 0, PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
    RAW(mmap, "EPERM EACCES", 0, PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    RAW(mmap, "EBADF ENODEV EACCES EPERM", 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
}

/* Lets the kernel touch it all in one call. */
void raw_populate(uint64_t megabytes)
{
    size_t bytes = (size_t)megabytes << 20;
    char *p = reserve(bytes);

    (void)madvise(p, bytes, MADV_HUGEPAGE);
    (void)madvise(p, bytes, 23); /* MADV_POPULATE_WRITE */
    raw_note_yes("stopped before the end", 0);
}

/* One small mapping after the other, each of another kind than its neighbours, so that none can be
 * merged. */
void raw_mapping_spray(uint64_t unused)
{
    int last = 0;
    long count;

    (void)unused;
    for (count = 0; count < 200000 && last == 0; count++) {
        if (mmap(NULL, PAGE, count % 2 != 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0) == MAP_FAILED) {
            last = errno;
        }
    }
    errno = last;
    raw_note("mmap, until there is no more", last != 0 ? -1 : 0, "ENOMEM");
}

/* Memory that is charged to nobody who only counts pages with data: page tables. A read of a page
 * that was never written costs no page, but a table for its two megabytes. */
void raw_page_tables(uint64_t megabytes)
{
    size_t tables = ((size_t)megabytes << 20) / PAGE;
    volatile char sum = 0;
    char *p = reserve(tables * TABLE_SPAN);
    size_t i;

    if (p == NULL) {
        raw_note_yes("reserving", 0);
        return;
    }
    (void)madvise(p, tables * TABLE_SPAN, MADV_NOHUGEPAGE);
    for (i = 0; i < tables; i++) {
        sum = (char)(sum + p[i * TABLE_SPAN]);
    }
    raw_note_yes("stopped before the end", 0);
}

/* Everything in the kernel that holds bytes for somebody. */
void raw_kernel_buffers(uint64_t unused)
{
    int fds[2];

    (void)unused;
    RAW(pipe, "EPERM", fds);
    RAW(pipe2, "EPERM", fds, 0);
    RAW(socketpair, "EPERM", 1, 1, 0, fds);
    RAW(eventfd2, "EPERM", 0, 0);
    RAW(epoll_create1, "EPERM", 0);
    RAW(timerfd_create, "EPERM", 1, 0);
    RAW(signalfd4, "EPERM", -1, RAW_NOWHERE, 8, 0);
    RAW(memfd_create, "EPERM", "x", 0);
    RAW_NUMBER(447, "memfd_secret", "ENOSYS", 0);
    RAW(shmget, "EPERM", 0, 4096, 01600);
    RAW(msgget, "EPERM", 0, 01600);
    RAW(semget, "EPERM", 0, 1, 01600);
    RAW(mq_open, "EPERM", "/x", 0102, 0600, 0);
    RAW(inotify_init1, "EPERM", 0);
    RAW(fanotify_init, "EPERM", 0, 0);
    RAW(add_key, "EPERM", "user", "x", "x", 1, -2);
    RAW(io_setup, "EPERM", 128, RAW_NOWHERE);
    RAW(mlock, "EPERM", RAW_NOWHERE, 4096);
    RAW(mlock2, "EPERM", RAW_NOWHERE, 4096, 1);
    RAW(mlockall, "EPERM", 3);
}

void raw_raise_limits(uint64_t unused)
{
    struct rlimit more = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

    (void)unused;
    RAW(setrlimit, "EPERM", RLIMIT_CPU, &more);
    RAW(prlimit64, "EPERM", 0, RLIMIT_CPU, &more, 0);
    RAW(prlimit64, "EPERM", 1, RLIMIT_NOFILE, &more, 0);
    RAW(setpriority, "EPERM", 0, 0, -20);
    RAW(sched_setscheduler, "EPERM", 0, SCHED_FIFO, RAW_NOWHERE);
    RAW(sched_setparam, "EPERM", 0, RAW_NOWHERE);
    RAW(sched_setattr, "EPERM", 0, RAW_NOWHERE, 0);
    RAW(sched_setaffinity, "EPERM", 0, 8, RAW_NOWHERE);
    RAW(ioprio_set, "EPERM", 1, 0, 0);
    RAW(setitimer, "EPERM", 0, RAW_NOWHERE, 0);
    RAW(alarm, "EPERM", 1);
    RAW(timer_create, "EPERM", 1, RAW_NOWHERE, RAW_NOWHERE);
}

/* A system call that is allowed, for ever: the time is spent in the kernel. */
void raw_yield_for_ever(uint64_t unused)
{
    (void)unused;
    for (;;) {
        (void)sched_yield();
    }
}

/* Code that was not there: fresh, changed, aliased, or by a wider number. */
void raw_new_code(uint64_t unused)
{
    char *p = reserve(PAGE);
    long high = 1L << 32;

    (void)unused;
    raw_note_yes("reserving", p != NULL);
    RAW(mmap, "EPERM", 0, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
        0);
    RAW(mmap, "EPERM", 0, PAGE, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RAW(mmap, "EPERM", 0, PAGE, PROT_READ | high, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RAW(mprotect, "EPERM", p, PAGE, PROT_READ | PROT_EXEC);
    RAW(mprotect, "EPERM", p, PAGE, PROT_READ | PROT_EXEC | high);
    RAW(mprotect, "EPERM", p, PAGE, PROT_EXEC | PROT_GROWSDOWN);
    RAW(pkey_mprotect, "EPERM", p, PAGE, PROT_EXEC, -1);
    RAW(pkey_alloc, "EPERM", 0, 0);
    RAW(remap_file_pages, "EPERM", p, PAGE, PROT_EXEC, 0, 0);
    RAW(shmat, "EPERM", 0, 0, 0100000);
    RAW(personality, "EPERM", 0x0400000);
}

void raw_advice(uint64_t unused)
{
    static const int refused[] = {MADV_REMOVE, MADV_DONTFORK, MADV_DOFORK, MADV_MERGEABLE,
        MADV_UNMERGEABLE, MADV_WIPEONFORK, MADV_COLD, MADV_PAGEOUT, 22 /* populate for reading */,
        25 /* collapse */, MADV_HWPOISON, 101 /* soft offline */, 102 /* guard */, -1};
    char *p = reserve(PAGE);
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        RAW(madvise, "EPERM", p, PAGE, refused[i]);
    }
    RAW(madvise, "EPERM", p, PAGE, MADV_DONTNEED | 1L << 32);
    RAW(madvise, "ok", p, PAGE, MADV_DONTNEED);
    RAW(mbind, "EPERM", p, PAGE, 0, 0, 0, 0);
    RAW(set_mempolicy, "EPERM", 0, 0, 0);
    RAW(get_mempolicy, "EPERM", 0, 0, 0, 0, 0);
    RAW(mincore, "EPERM", p, PAGE, p);
    RAW(msync, "EPERM", p, PAGE, 4);
    RAW(vmsplice, "EPERM", 3, RAW_NOWHERE, 1, 0);
    RAW(splice, "EPERM", 3, 0, 3, 0, 1, 0);
    RAW(tee, "EPERM", 3, 3, 1, 0);
}
