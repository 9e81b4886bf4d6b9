/* runs.c - runs one case and judges how it ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "suite.h"

enum {
    RUNS_MAX = 16,   /* the case, the benign run, the victim, and what looks start beside them */
    QUEUE_MS = 4000, /* a cell is there in milliseconds; a template that has to start anew in 100 */
    BENIGN_MS = 2000, /* a run of nothing takes a millisecond; the machine may be busy */
    TEXT_BYTES_MAX =
        100 * 1024, /* of all texts of an error together; the cell cuts each far below */
    /* Where memory is polled, how much more than its limit a run may have got hold of before it
       died. */
    POLL_SLACK_MB = 128,
    CPU_SLACK_MS = 300, /* more than its limit, until a busy host has noticed */
    /* A group lets nobody have more, but still counts what the last cell in it has not yet given
       back. */
    GROUP_SLACK_MB = 32,
};

struct vial_engine *runs_engine(
    const struct suite *s, const char *without, unsigned pool, char *why, size_t size)
{
    struct vial_engine_options options = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_engine *engine = NULL;
    struct vial_error err;

#ifdef VIAL_MUTATION
    mutate_set(without);
#else
    (void)without;
#endif
    options.pool_count = pool;
    options.runs_max = RUNS_MAX;
    options.queue_ms_max = QUEUE_MS;
    options.cell_path = s->cell_path;
    options.quick = pool == 1;
    if (vial_engine_new(&options, &engine, &err) < 0) {
        (void)snprintf(why, size, "the engine does not start: %s", err.text);
        return NULL;
    }
    vial_engine_settle(engine, QUEUE_MS);
    return engine;
}

static struct vial_result *run_in(struct vial_engine *engine, uint32_t language, const char *source,
    uint32_t wall_ms, char *why, size_t size)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err;

    limits.wall_ms_max = wall_ms;
    request.source = source;
    request.source_len = strlen(source);
    request.limits = &limits;
    request.language = language;
    if (vial_run(engine, &request, &result, &err) < 0) {
        (void)snprintf(why, size, "it did not run: %s", err.text);
        return NULL;
    }
    return result;
}

struct vial_result *runs_source(
    struct vial_engine *engine, const char *source, uint32_t wall_ms, char *why, size_t size)
{
    return run_in(engine, VIAL_LANGUAGE_AUTO, source, wall_ms, why, size);
}

struct vial_result *runs_python(
    struct vial_engine *engine, const char *source, uint32_t wall_ms, char *why, size_t size)
{
    return run_in(engine, VIAL_LANGUAGE_PYTHON, source, wall_ms, why, size);
}

int runs_benign(struct vial_engine *engine, int python, char *why, size_t size)
{
    uint64_t start = clock_now_us();
    struct vial_result *result =
        python
            ? runs_python(engine, "import json\nsum(json.loads('[6, 36]'))", BENIGN_MS, why, size)
            : runs_source(engine, "[6, 7].reduce((a, b) => a * b)", BENIGN_MS, why, size);
    const char *value;
    int good;

    if (result == NULL) {
        return 0;
    }
    value = vial_result_value(result, NULL);
    good =
        vial_result_status(result) == VIAL_STATUS_OK && value != NULL && strcmp(value, "42") == 0;
    if (!good) {
        (void)snprintf(why, size, "the benign run after it ended with %s",
            vial_status_name(vial_result_status(result)));
    } else if (clock_now_us() - start > (BENIGN_MS + QUEUE_MS) * 1000ULL) {
        (void)snprintf(why, size, "the benign run after it was slow");
        good = 0;
    }
    vial_result_free(result);
    return good;
}

struct vial_limits runs_limits(const struct attack *a)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;

    limits.wall_ms_max = a->wall_ms != 0 ? a->wall_ms : WALL_MS;
    limits.cpu_ms_max = a->cpu_ms;
    limits.memory_bytes_max = (uint64_t)a->memory_mb << 20;
    limits.timers_max = a->timers;
    limits.stdout_bytes_max = a->stdout_bytes;
    limits.value_bytes_max = a->value_bytes;
    limits.files_max = a->files;
    limits.open_files_max = a->open_files;
    limits.disk_bytes_max = a->disk_bytes;
    return limits;
}

static uint64_t argument_of(const struct suite *s, const struct attack *a)
{
    switch (a->argument) {
    case ARGUMENT_PORT:
        return s->port;
    case ARGUMENT_SHM_KEY:
    case ARGUMENT_HOST_PID:
        return (uint64_t)getpid();
    default:
        return a->number;
    }
}

struct vial_result *runs_raw(struct suite *s, const struct attack *a, char *why, size_t size)
{
    struct vial_limits limits = runs_limits(a);
    struct vial_request request = VIAL_REQUEST_INIT;
    struct cell_spec spec = {.kind = CELL_ATTACK};
    struct vial_result *result = NULL;
    struct vial_run *run = NULL;
    struct vial_error err;
    int r;

    request.source = "1";
    request.source_len = 1;
    request.limits = &limits;
    request.language = a->python ? VIAL_LANGUAGE_PYTHON : VIAL_LANGUAGE_AUTO;
    request.outs = &a->out;
    request.outs_count = a->out != NULL ? 1 : 0;
    spec.attack = (uint32_t)(a - s->attacks);
    spec.attack_argument = argument_of(s, a);
    r = run_start_in(s->engine, &request, &spec, &run, &err);
    if (r == 0) {
        r = vial_run_wait(run, &result, &err);
        vial_run_free(run);
    }
    if (r < 0) {
        (void)snprintf(why, size, "it did not run: %.200s; the last failure of the engine: %.200s",
            err.text, s->engine->failure.text);
        return NULL;
    }
    return result;
}

static struct vial_result *run_script(
    struct suite *s, const struct attack *a, char *why, size_t size)
{
    struct vial_limits limits = runs_limits(a);
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err;

    request.source = a->source;
    request.source_len = a->source_len;
    request.limits = &limits;
    request.name = a->python ? "attack.py" : "attack.js";
    request.outs = &a->out;
    request.outs_count = a->out != NULL ? 1 : 0;
    if (vial_run(s->engine, &request, &result, &err) < 0) {
        (void)snprintf(why, size, "it did not run: %s", err.text);
        return NULL;
    }
    return result;
}

/* Copies the text of a key, as raw.c writes it, out of the report; the place behind it, or NULL. */
static const char *report_text(const char *at, const char *key, char *text, size_t size)
{
    const char *start = strstr(at, key);
    size_t len;

    if (start == NULL) {
        return NULL;
    }
    start += strlen(key);
    len = strcspn(start, "\"");
    (void)snprintf(text, size, "%.*s", (int)(len < size ? len : size - 1), start);
    return start + len;
}

/* Did every call of the report come to what was wanted? */
static int judge_report(const char *report, char *why, size_t size)
{
    char call[200], got[200], want[200];
    const char *at = report != NULL ? report : "";
    unsigned count = 0, wrong = 0;
    size_t used = 0;

    while ((at = report_text(at, "\"call\":\"", call, sizeof(call))) != NULL &&
           (at = report_text(at, "\"got\":\"", got, sizeof(got))) != NULL &&
           (at = report_text(at, "\"want\":\"", want, sizeof(want))) != NULL) {
        count++;
        if (attacks_list_has(want, got)) {
            continue;
        }
        wrong++;
        if (used < size) {
            used += (size_t)snprintf(why + used, size - used, "%s%s: %s instead of %s",
                wrong > 1 ? "; " : "", call, got, want);
        }
    }
    if (count == 0) {
        (void)snprintf(why, size, "nothing happened");
    }
    return count > 0 && wrong == 0;
}

/* The result as every front end shows it: valid, on one line, and harmless to a terminal. */
static int judge_json(struct vial_result *result, char *why, size_t size)
{
    size_t len, i;
    const char *json = vial_result_json(result, &len);

    if (json == NULL || json_check(json, len, 512, NULL) < 0) {
        (void)snprintf(why, size, "the result is not JSON");
        return 0;
    }
    for (i = 0; i < len; i++) {
        if ((unsigned char)json[i] < 0x20 || json[i] == 0x7f) {
            (void)snprintf(why, size, "the result holds the control character %d", json[i]);
            return 0;
        }
    }
    return 1;
}

static int judge_error(
    const struct attack *a, const struct vial_result *result, char *why, size_t size)
{
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;
    size_t bytes;

    vial_result_error(result, &e);
    bytes = (e.name != NULL ? strlen(e.name) : 0) + (e.message != NULL ? strlen(e.message) : 0) +
            (e.stack != NULL ? strlen(e.stack) : 0);
    if (bytes > TEXT_BYTES_MAX) {
        (void)snprintf(why, size, "the texts of the error are %zu bytes long", bytes);
        return 0;
    }
    if (a->name != NULL && (e.name == NULL || strcmp(e.name, a->name) != 0)) {
        (void)snprintf(
            why, size, "the error is %s instead of %s: %.200s", e.name, a->name, e.message);
        return 0;
    }
    if (a->message != NULL && (e.message == NULL || strstr(e.message, a->message) == NULL)) {
        (void)snprintf(why, size, "the message is %.200s", e.message);
        return 0;
    }
    return 1;
}

static int judge_usage(const struct suite *s, const struct attack *a,
    const struct vial_result *result, char *why, size_t size)
{
    struct vial_usage usage = VIAL_USAGE_INIT;
    uint64_t wall_ms = a->wall_ms != 0 ? a->wall_ms : WALL_MS;
    uint64_t slack_mb = strcmp(s->level, "full") == 0 ? GROUP_SLACK_MB : POLL_SLACK_MB;
    uint64_t dropped = 0;

    vial_result_usage(result, &usage);
    if (usage.wall_us > (wall_ms + GRACE_MS) * 1000) {
        (void)snprintf(why, size, "it took %llu ms of %llu",
            (unsigned long long)usage.wall_us / 1000, (unsigned long long)wall_ms);
        return 0;
    }
    if (a->cpu_ms != 0 && usage.cpu_us > (a->cpu_ms + (uint64_t)CPU_SLACK_MS) * 1000) {
        (void)snprintf(why, size, "it had %llu ms of processor time of %u",
            (unsigned long long)usage.cpu_us / 1000, a->cpu_ms);
        return 0;
    }
    if (a->memory_mb != 0 && usage.memory_bytes_peak > (a->memory_mb + slack_mb) << 20) {
        (void)snprintf(why, size, "it had %llu MB of %u",
            (unsigned long long)usage.memory_bytes_peak >> 20, a->memory_mb);
        return 0;
    }
    (void)vial_result_output(result, VIAL_STDOUT, NULL, &dropped);
    if (a->dropped && dropped == 0) {
        (void)snprintf(why, size, "no output was dropped");
        return 0;
    }
    return 1;
}

/* Are the files that came back those that may, and is nothing of the host in them? */
static int judge_files(
    const struct attack *a, const struct vial_result *result, char *why, size_t size)
{
    size_t count = vial_result_file_count(result), used = 0, i;
    static char names[64 * 1024];
    struct vial_file file;

    names[0] = '\0';
    for (i = 0; i < count && vial_result_file(result, i, &file) == 0; i++) {
        if (used < sizeof(names)) {
            used += (size_t)snprintf(
                names + used, sizeof(names) - used, "%s%s", i > 0 ? "," : "", file.name);
        }
        if (memmem(file.bytes, file.len, "root:", 5) != NULL) {
            (void)snprintf(why, size, "the host's file came back as %s", file.name);
            return 0;
        }
    }
    if ((a->names != NULL && strcmp(a->names, names) != 0) ||
        (a->outputs != 0 && a->outputs != count)) {
        (void)snprintf(why, size, "%zu files came back: %.300s", count, names);
        return 0;
    }
    return 1;
}

int runs_judge(const struct suite *s, const struct attack *a, struct vial_result *result, char *why,
    size_t size)
{
    int status = vial_result_status(result);
    const char *value = vial_result_value(result, NULL);
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;

    vial_result_error(result, &e);
    if ((a->status & 1U << status) == 0) {
        (void)snprintf(why, size, "it ended with %s: %.300s%.150s", vial_status_name(status),
            e.message != NULL ? e.message : "", value != NULL ? value : "");
        return 0;
    }
    if (a->source == NULL && a->value == NULL && status == VIAL_STATUS_OK &&
        !judge_report(value, why, size)) {
        return 0;
    }
    if (a->value != NULL && status == VIAL_STATUS_OK &&
        strcmp(value != NULL ? value : "", a->value) != 0) {
        (void)snprintf(why, size, "the value is %.200s instead of %s",
            value != NULL ? value : "nothing", a->value);
        return 0;
    }
    return judge_files(a, result, why, size) && judge_error(a, result, why, size) &&
           judge_usage(s, a, result, why, size) && judge_json(result, why, size);
}

static unsigned count_text(const char *text, const char *what)
{
    unsigned n = 0;

    while ((text = strstr(text, what)) != NULL) {
        text += strlen(what);
        n++;
    }
    return n;
}

/* The sweep over all numbers is worth a line of its own in the results. */
static void record_sweep(const struct suite *s, const struct attack *a, struct vial_result *result)
{
    const char *report = vial_result_value(result, NULL);

    if (s->results != NULL && report != NULL && strncmp(a->id, "K01", 3) == 0) {
        (void)fprintf(s->results, "sweep\t%s\t%s\t%u\t%u\t%u\n", s->level,
            strcmp(a->id, "K01e") == 0 ? "for Python, second thread"
            : a->python                ? "for Python, first thread"
                                       : "for JavaScript",
            count_text(report, "\"got\":\"answered\""), count_text(report, "\"got\":\"EPERM\""),
            count_text(report, "\"got\":\"ENOSYS\""));
    }
}

int runs_attack(struct suite *s, const struct attack *a, char *why, size_t size)
{
    uint64_t wall_ms = a->wall_ms != 0 ? a->wall_ms : WALL_MS;
    uint64_t start = clock_now_us();
    struct vial_result *result;
    int good;

    if (a->look != NULL) {
        return a->look(s, why, size);
    }
    if (a->origin) {
        return families_attack(s, a, why, size);
    }
    result = a->source != NULL ? run_script(s, a, why, size) : runs_raw(s, a, why, size);
    if (result == NULL) {
        return strcmp(a->answer, "refused") == 0 ? 1 : -1;
    }
    if (strcmp(a->answer, "refused") == 0) {
        (void)snprintf(why, size, "it was not refused");
        vial_result_free(result);
        return 0;
    }
    good = runs_judge(s, a, result, why, size);
    record_sweep(s, a, result);
    vial_result_free(result);
    if (good && clock_now_us() - start > (wall_ms + QUEUE_MS + GRACE_MS) * 1000) {
        (void)snprintf(why, size, "it was over after %llu ms only",
            (unsigned long long)(clock_now_us() - start) / 1000);
        return 0;
    }
    return good;
}
