/* bench_sessions.c - programs in a session, branches of it, and runs in an environment. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "cli/bench.h"
#include "cli/cli.h"

enum { EVALS = 500, BRANCHES = 100, RUNS = 200, PREFIX_BYTES = 500 * 1024, PAUSE_MS = 5 };

/* Ten megabytes of objects and strings that stay. */
static const char HEAP[] = "globalThis.rows = []; for (let i = 0; i < 70000; i++)"
                           " rows.push({id: i, name: 'row number ' + i, value: i * 1.5}); 1";

static int eval(struct vial_session *s, const char *source, uint64_t *ret_us)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err;
    uint64_t before = clock_now_us();
    int status;

    request.source = source;
    request.source_len = strlen(source);
    if (vial_session_eval(s, &request, &result, &err) < 0) {
        return cli_fail_library(&err);
    }
    *ret_us = clock_now_us() - before;
    status = vial_result_status(result);
    vial_result_free(result);
    return status == VIAL_STATUS_OK
               ? EXIT_FINE
               : cli_fail(EXIT_OUR_FAILURE, "a benchmark ended as %s", vial_status_name(status));
}

static void put_times(struct bench *b, const char *key, struct bench_times *t)
{
    if (b->json == NULL) {
        return;
    }
    json_key(b->json, key);
    json_begin_object(b->json);
    json_key(b->json, "p50_us");
    json_u64(b->json, bench_times_at(t, 50));
    json_key(b->json, "p95_us");
    json_u64(b->json, bench_times_at(t, 95));
    json_end_object(b->json);
}

int bench_session(struct bench *b)
{
    struct bench_times times = {0};
    struct vial_session *s = NULL;
    struct vial_error err;
    uint64_t us = 0;
    int i, code = EXIT_FINE;

    if (vial_session_new(b->engine, NULL, &s, &err) < 0) {
        return cli_fail_library(&err);
    }
    for (i = 0; i < EVALS && code == EXIT_FINE; i++) {
        code = eval(s, "1+1", &us);
        bench_times_add(&times, us);
    }
    vial_session_free(s);
    bench_line(b, "session eval      %.3f ms p50, %.3f ms p95 for 1+1",
        (double)bench_times_at(&times, 50) / 1000, (double)bench_times_at(&times, 95) / 1000);
    put_times(b, "session", &times);
    bench_times_release(&times);
    return code;
}

int bench_branch(struct bench *b)
{
    struct bench_times times = {0};
    struct vial_session *s = NULL;
    struct vial_session *branch = NULL;
    struct vial_error err;
    uint64_t before, us = 0;
    int i, code;

    if (vial_session_new(b->engine, NULL, &s, &err) < 0) {
        return cli_fail_library(&err);
    }
    code = eval(s, HEAP, &us);
    for (i = 0; i < BRANCHES && code == EXIT_FINE; i++) {
        before = clock_now_us();
        if (vial_session_branch(s, 1, &branch, &err) < 0) {
            code = cli_fail_library(&err);
            break;
        }
        bench_times_add(&times, clock_now_us() - before);
        code = i % 10 == 0 ? eval(branch, "rows.push(1)", &us) : EXIT_FINE;
        vial_session_free(branch);
    }
    vial_session_free(s);
    bench_line(b, "branch            %.3f ms p50, %.3f ms p95 of a session with a heap of 10 MB",
        (double)bench_times_at(&times, 50) / 1000, (double)bench_times_at(&times, 95) / 1000);
    if (b->floor_us != 0 && code == EXIT_FINE) {
        bench_line(b, "                  %.2fx of the floor",
            (double)bench_times_at(&times, 50) / (double)b->floor_us);
    }
    put_times(b, "branch", &times);
    bench_times_release(&times);
    return code;
}

/* One function of a library; what comes in the place of both numbers is its own. */
#define LIBRARY_FUNCTION                                                                           \
    "function f%d(list, n) { return list.map(x => ({x, n: n + %d})).filter(y => y.x > n); }"

/* A document whose prefix is some 500 KB of functions. */
static int make_document(struct buf *out)
{
    char line[160];
    int i, r = buf_add_text(out, "{\"name\":\"bench\",\"prefix\":\"", NULL);

    for (i = 0; r == 0 && out->len < PREFIX_BYTES; i++) {
        (void)snprintf(line, sizeof(line), LIBRARY_FUNCTION "\\n", i, i);
        r = buf_add_text(out, line, NULL);
    }
    return r < 0 ? r : buf_add_text(out, "\"}", NULL);
}

/* A call of a function of the library, in the environment, or in none by a program that brings the
 * function along. */
static int hot(struct bench *b, struct vial_env *env, struct bench_times *times)
{
    char alone[256];
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err;
    uint64_t before;
    int i;

    (void)snprintf(alone, sizeof(alone), LIBRARY_FUNCTION " f1([1, 2], 0).length", 1, 1);
    request.source = env != NULL ? "f1([1, 2], 0).length" : alone;
    request.source_len = strlen(request.source);
    request.environment = env;
    for (i = 0; i < RUNS; i++) {
        before = clock_now_us();
        if (vial_run(b->engine, &request, &result, &err) < 0) {
            return cli_fail_library(&err);
        }
        bench_times_add(times, clock_now_us() - before);
        if (vial_result_status(result) != VIAL_STATUS_OK) {
            return cli_fail(EXIT_OUR_FAILURE, "a benchmark ended as %s",
                vial_status_name(vial_result_status(result)));
        }
        vial_result_free(result);
        bench_pause_ms(PAUSE_MS); /* as programs come that a model writes: not as fast as can be */
    }
    return EXIT_FINE;
}

int bench_environment(struct bench *b)
{
    struct bench_times plain = {0}, inside = {0};
    struct vial_env *env = NULL;
    struct vial_error err;
    struct buf document;
    int code;

    buf_init(&document, (size_t)2 * PREFIX_BYTES);
    if (make_document(&document) < 0 ||
        vial_env_new(b->engine, document.data, document.len, NULL, 0, &env, &err) < 0) {
        buf_release(&document);
        return cli_fail_library(&err);
    }
    code = hot(b, NULL, &plain);
    code = code != EXIT_FINE ? code : hot(b, env, &inside);
    bench_line(b,
        "environment       %.3f ms p50, %.3f ms p95 with a prefix of 500 KB; without %.3f ms",
        (double)bench_times_at(&inside, 50) / 1000, (double)bench_times_at(&inside, 95) / 1000,
        (double)bench_times_at(&plain, 50) / 1000);
    if (code == EXIT_FINE) {
        bench_line(b, "                  %.2fx of a run without a prefix",
            (double)bench_times_at(&inside, 50) / (double)bench_times_at(&plain, 50));
    }
    if (b->json != NULL) {
        json_key(b->json, "environment");
        json_begin_object(b->json);
        put_times(b, "inside", &inside);
        put_times(b, "without", &plain);
        json_end_object(b->json);
    }
    bench_times_release(&plain);
    bench_times_release(&inside);
    vial_env_free(env);
    buf_release(&document);
    return code;
}
