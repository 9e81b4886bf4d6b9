/* exchange.h - one request and its answer.
 *
 * An exchange begins when the headers of a request are there and ends when libmicrohttpd is done
 * with the answer. It belongs to the loop; only while a handler works on it in another thread
 * (ROUTE_WORKS) it belongs to that. A handler fills in the answer with one of the answer_*
 * functions. One that cannot answer yet calls exchange_wait, and whoever has the answer later fills
 * it in and calls exchange_wake. */
#ifndef VIAL_HTTP_EXCHANGE_H
#define VIAL_HTTP_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/trace.h"
#include "http/libmicrohttpd.h"
#include "http/loop.h"
#include "policy/quota.h"

struct server;
struct route;
struct stream;
struct exchange;

enum {
    EXCHANGE_PARAMS_MAX = 3,   /* of a path: /v1/runs/{id}/artifacts/{n}/{m} */
    ANSWER_HEADERS_MAX = 8,    /* beside those that every answer has */
    ANSWER_HEADER_BYTES = 640, /* the policy of the page */
    CALLER_ID_BYTES = 40,
};

/* Who asks. */
struct caller {
    char id[CALLER_ID_BYTES]; /* of the key; "" when none was needed */
    uint32_t scopes;          /* enum key_scope */
    struct quota quota;
};

/* A connection, which may see many exchanges one after the other. */
struct connection {
    struct loop_source source;
    struct server *server;
    struct exchange *exchange; /* the present one, or NULL */
    int fd;
    int is_trusted; /* no key is needed */
    int is_unix;
    int is_gone;       /* the other side has shut down */
    uint64_t begun_us; /* when the first line of a request was there; 0 between requests */
    struct connection *next, *previous;
    char *uri; /* of the present request as it came; owned */
};

struct answer {
    unsigned status; /* 0: there is none yet */
    const char *type;
    char *bytes; /* owned until it is queued */
    size_t len;
    struct {
        const char *name;
        char *value; /* owned */
    } headers[ANSWER_HEADERS_MAX];
    size_t headers_count;
};

struct exchange {
    struct server *server;
    struct connection *connection;
    struct MHD_Connection *mhd;
    const struct route *route;
    const char *method; /* of libmicrohttpd */
    char *path;         /* as it came, without the query */
    char *cut;          /* the same, cut and decoded; the params point into it */
    const char *params[EXCHANGE_PARAMS_MAX];
    struct caller caller;
    struct buf body;
    size_t discarded; /* bytes of a body that is too large */
    int is_too_large, is_dispatched, is_waiting;
    struct answer answer;
    struct stream *stream; /* when the answer is one */
    /* Called in the loop when the client has left while the exchange waits; may be NULL. */
    void (*on_gone)(struct exchange *x);
    void *user; /* for on_gone */
    uint64_t begun_us;
    char type_text[160];           /* room for a type of the answer */
    char traceparent[TRACE_BYTES]; /* "" unless it was given and is well formed */
};

/* The value of a header or of the query; NULL when it is not there. */
const char *exchange_header(const struct exchange *x, const char *name);
const char *exchange_query(const struct exchange *x, const char *name);

/* Puts the exchange off until exchange_wake, which is called in the loop when the answer is filled
 * in or the stream has something to say. */
void exchange_wait(struct exchange *x);
void exchange_wake(struct exchange *x);

/* Has fn fill in the answer in a thread beside the loop, because it may block. 0, or -1 with an
 * answer when there is too much to do there: then fn is not called. */
int exchange_aside(struct exchange *x, void (*fn)(struct exchange *x));

/* The whole body is JSON of ours; takes what is in *out. */
void answer_json(struct exchange *x, unsigned status, struct buf *out);

/* The same with bytes that the caller has allocated. */
void answer_bytes(struct exchange *x, unsigned status, const char *type, char *bytes, size_t len);

/* A copy of a text. */
void answer_text(struct exchange *x, unsigned status, const char *type, const char *text);
void answer_empty(struct exchange *x, unsigned status);
void answer_header(struct exchange *x, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Forgets the answer that was filled in. */
void answer_release(struct answer *answer);

#endif
