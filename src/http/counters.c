/* counters.c - see counters.h. */
#include "http/counters.h"

#include <stdio.h>
#include <string.h>

static const struct metric_info RUNS = {.name = "vial_runs_total",
    .help = "Runs and evaluations that have ended.",
    .kind = METRIC_COUNTER,
    .labels = {"language", "status"}};
static const struct metric_info RUN_SECONDS = {.name = "vial_run_duration_seconds",
    .help = "Wall time of runs, from the start message to the result.",
    .kind = METRIC_HISTOGRAM,
    .labels = {"language"},
    METRIC_BUCKETS_US};
static const struct metric_info RUN_CPU = {.name = "vial_run_cpu_seconds_total",
    .help = "Processor time that runs have used.",
    .kind = METRIC_COUNTER,
    .per_unit = 1000000};
static const struct metric_info RUN_MEMORY = {.name = "vial_run_memory_peak_bytes",
    .help = "Most memory that runs have had.",
    .kind = METRIC_HISTOGRAM,
    .buckets_count = 8,
    .buckets = {1 << 20, 4 << 20, 16 << 20, 32 << 20, 64 << 20, 128 << 20, 256 << 20, 1U << 30}};
static const struct metric_info QUEUE_SECONDS = {.name = "vial_run_queue_seconds",
    .help = "How long runs waited for their turn.",
    .kind = METRIC_HISTOGRAM,
    METRIC_BUCKETS_US};
static const struct metric_info WORKERS = {.name = "vial_workers",
    .help = "Cells and threads for programs by what they do.",
    .kind = METRIC_GAUGE,
    .labels = {"state"}};
static const struct metric_info SESSIONS = {
    .name = "vial_sessions", .help = "Sessions that are there.", .kind = METRIC_GAUGE};
static const struct metric_info CALLS = {.name = "vial_host_calls_total",
    .help = "Calls of tools and requests to the network by how they ended.",
    .kind = METRIC_COUNTER,
    .labels = {"outcome"}};
static const struct metric_info CALL_SECONDS = {.name = "vial_host_call_duration_seconds",
    .help = "How long calls of tools took.",
    .kind = METRIC_HISTOGRAM,
    METRIC_BUCKETS_US};
static const struct metric_info DENIALS = {.name = "vial_policy_denials_total",
    .help = "What programs were refused, by scope.",
    .kind = METRIC_COUNTER,
    .labels = {"rule"}};
static const struct metric_info DROPPED = {.name = "vial_output_dropped_bytes_total",
    .help = "Output of programs beyond their limits.",
    .kind = METRIC_COUNTER};
static const struct metric_info REQUESTS = {.name = "vial_http_requests_total",
    .help = "Requests by the form of their path and the status of the answer.",
    .kind = METRIC_COUNTER,
    .labels = {"route", "code"},
    .series_max = 400};
static const struct metric_info REQUEST_SECONDS = {.name = "vial_http_request_duration_seconds",
    .help = "From the headers of a request to the end of its answer.",
    .kind = METRIC_HISTOGRAM,
    METRIC_BUCKETS_US};
static const struct metric_info REFUSALS = {.name = "vial_refusals_total",
    .help = "Requests to run that were not let in, by the code of the problem.",
    .kind = METRIC_COUNTER,
    .labels = {"code"}};
static const struct metric_info WAITING = {
    .name = "vial_runs_waiting", .help = "Runs that wait for their turn.", .kind = METRIC_GAUGE};
static const struct metric_info CONNECTIONS = {
    .name = "vial_http_connections", .help = "Connections that are open.", .kind = METRIC_GAUGE};
static const struct metric_info BUILD = {.name = "vial_build_info",
    .help = "Always 1; the version is in the label.",
    .kind = METRIC_GAUGE,
    .labels = {"version"}};
static const struct metric_info AUDIT_LOST = {.name = "vial_audit_records_lost_total",
    .help = "Records of the audit that could not be kept.",
    .kind = METRIC_GAUGE};

int counters_init(struct counters *c, struct vial_error *err)
{
    const struct {
        const struct metric_info *info;
        struct metric **at;
    } rows[] = {{&RUNS, &c->runs}, {&RUN_SECONDS, &c->run_seconds}, {&RUN_CPU, &c->run_cpu},
        {&RUN_MEMORY, &c->run_memory}, {&QUEUE_SECONDS, &c->queue_seconds}, {&WORKERS, &c->workers},
        {&SESSIONS, &c->sessions}, {&CALLS, &c->calls}, {&CALL_SECONDS, &c->call_seconds},
        {&DENIALS, &c->denials}, {&DROPPED, &c->dropped}, {&REQUESTS, &c->requests},
        {&REQUEST_SECONDS, &c->request_seconds}, {&REFUSALS, &c->refusals}, {&WAITING, &c->waiting},
        {&CONNECTIONS, &c->connections}, {&BUILD, &c->build}, {&AUDIT_LOST, &c->audit_lost}};
    const char *version[] = {vial_version()};
    size_t i;
    int r = metrics_new(&c->metrics, err);

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == VIAL_OK; i++) {
        r = metrics_add(c->metrics, rows[i].info, rows[i].at, err);
    }
    if (r == VIAL_OK) {
        series_set(metric_series(c->build, version), 1);
    }
    return r;
}

void counters_release(struct counters *c)
{
    metrics_free(c->metrics);
    c->metrics = NULL;
}

/* "fs.write" and tools that are not allowed: only the scope, for names are many. */
static const char *scope_of(const char *call)
{
    return strncmp(call, "fs.", 3) == 0        ? "fs"
           : strncmp(call, "env.", 4) == 0     ? "env"
           : strncmp(call, "process.", 8) == 0 ? "process"
           : strcmp(call, "fetch") == 0        ? "net"
                                               : "tools";
}

static void count_calls(struct counters *c, const struct vial_result *result)
{
    size_t i, count = vial_result_call_count(result);

    for (i = 0; i < count; i++) {
        struct vial_call_record call = VIAL_CALL_RECORD_INIT;
        const char *outcome, *rule;

        if (vial_result_call(result, i, &call) < 0) {
            continue;
        }
        outcome = vial_call_status_name((int)call.status);
        series_add(metric_series(c->calls, &outcome), 1);
        series_observe(metric_only(c->call_seconds), call.duration_us);
        if (call.status == VIAL_CALL_DENIED) {
            rule = scope_of(call.name);
            series_add(metric_series(c->denials, &rule), 1);
        }
    }
}

void counters_run(struct counters *c, const char *language, struct vial_result *result)
{
    const char *labels[] = {language, vial_status_name(vial_result_status(result))};
    struct vial_usage usage = VIAL_USAGE_INIT;
    uint64_t out = 0, err = 0;

    vial_result_usage(result, &usage);
    (void)vial_result_output(result, VIAL_STDOUT, NULL, &out);
    (void)vial_result_output(result, VIAL_STDERR, NULL, &err);
    series_add(metric_series(c->runs, labels), 1);
    series_observe(metric_series(c->run_seconds, labels), usage.wall_us);
    series_add(metric_only(c->run_cpu), (int64_t)usage.cpu_us);
    series_observe(metric_only(c->run_memory), usage.memory_bytes_peak);
    series_add(metric_only(c->dropped), (int64_t)(out + err));
    count_calls(c, result);
}

void counters_request(struct counters *c, const char *route, unsigned status, uint64_t us)
{
    char code[12];
    const char *labels[] = {route, code};

    (void)snprintf(code, sizeof(code), "%u", status);
    series_add(metric_series(c->requests, labels), 1);
    series_observe(metric_only(c->request_seconds), us);
}

void counters_refusal(struct counters *c, const char *code)
{
    series_add(metric_series(c->refusals, &code), 1);
}
