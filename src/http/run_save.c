/* run_save.c - runs that have ended go to the store, many in one transaction and beside the loop;
 * and answers are kept for requests that come again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "http/log.h"
#include "http/record.h"
#include "http/run_inside.h"
#include "http/server.h"
#include "http/sessions.h"

enum {
    AGAIN_US = 1000 * 1000, /* until a store that failed is asked again */
    OUTPUT_PARTS_MAX = 8,   /* representations of an artifact (vial.h) */
    OUTPUT_NAME_BYTES = 32, /* two numbers */
};

/* Runs on their way to the store. There is one, as only one is on the way at a time: it is large,
 * and a new one for each run that ends would clear much of the processor's caches. */
struct run_batch {
    struct job job;
    struct loop_post done;
    struct server *server;
    int r, has_failed;
    struct vial_error err; /* the last */
    size_t count;
    unsigned char is_behind[RUN_SAVE_MAX]; /* what the run left could not be kept */
    struct run *runs[RUN_SAVE_MAX];
    struct stored_run stored[RUN_SAVE_MAX];
};

static void begin_batch(struct server *server);

static void note_stored(struct runs *runs, const struct run_batch *batch)
{
    size_t i;

    for (i = 0; i < batch->count; i++) {
        struct run *run = batch->runs[i];

        if (batch->stored[i].ended_us != 0 && !run->is_stored) {
            run->is_stored = 1;
            runs->unstored_count -= run->is_in_table != 0;
            run_recording_forget(run);
        }
    }
}

/* The store is full, or held by somebody: what is in memory waits in front of the others for the
 * next attempt. 1 when there will be none. */
static int put_back(struct runs *runs, struct run *run)
{
    if (run->is_to_save || !run->is_in_table || runs->is_last) {
        int is_lost = !run->is_to_save;

        run_unref(run);
        return is_lost;
    }
    run->is_to_save = 1;
    run->next_to_save = runs->to_save;
    runs->to_save_last = runs->to_save != NULL ? runs->to_save_last : run;
    runs->to_save = run;
    return 0;
}

static void say_how_it_went(struct runs *runs, const struct run_batch *batch, size_t lost)
{
    char text[24];

    if (batch->has_failed && !runs->has_failed) {
        log_say(LOG_ERROR, "runs could not be stored; this is tried again", "error",
            batch->err.text, NULL);
    } else if (!batch->has_failed && runs->has_failed) {
        log_say(LOG_INFO, "runs are stored again", NULL);
    }
    if (lost > 0) {
        (void)snprintf(text, sizeof(text), "%zu", lost);
        log_say(LOG_ERROR, "runs, or what they left, are lost to the store", "count", text, NULL);
    }
}

static void end_batch(struct loop_post *post)
{
    struct run_batch *batch = (struct run_batch *)((char *)post - offsetof(struct run_batch, done));
    struct server *server = batch->server;
    struct runs *runs = server->runs;
    size_t i, lost = 0;

    runs->is_saving = 0;
    if (batch->r == VIAL_OK) {
        note_stored(runs, batch);
    }
    for (i = batch->count; i > 0; i--) { /* so that they keep their order */
        if (batch->r == VIAL_OK && !batch->is_behind[i - 1]) {
            run_unref(batch->runs[i - 1]);
        } else {
            lost += (size_t)put_back(runs, batch->runs[i - 1]);
        }
    }
    say_how_it_went(runs, batch, lost);
    runs->has_failed = batch->has_failed;
    runs->save_after_us = batch->has_failed ? clock_now_us() + AGAIN_US : 0;
    batch->count = 0;
    if (runs->to_save != NULL && (!runs->has_failed || runs->is_last)) {
        begin_batch(server);
    }
}

/* ---- files and artifacts ---- */

/* Fills list, which has room for all; names is for those of artifacts. */
static size_t list_outputs(
    const struct vial_result *result, struct output *list, char names[][OUTPUT_NAME_BYTES])
{
    size_t files = vial_result_file_count(result), count = 0, i;
    size_t artifacts = vial_result_artifact_count(result);
    uint32_t k;

    for (i = 0; i < files; i++) {
        struct vial_file file;

        if (vial_result_file(result, i, &file) == 0) {
            list[count++] = (struct output){"files/", file.name, "", file.bytes, file.len};
        }
    }
    for (i = 0; i < artifacts; i++) {
        struct vial_artifact artifact = VIAL_ARTIFACT_INIT;

        if (vial_result_artifact(result, i, &artifact) < 0) {
            continue;
        }
        for (k = 0; k < artifact.representation_count; k++) {
            struct vial_representation shown = VIAL_REPRESENTATION_INIT;

            if (vial_result_representation(result, i, k, &shown) == 0) {
                (void)snprintf(*names, sizeof(*names), "%zu/%u", i, k);
                list[count++] =
                    (struct output){"artifacts/", *names++, shown.mime, shown.bytes, shown.len};
            }
        }
    }
    return count;
}

/* Keeps what the run left on the disk, so that it can be had when the run is not in memory any
 * more. Beside the loop; a result that has ended does not change. */
static int keep_outputs(struct server *server, const struct run *run, struct vial_error *err)
{
    size_t shown = vial_result_artifact_count(run->result) * OUTPUT_PARTS_MAX;
    struct output *list = calloc(vial_result_file_count(run->result) + shown + 1, sizeof(*list));
    char(*names)[OUTPUT_NAME_BYTES] = calloc(shown + 1, sizeof(*names));
    int r;

    if (list == NULL || names == NULL) {
        r = vial__fail(err, VIAL_E_NOMEM, "no memory for a list of files");
    } else {
        r = outputs_save(
            server->outputs, run->id, list, list_outputs(run->result, list, names), err);
    }
    if (r > 0) {
        log_say(LOG_INFO, "a run left more than is kept on the disk", "run_id", run->id, NULL);
    }
    free(list);
    free(names);
    return r;
}

static void save_batch(struct job *job)
{
    struct run_batch *batch = (struct run_batch *)((char *)job - offsetof(struct run_batch, job));
    size_t i;

    for (i = 0; i < batch->count; i++) {
        if (batch->stored[i].ended_us != 0 && batch->runs[i]->result != NULL &&
            keep_outputs(batch->server, batch->runs[i], &batch->err) < 0) {
            batch->is_behind[i] = 1;
            batch->has_failed = 1;
        }
    }
    batch->r = run_store_save(batch->server->run_store, batch->stored, batch->count, &batch->err);
    batch->has_failed |= batch->r < 0;
    batch->done.run = end_batch;
    loop_post(&batch->server->loop, &batch->done);
}

/* Of one that has not ended the worker may be writing down which version of the environment it is.
 */
static const char *environment_of(const struct run *run)
{
    if (run->state == RUN_STATE_ENDED) {
        return run->environment;
    }
    if (run->session != NULL) {
        return session_environment(run->session);
    }
    return run->spec.environment != NULL ? run->spec.environment : "";
}

void run_to_stored(const struct run *run, struct stored_run *s)
{
    *s = (struct stored_run){.created_us = run->created_us,
        .started_us = run->started_us,
        .ended_us = run->ended_us,
        .cpu_us = run->state == RUN_STATE_ENDED ? run->cpu_us : 0,
        .request = run->stored_request,
        .request_len = run->stored_request_len};
    if (run->state == RUN_STATE_ENDED && run->json_len <= RUN_RESULT_BYTES_MAX) {
        s->result = run->json; /* of a larger one the store has the rest */
        s->result_len = run->json_len;
    }
    if (run->recording_bytes_max > 0 && run->state != RUN_STATE_ENDED) {
        s->recording_fault = "the server ended before the run did"; /* until the run has ended */
    } else if (run->recording_bytes_max > 0 && !run->is_stored) {
        s->recording = run->recording;
        s->recording_len = run->recording != NULL ? run->recording_len : 0;
        s->recording_fault = run->recording == NULL ? run->recording_fault : NULL;
    }
    (void)snprintf(s->id, sizeof(s->id), "%s", run->id);
    (void)snprintf(s->key, sizeof(s->key), "%s", run->key);
    (void)snprintf(s->agent, sizeof(s->agent), "%s", run->agent);
    (void)snprintf(s->environment, sizeof(s->environment), "%s", environment_of(run));
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
    batch->has_failed = 0;
    memset(batch->is_behind, 0, sizeof(batch->is_behind));
    while (runs->to_save != NULL && batch->count < RUN_SAVE_MAX) {
        struct run *run = runs->to_save;

        runs->to_save = run->next_to_save;
        run->is_to_save = 0;
        batch->runs[batch->count] = run;
        run_to_stored(run, &batch->stored[batch->count++]);
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
    if (!runs->has_failed && !runs->is_saving) {
        begin_batch(run->server);
    }
}

void runs_save_again(struct server *server, uint64_t now_us)
{
    struct runs *runs = server->runs;

    if (runs->to_save != NULL && !runs->is_saving && now_us >= runs->save_after_us) {
        begin_batch(server);
    }
}

void runs_flush(struct server *server)
{
    loop_run_later(&server->loop); /* those that have just ended come to be stored */
    server->runs->is_last = 1;
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
