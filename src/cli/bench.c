/* bench.c - `vial bench`: measures the floor and ours side by side, in one run, on this machine. */
#include "cli/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"

enum { TIMES_FIRST = 256, JSON_BYTES_MAX = 65536, SETTLE_MS = 3000 };

struct part {
    const char *name;
    int (*measure)(struct bench *b);
    const char *help;
};

/* In this order: later parts compare with the floor, cells made under load are not warmed up, and
 * those made while programs have modules are warmed up for them. */
static const struct part PARTS[] = {
    {"floor", bench_floor, "fork, exit and wait of a bare process as large as the template"},
    {"hot", bench_hot, "1+1 in a fresh cell, from the call to the result"},
    {"hot_2kb", bench_hot_2kb, "the same for a script of 2 KB"},
    {"memory", bench_memory, "private memory of an idle cell, and the template"},
    {"floor_throughput", bench_floor_throughput, "bare forks a second, two at a time"},
    {"throughput", bench_throughput, "runs a second, 1, 2 and 8 at a time"},
    {"cold", bench_cold, "a whole `vial run -e 1` process, beside `node -e 1`"},
    {"compute", bench_compute, "computing in a cell, with and without the JIT compiler"},
    {"hot_module", bench_hot_module, "a module with two imports"},
    {"hot_require", bench_hot_require, "the same as a script with two requires"},
    {"json_in", bench_json_in, "10 MB of JSON as input, beside node's JSON.parse"},
    {"json_out", bench_json_out, "10 MB returned, beside node's JSON.stringify"},
    {"tools", bench_tools, "calls of tools, beside a bare question and answer"},
    {"fetch", bench_fetch, "a guarded request to a server here, beside libcurl alone"},
    {"http", bench_http, "1+1 through `vial serve`, beside the library"},
    {"bindings", bench_bindings, "1+1 and tools from Node and Python, beside C over vial.h"},
    {"session", bench_session, "1+1 in a session that stays"},
    {"branch", bench_branch, "a second live session out of one with a heap of 10 MB"},
    {"environment", bench_environment, "a run in an environment with a prefix of 500 KB"},
    {"python", bench_python, "a sum in Python, beside the start of python3"},
    {"data", bench_data, "a DataFrame in the environment data, beside python3 with the same"},
    {"scan", bench_scan, "a program of 2 KB with the scanner and without, in both languages"},
    {"machine", bench_machine, "what it was measured on"},
};

void bench_times_add(struct bench_times *t, uint64_t us)
{
    uint64_t *grown;

    if (t->count == t->capacity) {
        t->capacity = t->capacity == 0 ? TIMES_FIRST : 2 * t->capacity;
        grown = realloc(t->us, t->capacity * sizeof(*t->us));
        if (grown == NULL) {
            abort();
        }
        t->us = grown;
    }
    t->us[t->count++] = us;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

uint64_t bench_times_at(struct bench_times *t, unsigned percent)
{
    if (t->count == 0) {
        return 0;
    }
    qsort(t->us, t->count, sizeof(*t->us), compare);
    return t->us[(t->count - 1) * percent / 100];
}

void bench_times_release(struct bench_times *t)
{
    free(t->us);
    *t = (struct bench_times){0};
}

void bench_pause_ms(unsigned ms)
{
    (void)usleep(ms * 1000U);
}

static int progress_shown;

void bench_progress(const char *format, ...)
{
    va_list ap;

    if (!isatty(2)) {
        return;
    }
    (void)fputs("\r\033[K", stderr);
    va_start(ap, format);
    (void)vfprintf(stderr, format, ap);
    va_end(ap);
    (void)fputs(" ...", stderr);
    (void)fflush(stderr);
    progress_shown = 1;
}

static void clear_progress(void)
{
    if (progress_shown) {
        (void)fputs("\r\033[K", stderr);
        progress_shown = 0;
    }
}

void bench_line(struct bench *b, const char *format, ...)
{
    va_list ap;

    clear_progress();
    if (b->json != NULL) {
        return;
    }
    va_start(ap, format);
    (void)vprintf(format, ap);
    va_end(ap);
    (void)putchar('\n');
    (void)fflush(stdout);
}

uint64_t bench_run(
    struct vial_engine *engine, const char *source, size_t len, struct vial_usage *usage)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result;
    struct vial_error err;
    uint64_t before, after;
    int status;

    request.source = source;
    request.source_len = len;
    before = clock_now_us();
    if (vial_run(engine, &request, &result, &err) < 0) {
        (void)cli_fail_library(&err);
        return 0;
    }
    after = clock_now_us();
    status = vial_result_status(result);
    if (usage != NULL) {
        vial_result_usage(result, usage);
    }
    vial_result_free(result);
    if (status != VIAL_STATUS_OK) {
        (void)cli_fail(EXIT_OUR_FAILURE, "a benchmark ended as %s", vial_status_name(status));
        return 0;
    }
    return after > before ? after - before : 1;
}

struct vial_engine *bench_engine_no_jit(struct bench *b)
{
    struct vial_engine_options options = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_error err;

    options.no_jit = 1;
    options.pool_count = 1;
    if (b->engine_no_jit == NULL && vial_engine_new(&options, &b->engine_no_jit, &err) < 0) {
        (void)cli_fail_library(&err);
        return NULL;
    }
    return b->engine_no_jit;
}

static void print_help(void)
{
    size_t i;

    (void)printf(
        "usage: vial bench [--json] [--only NAME]\n\n"
        "Measures in one run, so that the numbers can be compared with each other. Medians unless\n"
        "said otherwise. Parts:\n\n");
    for (i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++) {
        (void)printf("  %-17s %s\n", PARTS[i].name, PARTS[i].help);
    }
}

static int is_part(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++) {
        if (strcmp(PARTS[i].name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static int measure(struct bench *b, const char *only)
{
    size_t i;
    int code = EXIT_FINE;

    for (i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]) && code == EXIT_FINE; i++) {
        if (only != NULL && strcmp(PARTS[i].name, only) != 0) {
            continue;
        }
        bench_progress("measuring %s", PARTS[i].name);
        vial_engine_settle(b->engine, SETTLE_MS);
        code = PARTS[i].measure(b);
    }
    clear_progress();
    return code;
}

static int run_all(int json, const char *only)
{
    struct bench b = {0};
    struct json_writer w;
    struct vial_error err;
    struct buf out;
    int code;

    if (vial_engine_new(NULL, &b.engine, &err) < 0) {
        return cli_fail_library(&err);
    }
    buf_init(&out, JSON_BYTES_MAX);
    json_init(&w, &out, &err);
    if (json) {
        b.json = &w;
        json_begin_object(&w);
    }
    code = measure(&b, only);
    if (json && code == EXIT_FINE) {
        json_end_object(&w);
        if (json_finish(&w) < 0) {
            code = cli_fail_library(&err);
        } else {
            (void)printf("%s\n", out.data);
        }
    }
    buf_release(&out);
    vial_engine_free(b.engine);
    vial_engine_free(b.engine_no_jit);
    return code;
}

int cmd_bench(int argc, char **argv)
{
    static const char *const known[] = {"--json", "--only", "--help", NULL};
    const char *only = NULL;
    struct cli_args a;
    int json = 0;

    cli_args_init(&a, argc, argv);
    while (cli_args_next(&a)) {
        if (a.option == NULL) {
            return cli_fail(
                EXIT_USAGE, "vial bench takes no \"%s\"; --only NAME runs one part", a.word);
        }
        if (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0) {
            print_help();
            return EXIT_FINE;
        }
        if (strcmp(a.option, "--json") == 0) {
            if (cli_args_plain(&a, "bench") != 0) {
                return EXIT_USAGE;
            }
            json = 1;
        } else if (strcmp(a.option, "--only") == 0) {
            only = cli_args_value(&a, "bench");
            if (only == NULL) {
                return EXIT_USAGE;
            }
            if (!is_part(only)) {
                return cli_fail(
                    EXIT_USAGE, "there is no part \"%s\"; `vial bench --help` lists them", only);
            }
        } else {
            return cli_unknown_option("bench", a.option, known);
        }
    }
    return run_all(json, only);
}
