/* looks.c - cases that the harness does itself: it looks at cells from outside, or does to an
 * engine what chance or an operator would do. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "host/session.h"
#include "suite.h"

enum {
    CELLS_MAX = 16,
    HELD = 4, /* runs of a host that is killed */
    HELD_PROCESSES =
        1 + HELD + 3, /* of its template, these, a session, its branch, and their first */
    GONE_MS = 1000,   /* until they must be gone */
    BURST = 60,       /* runs of which nothing may add up */
    FIRST_RANGE =
        0x9000 /* users of cells lie in the ranges above this one, in 65,536ths of all users */
};

/* The processes of the cells that wait in the pool. */
static unsigned ready_pids(struct vial_engine *e, pid_t *pids)
{
    unsigned i, n = 0;

    (void)pthread_mutex_lock(&e->lock);
    for (i = 0; i < e->cells_count && n < CELLS_MAX; i++) {
        if (e->cells[i].state == CELL_READY) {
            pids[n++] = e->cells[i].pid;
        }
    }
    (void)pthread_mutex_unlock(&e->lock);
    return n;
}

/* A number behind a word in a file of /proc about a process; -1 when there is none. */
static long status_number(pid_t pid, const char *word)
{
    char path[64], text[4096];
    const char *found;
    long v;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (fd_get_text(AT_FDCWD, path, text, sizeof(text)) < 0) {
        return -1;
    }
    found = strstr(text, word);
    return found != NULL && sscanf(found + strlen(word), "%ld", &v) == 1 ? v : -1;
}

static int look_users(struct suite *s, char *why, size_t size)
{
    pid_t pids[CELLS_MAX];
    long uids[CELLS_MAX];
    unsigned i, j, n;

    vial_engine_settle(s->engine, GONE_MS);
    n = ready_pids(s->engine, pids);
    for (i = 0; i < n; i++) {
        uids[i] = status_number(pids[i], "\nUid:");
        if (uids[i] >> 16 < FIRST_RANGE) {
            (void)snprintf(why, size, "a cell is user %ld of the host", uids[i]);
            return 0;
        }
        for (j = 0; j < i; j++) {
            if (uids[j] == uids[i]) {
                (void)snprintf(why, size, "two cells are the same user %ld", uids[i]);
                return 0;
            }
        }
    }
    (void)snprintf(why, size, "there are no two cells to compare");
    return n >= 2;
}

/* What the kernel itself says about a cell that waits for a guest. */
static int look_status(struct suite *s, char *why, size_t size)
{
    static const struct {
        const char *word;
        long want;
    } rows[] = {{"\nNoNewPrivs:", 1}, {"\nSeccomp:", 2}, {"\nThreads:", 1}, {"\nCapEff:", 0},
        {"\nCapPrm:", 0}, {"\nCapInh:", 0}, {"\nCapAmb:", 0}, {"\nTracerPid:", 0},
        {"\nSeccomp_filters:", 2}};
    pid_t pids[CELLS_MAX];
    size_t row;
    long v;

    vial_engine_settle(s->engine, GONE_MS);
    if (ready_pids(s->engine, pids) == 0) {
        (void)snprintf(why, size, "there is no cell to look at");
        return 0;
    }
    for (row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        v = status_number(pids[0], rows[row].word);
        if (v != rows[row].want) {
            (void)snprintf(why, size, "%s is %ld", rows[row].word + 1, v);
            return 0;
        }
    }
    return 1;
}

/* A value of a run as text; 1, or 0 with the reason. */
static int value_of(
    struct vial_engine *engine, const char *source, char *ret, char *why, size_t size)
{
    struct vial_result *result = runs_source(engine, source, WALL_MS, why, size);
    const char *value = result != NULL ? vial_result_value(result, NULL) : NULL;

    if (value != NULL) {
        (void)snprintf(ret, WHY_BYTES, "%s", value);
    } else if (result != NULL) {
        (void)snprintf(why, size, "%s has no value", source);
    }
    vial_result_free(result);
    return value != NULL;
}

/* Cells are copies of one process: whatever is random must be made anew in each. */
static int look_random(struct suite *s, char *why, size_t size)
{
    static const char source[] = "[Math.random(), Math.random(), Math.random()]";
    char first[WHY_BYTES], second[WHY_BYTES];

    if (!value_of(s->engine, source, first, why, size) ||
        !value_of(s->engine, source, second, why, size)) {
        return 0;
    }
    (void)snprintf(why, size, "two runs drew the same numbers");
    return strcmp(first, second) != 0;
}

/* What one run does to the language is not there in the next. */
static int look_fresh(struct suite *s, char *why, size_t size)
{
    static const char spoil[] =
        "Object.prototype.bad = 1; Array.prototype.map = null; globalThis.kept = 1; JSON.parse = 0;"
        "Promise.prototype.then = () => { throw 1 }; delete globalThis.Map; Math.max = () => 0; 1";
    static const char ask[] = "[typeof kept, 'bad' in {}, [1].map((x) => x)[0], typeof JSON.parse, "
                              "typeof Map, Math.max(2)]";
    char got[WHY_BYTES];

    if (!value_of(s->engine, spoil, got, why, size) || !value_of(s->engine, ask, got, why, size)) {
        return 0;
    }
    (void)snprintf(why, size, "the next run sees %s", got);
    return strcmp(got, "[\"undefined\",false,1,\"function\",\"function\",2]") == 0;
}

/* The template is killed while runs are under way: they end, and a new one serves. */
static int look_template_killed(struct suite *s, char *why, size_t size)
{
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_engine *engine = runs_engine(s, NULL, 2, why, size);
    struct vial_result *result = NULL;
    struct vial_run *run = NULL;
    struct vial_error err;
    int good = 0;

    if (engine == NULL) {
        return 0;
    }
    request.source = "setTimeout(() => {}, 60000)";
    request.source_len = strlen(request.source);
    vial_engine_stats(engine, &stats);
    if (stats.template_pid <= 0 || vial_run_start(engine, &request, &run, &err) < 0) {
        (void)snprintf(why, size, "no run to begin with");
    } else {
        (void)kill(stats.template_pid, SIGKILL);
        good = vial_run_wait(run, &result, &err) == 0 &&
               vial_result_status(result) == VIAL_STATUS_CRASHED;
        (void)snprintf(why, size, "the run ended with %s",
            result != NULL ? vial_status_name(vial_result_status(result)) : err.text);
        good = good && runs_benign(engine, 0, why, size);
        vial_result_free(result);
        vial_run_free(run);
    }
    vial_engine_free(engine);
    return good;
}

/* Gone, or dead and waiting for the init of this machine, which may be in no hurry. */
static int gone(const pid_t *pids, unsigned count)
{
    char path[64], text[512];
    const char *after;
    unsigned i;

    for (i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pids[i]);
        if (fd_get_text(AT_FDCWD, path, text, sizeof(text)) == 0 &&
            (after = strrchr(text, ')')) != NULL && strncmp(after, ") Z", 3) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Computes in a session for ever. */
static void *compute(void *session)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;

    request.source = "while (true) {}";
    request.source_len = strlen(request.source);
    (void)!vial_session_eval(session, &request, &result, NULL);
    return NULL;
}

/* A session and a branch of it, both at work, with their processes named. */
static void hold_family(struct vial_engine *engine)
{
    struct vial_session *both[2] = {NULL, NULL};
    pthread_t thread;
    int i;

    if (vial_session_new(engine, NULL, &both[0], NULL) < 0 ||
        vial_session_branch(both[0], 1, &both[1], NULL) < 0) {
        return;
    }
    for (i = 0; i < 2; i++) {
        (void)printf(" %d", (int)engine->cells[both[i]->cell].pid);
        (void)pthread_create(&thread, NULL, compute, both[i]);
    }
    (void)printf(" %d", (int)engine->families[engine->cells[both[0]->cell].family].pid);
    (void)usleep(100 * 1000); /* until they are at it */
}

/* In the second program: an engine with some runs, whose processes it names, and which it never
 * ends. */
_Noreturn void looks_hold(struct suite *s)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    struct vial_engine *engine;
    struct vial_run *run;
    char why[WHY_BYTES];
    unsigned i;

    engine = runs_engine(s, NULL, HELD, why, sizeof(why));
    if (engine == NULL) {
        (void)fprintf(stderr, "%s\n", why);
        exit(1);
    }
    vial_engine_stats(engine, &stats);
    (void)printf("%d", stats.template_pid);
    request.source = "while (true) {}";
    request.source_len = strlen(request.source);
    for (i = 0; i < HELD && vial_run_start(engine, &request, &run, NULL) == 0; i++) {
    }
    (void)pthread_mutex_lock(&engine->lock);
    for (i = 0; i < engine->cells_count; i++) {
        if (engine->cells[i].state == CELL_TAKEN) {
            (void)printf(" %d", (int)engine->cells[i].pid);
        }
    }
    (void)pthread_mutex_unlock(&engine->lock);
    hold_family(engine);
    (void)printf("\n");
    (void)fflush(stdout);
    for (;;) {
        (void)pause();
    }
}

/* The host is killed, with runs under way that would compute for ever: nobody outlives it. */
static int look_host_killed(struct suite *s, char *why, size_t size)
{
    pid_t pids[HELD_PROCESSES] = {0};
    char text[200] = "";
    uint64_t until;
    unsigned count = 0;
    const char *at;
    int used = 0;
    int out[2];
    pid_t child;
    int ok;

    if (pipe2(out, O_CLOEXEC) < 0) {
        return 0;
    }
    child = fork();
    if (child == 0) {
        (void)dup2(out[1], 1);
        (void)execl(s->self, s->self, "--hold", "--cell", s->cell_path, NULL);
        _exit(127);
    }
    (void)close(out[1]);
    ok = child > 0 && read(out[0], text, sizeof(text) - 1) > 0;
    (void)close(out[0]);
    for (at = text; ok && count < HELD_PROCESSES && sscanf(at, "%d%n", &pids[count], &used) == 1;
         at += used) {
        count++;
    }
    if (child > 0) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
    }
    until = clock_now_us() + GONE_MS * 1000ULL;
    while (!gone(pids, count) && clock_now_us() < until) {
        (void)usleep(1000);
    }
    (void)snprintf(why, size, "%u processes were there, and some still are: %.100s", count, text);
    return count == HELD_PROCESSES && gone(pids, count);
}

/* A crash leaves no file behind, where the host works. */
static int look_no_core(struct suite *s, char *why, size_t size)
{
    const struct attack *crash = attacks_find(s, "P14a");
    struct vial_result *result = crash != NULL ? runs_raw(s, crash, why, size) : NULL;
    struct dirent *entry;
    int found = 0;
    DIR *dir;

    if (result == NULL) {
        return 0;
    }
    vial_result_free(result);
    dir = opendir(".");
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        found |= strncmp(entry->d_name, "core", 4) == 0 &&
                 (entry->d_name[4] == '\0' || entry->d_name[4] == '.');
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    (void)snprintf(why, size, "there is a core file");
    return !found;
}

/* Copies of one template look alike; those of another must not. */
static int look_layout(struct suite *s, char *why, size_t size)
{
    const struct attack *ask = attacks_find(s, "S08-layout");
    struct vial_engine *own = s->engine;
    struct vial_result *results[2] = {NULL, NULL};
    int i, good;

    for (i = 0; i < 2; i++) {
        s->engine = runs_engine(s, NULL, 1, why, size);
        if (s->engine != NULL) {
            results[i] = runs_raw(s, ask, why, size);
            vial_engine_free(s->engine);
        }
    }
    s->engine = own;
    good = results[0] != NULL && results[1] != NULL &&
           vial_result_value(results[0], NULL) != NULL &&
           vial_result_value(results[1], NULL) != NULL;
    if (good) {
        (void)snprintf(why, size, "two templates have the same layout");
        good =
            strcmp(vial_result_value(results[0], NULL), vial_result_value(results[1], NULL)) != 0;
    }
    vial_result_free(results[0]);
    vial_result_free(results[1]);
    return good;
}

/* Many short lives: good ones, thrown ones and killed ones. */
static int look_burst(struct suite *s, char *why, size_t size)
{
    static const char *const sources[] = {"1", "throw 1", "while (true) {}", "x ="};
    struct vial_result *result;
    unsigned i;

    for (i = 0; i < BURST; i++) {
        result = runs_source(s->engine, sources[i % 4], 10, why, size);
        if (result == NULL) {
            return 0;
        }
        vial_result_free(result);
    }
    return 1;
}

const struct attack LOOKS[] = {
    {.look = look_users,
        .id = "W02b",
        .what = "be a user that somebody else is",
        .answer = "denied",
        .levels = AT_FULL,
        .sees = "private-uid"},
    {.look = look_status,
        .id = "W00",
        .what = "be less confined than the kernel says it is",
        .answer = "denied"},
    {.look = look_template_killed,
        .id = "P15",
        .what = "gain anything by the death of the template",
        .answer = "contained"},
    {.look = look_host_killed,
        .id = "P16",
        .what = "outlive a host that is killed",
        .answer = "contained"},
    {.look = look_no_core,
        .id = "K15",
        .what = "leave a core file on the host",
        .answer = "denied"},
    {.look = look_random,
        .id = "S11",
        .what = "draw the random numbers of another run",
        .answer = "denied"},
    {.look = look_fresh,
        .id = "S13",
        .what = "spoil the language for the next run",
        .answer = "contained"},
    {.look = look_layout,
        .id = "S08",
        .what = "learn the layout of all templates from one",
        .answer = "denied"},
    {.look = look_burst,
        .id = "S01",
        .what = "wear the host out by many short lives",
        .answer = "contained"},
};

const unsigned LOOKS_COUNT = sizeof(LOOKS) / sizeof(LOOKS[0]);
