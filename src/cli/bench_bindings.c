/* bench_bindings.c - what the bindings add to the library: each has a program that measures itself
 * beside a C program over vial.h, both by turns. Those of a build directory are asked, as they are
 * beside this program there. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "cli/bench.h"
#include "cli/cli.h"

enum {
    PATH_BYTES = 4096,
    ANSWER_BYTES_MAX = 64 * 1024, /* a round has some 300 */
    READ_BYTES = 4096,
    ANSWER_US_MAX = 120 * 1000 * 1000, /* it takes some 10 s */
    ROWS_MAX = 4,
    ARGV_MAX = 12,
    NOT_FOUND = 127 /* the exit code of env when there is no such program */
};

struct row {
    const char *key;  /* of a round's numbers */
    const char *what; /* for people */
};

struct binding {
    const char *key;      /* in --json */
    const char *side;     /* of a round, beside "c" */
    const char *program;  /* that runs it */
    const char *needs[3]; /* files beneath the build directory */
    const char *path;     /* "PYTHONPATH=", of the first one's folder, or NULL */
    const char *args[ARGV_MAX];
    struct row rows[ROWS_MAX];
};

/* A name that begins with @ is beneath the build directory. */
static const struct binding BINDINGS[] = {
    {"binding_node", "node", "node",
        {"node/bench.mjs", "node/vial/vial.node", "bindings/python/vial-bench-c"}, NULL,
        {"@node/bench.mjs", "3", "100", "--json"},
        {{"run_us", "run(\"1+1\")"}, {"tool_us", "a call of a tool"}}},
    {"binding_python", "python", "python3",
        {"python/vial/bench.py", "python/vial/_vial.abi3.so", "bindings/python/vial-bench-c"},
        "PYTHONPATH=", {"-B", "-m", "vial.bench", "--rounds", "3", "--count", "50", "--json"},
        {{"run_us", "run(\"1+1\")"}, {"session_us", "Runtime().eval(\"1+1\")"},
            {"inline_us", "a call of an inline tool"},
            {"thread_us", "a call of a tool in a thread"}}},
};

extern char **environ;

static int build_folder(char folder[PATH_BYTES])
{
    ssize_t len = readlink("/proc/self/exe", folder, PATH_BYTES - 1);
    char *slash;

    if (len <= 0) {
        return -1;
    }
    folder[len] = '\0';
    slash = strrchr(folder, '/');
    if (slash == NULL) {
        return -1;
    }
    *slash = '\0';
    return 0;
}

/* The first file that is missing, or NULL. */
static const char *missing(const struct binding *one, const char *folder)
{
    char path[PATH_BYTES + 64];

    for (size_t i = 0; i < sizeof(one->needs) / sizeof(one->needs[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, one->needs[i]);
        if (access(path, R_OK) < 0) {
            return one->needs[i];
        }
    }
    return NULL;
}

static pid_t start(const struct binding *one, const char *folder, int out)
{
    char env[] = "/usr/bin/env", texts[ARGV_MAX][PATH_BYTES + 64];
    char *argv[ARGV_MAX + 4] = {env};
    posix_spawn_file_actions_t actions;
    size_t count = 1, used = 0;
    pid_t pid = -1;
    int r;

    if (one->path != NULL) {
        (void)snprintf(texts[used], sizeof(texts[used]), "%s%s/%s", one->path, folder, one->side);
        argv[count++] = texts[used++];
    }
    (void)snprintf(texts[used], sizeof(texts[used]), "%s", one->program);
    argv[count++] = texts[used++];
    for (size_t i = 0; used < ARGV_MAX && one->args[i] != NULL; i++) {
        int is_there = one->args[i][0] == '@';

        (void)snprintf(texts[used], sizeof(texts[used]), "%s%s%s", is_there ? folder : "",
            is_there ? "/" : "", one->args[i] + is_there);
        argv[count++] = texts[used++];
    }
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, out, 1);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    r = posix_spawn(&pid, env, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return r == 0 ? pid : -1;
}

/* Reads to the end; -1 when that takes too long or is too much. */
static int read_answer(int fd, struct buf *answer)
{
    uint64_t until = clock_now_us() + ANSWER_US_MAX;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char piece[READ_BYTES];

    for (;;) {
        uint64_t now = clock_now_us();
        ssize_t n;

        if (now >= until || poll(&p, 1, (int)((until - now) / 1000) + 1) == 0) {
            return -1;
        }
        n = read(fd, piece, sizeof(piece)); /* short counts handled */
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n < 0 ? -1 : 0;
        }
        if (buf_add(answer, piece, (size_t)n, NULL) < 0) {
            return -1;
        }
    }
}

/* What it printed; else why not. */
static const char *ask(const struct binding *one, const char *folder, struct buf *answer)
{
    static char why[PATH_BYTES + 256];
    const char *lacks = missing(one, folder);
    int fds[2], status = 0;
    pid_t pid;

    if (lacks != NULL) {
        (void)snprintf(why, sizeof(why),
            "there is no %s in %s, which is no build directory with this binding", lacks, folder);
        return why;
    }
    if (pipe2(fds, O_CLOEXEC) < 0) {
        return "there is no pipe to be had";
    }
    pid = start(one, folder, fds[1]);
    (void)close(fds[1]);
    if (pid > 0) {
        if (read_answer(fds[0], answer) < 0) {
            (void)kill(pid, SIGKILL);
        }
        (void)close(fds[0]);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
    } else {
        (void)close(fds[0]);
    }
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) {
        (void)snprintf(why, sizeof(why), "there is no %s", one->program);
        return why;
    }
    if (pid <= 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        (void)snprintf(why, sizeof(why), "its %s failed; run it to see why",
            one->args[0][0] == '@' ? one->args[0] + 1 : "vial.bench");
        return why;
    }
    return NULL;
}

/* In the numbers of all rounds: the median of one side, in tenths of a microsecond. */
static double median_of(const json_t *rounds, const char *side, const char *key)
{
    struct bench_times times = {0};
    const json_t *round;
    size_t i;
    double us;

    json_array_foreach(rounds, i, round)
    {
        us = json_number_value(json_object_get(json_object_get(round, side), key));
        if (us > 0) {
            bench_times_add(&times, (uint64_t)(us * 10 + 0.5));
        }
    }
    us = (double)bench_times_at(&times, 50) / 10;
    bench_times_release(&times);
    return us;
}

struct ratios {
    double least, most;
};

static struct ratios ratios_of(const json_t *rounds, const char *side, const char *key)
{
    struct ratios made = {0, 0};
    const json_t *round;
    size_t i;

    json_array_foreach(rounds, i, round)
    {
        double ours = json_number_value(json_object_get(json_object_get(round, side), key));
        double c = json_number_value(json_object_get(json_object_get(round, "c"), key));
        double ratio = c > 0 ? ours / c : 0;

        made.least = i == 0 || ratio < made.least ? ratio : made.least;
        made.most = ratio > made.most ? ratio : made.most;
    }
    return made;
}

static void report_row(
    struct bench *b, const struct binding *one, const struct row *row, const json_t *rounds)
{
    double ours = median_of(rounds, one->side, row->key);
    double c = median_of(rounds, "c", row->key);
    struct ratios r = ratios_of(rounds, one->side, row->key);

    bench_line(b, "%-17s p50 %5.0f us   in C %5.0f us: %.2fx (%.2f to %.2f in %zu rounds)   %s",
        row == one->rows ? one->key : "", ours, c, c > 0 ? ours / c : 0, r.least, r.most,
        json_array_size(rounds), row->what);
    if (b->json == NULL) {
        return;
    }
    json_key(b->json, row->key);
    json_begin_object(b->json);
    json_key(b->json, "p50_us");
    json_u64(b->json, (uint64_t)(ours + 0.5));
    json_key(b->json, "c_us");
    json_u64(b->json, (uint64_t)(c + 0.5));
    json_key(b->json, "percent_of_c");
    json_u64(b->json, c > 0 ? (uint64_t)(100 * ours / c + 0.5) : 0);
    json_end_object(b->json);
}

static void not_measured(struct bench *b, const struct binding *one, const char *why)
{
    bench_line(b, "%-17s not measured: %s", one->key, why);
    if (b->json != NULL) {
        json_key(b->json, "not_measured");
        json_text(b->json, why);
    }
}

static void measure(struct bench *b, const struct binding *one, const char *folder)
{
    const char *why;
    json_t *rounds = NULL;
    struct buf answer;

    buf_init(&answer, ANSWER_BYTES_MAX);
    bench_progress("measuring %s", one->key);
    why = ask(one, folder, &answer);
    if (why == NULL) {
        rounds = json_loadb(answer.data, answer.len, 0, NULL);
        why = json_array_size(rounds) == 0 ? "it said nothing that can be read" : NULL;
    }
    if (b->json != NULL) {
        json_key(b->json, one->key);
        json_begin_object(b->json);
    }
    if (why != NULL) {
        not_measured(b, one, why);
    } else {
        for (size_t i = 0; i < ROWS_MAX && one->rows[i].key != NULL; i++) {
            report_row(b, one, &one->rows[i], rounds);
        }
    }
    if (b->json != NULL) {
        json_end_object(b->json);
    }
    json_decref(rounds);
    buf_release(&answer);
}

int bench_bindings(struct bench *b)
{
    char folder[PATH_BYTES];

    if (build_folder(folder) < 0) {
        return cli_fail(EXIT_OUR_FAILURE, "vial does not know where it is");
    }
    for (size_t i = 0; i < sizeof(BINDINGS) / sizeof(BINDINGS[0]); i++) {
        measure(b, &BINDINGS[i], folder);
    }
    return EXIT_FINE;
}
