/* slim.c - see slim.h.
 *
 * The measures, each worth what it says on a machine where a page fault costs 2 us (docs/speed.md):
 *
 * - Libraries that only serve parts of the engine's package we never call (its GObject interface,
 * the journal) are unmapped: 80 of 180 mappings less to copy and to tear down, and so much less
 * code for an attacker to borrow from.
 * - The engine's code, its heap and the variables of libraries become a file that all copies share
 * (image.h): a copy of the process copies nothing of them, and on huge pages they are found with
 * far fewer walks through page tables.
 * - A trial copy goes the whole way of a cell and then looks which pages it wrote to. Cells are
 * born with copies of just these (pin.h), or ask for them in a few calls instead of 150 faults, and
 * with the entries of what it looked at. */
#include "cell/slim.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "cell/cell.h"
#include "cell/image.h"
#include "cell/mapping.h"
#include "cell/pin.h"
#include "jail/fork.h"

enum {
    RANGES_MAX = PIN_RANGES_MAX,   /* a call each in a cell; more would cost what they save */
    GAP_PAGES_MAX = 0,             /* copying a page costs 2 us, another call half of one */
    MAPPING_BYTES_MAX = 256 << 20, /* larger ones are reservations with a few pages in them */
    LIBRARIES_MAX = 64,
};

struct range {
    uintptr_t start;
    size_t len;
};

struct pages {
    struct range items[RANGES_MAX];
    unsigned count;
};

static struct mapping_list mappings; /* of the template */
static int is_pinned;                /* cells are born with their own of what a run writes to */

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

/* ---- sets of pages ---- */

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

/* ---- pages that every run writes to ---- */

/* What a trial tells: the pages it has written to, and those of the image that it has looked at. */
struct trial {
    struct pages written;
    struct image_set read;
};

static struct trial run;          /* every cell and its run */
static struct trial longer;       /* a run of a longer program, with those of above */
static struct trial touched;      /* the warm-up before it */
static struct trial with_modules; /* a run with modules */

static void add_own(uintptr_t start, size_t count, uint8_t state, void *user)
{
    for (; state == PAGE_OWN && count > 0; count--, start += PAGE) {
        add_page(user, start);
    }
}

/* In the trial copy: pages that are its own, and nobody else's. Such are the variables of
 * libraries, too, in mappings of files. */
static void scan_one(int look_fd, const struct mapping *m, struct pages *ret)
{
    if ((m->prot & PROT_WRITE) != 0 && m->end - m->start <= MAPPING_BYTES_MAX) {
        mapping_each_run(look_fd, m->start, m->end, add_own, ret);
    }
}

static _Noreturn void try_way(void (*way)(void), int out_fd)
{
    /* Not the heap's: the way would find it changed. */
    struct trial *t =
        mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned i;
    int look_fd;

    if (t == MAP_FAILED) {
        _exit(1);
    }
    image_scatter();
    way();
    look_fd = mapping_look_open();
    for (i = 0; look_fd >= 0 && i < mappings.count; i++) {
        scan_one(look_fd, &mappings.items[i], &t->written);
    }
    image_look(look_fd, &t->read);
    _exit(fd_write_all(out_fd, t, sizeof(*t)) < 0);
}

/* Which pages does this way take? A copy of this process goes it and tells. */
static void try_out(void (*way)(void), struct trial *ret)
{
    int pipe_fds[2];
    int pidfd = -1;
    pid_t pid;

    memset(ret, 0, sizeof(*ret));
    if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
        return;
    }
    pid = fork_clone(0, &pidfd);
    if (pid == 0) {
        try_way(way, pipe_fds[1]);
    }
    (void)close(pipe_fds[1]);
    if (fd_read_up_to(pipe_fds[0], ret, sizeof(*ret)) != (ssize_t)sizeof(*ret)) {
        memset(ret, 0, sizeof(*ret));
    }
    (void)close(pipe_fds[0]);
    fd_closep(&pidfd);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* ---- pages that cells are born with ---- */

static void pin(const struct pages *pages)
{
    static struct iovec v[RANGES_MAX];
    int pin_fd = pin_open();
    unsigned i;

    for (i = 0; pin_fd >= 0 && i < pages->count; i++) {
        v[i] = (struct iovec){
            .iov_base = (void *)pages->items[i].start, .iov_len = pages->items[i].len};
    }
    is_pinned = pin_fd >= 0 && pages->count > 0 && pin_ranges(pin_fd, v, pages->count) == 0;
    if (!is_pinned) {
        fd_closep(&pin_fd);
    }
}

void slim_template(const struct guest_ops *ops)
{
    int look_fd = mapping_look_open();
    void *frame;

    /* The engine asks for a backtrace when an exception reaches C. For the first one libc loads a
     * library and goes through all others for that: it must not find them gone. */
    (void)backtrace(&frame, 1);
    unmap_unused(ops->unused_libraries);
    ops->touch(); /* finds the code that runs use */
    mapping_list_read(&mappings);
    if (look_fd >= 0) {
        image_take(look_fd, &mappings);
    }
    mapping_list_read(&mappings);
    try_out(ops->rehearse_longer, &longer);
    try_out(ops->rehearse_modules, &with_modules);
    try_out(ops->touch, &touched);
    try_out(cell_rehearse, &run);
    pin(&run.written);
    if (look_fd >= 0) {
        image_keep(look_fd, &run.read);
        (void)close(look_fd);
    }
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
    populate(&run.written);
    if (!hurry) {
        populate(&touched.written);
    }
}

void slim_cell(int hurry, struct slim_likely likely)
{
    if (!hurry && likely.longer) { /* in a hurry a run copies what it needs, and no more */
        populate(&longer.written);
        image_map(&longer.read);
    } else if (!is_pinned) {
        populate(&run.written);
    }
    if (!hurry) {
        image_map(&touched.read);
        populate(&touched.written);
    }
    if (!hurry && likely.modules) {
        populate(&with_modules.written);
        image_map(&with_modules.read);
    }
}
