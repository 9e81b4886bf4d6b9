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
#include "host/libcurl.h"
#include "policy/net_rules.h"
#include "vial.h"

enum {
    EGRESS_ANSWER_HEAD_BYTES_MAX = 40000, /* all headers of an answer; as JSON it fits a frame */
    EGRESS_ANSWER_HEADERS_MAX = 1000,
};

/* A pair of libcurl's handles, which keeps connections. Only one request uses it at a time. */
struct egress_handles {
    struct egress_handles *next;
    const struct libcurl *lib;
    CURLM *multi;
    CURL *easy;
};

VIAL_NODISCARD int egress_handles_new(struct egress_handles **ret, struct vial_error *err);
void egress_handles_free(struct egress_handles *handles);

/* What happens, told in the thread of the request. */
struct egress_events {
    void *user;
    /* May one more request be made? 0: no. */
    int (*count)(void *user);
    /* The answer begins: its head as JSON. Once, and not for redirects that are followed. */
    void (*head)(void *user, const char *json, size_t len);
    /* A piece of the body. Waits until there is room for it, at most until that time or until the
     * request is cancelled; 0, or -1 when it was not taken. */
    int (*body)(void *user, const char *bytes, size_t len, uint64_t until_us);
    /* All that came at once was told; idle: and nothing more comes soon. */
    void (*turn)(void *user, int idle);
};

/* Everything is borrowed. */
struct egress_job {
    const struct net_policy *policy;
    const struct vial_limits *limits;
    /* Adds the value of a secret to *ret; host/secrets.h. */
    int (*secret)(void *user, const char *name, struct buf *ret, struct vial_error *err);
    void *secret_user;
    const struct egress_ask *ask;
    const char *body;
    size_t body_len;
    const int *cancelled; /* atomic; who sets it wakes the multi handle */
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

/* Makes the request and stays until the last byte of its answer came, or it has failed. */
void egress_run(
    const struct egress_job *job, struct egress_handles *handles, struct egress_report *report);

#endif
