/* run_work.c - what a worker does with a run: finds the environment, runs the program, tells the
 * loop of output and calls, and makes the object that the client gets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "http/call_answer.h"
#include "http/envs.h"
#include "http/record.h"
#include "http/run_inside.h"
#include "http/server.h"
#include "http/sessions.h"
#include "policy/audit_rules.h"

enum {
    JSON_EXTRA_BYTES = 64 * 1024,
    JSON_BYTES_MAX = 1 << 30,
    AUDIT_KEPT_BYTES_MAX = 2 * AUDIT_VALUE_BYTES_MAX,
};

/* Something that happened while the program runs, on its way to the loop. */
struct news {
    struct loop_post post;
    struct run *run;
    int stream; /* of output; 0: a call */
    uint64_t call;
    int is_approval;
    size_t name_len, len;
    char bytes[]; /* the name, then the output or the arguments */
};

/* ---- output ---- */

static void take_output(struct loop_post *post)
{
    struct news *n = (struct news *)post;

    (void)events_add_output(&n->run->events, n->stream, n->bytes, n->len);
    streams_wake(n->run);
    free(n);
}

static void send_output(
    struct run *run, int stream, const char *head, size_t head_len, const char *bytes, size_t len)
{
    struct news *n = malloc(sizeof(*n) + head_len + len);

    if (n == NULL) {
        return; /* the result has it all the same */
    }
    *n = (struct news){.post = {.run = take_output}, .run = run, .stream = stream};
    n->len = head_len + len;
    memcpy(n->bytes, head, head_len);
    memcpy(n->bytes + head_len, bytes, len);
    loop_post(&run->server->loop, &n->post);
}

/* How many bytes at the end are the beginning of a character. */
static size_t cut_off(const char *bytes, size_t len)
{
    size_t back;

    for (back = 1; back < RUN_TAIL_BYTES && back <= len; back++) {
        unsigned char c = (unsigned char)bytes[len - back];

        if (c >= 0xc0) {
            size_t whole = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

            return whole > back ? back : 0;
        }
        if (c < 0x80) {
            return 0;
        }
    }
    return 0;
}

static void on_output(int stream, const char *bytes, size_t len, void *user)
{
    struct run *run = user;
    char *tail = run->tails[stream == VIAL_STDERR];
    size_t *tail_len = &run->tails_len[stream == VIAL_STDERR];
    size_t keep;

    if (len == 0) {
        return;
    }
    if (*tail_len + len < RUN_TAIL_BYTES) { /* too short to end a character that was begun */
        memcpy(tail + *tail_len, bytes, len);
        *tail_len += len;
        if (cut_off(tail, *tail_len) == *tail_len) {
            return;
        }
        send_output(run, stream, tail, *tail_len, "", 0);
        *tail_len = 0;
        return;
    }
    keep = cut_off(bytes, len);
    send_output(run, stream, tail, *tail_len, bytes, len - keep);
    memcpy(tail, bytes + len - keep, keep);
    *tail_len = keep;
}

static void flush_tails(struct run *run)
{
    int i;

    for (i = 0; i < 2; i++) {
        if (run->tails_len[i] > 0) {
            send_output(
                run, i == 0 ? VIAL_STDOUT : VIAL_STDERR, run->tails[i], run->tails_len[i], "", 0);
            run->tails_len[i] = 0;
        }
    }
}

/* ---- calls that the client answers ---- */

static void take_call(struct loop_post *post)
{
    struct news *n = (struct news *)post;
    struct run *run = n->run;
    struct run_call *call = run->calls_count < RUN_CALLS_MAX ? calloc(1, sizeof(*call)) : NULL;
    char id[24];
    struct json_writer w;
    struct buf out;

    if (call == NULL) {
        (void)!vial_call_fail(run->server->engine, n->call, "ToolError",
            "too many calls wait for the client", NULL, NULL);
        free(n);
        return;
    }
    *call = (struct run_call){.id = n->call, .is_approval = n->is_approval, .next = run->calls};
    run->calls = call;
    run->calls_count++;
    (void)snprintf(id, sizeof(id), "%llu", (unsigned long long)n->call);
    buf_init(&out, n->len + JSON_EXTRA_BYTES);
    if (buf_add_text(&out, "\"call\":", NULL) == 0) {
        json_init(&w, &out, NULL);
        json_begin_object(&w);
        json_key(&w, "id");
        json_text(&w, id);
        json_key(&w, "tool");
        json_write_string(&w, n->bytes, n->name_len);
        json_key(&w, "args");
        json_raw(&w, n->bytes + n->name_len, n->len);
        json_key(&w, "approval");
        json_bool(&w, n->is_approval);
        json_end_object(&w);
        if (json_finish(&w) == 0) {
            (void)events_add(&run->events, EVENT_CALL, out.data, out.len);
        }
    }
    buf_release(&out);
    streams_wake(run);
    free(n);
}

static int send_call(struct run *run, const struct vial_call *call, int is_approval)
{
    size_t name_len = strlen(call->name);
    struct news *n = malloc(sizeof(*n) + name_len + call->args_len);

    if (n == NULL) {
        return -1;
    }
    *n = (struct news){.post = {.run = take_call}, .run = run, .call = call->id};
    n->is_approval = is_approval;
    n->name_len = name_len;
    n->len = call->args_len;
    memcpy(n->bytes, call->name, name_len);
    memcpy(n->bytes + name_len, call->args, call->args_len);
    loop_post(&run->server->loop, &n->post);
    return 0;
}

void run_call_tool(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    struct run *run = user;

    if (!run->wants_events) {
        (void)!vial_call_fail(engine, call->id, "ToolError",
            "nobody answers this tool: the client has to stream the run, or to detach it", NULL,
            NULL);
    } else if (send_call(run, call, 0) < 0) {
        (void)!vial_call_fail(engine, call->id, "ToolError", "out of memory", NULL, NULL);
    }
}

int run_approve(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    struct run *run = user;

    (void)engine;
    return run->wants_events && send_call(run, call, 1) == 0 ? VIAL_APPROVAL_LATER
                                                             : VIAL_APPROVAL_NO;
}

int run_answer_call(struct run *run, uint64_t call, const char *json, size_t len, int *ret_known,
    struct vial_error *err)
{
    struct vial_engine *engine = run->server->engine;
    struct run_call **at, *found;
    int r;

    *ret_known = 0;
    for (at = &run->calls; *at != NULL && (*at)->id != call; at = &(*at)->next) {
    }
    if (*at == NULL) {
        return VIAL_OK;
    }
    *ret_known = 1;
    r = call_answer_apply(engine, call, (*at)->is_approval, json, len, err);
    if (r != CALL_ANSWER_WRONG) { /* what was wrong with the request itself can be put right */
        found = *at;
        *at = found->next;
        run->calls_count--;
        free(found);
    }
    return r == CALL_ANSWER_WRONG ? VIAL_E_INVALID : r;
}

/* ---- the object ---- */

void run_time_text(uint64_t us, char text[RUN_TIME_BYTES])
{
    time_t seconds = (time_t)(us / 1000000);
    struct tm parts;
    size_t n = gmtime_r(&seconds, &parts) != NULL
                   ? strftime(text, RUN_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &parts)
                   : 0;

    (void)snprintf(text + n, RUN_TIME_BYTES - n, ".%03uZ", (unsigned)(us / 1000 % 1000));
}

static void put_head(struct json_writer *w, const struct run *run)
{
    char at[RUN_TIME_BYTES];

    json_begin_object(w);
    json_key(w, "id");
    json_text(w, run->id);
    run_time_text(run->created_us, at);
    json_key(w, "created_at");
    json_text(w, at);
    json_key(w, "environment");
    json_text(w, run->environment[0] != '\0' ? run->environment : NULL);
    json_key(w, "session");
    json_text(w, run->session != NULL ? session_id(run->session) : NULL);
    if (run->cancel_reason != NULL) {
        json_key(w, "cancel_reason");
        json_text(w, run->cancel_reason);
    }
    if (run->session != NULL && run->result != NULL) {
        json_key(w, "session_lives");
        json_bool(w, vial_result_session_lives(run->result));
    }
}

/* One that did not run, or not to an end that the library tells of. */
static void put_rest(struct json_writer *w, const struct run *run)
{
    json_key(w, "status");
    json_text(w, run->status);
    json_key(w, "error");
    json_begin_object(w);
    json_key(w, "name");
    json_text(w, run->r < 0 ? "ServerError" : "Cancelled");
    json_key(w, "message");
    json_text(w, run->r < 0 ? run->err.text : "the run was cancelled before it began");
    json_end_object(w);
    if (run->r < 0) {
        json_key(w, "code");
        json_text(w, problem_code(run->problem));
    }
    json_key(w, "stdout");
    json_text(w, "");
    json_key(w, "stderr");
    json_text(w, "");
    json_end_object(w);
}

/* The head, and then the library's object without its opening brace. */
static int splice(struct run *run, struct buf *out, const char *json, size_t len)
{
    struct json_writer w;
    int r;

    json_init(&w, out, NULL);
    put_head(&w, run);
    run_recording_put(run, &w);
    json_end_object(&w);
    r = json_finish(&w);
    if (r < 0) {
        return r;
    }
    out->data[out->len - 1] = ',';
    return buf_add(out, json + 1, len - 1, NULL);
}

int run_make_json(struct run *run)
{
    const char *json = NULL;
    size_t len = 0;
    struct buf out;
    int r;

    if (run->r == 0 && run->result != NULL) {
        json = vial_result_json(run->result, &len);
        (void)snprintf(run->status, sizeof(run->status), "%s",
            vial_status_name(vial_result_status(run->result)));
    } else {
        (void)snprintf(run->status, sizeof(run->status), "%s", run->r < 0 ? "failed" : "cancelled");
    }
    buf_init(&out, JSON_BYTES_MAX);
    r = buf_reserve(&out, len + 512, NULL);
    if (r == 0 && json != NULL) {
        r = splice(run, &out, json, len);
    } else if (r == 0) {
        struct json_writer w;

        json_init(&w, &out, NULL);
        put_head(&w, run);
        run_recording_put(run, &w);
        put_rest(&w, run);
        r = json_finish(&w);
    }
    r = r < 0 ? r : buf_take(&out, &run->json, &run->json_len, NULL);
    buf_release(&out);
    if (r < 0) {
        run->r = vial__fail(&run->err, VIAL_E_NOMEM, "no memory for the result");
    }
    return r;
}

int run_describe(const struct run *run, struct buf *out)
{
    struct json_writer w;
    char at[RUN_TIME_BYTES];

    if (run->state == RUN_STATE_ENDED && run->json != NULL) {
        return buf_add(out, run->json, run->json_len, NULL);
    }
    json_init(&w, out, NULL);
    put_head(&w, run);
    json_key(&w, "status");
    json_text(&w, run->state == RUN_STATE_QUEUED ? RUN_QUEUED : RUN_RUNNING);
    if (run->state == RUN_STATE_QUEUED) {
        json_key(&w, "place");
        json_u64(&w, queue_place(&run->server->queue, &run->item));
    } else {
        run_time_text(run->started_us, at);
        json_key(&w, "started_at");
        json_text(&w, at);
    }
    json_end_object(&w);
    return json_finish(&w);
}

/* ---- the program ---- */

/* Gives the tools that a client answers their function. */
static int give_tools(struct run *run, struct vial_error *err)
{
    const struct document *doc = run->env != NULL ? run->env->document : NULL;
    size_t max = run->spec.tools_count + (doc != NULL ? doc->tools_count : 0), count = 0, i;

    run->tools = calloc(max + 1, sizeof(*run->tools));
    if (run->tools == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for tools");
    }
    for (i = 0; i < run->spec.tools_count; i++) {
        run->tools[count] = run->spec.tools[i];
        run->tools[count].call = run_call_tool;
        run->tools[count++].user = run;
    }
    for (i = 0; doc != NULL && i < doc->tools_count && run->spec.tools_count == 0; i++) {
        if (doc->tools[i].executor == DOCUMENT_BY_HOST) {
            run->tools[count] = (struct vial_tool)VIAL_TOOL_INIT;
            run->tools[count].name = doc->tools[i].name;
            run->tools[count].flags = VIAL_TOOL_INLINE;
            run->tools[count].call = run_call_tool;
            run->tools[count++].user = run;
        }
    }
    run->spec.request.tools = count > 0 ? run->tools : NULL;
    run->spec.request.tools_count = count;
    return VIAL_OK;
}

int run_prepare(struct run *run, struct vial_error *err)
{
    struct vial_request *request = &run->spec.request;
    int r = VIAL_OK;

    request->limits = &run->spec.limits;
    request->on_output = run->wants_events ? on_output : NULL;
    request->on_artifact = run->wants_events ? run_on_artifact : NULL;
    request->on_approve = run_approve;
    request->user = run;
    request->traceparent = run->traceparent;
    if (run->session != NULL) {
        return VIAL_OK;
    }
    if (run->spec.environment != NULL) {
        r = envs_acquire(run->server, run->spec.environment, &run->env, err);
        if (r < 0) {
            return r;
        }
        request->environment = run->env->env;
        (void)snprintf(
            run->environment, sizeof(run->environment), "%s@%u", run->env->name, run->env->version);
    }
    r = run_recording_prepare(run, err);
    return r == VIAL_OK && (run->spec.tools_count > 0 || run->env != NULL) ? give_tools(run, err)
                                                                           : r;
}

int run_set_handle(struct run *run, struct vial_run *handle, int is_evaluating)
{
    int is_cancelled;

    (void)pthread_mutex_lock(&run->lock);
    is_cancelled = run->cancel_reason != NULL;
    run->handle = handle;
    run->is_evaluating = is_evaluating;
    if (is_cancelled && handle != NULL) {
        vial_run_cancel(handle);
    }
    (void)pthread_mutex_unlock(&run->lock);
    return is_cancelled;
}

static int run_alone(struct run *run)
{
    struct vial_run *handle = run->handle;
    int r = VIAL_OK;

    if (handle == NULL) {
        r = vial_run_start(run->server->engine, &run->spec.request, &handle, &run->err);
        if (r < 0) {
            return r;
        }
        (void)run_set_handle(run, handle, 0);
    }
    r = vial_run_wait(handle, &run->result, &run->err);
    (void)run_set_handle(run, NULL, 0);
    vial_run_free(handle);
    return r;
}

static int run_in_session(struct run *run)
{
    int r;

    if (run_set_handle(run, NULL, 1)) {
        return VIAL_OK;
    }
    r = session_eval(run->session, run);
    (void)run_set_handle(run, NULL, 0);
    return r;
}

static const char *language_of(const struct run *run)
{
    switch (run->spec.request.language) {
    case VIAL_LANGUAGE_PYTHON:
        return "python";
    case VIAL_LANGUAGE_TYPESCRIPT:
        return "typescript";
    default:
        return run->env != NULL && run->env->document->language == VIAL_LANGUAGE_PYTHON
                   ? "python"
                   : "javascript";
    }
}

static void record_calls(struct run *run)
{
    size_t i, count = vial_result_call_count(run->result);

    for (i = 0; i < count; i++) {
        struct vial_call_record call = VIAL_CALL_RECORD_INIT;
        struct audit_record record = {.key = run->key[0] != '\0' ? run->key : NULL,
            .agent = run->spec.agent,
            .run = run->id,
            .environment = run->environment[0] != '\0' ? run->environment : NULL};

        if (vial_result_call(run->result, i, &call) < 0) {
            continue;
        }
        record.kind = call.status == VIAL_CALL_DENIED ? AUDIT_DENIAL : AUDIT_CALL;
        record.what = call.name;
        record.status = vial_call_status_name((int)call.status);
        record.detail = call.reason;
        (void)!server_record(run->server, &record, NULL);
    }
}

/* What the environment wants to be kept of the program, its input and its value. */
static void put_kept(
    const struct run *run, struct audit_record *record, struct buf *input, struct buf *output)
{
    const struct audit_rules *rules = run->env != NULL ? &run->env->document->audit : NULL;
    const struct vial_request *request = &run->spec.request;
    const char *value;
    size_t len = 0;

    if (rules == NULL) {
        return;
    }
    record->keep_code = rules->code;
    if (rules->input && request->input != NULL &&
        audit_redact(rules, request->input, request->input_len, input, NULL) == 0) {
        record->input = input->data;
        record->input_len = input->len;
    }
    value = rules->output && run->result != NULL ? vial_result_value(run->result, &len) : NULL;
    if (value != NULL && audit_redact(rules, value, len, output, NULL) == 0) {
        record->output = output->data;
        record->output_len = output->len;
    }
}

void run_record_end(struct run *run)
{
    struct audit_record record = {.kind = AUDIT_RUN,
        .key = run->key[0] != '\0' ? run->key : NULL,
        .agent = run->spec.agent,
        .from = run->from,
        .run = run->id,
        .session = run->session != NULL ? session_id(run->session) : NULL,
        .environment = run->environment[0] != '\0' ? run->environment : NULL,
        .trace = run->traceparent[0] != '\0' ? run->traceparent : NULL,
        .status = run->status,
        .detail = run->r < 0 ? run->err.text : run->cancel_reason,
        .code = run->spec.request.source,
        .code_len = run->spec.request.source_len};
    struct vial_usage usage = VIAL_USAGE_INIT;
    struct buf input, output;
    char text[160];

    buf_init(&input, AUDIT_KEPT_BYTES_MAX);
    buf_init(&output, AUDIT_KEPT_BYTES_MAX);
    if (run->result != NULL) {
        counters_run(&run->server->counters, language_of(run), run->result);
        record_calls(run);
        vial_result_usage(run->result, &usage);
        (void)snprintf(text, sizeof(text),
            "{\"wall_us\":%llu,\"cpu_us\":%llu,\"memory_bytes_peak\":%llu}",
            (unsigned long long)usage.wall_us, (unsigned long long)usage.cpu_us,
            (unsigned long long)usage.memory_bytes_peak);
        record.usage = text;
        record.usage_len = strlen(text);
    }
    put_kept(run, &record, &input, &output);
    (void)!server_record(run->server, &record, NULL);
    buf_release(&input);
    buf_release(&output);
}

void run_conclude(struct run *run)
{
    struct vial_usage usage = VIAL_USAGE_INIT;

    if (run->wants_events) {
        flush_tails(run);
    }
    run->problem = run->r < 0 ? problem_of(&run->err) : PROBLEM_INTERNAL;
    (void)run_make_json(run);
    if (run->result != NULL) {
        vial_result_usage(run->result, &usage);
        run->cpu_us = usage.cpu_us;
    }
}

void run_work(struct job *job)
{
    struct run *run = (struct run *)((char *)job - offsetof(struct run, job));

    if (!run->is_prepared) {
        run->r = run_prepare(run, &run->err);
    }
    if (run->r == VIAL_OK && run->before != NULL) {
        run->r = run->before(run, &run->err);
        run->was_begun_around = run->r == VIAL_OK;
    }
    if (run->r == VIAL_OK) {
        run->r = run->session != NULL ? run_in_session(run) : run_alone(run);
    }
    if (run->after != NULL) {
        run->after(run);
    }
    run_recording_make(run);
    run_conclude(run);
    run_record_end(run);
    envs_release(run->server, run->env);
    run->env = NULL;
    run->done.run = run_finish;
    loop_post(&run->server->loop, &run->done);
}
