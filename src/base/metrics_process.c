/* metrics_process.c - what metrics.h says of this process, read from /proc each time. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/metrics.h"

enum { STAT_BYTES_MAX = 1024, TEXT_BYTES_MAX = 2048 };

/* Fields of /proc/self/stat, counted from 1 as proc(5) does. */
enum {
    FIELD_UTIME = 14,
    FIELD_STIME = 15,
    FIELD_THREADS = 20,
    FIELD_START = 22,
    FIELD_VSIZE = 23,
    FIELD_RSS = 24,
    FIELDS_COUNT = 25
};

/* 0, or -1 when it cannot be read. The name, which may have anything in it, ends with the last
 * parenthesis. */
static int read_stat(uint64_t fields[FIELDS_COUNT])
{
    char text[STAT_BYTES_MAX];
    char *p;
    unsigned i;

    if (fd_get_text(AT_FDCWD, "/proc/self/stat", text, sizeof(text)) < 0 ||
        (p = strrchr(text, ')')) == NULL || p[1] != ' ') {
        return -1;
    }
    p += 2;
    memset(fields, 0, FIELDS_COUNT * sizeof(fields[0]));
    for (i = 3; i < FIELDS_COUNT; i++) {
        char *end = p;

        fields[i] = strtoull(p, &end, 10);
        p += strcspn(p, " ");
        if (*p == '\0') {
            return -1;
        }
        p++;
    }
    return 0;
}

/* Seconds since 1970 at which the machine started, or 0. */
static uint64_t boot_time(void)
{
    FILE *f = fopen("/proc/stat", "re");
    char line[STAT_BYTES_MAX];
    uint64_t seconds = 0;

    while (f != NULL && seconds == 0 && fgets(line, sizeof(line), f) != NULL) {
        if (strncmp(line, "btime ", 6) == 0) {
            seconds = strtoull(line + 6, NULL, 10);
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return seconds;
}

/* -1 when it cannot be told. */
static long count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    const struct dirent *entry;
    long count = -1; /* the one of this directory itself is none */

    if (d == NULL) {
        return -1;
    }
    while ((entry = readdir(d)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(d);
    return count;
}

static int put(struct buf *out, int r, const char *name, const char *kind, const char *help,
    const char *value, struct vial_error *err)
{
    char text[TEXT_BYTES_MAX];

    (void)snprintf(text, sizeof(text), "# HELP %s %s\n# TYPE %s %s\n%s %s\n", name, help, name,
        kind, name, value);
    return r < 0 ? r : buf_add_text(out, text, err);
}

static int put_number(struct buf *out, int r, const char *name, const char *help, uint64_t value,
    struct vial_error *err)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    return put(out, r, name, "gauge", help, text, err);
}

/* A number of clock ticks as seconds. */
static void ticks_text(uint64_t ticks, uint64_t more_seconds, char ret[48])
{
    uint64_t per = (uint64_t)sysconf(_SC_CLK_TCK);

    per = per > 0 ? per : 100;
    (void)snprintf(
        ret, 48, "%" PRIu64 ".%02" PRIu64, ticks / per + more_seconds, ticks % per * 100 / per);
}

int metrics_write_process(struct buf *out, struct vial_error *err)
{
    uint64_t fields[FIELDS_COUNT], boot = boot_time();
    struct rlimit limit;
    char text[48];
    long fds = count_fds();
    int is_known = read_stat(fields) == 0;
    int r = VIAL_OK;

    if (is_known) {
        ticks_text(fields[FIELD_UTIME] + fields[FIELD_STIME], 0, text);
        r = put(out, r, "process_cpu_seconds_total", "counter",
            "CPU time of the server itself, in seconds.", text, err);
        r = put_number(out, r, "process_resident_memory_bytes", "Memory of the server itself.",
            fields[FIELD_RSS] * (uint64_t)sysconf(_SC_PAGESIZE), err);
        r = put_number(out, r, "process_virtual_memory_bytes", "Address space of the server.",
            fields[FIELD_VSIZE], err);
        r = put_number(
            out, r, "process_threads", "Threads of the server.", fields[FIELD_THREADS], err);
    }
    if (is_known && boot != 0) {
        ticks_text(fields[FIELD_START], boot, text);
        r = put(out, r, "process_start_time_seconds", "gauge",
            "When the server was started, in seconds since 1970.", text, err);
    }
    if (fds >= 0) {
        r = put_number(out, r, "process_open_fds", "Open descriptors.", (uint64_t)fds, err);
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        r = put_number(out, r, "process_max_fds", "Descriptors that may be open at most.",
            limit.rlim_cur, err);
    }
    return r;
}
