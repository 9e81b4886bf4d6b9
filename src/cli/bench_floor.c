/* bench_floor.c - the floor: what the kernel asks for making and ending a process as large as the
 * template, with nothing in it. A run cannot be had for less unless its process was made ahead of
 * time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cli/bench.h"
#include "cli/cli.h"

enum {
    FORKS = 300,
    THROUGHPUT_US = 1000 * 1000,
    PROCESSES = 2,
    HUGE = 2 << 20,
    UNSEEN_HUGE_BYTES = 36 << 20, /* the engine's code and heap, see src/cell/slim.c */
};

/* How large the template is, with the image of its heap: what would fill huge pages of it counts as
 * such, which are the cheapest to copy. A plain user cannot look at its mappings; then the floor
 * has none of these and comes out lower, that is harder to reach. */
struct size {
    uint64_t small_bytes; /* of its own, on small pages */
    uint64_t huge_bytes;  /* of its own, on huge pages */
    unsigned mappings;
};

static struct size template_size(struct bench *b)
{
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    struct size size;
    uint64_t own, image;

    vial_engine_stats(b->engine, &stats);
    image = bench_proc_image_bytes(stats.template_pid);
    own = image + bench_proc_bytes(stats.template_pid, "status", "RssAnon:");
    size.huge_bytes = (bench_proc_huge_bytes(stats.template_pid) + HUGE - 1) / HUGE * HUGE;
    size.huge_bytes += image / HUGE * HUGE;
    size.mappings = bench_proc_lines(stats.template_pid, "maps");
    if (size.mappings == 0 && own > UNSEEN_HUGE_BYTES) {
        size.huge_bytes = UNSEEN_HUGE_BYTES;
    }
    size.small_bytes = own > size.huge_bytes ? own - size.huge_bytes : 0;
    return size;
}

static void grow_by(uint64_t bytes, int advice)
{
    char *p = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p != MAP_FAILED) {
        (void)madvise(p, bytes + HUGE, advice);
        memset((char *)(((uintptr_t)p + HUGE - 1) & ~(uintptr_t)(HUGE - 1)), 1, bytes);
    }
}

/* Makes this process as large as the template, and then nothing else. */
static void grow(const struct size *size)
{
    unsigned i;
    char *p;

    grow_by(size->small_bytes, MADV_NOHUGEPAGE);
    grow_by(size->huge_bytes, MADV_HUGEPAGE);
    for (i = 0; i < size->mappings;
         i += 2) { /* two each: protection differs, so they do not merge */
        p = mmap(
            NULL, (size_t)2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p != MAP_FAILED) {
            *p = 1;
            (void)mprotect(p, 4096, PROT_READ);
        }
    }
}

static uint64_t one_fork(void)
{
    uint64_t before = clock_now_us();
    pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    if (pid < 0) {
        return 0;
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return clock_now_us() - before;
}

int bench_floor(struct bench *b)
{
    struct bench_times times = {0};
    struct size size = template_size(b);
    uint64_t us[FORKS];
    size_t i;
    int pipe_fds[2];
    pid_t pid;

    if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
        return cli_fail(EXIT_OUR_FAILURE, "cannot make a pipe: %s", strerrordesc_np(errno));
    }
    pid = fork(); /* a process of its own, so that ours does not grow */
    if (pid == 0) {
        grow(&size);
        for (i = 0; i < FORKS; i++) {
            us[i] = one_fork();
        }
        _exit(fd_write_all(pipe_fds[1], us, sizeof(us)) < 0);
    }
    (void)close(pipe_fds[1]);
    if (fd_read_up_to(pipe_fds[0], us, sizeof(us)) == (ssize_t)sizeof(us)) {
        for (i = 0; i < FORKS; i++) {
            bench_times_add(&times, us[i]);
        }
    }
    (void)close(pipe_fds[0]);
    (void)waitpid(pid, NULL, 0);
    b->floor_us = bench_times_at(&times, 50);
    bench_line(b,
        "floor             p50 %5llu us   p95 %5llu us   (fork, exit, wait; %.1f MB, %.1f MB more "
        "in huge pages, %u mappings)",
        (unsigned long long)b->floor_us, (unsigned long long)bench_times_at(&times, 95),
        (double)size.small_bytes / 1048576, (double)size.huge_bytes / 1048576, size.mappings);
    if (b->json != NULL) {
        json_key(b->json, "floor");
        json_begin_object(b->json);
        json_key(b->json, "p50_us");
        json_u64(b->json, b->floor_us);
        json_key(b->json, "p95_us");
        json_u64(b->json, bench_times_at(&times, 95));
        json_end_object(b->json);
    }
    bench_times_release(&times);
    return EXIT_FINE;
}

int bench_floor_throughput(struct bench *b)
{
    struct size size = template_size(b);
    uint64_t end, count, sum = 0;
    int pipe_fds[2];
    pid_t pids[PROCESSES];
    int i;

    if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
        return cli_fail(EXIT_OUR_FAILURE, "cannot make a pipe: %s", strerrordesc_np(errno));
    }
    for (i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            grow(&size);
            end = clock_now_us() + THROUGHPUT_US;
            for (count = 0; clock_now_us() < end; count++) {
                (void)one_fork();
            }
            _exit(fd_write_all(pipe_fds[1], &count, sizeof(count)) < 0);
        }
    }
    (void)close(pipe_fds[1]);
    for (i = 0; i < PROCESSES; i++) {
        if (fd_read_up_to(pipe_fds[0], &count, sizeof(count)) == (ssize_t)sizeof(count)) {
            sum += count;
        }
    }
    (void)close(pipe_fds[0]);
    for (i = 0; i < PROCESSES; i++) {
        (void)waitpid(pids[i], NULL, 0);
    }
    sum = sum * 1000000 / THROUGHPUT_US;
    bench_line(b, "floor throughput  %5llu forks/s at 2", (unsigned long long)sum);
    if (b->json != NULL) {
        json_key(b->json, "floor_throughput");
        json_begin_object(b->json);
        json_key(b->json, "c2");
        json_u64(b->json, sum);
        json_end_object(b->json);
    }
    return EXIT_FINE;
}
