/* egress.h - one request of a program to the network, made by the host.
 *
 * The program is hostile, and so is the server. A request is judged by the rules, its host is
 * resolved once, every address is judged, the connection goes to one of exactly these, and each
 * redirect goes through all of that again. Nothing of the host's own goes along: no proxy, no
 * password file, no cookie. A secret of the operator's goes to the one host that its rule names,
 * and is taken out of what comes back. */
#ifndef VIAL_HOST_EGRESS_H
#define VIAL_HOST_EGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "host/egress_ask.h"
#include "host/egress_net.h"
#include "policy/net_rules.h"
#include "vial.h"

enum {
    EGRESS_ANSWER_HEAD_BYTES_MAX = 40000, /* all headers of an answer; as JSON it fits a frame */
    EGRESS_ANSWER_HEADERS_MAX = 1000,
};

/* What happens, told in the turns of the run's thread. */
struct egress_events {
    void *user;
    /* May one more request be made? 0: no. */
    int (*count)(void *user);
    /* The answer begins: its head as JSON. Once, and not for redirects that are followed. */
    void (*head)(void *user, const char *json, size_t len);
    /* Is there room for a piece of the body? When there is again, egress_go_on is called. */
    int (*has_room)(void *user);
    /* A piece of the body; 0, or -1 without memory. */
    int (*body)(void *user, const char *bytes, size_t len);
    /* Of a request with a streamed body: its next bytes, at most max, into bytes. How many; 0 when
     * it ends here; -1 when there are none yet: when there are, egress_go_on is called. */
    long (*more)(void *user, char *bytes, size_t max);
};

/* Everything is borrowed, until the request is freed. */
struct egress_job {
    struct egress_net *net;
    const struct net_chain *rules;
    const struct vial_limits *limits;
    /* Adds the value of a secret to *ret; host/secrets.h. */
    int (*secret)(void *user, const char *name, struct buf *ret, struct vial_error *err);
    void *secret_user;
    const struct egress_ask *ask;
    const char *body;
    size_t body_len;
    int is_streamed; /* the body comes by events->more */
    const struct egress_events *events;
};

/* How it went. */
struct egress_report {
    uint32_t status; /* enum vial_call_status */
    uint32_t http;   /* the status of the answer, or 0 */
    unsigned redirects;
    uint64_t bytes_up, bytes_down, bytes_decoded;
    char rule[NET_RULE_NAME_BYTES_MAX + 1]; /* that decided last; "": none */
    struct buf url;                         /* as it may be told, of the last request */
    /* Of a failure, as the program gets it. */
    const char *name;  /* "DeniedError", "NetworkError", "TimeoutError", "LimitError" */
    const char *code;  /* one word */
    char message[512]; /* one sentence */
};

void egress_report_init(struct egress_report *report);
void egress_report_release(struct egress_report *report);
__attribute__((format(printf, 5, 6))) void egress_report_fail(struct egress_report *report,
    uint32_t status, const char *name, const char *code, const char *format, ...);

struct egress;

/* Begins a request. NULL without memory. report must live as long as it does. */
struct egress *egress_new(const struct egress_job *job, struct egress_report *report);

/* After each turn of the network, and when its time has come: 1 when it is over, and report says
 * how; else 0. */
int egress_step(struct egress *e, uint64_t now_us);
uint64_t egress_deadline_us(const struct egress *e);

/* There is room for more of the body, or there is more of the one that is sent. */
void egress_go_on(struct egress *e);

/* Is there an answer whose head was not told yet? */
int egress_has_head(const struct egress *e);

/* Nothing has come for a while: what there is of an answer is told. */
void egress_hurry(struct egress *e);

/* Ends it if it is not over, at once: the report says that it was cancelled, and why. */
void egress_cancel(struct egress *e, const char *why);
void egress_free(struct egress *e);

#endif
