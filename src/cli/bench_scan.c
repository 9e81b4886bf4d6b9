/* bench_scan.c - what the scanner adds to a run of a program of 2 KB. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/bench.h"
#include "cli/cli.h"

enum { RUNS = 80, SCRIPT_BYTES = 4096, SETTLE_MS = 20000 };

/* One run; 0 after a message. */
static uint64_t run_once(struct bench *b, const struct vial_request *request, uint64_t *ret_cpu_us)
{
    struct vial_usage usage = VIAL_USAGE_INIT;
    struct vial_result *result = NULL;
    struct vial_error err;
    uint64_t before;
    uint64_t us;
    int status;

    vial_engine_settle(b->engine, SETTLE_MS);
    before = clock_now_us();
    if (vial_run(b->engine, request, &result, &err) < 0) {
        (void)cli_fail_library(&err);
        return 0;
    }
    us = clock_now_us() - before;
    status = vial_result_status(result);
    vial_result_usage(result, &usage);
    *ret_cpu_us = usage.cpu_us;
    vial_result_free(result);
    if (status != VIAL_STATUS_OK) {
        (void)cli_fail(EXIT_OUR_FAILURE, "a benchmark ended as %s", vial_status_name(status));
        return 0;
    }
    return us > 0 ? us : 1;
}

/* Takes turns, so that both see the same machine. */
static int measure(
    struct bench *b, const char *name, uint32_t language, const char *source, size_t len)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct bench_times times[2] = {{0}, {0}}, cpu[2] = {{0}, {0}};
    uint64_t cpu_us = 0;
    uint64_t us, without, with;
    int code = EXIT_FINE;

    request.source = source;
    request.source_len = len;
    request.language = language;
    for (int i = -4; i < 2 * RUNS && code == EXIT_FINE; i++) { /* the first ones do not count */
        request.scan = i & 1 ? VIAL_SCAN_BLOCK : VIAL_SCAN_AUTO;
        us = run_once(b, &request, &cpu_us);
        code = us == 0 ? EXIT_OUR_FAILURE : EXIT_FINE;
        if (i >= 0 && us > 0) {
            bench_times_add(&times[i & 1], us);
            bench_times_add(&cpu[i & 1], cpu_us);
        }
    }
    without = bench_times_at(&times[0], 50);
    with = bench_times_at(&times[1], 50);
    if (code == EXIT_FINE) {
        bench_line(b,
            "%-17s p50 %5llu us   without %llu us: %+lld us for %zu bytes, %+lld us of processor "
            "time",
            name, (unsigned long long)with, (unsigned long long)without,
            (long long)with - (long long)without, len,
            (long long)bench_times_at(&cpu[1], 50) - (long long)bench_times_at(&cpu[0], 50));
    }
    if (code == EXIT_FINE && b->json != NULL) {
        json_key(b->json, name);
        json_begin_object(b->json);
        json_key(b->json, "p50_us");
        json_u64(b->json, with);
        json_key(b->json, "without_us");
        json_u64(b->json, without);
        json_end_object(b->json);
    }
    for (int i = 0; i < 2; i++) {
        bench_times_release(&times[i]);
        bench_times_release(&cpu[i]);
    }
    return code;
}

/* The same with a word that rules are about, so that all of it is read. */
static int measure_both(
    struct bench *b, const char *name, uint32_t language, const char *source, size_t len)
{
    static const char *const words[] = {"\n// eval()", "\n# eval()"};
    const char *word = words[language == VIAL_LANGUAGE_PYTHON];
    char longer[SCRIPT_BYTES + 16];
    char longer_name[32];
    int code = measure(b, name, language, source, len);
    int n = snprintf(longer, sizeof(longer), "%.*s%s", (int)len, source, word);

    (void)snprintf(longer_name, sizeof(longer_name), "%s_read", name);
    return code == EXIT_FINE ? measure(b, longer_name, language, longer, (size_t)n) : code;
}

/* The like of bench_make_script. */
static size_t make_python(char *script, size_t size)
{
    size_t len = 0;
    int n;

    for (int i = 0; len < 2048 && len < size; i++) {
        n = snprintf(script + len, size - len,
            "def total%d(rows):\n"
            "    sums = {}\n"
            "    for row in rows:\n"
            "        sums[row['name']] = sums.get(row['name'], 0) + row['amount']\n"
            "    ranked = sorted(sums.items(), key=lambda item: -item[1])\n"
            "    return [f'{name}: {amount}' for name, amount in ranked]\n\n",
            i);
        len += n > 0 ? (size_t)n : size;
    }
    n = snprintf(
        script + len, size - len, "total0([{'name': i %% 3, 'amount': i} for i in range(20)])\n");
    return len + (size_t)n;
}

int bench_scan(struct bench *b)
{
    char script[SCRIPT_BYTES];
    size_t len = bench_make_script(script, sizeof(script));
    int code;

    if (b->json != NULL) {
        json_key(b->json, "scan");
        json_begin_object(b->json);
    }
    code = measure_both(b, "scan", VIAL_LANGUAGE_JAVASCRIPT, script, len);
    if (code == EXIT_FINE) {
        len = make_python(script, sizeof(script));
        code = measure_both(b, "scan_python", VIAL_LANGUAGE_PYTHON, script, len);
    }
    if (b->json != NULL) {
        json_end_object(b->json);
    }
    return code;
}
