/* server_start.c - starting a server, ending it, and what is done now and then between. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "http/callback.h"
#include "http/compat.h"
#include "http/envs.h"
#include "http/listen.h"
#include "http/log.h"
#include "http/run.h"
#include "http/server_inside.h"
#include "http/sessions.h"

enum {
    SIDE_THREADS =
        4, /* for the disk: SQLite writes one at a time anyway, the rest is for readers */
    SIDE_QUEUE_MAX = 1024,
    SIDE_US = 60000000, /* between two rounds of cleaning */
    DAY_US = 86400ULL * 1000000ULL,
    RETAIN_ROUNDS_MAX = 100,
    CELL_MARGIN = 8,
};

static const char INTERRUPTED[] =
    "{\"status\":\"cancelled\",\"cancel_reason\":\"server_ended\",\"error\":{\"name\":"
    "\"Cancelled\","
    "\"message\":\"the server ended before the run did\"},\"stdout\":\"\",\"stderr\":\"\"}";

static void restore_usage(const char *key, uint64_t then_us, uint64_t cpu_us, void *user)
{
    struct server *server = user;
    struct caller caller = {.quota = QUOTA_DEFAULT};
    struct client *client;

    (void)snprintf(caller.id, sizeof(caller.id), "%s", key);
    client = client_get(&server->clients, &caller);
    if (client != NULL) {
        quota_restore(&client->used, id_now_us(), then_us, cpu_us);
    }
}

static int open_stores(
    struct server *server, const struct server_start *start, struct vial_error *err)
{
    const struct http_options *o = server->options;
    struct audit_options audit = {.directory = o->data_dir, .required = (int)o->audit_required};
    size_t interrupted = 0;
    char text[24];
    int r = store_open(o->data_dir, &server->store, err);

    r = r < 0 ? r : key_store_open(o->data_dir, &server->keys, err);
    r = r < 0 ? r : run_store_open(o->data_dir, &server->run_store, err);
    r = r < 0 ? r : outputs_open(o->data_dir, &server->outputs, err);
    if (r == VIAL_OK) {
        outputs_set_limits(server->outputs, o->outputs_run_bytes_max, o->outputs_bytes_max);
        run_store_set_recordings_max(server->run_store, o->recordings_bytes_max);
    }
    r = r < 0 ? r : audit_open(&audit, &server->audit, err);
    r = r < 0 ? r
              : run_store_recover(server->run_store, "cancelled", INTERRUPTED, strlen(INTERRUPTED),
                    id_now_us(), &interrupted, err);
    r = r < 0 ? r : run_store_usage(server->run_store, id_now_us(), restore_usage, server, err);
    if (r == VIAL_OK && start->secret_options != NULL) {
        r = secret_open(start->secret_options, &server->secrets, err);
    }
    if (r == VIAL_OK && interrupted > 0) {
        (void)snprintf(text, sizeof(text), "%zu", interrupted);
        log_say(LOG_WARN, "runs that an earlier server left are cancelled", "count", text, NULL);
    }
    return r;
}

static int start_engine(
    struct server *server, const struct server_start *start, struct vial_error *err)
{
    const struct http_options *o = server->options;
    struct vial_engine_options eo = VIAL_ENGINE_OPTIONS_INIT;
    struct queue_limits limits = {.running_max = o->workers,
        .waiting_max = o->queue_max,
        .waiting_key_max = o->queue_key_max < o->queue_max ? o->queue_key_max : o->queue_max,
        .memory_bytes_max = o->memory_bytes_max};
    int r;

    eo.pool_count = o->pool;
    eo.runs_max = o->workers + CELL_MARGIN;
    eo.sessions_max = o->sessions_max;
    eo.on_secret = start->on_secret;
    eo.secret_user = start->secret_user;
    queue_init(&server->queue, &limits);
    r = vial_engine_new(&eo, &server->engine, err);
    r = r < 0 ? r : jobs_new(o->workers, o->workers, &server->workers, err);
    return r < 0 ? r : jobs_new(SIDE_THREADS, SIDE_QUEUE_MAX, &server->side, err);
}

static int read_pem(const char *path, char **ret, struct vial_error *err)
{
    enum { PEM_BYTES_MAX = 1 << 20 };
    char *text = calloc(1, PEM_BYTES_MAX + 1);
    FILE *file = text != NULL ? fopen(path, "re") : NULL;
    size_t n = file != NULL ? fread(text, 1, PEM_BYTES_MAX, file) : 0;

    if (file != NULL) {
        (void)fclose(file);
    }
    if (n == 0 || n == PEM_BYTES_MAX) {
        free(text);
        return vial__fail(err, VIAL_E_INVALID, "cannot read %s, which is to be a PEM file", path);
    }
    *ret = text;
    return VIAL_OK;
}

static void wipe(char *text)
{
    if (text != NULL) {
        explicit_bzero(text, strlen(text));
    }
    free(text);
}

static int build(struct server *server, const struct server_start *start, struct vial_error *err)
{
    const struct http_options *o = server->options;
    int r = mhd_load(err);

    r = r < 0 ? r : loop_init(&server->loop, err);
    r = r < 0 ? r : counters_init(&server->counters, err);
    r = r < 0 ? r : schemas_init(&server->schemas, err);
    if (r == VIAL_OK && o->tls_certificate != NULL) {
        r = read_pem(o->tls_certificate, &server->tls_certificate, err);
        r = r < 0 ? r : read_pem(o->tls_key, &server->tls_key, err);
    }
    r = r < 0 ? r : open_stores(server, start, err);
    r = r < 0 ? r : runs_new(server, &server->runs, err);
    r = r < 0 ? r : sessions_new(server, &server->sessions, err);
    r = r < 0 ? r : envs_new(server, &server->envs, err);
    r = r < 0 ? r : compat_new(server, &server->compat, err);
    r = r < 0 ? r : start_engine(server, start, err);
    r = r < 0 ? r : callbacks_new(server, &server->callbacks, err);
    return r < 0 ? r : listen_open(server, start->fds, start->fds_count, &SERVER_HANDLERS, err);
}

int server_new(const struct server_start *start, struct server **ret, struct vial_error *err)
{
    struct server *server = calloc(1, sizeof(*server));
    struct audit_record record = {.kind = AUDIT_SERVER, .what = "start"};
    int r;

    if (server == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a server");
    }
    server->options = start->options;
    server->begun_us = clock_now_us();
    server->flush_us = server->begun_us + SIDE_US;
    (void)pthread_mutex_init(&server->store_lock, NULL);
    r = build(server, start, err);
    r = r < 0 ? r : server_record(server, &record, err);
    if (r < 0) {
        server_free(server);
        return r;
    }
    *ret = server;
    return VIAL_OK;
}

void server_stop(struct server *server)
{
    if (server->is_stopping) {
        server->stop_at_us = 0; /* who asks twice does not want to wait */
        server->tick_us = 0;
        return;
    }
    log_say(LOG_INFO, "stopping: no new runs", NULL);
    server->is_stopping = 1;
    server->stop_at_us = clock_now_us() + server->options->grace_s * 1000000ULL;
    listen_quiesce(server);
}

/* Connections that wait are let go, for libmicrohttpd wants none of them when it stops. */
static void wake_all(struct server *server)
{
    struct connection *c;

    for (c = server->connections; c != NULL; c = c->next) {
        if (c->exchange != NULL && c->exchange->is_waiting) {
            (void)shutdown(c->fd, SHUT_RDWR);
            exchange_wake(c->exchange);
        }
    }
}

void server_free(struct server *server)
{
    struct audit_record record = {.kind = AUDIT_SERVER, .what = "stop"};
    uint64_t lost = 0;

    if (server == NULL) {
        return;
    }
    callbacks_free(server->callbacks);
    jobs_free(server->workers);
    jobs_free(server->side); /* what they do belongs to exchanges, which must be there so long */
    server->workers = server->side = NULL;
    if (server->listeners_count > 0) {
        server_step(server, 0); /* what they have posted */
        wake_all(server);
        server_step(server, 0);
        loop_run_later(&server->loop);
        listen_close(server);
    }
    compat_free(server->compat);
    sessions_free(server->sessions);
    runs_free(server->runs);
    envs_free(server->envs);
    vial_engine_free(server->engine);
    secret_free(server->secrets);
    (void)!server_record(server, &record, NULL);
    audit_free(server->audit, &lost);
    if (lost > 0) {
        log_say(LOG_ERROR, "records of the audit could not be written", NULL);
    }
    outputs_free(server->outputs);
    run_store_free(server->run_store);
    key_store_free(server->keys);
    store_free(server->store);
    schemas_release(&server->schemas);
    counters_release(&server->counters);
    clients_release(&server->clients);
    loop_release(&server->loop);
    (void)pthread_mutex_destroy(&server->store_lock);
    wipe(server->tls_certificate);
    wipe(server->tls_key);
    free(server);
}

/* ---- now and then ---- */

struct cleaning {
    struct job job;
    struct server *server;
    uint64_t runs_before, audit_before;
};

static void clean(struct job *job)
{
    struct cleaning *c = (struct cleaning *)job;
    struct server *server = c->server;
    uint64_t removed = 1;
    int i;

    (void)!key_flush(server->keys, NULL);
    for (i = 0; i < RETAIN_ROUNDS_MAX && removed > 0; i++) {
        if (run_store_retain(server->run_store, id_now_us(), c->runs_before, 0, &removed, NULL) <
            0) {
            break;
        }
    }
    outputs_retain(server->outputs, c->runs_before);
    removed = 1;
    for (i = 0; i < RETAIN_ROUNDS_MAX && removed > 0 && c->audit_before > 0; i++) {
        if (audit_retain(server->audit, c->audit_before, 0, &removed, NULL) < 0) {
            break;
        }
    }
    envs_drop(server, NULL, 0);
    free(c);
}

void server_tend(struct server *server, uint64_t now_us)
{
    const struct http_options *o = server->options;
    uint64_t now = id_now_us();
    struct cleaning *c;

    sessions_tick(server, now_us);
    if (now_us < server->flush_us || server->is_stopping) {
        return;
    }
    server->flush_us = now_us + SIDE_US;
    clients_sweep(&server->clients, now);
    c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return;
    }
    c->server = server;
    c->job.work = clean;
    c->runs_before = now - o->runs_days * DAY_US;
    c->audit_before = o->audit_days > 0 ? now - o->audit_days * DAY_US : 0;
    if (jobs_add(server->side, &c->job) < 0) {
        free(c);
    }
}

static int differs(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a != b : strcmp(a, b) != 0;
}

/* The files of the certificate anew, which may have got other names; a server without TLS gets none
 * before it is started again. */
static int renew_certificate(
    struct server *server, const struct http_options *options, struct vial_error *err)
{
    char *certificate = NULL, *key = NULL;
    int r;

    if (server->tls_certificate == NULL || options->tls_certificate == NULL ||
        server->is_stopping) {
        return VIAL_OK;
    }
    r = read_pem(options->tls_certificate, &certificate, err);
    r = r < 0 ? r : read_pem(options->tls_key, &key, err);
    if (r == VIAL_OK && certificate != NULL && key != NULL &&
        strcmp(certificate, server->tls_certificate) == 0 && strcmp(key, server->tls_key) == 0) {
        wipe(certificate);
        wipe(key);
        return VIAL_OK;
    }
    r = r < 0 ? r : listen_renew(server, certificate, key, &SERVER_HANDLERS, err);
    if (r < 0) {
        wipe(certificate);
        wipe(key);
        return r;
    }
    wipe(server->tls_certificate);
    wipe(server->tls_key);
    server->tls_certificate = certificate;
    server->tls_key = key;
    log_say(LOG_INFO, "there is another certificate for new connections", NULL);
    return VIAL_OK;
}

int server_reload(struct server *server, const struct http_options *options, const char **ret_fixed,
    struct vial_error *err)
{
    const struct http_options *o = server->options;
    struct audit_record record = {.kind = AUDIT_SERVER, .what = "reload"};
    struct queue_limits limits = {.running_max = o->workers,
        .waiting_max = options->queue_max,
        .waiting_key_max = options->queue_key_max < options->queue_max ? options->queue_key_max
                                                                       : options->queue_max,
        .memory_bytes_max = options->memory_bytes_max};
    const char *fixed = NULL;
    size_t i;
    int r = renew_certificate(server, options, err);

    if (r < 0) {
        return r;
    }
    fixed = differs(o->data_dir, options->data_dir) ? "data_dir" : fixed;
    fixed = (server->tls_certificate == NULL) != (options->tls_certificate == NULL)
                ? "tls_certificate"
                : fixed;
    fixed = o->workers != options->workers ? "workers" : fixed;
    fixed = o->pool != options->pool ? "pool" : fixed;
    fixed = o->sessions_max != options->sessions_max ? "sessions" : fixed;
    fixed = o->insecure_local != options->insecure_local ? "insecure_local" : fixed;
    fixed = o->listen_count != options->listen_count ? "listen" : fixed;
    for (i = 0; i < o->listen_count && i < options->listen_count; i++) {
        fixed = differs(o->listen[i], options->listen[i]) ? "listen" : fixed;
    }
    server->options = options;
    queue_set_limits(&server->queue, &limits);
    outputs_set_limits(server->outputs, options->outputs_run_bytes_max, options->outputs_bytes_max);
    run_store_set_recordings_max(server->run_store, options->recordings_bytes_max);
    log_setup((enum log_level)options->log_level, -1);
    (void)!server_record(server, &record, NULL);
    if (ret_fixed != NULL) {
        *ret_fixed = fixed;
    }
    return VIAL_OK;
}
