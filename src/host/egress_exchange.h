/* egress_exchange.h - one exchange with one server over libcurl: for the inside of egress only.
 *
 * Where it goes was decided before; here it is seen to that it goes there and nowhere else, and
 * that what comes back stays within the limits. */
#ifndef VIAL_HOST_EGRESS_EXCHANGE_H
#define VIAL_HOST_EGRESS_EXCHANGE_H

#include "host/egress.h"
#include "host/egress_decode.h"
#include "host/egress_net.h"
#include "host/redact.h"
#include "wire/fetch.h"

/* Why an exchange was broken off. */
enum egress_stop {
    EGRESS_STOP_NOT = 0,
    EGRESS_STOP_LATE,
    EGRESS_STOP_HEAD,     /* too many headers */
    EGRESS_STOP_ENCODING, /* encoded in a way that nobody asked for */
    EGRESS_STOP_CODING,   /* not encoded as it says */
    EGRESS_STOP_LARGE,    /* more bytes than may come */
    EGRESS_STOP_DECODED,  /* more bytes after decoding than may come */
    EGRESS_STOP_ADDRESS,  /* the connection is to another address than was judged */
    EGRESS_STOP_MEMORY,
};

struct egress_exchange {
    /* What it is about; borrowed. */
    const struct egress_job *job;
    const struct net_url *url;
    const char *target; /* what is asked for, with a secret in it as the case may be */
    int method;
    int has_body; /* of the job: it is sent along */
    struct curl_slist *headers;
    const struct redact *redact;         /* NULL: there is no secret in it */
    const struct net_address *addresses; /* that it may go to */
    size_t addresses_count;
    uint64_t until_us;
    int follows;  /* an answer that is a redirect is not for the program */
    int is_fresh; /* on a new connection */
    unsigned redirects;
    uint64_t bytes_up, bytes_down, bytes_decoded;

    /* How it goes. */
    struct egress_end end; /* of libcurl's part */
    enum egress_stop stop;
    long status;
    struct buf redirect; /* where to, as an absolute URL; empty: nowhere */
    /* Within. */
    CURL *easy; /* NULL: it has not begun, or is over */
    struct curl_slist *resolved;
    struct redact_stream *clean; /* the body on its way, or NULL */
    struct buf head;             /* the lines of the answer that are to be told, each with a NUL */
    struct buf plain;            /* of the body: free of secrets */
    struct buf raw;              /* of the body: not decoded yet, because there is no room */
    struct egress_decoder *decoder;
    enum egress_coding coding;
    size_t sent;
    size_t head_bytes;
    unsigned head_lines, requests_count;
    int head_is_whole, head_is_told, is_decoded, is_redirect;
    int is_added; /* to libcurl's multi handle */
    int is_held;  /* libcurl keeps what came until there is room for it */
    int is_dry;   /* libcurl waits for more of the body that is sent */
    int is_kept;  /* the connection was there before, and led to an address that is not meant */
    char reason[128];
};

/* Begins. Negative when the host could not do its part; it is to be released all the same. */
VIAL_NODISCARD int egress_exchange_begin(struct egress_exchange *x, struct vial_error *err);

/* 1 when it is over: stop, end.code and status say how; 0: it goes on. */
int egress_exchange_step(struct egress_exchange *x, uint64_t now_us);

/* The program has read something: there may be room for more of the body. */
void egress_exchange_go_on(struct egress_exchange *x);

/* Nothing has come for a while: the head of the answer is told without its body. */
void egress_exchange_hurry(struct egress_exchange *x);

/* Ends it, at once if it is not over. */
void egress_exchange_release(struct egress_exchange *x);

#endif
