/* meter.c - see meter.h. */
#include "host/meter.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

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

static int read_status(int status_fd, char text[4096])
{
    ssize_t n = status_fd >= 0 ? pread(status_fd, text, 4095, 0) : -1;

    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? 0 : -1;
}

/* Pages that belong to no file on a disk: private ones, those that could be shared, and the page
 * tables, which a guest can make large without having any page. As many that could be shared as the
 * image of its template has are that: cells map what they touch of it. */
static uint64_t read_pages(const struct cell *cell, int status_fd)
{
    char text[4096];
    uint64_t shared;

    if (read_status(status_fd, text) < 0) {
        return 0;
    }
    shared = kilobytes(text, "\nRssShmem:") / 4;
    return (kilobytes(text, "\nRssAnon:") + kilobytes(text, "\nVmPTE:")) / 4 +
           (shared > cell->image_pages ? shared - cell->image_pages : 0);
}

int meter_polls(const struct cell *cell)
{
    return cell->cgroups.memory_fd < 0;
}

/* JavaScriptCore maps 70 GB to write to and uses little of it; others map what they use. */
static uint64_t read_data_bytes(int status_fd)
{
    char text[4096];

    return read_status(status_fd, text) < 0 ? 0 : kilobytes(text, "\nVmData:") * 1024;
}

void meter_base(struct vial_engine *engine, struct cell *cell)
{
    char path[64];
    int fd;

    cell->image_pages = engine != NULL ? engine->templates[cell->template_index].image_pages : 0;
    cell->cpu_us_base = read_cpu_us(cell->pid);
    cell->data_bytes_base = 0;
    if (!meter_polls(cell) && cell->spec.breed == BREED_JS) {
        return;
    }
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)cell->pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (cell->spec.breed != BREED_JS) {
        cell->data_bytes_base = read_data_bytes(fd);
    }
    if (meter_polls(cell)) {
        cell->statm_fd = fd;
        cell->pages_base = read_pages(cell, fd);
    } else {
        fd_closep(&fd);
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
    pages = read_pages(cell, cell->statm_fd);
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
