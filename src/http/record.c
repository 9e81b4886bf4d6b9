/* record.c - see record.h; and GET /v1/runs/{id}/recording.
 *
 * The worker that ran the program makes the recording. It is in memory until the store has the
 * run, with which it is saved; from then on it is read from there. */
#include "http/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "host/catalog.h"
#include "host/recording.h"
#include "http/auth.h"
#include "http/envs.h"
#include "http/handlers.h"
#include "http/log.h"
#include "http/run_inside.h"
#include "http/runs.h"
#include "http/server.h"

/* ---- making ---- */

int run_recording_want(struct run *run, struct exchange *x)
{
    uint64_t max = run->server->options->recording_bytes_max;

    if (max == 0) {
        answer_problem(x, PROBLEM_INVALID, "/record: this server keeps no recordings");
        return -1;
    }
    run->recording_bytes_max = (size_t)max;
    (void)snprintf(run->recording_fault, sizeof(run->recording_fault), "the run never began");
    return 0;
}

int run_recording_prepare(struct run *run, struct vial_error *err)
{
    struct vial_request *q = &run->spec.request;
    char *settled = NULL, *copy;
    size_t len;
    int r;

    if (run->recording_bytes_max == 0) {
        return VIAL_OK;
    }
    r = recording_settle(q->permissions, q->permissions_len,
        run->env != NULL ? run->env->document->permissions : NULL, &settled, err);
    if (r < 0) {
        return r;
    }
    len = strlen(settled);
    copy = run_spec_alloc(&run->spec, len + 1);
    if (copy != NULL) {
        memcpy(copy, settled, len + 1);
        q->permissions = copy;
        q->permissions_len = len;
        q->record_calls = 1;
    }
    free(settled);
    return copy != NULL ? VIAL_OK : vial__fail(err, VIAL_E_NOMEM, "no memory for permissions");
}

/* The document of the run's environment as it is stored; a version never changes. */
static int find_document(
    struct run *run, struct recording_parts *parts, char **ret, struct vial_error *err)
{
    struct server *server = run->server;
    struct document *parsed = NULL;
    int r;

    if (run->env == NULL) {
        return VIAL_OK;
    }
    (void)pthread_mutex_lock(&server->store_lock);
    r = catalog_get(server->store, run->env->name, run->env->version, &parsed, NULL, ret, err);
    (void)pthread_mutex_unlock(&server->store_lock);
    document_free(parsed);
    if (r == VIAL_OK) {
        parts->document = *ret;
        parts->document_len = strlen(*ret);
        parts->rules = &run->env->document->audit;
    }
    return r;
}

void run_recording_make(struct run *run)
{
    struct recording_parts parts = {
        .request = &run->spec.request, .bytes_max = run->recording_bytes_max};
    struct vial_error err = {.code = 0};
    char *document = NULL;
    int r;

    if (run->recording_bytes_max == 0 || (run->r == VIAL_OK && run->result == NULL)) {
        return; /* not wanted, or it was cancelled before it began */
    }
    if (run->r < 0) {
        (void)snprintf(run->recording_fault, sizeof(run->recording_fault), "%s", run->err.text);
        return;
    }
    r = find_document(run, &parts, &document, &err);
    r = r < 0 ? r
              : recording_write(&parts, run->result, &run->recording, &run->recording_len, &err);
    free(document);
    if (r < 0) {
        (void)snprintf(run->recording_fault, sizeof(run->recording_fault),
            "the run could not be recorded: %s", err.text);
        log_say(
            LOG_INFO, "a run could not be recorded", "run_id", run->id, "error", err.text, NULL);
    }
}

void run_recording_put(const struct run *run, struct json_writer *w)
{
    char url[sizeof(run->id) + 32];

    if (run->recording_bytes_max == 0) {
        return;
    }
    json_key(w, "recording");
    json_begin_object(w);
    if (run->recording != NULL) {
        (void)snprintf(url, sizeof(url), "/v1/runs/%s/recording", run->id);
        json_key(w, "url");
        json_text(w, url);
        json_key(w, "bytes");
        json_u64(w, run->recording_len);
    } else {
        json_key(w, "error");
        json_text(w, run->recording_fault);
    }
    json_end_object(w);
}

void run_recording_forget(struct run *run)
{
    if (run->recording == NULL) {
        return;
    }
    run->kept_bytes -= run->recording_len;
    if (run->is_in_table) {
        run->server->runs->kept_bytes -= run->recording_len;
    }
    free(run->recording);
    run->recording = NULL;
}

/* ---- giving ---- */

/* It has the document of the environment, which not everybody who may run in it may read. 0, or -1
 * with an answer. */
static int check_scope(struct exchange *x, const char *environment)
{
    if (environment[0] == '\0' || (x->caller.scopes & (KEY_SCOPE_ENV | KEY_SCOPE_ADMIN)) != 0) {
        return 0;
    }
    answer_problem(x, PROBLEM_FORBIDDEN,
        "the recording has the document of the environment %s in it, which takes the scope env",
        environment);
    return -1;
}

static void answer_unrecorded(struct exchange *x)
{
    answer_problem(x, PROBLEM_NOT_FOUND,
        "the run was not recorded: its request needs \"record\": true for that");
}

/* In a thread beside the loop. */
static void get_stored(struct exchange *x)
{
    struct stored_run run = {.created_us = 0};
    struct vial_error err = {.code = 0};
    char *text = NULL;
    size_t len = 0;
    int r;

    if (runs_load(x, &run) < 0) {
        return;
    }
    r = check_scope(x, run.environment);
    stored_run_release(&run);
    if (r < 0) {
        return;
    }
    if (run_store_recording(x->server->run_store, x->params[0], &text, &len, &err) == VIAL_OK) {
        answer_bytes(x, 200, "application/json", text, len);
    } else if (err.sys == ENODATA) {
        answer_unrecorded(x);
    } else {
        answer_problem(x, err.sys == ESTALE ? PROBLEM_ENDED : PROBLEM_STORE, "%s", err.text);
    }
}

void runs_recording(struct exchange *x)
{
    struct run *run = runs_of_path(x);
    char *copy;

    if (run == NULL || run->is_stored) {
        (void)exchange_aside(x, get_stored);
    } else if (run->recording_bytes_max == 0) {
        answer_unrecorded(x);
    } else if (run->state != RUN_STATE_ENDED) {
        answer_problem(x, PROBLEM_BUSY, "the run has not ended yet");
    } else if (run->recording == NULL) {
        answer_problem(x, PROBLEM_ENDED, "%s", run->recording_fault);
    } else if (check_scope(x, run->environment) == 0) {
        copy = malloc(run->recording_len + 1);
        if (copy == NULL) {
            answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        } else {
            memcpy(copy, run->recording, run->recording_len);
            answer_bytes(x, 200, "application/json", copy, run->recording_len);
        }
    }
}
