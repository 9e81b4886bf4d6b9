/* bench_process.c - whole processes: cold starts beside node's, memory, and what machine this is.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cli/bench.h"
#include "cli/cli.h"

enum {
    COLD_RUNS = 15,
    PROC_TEXT_MAX = 16384,
    MAPS_TEXT_MAX = 65536,
    HUGE_MAP_MAX =
        256 << 20, /* larger mappings are reservations; a page of them is looked at each */
};

extern char **environ;

uint64_t bench_proc_bytes(int pid, const char *file, const char *key)
{
    static char text[PROC_TEXT_MAX];
    char path[64];
    const char *line;
    uint64_t kib;

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
    if (pid <= 0 || fd_get_text(AT_FDCWD, path, text, sizeof(text)) < 0) {
        return 0;
    }
    line = strstr(text, key);
    return line != NULL && sscanf(line + strlen(key), " %" SCNu64, &kib) == 1 ? kib * 1024 : 0;
}

/* How many pages of a mapping are our own and parts of huge ones; -1 when we may not know. */
static long thp_pages(int map_fd, int flags_fd, uint64_t first, uint64_t count)
{
    static const uint64_t present = 1ULL << 63, of_file = 1ULL << 61, frame = (1ULL << 55) - 1,
                          huge = 1ULL << 22; /* of /proc/kpageflags */
    uint64_t entry, flags, i;
    long found = 0;

    for (i = 0; i < count; i++) {
        if (pread(map_fd, &entry, sizeof(entry), (off_t)((first + i) * sizeof(entry))) !=
            (ssize_t)sizeof(entry)) {
            return found; /* behind the end: the kernel's own page that every process has */
        }
        if ((entry & present) != 0 && (entry & of_file) == 0) {
            if ((entry & frame) == 0 ||
                pread(flags_fd, &flags, sizeof(flags), (off_t)((entry & frame) * sizeof(flags))) !=
                    (ssize_t)sizeof(flags)) {
                return -1;
            }
            found += (flags & huge) != 0 ? 1 : 0;
        }
    }
    return found;
}

uint64_t bench_proc_huge_bytes(int pid)
{
    static char text[MAPS_TEXT_MAX];
    uint64_t start, end, bytes = 0;
    int map_fd, flags_fd;
    const char *line;
    char path[64];
    long n = -1;

    (void)snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    if (pid <= 0 || fd_get_text(AT_FDCWD, path, text, sizeof(text)) < 0) {
        return 0;
    }
    (void)snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
    map_fd = open(path, O_RDONLY | O_CLOEXEC);
    flags_fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
    for (line = text; map_fd >= 0 && flags_fd >= 0 && *line != '\0'; line++) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && end - start < HUGE_MAP_MAX) {
            n = thp_pages(map_fd, flags_fd, start / 4096, (end - start) / 4096);
            if (n < 0) {
                break;
            }
            bytes += (uint64_t)n * 4096;
        }
        line = strchr(line, '\n');
        if (line == NULL) {
            break;
        }
    }
    fd_closep(&map_fd);
    fd_closep(&flags_fd);
    return n < 0 ? bench_proc_bytes(pid, "smaps_rollup", "AnonHugePages:") : bytes;
}

uint64_t bench_proc_image_bytes(int pid)
{
    static char text[MAPS_TEXT_MAX];
    uint64_t start, end, bytes = 0;
    char path[64];
    char *line, *next;

    (void)snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    if (pid <= 0 || fd_get_text(AT_FDCWD, path, text, sizeof(text)) < 0) {
        return 0;
    }
    for (line = text; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (strstr(line, "/memfd:image") != NULL &&
            sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2) {
            bytes += end - start;
        }
    }
    return bytes;
}

unsigned bench_proc_lines(int pid, const char *file)
{
    static char text[MAPS_TEXT_MAX];
    char path[64];
    const char *p;
    unsigned n = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
    if (pid <= 0 || fd_get_text(AT_FDCWD, path, text, sizeof(text)) < 0) {
        return 0;
    }
    for (p = text; (p = strchr(p, '\n')) != NULL; p++) {
        n++;
    }
    return n;
}

/* From the start of a program to its end; 0 when it cannot be started or fails. */
static uint64_t time_program(const char *path, char *const argv[])
{
    posix_spawn_file_actions_t actions;
    uint64_t before = clock_now_us();
    int status = 1;
    pid_t pid;
    int r;

    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    r = posix_spawnp(&pid, path, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (r != 0) {
        return 0;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? clock_now_us() - before : 0;
}

uint64_t bench_program(const char *path, char *const argv[])
{
    struct bench_times times = {0};
    uint64_t us;
    int i;

    for (i = 0; i < COLD_RUNS; i++) {
        us = time_program(path, argv);
        if (us == 0) {
            break;
        }
        bench_times_add(&times, us);
    }
    us = bench_times_at(&times, 50);
    bench_times_release(&times);
    return us;
}

int bench_cold(struct bench *b)
{
    char vial[] = "vial", node[] = "node", run[] = "run", eval[] = "-e", one[] = "1";
    char *const vial_argv[] = {vial, run, eval, one, NULL};
    char *const node_argv[] = {node, eval, one, NULL};
    uint64_t ours = bench_program("/proc/self/exe", vial_argv);
    uint64_t theirs = bench_program("node", node_argv);

    if (ours == 0) {
        return cli_fail(EXIT_OUR_FAILURE, "`vial run -e 1` failed");
    }
    if (theirs != 0) {
        bench_line(b,
            "cold              %5.1f ms for `vial run -e 1`, %.1f ms for `node -e 1`: %.2f of it",
            (double)ours / 1000, (double)theirs / 1000, (double)ours / (double)theirs);
    } else {
        bench_line(b,
            "cold              %5.1f ms for `vial run -e 1` (no node here to compare with)",
            (double)ours / 1000);
    }
    if (b->json != NULL) {
        json_key(b->json, "cold");
        json_begin_object(b->json);
        json_key(b->json, "vial_us");
        json_u64(b->json, ours);
        json_key(b->json, "node_us");
        if (theirs != 0) {
            json_u64(b->json, theirs);
        } else {
            json_write_null(b->json);
        }
        json_end_object(b->json);
    }
    return EXIT_FINE;
}

int bench_memory(struct bench *b)
{
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    uint64_t cell, rss, own;

    vial_engine_stats(b->engine, &stats);
    cell = bench_proc_bytes(stats.idle_cell_pid, "smaps_rollup", "Private_Dirty:") +
           bench_proc_bytes(stats.idle_cell_pid, "smaps_rollup", "Private_Clean:");
    rss = bench_proc_bytes(stats.template_pid, "status", "VmRSS:");
    own = bench_proc_bytes(stats.template_pid, "status", "RssAnon:") +
          bench_proc_image_bytes(stats.template_pid);
    rss += own - bench_proc_bytes(stats.template_pid, "status", "RssAnon:") -
           bench_proc_bytes(stats.template_pid, "status", "RssShmem:");
    if (cell != 0) {
        bench_line(b,
            "memory            %5.0f kB private in an idle cell; template %.1f MB, %.1f MB of it "
            "its own",
            (double)cell / 1024, (double)rss / 1048576, (double)own / 1048576);
    } else {
        bench_line(b,
            "memory            template %.1f MB, %.1f MB of it its own (only root can look into a "
            "cell)",
            (double)rss / 1048576, (double)own / 1048576);
    }
    if (b->json != NULL) {
        json_key(b->json, "memory");
        json_begin_object(b->json);
        json_key(b->json, "cell_private_bytes");
        if (cell != 0) {
            json_u64(b->json, cell);
        } else {
            json_write_null(b->json);
        }
        json_key(b->json, "template_rss_bytes");
        json_u64(b->json, rss);
        json_key(b->json, "template_own_bytes");
        json_u64(b->json, own);
        json_end_object(b->json);
    }
    return EXIT_FINE;
}

/* The processor's name, as the kernel has it. */
static void processor_name(char *ret, size_t size)
{
    static char text[PROC_TEXT_MAX];
    const char *line;
    size_t len;

    (void)snprintf(ret, size, "unknown");
    if (fd_get_text(AT_FDCWD, "/proc/cpuinfo", text, sizeof(text)) < 0) {
        return;
    }
    line = strstr(text, "model name");
    line = line != NULL ? strstr(line, ": ") : NULL;
    if (line != NULL) {
        len = strcspn(line + 2, "\n");
        (void)snprintf(ret, size, "%.*s", (int)len, line + 2);
    }
}

int bench_machine(struct bench *b)
{
    struct utsname name;
    char processor[128];
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    processor_name(processor, sizeof(processor));
    (void)uname(&name);
    bench_line(b, "machine           %ld x %s, %.0f GiB, Linux %s; isolation %s, vial %s", count,
        processor, (double)memory / 1073741824, name.release, vial_engine_level(b->engine),
        vial_version());
    if (b->json != NULL) {
        json_key(b->json, "machine");
        json_begin_object(b->json);
        json_key(b->json, "processors");
        json_i64(b->json, count);
        json_key(b->json, "processor");
        json_text(b->json, processor);
        json_key(b->json, "memory_bytes");
        json_u64(b->json, memory);
        json_key(b->json, "kernel");
        json_text(b->json, name.release);
        json_key(b->json, "isolation");
        json_text(b->json, vial_engine_level(b->engine));
        json_key(b->json, "vial");
        json_text(b->json, vial_version());
        json_end_object(b->json);
    }
    return EXIT_FINE;
}
