/* options.h - the settings of a server, as whoever starts it has read and checked them. */
#ifndef VIAL_HTTP_OPTIONS_H
#define VIAL_HTTP_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

enum { LISTEN_MAX = 4 }; /* one for TCP, one for a Unix socket, and room */

/* Strings are owned by whoever has filled this in. */
struct http_options {
    /* Where to listen: "127.0.0.1:8700", "[::1]:8700" or "unix:/path". */
    const char *listen[LISTEN_MAX];
    size_t listen_count;
    const char *data_dir;
    const char *tls_certificate, *tls_key; /* files in PEM; both or none */
    uint32_t insecure_local;               /* not 0: no key is needed on loopback addresses */
    uint32_t unix_trust; /* not 0: no key is needed for the same user on a Unix socket */
    uint32_t playground; /* not 0: GET / serves the page */

    uint32_t workers;       /* programs at the same time */
    uint32_t queue_max;     /* runs that wait for their turn */
    uint32_t queue_key_max; /* of one key */
    uint32_t pool;          /* cells kept ready */
    uint32_t sessions_max;
    uint64_t memory_bytes_max; /* sum of the memory limits of what runs */

    uint32_t connections_max, connections_per_address_max;
    uint32_t header_bytes_max;
    uint64_t body_bytes_max;
    uint32_t idle_s;    /* a connection without a request is closed */
    uint32_t receive_s; /* headers and body of a request have to be there */
    uint32_t grace_s;   /* what runs may go on for so long when the server stops */
    uint32_t heartbeat_s;

    uint64_t kept_bytes_max; /* results and events of ended runs, in memory */
    uint32_t kept_runs_max;
    uint64_t events_bytes_max;                          /* of one run */
    uint32_t runs_days;                                 /* how long the store keeps runs */
    uint64_t outputs_run_bytes_max, outputs_bytes_max;  /* files and artifacts on the disk */
    uint64_t recording_bytes_max, recordings_bytes_max; /* of one run, and of all */
    uint32_t audit_days;
    uint32_t audit_required;   /* not 0: nothing runs that cannot be recorded */
    uint32_t callback_private; /* not 0: callbacks may go to addresses that are not public */
    uint32_t compat_private;   /* the same for the backends of JSCodeSandbox's environments */
    uint32_t log_level;        /* enum log_level */
};

#endif
