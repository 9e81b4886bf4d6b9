/* egress_exchange.h - one exchange with one server over libcurl: for the inside of egress only.
 *
 * Where it goes was decided before; here it is seen to that it goes there and nowhere else, and
 * that what comes back stays within the limits. */
#ifndef VIAL_HOST_EGRESS_EXCHANGE_H
#define VIAL_HOST_EGRESS_EXCHANGE_H

#include "host/egress.h"
#include "host/egress_resolve.h"
#include "host/redact.h"
#include "wire/fetch.h"

/* Why an exchange was broken off. */
enum egress_stop {
    EGRESS_STOP_NOT = 0,
    EGRESS_STOP_LATE,
    EGRESS_STOP_CANCELLED,
    EGRESS_STOP_HEAD,     /* too many headers */
    EGRESS_STOP_ENCODING, /* encoded in a way that nobody asked for */
    EGRESS_STOP_LARGE,    /* more bytes than may come */
    EGRESS_STOP_DECODED,  /* more bytes after decoding than may come */
    EGRESS_STOP_ADDRESS,  /* the connection is to another address than was judged */
    EGRESS_STOP_MEMORY,
};

struct egress_exchange {
    /* What it is about; borrowed. */
    const struct egress_job *job;
    struct egress_handles *handles;
    const struct net_url *url;
    const char *target; /* what is asked for, with a secret in it as the case may be */
    int method;
    const char *body;
    size_t body_len;
    struct curl_slist *headers;
    const struct redact *redact;         /* NULL: there is no secret in it */
    const struct net_address *addresses; /* that it may go to */
    size_t addresses_count;
    uint64_t until_us;
    int follows; /* an answer that is a redirect is not for the program */
    unsigned redirects;
    uint64_t bytes_up, bytes_down, bytes_decoded;

    /* How it goes. */
    enum egress_stop stop;
    CURLcode code;
    long status;
    struct buf redirect; /* where to, as an absolute URL; empty: nowhere */
    /* Within. */
    struct redact_stream *clean; /* the body on its way, or NULL */
    struct buf head;             /* the lines of the answer that are to be told, each with a NUL */
    struct buf plain;            /* of the body: free of secrets */
    size_t sent;
    size_t head_bytes;
    unsigned head_lines, requests_count;
    int head_is_whole, head_is_told, is_decoded, is_redirect;
    char reason[128];
};

/* Does it. Returns 0, also when stop or code say that it came to nothing; negative when the host
 * could not do its part. */
VIAL_NODISCARD int egress_exchange(struct egress_exchange *x, struct vial_error *err);
void egress_exchange_release(struct egress_exchange *x);

#endif
