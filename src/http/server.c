/* server.c - see server.h: the way of a request through libmicrohttpd, and the loop around it. */
#include "http/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/trace.h"
#include "http/auth.h"
#include "http/events.h"
#include "http/guard.h"
#include "http/listen.h"
#include "http/log.h"
#include "http/problem.h"
#include "http/router.h"
#include "http/run.h"
#include "http/server_inside.h"
#include "http/sessions.h"

enum {
    TICK_US = 500 * 1000,
    LAST_US = 2 * 1000 * 1000,    /* for answers that are on their way when the server stops */
    DISCARD_BYTES_MAX = 64 << 20, /* of a body that is too large; then the connection is cut */
    ALLOW_BYTES = 64,
};

/* ---- one request ---- */

static struct exchange *exchange_new(
    struct connection *connection, struct MHD_Connection *mhd_connection, const char *method)
{
    struct exchange *x = calloc(1, sizeof(*x));

    if (x != NULL) {
        x->server = connection->server;
        x->connection = connection;
        x->mhd = mhd_connection;
        x->method = method;
        x->begun_us = clock_now_us();
        buf_init(&x->body, connection->server->options->body_bytes_max);
        connection->exchange = x;
    }
    return x;
}

static enum MHD_Result look_at_header(void *user, enum MHD_ValueKind kind, const char *name,
    size_t name_len, const char *value, size_t value_len)
{
    (void)kind;
    guard_header(user, name, name_len, value != NULL ? value : "", value_len);
    return MHD_YES;
}

/* libmicrohttpd keeps what the query says in memory of the connection, and was told to leave it as
 * it came: the decoded text takes its place. */
static enum MHD_Result decode_argument(void *user, enum MHD_ValueKind kind, const char *name,
    size_t name_len, const char *value, size_t value_len)
{
    int *is_bad = user;

    (void)kind;
    (void)name;
    (void)name_len;
    (void)value_len;
    *is_bad |= value != NULL && guard_decode((char *)(uintptr_t)value) < 0;
    return MHD_YES;
}

/* 0, or -1 with an answer. */
static int check_head(struct exchange *x, const char *version)
{
    const union MHD_ConnectionInfo *info =
        mhd->get_connection_info(x->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const char *uri = x->connection->uri != NULL ? x->connection->uri : "";
    struct guard guard = {.count = 0};
    const char *fault, *length, *trace;
    int is_bad = 0;

    (void)mhd->get_connection_values_n(x->mhd, MHD_HEADER_KIND, look_at_header, &guard);
    fault = guard_finish(&guard, x->method, uri, version, info != NULL ? info->header_size : 0);
    (void)mhd->get_connection_values_n(x->mhd, MHD_GET_ARGUMENT_KIND, decode_argument, &is_bad);
    if (fault == NULL && is_bad) {
        fault = "a value of the query is not UTF-8 in percent-encoding, or has a control character";
    }
    if (fault != NULL) {
        answer_problem(x, PROBLEM_MALFORMED, "%s", fault);
        return -1;
    }
    if (!guard_knows_method(x->method)) {
        answer_problem(x, PROBLEM_METHOD_UNKNOWN, "there is no such method");
        return -1;
    }
    length = exchange_header(x, "Content-Length");
    if (length != NULL && strtoull(length, NULL, 10) > x->server->options->body_bytes_max) {
        answer_problem(x, PROBLEM_TOO_LARGE, "a body may have up to %llu bytes",
            (unsigned long long)x->server->options->body_bytes_max);
        return -1;
    }
    trace = exchange_header(x, "traceparent");
    if (trace != NULL && trace_is_valid(trace)) {
        (void)snprintf(x->traceparent, sizeof(x->traceparent), "%s", trace);
    }
    return 0;
}

/* 0, or -1 with an answer. */
static int find_route(struct exchange *x)
{
    char allow[ALLOW_BYTES];
    int is_bad = 0;

    x->path = strdup(x->connection->uri);
    if (x->path == NULL) {
        return -1;
    }
    x->path[strcspn(x->path, "?")] = '\0';
    x->cut = strdup(x->path);
    if (x->cut == NULL) {
        return -1;
    }
    x->route = router_find(x->method, x->path, x->cut, x->params, allow, sizeof(allow), &is_bad);
    if (x->route != NULL) {
        return 0;
    }
    if (is_bad) {
        answer_problem(x, PROBLEM_MALFORMED, "a part of the path cannot be decoded");
    } else if (allow[0] != '\0') {
        answer_header(x, "Allow", "%s", allow);
        answer_problem(x, PROBLEM_METHOD, "this path takes %s", allow);
    } else {
        answer_problem(x, PROBLEM_NOT_FOUND,
            "there is nothing at this path; /v1/openapi.json has "
            "all that there is");
    }
    return -1;
}

/* Hands the answer to libmicrohttpd. */
static enum MHD_Result queue_answer(struct exchange *x)
{
    static char nothing[1];
    struct answer *a = &x->answer;
    struct MHD_Response *response;
    enum MHD_Result r;
    size_t i;

    if (x->stream != NULL) {
        a->status = 200;
        return stream_queue(x);
    }
    response = mhd->create_response_from_buffer(a->bytes != NULL ? a->len : 0,
        a->bytes != NULL ? a->bytes : nothing, a->bytes != NULL ? free : leave_alone);
    if (response == NULL) {
        return MHD_NO;
    }
    a->bytes = NULL; /* the response's from here on */
    if (a->type != NULL) {
        (void)mhd->add_response_header(response, "Content-Type", a->type);
    }
    (void)mhd->add_response_header(response, "Cache-Control", "no-store");
    (void)mhd->add_response_header(response, "X-Content-Type-Options", "nosniff");
    for (i = 0; i < a->headers_count; i++) {
        (void)mhd->add_response_header(response, a->headers[i].name, a->headers[i].value);
    }
    r = mhd->queue_response(x->mhd, a->status, response);
    mhd->destroy_response(response);
    return r;
}

/* The body is JSON as its schema wants it: 0, or -1 with an answer. */
static int check_body(struct exchange *x)
{
    struct vial_error err;
    struct buf report;
    const char *type = exchange_header(x, "Content-Type");
    int r;

    if (x->route->body == NULL || (x->route->flags & ROUTE_ANY_BODY) != 0) {
        return 0;
    }
    if (type != NULL && strncasecmp(type, "application/json", 16) != 0) {
        answer_problem(x, PROBLEM_MEDIA_TYPE, "send application/json");
        return -1;
    }
    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    r = body_check(
        x, x->route->body, x->body.len > 0 ? x->body.data : "", x->body.len, &report, &err);
    buf_release(&report);
    return r;
}

int body_check(struct exchange *x, const char *schema, const char *json, size_t len,
    struct buf *report, struct vial_error *err)
{
    int r = schemas_check(&x->server->schemas, schema, json, len, report, err);

    if (r == 0) {
        return 0;
    }
    if (r < 0) {
        answer_problem(
            x, err->code == VIAL_E_INVALID ? PROBLEM_BAD_JSON : PROBLEM_INTERNAL, "%s", err->text);
    } else {
        answer_problems(x, PROBLEM_INVALID,
            "the body is not what this takes; errors has each place", report->data, report->len);
    }
    return -1;
}

/* ---- handlers that block ---- */

struct side_job {
    struct job job;
    struct loop_post post;
    struct exchange *x;
    void (*fn)(struct exchange *x);
};

static void side_done(struct loop_post *post)
{
    struct side_job *s = (struct side_job *)((char *)post - offsetof(struct side_job, post));

    exchange_wake(s->x);
    free(s);
}

static void side_work(struct job *job)
{
    struct side_job *s = (struct side_job *)job;

    s->fn(s->x);
    s->post.run = side_done;
    loop_post(&s->x->server->loop, &s->post);
}

int exchange_aside(struct exchange *x, void (*fn)(struct exchange *x))
{
    struct side_job *s = calloc(1, sizeof(*s));

    if (s != NULL) {
        s->x = x;
        s->fn = fn;
        s->job.work = side_work;
        exchange_wait(x);
        if (jobs_add(x->server->side, &s->job) == 0) {
            return 0;
        }
        free(s);
        exchange_wake(x);
    }
    answer_problem(x, PROBLEM_OVERLOADED, "too many requests wait for the disk");
    return -1;
}

static void dispatch(struct exchange *x)
{
    x->is_dispatched = 1;
    if (x->is_too_large) {
        answer_problem(x, PROBLEM_TOO_LARGE, "a body may have up to %llu bytes",
            (unsigned long long)x->server->options->body_bytes_max);
    } else if (check_body(x) == 0) {
        if ((x->route->flags & ROUTE_WORKS) != 0) {
            (void)exchange_aside(x, x->route->handle);
        } else {
            x->route->handle(x);
        }
    }
}

/* ---- what libmicrohttpd calls ---- */

static enum MHD_Result take_body(struct exchange *x, const char *bytes, size_t *len)
{
    if (x->is_too_large || buf_add(&x->body, bytes, *len, NULL) < 0) {
        x->is_too_large = 1;
        buf_release(&x->body);
        x->discarded += *len;
        if (x->discarded > DISCARD_BYTES_MAX) {
            return MHD_NO;
        }
    }
    *len = 0;
    return MHD_YES;
}

static enum MHD_Result begin(struct exchange *x, const char *version)
{
    x->connection->begun_us = x->begun_us;
    if (check_head(x, version) < 0 || find_route(x) < 0 || auth_check(x) < 0) {
        return x->answer.status != 0 ? queue_answer(x) : MHD_NO;
    }
    return MHD_YES;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *upload, size_t *upload_len, void **state)
{
    const union MHD_ConnectionInfo *info =
        mhd->get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct connection *c = info != NULL ? info->socket_context : NULL;
    struct exchange *x = *state;

    (void)user;
    (void)url;
    if (c == NULL) {
        return MHD_NO;
    }
    if (x == NULL) {
        x = exchange_new(c, connection, method);
        *state = x;
        return x != NULL ? begin(x, version) : MHD_NO;
    }
    if (*upload_len > 0) {
        return take_body(x, upload, upload_len);
    }
    if (!x->is_dispatched) {
        c->begun_us = 0; /* all of it is there */
        dispatch(x);
        if (c->is_gone && x->is_waiting && x->on_gone != NULL) {
            x->on_gone(x);
        }
    }
    if (x->is_waiting) {
        return MHD_YES;
    }
    return x->answer.status != 0 || x->stream != NULL ? queue_answer(x) : MHD_NO;
}

static void on_completed(void *user, struct MHD_Connection *connection, void **state,
    enum MHD_RequestTerminationCode how)
{
    struct exchange *x = *state;

    (void)user;
    (void)connection;
    if (x == NULL) {
        return;
    }
    counters_request(&x->server->counters, x->route != NULL ? x->route->path : "none",
        x->answer.status, clock_now_us() - x->begun_us);
    log_say(LOG_DEBUG, "request", "method", x->method, "route",
        x->route != NULL ? x->route->path : NULL, "key", x->caller.id, "trace",
        x->traceparent[0] != '\0' ? x->traceparent : NULL, "ended",
        how == MHD_REQUEST_TERMINATED_COMPLETED_OK ? "ok" : "broken", NULL);
    stream_close(x);
    x->connection->exchange = NULL;
    x->connection->begun_us = 0;
    free(x->connection->uri);
    x->connection->uri = NULL;
    answer_release(&x->answer);
    buf_release(&x->body);
    free(x->path);
    free(x->cut);
    free(x);
    *state = NULL;
}

/* The other side has shut down: nobody is there to read an answer. */
static void on_hangup(struct loop_source *source, uint32_t events)
{
    struct connection *c = (struct connection *)source;

    (void)events;
    c->is_gone = 1;
    if (c->exchange != NULL && c->exchange->is_waiting && c->exchange->on_gone != NULL) {
        c->exchange->on_gone(c->exchange);
    }
}

static void open_connection(struct listener *l, struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info =
        mhd->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct connection *c = calloc(1, sizeof(*c));
    struct server *server = l->server;

    if (c == NULL || info == NULL) {
        free(c);
        return;
    }
    c->source.ready = on_hangup;
    c->server = server;
    c->fd = info->connect_fd;
    c->is_unix = l->is_unix;
    c->is_trusted = l->is_unix ? server->options->unix_trust && auth_is_same_user(c->fd)
                               : server->options->insecure_local && l->is_loopback;
    c->next = server->connections;
    if (c->next != NULL) {
        c->next->previous = c;
    }
    server->connections = c;
    server->connections_count++;
    (void)loop_watch(&server->loop, c->fd, EPOLLRDHUP | EPOLLET, &c->source);
    *context = c;
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode what)
{
    struct connection *c;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        open_connection(user, connection, context);
        return;
    }
    c = *context;
    if (c != NULL) {
        *(c->previous != NULL ? &c->previous->next : &c->server->connections) = c->next;
        if (c->next != NULL) {
            c->next->previous = c->previous;
        }
        c->server->connections_count--;
        loop_forget(&c->server->loop, c->fd);
        free(c->uri);
        free(c);
        *context = NULL;
    }
}

/* The first line of a request is there: the target as it came. */
static void *on_uri(void *user, const char *uri, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        mhd->get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct connection *c = info != NULL ? info->socket_context : NULL;

    (void)user;
    if (c != NULL) {
        free(c->uri);
        c->uri = strdup(uri);
        c->begun_us = clock_now_us();
    }
    return NULL;
}

const struct listen_handlers SERVER_HANDLERS = {
    .request = on_request, .completed = on_completed, .connection = on_connection, .uri = on_uri};

/* ---- the loop ---- */

/* Requests that take too long to arrive are cut: their sender holds a place. */
static void cut_slow(struct server *server, uint64_t now)
{
    uint64_t max = server->options->receive_s * 1000000ULL;
    struct connection *c;

    for (c = server->connections; c != NULL; c = c->next) {
        if (c->begun_us != 0 && now - c->begun_us > max &&
            (c->exchange == NULL || !c->exchange->is_dispatched)) {
            (void)shutdown(c->fd, SHUT_RDWR);
        }
    }
}

static void cancel_one(struct run *run, void *user)
{
    (void)user;
    run_cancel(run, "server_stopping");
}

static void tick(struct server *server)
{
    uint64_t now = clock_now_us();

    if (now < server->tick_us) {
        return;
    }
    server->tick_us = now + TICK_US;
    cut_slow(server, now);
    runs_tick(server, now);
    server_tend(server, now);
    if (server->is_stopping && now >= server->stop_at_us && !server->is_cancelled) {
        server->is_cancelled = 1;
        log_say(LOG_WARN, "the grace time is over; what runs is cancelled", NULL);
        runs_each_live(server, cancel_one, NULL);
    }
}

/* How long nothing will happen by itself. */
static int wait_ms(struct server *server)
{
    uint64_t now = clock_now_us();
    uint64_t next =
        runs_deadline_us(server) < server->tick_us ? runs_deadline_us(server) : server->tick_us;

    return (int)listen_wait_ms(server, next > now ? (next - now) / 1000 + 1 : 0);
}

void server_step(struct server *server, int timeout_ms)
{
    int ms = wait_ms(server);

    loop_step(&server->loop, timeout_ms >= 0 && timeout_ms < ms ? timeout_ms : ms);
    listen_run(server);
    runs_relieve(server, clock_now_us());
    if (server->has_unwritten && runs_deadline_us(server) == UINT64_MAX &&
        server->loop.later == NULL) { /* nobody waits for what the loop does now */
        server->has_unwritten = 0;
        if (server->audit != NULL) {
            audit_nudge(server->audit);
        }
    }
    tick(server);
}

static int is_over(const struct server *server)
{
    const struct connection *c;

    if (!server->is_stopping || runs_live_count(server) > 0) {
        return 0;
    }
    for (c = server->connections; c != NULL; c = c->next) {
        if (c->exchange != NULL && clock_now_us() < server->stop_at_us + LAST_US) {
            return 0; /* its answer is on the way */
        }
    }
    return 1;
}

void server_serve(struct server *server)
{
    while (!is_over(server)) {
        server_step(server, -1);
    }
    runs_flush(server);
}

int server_watch(struct server *server, int fd, struct loop_source *source)
{
    return loop_watch(&server->loop, fd, EPOLLIN, source);
}

int server_record(struct server *server, const struct audit_record *record, struct vial_error *err)
{
    if (server->audit == NULL) {
        return VIAL_OK;
    }
    return audit_add(server->audit, record, NULL, err);
}

void leave_alone(void *bytes)
{
    (void)bytes;
}
