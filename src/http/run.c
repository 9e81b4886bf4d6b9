/* run.c - see run.h: letting runs in, ending them, and the table of them. What a worker does is in
 * run_work.c, what is stored in run_save.c. */
#include "http/run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "http/run_inside.h"
#include "http/server.h"
#include "http/sessions.h"
#include "policy/limits.h"

enum {
    CELL_BYTES = 8 << 20, /* of memory beside a run's own limit */
};

/* ---- the table ---- */

static size_t bucket_of(const char *id)
{
    uint32_t h = 2166136261U;

    for (; *id != '\0'; id++) {
        h = (h ^ (unsigned char)*id) * 16777619U;
    }
    return h % RUN_BUCKETS;
}

int runs_new(struct server *server, struct runs **ret, struct vial_error *err)
{
    struct runs *runs = calloc(1, sizeof(*runs));

    if (runs == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for runs");
    }
    runs->server = server;
    *ret = runs;
    return VIAL_OK;
}

static void leave_table(struct runs *runs, struct run *run)
{
    struct run **at = &runs->buckets[bucket_of(run->id)];

    while (*at != run) {
        at = &(*at)->in_bucket;
    }
    *at = run->in_bucket;
    *(run->older != NULL ? &run->older->newer : &runs->oldest) = run->newer;
    *(run->newer != NULL ? &run->newer->older : &runs->newest) = run->older;
    runs->count--;
    run->is_in_table = 0;
    runs->unstored_count -= !run->is_stored;
    runs->kept_bytes -= run->kept_bytes;
    run_unref(run);
}

void runs_free(struct runs *runs)
{
    if (runs == NULL) {
        return;
    }
    while (runs->oldest != NULL) {
        leave_table(runs, runs->oldest);
    }
    free(runs->batch);
    free(runs);
}

static void enter_table(struct runs *runs, struct run *run)
{
    size_t b = bucket_of(run->id);

    run->in_bucket = runs->buckets[b];
    runs->buckets[b] = run;
    run->older = runs->newest;
    *(runs->newest != NULL ? &runs->newest->newer : &runs->oldest) = run;
    runs->newest = run;
    runs->count++;
    run->is_in_table = 1;
    runs->unstored_count++;
    (void)run_ref(run);
}

/* Forgets the oldest that have ended while there are too many, or they are too large. */
static void shrink_table(struct runs *runs)
{
    const struct http_options *o = runs->server->options;
    struct run *run = runs->oldest, *next;

    for (; run != NULL && (runs->kept_bytes > o->kept_bytes_max || runs->count > o->kept_runs_max);
         run = next) {
        next = run->newer;
        if (run->state == RUN_STATE_ENDED) {
            leave_table(runs, run);
        }
    }
}

struct run *runs_find(struct server *server, const char *id)
{
    struct run *run = server->runs->buckets[bucket_of(id)];

    while (run != NULL && strcmp(run->id, id) != 0) {
        run = run->in_bucket;
    }
    return run;
}

void runs_each_live(struct server *server, void (*fn)(struct run *run, void *user), void *user)
{
    struct run *run, *next;

    for (run = server->runs->live; run != NULL; run = next) {
        next = run->live_next;
        fn(run, user);
    }
}

size_t runs_live_count(const struct server *server)
{
    return server->runs->live_count;
}

void runs_tick(struct server *server, uint64_t now_us)
{
    uint64_t every = server->options->heartbeat_s * 1000000ULL;
    struct run *run;

    for (run = server->runs->live; run != NULL; run = run->live_next) {
        streams_beat(run, now_us, every);
    }
    runs_save_again(server, now_us);
}

/* ---- one run ---- */

struct run *run_new(struct server *server, const struct caller *caller, struct vial_error *err)
{
    struct run *run = calloc(1, sizeof(*run));

    if (run == NULL) {
        (void)vial__fail(err, VIAL_E_NOMEM, "no memory for a run");
        return NULL;
    }
    run->created_us = id_now_us();
    if (id_make(RUN_PREFIX, run->created_us, run->id, err) < 0) {
        free(run);
        return NULL;
    }
    run->server = server;
    run->refs = 1;
    run->spec.request = (struct vial_request)VIAL_REQUEST_INIT;
    run->spec.limits = (struct vial_limits)VIAL_LIMITS_INIT;
    (void)snprintf(run->key, sizeof(run->key), "%s", caller->id);
    (void)pthread_mutex_init(&run->lock, NULL);
    events_init(&run->events, server->options->events_bytes_max);
    return run;
}

struct run *run_ref(struct run *run)
{
    run->refs++;
    return run;
}

void run_unref(struct run *run)
{
    if (run == NULL || --run->refs > 0) {
        return;
    }
    assert(run->streams == NULL && run->waiter == NULL);
    while (run->calls != NULL) {
        struct run_call *next = run->calls->next;

        free(run->calls);
        run->calls = next;
    }
    run_shown_release(run);
    session_unref(run->session);
    vial_result_free(run->result);
    events_release(&run->events);
    run_spec_release(&run->spec);
    (void)pthread_mutex_destroy(&run->lock);
    free(run->idempotency);
    free(run->whole_request);
    free(run->stored_request);
    free(run->tools);
    free(run->recording);
    free(run->json);
    free(run);
}

/* ---- letting in ---- */

static int refuse(struct run *run, struct exchange *x, enum problem problem, const char *detail)
{
    counters_refusal(&run->server->counters, problem_code(problem));
    if (x != NULL) {
        answer_problem(x, problem, "%s", detail);
    }
    return -1;
}

static int refuse_quota(struct run *run, struct exchange *x, const struct quota_answer *answer)
{
    char detail[200];
    uint64_t seconds = (answer->retry_us + 999999) / 1000000;

    (void)snprintf(detail, sizeof(detail),
        "the key has used %llu of %llu (%s); try again in %llu s", (unsigned long long)answer->used,
        (unsigned long long)answer->limit, quota_verdict_name(answer->verdict),
        (unsigned long long)seconds);
    if (x != NULL) {
        answer_header(x, "Retry-After", "%llu", (unsigned long long)(seconds > 0 ? seconds : 1));
    }
    return refuse(run, x, PROBLEM_QUOTA, detail);
}

static int refuse_queue(struct run *run, struct exchange *x, enum queue_answer answer)
{
    struct server *server = run->server;

    if (answer == QUEUE_TOO_LARGE) {
        return refuse(run, x, PROBLEM_INVALID,
            "the run wants more memory than all runs of this server may have together");
    }
    if (x != NULL) {
        answer_header(x, "Retry-After", "%llu",
            (unsigned long long)(queue_wait_us(&server->queue) / 1000000));
    }
    return answer == QUEUE_FULL_KEY
               ? refuse(run, x, PROBLEM_QUOTA, "as many runs of this key wait as may wait")
               : refuse(run, x, PROBLEM_OVERLOADED, "as many runs wait as may wait");
}

/* Somebody whose line is too long made room for another. */
static void push_out(struct queue_item *item)
{
    struct run *run = item->user;

    run_cancel(run, "pushed_out");
}

/* How much memory the run may take: that is what is left for others. */
static uint64_t memory_of(const struct run *run)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;

    if (run->session != NULL) {
        return 0; /* the session has it already */
    }
    limits = run->spec.limits;
    return vial_limits_resolve(&limits, NULL) == 0 ? limits.memory_bytes_max + CELL_BYTES
                                                   : CELL_BYTES;
}

static int record_start(struct run *run, struct vial_error *err)
{
    struct audit_record record = {.kind = AUDIT_RUN_START,
        .key = run->key[0] != '\0' ? run->key : NULL,
        .agent = run->spec.agent,
        .from = run->from,
        .run = run->id,
        .environment = run->spec.environment,
        .session = run->session != NULL ? session_id(run->session) : NULL,
        .trace = run->traceparent[0] != '\0' ? run->traceparent : NULL,
        .code = run->spec.request.source,
        .code_len = run->spec.request.source_len,
        .can_wait = 1};

    run->server->has_unwritten = 1;
    return server_record(run->server, &record, err);
}

int run_submit(struct run *run, struct exchange *x)
{
    struct server *server = run->server;
    struct caller caller = {.quota = QUOTA_DEFAULT};
    struct queue_item *out = NULL;
    struct vial_error err = {.code = 0};
    struct quota_answer quota;
    struct client *client;
    enum queue_answer answer;

    if (server->is_stopping) {
        return refuse(run, x, PROBLEM_STOPPING, "the server is stopping and begins nothing new");
    }
    caller = x != NULL ? x->caller : caller;
    client = client_get(&server->clients, &caller);
    if (client == NULL || record_start(run, &err) < 0) {
        return refuse(run, x, PROBLEM_STORE, err.code != 0 ? err.text : "out of memory");
    }
    quota = quota_ask_run(&client->quota, &client->used, run->created_us);
    if (quota.verdict != QUOTA_YES && quota.verdict != QUOTA_CONCURRENT) {
        return refuse_quota(run, x, &quota); /* those that are too many at once wait */
    }
    if (caller.id[0] != '\0' && quota.verdict == QUOTA_YES) {
        answer_header(x, "RateLimit-Limit", "%llu", (unsigned long long)quota.limit);
        answer_header(x, "RateLimit-Remaining", "%llu",
            (unsigned long long)(quota.limit > quota.used ? quota.limit - quota.used - 1 : 0));
    }
    run->item = (struct queue_item){.memory_bytes = memory_of(run), .user = run};
    run->queued_us = clock_now_us();
    answer = queue_add(&server->queue, &client->line, &run->item, run->queued_us, &out);
    if (answer != QUEUE_ADDED && answer != QUEUE_PUSHED_OUT) {
        return refuse_queue(run, x, answer);
    }
    client->refs++;
    run->client = client;
    run->reserved_us = quota_begin_run(&client->quota, &client->used, run->created_us,
        (run->spec.limits.cpu_ms_max > 0 ? run->spec.limits.cpu_ms_max : 5000) * 1000ULL);
    if (!run->is_quiet) {
        enter_table(server->runs, run);
    }
    run->live_next = server->runs->live;
    run->live_before = NULL;
    if (run->live_next != NULL) {
        run->live_next->live_before = run;
    }
    server->runs->live = run_ref(run);
    server->runs->live_count++;
    if (answer == QUEUE_PUSHED_OUT) {
        push_out(out);
    }
    server_pump(server);
    return 0;
}

void run_hand_over(struct run *run)
{
    struct server *server = run->server;

    run->job.work = run_work;
    if (jobs_add(server->workers, &run->job) < 0) { /* there are as many threads as may run */
        run->r = vial__fail(&run->err, VIAL_E_BUSY, "no thread is free");
        run->problem = PROBLEM_OVERLOADED;
        run->done.run = run_finish;
        loop_post(&server->loop, &run->done);
    }
}

void server_pump(struct server *server)
{
    struct queue_item *item;

    while ((item = queue_next(&server->queue, clock_now_us())) != NULL) {
        struct run *run = item->user;

        run->state = RUN_STATE_RUNNING;
        run->started_us = id_now_us();
        series_observe(
            metric_only(server->counters.queue_seconds), clock_now_us() - run->queued_us);
        if (run->wants_events) {
            (void)run_event_start(run);
        }
        if (!run_here(run)) {
            run_hand_over(run);
        }
    }
}

/* ---- ending ---- */

void run_cancel(struct run *run, const char *reason)
{
    int was_waiting = 0;

    (void)pthread_mutex_lock(&run->lock);
    if (run->cancel_reason == NULL && run->state != RUN_STATE_ENDED) {
        run->cancel_reason = reason;
        if (run->handle != NULL) {
            vial_run_cancel(run->handle);
        } else if (run->is_evaluating) {
            session_cancel(run->session);
        }
    }
    (void)pthread_mutex_unlock(&run->lock);
    if (run->state == RUN_STATE_QUEUED && run->client != NULL && !run->was_never_begun) {
        was_waiting = run->item.state != QUEUE_RUNS;
    }
    if (was_waiting) {
        if (run->item.state == QUEUE_WAITS) {
            queue_remove(&run->server->queue, &run->item);
        }
        run->r = VIAL_OK;
        run->done.run = run_finish;
        run->was_never_begun = 1;
        if (run->after != NULL) {
            run->after(run);
        }
        (void)run_make_json(run);
        loop_post(&run->server->loop, &run->done); /* not from within who cancels */
    }
}

static void leave_live(struct runs *runs, struct run *run)
{
    *(run->live_before != NULL ? &run->live_before->live_next : &runs->live) = run->live_next;
    if (run->live_next != NULL) {
        run->live_next->live_before = run->live_before;
    }
    runs->live_count--;
}

/* The copy that a client gets: the run itself is kept for those who ask later. */
static void answer_waiter(struct run *run)
{
    struct exchange *x = run->waiter;
    char *copy;

    run->waiter = NULL;
    x->on_gone = NULL;
    if (run->r < 0) {
        answer_problem(x, run->problem, "%s", run->err.text);
    } else {
        copy = malloc(run->json_len + 1);
        if (copy == NULL) {
            answer_problem(x, PROBLEM_INTERNAL, "no memory for the result");
        } else {
            memcpy(copy, run->json, run->json_len);
            answer_bytes(x, 200, "application/json", copy, run->json_len);
        }
    }
    run_keep_answer(run, x);
    exchange_wake(x);
}

/* What nobody asks for any more; a result is kept for its files and artifacts only. */
static void forget_request(struct run *run)
{
    size_t i, files, artifacts;
    struct vial_file file;

    run_spec_release(&run->spec);
    free(run->tools);
    run->tools = NULL;
    if (run->result == NULL) {
        return;
    }
    files = vial_result_file_count(run->result);
    artifacts = vial_result_artifact_count(run->result);
    if (files + artifacts == 0) {
        vial_result_free(run->result);
        run->result = NULL;
        return;
    }
    for (i = 0; i < files; i++) {
        run->body_bytes += vial_result_file(run->result, i, &file) == 0 ? file.len : 0;
    }
    run->body_bytes += run->json_len * 2; /* artifacts are in it, as text or base64 */
}

/* What can be done when the answer is on its way. */
static void tidy_up(struct loop_post *post)
{
    struct run *run = (struct run *)((char *)post - offsetof(struct run, tidy));
    struct server *server = run->server;

    if (run->is_unrecorded) {
        run_record_end(run);
        run_events_end(run);
        streams_wake(run); /* somebody may have asked for events since */
    }
    vial_run_free(run->ended);
    run->ended = NULL;
    forget_request(run);
    if (!run->is_quiet) {
        run->kept_bytes = run->json_len + run->events.text.len + sizeof(*run) + run->body_bytes +
                          run->recording_len;
        server->runs->kept_bytes += run->kept_bytes;
        run_save(run);
        shrink_table(server->runs);
    }
    run_unref(run);
}

void run_finish(struct loop_post *post)
{
    struct run *run = (struct run *)((char *)post - offsetof(struct run, done));
    struct server *server = run->server;
    struct client *client = run->client;
    uint64_t now = id_now_us();

    run->ended_us = now;
    run->state = RUN_STATE_ENDED;
    if (run->item.state == QUEUE_RUNS) {
        queue_done(&server->queue, &run->item, clock_now_us());
    }
    quota_end_run(&client->used, now, run->reserved_us, run->cpu_us);
    client->refs--;
    run->client = NULL;
    if (!run->is_unrecorded) {
        run_events_end(run);
    }
    if (run->waiter != NULL) {
        answer_waiter(run);
    }
    streams_wake(run);
    leave_live(server->runs, run);
    if (run->on_end != NULL) {
        run->on_end(run, run->on_end_user);
    }
    run->tidy.run = tidy_up;
    loop_later(&server->loop, &run->tidy);
    server_pump(server);
}
