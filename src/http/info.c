/* info.c - what the server says about itself: health, version, numbers, its own description. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/schemas.h"
#include "http/server.h"
#include "http/sessions.h"

enum { TEXT_BYTES_MAX = 1 << 20 };

/* Put in by the build (tools/embed-page.c): the page of web/, and the hashes of what is in it. */
extern const char PLAYGROUND[], PLAYGROUND_STYLE[], PLAYGROUND_SCRIPT[];

void info_health(struct exchange *x)
{
    answer_text(x, 200, "application/json", "{\"status\":\"ok\"}");
}

/* Ready means: a run that came now would be begun. */
void info_ready(struct exchange *x)
{
    struct server *server = x->server;
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    struct audit_stats audit = {.failing = 0};

    vial_engine_stats(server->engine, &stats);
    audit_stats(server->audit, &audit);
    if (server->is_stopping) {
        answer_problem(x, PROBLEM_STOPPING, "the server is stopping");
    } else if (audit.failing && server->options->audit_required) {
        answer_problem(x, PROBLEM_STORE, "the audit cannot be written");
    } else if (stats.ready_count == 0 && stats.busy_count == 0) {
        answer_problem(x, PROBLEM_OVERLOADED, "no cell is ready yet");
    } else {
        answer_text(x, 200, "application/json", "{\"status\":\"ready\"}");
    }
}

void info_version(struct exchange *x)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, TEXT_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "name");
    json_text(&w, "vial");
    json_key(&w, "version");
    json_text(&w, vial_version());
    json_key(&w, "api");
    json_text(&w, "v1");
    json_end_object(&w);
    (void)!json_finish(&w);
    answer_json(x, 200, &out);
}

static void set(struct metric *metric, const char *state, uint64_t value)
{
    series_set(metric_series(metric, &state), (int64_t)value);
}

void info_metrics(struct exchange *x)
{
    struct server *server = x->server;
    struct counters *c = &server->counters;
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    struct audit_stats audit = {.lost = 0};
    struct vial_error err;
    struct buf out;

    vial_engine_stats(server->engine, &stats);
    audit_stats(server->audit, &audit);
    set(c->workers, "ready", stats.ready_count);
    set(c->workers, "busy", stats.busy_count);
    series_set(metric_only(c->sessions), (int64_t)sessions_count(server));
    series_set(metric_only(c->waiting), server->queue.waiting);
    series_set(metric_only(c->connections), (int64_t)server->connections_count);
    series_set(metric_only(c->audit_lost), (int64_t)audit.lost);
    buf_init(&out, METRICS_TEXT_BYTES_MAX);
    if (metrics_write(c->metrics, &out, &err) < 0 || metrics_write_process(&out, &err) < 0) {
        answer_error(x, &err);
    } else {
        answer_json(x, 200, &out);
        x->answer.type = "text/plain; version=0.0.4; charset=utf-8";
    }
    buf_release(&out);
}

void info_openapi(struct exchange *x)
{
    answer_text(x, 200, "application/json", OPENAPI);
}

static void put_runtime(
    struct json_writer *w, const char *name, const char *engine, const char *const *aliases)
{
    json_begin_object(w);
    json_key(w, "language");
    json_text(w, name);
    json_key(w, "engine");
    json_text(w, engine);
    json_key(w, "aliases");
    json_begin_array(w);
    for (; *aliases != NULL; aliases++) {
        json_text(w, *aliases);
    }
    json_end_array(w);
    json_end_object(w);
}

void info_runtimes(struct exchange *x)
{
    static const char *const js[] = {"js", NULL}, *const ts[] = {"ts", NULL},
                             *const py[] = {"py", NULL};
    const char *isolation = vial_engine_isolation(x->server->engine);
    struct json_writer w;
    struct buf out;

    buf_init(&out, TEXT_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "items");
    json_begin_array(&w);
    put_runtime(&w, "javascript", "JavaScriptCore", js);
    put_runtime(&w, "typescript", "JavaScriptCore", ts);
    put_runtime(&w, "python", "CPython 3.11", py);
    json_end_array(&w);
    json_key(&w, "next_cursor");
    json_write_null(&w);
    json_key(&w, "isolation");
    json_raw(&w, isolation, strlen(isolation));
    json_end_object(&w);
    answer_written(x, 200, &w, &out);
}

/* The page brings everything along: it may run its own script only and load nothing, nobody frames
 * it, and what would read markup out of a string does not work in it. Frames are for what guests
 * showed, which inherits all of this. */
void info_page(struct exchange *x)
{
    if (!x->server->options->playground) {
        answer_problem(x, PROBLEM_NOT_FOUND, "the playground is switched off");
        return;
    }
    answer_text(x, 200, "text/html; charset=utf-8", PLAYGROUND);
    answer_header(x, "Content-Security-Policy",
        "default-src 'none'; script-src %s; style-src %s; img-src data: blob:; connect-src 'self'; "
        "frame-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'",
        PLAYGROUND_SCRIPT, PLAYGROUND_STYLE);
    answer_header(x, "Referrer-Policy", "no-referrer");
    answer_header(x, "Cross-Origin-Opener-Policy", "same-origin");
    answer_header(
        x, "X-DNS-Prefetch-Control", "off"); /* names in what guests show are not looked up */
    answer_header(x, "Permissions-Policy",
        "camera=(), microphone=(), geolocation=(), clipboard-write=(self)");
}
