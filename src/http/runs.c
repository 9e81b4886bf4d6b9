/* runs.c - /v1/runs: making runs, reading about them, ending them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/name.h"
#include "http/auth.h"
#include "http/callback.h"
#include "http/handlers.h"
#include "http/idempotency.h"
#include "http/multipart.h"
#include "http/problem.h"
#include "http/record.h"
#include "http/run.h"
#include "http/run_inside.h"
#include "http/runs.h"
#include "http/server.h"
#include "http/server_inside.h"

enum { LIST_BYTES_MAX = 4 << 20, LIST_DEFAULT = 50 };

/* ---- making ---- */

/* Parts of a form: "request" is the JSON, every other one a file. */
static int add_parts(struct run_spec *spec, struct exchange *x, const struct multipart *form)
{
    struct vial_error err;
    size_t i;

    for (i = 0; i < form->count; i++) {
        const struct multipart_part *part = &form->parts[i];

        if (part->filename_len == 0) {
            continue;
        }
        if (run_spec_add_file(
                spec, part->filename, part->filename_len, part->bytes, part->len, &err) < 0) {
            answer_error(x, &err);
            return -1;
        }
    }
    return 0;
}

/* Takes the JSON of the body, checks it, and makes the spec of it. 0, or -1 with an answer. */
static int take_json(
    struct run_spec *spec, struct exchange *x, const char *schema, const char *json, size_t len)
{
    struct vial_error err = {.code = 0};
    struct buf report;
    char *copy;
    int r;

    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    r = body_check(x, schema, json, len, &report, &err);
    buf_release(&report);
    if (r < 0) {
        return -1;
    }
    if (json == x->body.data) { /* the spec keeps it: no copy */
        copy = x->body.data;
        buf_init(&x->body, 0);
    } else {
        copy = malloc(len + 1);
        if (copy == NULL) {
            answer_problem(x, PROBLEM_INTERNAL, "out of memory");
            return -1;
        }
        memcpy(copy, json, len);
    }
    if (run_spec_read(spec, copy, len, &err) < 0) {
        answer_error(x, &err);
        return -1;
    }
    return 0;
}

int runs_take_spec(struct run_spec *spec, struct exchange *x, const char *schema)
{
    const char *type = exchange_header(x, "Content-Type");
    const struct multipart_part *request;
    struct multipart form;
    const char *fault;
    char boundary[MULTIPART_BOUNDARY_BYTES_MAX + 1];
    int r;

    if (type == NULL || strncasecmp(type, "application/json", 16) == 0) {
        return take_json(spec, x, schema, x->body.data != NULL ? x->body.data : "", x->body.len);
    }
    if (multipart_boundary(type, boundary) < 0) {
        answer_problem(x, PROBLEM_MEDIA_TYPE, "send application/json, or multipart/form-data");
        return -1;
    }
    fault = multipart_read(&form, x->body.data, x->body.len, boundary);
    if (fault != NULL) {
        answer_problem(x, PROBLEM_MALFORMED, "the form is malformed: %s", fault);
        return -1;
    }
    request = multipart_find(&form, "request");
    if (request == NULL) {
        answer_problem(
            x, PROBLEM_INVALID, "a form needs a part named request with the JSON of the run");
        return -1;
    }
    r = take_json(spec, x, schema, request->bytes, request->len);
    return r < 0 ? r : add_parts(spec, x, &form);
}

int runs_take_body(struct run *run, struct exchange *x, const char *schema)
{
    return runs_take_spec(&run->spec, x, schema);
}

static int wants_stream(const struct exchange *x, const struct run *run)
{
    const char *accept = exchange_header(x, "Accept");

    return run->spec.stream || (accept != NULL && (strstr(accept, "application/x-ndjson") != NULL ||
                                                      strstr(accept, "text/event-stream") != NULL));
}

/* What the run has of the request beside its body. */
void runs_note_client(struct run *run, const struct exchange *x)
{
    const char *agent =
        run->spec.agent != NULL ? run->spec.agent : exchange_header(x, "User-Agent");

    if (agent != run->agent) {
        (void)snprintf(run->agent, sizeof(run->agent), "%s", agent != NULL ? agent : "");
    }
    if (run->spec.agent == NULL && agent != NULL) {
        run->spec.agent = run->agent;
    }
    memcpy(run->traceparent, x->traceparent, sizeof(run->traceparent));
    auth_from(x, run->from, sizeof(run->from));
}

static int check_spec(struct run *run, struct exchange *x, int is_stream)
{
    const char *fault;

    if (run->spec.detach && is_stream) {
        answer_problem(x, PROBLEM_INVALID,
            "a run is detached or streamed; a detached one has its events at /v1/runs/{id}/events");
        return -1;
    }
    if (run->spec.tools_count > 0 && !is_stream && !run->spec.detach) {
        answer_problem(x, PROBLEM_INVALID,
            "tools that the client answers need \"stream\": true or \"detach\": true");
        return -1;
    }
    if (run->idempotency != NULL && is_stream) {
        answer_problem(x, PROBLEM_INVALID,
            "a stream cannot be given again; Idempotency-Key is for "
            "runs that are waited for or detached");
        return -1;
    }
    if (run->spec.record && run_recording_want(run, x) < 0) {
        return -1;
    }
    if (run->spec.callback_url == NULL) {
        return 0;
    }
    fault = !run->spec.detach                   ? "callback_url needs \"detach\": true"
            : run->spec.callback_secret == NULL ? "callback_url needs a callback_secret"
                                                : callback_fault(x->server, run->spec.callback_url);
    if (fault != NULL) {
        answer_problem(x, PROBLEM_INVALID, "/callback_url: %s", fault);
        return -1;
    }
    return 0;
}

static void on_waiter_gone(struct exchange *x)
{
    run_cancel(x->user, "client_gone");
}

static void on_end(struct run *run, void *user)
{
    (void)user;
    if (run->spec.callback_url != NULL) {
        callback_send(run, run->spec.callback_url, run->spec.callback_secret);
    }
}

static void answer_accepted(struct exchange *x, struct run *run)
{
    struct buf out;

    buf_init(&out, LIST_BYTES_MAX);
    if (run_describe(run, &out) < 0) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
    } else {
        answer_json(x, 202, &out);
        answer_header(x, "Location", "/v1/runs/%s", run->id);
    }
    buf_release(&out);
    run_keep_answer(run, x);
}

static void put_progress(struct run *run)
{
    char members[64];
    int n = snprintf(members, sizeof(members), "\"state\":\"queued\",\"place\":%u",
        queue_place(&run->server->queue, &run->item));

    (void)events_add(&run->events, EVENT_PROGRESS, members, (size_t)n);
}

void runs_go(struct exchange *x, struct run *run, int is_stream)
{
    run->is_detached = run->spec.detach;
    run->wants_events = is_stream || run->spec.detach;
    run->on_end = on_end;
    if (run_submit(run, x) < 0) {
        idempotency_forget(run);
        return;
    }
    if (run->state == RUN_STATE_QUEUED && run->wants_events) {
        put_progress(run);
    }
    if (run->spec.detach) {
        run_save(run);
        answer_accepted(x, run);
    } else if (is_stream) {
        if (stream_open(x, run, 0, 1) < 0) {
            run_cancel(run, "server_failed");
            answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        }
    } else {
        run->waiter = x;
        x->user = run;
        x->on_gone = on_waiter_gone;
        if (x->is_waiting || !run_hear(run)) {
            exchange_wait(x);
        }
    }
}

void runs_create(struct exchange *x)
{
    struct vial_error err;
    struct run *run = run_new(x->server, &x->caller, &err);
    const char *name = exchange_header(x, "Idempotency-Key");
    int is_stream;

    if (run == NULL) {
        answer_error(x, &err);
        return;
    }
    if (name != NULL && idempotency_note(run, x, name) < 0) {
        run_unref(run);
        return;
    }
    if (runs_take_body(run, x, "RunRequest") < 0) {
        run_unref(run);
        return;
    }
    runs_note_client(run, x);
    is_stream = wants_stream(x, run);
    if (check_spec(run, x, is_stream) == 0) {
        if (run->idempotency != NULL) {
            idempotency_ask(x, run, is_stream);
            return; /* it has the run now */
        }
        runs_go(x, run, is_stream);
    }
    run_unref(run);
}

/* ---- reading ---- */

/* May the caller see what belongs to this key? */
int runs_may_see(const struct exchange *x, const char *key)
{
    return strcmp(x->caller.id, key) == 0 || (x->caller.scopes & KEY_SCOPE_ADMIN) != 0;
}

struct run *runs_of_path(const struct exchange *x)
{
    struct run *run = runs_find(x->server, x->params[0]);

    return run != NULL && runs_may_see(x, run->key) ? run : NULL;
}

int runs_load(struct exchange *x, struct stored_run *run)
{
    struct vial_error err;

    if (!id_is_valid(RUN_PREFIX, x->params[0], strlen(x->params[0]))) {
        answer_problem(x, PROBLEM_NOT_FOUND, "there is no such run");
        return -1;
    }
    if (run_store_get(x->server->run_store, x->params[0], run, &err) < 0) {
        if (err.sys == ENOENT) {
            answer_problem(x, PROBLEM_NOT_FOUND, "there is no such run");
        } else {
            answer_problem(x, PROBLEM_STORE, "%s", err.text);
        }
        return -1;
    }
    if (!runs_may_see(x, run->key)) {
        stored_run_release(run);
        answer_problem(x, PROBLEM_NOT_FOUND, "there is no such run");
        return -1;
    }
    return 0;
}

static void get_stored(struct exchange *x)
{
    struct stored_run run = {.created_us = 0};
    struct json_writer w;
    struct buf out;

    if (runs_load(x, &run) < 0) {
        return;
    }
    if (run.result != NULL) {
        answer_bytes(x, 200, "application/json", run.result, run.result_len);
        run.result = NULL;
    } else {
        buf_init(&out, LIST_BYTES_MAX);
        json_init(&w, &out, NULL);
        runs_put_row(&w, &run);
        (void)!json_finish(&w);
        answer_json(x, 200, &out);
    }
    stored_run_release(&run);
}

void runs_get(struct exchange *x)
{
    struct run *run = runs_of_path(x);
    struct buf out;

    if (run == NULL) {
        (void)exchange_aside(x, get_stored);
        return;
    }
    buf_init(&out, run->json_len + LIST_BYTES_MAX);
    if (run_describe(run, &out) < 0) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
    } else {
        answer_json(x, 200, &out);
    }
    buf_release(&out);
}

int runs_page_limit(struct exchange *x, uint32_t max, uint32_t *ret)
{
    const char *text = exchange_query(x, "limit");
    uint32_t n = 0;
    size_t i;

    *ret = LIST_DEFAULT < max ? LIST_DEFAULT : max;
    if (text == NULL) {
        return 0;
    }
    for (i = 0; text[i] >= '0' && text[i] <= '9' && i < 6; i++) {
        n = n * 10 + (uint32_t)(text[i] - '0');
    }
    if (i == 0 || text[i] != '\0' || n < 1 || n > max) {
        answer_problem(x, PROBLEM_INVALID, "limit must be a whole number from 1 to %u", max);
        return -1;
    }
    *ret = n;
    return 0;
}

/* ---- ending ---- */

static void cancel_stored(struct exchange *x)
{
    struct stored_run run = {.created_us = 0};

    if (runs_load(x, &run) == 0) {
        answer_problem(x, PROBLEM_ENDED, "the run has ended: %s", run.status);
        stored_run_release(&run);
    }
}

void runs_cancel(struct exchange *x)
{
    struct run *run = runs_of_path(x);
    struct buf out;

    if (run == NULL) {
        (void)exchange_aside(x, cancel_stored);
        return;
    }
    if (run->state == RUN_STATE_ENDED) {
        answer_problem(x, PROBLEM_ENDED, "the run has ended: %s", run->status);
        return;
    }
    run_cancel(run, "requested");
    buf_init(&out, LIST_BYTES_MAX);
    if (run_describe(run, &out) == 0) {
        answer_json(x, 202, &out);
    }
    buf_release(&out);
}

/* ---- events and calls ---- */

/* Of a run that only the store knows there is the result and the end. */
static void events_stored(struct exchange *x)
{
    struct stored_run run = {.created_us = 0};
    struct buf out;
    char end[RUN_NAME_BYTES_MAX + 80];

    if (runs_load(x, &run) < 0) {
        return;
    }
    buf_init(&out, run.result_len + LIST_BYTES_MAX);
    (void)snprintf(end, sizeof(end),
        "}\n{\"seq\":2,\"t_ms\":0,\"type\":\"end\",\"status\":\"%s\"}\n", run.status);
    if (run.result == NULL ||
        buf_add_text(&out, "{\"seq\":1,\"t_ms\":0,\"type\":\"result\",\"result\":", NULL) < 0 ||
        buf_add(&out, run.result, run.result_len, NULL) < 0 || buf_add_text(&out, end, NULL) < 0) {
        answer_problem(x, PROBLEM_ENDED, "the events of this run are not kept any more");
    } else {
        answer_json(x, 200, &out);
        x->answer.type = "application/x-ndjson";
    }
    buf_release(&out);
    stored_run_release(&run);
}

void runs_events(struct exchange *x)
{
    const char *after = exchange_query(x, "after");
    struct run *run = runs_of_path(x);
    uint64_t seq = 0;

    after = after != NULL ? after : exchange_header(x, "Last-Event-ID");
    if (after != NULL) {
        char *end = NULL;

        seq = strtoull(after, &end, 10);
        if (after[0] < '0' || after[0] > '9' || *end != '\0') {
            answer_problem(x, PROBLEM_INVALID, "after must be the number of an event");
            return;
        }
    }
    if (run == NULL) {
        (void)exchange_aside(x, events_stored);
    } else if (stream_open(x, run, seq, 0) < 0) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
    }
}

void runs_call(struct exchange *x)
{
    struct run *run = runs_of_path(x);
    struct vial_error err = {.code = 0};
    char *end = NULL;
    uint64_t call = strtoull(x->params[1], &end, 10);
    int is_known = 0, r;

    if (run == NULL || end == x->params[1] || *end != '\0') {
        answer_problem(x, PROBLEM_NOT_FOUND, "there is no such run or call");
        return;
    }
    if (run->state == RUN_STATE_ENDED) {
        answer_problem(x, PROBLEM_ENDED, "the run has ended: %s", run->status);
        return;
    }
    r = run_answer_call(run, call, x->body.data, x->body.len, &is_known, &err);
    if (!is_known) {
        answer_problem(x, PROBLEM_ENDED, "no call of this number waits for an answer");
    } else if (r < 0) {
        answer_error(x, &err);
    } else {
        answer_empty(x, 204);
    }
}

/* ---- files and artifacts ---- */

/* Can the result of the run be asked? 0, or -1 with an answer. */
static int check_result(struct exchange *x, const struct run *run)
{
    if (run->state != RUN_STATE_ENDED) {
        answer_problem(x, PROBLEM_BUSY, "the run has not ended yet");
        return -1;
    }
    if (run->result == NULL) {
        answer_problem(x, PROBLEM_NOT_FOUND, "the run left no files and showed nothing");
        return -1;
    }
    return 0;
}

/* What a guest made is given out so that no browser does anything with it. */
static void answer_download(struct exchange *x, const char *type, const char *bytes, size_t len)
{
    char *copy = malloc(len + 1);

    if (copy == NULL) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        return;
    }
    memcpy(copy, bytes, len);
    answer_bytes(x, 200, type, copy, len);
    answer_header(x, "Content-Security-Policy", "sandbox; default-src 'none'");
    answer_header(x, "Content-Disposition", "attachment");
}

static void answer_artifact(struct exchange *x, const struct vial_representation *shown)
{
    answer_download(x, "application/octet-stream", shown->bytes, shown->len);
    (void)snprintf(x->type_text, sizeof(x->type_text), "%s", shown->mime);
    x->answer.type = x->type_text;
}

/* Of a run that is not in memory: what is on the disk. In a thread beside the loop. */
static void answer_kept(struct exchange *x, const char *name)
{
    struct stored_run run = {.created_us = 0};
    struct output_found found;
    struct vial_error err;

    if (runs_load(x, &run) < 0) {
        return;
    }
    stored_run_release(&run);
    if (outputs_get(x->server->outputs, x->params[0], name, &found, &err) < 0) {
        answer_problem(x,
            err.sys == ENOENT    ? PROBLEM_ENDED
            : err.sys == ENODATA ? PROBLEM_NOT_FOUND
                                 : PROBLEM_STORE,
            "%s", err.text);
        return;
    }
    answer_download(x, "application/octet-stream", found.bytes, found.len);
    if (found.type[0] != '\0') {
        (void)snprintf(x->type_text, sizeof(x->type_text), "%s", found.type);
        x->answer.type = x->type_text;
    }
    free(found.bytes);
}

static void file_kept(struct exchange *x)
{
    char name[FILE_NAME_BYTES_MAX + 16];

    (void)snprintf(name, sizeof(name), "files/%s", x->params[1]);
    answer_kept(x, name);
}

void runs_file(struct exchange *x)
{
    struct run *run = runs_of_path(x);
    struct vial_file file;
    size_t i, count;

    if (run == NULL) {
        (void)exchange_aside(x, file_kept);
        return;
    }
    if (check_result(x, run) < 0) {
        return;
    }
    count = vial_result_file_count(run->result);
    for (i = 0; i < count; i++) {
        if (vial_result_file(run->result, i, &file) == 0 && strcmp(file.name, x->params[1]) == 0) {
            answer_download(x, "application/octet-stream", file.bytes, file.len);
            return;
        }
    }
    answer_problem(x, PROBLEM_NOT_FOUND,
        "the run gave back no file of this name; \"outs\" says which it gives back");
}

/* The numbers of the path: 0, or -1. */
static int artifact_of(const struct exchange *x, size_t *artifact, size_t *index)
{
    char *end = NULL, *end2 = NULL;

    *artifact = strtoul(x->params[1], &end, 10);
    *index = strtoul(x->params[2], &end2, 10);
    return *end == '\0' && *end2 == '\0' ? 0 : -1;
}

static void artifact_kept(struct exchange *x)
{
    size_t artifact = 0, index = 0;
    char name[64];

    (void)artifact_of(x, &artifact, &index);
    (void)snprintf(name, sizeof(name), "artifacts/%zu/%zu", artifact, index);
    answer_kept(x, name);
}

void runs_artifact(struct exchange *x)
{
    struct vial_representation shown = VIAL_REPRESENTATION_INIT;
    struct run *run = runs_of_path(x);
    size_t artifact = 0, index = 0;

    if (artifact_of(x, &artifact, &index) < 0) {
        answer_problem(x, PROBLEM_NOT_FOUND, "artifacts are asked for by two numbers");
        return;
    }
    if (run == NULL) {
        (void)exchange_aside(x, artifact_kept);
        return;
    }
    if (run->state != RUN_STATE_ENDED && run_shown_find(run, artifact, index, &shown) == 0) {
        answer_artifact(x, &shown);
        return;
    }
    if (check_result(x, run) < 0) {
        return;
    }
    if (vial_result_representation(run->result, artifact, index, &shown) < 0) {
        answer_problem(x, PROBLEM_NOT_FOUND, "the run showed no such artifact");
    } else {
        answer_artifact(x, &shown);
    }
}
