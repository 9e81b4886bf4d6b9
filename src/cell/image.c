/* image.c - see image.h. */
#include "cell/image.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

enum {
    SPANS_MAX = 128,               /* a mapping each */
    SPAN_PAGES_MIN = 32,           /* for less another mapping costs more than it saves */
    WHOLE_PAGES_MAX = 256,         /* a smaller mapping is taken as it is, with what is not there */
    GAP_PAGES_MAX = 16,            /* of pages that nobody has; they are zero in the file */
    MAPPING_BYTES_MAX = 256 << 20, /* larger ones are reservations with a few pages in them */
    CODE_BYTES_MAX = 64 << 20,     /* of code to copy; the engine has 28 MB */
    MMAPS_MAX = 65536,             /* libc's own number */
    HOT_KIB = 48,                  /* a library with less in use is not worth the copy */
    ANCHOR_PAGES_MIN = 4,          /* fewer are found for less than what the table costs */
    HUGE = 2 << 20,                /* a huge page of this processor */
    WINDOW_PAGES = 16,             /* what the kernel maps at once, around a page that is touched */
};

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* newer than the headers of Debian 12, as the next one */
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

/* What is one mapping of the file. */
struct span {
    uintptr_t start, end;
    size_t first; /* the number of its first page */
    int prot;
};

static struct {
    struct span spans[SPANS_MAX];
    unsigned count;
    size_t pages; /* of all spans */
    off_t end;    /* of the file */
    int fd;       /* while the image is taken */
} image;

static int has(const struct image_set *set, size_t page)
{
    return (set->bits[page / 8] >> (page % 8) & 1) != 0;
}

/* ---- taking it ---- */

/* Writes memory to the end of the file and maps it from there. */
static int take_span(uintptr_t start, uintptr_t end, int prot)
{
    /* A huge page of the file is one of the process only where both begin together. */
    off_t at = image.end + (off_t)((start - (uintptr_t)image.end) % HUGE);
    size_t len = end - start, done = 0;
    void *copy;
    ssize_t n;

    if (image.count == SPANS_MAX || len / PAGE > IMAGE_PAGES_MAX - image.pages) {
        return -1;
    }
    while (done < len) {
        n = pwrite(image.fd, (const void *)(start + done), len - done, at + (off_t)done);
        if (n <= 0) {
            return -1;
        }
        done += (size_t)n;
    }
    copy = mmap(NULL, len, prot, MAP_PRIVATE | MAP_NORESERVE, image.fd, at);
    if (copy == MAP_FAILED) {
        return -1;
    }
    if (mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) == MAP_FAILED) {
        _exit(1); /* half of a heap is none */
    }
    image.spans[image.count++] =
        (struct span){.start = start, .end = end, .first = image.pages, .prot = prot};
    image.pages += len / PAGE;
    image.end = at + (off_t)len;
    for (start = (start + HUGE - 1) / HUGE * HUGE; start + HUGE <= end; start += HUGE) {
        (void)syscall(
            SYS_madvise, start, (size_t)HUGE, MADV_COLLAPSE); /* missing before Linux 6.1 */
    }
    return 0;
}

/* What of a large mapping is there, piece by piece. */
struct piece {
    uintptr_t start, end; /* 0: none */
    int prot;
};

static void end_piece(struct piece *p)
{
    if (p->end - p->start >= SPAN_PAGES_MIN * (uintptr_t)PAGE) {
        (void)take_span(p->start, p->end, p->prot);
    }
    p->start = p->end = 0;
}

static void add_to_piece(uintptr_t start, size_t count, uint8_t state, void *user)
{
    struct piece *p = user;

    if (state == PAGE_NONE) {
        return;
    }
    if (start - p->end > GAP_PAGES_MAX * (uintptr_t)PAGE) {
        end_piece(p);
    }
    p->start = p->start == 0 ? start : p->start;
    p->end = start + count * PAGE;
}

static void take_pieces(int look_fd, const struct mapping *m)
{
    struct piece p = {.prot = m->prot};

    mapping_each_run(look_fd, m->start, m->end, add_to_piece, &p);
    end_piece(&p);
}

/* Does a small mapping have pages of its own? */
static int has_own(int look_fd, const struct mapping *m)
{
    uint8_t states[WHOLE_PAGES_MAX];
    size_t n = mapping_look(look_fd, m->start, (m->end - m->start) / PAGE, states);

    while (n > 0 && states[n - 1] != PAGE_OWN && states[n - 1] != PAGE_SHARED) {
        n--;
    }
    return n > 0;
}

/* Variables of libraries, and what of them is constant once they are linked, are small mappings;
 * heaps are large ones. Code may be taken while it runs: it is the same before and after. */
static void take(int look_fd, const struct mapping *m)
{
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0), len = m->end - m->start;
    int is_heap = !m->of_file && m->prot == (PROT_READ | PROT_WRITE);
    int is_of_library = m->of_file && (m->prot & (PROT_READ | PROT_EXEC)) == PROT_READ;

    if (stack >= m->start && stack < m->end) {
        return;
    }
    if (m->of_file && (m->prot & (PROT_READ | PROT_WRITE)) == PROT_READ && m->used_kib >= HOT_KIB &&
        len <= CODE_BYTES_MAX) {
        (void)take_span(m->start, m->end, m->prot);
    } else if (len <= WHOLE_PAGES_MAX * (uintptr_t)PAGE) {
        if ((is_heap || is_of_library) && has_own(look_fd, m)) {
            (void)take_span(m->start, m->end, m->prot);
        }
    } else if (is_heap && len <= MAPPING_BYTES_MAX) {
        take_pieces(look_fd, m);
    }
}

void image_prepare(void)
{
    /* What has a mapping of its own libc makes longer in place, which in the image would be what
     * comes behind it in the file. */
    (void)mallopt(M_MMAP_MAX, 0);
}

void image_take(int look_fd, const struct mapping_list *list)
{
    unsigned i;

    image.fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
    if (image.fd < 0 && errno == EINVAL) { /* a kernel where all such files may have code */
        image.fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    }
    for (i = 0; image.fd >= 0 && i < list->count; i++) {
        take(look_fd, &list->items[i]);
    }
    if (image.fd >= 0) {
        if (fcntl(image.fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) <
            0) {
            _exit(1); /* whoever found a way to write to it would write to all cells */
        }
        fd_closep(&image.fd);
    }
    (void)mallopt(M_MMAP_MAX, MMAPS_MAX);
}

size_t image_bytes(void)
{
    return image.pages * PAGE;
}

/* ---- which pages are mapped ---- */

/* Is the page on a huge one that stays one because nobody writes to it? */
static int is_huge(const struct span *s, uintptr_t page)
{
    uintptr_t start = page / HUGE * HUGE;

    return (s->prot & PROT_WRITE) == 0 && start >= s->start && start + HUGE <= s->end;
}

void image_scatter(void)
{
    uintptr_t page;
    unsigned i;

    /* The kernel maps no neighbours that are in another mapping, and those with another advice
     * are. */
    for (i = 0; i < image.count; i++) {
        const struct span *s = &image.spans[i];

        for (page = s->start; page < s->end; page += 2 * (uintptr_t)PAGE) {
            if (is_huge(s, page)) {
                page += HUGE - 2 * (uintptr_t)PAGE;
            } else {
                (void)syscall(SYS_madvise, page, (size_t)PAGE, MADV_RANDOM);
            }
        }
    }
}

/* A span, and the set that is asked about it. */
struct question {
    const struct span *span;
    struct image_set *set;
};

static void look_at_run(uintptr_t start, size_t count, uint8_t state, void *user)
{
    const struct question *q = user;
    size_t page = q->span->first + (start - q->span->start) / PAGE;

    for (; state == PAGE_FILE && count > 0; count--, page++, start += PAGE) {
        if (!is_huge(q->span, start)) {
            q->set->bits[page / 8] |= (uint8_t)(1U << (page % 8));
        }
    }
}

void image_look(int look_fd, struct image_set *ret)
{
    unsigned i;

    memset(ret, 0, sizeof(*ret));
    for (i = 0; i < image.count; i++) {
        struct question q = {.span = &image.spans[i], .set = ret};

        mapping_each_run(look_fd, q.span->start, q.span->end, look_at_run, &q);
    }
}

static void drop_in_run(uintptr_t start, size_t count, uint8_t state, void *user)
{
    const struct question *q = user;
    size_t page = q->span->first + (start - q->span->start) / PAGE;
    size_t i, first;

    for (i = 0; state == PAGE_FILE && i < count; i++) {
        first = i;
        while (i < count && !has(q->set, page + i)) {
            i++;
        }
        if (i > first) {
            (void)syscall(SYS_madvise, start + first * PAGE, (i - first) * PAGE, MADV_DONTNEED);
        }
    }
}

/* A fork copies the entries of a mapping only when a page of it is the process's own. One becomes
 * so where that is worth it. */
static void anchor(const struct span *s, const struct image_set *set)
{
    uintptr_t page, first = 0;
    size_t n = s->first, count = 0;
    volatile char *byte;

    for (page = s->start; page < s->end; page += PAGE, n++) {
        if (has(set, n)) {
            first = count == 0 ? page : first;
            count++;
        }
    }
    if (count < ANCHOR_PAGES_MIN) {
        return;
    }
    /* It may be the page that this runs on, or that libc makes the call from. */
    if (mprotect((void *)first, PAGE, s->prot | PROT_WRITE) == 0) {
        byte = (volatile char *)first;
        *byte = *byte;
        if (mprotect((void *)first, PAGE, s->prot) < 0) {
            _exit(1);
        }
    }
}

void image_keep(int look_fd, struct image_set *set)
{
    unsigned i;

    for (i = 0; i < image.count; i++) {
        if ((image.spans[i].prot & PROT_WRITE) == 0) {
            anchor(&image.spans[i], set);
        }
    }
    image_map(set);
    for (i = 0; i < image.count; i++) {
        struct question q = {.span = &image.spans[i], .set = set};

        mapping_each_run(look_fd, q.span->start, q.span->end, drop_in_run, &q);
    }
}

void image_map(const struct image_set *set)
{
    uintptr_t page;
    unsigned i;
    size_t n;

    for (i = 0; i < image.count; i++) {
        const struct span *s = &image.spans[i];

        for (page = s->start, n = s->first; page < s->end; page += PAGE, n++) {
            if (set == NULL || has(set, n)) {
                (void)*(const volatile char *)page;
                /* The kernel has mapped what is in the same window, as far as it is in the span. */
                n += WINDOW_PAGES - 1 - page / PAGE % WINDOW_PAGES;
                page |= (WINDOW_PAGES - 1) * (uintptr_t)PAGE;
            }
        }
    }
}

/* ---- pages that the engine gives back ---- */

/* Who gives pages back relies on their being zero when they are used again, which holds of memory
 * and not of a file: those of the image become memory. The engine's calls come here because the
 * linker asks the program before it asks libc. */
__attribute__((visibility("default"))) int madvise(void *start, size_t len, int advice)
{
    uintptr_t from = (uintptr_t)start, to = from + len;
    unsigned i;

    if (advice == MADV_DONTNEED || advice == MADV_FREE) {
        for (i = 0; i < image.count; i++) {
            uintptr_t low = from > image.spans[i].start ? from : image.spans[i].start;
            uintptr_t high = to < image.spans[i].end ? to : image.spans[i].end;

            if (low < high &&
                mmap((void *)low, high - low, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
                return -1;
            }
        }
    }
    return (int)syscall(SYS_madvise, start, len, advice);
}
