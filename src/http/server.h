/* server.h - the server: one thread with one loop for all of HTTP, threads for programs and for the
 * disk, and what they share.
 *
 *     server_new -> server_serve (until server_stop has taken effect) -> server_free
 *
 * Everything here belongs to the loop unless it is said otherwise. */
#ifndef VIAL_HTTP_SERVER_H
#define VIAL_HTTP_SERVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "http/clients.h"
#include "http/counters.h"
#include "http/exchange.h"
#include "http/jobs.h"
#include "http/loop.h"
#include "http/options.h"
#include "http/schemas.h"
#include "policy/queue.h"
#include "store/audit.h"
#include "store/key.h"
#include "store/outputs.h"
#include "store/run_store.h"
#include "store/secret.h"
#include "store/store.h"
#include "vial.h"

struct runs;
struct sessions;
struct envs;
struct compat;
struct callbacks;

/* A listening socket with a daemon of libmicrohttpd behind it. */
struct listener {
    struct loop_source source;
    struct server *server;
    struct MHD_Daemon *daemon;
    int fd, daemon_fd; /* and the same socket, as the daemon has it */
    int is_unix, is_loopback;
    char *address;
};

/* A daemon that takes no new connections any more: those that it has go on with the certificate
 * that they began with. */
struct retired {
    struct loop_source source;
    struct MHD_Daemon *daemon; /* NULL: a free place */
};

/* Certificates that are replaced faster than connections end; each has as many as there may be. */
enum { RETIRED_MAX = 8 };

struct server {
    const struct http_options *options; /* replaced as a whole when they are read anew */
    struct loop loop;
    struct listener listeners[LISTEN_MAX];
    size_t listeners_count;
    struct retired retired[RETIRED_MAX];
    struct connection *connections;
    size_t connections_count;
    struct vial_engine *engine;
    struct jobs *workers; /* for programs */
    struct jobs *side;    /* for the disk */
    struct queue queue;   /* whose program is next */
    struct clients clients;
    struct counters counters;
    struct schemas schemas;
    pthread_mutex_t store_lock; /* of store */
    struct store *store;
    struct key_store *keys;
    struct audit *audit;
    struct run_store *run_store;
    struct outputs *outputs;
    struct secret_store *secrets;
    struct runs *runs;
    struct sessions *sessions;
    struct envs *envs;
    struct compat *compat;
    struct callbacks *callbacks;
    char *tls_certificate, *tls_key; /* PEM */
    uint64_t tick_us;                /* when the next round of timers is */
    uint64_t begun_us;
    int has_unwritten; /* records of runs that begin, whose writing nobody has begun yet */
    int is_stopping;
    uint64_t stop_at_us; /* what still runs then is cancelled */
    int is_cancelled;
    uint64_t flush_us;
};

/* What is opened before: the sockets of the service manager, if any. secrets may be NULL. The
 * options live as long as the server or until server_reload gives others. */
struct server_start {
    const struct http_options *options;
    const struct secret_options *secret_options;
    vial_secret_fn on_secret;
    void *secret_user;
    const int *fds; /* listening sockets that are there already */
    size_t fds_count;
};

VIAL_NODISCARD int server_new(
    const struct server_start *start, struct server **ret, struct vial_error *err);
void server_free(struct server *server);

/* Serves until it was told to stop and everything has ended. */
void server_serve(struct server *server);

/* No new runs; those that run may go on for the grace time, and are cancelled then. In the loop. */
void server_stop(struct server *server);

/* Other settings from now on, and the files of the certificate read anew. What only a start can
 * change keeps its value; *ret_fixed, which may be NULL, names the first such setting that differs,
 * or is NULL. On failure all stays as it was. */
VIAL_NODISCARD int server_reload(struct server *server, const struct http_options *options,
    const char **ret_fixed, struct vial_error *err);

/* Starts what may start now. */
void server_pump(struct server *server);

/* Adds a watched descriptor for the program around the server (signals). 0, or -1. */
int server_watch(struct server *server, int fd, struct loop_source *source);

/* Records something in the audit. VIAL_E_* when the operator wants records and none can be made. */
VIAL_NODISCARD int server_record(
    struct server *server, const struct audit_record *record, struct vial_error *err);

#endif
