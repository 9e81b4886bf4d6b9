/* bench_runs.c - runs in a warm engine: latency of one, throughput of many, computing inside. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/bench.h"
#include "cli/cli.h"

enum {
    HOT_RUNS = 400,
    SETTLE_MS = 1000,
    THROUGHPUT_US = 1500 * 1000,
    THREADS_MAX = 8,
    COMPUTE_RUNS = 5,
    SCRIPT_BYTES = 4096,
};

static const int CONCURRENCY[] = {1, 2, 8};

static void put_percentiles(struct bench *b, const char *name, struct bench_times *t)
{
    static const unsigned percents[] = {50, 95, 99};
    char key[16];
    size_t i;

    if (b->json == NULL) {
        return;
    }
    json_key(b->json, name);
    json_begin_object(b->json);
    for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        (void)snprintf(key, sizeof(key), "p%u_us", percents[i]);
        json_key(b->json, key);
        json_u64(b->json, bench_times_at(t, percents[i]));
    }
    json_end_object(b->json);
}

/* The pool is full before each run: this is the latency of a request that does not have to queue.
 */
static int measure_hot(struct bench *b, const char *name, const char *source, size_t len)
{
    struct bench_times times = {0};
    uint64_t us;
    int i;

    for (i = 0; i < HOT_RUNS; i++) {
        vial_engine_settle(b->engine, SETTLE_MS);
        us = bench_run(b->engine, source, len, NULL);
        if (us == 0) {
            bench_times_release(&times);
            return EXIT_OUR_FAILURE;
        }
        bench_times_add(&times, us);
    }
    bench_line(b, "%-17s p50 %5llu us   p95 %5llu us   p99 %5llu us%s", name,
        (unsigned long long)bench_times_at(&times, 50),
        (unsigned long long)bench_times_at(&times, 95),
        (unsigned long long)bench_times_at(&times, 99),
        b->floor_us == 0                            ? ""
        : bench_times_at(&times, 50) <= b->floor_us ? "   (at or below the floor)"
                                                    : "   (above the floor)");
    put_percentiles(b, name, &times);
    bench_times_release(&times);
    return EXIT_FINE;
}

/* The same program as a module with two imports, and as a script. */
#define WORK "path.join('a', 'b') + new EventEmitter().listenerCount('x')"
static const char MODULE[] = "import path from 'node:path';\n"
                             "import { EventEmitter } from 'node:events';\n"
                             "export default " WORK ";\n";
static const char SCRIPT[] = "const path = require('node:path');\n"
                             "const { EventEmitter } = require('node:events');\n" WORK ";\n";

int bench_hot_module(struct bench *b)
{
    return measure_hot(b, "hot_module", MODULE, sizeof(MODULE) - 1);
}

int bench_hot_require(struct bench *b)
{
    return measure_hot(b, "hot_require", SCRIPT, sizeof(SCRIPT) - 1);
}

int bench_hot(struct bench *b)
{
    return measure_hot(b, "hot", "1+1", 3);
}

/* Some functions, data, loops, text. */
size_t bench_make_script(char *script, size_t size)
{
    size_t len = 0;
    int i, n;

    for (i = 0; len < 2048 && len < size; i++) {
        n = snprintf(script + len, size - len,
            "function total%d(rows) {\n"
            "    const sums = new Map();\n"
            "    for (const row of rows) {\n"
            "        sums.set(row.name, (sums.get(row.name) ?? 0) + row.amount);\n"
            "    }\n"
            "    return [...sums].sort((a, b) => b[1] - a[1]).map(([k, v]) => `${k}: ${v}`);\n"
            "}\n",
            i);
        len += n > 0 ? (size_t)n : size;
    }
    n = snprintf(script + len, size - len,
        "total0(Array.from({length: 20}, (_, i) => ({name: 'n' + i %% 3, amount: i})))");
    return len + (size_t)n;
}

int bench_hot_2kb(struct bench *b)
{
    char script[SCRIPT_BYTES];
    size_t len = bench_make_script(script, sizeof(script));

    return measure_hot(b, "hot_2kb", script, len);
}

struct worker {
    struct vial_engine *engine;
    uint64_t end_us;
    uint64_t count;
    int failed;
};

static void *work(void *user)
{
    struct worker *w = user;

    while (clock_now_us() < w->end_us && !w->failed) {
        w->failed = bench_run(w->engine, "1+1", 3, NULL) == 0;
        w->count++;
    }
    return NULL;
}

static uint64_t measure_throughput(struct bench *b, int threads)
{
    struct worker workers[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    uint64_t begin = clock_now_us();
    uint64_t sum = 0;
    int i, started;

    for (i = 0, started = 0; i < threads; i++) {
        workers[i] = (struct worker){.engine = b->engine, .end_us = begin + THROUGHPUT_US};
        if (pthread_create(&ids[i], NULL, work, &workers[i]) != 0) {
            break;
        }
        started++;
    }
    for (i = 0; i < started; i++) {
        (void)pthread_join(ids[i], NULL);
        sum += workers[i].failed ? 0 : workers[i].count;
    }
    return sum * 1000000 / (clock_now_us() - begin);
}

int bench_throughput(struct bench *b)
{
    uint64_t rates[sizeof(CONCURRENCY) / sizeof(CONCURRENCY[0])];
    char key[8];
    size_t i;

    for (i = 0; i < sizeof(CONCURRENCY) / sizeof(CONCURRENCY[0]); i++) {
        vial_engine_settle(b->engine, SETTLE_MS);
        rates[i] = measure_throughput(b, CONCURRENCY[i]);
    }
    bench_line(b, "throughput        %5llu runs/s at 1, %llu at 2, %llu at 8",
        (unsigned long long)rates[0], (unsigned long long)rates[1], (unsigned long long)rates[2]);
    if (b->json != NULL) {
        json_key(b->json, "throughput");
        json_begin_object(b->json);
        for (i = 0; i < sizeof(CONCURRENCY) / sizeof(CONCURRENCY[0]); i++) {
            (void)snprintf(key, sizeof(key), "c%d", CONCURRENCY[i]);
            json_key(b->json, key);
            json_u64(b->json, rates[i]);
        }
        json_end_object(b->json);
    }
    return EXIT_FINE;
}

struct program {
    const char *name;
    const char *source;
};

static const struct program PROGRAMS[] = {
    {"fib30", "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } fib(30)"},
    {"sieve5e6", "const n = 5e6, s = new Uint8Array(n + 1); let c = 0;"
                 "for (let i = 2; i <= n; i++) { if (!s[i]) { c++; for (let j = i * 2; j <= n; j "
                 "+= i) s[j] = 1; } } c"},
    {"json5mb",
        "const rows = []; for (let i = 0; i < 60000; i++) rows.push({id: i, name: 'row ' + i,"
        "value: i / 7, tags: ['a', 'b'], ok: true}); const t = JSON.stringify(rows);"
        "JSON.parse(t).length + ':' + t.length"},
    {"sort1e6", "let x = 1; const a = Array.from({length: 1e6}, () => x = (x * 1103515245 + 12345) "
                "% 2147483648);"
                "a.sort((p, q) => p - q); a[0]"},
};

static uint64_t compute_us(struct vial_engine *engine, const struct program *p)
{
    struct vial_usage usage = VIAL_USAGE_INIT;
    struct bench_times times = {0};
    uint64_t us;
    int i;

    for (i = 0; i < COMPUTE_RUNS; i++) {
        vial_engine_settle(engine, SETTLE_MS);
        if (bench_run(engine, p->source, strlen(p->source), &usage) == 0) {
            break;
        }
        bench_times_add(&times, usage.wall_us);
    }
    us = bench_times_at(&times, 50);
    bench_times_release(&times);
    return us;
}

int bench_compute(struct bench *b)
{
    struct vial_engine *interpreter = bench_engine_no_jit(b);
    uint64_t us[2][sizeof(PROGRAMS) / sizeof(PROGRAMS[0])];
    char key[32];
    size_t i;

    if (interpreter == NULL) {
        return EXIT_OUR_FAILURE;
    }
    for (i = 0; i < sizeof(PROGRAMS) / sizeof(PROGRAMS[0]); i++) {
        bench_progress("measuring compute: %s", PROGRAMS[i].name);
        us[0][i] = compute_us(b->engine, &PROGRAMS[i]);
        us[1][i] = compute_us(interpreter, &PROGRAMS[i]);
        bench_line(b, "compute %-9s %7.1f ms with JIT, %7.1f ms without", PROGRAMS[i].name,
            (double)us[0][i] / 1000, (double)us[1][i] / 1000);
    }
    if (b->json == NULL) {
        return EXIT_FINE;
    }
    json_key(b->json, "compute");
    json_begin_object(b->json);
    for (i = 0; i < 2 * sizeof(PROGRAMS) / sizeof(PROGRAMS[0]); i++) {
        size_t n = sizeof(PROGRAMS) / sizeof(PROGRAMS[0]);

        (void)snprintf(key, sizeof(key), "%s%s_ms", PROGRAMS[i % n].name, i < n ? "" : "_no_jit");
        json_key(b->json, key);
        json_u64(b->json, (us[i / n][i % n] + 500) / 1000);
    }
    json_end_object(b->json);
    return EXIT_FINE;
}
