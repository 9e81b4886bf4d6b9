/* slim.c - see slim.h.
 *
 * The measures, each worth what it says on a machine where a page fault costs 2 us (docs/speed.md):
 *
 * - Libraries that only serve parts of the engine's package we never call (its GObject interface,
 * the journal) are unmapped: 80 of 180 mappings less to copy and to tear down, and so much less
 * code for an attacker to borrow from.
 * - The engine's code and the fullest parts of its heap move onto huge pages: a copy of the process
 * copies one entry instead of 512, and code is found with far fewer walks through page tables.
 * - fork copies the page table of a mapping only when the mapping has a page of its own. One byte
 * of each much used library is written back to itself, and from then on cells find its code mapped.
 * - A trial copy goes the whole way of a run and then looks which pages it wrote to. Cells ask for
 * copies of just these in a few calls instead of 150 faults. */
#include "cell/slim.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/fork.h"

enum {
    PAGE = 4096,
    RANGES_MAX = 512,              /* a call each in every cell; more would cost what they save */
    GAP_PAGES_MAX = 0,             /* copying a page costs 2 us, another call half of one */
    MAPS_BYTES_MAX = 512 * 1024,   /* /proc/self/smaps of some hundred mappings */
    MAPPING_BYTES_MAX = 256 << 20, /* larger ones are reservations with a few pages in them */
    HOT_KIB = 48,                  /* a library with less in use is not worth a page of its own */
    HUGE = 2 << 20,                /* a huge page of this processor */
    CODE_BYTES_MAX = 64 << 20,     /* of code to copy; the engine has 28 MB */
    FULL_PAGES_MIN = 96,           /* of 512: emptier parts of the heap stay on small pages */
    LIBRARIES_MAX = 64,
};

/* Bits of an entry of /proc/PID/pagemap. */
static const uint64_t PRESENT = 1ULL << 63, OF_FILE = 1ULL << 61, EXCLUSIVE = 1ULL << 56;

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* newer than the headers of Debian 12 */
#endif

struct range {
    uintptr_t start;
    size_t len;
};

struct pages {
    struct range items[RANGES_MAX];
    unsigned count;
};

static struct pages by_run;     /* written to by every run */
static struct pages by_longer;  /* written to by a run of a longer program, with those of above */
static struct pages by_touch;   /* written to by the warm-up before it */
static struct pages by_modules; /* written to by a run with modules */

/* ---- libraries that are not needed ---- */

struct libraries {
    struct range items[LIBRARIES_MAX];
    unsigned count;
    const char *const *names;
};

static int is_unused(const char *path, const char *const *names)
{
    const char *name = strrchr(path, '/');

    name = name != NULL ? name + 1 : path;
    for (; *names != NULL; names++) {
        if (strncmp(name, *names, strlen(*names)) == 0) {
            return 1;
        }
    }
    return 0;
}

static int note_library(struct dl_phdr_info *info, size_t size, void *user)
{
    struct libraries *found = user;
    uintptr_t low = UINTPTR_MAX, high = 0, start, end;
    int i;

    (void)size;
    if (info->dlpi_name == NULL || !is_unused(info->dlpi_name, found->names) ||
        found->count == LIBRARIES_MAX) {
        return 0;
    }
    for (i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            start = (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) & ~(uintptr_t)(PAGE - 1);
            end = (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz +
                      PAGE - 1) &
                  ~(uintptr_t)(PAGE - 1);
            low = start < low ? start : low;
            high = end > high ? end : high;
        }
    }
    if (low < high) {
        found->items[found->count++] = (struct range){.start = low, .len = high - low};
    }
    return 0;
}

static void unmap_unused(const char *const *names)
{
    struct libraries found = {.names = names};
    unsigned i;

    (void)dl_iterate_phdr(note_library, &found);
    for (i = 0; i < found.count; i++) {
        (void)munmap((void *)found.items[i].start, found.items[i].len);
    }
}

/* ---- the mappings of this process ---- */

struct mapping {
    uintptr_t start, end;
    int prot;
    int of_file; /* else memory of our own */
    uint64_t used_kib;
};

/* Calls back for every mapping with what of it is in use. */
static void each_mapping(void (*fn)(const struct mapping *m, void *user), void *user)
{
    char *text = malloc(MAPS_BYTES_MAX);
    struct mapping m = {0};
    char *line, *next;
    char flags[5];
    unsigned long inode;

    if (text == NULL || fd_get_text(AT_FDCWD, "/proc/self/smaps", text, MAPS_BYTES_MAX) < 0) {
        free(text);
        return;
    }
    for (line = text; line != NULL && *line != '\0'; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %lu", &m.start, &m.end, flags,
                &inode) == 4) {
            m.prot = (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0) |
                     (flags[2] == 'x' ? PROT_EXEC : 0);
            m.of_file = inode != 0;
        } else if (sscanf(line, "Rss: %" SCNu64, &m.used_kib) == 1) {
            fn(&m, user);
        }
    }
    free(text);
}

/* ---- code and constants of libraries ---- */

static void share_one(const struct mapping *m, void *user)
{
    volatile char *p = (volatile char *)(m->end - PAGE);

    (void)user;
    if (!m->of_file || m->used_kib < HOT_KIB || (m->prot & (PROT_WRITE | PROT_READ)) != PROT_READ) {
        return;
    }
    if (mprotect((void *)m->start, m->end - m->start, m->prot | PROT_WRITE) == 0) {
        *p = *p; /* the mapping now has a page of its own */
        (void)mprotect((void *)m->start, m->end - m->start, m->prot);
    }
}

/* ---- huge pages ---- */

/* Replaces the inner part of a large mapping of code or constants by a copy of it on huge pages.
 * Nothing in it runs meanwhile: this process has one thread, and it is here. */
static void enlarge_one(const struct mapping *m, void *user)
{
    uintptr_t start = (m->start + HUGE - 1) & ~(uintptr_t)(HUGE - 1);
    uintptr_t end = m->end & ~(uintptr_t)(HUGE - 1);
    size_t len = end > start ? end - start : 0;
    uintptr_t own = (uintptr_t)enlarge_one;
    char *area, *copy;

    (void)user;
    if (!m->of_file || (m->prot & (PROT_WRITE | PROT_READ)) != PROT_READ || m->used_kib < HOT_KIB ||
        len == 0 || len > CODE_BYTES_MAX || (own >= m->start && own < m->end)) {
        return;
    }
    area = mmap(NULL, len + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) {
        return;
    }
    copy = (char *)(((uintptr_t)area + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
    (void)madvise(copy, len, MADV_HUGEPAGE);
    memcpy(copy, (const void *)start, len);
    if (mprotect(copy, len, m->prot) < 0 ||
        mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) == MAP_FAILED) {
        (void)munmap(copy, len);
    }
    if (copy > area) {
        (void)munmap(area, (size_t)(copy - area));
    }
    (void)munmap(copy + len, (size_t)(area + HUGE - copy));
}

/* How many pages from here on are present; user is the descriptor of the page map. */
static unsigned count_present(int pagemap_fd, uintptr_t start)
{
    static uint64_t entries[HUGE / PAGE];
    unsigned i, present = 0;

    if (pread(pagemap_fd, entries, sizeof(entries), (off_t)(start / PAGE * sizeof(entries[0]))) !=
        (ssize_t)sizeof(entries)) {
        return 0;
    }
    for (i = 0; i < HUGE / PAGE; i++) {
        present += (entries[i] & PRESENT) != 0 ? 1 : 0;
    }
    return present;
}

/* Lets the kernel put the fuller parts of our own memory onto huge pages. */
static void collapse_one(const struct mapping *m, void *user)
{
    uintptr_t chunk = (m->start + HUGE - 1) & ~(uintptr_t)(HUGE - 1);
    const int *pagemap_fd = user;

    if (m->of_file || (m->prot & (PROT_WRITE | PROT_EXEC)) != PROT_WRITE ||
        m->end - m->start > MAPPING_BYTES_MAX || m->used_kib / 4 < FULL_PAGES_MIN) {
        return;
    }
    for (; chunk + HUGE <= m->end; chunk += HUGE) {
        if (count_present(*pagemap_fd, chunk) >= FULL_PAGES_MIN) {
            (void)madvise(
                (void *)chunk, HUGE, MADV_COLLAPSE); /* missing before Linux 6.1: no harm */
        }
    }
}

/* ---- pages that every run writes to ---- */

struct scan {
    int pagemap_fd;
    struct pages pages;
};

static void add_page(struct pages *s, uintptr_t page)
{
    struct range *last = s->count > 0 ? &s->items[s->count - 1] : NULL;

    if (last != NULL && page >= last->start &&
        page - (last->start + last->len) <= GAP_PAGES_MAX * (size_t)PAGE) {
        last->len = page + PAGE - last->start;
    } else if (s->count < RANGES_MAX) {
        s->items[s->count++] = (struct range){.start = page, .len = PAGE};
    }
}

/* In the trial copy: pages that are present, of our own, and nobody else's. Such are the variables
 * of libraries, too, in mappings of files. */
static void scan_one(const struct mapping *m, void *user)
{
    static uint64_t entries[4096];
    struct scan *s = user;
    uintptr_t page = m->start;
    size_t n, i;
    ssize_t got;

    if ((m->prot & PROT_WRITE) == 0 || m->end - m->start > MAPPING_BYTES_MAX || m->used_kib == 0) {
        return;
    }
    while (page < m->end) {
        n = (m->end - page) / PAGE;
        n = n < sizeof(entries) / sizeof(entries[0]) ? n : sizeof(entries) / sizeof(entries[0]);
        got = pread(s->pagemap_fd, entries, n * sizeof(entries[0]),
            (off_t)(page / PAGE * sizeof(entries[0])));
        if (got <= 0) {
            return;
        }
        for (i = 0; i < (size_t)got / sizeof(entries[0]); i++) {
            if ((entries[i] & PRESENT) != 0 && (entries[i] & OF_FILE) == 0 &&
                (entries[i] & EXCLUSIVE) != 0) {
                add_page(&s->pages, page + i * PAGE);
            }
        }
        page += (size_t)got / sizeof(entries[0]) * PAGE;
    }
}

/* Which pages does this way write to? A copy of this process goes it and tells. */
static void try_out(void (*way)(void), struct pages *ret)
{
    static struct scan s;
    int pipe_fds[2];
    int pidfd = -1;
    ssize_t got;
    pid_t pid;

    if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
        return;
    }
    pid = fork_clone(0, &pidfd);
    if (pid == 0) {
        way();
        s.pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        if (s.pagemap_fd >= 0) {
            each_mapping(scan_one, &s);
        }
        (void)fd_write_all(pipe_fds[1], s.pages.items, s.pages.count * sizeof(s.pages.items[0]));
        _exit(0);
    }
    (void)close(pipe_fds[1]);
    got = fd_read_up_to(pipe_fds[0], ret->items, sizeof(ret->items));
    ret->count = got > 0 ? (unsigned)((size_t)got / sizeof(ret->items[0])) : 0;
    (void)close(pipe_fds[0]);
    fd_closep(&pidfd);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

void slim_template(const struct guest_ops *ops)
{
    int pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    void *frame;

    /* The engine asks for a backtrace when an exception reaches C. For the first one libc loads a
     * library and goes through all others for that: it must not find them gone. */
    (void)backtrace(&frame, 1);
    unmap_unused(ops->unused_libraries);
    ops->touch(); /* finds the code that runs use */
    each_mapping(enlarge_one, NULL);
    each_mapping(share_one, NULL);
    if (pagemap_fd >= 0) {
        each_mapping(collapse_one, &pagemap_fd);
        (void)close(pagemap_fd);
    }
    try_out(ops->rehearse, &by_run);
    try_out(ops->rehearse_longer, &by_longer);
    try_out(ops->touch, &by_touch);
    try_out(ops->rehearse_modules, &by_modules);
}

static void populate(const struct pages *pages)
{
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        (void)madvise((void *)pages->items[i].start, pages->items[i].len, MADV_POPULATE_WRITE);
    }
}

void slim_cell(int hurry, struct slim_likely likely)
{
    populate(likely.longer ? &by_longer : &by_run);
    if (!hurry) {
        populate(&by_touch);
    }
    if (!hurry && likely.modules) {
        populate(&by_modules);
    }
}
