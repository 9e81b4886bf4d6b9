/* slim.c - see slim.h.
 *
 * The measures, each worth what it says on a machine where a page fault costs 2 us (docs/speed.md):
 *
 * - Libraries that only serve parts of the engine's package we never call (its GObject interface,
 * the journal) are unmapped: 80 of 180 mappings less to copy and to tear down, and so much less
 * code for an attacker to borrow from.
 * - The engine's code and the fullest parts of its heap move onto huge pages: a copy of the process
 * copies one entry instead of 512, and code is found with far fewer walks through page tables.
 * - A trial copy goes the whole way of a cell and then looks which pages it wrote to. Cells are
 * born with copies of just these (pin.h), or ask for them in a few calls instead of 150 faults. */
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
#include "cell/cell.h"
#include "cell/pin.h"
#include "jail/fork.h"

enum {
    PAGE = 4096,
    RANGES_MAX = PIN_RANGES_MAX,   /* a call each in a cell; more would cost what they save */
    GAP_PAGES_MAX = 0,             /* copying a page costs 2 us, another call half of one */
    MAPS_BYTES_MAX = 512 * 1024,   /* /proc/self/smaps of some hundred mappings */
    MAPPING_BYTES_MAX = 256 << 20, /* larger ones are reservations with a few pages in them */
    HOT_KIB = 48,                  /* a library with less in use is not worth the copy */
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

static struct pages by_run;     /* written to by every cell and its run */
static struct pages by_longer;  /* written to by a run of a longer program, with those of above */
static struct pages by_touch;   /* written to by the warm-up before it */
static struct pages by_modules; /* written to by a run with modules */
static struct pages collapsed;  /* heap that is on huge pages now */
static int is_pinned;           /* cells are born with their own by_run */

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

/* Calls back for every mapping with what of it is in use; text has room for MAPS_BYTES_MAX. */
static void each_mapping_in(char *text, void (*fn)(const struct mapping *m, void *user), void *user)
{
    struct mapping m = {0};
    uintptr_t start, end;
    char *line, *next;
    char flags[5];
    unsigned long inode;

    if (fd_get_text(AT_FDCWD, "/proc/self/smaps", text, MAPS_BYTES_MAX) < 0) {
        return;
    }
    for (line = text; line != NULL && *line != '\0'; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %lu", &start, &end, flags,
                &inode) == 4) {
            m.start = start;
            m.end = end;
            m.prot = (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0) |
                     (flags[2] == 'x' ? PROT_EXEC : 0);
            m.of_file = inode != 0;
        } else if (sscanf(line, "Rss: %" SCNu64, &m.used_kib) == 1) {
            fn(&m, user);
        }
    }
}

static void each_mapping(void (*fn)(const struct mapping *m, void *user), void *user)
{
    char *text = malloc(MAPS_BYTES_MAX);

    if (text != NULL) {
        each_mapping_in(text, fn, user);
        free(text);
    }
}

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
        if (count_present(*pagemap_fd, chunk) >= FULL_PAGES_MIN && collapsed.count < RANGES_MAX &&
            madvise((void *)chunk, HUGE, MADV_COLLAPSE) == 0) { /* missing before Linux 6.1 */
            collapsed.items[collapsed.count++] = (struct range){.start = chunk, .len = HUGE};
        }
    }
}

/* ---- pages that every run writes to ---- */

struct scan {
    int pagemap_fd;
    struct pages pages;
    uint64_t entries[4096];
    char text[MAPS_BYTES_MAX];
};

/* In the trial copy: pages that are present, of our own, and nobody else's. Such are the variables
 * of libraries, too, in mappings of files. Its notes are none. */
static void scan_pages(struct scan *s, uintptr_t page, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++, page += PAGE) {
        if ((s->entries[i] & PRESENT) != 0 && (s->entries[i] & OF_FILE) == 0 &&
            (s->entries[i] & EXCLUSIVE) != 0 && page - (uintptr_t)s >= sizeof(*s)) {
            add_page(&s->pages, page);
        }
    }
}

static void scan_one(const struct mapping *m, void *user)
{
    struct scan *s = user;
    uintptr_t page = m->start;
    size_t n;
    ssize_t got;

    if ((m->prot & PROT_WRITE) == 0 || m->end - m->start > MAPPING_BYTES_MAX || m->used_kib == 0) {
        return;
    }
    while (page < m->end) {
        n = (m->end - page) / PAGE * sizeof(s->entries[0]);
        got = pread(s->pagemap_fd, s->entries, n < sizeof(s->entries) ? n : sizeof(s->entries),
            (off_t)(page / PAGE * sizeof(s->entries[0])));
        if (got <= 0) {
            return;
        }
        scan_pages(s, page, (size_t)got / sizeof(s->entries[0]));
        page += (size_t)got / sizeof(s->entries[0]) * PAGE;
    }
}

static _Noreturn void try_way(void (*way)(void), int out_fd)
{
    /* Not the heap's: the way would find it changed. */
    struct scan *s =
        mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (s == MAP_FAILED) {
        _exit(1);
    }
    way();
    s->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (s->pagemap_fd >= 0) {
        each_mapping_in(s->text, scan_one, s);
    }
    _exit(fd_write_all(out_fd, &s->pages, sizeof(s->pages)) < 0);
}

/* Which pages does this way write to? A copy of this process goes it and tells. */
static void try_out(void (*way)(void), struct pages *ret)
{
    int pipe_fds[2];
    int pidfd = -1;
    pid_t pid;

    if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
        return;
    }
    pid = fork_clone(0, &pidfd);
    if (pid == 0) {
        try_way(way, pipe_fds[1]);
    }
    (void)close(pipe_fds[1]);
    if (fd_read_up_to(pipe_fds[0], ret, sizeof(*ret)) != (ssize_t)sizeof(*ret)) {
        ret->count = 0;
    }
    (void)close(pipe_fds[0]);
    fd_closep(&pidfd);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* ---- pages that cells are born with ---- */

/* Takes a page out of a huge one: fork would have to copy all of that. Nothing of ours is on it. */
static void make_small(uintptr_t page)
{
    static char kept[PAGE];
    unsigned i;

    for (i = 0; i < collapsed.count && page - collapsed.items[i].start >= HUGE; i++) {
    }
    if (i < collapsed.count) {
        memcpy(kept, (const void *)page, PAGE);
        if (madvise((void *)page, PAGE, MADV_DONTNEED) == 0) {
            memcpy((void *)page, kept, PAGE);
        }
    }
}

static void pin(const struct pages *pages)
{
    static struct iovec v[RANGES_MAX];
    int pin_fd = pin_open();
    uintptr_t page;
    unsigned i;

    for (i = 0; pin_fd >= 0 && i < pages->count; i++) {
        v[i] = (struct iovec){
            .iov_base = (void *)pages->items[i].start, .iov_len = pages->items[i].len};
        for (page = pages->items[i].start; page < pages->items[i].start + pages->items[i].len;
             page += PAGE) {
            make_small(page);
        }
    }
    is_pinned = pin_fd >= 0 && pages->count > 0 && pin_ranges(pin_fd, v, pages->count) == 0;
    if (!is_pinned) {
        fd_closep(&pin_fd);
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
    if (pagemap_fd >= 0) {
        each_mapping(collapse_one, &pagemap_fd);
        (void)close(pagemap_fd);
    }
    try_out(ops->rehearse_longer, &by_longer);
    try_out(ops->rehearse_modules, &by_modules);
    try_out(ops->touch, &by_touch);
    try_out(cell_rehearse, &by_run);
    pin(&by_run);
}

static void populate(const struct pages *pages)
{
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        (void)madvise((void *)pages->items[i].start, pages->items[i].len, MADV_POPULATE_WRITE);
    }
}

void slim_member(int hurry)
{
    populate(&by_run);
    if (!hurry) {
        populate(&by_touch);
    }
}

void slim_cell(int hurry, struct slim_likely likely)
{
    if (!hurry && likely.longer) { /* in a hurry a run copies what it needs, and no more */
        populate(&by_longer);
    } else if (!is_pinned) {
        populate(&by_run);
    }
    if (!hurry) {
        populate(&by_touch);
    }
    if (!hurry && likely.modules) {
        populate(&by_modules);
    }
}
