/* fetch.c - see fetch.h.
 *
 * Three locks, always taken in this order: that of the requests of a run, that of all calls of the
 * engine, that of the pool of threads. A request is in the run's list until the cell has all of its
 * answer; a thread that works on it, or will, keeps the list alive by a reference. */
#include "host/fetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "host/call.h"
#include "host/egress.h"
#include "host/env.h"
#include "host/secrets.h"
#include "host/workers.h"
#include "policy/net_rules.h"
#include "wire/fetch.h"

enum {
    FLOOD_FACTOR = 16, /* a program that goes on asking past so many times its limit is ended */
    /* Requests whose answers are not read do not stand in the way of others, up to so many times
     * the limit: programs begin many, and read the answers when all of them are there. */
    STALLED_FACTOR = 4,
    DOWN_BYTES_MAX = 8 * FETCH_PIECE_BYTES, /* what is taken at once may be a little more */
    ANSWER_EARLY_BYTES = FETCH_PIECE_BYTES / 2,
    REQUEST_JSON_BYTES_MAX = 65536,
    ERROR_BYTES_MAX = 8192,
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
    int is_listed;       /* else whoever works on it frees it */
    int is_head_sent, has_head;
    int is_stalled; /* there is no room for more of its answer until the program reads */
    int cancelled;  /* atomic */
    struct egress_ask ask;
    char *body;
    size_t body_len;
    struct egress_handles *handles; /* while it is being made */
    struct buf head, down;
    struct egress_report report;
};

struct fetches {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something was read, cancelled, or a thread has left */
    int references;         /* the run, and threads that work on requests or will */
    struct vial_run *run;   /* NULL: it is over */
    int is_ending;          /* nothing new is begun */
    struct vial_engine *engine;
    struct net_policy own;
    const struct net_policy *policy;
    struct vial_limits limits;
    struct fetch *first;
    unsigned busy_count;    /* threads at work */
    unsigned pending_count; /* atomic: calls that wait for an answer */
    uint64_t asked_count;   /* by the cell */
    uint32_t made_count;    /* that went out, or tried to */
    struct egress_handles *idle;
};

/* ---- life ---- */

static void fetch_free(struct fetch *f)
{
    egress_ask_release(&f->ask);
    egress_report_release(&f->report);
    free(f->body);
    buf_release(&f->head);
    buf_release(&f->down);
    free(f);
}

/* With the lock held, which is let go of. */
static void unref_locked(struct fetches *o)
{
    struct egress_handles *h;
    int left = --o->references;

    (void)pthread_mutex_unlock(&o->lock);
    if (left > 0) {
        return;
    }
    while ((h = o->idle) != NULL) {
        o->idle = h->next;
        egress_handles_free(h);
    }
    net_policy_release(&o->own);
    (void)pthread_cond_destroy(&o->changed);
    (void)pthread_mutex_destroy(&o->lock);
    free(o);
}

/* The rules that hold by the permissions of all levels; *ret stays NULL when there is no network.
 * Later levels can take all of it away, and give it only where there is no environment. */
static int find_policy(const struct vial_run *run, const struct vial_env *env,
    const struct net_policy **ret, struct vial_error *err)
{
    const struct net_policy *found = env != NULL ? &env->document->permissions->net : NULL;
    const struct permission *p;
    unsigned i;

    for (i = PERMISSION_SESSION; i < PERMISSION_LEVELS; i++) {
        p = run->permit.chain.levels[i];
        if (p == NULL || p->scopes[SCOPE_NET].word == RULES_UNSAID) {
            continue;
        }
        if (p->scopes[SCOPE_NET].word == RULES_LIST && found != NULL) {
            return vial__fail(err, VIAL_E_INVALID,
                "the network of an environment or a session can be taken away with \"net\": "
                "\"deny\", not divided by further rules");
        }
        if (p->scopes[SCOPE_NET].word == RULES_DENY) {
            return VIAL_OK;
        }
        found = found != NULL || env != NULL ? found : &p->net;
    }
    *ret = found != NULL && found->count > 0 ? found : NULL;
    return VIAL_OK;
}

int fetches_open(struct vial_run *run, const struct vial_env *env, struct vial_error *err)
{
    const struct vial_request *q = &run->request;
    const struct net_policy *given = NULL;
    struct net_policy own = {.rules = NULL};
    pthread_condattr_t attributes;
    struct fetches *o;
    int r;

    if (env != NULL && q->net != NULL) {
        return vial__fail(err, VIAL_E_INVALID,
            "what a run in the environment %s may ask of the network is the environment's",
            env->document->name);
    }
    if (q->net != NULL) {
        r = net_policy_parse(q->net, q->net_len, &own, err);
        if (r < 0) {
            return r;
        }
    }
    r = find_policy(run, env, &given, err);
    if (r < 0 || (own.count == 0 && given == NULL)) {
        net_policy_release(&own);
        return r;
    }
    o = calloc(1, sizeof(*o));
    if (o == NULL) {
        net_policy_release(&own);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the network of a run");
    }
    (void)pthread_mutex_init(&o->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&o->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    o->references = 1;
    o->run = run;
    o->own = own;
    o->policy = own.count > 0 ? &o->own : given;
    o->limits = run->limits;
    o->engine = run->engine;
    run->calls.fetches = o;
    return VIAL_OK;
}

void fetches_close(struct vial_run *run)
{
    if (run->calls.fetches != NULL) {
        (void)pthread_mutex_lock(&run->calls.fetches->lock);
        run->calls.fetches->run = NULL;
        unref_locked(run->calls.fetches);
        run->calls.fetches = NULL;
    }
}

int fetches_are_pending(const struct vial_run *run)
{
    return run->calls.fetches != NULL &&
           __atomic_load_n(&run->calls.fetches->pending_count, __ATOMIC_RELAXED) > 0;
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

/* ---- answers; with the lock held ---- */

static void set_waiting(struct fetch *f, uint32_t id)
{
    if ((f->waiting_id != 0) != (id != 0)) {
        (void)__atomic_add_fetch(
            &f->owner->pending_count, id != 0 ? 1U : (unsigned)-1, __ATOMIC_RELAXED);
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

    if (o->run == NULL) {
        return;
    }
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

    if (f->owner->run == NULL) {
        return;
    }
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
    f->is_listed = 0;
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

    if (run == NULL) {
        return;
    }
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

/* ---- what egress tells, in the thread of the request ---- */

static int on_count(void *user)
{
    struct fetches *o = ((struct fetch *)user)->owner;
    int fine;

    (void)pthread_mutex_lock(&o->lock);
    fine = o->made_count < o->limits.requests_max;
    o->made_count += (uint32_t)fine;
    (void)pthread_mutex_unlock(&o->lock);
    return fine;
}

static void on_head(void *user, const char *json, size_t len)
{
    struct fetch *f = user;

    (void)pthread_mutex_lock(&f->owner->lock);
    f->has_head = buf_add(&f->head, json, len, NULL) == 0;
    (void)pthread_mutex_unlock(&f->owner->lock);
}

static void start_next(struct fetches *o);

/* With the lock held: waits until the program has read some of what there is; -1 when it is too
 * late for that. */
static int wait_for_room(struct fetch *f, uint64_t until_us)
{
    struct timespec until = {
        .tv_sec = (time_t)(until_us / 1000000), .tv_nsec = (long)(until_us % 1000000) * 1000};
    int r = 0;

    (void)serve(f, 1);
    while (f->down.len >= FETCH_PIECE_BYTES && r == 0) {
        if (!f->is_stalled) {
            f->is_stalled = 1;
            start_next(f->owner);
        }
        r = pthread_cond_timedwait(&f->owner->changed, &f->owner->lock, &until);
        r = __atomic_load_n(&f->cancelled, __ATOMIC_ACQUIRE) != 0 ? -1 : r;
    }
    f->is_stalled = 0;
    return r == 0 ? 0 : -1;
}

static int on_body(void *user, const char *bytes, size_t len, uint64_t until_us)
{
    struct fetch *f = user;
    int r = 0;

    (void)pthread_mutex_lock(&f->owner->lock);
    if (f->down.len >= FETCH_PIECE_BYTES) {
        r = wait_for_room(f, until_us);
    }
    r = r < 0 ? r : buf_add(&f->down, bytes, len, NULL);
    (void)pthread_mutex_unlock(&f->owner->lock);
    return r;
}

static void on_turn(void *user, int idle)
{
    struct fetch *f = user;

    (void)pthread_mutex_lock(&f->owner->lock);
    (void)serve(f, idle);
    (void)pthread_mutex_unlock(&f->owner->lock);
}

/* ---- threads ---- */

/* Handles with the connections of earlier requests, or new ones. With the lock held. */
static int take_handles(struct fetch *f, struct vial_error *err)
{
    struct fetches *o = f->owner;
    struct egress_handles *h = o->idle;

    if (h != NULL) {
        o->idle = h->next;
        f->handles = h;
        return 0;
    }
    return egress_handles_new(&f->handles, err);
}

/* The end of a request, with the lock held. */
static void finish(struct fetch *f)
{
    struct fetches *o = f->owner;

    f->state = FETCH_ENDED;
    f->is_stalled = 0;
    if (f->handles != NULL) {
        f->handles->next = o->idle;
        o->idle = f->handles;
        f->handles = NULL;
    }
    note_end(f);
    if (f->is_listed && serve(f, 1)) {
        unlist(f);
    }
    if (!f->is_listed) {
        fetch_free(f);
    }
}

static void make(struct fetch *f)
{
    struct fetches *o = f->owner;
    const struct egress_events events = {
        .user = f, .count = on_count, .head = on_head, .body = on_body, .turn = on_turn};
    const struct egress_job job = {.policy = o->policy,
        .limits = &o->limits,
        .secret = secrets_lookup,
        .secret_user = o->engine,
        .ask = &f->ask,
        .body = f->body,
        .body_len = f->body_len,
        .cancelled = &f->cancelled,
        .events = &events};

    egress_run(&job, f->handles, &f->report);
}

/* In a thread of the pool. */
static void work(void *user)
{
    struct fetch *f = user;
    struct fetches *o = f->owner;
    struct vial_error err = {.code = 0};

    (void)pthread_mutex_lock(&o->lock);
    if (o->run == NULL || o->is_ending || !f->is_listed) { /* it was over before it began */
        if (f->is_listed) {
            f->state = FETCH_QUEUED; /* and who ends the run frees it */
        } else {
            fetch_free(f);
        }
        unref_locked(o);
        return;
    }
    o->busy_count++;
    if (take_handles(f, &err) < 0) {
        egress_report_fail(&f->report, VIAL_CALL_FAILED, "NetworkError", "host", "%s", err.text);
    } else {
        (void)pthread_mutex_unlock(&o->lock);
        make(f);
        (void)pthread_mutex_lock(&o->lock);
    }
    finish(f);
    start_next(o);
    o->busy_count--;
    (void)pthread_cond_broadcast(&o->changed);
    unref_locked(o);
}

static void drop(void *user)
{
    struct fetch *f = user;
    struct fetches *o = f->owner;

    (void)pthread_mutex_lock(&o->lock);
    if (!f->is_listed) {
        fetch_free(f);
    }
    unref_locked(o);
}

/* Has the thread that makes it look up. */
static void cancel(struct fetch *f)
{
    __atomic_store_n(&f->cancelled, 1, __ATOMIC_RELEASE);
    if (f->handles != NULL) {
        (void)f->handles->lib->multi_wakeup(f->handles->multi);
    }
    (void)pthread_cond_broadcast(&f->owner->changed);
}

static void fail_now(struct fetch *f, const char *code, const char *why)
{
    egress_report_fail(&f->report, VIAL_CALL_LIMIT, "LimitError", code, "%s", why);
    finish(f);
}

/* Starts what may be started; with the lock held. */
static void start_next(struct fetches *o)
{
    unsigned active = 0, begun = 0;
    struct vial_error err = {.code = 0};
    struct workers *workers;
    struct fetch *f, *next;

    if (o->run == NULL || o->is_ending) {
        return;
    }
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
            fail_now(f, "requests_at_once_max",
                "too many answers are not read; read or cancel the bodies of earlier ones first");
            continue;
        }
        workers = calls_workers(&o->run->engine->calls, &err);
        f->state = FETCH_STARTED;
        o->references++;
        active++;
        begun++;
        if (workers == NULL || workers_run(workers, work, drop, f, &err) < 0) {
            o->references--;
            fail_now(f, "host", err.text);
        }
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
    f->is_listed = 1;
    f->ask.method = NET_METHOD_NONE;
    buf_init(&f->head, FETCH_HEAD_BYTES_MAX);
    buf_init(&f->down, DOWN_BYTES_MAX);
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
        finish(f);
    } else {
        start_next(o);
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
    if (serve(f, 1)) {
        unlist(f);
        fetch_free(f);
    } else {
        (void)pthread_cond_broadcast(&o->changed);
    }
}

static void take_close(struct vial_run *run, uint32_t stream)
{
    struct fetch *f = find(run->calls.fetches, stream);
    struct egress_report report;
    int state;

    if (f == NULL) {
        return;
    }
    state = f->state;
    if (f->waiting_id != 0) {
        egress_report_init(&report);
        egress_report_fail(
            &report, VIAL_CALL_CANCELLED, "AbortError", "abort", "the request was cancelled");
        send_error(run->calls.fetches, f->waiting_id, &report);
        egress_report_release(&report);
    }
    unlist(f);
    if (state == FETCH_STARTED) { /* its thread frees it */
        cancel(f);
        return;
    }
    if (state == FETCH_QUEUED) {
        egress_report_fail(
            &f->report, VIAL_CALL_CANCELLED, "AbortError", "abort", "the request was cancelled");
        note_end(f);
    }
    fetch_free(f);
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
        if (ask.op > FETCH_CLOSE || ask.zero != 0 || ask.head_len > len ||
            ask.head_len > FETCH_HEAD_BYTES_MAX) {
            return CALLS_NONSENSE;
        }
    }
    if (o == NULL) { /* a session that had a network in an earlier program */
        calls_answer(run, head->id, ANSWER_ERROR, NO_NETWORK, sizeof(NO_NETWORK) - 1);
        return CALLS_TAKEN;
    }
    (void)pthread_mutex_lock(&o->lock);
    o->asked_count += ask.op == FETCH_OPEN;
    if (ask.op == FETCH_OPEN) {
        take_open(run, head->id, is_large ? NULL : &ask, bytes, len);
    } else if (ask.op == FETCH_READ) {
        take_read(run, head->id, ask.stream);
    } else {
        take_close(run, ask.stream);
    }
    size = o->asked_count;
    (void)pthread_mutex_unlock(&o->lock);
    return size / FLOOD_FACTOR > run->limits.requests_max ? CALLS_FLOOD : CALLS_TAKEN;
}

void fetches_end(struct vial_run *run)
{
    struct fetches *o = run->calls.fetches;
    struct fetch *f;

    if (o == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&o->lock);
    o->is_ending = 1;
    for (f = o->first; f != NULL; f = f->next) {
        set_waiting(f, 0);
        cancel(f);
    }
    while (o->busy_count > 0) {
        (void)pthread_cond_wait(&o->changed, &o->lock);
    }
    while ((f = o->first) != NULL) {
        int is_begun = f->state == FETCH_STARTED; /* a thread will look at it, and free it */

        if (f->state != FETCH_ENDED) {
            egress_report_fail(&f->report, VIAL_CALL_CANCELLED, "AbortError", "abort",
                "the run was over before the answer came");
            note_end(f);
        }
        o->first = f->next;
        f->is_listed = 0;
        if (!is_begun) {
            fetch_free(f);
        }
    }
    o->run = NULL;
    (void)pthread_mutex_unlock(&o->lock);
}
