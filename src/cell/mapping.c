/* mapping.c - see mapping.h. */
#include "cell/mapping.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"

enum {
    TEXT_BYTES_MAX = 512 * 1024, /* of /proc/self/smaps, some 700 for a mapping */
    LOOK_PAGES = 512             /* at a time */
};

/* Bits of an entry of /proc/PID/pagemap. */
static const uint64_t PRESENT = 1ULL << 63, OF_FILE = 1ULL << 61, EXCLUSIVE = 1ULL << 56;

static void parse(char *text, struct mapping_list *list)
{
    struct mapping m = {0};
    char *line, *next;
    char flags[5];
    unsigned long inode;

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
        } else if (sscanf(line, "Rss: %" SCNu64, &m.used_kib) == 1 && list->count < MAPPINGS_MAX &&
                   ((uintptr_t)text < m.start || (uintptr_t)text >= m.end)) {
            list->items[list->count++] = m;
        }
    }
}

void mapping_list_read(struct mapping_list *list)
{
    /* It is gone before anybody uses the list, and being shared it is never one mapping with its
     * neighbours. */
    char *text =
        mmap(NULL, TEXT_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    list->count = 0;
    if (text == MAP_FAILED) {
        return;
    }
    if (fd_get_text(AT_FDCWD, "/proc/self/smaps", text, TEXT_BYTES_MAX) >= 0) {
        parse(text, list);
    }
    (void)munmap(text, TEXT_BYTES_MAX);
}

int mapping_look_open(void)
{
    return open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

static uint8_t state_of(uint64_t entry)
{
    if ((entry & PRESENT) == 0) {
        return PAGE_NONE;
    }
    if ((entry & OF_FILE) != 0) {
        return PAGE_FILE;
    }
    return (entry & EXCLUSIVE) != 0 ? PAGE_OWN : PAGE_SHARED;
}

size_t mapping_look(int look_fd, uintptr_t start, size_t count, uint8_t *ret)
{
    uint64_t entries[LOOK_PAGES];
    size_t done = 0, n, i;
    ssize_t got;

    while (done < count) {
        n = count - done < LOOK_PAGES ? count - done : LOOK_PAGES;
        got = pread(look_fd, entries, n * sizeof(entries[0]),
            (off_t)((start / PAGE + done) * sizeof(entries[0])));
        if (got < (ssize_t)sizeof(entries[0])) {
            break;
        }
        n = (size_t)got / sizeof(entries[0]);
        for (i = 0; i < n; i++) {
            ret[done + i] = state_of(entries[i]);
        }
        done += n;
    }
    return done;
}

void mapping_each_run(int look_fd, uintptr_t start, uintptr_t end, mapping_run_fn *fn, void *user)
{
    uint8_t states[LOOK_PAGES];
    size_t n, i, first;

    for (; start < end; start += n * PAGE) {
        n = (end - start) / PAGE;
        n = mapping_look(look_fd, start, n < LOOK_PAGES ? n : LOOK_PAGES, states);
        if (n == 0) {
            return;
        }
        for (first = 0; first < n; first = i) {
            for (i = first + 1; i < n && states[i] == states[first]; i++) {
            }
            fn(start + first * PAGE, i - first, states[first], user);
        }
    }
}
