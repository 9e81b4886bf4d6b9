/* soak.c - many lives in one host: runs that end well and badly, cells that crash, and cells,
 * templates and whole hosts that are killed; and then nothing has grown.
 *
 * soak RUNS makes so many runs, a tenth as many crashes, and a tenth as many kills. What is there
 * after the first twentieth is the measure: descriptors, processes, memory of the host, descriptors
 * of the template, control groups and mounts. The last line is "N passed, N failed, N skipped". */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "suite.h"

enum {
    BLOCK = 10,          /* runs for each crash and each kill */
    FIRST_PART = 20,     /* the part of all that comes before the measure is taken */
    TEMPLATE_EVERY = 25, /* of the kills one is of the template ... */
    HOST_EVERY = 50,     /* ... and one of a host with a run under way */
    SETTLE_MS = 5000,
    GONE_MS = 1000,
    /* The library keeps no memory for runs that are over; what libc keeps for later is some pages.
     */
    HEAP_GROWTH_MAX = 128 * 1024,
    RSS_GROWTH_MAX_MB = 8,
    RUNS_MAX = 10000000,
};

/* What may not grow. */
struct measure {
    uint64_t rss;
    size_t heap;
    int mounts, groups, template_fds;
};

static int count_entries(const char *path)
{
    struct dirent *entry;
    DIR *dir = opendir(path);
    int n = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        n++;
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return n;
}

static int count_lines(const char *path)
{
    FILE *f = fopen(path, "re");
    int n = 0, c;

    while (f != NULL && (c = fgetc(f)) != EOF) {
        n += c == '\n';
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return n;
}

static pid_t template_pid(const struct suite *s)
{
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;

    vial_engine_stats(s->engine, &stats);
    return stats.template_pid;
}

static void take_measure(const struct suite *s, struct measure *m)
{
    char path[64];
    unsigned c;

    (void)malloc_trim(0);
    *m = (struct measure){.rss = leftovers_rss(),
        .heap = mallinfo2().uordblks,
        .mounts = count_lines("/proc/self/mountinfo")};
    /* Each place for a cell has a buffer, which is made when the place is first used, and kept. */
    (void)pthread_mutex_lock(&s->engine->lock);
    for (c = 0; c < s->engine->cells_count; c++) {
        m->heap -= s->engine->cells[c].in.capacity;
    }
    (void)pthread_mutex_unlock(&s->engine->lock);
    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        if (s->engine->cgroups.controllers[c].dir_fd >= 0) {
            m->groups += count_entries(s->engine->cgroups.controllers[c].path);
        }
    }
    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)template_pid(s));
    m->template_fds = count_entries(path);
}

/* ---- what happens ---- */

/* One run of the kind that this number has; 0, or -1 with the reason. */
static int run_one(const struct suite *s, unsigned i, char *why, size_t size)
{
    static const struct {
        const char *source;
        int status;
    } kinds[] = {{"[1, 2, 3].map((x) => x * 2)", VIAL_STATUS_OK},
        {"throw new Error('x')", VIAL_STATUS_EXCEPTION},
        {"console.log('a'.repeat(10000)); new Map([[1, 2n]])", VIAL_STATUS_OK},
        {"x =", VIAL_STATUS_EXCEPTION},
        {"require('fs').writeFileSync('a', 'b'); require('fs').readFileSync('a', 'utf8')",
            VIAL_STATUS_OK},
        {"await new Promise((r) => setTimeout(r, 1))", VIAL_STATUS_OK},
        {"while (true) {}", VIAL_STATUS_WALL_LIMIT}};
    unsigned kind = i % (sizeof(kinds) / sizeof(kinds[0]));
    struct vial_result *result = runs_source(s->engine, kinds[kind].source,
        kinds[kind].status == VIAL_STATUS_WALL_LIMIT ? 2 : WALL_MS, why, size);
    int good = result != NULL && vial_result_status(result) == kinds[kind].status;

    if (result != NULL && !good) {
        (void)snprintf(why, size, "%s ended with %s", kinds[kind].source,
            vial_status_name(vial_result_status(result)));
    }
    if (result != NULL) {
        (void)vial_result_json(result, NULL);
    }
    vial_result_free(result);
    return good ? 0 : -1;
}

/* A run whose process dies under it: by its own fault, or because somebody kills it. */
static int die_one(struct suite *s, int crash, char *why, size_t size)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    const struct attack *a = crash ? attacks_find(s, "P14a") : NULL;
    struct vial_result *result = NULL;
    struct vial_run *run = NULL;
    struct vial_error err;
    unsigned i;
    int good;

    if (a != NULL) {
        result = runs_raw(s, a, why, size);
        good = result != NULL && vial_result_status(result) == VIAL_STATUS_CRASHED;
        vial_result_free(result);
        return good ? 0 : -1;
    }
    vial_engine_settle(s->engine, SETTLE_MS); /* so that it has its cell at once */
    request.source = "await new Promise(() => setTimeout(() => {}, 60000))";
    request.source_len = strlen(request.source);
    if (vial_run_start(s->engine, &request, &run, &err) < 0) {
        (void)snprintf(why, size, "%s", err.text);
        return -1;
    }
    (void)pthread_mutex_lock(&s->engine->lock);
    for (i = 0; i < s->engine->cells_count; i++) {
        if (s->engine->cells[i].state == CELL_TAKEN) {
            (void)kill(s->engine->cells[i].pid, SIGKILL);
        }
    }
    (void)pthread_mutex_unlock(&s->engine->lock);
    good =
        vial_run_wait(run, &result, &err) == 0 && vial_result_status(result) == VIAL_STATUS_CRASHED;
    (void)snprintf(why, size, "a run whose cell was killed ended with %s",
        result != NULL ? vial_status_name(vial_result_status(result)) : err.text);
    vial_result_free(result);
    vial_run_free(run);
    return good ? 0 : -1;
}

static int kill_template(const struct suite *s, char *why, size_t size)
{
    pid_t before = template_pid(s);
    uint64_t until = clock_now_us() + SETTLE_MS * 1000ULL;

    (void)kill(before, SIGKILL);
    while (template_pid(s) == before || template_pid(s) <= 0) {
        if (clock_now_us() > until) {
            (void)snprintf(why, size, "there is no new template");
            return -1;
        }
        (void)usleep(1000);
    }
    return 0;
}

/* Another host, which is killed with a program of its under way: nobody outlives it. */
static int kill_host(struct suite *s, char *why, size_t size)
{
    int own = leftovers_descendants();
    uint64_t until;
    int out[2];
    pid_t child;
    char byte;

    if (pipe2(out, O_CLOEXEC) < 0) {
        return -1;
    }
    child = fork();
    if (child == 0) {
        (void)dup2(out[1], 1);
        (void)execl(s->self, s->self, "--hold", "--cell", s->cell_path, NULL);
        _exit(127);
    }
    (void)close(out[1]);
    if (child < 0 || read(out[0], &byte, 1) != 1) {
        (void)snprintf(why, size, "there is no second host");
    }
    (void)close(out[0]);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    until = clock_now_us() + GONE_MS * 1000ULL;
    while (leftovers_descendants() > own) {
        if (clock_now_us() > until) {
            (void)snprintf(
                why, size, "%d processes outlive their host", leftovers_descendants() - own);
            return -1;
        }
        (void)usleep(1000);
    }
    return 0;
}

static int kill_one(struct suite *s, unsigned i, char *why, size_t size)
{
    if (i % HOST_EVERY == HOST_EVERY - 1) {
        vial_engine_settle(s->engine, SETTLE_MS); /* its cells are counted */
        return leftovers_none(s, why, size) ? kill_host(s, why, size) : -1;
    }
    return i % TEMPLATE_EVERY == TEMPLATE_EVERY - 1 ? kill_template(s, why, size)
                                                    : die_one(s, 0, why, size);
}

/* So many blocks; 0, or -1 with the reason. */
static int live(struct suite *s, unsigned from, unsigned to, char *why, size_t size)
{
    unsigned block, i;

    for (block = from; block < to; block++) {
        for (i = 0; i < BLOCK; i++) {
            if (run_one(s, block * BLOCK + i, why, size) < 0) {
                return -1;
            }
        }
        if (die_one(s, 1, why, size) < 0 || kill_one(s, block, why, size) < 0) {
            return -1;
        }
    }
    vial_engine_settle(s->engine, SETTLE_MS);
    return leftovers_none(s, why, size) ? 0 : -1;
}

/* ---- judgement ---- */

static void check(struct suite *s, int good, const char *what, uint64_t before, uint64_t after)
{
    s->passed += good ? 1 : 0;
    s->failed += good ? 0 : 1;
    (void)printf("%s %s: %llu, then %llu\n", good ? "ok" : "FAILED", what,
        (unsigned long long)before, (unsigned long long)after);
}

static void soak(struct suite *s, unsigned runs)
{
    unsigned blocks = runs / BLOCK > 2 ? runs / BLOCK : 2;
    unsigned first = blocks / FIRST_PART > 1 ? blocks / FIRST_PART : 1;
    struct measure before, after;
    char why[WHY_BYTES] = "";

    s->engine = runs_engine(s, NULL, POOL, why, sizeof(why));
    if (s->engine == NULL) {
        s->failed++;
        (void)printf("FAILED %s\n", why);
        return;
    }
    leftovers_base(s);
    if (live(s, 0, first, why, sizeof(why)) == 0) {
        take_measure(s, &before);
        if (live(s, first, blocks, why, sizeof(why)) == 0) {
            take_measure(s, &after);
            s->passed++;
            (void)printf("ok %u runs, %u crashes, %u kills leave no process and no descriptor\n",
                blocks * BLOCK, blocks, blocks);
            check(s, after.heap <= before.heap + HEAP_GROWTH_MAX, "bytes on the heap", before.heap,
                after.heap);
            check(s, after.rss <= before.rss + ((uint64_t)RSS_GROWTH_MAX_MB << 20),
                "bytes of memory", before.rss, after.rss);
            /* One for each cell, of which there may be some more or less at the moment. */
            check(s, after.template_fds <= before.template_fds + (int)s->engine->cells_count,
                "descriptors of the template", (uint64_t)before.template_fds,
                (uint64_t)after.template_fds);
            /* A group is made when more cells than ever are there at once, and kept. */
            check(s, after.groups <= before.groups + (int)s->engine->cells_count, "control groups",
                (uint64_t)before.groups, (uint64_t)after.groups);
            check(s, after.mounts == before.mounts, "mounts", (uint64_t)before.mounts,
                (uint64_t)after.mounts);
            vial_engine_free(s->engine);
            s->engine = NULL;
            return;
        }
    }
    s->failed++;
    (void)printf("FAILED %s\n", why);
    vial_engine_free(s->engine);
    s->engine = NULL;
}

int main(int argc, char **argv)
{
    struct suite s = {.self = "/proc/self/exe",
        .level = "full",
        .shm_id = -1,
        .listen_fd = -1,
        .abstract_fd = -1};
    unsigned runs = 0;
    int i, hold = 0;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* so that nobody who is left can hide */
    for (i = 1; i < argc; i++) {
        hold |= strcmp(argv[i], "--hold") == 0;
        if (i + 1 < argc && strcmp(argv[i], "--cell") == 0) {
            s.cell_path = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--scripts") == 0) {
            s.scripts_dir = argv[++i];
        } else {
            (void)sscanf(argv[i], "%7u", &runs);
        }
    }
    if (s.cell_path != NULL && hold) {
        looks_hold(&s);
    }
    if (s.cell_path == NULL || s.scripts_dir == NULL || runs == 0 || runs > RUNS_MAX) {
        (void)fprintf(stderr, "usage: soak --cell PROGRAM --scripts DIR RUNS\n");
        return 2;
    }
    if (attacks_load(&s) < 0 || bait_open(&s) < 0) {
        return 2;
    }
    soak(&s, runs);
    bait_close(&s);
    free(s.attacks);
    (void)printf("%u passed, %u failed, %u skipped\n", s.passed, s.failed, s.skipped);
    return s.failed == 0 ? 0 : 1;
}
