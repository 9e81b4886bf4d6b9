/* fetch.c - see fetch.h.
 *
 * All of this happens in the thread that waits for the run, between two sleeps. A request is in
 * the run's list until the cell has all of its answer. */
#include "host/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "host/call.h"
#include "host/egress.h"
#include "host/env.h"
#include "host/secrets.h"
#include "policy/net_rules.h"
#include "wire/fetch.h"

enum {
    FLOOD_FACTOR = 16, /* a program that goes on asking past so many times its limit is ended */
    /* Requests whose answers are not read do not stand in the way of others, up to so many times
     * the limit: programs begin many, and read the answers when all of them are there. */
    STALLED_FACTOR = 4,
    DOWN_BYTES_MAX = 8 * FETCH_PIECE_BYTES, /* what is taken at once may be a little more */
    UP_BYTES_MAX = 2 * FETCH_PIECE_BYTES,   /* one on its way, and one that has just come */
    ANSWER_EARLY_BYTES = FETCH_PIECE_BYTES / 2,
    REQUEST_JSON_BYTES_MAX = 65536,
    ERROR_BYTES_MAX = 8192,
    SOON_US = 2000,   /* what comes within this time is told together */
    SERVE_MAX = 1000, /* rounds of a turn: each redirect takes one */
};

static const char NO_NETWORK[] =
    "{\"name\":\"DeniedError\",\"message\":\"this program has no network\",\"fields\":"
    "{\"code\":\"rule\"}}";

enum fetch_state { FETCH_QUEUED, FETCH_STARTED, FETCH_ENDED };

struct fetch {
    struct fetch *next;
    struct fetches *owner;
    uint32_t stream;
    uint32_t record;     /* in the run's result */
    uint32_t waiting_id; /* the cell's call that is to be answered; 0: none */
    int state;           /* enum fetch_state */
    int is_head_sent, has_head;
    int is_stalled;    /* there is no room for more of its answer until the program reads */
    uint64_t hurry_us; /* when what there is of the answer is told; 0: there is nothing */
    struct egress_ask ask;
    char *body;
    size_t body_len;
    int is_streamed; /* else body is all of it */
    int is_up_ended;
    uint32_t sending_id;   /* the call with a piece that is to be answered; 0: none */
    uint64_t up_bytes;     /* that came so far */
    struct buf up;         /* of them, those that are not sent yet */
    struct egress *egress; /* while it is being made */
    struct egress_events events;
    struct buf head, down;
    struct egress_report report;
};

struct fetches {
    struct vial_run *run;
    struct egress_net *net; /* NULL until the first request */
    struct net_policy own;  /* of the request */
    struct net_chain rules;
    struct vial_limits limits;
    struct fetch *first;
    unsigned pending_count; /* calls that wait for an answer */
    uint64_t asked_count;   /* by the cell */
    uint32_t made_count;    /* that went out, or tried to */
    int is_over;
};

/* ---- life ---- */

static void fetch_free(struct fetch *f)
{
    egress_free(f->egress);
    egress_ask_release(&f->ask);
    egress_report_release(&f->report);
    free(f->body);
    buf_release(&f->up);
    buf_release(&f->head);
    buf_release(&f->down);
    free(f);
}

/* The rules that hold: those of the request alone, or of the environment, give; the permissions of
 * all levels take away. */
static int find_rules(struct fetches *o, const struct vial_run *run, const struct vial_env *env,
    struct vial_error *err)
{
    const struct vial_request *q = &run->request;
    struct permission_chain chain = run->permit.chain;
    int r;

    if (env != NULL && q->net != NULL) {
        return vial__fail(err, VIAL_E_INVALID,
            "what a run in the environment %s may ask of the network is the environment's",
            env->document->name);
    }
    if (q->net != NULL) {
        r = net_policy_parse(q->net, q->net_len, &o->own, err);
        if (r < 0) {
            return r;
        }
        if (o->own.count == 0) {
            return VIAL_OK;
        }
        o->rules = (struct net_chain){.policies = {&o->own}, .whose = {"run"}, .count = 1};
    }
    chain.levels[PERMISSION_ENVIRONMENT] = env != NULL ? env->document->permissions : NULL;
    return permission_net_chain(&chain, &o->rules, err);
}

int fetches_open(struct vial_run *run, const struct vial_env *env, struct vial_error *err)
{
    struct fetches *o = calloc(1, sizeof(*o));
    int r;

    if (o == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the network of a run");
    }
    r = find_rules(o, run, env, err);
    if (r < 0 || o->rules.count == 0) {
        net_policy_release(&o->own);
        free(o);
        return r;
    }
    o->run = run;
    o->limits = run->limits;
    run->calls.fetches = o;
    return VIAL_OK;
}

void fetches_close(struct vial_run *run)
{
    struct fetches *o = run->calls.fetches;

    if (o != NULL) {
        fetches_end(run);
        net_policy_release(&o->own);
        free(o);
        run->calls.fetches = NULL;
    }
}

int fetches_are_pending(const struct vial_run *run)
{
    return run->calls.fetches != NULL && run->calls.fetches->pending_count > 0;
}

uint64_t fetches_call_bytes_max(const struct vial_run *run)
{
    return run->calls.fetches != NULL
               ? run->limits.request_bytes_max + FETCH_HEAD_BYTES_MAX + sizeof(struct fetch_ask)
               : 0;
}

size_t fetches_out_bytes_max(const struct vial_run *run)
{
    return run->calls.fetches != NULL ? (size_t)(FETCH_PIECE_BYTES + ANSWER_EXTRA_BYTES) *
                                            (STALLED_FACTOR * run->limits.requests_at_once_max + 1)
                                      : 0;
}

/* ---- answers ---- */

static void set_waiting(struct fetch *f, uint32_t id)
{
    if ((f->waiting_id != 0) != (id != 0)) {
        f->owner->pending_count += id != 0 ? 1U : (unsigned)-1;
    }
    f->waiting_id = id;
}

static void write_error(const struct egress_report *report, struct buf *out)
{
    struct json_writer w;

    json_init(&w, out, NULL);
    json_begin_object(&w);
    json_key(&w, "name");
    json_text(&w, report->name);
    json_key(&w, "message");
    json_text(&w, report->message);
    json_key(&w, "fields");
    json_begin_object(&w);
    json_key(&w, "code");
    json_text(&w, report->code);
    if (report->rule[0] != '\0') {
        json_key(&w, "rule");
        json_text(&w, report->rule);
    }
    json_end_object(&w);
    json_end_object(&w);
    if (json_finish(&w) < 0) {
        buf_clear(out);
    }
}

/* Answers a call with a failure. */
static void send_error(struct fetches *o, uint32_t id, const struct egress_report *report)
{
    static const char plain[] = "{\"name\":\"NetworkError\",\"message\":\"the request failed\"}";
    struct buf out;

    buf_init(&out, ERROR_BYTES_MAX);
    write_error(report, &out);
    calls_answer(o->run, id, ANSWER_ERROR, out.len > 0 ? out.data : plain,
        out.len > 0 ? out.len : sizeof(plain) - 1);
    buf_release(&out);
}

/* Sends what there is of the answer. */
static void send_piece(struct fetch *f)
{
    size_t n = f->down.len < FETCH_PIECE_BYTES ? f->down.len : FETCH_PIECE_BYTES;
    int is_end = f->state == FETCH_ENDED && f->report.status == VIAL_CALL_OK && n == f->down.len;
    struct fetch_reply reply = {
        .flags = is_end ? FETCH_END : 0, .head_len = f->is_head_sent ? 0 : (uint32_t)f->head.len};
    struct buf out;

    buf_init(&out, sizeof(reply) + f->head.len + n);
    if (buf_add(&out, &reply, sizeof(reply), NULL) < 0 ||
        (reply.head_len > 0 && buf_add(&out, f->head.data, f->head.len, NULL) < 0) ||
        (n > 0 && buf_add(&out, f->down.data, n, NULL) < 0)) {
        egress_report_fail(&f->report, VIAL_CALL_FAILED, "NetworkError", "memory",
            "the host has no memory for the answer");
        send_error(f->owner, f->waiting_id, &f->report);
    } else {
        calls_answer(f->owner->run, f->waiting_id, ANSWER_BYTES, out.data, out.len);
    }
    buf_release(&out);
    set_waiting(f, 0);
    f->is_head_sent = 1;
    f->hurry_us = 0;
    buf_consume(&f->down, n);
}

static void unlist(struct fetch *f)
{
    struct fetch **p;

    for (p = &f->owner->first; *p != NULL; p = &(*p)->next) {
        if (*p == f) {
            *p = f->next;
            break;
        }
    }
    set_waiting(f, 0);
}

/* Answers the call that waits, if there is something to say. 1 when the cell has all of it now. */
static int serve(struct fetch *f, int is_hurried)
{
    int is_whole = f->state == FETCH_ENDED && f->down.len <= FETCH_PIECE_BYTES;

    if (f->waiting_id == 0) {
        return 0;
    }
    if (f->state == FETCH_ENDED && f->report.status != VIAL_CALL_OK &&
        (f->down.len == 0 || !f->is_head_sent)) {
        send_error(f->owner, f->waiting_id, &f->report);
        set_waiting(f, 0);
        return 1;
    }
    if (!f->has_head || !(f->state == FETCH_ENDED || f->down.len >= ANSWER_EARLY_BYTES ||
                            (is_hurried && (f->down.len > 0 || !f->is_head_sent)))) {
        return 0;
    }
    is_whole = is_whole && f->report.status == VIAL_CALL_OK;
    send_piece(f);
    return is_whole;
}

/* ---- records ---- */

static void write_request(const struct fetch *f, struct buf *out)
{
    const struct egress_report *report = &f->report;
    struct json_writer w;

    json_init(&w, out, NULL);
    json_begin_object(&w);
    json_key(&w, "method");
    json_text(&w, f->ask.method >= 0 ? net_method_name(f->ask.method) : NULL);
    json_key(&w, "url");
    json_text(&w, report->url.len > 0 ? report->url.data : NULL);
    json_key(&w, "status");
    if (report->http != 0) {
        json_u64(&w, report->http);
    } else {
        json_write_null(&w);
    }
    json_key(&w, "rule");
    json_text(&w, report->rule[0] != '\0' ? report->rule : NULL);
    json_key(&w, "code");
    json_text(&w, report->code[0] != '\0' ? report->code : NULL);
    json_key(&w, "redirects");
    json_u64(&w, report->redirects);
    json_key(&w, "bytes_up");
    json_u64(&w, report->bytes_up);
    json_key(&w, "bytes_down");
    json_u64(&w, report->bytes_down);
    json_key(&w, "bytes_decoded");
    json_u64(&w, report->bytes_decoded);
    json_end_object(&w);
    if (json_finish(&w) < 0) {
        buf_clear(out);
    }
}

static void note_end(const struct fetch *f)
{
    struct vial_run *run = f->owner->run;
    struct buf json;

    buf_init(&json, REQUEST_JSON_BYTES_MAX);
    write_request(f, &json);
    (void)pthread_mutex_lock(&run->engine->calls.lock);
    if (json.len > 0) {
        result_calls_request(&run->calls.result->calls, f->record, json.data, json.len);
    }
    result_calls_end(&run->calls.result->calls, f->record, f->report.status,
        f->report.status != VIAL_CALL_OK ? f->report.message : NULL,
        clock_now_us() - run->started_us, f->report.bytes_decoded);
    (void)pthread_mutex_unlock(&run->engine->calls.lock);
    buf_release(&json);
}

/* ---- what egress tells ---- */

static int on_count(void *user)
{
    struct fetches *o = ((struct fetch *)user)->owner;
    int fine = o->made_count < o->limits.requests_max;

    o->made_count += (uint32_t)fine;
    return fine;
}

static void on_head(void *user, const char *json, size_t len)
{
    struct fetch *f = user;

    f->has_head = buf_add(&f->head, json, len, NULL) == 0;
}

static int has_room(void *user)
{
    struct fetch *f = user;

    if (f->down.len >= FETCH_PIECE_BYTES) {
        f->is_stalled = 1;
    }
    return f->down.len < FETCH_PIECE_BYTES;
}

static int on_body(void *user, const char *bytes, size_t len)
{
    struct fetch *f = user;

    return buf_add(&f->down, bytes, len, NULL);
}

/* Answers the call with a piece of the body that is sent: there is room for another, or nobody
 * wants one. */
static void answer_piece(struct fetch *f, int is_over)
{
    struct fetch_reply reply = {.flags = is_over ? FETCH_END : 0};

    if (f->sending_id != 0) {
        calls_answer(
            f->owner->run, f->sending_id, ANSWER_BYTES, (const char *)&reply, sizeof(reply));
        f->sending_id = 0;
        f->owner->pending_count--;
    }
}

static long on_more(void *user, char *bytes, size_t max)
{
    struct fetch *f = user;
    size_t n = f->up.len < max ? f->up.len : max;

    if (n == 0) {
        return f->is_up_ended ? 0 : -1;
    }
    memcpy(bytes, f->up.data, n);
    buf_consume(&f->up, n);
    if (f->up.len < FETCH_PIECE_BYTES) {
        answer_piece(f, 0);
    }
    return (long)n;
}

/* ---- requests that begin and end ---- */

/* The end of a request. 1 when there is nothing left of it. */
static int finish(struct fetch *f)
{
    f->state = FETCH_ENDED;
    f->is_stalled = 0;
    egress_free(f->egress);
    f->egress = NULL;
    answer_piece(f, 1);
    note_end(f);
    if (serve(f, 1)) {
        unlist(f);
        fetch_free(f);
        return 1;
    }
    return 0;
}

/* What all requests of the run share, made by the first; the answers to questions about names wake
 * the run's thread. */
static int begin(struct fetch *f, struct vial_error *err)
{
    struct fetches *o = f->owner;
    struct egress_job job = {.rules = &o->rules,
        .limits = &o->limits,
        .secret = secrets_lookup,
        .secret_user = o->run->engine,
        .ask = &f->ask,
        .body = f->body,
        .body_len = f->body_len,
        .is_streamed = f->is_streamed,
        .events = &f->events};
    int r = o->net != NULL ? 0 : egress_net_new(o->run->wake_fd, &o->net, err);

    if (r < 0) {
        return r;
    }
    f->events = (struct egress_events){.user = f,
        .count = on_count,
        .head = on_head,
        .has_room = has_room,
        .body = on_body,
        .more = on_more};
    job.net = o->net;
    f->egress = egress_new(&job, &f->report);
    return f->egress != NULL ? 0 : vial__fail(err, VIAL_E_NOMEM, "no memory for a request");
}

static void fail_now(struct fetch *f, uint32_t status, const char *code, const char *why)
{
    egress_report_fail(&f->report, status,
        status == VIAL_CALL_LIMIT ? "LimitError" : "NetworkError", code, "%s", why);
    (void)finish(f);
}

/* Begins what may be begun. 1 when something was. */
static int start_next(struct fetches *o)
{
    unsigned active = 0, begun = 0;
    struct vial_error err = {.code = 0};
    struct fetch *f, *next;
    int any = 0;

    for (f = o->first; f != NULL; f = f->next) {
        begun += f->state != FETCH_QUEUED;
        active += f->state == FETCH_STARTED && !f->is_stalled;
    }
    for (f = o->first; f != NULL && active < o->limits.requests_at_once_max; f = next) {
        next = f->next;
        if (f->state != FETCH_QUEUED) {
            continue;
        }
        if (begun >= STALLED_FACTOR * o->limits.requests_at_once_max) {
            fail_now(f, VIAL_CALL_LIMIT, "requests_at_once_max",
                "too many answers are not read; read or cancel the bodies of earlier ones first");
            continue;
        }
        f->state = FETCH_STARTED;
        active++;
        begun++;
        any = 1;
        if (begin(f, &err) < 0) {
            fail_now(f, VIAL_CALL_FAILED, "host", err.text);
        }
    }
    return any;
}

/* ---- turns ---- */

size_t fetches_sockets(const struct vial_run *run, struct pollfd *ret, size_t max)
{
    const struct fetches *o = run->calls.fetches;

    return o != NULL && o->net != NULL ? egress_net_sockets(o->net, ret, max) : 0;
}

uint64_t fetches_deadline_us(const struct vial_run *run)
{
    const struct fetches *o = run->calls.fetches;
    uint64_t first = UINT64_MAX, t;
    const struct fetch *f;

    if (o == NULL || o->net == NULL) {
        return first;
    }
    first = egress_net_deadline_us(o->net);
    for (f = o->first; f != NULL; f = f->next) {
        if (f->egress != NULL) {
            t = egress_deadline_us(f->egress);
            first = t < first ? t : first;
        }
        if (f->hurry_us != 0) {
            first = f->hurry_us < first ? f->hurry_us : first;
        }
    }
    return first;
}

/* Tells the cell what there is, or sees to it that it is told soon. */
static void tell(struct fetch *f, int is_hurried, uint64_t now_us)
{
    (void)serve(f, is_hurried);
    if (f->hurry_us == 0 && f->waiting_id != 0 &&
        (f->down.len > 0 || (!f->is_head_sent && egress_has_head(f->egress)))) {
        f->hurry_us = now_us + SOON_US;
    }
}

/* Steps all requests once. 1 when one has ended or goes on, and there may be more to do. */
static int step_all(struct fetches *o, uint64_t now_us)
{
    int is_hurried;
    struct fetch *f;

    for (f = o->first; f != NULL; f = f->next) {
        if (f->egress == NULL) {
            continue;
        }
        is_hurried = f->hurry_us != 0 && now_us >= f->hurry_us;
        if (is_hurried) {
            f->hurry_us = 0;
            egress_hurry(f->egress);
        }
        if (egress_step(f->egress, now_us)) {
            (void)finish(f);
            return 1;
        }
        tell(f, is_hurried, now_us);
        if (f->is_stalled && f->down.len < FETCH_PIECE_BYTES) { /* the cell has taken a piece */
            f->is_stalled = 0;
            egress_go_on(f->egress);
            return 1;
        }
    }
    return 0;
}

void fetches_serve(
    struct vial_run *run, const struct pollfd *sockets, size_t count, uint64_t now_us)
{
    struct fetches *o = run->calls.fetches;
    int i;

    if (o == NULL || o->net == NULL || o->is_over) {
        return;
    }
    egress_net_turn(o->net, sockets, count);
    for (i = 0; i < SERVE_MAX && (step_all(o, now_us) || start_next(o)); i++) {
    }
}

/* ---- what the cell sends ---- */

static struct fetch *find(struct fetches *o, uint32_t stream)
{
    struct fetch *f;

    for (f = o->first; f != NULL && f->stream != stream; f = f->next) {
    }
    return f;
}

static struct fetch *fetch_new(struct fetches *o, uint32_t id)
{
    struct fetch *f = calloc(1, sizeof(*f));
    struct fetch **p;

    if (f == NULL) {
        return NULL;
    }
    f->owner = o;
    f->stream = id;
    f->ask.method = NET_METHOD_NONE;
    buf_init(&f->head, FETCH_HEAD_BYTES_MAX);
    buf_init(&f->down, DOWN_BYTES_MAX);
    buf_init(&f->up, UP_BYTES_MAX);
    egress_report_init(&f->report);
    for (p = &o->first; *p != NULL; p = &(*p)->next) {
    }
    *p = f;
    set_waiting(f, id);
    return f;
}

/* What is asked, in f; or why it cannot be, in its report. */
static int read_ask(struct fetch *f, const struct fetch_ask *ask, const char *bytes, size_t len)
{
    const struct vial_limits *limits = &f->owner->limits;
    char why[256];

    if (ask == NULL || len - ask->head_len > limits->request_bytes_max) {
        egress_report_fail(&f->report, VIAL_CALL_LIMIT, "LimitError", "request_bytes_max",
            "the body of a request may have %llu bytes; raise it with --request-bytes "
            "(request_bytes_max)",
            (unsigned long long)limits->request_bytes_max);
        return -1;
    }
    if (egress_ask_parse(bytes, ask->head_len, &f->ask, why, sizeof(why)) < 0) {
        egress_report_fail(&f->report, VIAL_CALL_DENIED, "DeniedError", "request", "%s", why);
        return -1;
    }
    f->is_streamed = (ask->flags & FETCH_STREAMED) != 0;
    f->body_len = len - ask->head_len;
    f->body = malloc(f->body_len + 1);
    if (f->body == NULL) {
        egress_report_fail(&f->report, VIAL_CALL_FAILED, "NetworkError", "memory",
            "the host has no memory for the request");
        return -1;
    }
    memcpy(f->body, bytes + ask->head_len, f->body_len);
    return 0;
}

/* A new request. ask is NULL when it was too large to be sent. */
static void take_open(
    struct vial_run *run, uint32_t id, const struct fetch_ask *ask, const char *bytes, size_t len)
{
    struct fetches *o = run->calls.fetches;
    struct fetch *f = fetch_new(o, id);

    if (f == NULL) {
        calls_give_up(run);
        return;
    }
    (void)pthread_mutex_lock(&run->engine->calls.lock);
    f->record = result_calls_add(&run->calls.result->calls, "fetch",
        clock_now_us() - run->started_us, ask != NULL ? len - ask->head_len : len);
    (void)pthread_mutex_unlock(&run->engine->calls.lock);
    if (read_ask(f, ask, bytes, len) < 0) {
        (void)finish(f);
    } else if (start_next(o)) {
        fetches_serve(run, NULL, 0, clock_now_us());
    }
}

static void take_read(struct vial_run *run, uint32_t id, uint32_t stream)
{
    struct fetches *o = run->calls.fetches;
    struct fetch *f = find(o, stream);
    struct egress_report report;

    if (f == NULL || f->waiting_id != 0) {
        egress_report_init(&report);
        egress_report_fail(&report, VIAL_CALL_FAILED, "NetworkError", "closed", "%s",
            f == NULL ? "the answer is closed: it was read or cancelled, or the program that asked "
                        "for it has ended"
                      : "the answer is being read already");
        send_error(o, id, &report);
        egress_report_release(&report);
        return;
    }
    set_waiting(f, id);
    if (f->egress != NULL && f->down.len == 0) {
        egress_hurry(f->egress);
    }
    if (serve(f, 1)) {
        unlist(f);
        fetch_free(f);
        return;
    }
    if (f->egress != NULL && f->down.len < FETCH_PIECE_BYTES) {
        f->is_stalled = 0;
        egress_go_on(f->egress);
        fetches_serve(run, NULL, 0, clock_now_us());
    }
}

/* A piece of the body of a request. */
static enum calls_taken take_send(
    struct vial_run *run, uint32_t id, const struct fetch_ask *ask, const char *bytes, size_t len)
{
    struct fetches *o = run->calls.fetches;
    const struct fetch_reply over = {.flags = FETCH_END};
    struct fetch *f = find(o, ask->stream);
    char why[256];

    if (f == NULL || f->state == FETCH_ENDED) { /* it was answered, or has failed, before its end */
        calls_answer(run, id, ANSWER_BYTES, (const char *)&over, sizeof(over));
        return CALLS_TAKEN;
    }
    if (!f->is_streamed || f->is_up_ended || f->sending_id != 0 || len > FETCH_PIECE_BYTES) {
        return CALLS_NONSENSE;
    }
    f->sending_id = id;
    o->pending_count++;
    f->up_bytes += len;
    if (f->up_bytes > o->limits.request_bytes_max) {
        (void)snprintf(why, sizeof(why),
            "the body of a request may have %llu bytes; raise it with --request-bytes "
            "(request_bytes_max)",
            (unsigned long long)o->limits.request_bytes_max);
        if (f->egress != NULL) {
            egress_cancel(f->egress, why);
        }
        fail_now(f, VIAL_CALL_LIMIT, "request_bytes_max", why);
        (void)start_next(o);
        return CALLS_TAKEN;
    }
    if (len > 0 && buf_add(&f->up, bytes, len, NULL) < 0) {
        calls_give_up(run);
        return CALLS_TAKEN;
    }
    f->is_up_ended = (ask->flags & FETCH_END) != 0;
    if (f->up.len < FETCH_PIECE_BYTES) {
        answer_piece(f, 0);
    }
    if (f->egress != NULL) {
        egress_go_on(f->egress);
        fetches_serve(run, NULL, 0, clock_now_us());
    }
    return CALLS_TAKEN;
}

static void take_close(struct vial_run *run, uint32_t stream)
{
    static const char why[] = "the request was cancelled";
    struct fetch *f = find(run->calls.fetches, stream);
    struct egress_report report;

    if (f == NULL) {
        return;
    }
    if (f->waiting_id != 0) {
        egress_report_init(&report);
        egress_report_fail(&report, VIAL_CALL_CANCELLED, "AbortError", "abort", "%s", why);
        send_error(run->calls.fetches, f->waiting_id, &report);
        egress_report_release(&report);
    }
    answer_piece(f, 1);
    unlist(f);
    if (f->egress != NULL) {
        egress_cancel(f->egress, why);
    } else if (f->state == FETCH_QUEUED) {
        egress_report_fail(&f->report, VIAL_CALL_CANCELLED, "AbortError", "abort", "%s", why);
    }
    if (f->state != FETCH_ENDED) {
        note_end(f);
    }
    fetch_free(f);
    if (start_next(run->calls.fetches)) {
        fetches_serve(run, NULL, 0, clock_now_us());
    }
}

enum calls_taken fetches_take(
    struct vial_run *run, const struct call_head *head, const char *bytes, size_t len)
{
    struct fetches *o = run->calls.fetches;
    struct fetch_ask ask = {.op = FETCH_OPEN};
    uint64_t size = 0;
    int is_large = head->kind == CALL_LARGE && len == sizeof(size);

    if (!is_large) {
        if (head->kind != CALL_BYTES || len < sizeof(ask)) {
            return CALLS_NONSENSE;
        }
        memcpy(&ask, bytes, sizeof(ask));
        bytes += sizeof(ask);
        len -= sizeof(ask);
        if (ask.op > FETCH_SEND || ask.head_len > len ||
            (ask.flags & ~(uint32_t)(ask.op == FETCH_OPEN   ? FETCH_STREAMED
                                     : ask.op == FETCH_SEND ? FETCH_END
                                                            : 0)) != 0 ||
            (ask.op == FETCH_SEND && ask.head_len != 0) || ask.head_len > FETCH_HEAD_BYTES_MAX) {
            return CALLS_NONSENSE;
        }
    }
    if (o == NULL) { /* a session that had a network in an earlier program */
        calls_answer(run, head->id, ANSWER_ERROR, NO_NETWORK, sizeof(NO_NETWORK) - 1);
        return CALLS_TAKEN;
    }
    o->asked_count += ask.op == FETCH_OPEN;
    if (ask.op == FETCH_OPEN) {
        take_open(run, head->id, is_large ? NULL : &ask, bytes, len);
    } else if (ask.op == FETCH_READ) {
        take_read(run, head->id, ask.stream);
    } else if (ask.op == FETCH_SEND) {
        return take_send(run, head->id, &ask, bytes, len);
    } else {
        take_close(run, ask.stream);
    }
    return o->asked_count / FLOOD_FACTOR > run->limits.requests_max ? CALLS_FLOOD : CALLS_TAKEN;
}

void fetches_end(struct vial_run *run)
{
    static const char why[] = "the run was over before the answer came";
    struct fetches *o = run->calls.fetches;
    struct fetch *f;

    if (o == NULL || o->is_over) {
        return;
    }
    o->is_over = 1;
    while ((f = o->first) != NULL) {
        if (f->egress != NULL) {
            egress_cancel(f->egress, why);
        } else if (f->state == FETCH_QUEUED) {
            egress_report_fail(&f->report, VIAL_CALL_CANCELLED, "AbortError", "abort", "%s", why);
        }
        if (f->state != FETCH_ENDED) {
            note_end(f);
        }
        o->first = f->next;
        fetch_free(f);
    }
    o->pending_count = 0;
    egress_net_free(o->net);
    o->net = NULL;
}
