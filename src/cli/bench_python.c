/* bench_python.c - programs in Python, and with packages for data, beside the interpreter that
 * people have. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/bench.h"
#include "cli/cli.h"
#include "host/catalog.h"

enum { HOT_RUNS = 200, DATA_RUNS = 100, SETTLE_MS = 20000 };

static const char SUM[] = "sum(i*i for i in range(100))";
static const char DESCRIBE[] = "pd.DataFrame({\"a\": range(1000)}).describe()";

/* Runs the program often, each time with a cell that waits for it. 0, or an exit code. */
static int measure(struct vial_engine *engine, struct vial_env *env, const char *source, int runs,
    struct bench_times *ret)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err;
    uint64_t before;
    int i, status;

    request.source = source;
    request.source_len = strlen(source);
    request.language = VIAL_LANGUAGE_PYTHON;
    request.environment = env;
    for (i = -1; i < runs; i++) { /* the first one starts what is needed, and does not count */
        vial_engine_settle(engine, SETTLE_MS);
        bench_pause_ms(env != NULL ? 5 : 0);
        before = clock_now_us();
        if (vial_run(engine, &request, &result, &err) < 0) {
            return cli_fail_library(&err);
        }
        if (i >= 0) {
            bench_times_add(ret, clock_now_us() - before);
        }
        status = vial_result_status(result);
        vial_result_free(result);
        if (status != VIAL_STATUS_OK) {
            return cli_fail(EXIT_OUR_FAILURE, "a benchmark ended as %s", vial_status_name(status));
        }
    }
    return EXIT_FINE;
}

static void put(struct bench *b, const char *key, uint64_t ours, uint64_t theirs)
{
    if (b->json == NULL) {
        return;
    }
    json_key(b->json, key);
    json_begin_object(b->json);
    json_key(b->json, "p50_us");
    json_u64(b->json, ours);
    json_key(b->json, "python3_us");
    json_u64(b->json, theirs);
    json_end_object(b->json);
}

/* How long python3 takes for this, with or without its own set-up. */
static uint64_t python3(int bare, const char *source)
{
    char text[256];
    char name[] = "python3", isolated[] = "-I", no_site[] = "-S", command[] = "-c";
    char *const with[] = {name, command, text, NULL};
    char *const without[] = {name, isolated, no_site, command, text, NULL};

    (void)snprintf(text, sizeof(text), "%s", source);
    return bench_program("/usr/bin/python3", bare ? without : with);
}

int bench_python(struct bench *b)
{
    struct bench_times times = {0};
    uint64_t bare = python3(1, "pass");
    uint64_t usual = python3(0, "import json,re,datetime,collections");
    uint64_t ours;
    int code = measure(b->engine, NULL, SUM, HOT_RUNS, &times);

    ours = bench_times_at(&times, 50);
    if (code == EXIT_FINE) {
        bench_line(b, "python            p50 %5llu us   p95 %5llu us   for %s",
            (unsigned long long)ours, (unsigned long long)bench_times_at(&times, 95), SUM);
        bench_line(b,
            "                  `python3 -I -S -c pass` %.1f ms: %.0fx; with json, re, datetime, "
            "collections %.1f ms: %.0fx",
            (double)bare / 1000, (double)bare / (double)ours, (double)usual / 1000,
            (double)usual / (double)ours);
        put(b, "python", ours, bare);
    }
    bench_times_release(&times);
    return code;
}

int bench_data(struct bench *b)
{
    const char *document = catalog_shipped("data", 0);
    struct bench_times times = {0};
    struct vial_env *env = NULL;
    struct vial_error err;
    uint64_t theirs, ours;
    int code;

    if (vial_env_new(b->engine, document, strlen(document), NULL, 0, &env, &err) < 0) {
        return cli_fail_library(&err);
    }
    code = measure(b->engine, env, DESCRIBE, DATA_RUNS, &times);
    ours = bench_times_at(&times, 50);
    if (code == EXIT_FINE) {
        theirs = python3(0, "import pandas as pd\npd.DataFrame({\"a\": range(1000)}).describe()");
        bench_line(b,
            "data              p50 %5.2f ms   p95 %5.2f ms   for %s\n"
            "                  `python3 -c` with the same %.0f ms: %.0fx",
            (double)ours / 1000, (double)bench_times_at(&times, 95) / 1000, DESCRIBE,
            (double)theirs / 1000, (double)theirs / (double)ours);
        put(b, "data", ours, theirs);
    }
    vial_env_free(env);
    bench_times_release(&times);
    return code;
}
