/* idempotency.c - see idempotency.h. */
#include "http/idempotency.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/jobs.h"
#include "http/log.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/run_inside.h"
#include "http/runs.h"
#include "http/server.h"

struct question {
    struct job job;
    struct loop_post post;
    struct exchange *x;
    struct run *run;
    int is_stream, r;
    enum idempotency_state state;
    struct idempotency_answer answer;
    struct vial_error err;
};

int idempotency_note(struct run *run, struct exchange *x, const char *name)
{
    size_t len = strlen(name), head;
    struct buf request;

    if (len == 0 || len > IDEMPOTENCY_NAME_BYTES_MAX) {
        answer_problem(x, PROBLEM_INVALID, "Idempotency-Key must have 1 to %d bytes",
            IDEMPOTENCY_NAME_BYTES_MAX);
        return -1;
    }
    head = strlen(x->method) + strlen(x->path) + 2;
    buf_init(&request, head + x->body.len);
    run->idempotency = strdup(name);
    if (run->idempotency == NULL || buf_add_text(&request, x->method, NULL) < 0 ||
        buf_add_text(&request, " ", NULL) < 0 || buf_add_text(&request, x->path, NULL) < 0 ||
        buf_add_text(&request, "\n", NULL) < 0 ||
        (x->body.len > 0 && buf_add(&request, x->body.data, x->body.len, NULL) < 0) ||
        buf_take(&request, &run->whole_request, &run->whole_request_len, NULL) < 0) {
        buf_release(&request);
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        return -1;
    }
    return 0;
}

static void give_again(struct exchange *x, struct idempotency_answer *answer)
{
    (void)snprintf(x->type_text, sizeof(x->type_text), "%s", answer->content_type);
    answer_bytes(x, answer->http_status, x->type_text, answer->body, answer->body_len);
    answer->body = NULL;
    answer_header(x, "Idempotent-Replayed", "true");
    if (answer->http_status == 202) {
        answer_header(x, "Location", "/v1/runs/%s", answer->run);
    }
}

static void decide(struct question *q)
{
    struct exchange *x = q->x;

    if (q->r < 0) {
        answer_problem(x, PROBLEM_STORE, "%s", q->err.text);
        return;
    }
    switch (q->state) {
    case IDEMPOTENCY_NEW:
        runs_go(x, q->run, q->is_stream);
        break;
    case IDEMPOTENCY_DONE:
        give_again(x, &q->answer);
        break;
    case IDEMPOTENCY_OTHER_BODY:
        answer_problem(x, PROBLEM_IDEMPOTENCY,
            "this Idempotency-Key was used for another request; take a new one");
        break;
    case IDEMPOTENCY_RUNNING:
        answer_problem(x, PROBLEM_BUSY, "the first request with this Idempotency-Key is under way");
        break;
    case IDEMPOTENCY_INTERRUPTED:
        answer_problem(x, PROBLEM_CONFLICT,
            "the server ended while it did the first request with this Idempotency-Key; whether it "
            "was done is not known");
        break;
    }
}

static void answered(struct loop_post *post)
{
    struct question *q = (struct question *)((char *)post - offsetof(struct question, post));
    struct exchange *x = q->x;

    decide(q);
    if (x->answer.status != 0 || x->stream != NULL) { /* else it goes on waiting */
        exchange_wake(x);
    } else if (x->connection->is_gone && x->on_gone != NULL) {
        x->on_gone(x);
    }
    idempotency_answer_release(&q->answer);
    run_unref(q->run);
    free(q);
}

static void ask(struct job *job)
{
    struct question *q = (struct question *)job;
    struct run *run = q->run;

    q->r = idempotency_begin(run->server->run_store, run->key, run->idempotency,
        strlen(run->idempotency), run->whole_request, run->whole_request_len, run->created_us,
        &q->state, &q->answer, &q->err);
    if (q->r == 0 && q->state == IDEMPOTENCY_NEW) {
        (void)!idempotency_set_run(run->server->run_store, run->key, run->idempotency,
            strlen(run->idempotency), run->id, NULL);
    }
    q->post.run = answered;
    loop_post(&run->server->loop, &q->post);
}

void idempotency_ask(struct exchange *x, struct run *run, int is_stream)
{
    struct question *q = calloc(1, sizeof(*q));

    if (q != NULL) {
        q->x = x;
        q->run = run;
        q->is_stream = is_stream;
        q->job.work = ask;
        if (jobs_add(x->server->side, &q->job) == 0) {
            exchange_wait(x);
            return;
        }
        free(q);
    }
    answer_problem(x, PROBLEM_OVERLOADED, "too many requests wait for the disk");
    run_unref(run);
}

/* A request that was refused before anything was done, on its way to the store. */
struct dropping {
    struct job job;
    struct server *server;
    char key[CALLER_ID_BYTES];
    char name[IDEMPOTENCY_NAME_BYTES_MAX + 1];
};

static void drop(struct job *job)
{
    struct dropping *d = (struct dropping *)job;

    (void)!idempotency_drop(d->server->run_store, d->key, d->name, strlen(d->name), NULL);
    free(d);
}

void idempotency_forget(struct run *run)
{
    struct dropping *d = run->idempotency != NULL ? calloc(1, sizeof(*d)) : NULL;

    if (d == NULL) {
        return;
    }
    d->server = run->server;
    d->job.work = drop;
    (void)snprintf(d->key, sizeof(d->key), "%s", run->key);
    (void)snprintf(d->name, sizeof(d->name), "%s", run->idempotency);
    if (jobs_add(run->server->side, &d->job) < 0) {
        free(d); /* then it is forgotten after a day */
    }
    free(run->idempotency);
    run->idempotency = NULL;
}
