/* meter.c - see meter.h. */
#include "host/meter.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The clock of another process's processor time; the C library has this as a macro for itself. */
static clockid_t cpu_clock(pid_t pid)
{
    return (clockid_t)((~(unsigned)pid << 3) | 2U);
}

static uint64_t read_cpu_us(pid_t pid)
{
    struct timespec t;

    if (pid <= 0 || clock_gettime(cpu_clock(pid), &t) < 0) {
        return 0;
    }
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* The number in kB behind a word of /proc/PID/status. */
static uint64_t kilobytes(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    uint64_t v = 0;

    return found != NULL && sscanf(found + strlen(word), "%" SCNu64, &v) == 1 ? v : 0;
}

/* Pages that belong to no file on a disk: private ones, those that could be shared, and the page
 * tables, which a guest can make large without having any page. */
static uint64_t read_pages(int status_fd)
{
    char text[4096];
    ssize_t n = status_fd >= 0 ? pread(status_fd, text, sizeof(text) - 1, 0) : -1;

    if (n <= 0) {
        return 0;
    }
    text[n] = '\0';
    return (kilobytes(text, "\nRssAnon:") + kilobytes(text, "\nRssShmem:") +
               kilobytes(text, "\nVmPTE:")) /
           4;
}

int meter_polls(const struct cell *cell)
{
    return cell->cgroups.memory_fd < 0;
}

void meter_base(struct vial_engine *engine, struct cell *cell)
{
    char path[64];

    (void)engine;
    cell->cpu_us_base = read_cpu_us(cell->pid);
    if (meter_polls(cell)) {
        (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)cell->pid);
        cell->statm_fd = open(path, O_RDONLY | O_CLOEXEC);
        cell->pages_base = read_pages(cell->statm_fd);
    }
}

uint64_t meter_cpu_us(const struct cell *cell)
{
    uint64_t now = cell->gone ? cell->exit_cpu_us : read_cpu_us(cell->pid);

    return now > cell->cpu_us_base ? now - cell->cpu_us_base : 0;
}

uint64_t meter_memory_bytes(const struct cell *cell)
{
    uint64_t pages;

    if (!meter_polls(cell)) {
        return cgroup_slot_peak(&cell->cgroups);
    }
    pages = read_pages(cell->statm_fd);
    return pages > cell->pages_base ? (pages - cell->pages_base) * 4096 : 0;
}

void meter_restart(struct cell *cell)
{
    cell->cpu_us_base = cell->gone ? cell->cpu_us_base : read_cpu_us(cell->pid);
}

uint64_t meter_memory_now(const struct cell *cell)
{
    return meter_polls(cell) ? meter_memory_bytes(cell) : cgroup_slot_used(&cell->cgroups);
}
