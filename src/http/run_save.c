/* run_save.c - runs that have ended go to the store, many in one transaction and beside the loop;
 * and answers are kept for requests that come again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/log.h"
#include "http/run_inside.h"
#include "http/server.h"
#include "http/sessions.h"

/* Runs on their way to the store. There is one, as only one is on the way at a time: it is large,
 * and a new one for each run that ends would clear much of the processor's caches. */
struct run_batch {
    struct job job;
    struct loop_post done;
    struct server *server;
    size_t count;
    struct run *runs[RUN_SAVE_MAX];
    struct stored_run stored[RUN_SAVE_MAX];
};

static void begin_batch(struct server *server);

static void end_batch(struct loop_post *post)
{
    struct run_batch *batch = (struct run_batch *)((char *)post - offsetof(struct run_batch, done));
    struct server *server = batch->server;
    size_t i;

    for (i = 0; i < batch->count; i++) {
        run_unref(batch->runs[i]);
    }
    batch->count = 0;
    server->runs->is_saving = 0;
    if (server->runs->to_save != NULL) {
        begin_batch(server);
    }
}

static void save_batch(struct job *job)
{
    struct run_batch *batch = (struct run_batch *)((char *)job - offsetof(struct run_batch, job));
    struct vial_error err;

    if (run_store_save(batch->server->run_store, batch->stored, batch->count, &err) < 0) {
        log_say(LOG_ERROR, "runs could not be stored", "error", err.text, NULL);
    }
    batch->done.run = end_batch;
    loop_post(&batch->server->loop, &batch->done);
}

static void fill(struct stored_run *s, const struct run *run)
{
    *s = (struct stored_run){.created_us = run->created_us,
        .started_us = run->started_us,
        .ended_us = run->ended_us,
        .cpu_us = run->cpu_us,
        .request = run->stored_request,
        .request_len = run->stored_request_len,
        .result = run->json,
        .result_len = run->json_len};
    (void)snprintf(s->id, sizeof(s->id), "%s", run->id);
    (void)snprintf(s->key, sizeof(s->key), "%s", run->key);
    (void)snprintf(s->agent, sizeof(s->agent), "%s", run->agent);
    (void)snprintf(s->environment, sizeof(s->environment), "%s", run->environment);
    (void)snprintf(
        s->session, sizeof(s->session), "%s", run->session != NULL ? session_id(run->session) : "");
    (void)snprintf(s->status, sizeof(s->status), "%s",
        run->state == RUN_STATE_ENDED    ? run->status
        : run->state == RUN_STATE_QUEUED ? RUN_QUEUED
                                         : RUN_RUNNING);
}

static void begin_batch(struct server *server)
{
    struct runs *runs = server->runs;
    struct run_batch *batch = runs->batch != NULL ? runs->batch : calloc(1, sizeof(*batch));

    if (batch == NULL) {
        return; /* the next run that ends tries again */
    }
    runs->batch = batch;
    batch->server = server;
    while (runs->to_save != NULL && batch->count < RUN_SAVE_MAX) {
        struct run *run = runs->to_save;

        runs->to_save = run->next_to_save;
        run->is_to_save = 0;
        batch->runs[batch->count] = run;
        fill(&batch->stored[batch->count++], run);
    }
    batch->job.work = save_batch;
    runs->is_saving = 1;
    if (jobs_add(server->side, &batch->job) < 0) {
        save_batch(&batch->job); /* the disk is behind; so is everybody then */
    }
}

void run_save(struct run *run)
{
    struct runs *runs = run->server->runs;

    if (run->is_to_save) {
        return;
    }
    run->is_to_save = 1;
    run->next_to_save = NULL;
    if (runs->to_save == NULL) {
        runs->to_save = run_ref(run);
    } else {
        runs->to_save_last->next_to_save = run_ref(run);
    }
    runs->to_save_last = run;
    if (!runs->is_saving) {
        begin_batch(run->server);
    }
}

void runs_flush(struct server *server)
{
    loop_run_later(&server->loop); /* those that have just ended come to be stored */
    while (server->runs->is_saving || server->runs->to_save != NULL) {
        if (!server->runs->is_saving) {
            begin_batch(server);
        }
        loop_step(&server->loop, 100);
    }
}

/* ---- requests that come again ---- */

struct keeping {
    struct job job;
    struct server *server;
    struct idempotency_answer answer;
    char key[CALLER_ID_BYTES];
    char name[IDEMPOTENCY_NAME_BYTES_MAX + 1];
};

static void keep(struct job *job)
{
    struct keeping *k = (struct keeping *)job;
    struct vial_error err;

    if (idempotency_end(k->server->run_store, k->key, k->name, strlen(k->name), &k->answer, &err) <
        0) {
        log_say(LOG_ERROR, "an answer could not be kept", "run_id", k->answer.run, "error",
            err.text, NULL);
    }
    free(k->answer.body);
    free(k);
}

void run_keep_answer(struct run *run, const struct exchange *x)
{
    struct keeping *k = run->idempotency != NULL ? calloc(1, sizeof(*k)) : NULL;

    if (k == NULL) {
        return;
    }
    k->server = run->server;
    k->answer.http_status = x->answer.status;
    (void)snprintf(k->answer.run, sizeof(k->answer.run), "%s", run->id);
    (void)snprintf(k->answer.content_type, sizeof(k->answer.content_type), "%s",
        x->answer.type != NULL ? x->answer.type : "");
    (void)snprintf(k->key, sizeof(k->key), "%s", run->key);
    (void)snprintf(k->name, sizeof(k->name), "%s", run->idempotency);
    k->answer.body = malloc(x->answer.len + 1);
    if (k->answer.body != NULL) {
        memcpy(k->answer.body, x->answer.bytes != NULL ? x->answer.bytes : "", x->answer.len);
        k->answer.body_len = x->answer.len;
    }
    k->job.work = keep;
    if (k->answer.body == NULL || jobs_add(run->server->side, &k->job) < 0) {
        free(k->answer.body);
        free(k);
    }
}
