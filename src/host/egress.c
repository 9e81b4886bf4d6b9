/* egress.c - see egress.h. */
#include "host/egress.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/egress_exchange.h"
#include "jail/mutate.h"

enum stage { STAGE_RESOLVING, STAGE_EXCHANGING, STAGE_OVER };

/* One request with all its redirects. */
struct egress {
    struct egress_job job;
    struct egress_report *report;
    enum stage stage;
    uint64_t until_us;
    uint32_t ms_max;
    struct net_url url;
    int has_url;
    int method;
    int has_body;     /* it is still sent along */
    int is_elsewhere; /* a redirect led to another origin: the program's credentials stay behind */
    int is_again;     /* on a new connection, because a kept one led elsewhere */
    const struct net_rule *rule;
    struct net_address addresses[EGRESS_ADDRESSES_MAX];
    size_t addresses_count;
    struct buf target; /* the URL with a secret in its query, as the case may be */
    struct curl_slist *headers;
    struct redact *redact; /* NULL: there is no secret in it */
    struct egress_exchange x;
};

/* ---- reports ---- */

void egress_report_init(struct egress_report *report)
{
    *report = (struct egress_report){.status = VIAL_CALL_OK, .name = "", .code = ""};
    buf_init(&report->url, (size_t)2 * NET_URL_BYTES_MAX);
}

void egress_report_release(struct egress_report *report)
{
    buf_release(&report->url);
}

void egress_report_fail(struct egress_report *report, uint32_t status, const char *name,
    const char *code, const char *format, ...)
{
    va_list args;
    char *p;

    va_start(args, format);
    (void)vsnprintf(report->message, sizeof(report->message), format, args);
    va_end(args);
    for (p = report->message; *p != '\0'; p++) { /* a URL that was no URL may be in it */
        *p = (unsigned char)*p < 0x20 || *p == 0x7f ? '?' : *p;
    }
    report->status = status;
    report->name = name;
    report->code = code;
}

#define DENY(f, code, ...)                                                                         \
    (egress_report_fail((f)->report, VIAL_CALL_DENIED, "DeniedError", code, __VA_ARGS__), -1)
#define FAIL(f, code, ...)                                                                         \
    (egress_report_fail((f)->report, VIAL_CALL_FAILED, "NetworkError", code, __VA_ARGS__), -1)
#define LIMIT(f, code, ...)                                                                        \
    (egress_report_fail((f)->report, VIAL_CALL_LIMIT, "LimitError", code, __VA_ARGS__), -1)

static int fail_late(struct egress *f)
{
    egress_report_fail(f->report, VIAL_CALL_TIMEOUT, "TimeoutError", "timeout",
        "%s did not answer to the end within %u ms; the limit is --request-ms (request_ms_max)",
        f->url.host, f->ms_max);
    return -1;
}

static const struct libcurl *lib_of(const struct egress *f)
{
    return egress_net_lib(f->job.net);
}

/* ---- judgement ---- */

static int set_url(struct egress *f, const char *text, size_t len)
{
    const char *why;
    struct net_url url;

    if (net_url_parse(text, len, &url, &why) < 0) {
        return DENY(f, net_code_name(NET_BAD_URL), "the URL %s", why);
    }
    if (f->has_url) {
        net_url_release(&f->url);
    }
    f->url = url;
    f->has_url = 1;
    buf_clear(&f->report->url);
    return net_url_tell(&f->url, &f->report->url) == 0
               ? 0
               : FAIL(f, "memory", "the host has no memory for the request");
}

static int judge(struct egress *f)
{
    struct net_verdict verdict = net_chain_judge(f->job.rules, &f->url, f->method);
    const char *method = net_method_name(f->method);
    /* Whose rules there are need not be said where nobody else has any. */
    int is_tighter = verdict.whose != NULL && verdict.whose != f->job.rules->whose[0];

    f->rule = verdict.rule;
    (void)snprintf(f->report->rule, sizeof(f->report->rule), "%s",
        verdict.rule != NULL ? verdict.rule->name : "");
    switch (verdict.code) {
    case NET_OK:
        return 0;
    case NET_BAD_ADDRESS:
        if (verdict.rule != NULL && mutate_without_part("net-private")) {
            return 0;
        }
        return DENY(f, net_code_name(verdict.code),
            "%s is %s; only public addresses may be reached, and those that a rule names",
            f->url.host, verdict.why);
    case NET_BY_RULE:
        return DENY(f, net_code_name(verdict.code),
            "%s %s://%s:%u%s is denied by the rule %s of the %s", method,
            net_scheme_name(f->url.scheme), f->url.host, f->url.port, f->url.path.data,
            verdict.rule->name, verdict.whose);
    default:
        return DENY(f, net_code_name(verdict.code),
            "no rule of the network%s%s allows %s %s://%s:%u%s", is_tighter ? " of the " : "",
            is_tighter ? verdict.whose : "", method, net_scheme_name(f->url.scheme), f->url.host,
            f->url.port, f->url.path.data);
    }
}

/* Finds the addresses of the host; 1: they are not known yet. */
static int resolve(struct egress *f)
{
    if (f->url.host_kind == NET_HOST_ADDRESS) {
        f->addresses[0] = f->url.address;
        f->addresses_count = 1;
        return 0;
    }
    switch (egress_net_resolve(f->job.net, f->url.host, f->addresses, &f->addresses_count)) {
    case EGRESS_UNKNOWN:
        return FAIL(f, "name", "there is no host %s: its name was not found", f->url.host);
    case EGRESS_CROWDED:
        return FAIL(f, "busy", "too many names are being looked up; try again later");
    case EGRESS_PENDING:
        return 1;
    case EGRESS_RESOLVED:
        break;
    }
    return 0;
}

/* Every single address must be allowed: one that is not says that the name is not to be trusted. */
static int judge_addresses(struct egress *f)
{
    const char *why;
    size_t i;

    for (i = 0; i < f->addresses_count; i++) {
        why = net_rule_judge_address(f->rule, &f->addresses[i]);
        if (why != NULL && !mutate_without_part("net-answers") &&
            !mutate_without_part("net-private")) {
            return DENY(f, net_code_name(NET_BAD_ADDRESS),
                "%s leads to %s; only public addresses may be reached, and those that the rule %s "
                "names",
                f->url.host, why, f->rule->name);
        }
    }
    return 0;
}

/* ---- what is sent ---- */

/* Headers have secrets in them, which shall not stay in freed memory. */
static void headers_free(struct egress *f)
{
    struct curl_slist *p;

    for (p = f->headers; p != NULL; p = p->next) {
        explicit_bzero(p->data, strlen(p->data));
    }
    lib_of(f)->slist_free_all(f->headers);
    f->headers = NULL;
}

static int no_memory(struct egress *f)
{
    return FAIL(f, "memory", "the host has no memory for the request");
}

/* A value may be a secret, so nothing of the line stays. */
static int headers_add(
    struct egress *f, const char *name, const char *before, const char *value, size_t len)
{
    struct curl_slist *longer = NULL;
    struct buf line;

    buf_init(&line, (size_t)2 * VIAL_SECRET_BYTES_MAX);
    /* A semicolon is how libcurl wants a header that has no value. */
    if (buf_reserve(&line, strlen(name) + strlen(before) + len + 3, NULL) == 0 &&
        buf_add_text(&line, name, NULL) == 0 &&
        buf_add_text(&line, len > 0 ? ": " : ";", NULL) == 0 &&
        buf_add_text(&line, before, NULL) == 0 &&
        (len == 0 || buf_add(&line, value, len, NULL) == 0)) {
        longer = lib_of(f)->slist_append(f->headers, line.data);
    }
    buf_wipe(&line);
    if (longer == NULL) {
        return no_memory(f);
    }
    f->headers = longer;
    return 0;
}

static int is_credential(const char *name)
{
    return strcasecmp(name, "Authorization") == 0 || strcasecmp(name, "Cookie") == 0 ||
           strcasecmp(name, "Cookie2") == 0 || strcasecmp(name, "WWW-Authenticate") == 0;
}

/* What describes a body that a redirect has dropped, and what the host sees to. */
static int is_left_out(const struct egress *f, const char *name)
{
    return strcasecmp(name, "Accept-Encoding") == 0 ||
           (!f->has_body && strncasecmp(name, "Content-", 8) == 0) ||
           (f->is_elsewhere && is_credential(name) && !mutate_without_part("net-credentials")) ||
           (f->rule->inject == NET_INJECT_BEARER && strcasecmp(name, "Authorization") == 0) ||
           (f->rule->inject == NET_INJECT_HEADER && strcasecmp(name, f->rule->inject_field) == 0);
}

static int add_headers(struct egress *f)
{
    const struct egress_ask *ask = f->job.ask;
    char agent[64];
    size_t i;
    int r;

    (void)snprintf(agent, sizeof(agent), "vial/%s", vial_version());
    f->headers = lib_of(f)->slist_append(NULL, "Expect:"); /* no waiting for a "go on" */
    r = f->headers != NULL ? 0 : no_memory(f);
    r = r < 0 ? r
              : headers_add(f, "Accept-Encoding", "", EGRESS_ACCEPT_ENCODING,
                    strlen(EGRESS_ACCEPT_ENCODING));
    if (r == 0 && egress_ask_header(ask, "User-Agent") == NULL) {
        r = headers_add(f, "User-Agent", "", agent, strlen(agent));
    }
    for (i = 0; i < ask->headers_count && r == 0; i++) {
        if (!is_left_out(f, ask->headers[i].name)) {
            r = headers_add(
                f, ask->headers[i].name, "", ask->headers[i].value, strlen(ask->headers[i].value));
        }
    }
    return r;
}

/* The query of the program, without a part that has the secret's name, and then the secret. */
static int add_query(struct egress *f, const char *secret, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *key = f->rule->inject_field;
    const char *query = f->url.query.len > 0 ? f->url.query.data : "";
    size_t key_len = strlen(key), i;
    char joint = '?';
    int r = buf_reserve(&f->target, (size_t)2 * NET_URL_BYTES_MAX + 3 * len, NULL);

    r = r < 0 ? r : net_url_origin(&f->url, &f->target);
    r = r < 0 ? r : buf_add(&f->target, f->url.path.data, f->url.path.len, NULL);
    while (*query != '\0' && r == 0) {
        size_t n = strcspn(query, "&");

        if (!(n >= key_len && memcmp(query, key, key_len) == 0 &&
                (n == key_len || query[key_len] == '='))) {
            r = buf_add(&f->target, &joint, 1, NULL);
            r = r < 0 ? r : buf_add(&f->target, query, n, NULL);
            joint = '&';
        }
        query += query[n] == '&' ? n + 1 : n;
    }
    r = r < 0 ? r : buf_add(&f->target, &joint, 1, NULL);
    r = r < 0 ? r : buf_add(&f->target, key, key_len, NULL);
    r = r < 0 ? r : buf_add_text(&f->target, "=", NULL);
    for (i = 0; i < len && r == 0; i++) {
        unsigned char c = (unsigned char)secret[i];
        char escaped[3] = {'%', digits[c >> 4], digits[c & 15]};

        r = buf_add(&f->target, escaped, sizeof(escaped), NULL);
    }
    return r == 0 ? 0 : no_memory(f);
}

/* Puts the secret where the rule wants it, and sees to it that it does not come back. */
static int inject(struct egress *f, const struct buf *secret)
{
    const struct redact_secret kept = {
        .name = f->rule->secret, .bytes = secret->data, .len = secret->len};
    struct vial_error err = {.code = 0};

    if (redact_new(&kept, 1, &f->redact, &err) < 0) {
        f->redact = NULL;
        return FAIL(f, "secret", "%s", err.text);
    }
    if (f->rule->inject == NET_INJECT_QUERY) {
        return add_query(f, secret->data, secret->len);
    }
    if (net_header_fault("X", 1, secret->data, secret->len) != NULL) {
        return FAIL(f, "secret", "the secret %s cannot be sent as a header", f->rule->secret);
    }
    return f->rule->inject == NET_INJECT_BEARER
               ? headers_add(f, "Authorization", "Bearer ", secret->data, secret->len)
               : headers_add(f, f->rule->inject_field, "", secret->data, secret->len);
}

/* Target and headers, with the secret of the rule. */
static int prepare(struct egress *f)
{
    struct vial_error err = {.code = 0};
    struct buf secret;
    int r;

    buf_clear(&f->target);
    r = add_headers(f);
    if (r == 0 && f->rule->inject != NET_INJECT_NOTHING) {
        buf_init(&secret, VIAL_SECRET_BYTES_MAX);
        r = f->job.secret(f->job.secret_user, f->rule->secret, &secret, &err) < 0
                ? FAIL(f, "secret", "the rule %s needs a secret: %s", f->rule->name, err.text)
                : inject(f, &secret);
        buf_wipe(&secret);
    }
    if (r == 0 && f->rule->inject != NET_INJECT_QUERY && net_url_write(&f->url, &f->target) < 0) {
        r = no_memory(f);
    }
    return r;
}

/* ---- how it went ---- */

static int explain_code(struct egress *f, const struct egress_exchange *x)
{
    const struct vial_limits *limits = f->job.limits;
    const char *host = f->url.host;
    long sys = 0;

    (void)lib_of(f)->easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &sys);
    if (x->end.code == CURLE_COULDNT_CONNECT) {
        return FAIL(f, "connect", "%s cannot be reached%s", host,
            sys == ECONNREFUSED ? ": it refused the connection" : "");
    }
    if (x->end.code == CURLE_PEER_FAILED_VERIFICATION) {
        return FAIL(f, "certificate", "the certificate of %s is not to be trusted", host);
    }
    if (x->end.code == CURLE_SSL_CONNECT_ERROR) {
        return FAIL(f, "tls", "%s and the host could not agree on TLS", host);
    }
    if (x->end.code == CURLE_OPERATION_TIMEDOUT) {
        return fail_late(f);
    }
    if (x->end.code == CURLE_FILESIZE_EXCEEDED) {
        return LIMIT(f, "response_bytes_max",
            "the answer of %s is longer than %llu bytes; raise it with --response-bytes "
            "(response_bytes_max)",
            host, (unsigned long long)limits->response_bytes_max);
    }
    if (x->end.code == CURLE_PARTIAL_FILE || x->end.code == CURLE_RECV_ERROR ||
        x->end.code == CURLE_SEND_ERROR) {
        return FAIL(f, "broken", "the connection to %s broke in the middle", host);
    }
    if (x->end.code == CURLE_GOT_NOTHING || x->end.code == CURLE_ABORTED_BY_CALLBACK ||
        x->end.code == CURLE_SEND_FAIL_REWIND) {
        return FAIL(f, "broken", "%s closed the connection without an answer", host);
    }
    /* libcurl 7.88 says so of a single header of more than 100 KiB. */
    if (x->end.code == CURLE_OUT_OF_MEMORY && !x->head_is_whole) {
        return FAIL(f, "headers", "%s sent headers that are too long", host);
    }
    if (x->end.code == CURLE_BAD_CONTENT_ENCODING) {
        return FAIL(f, "encoding", "the answer of %s is not encoded as it says", host);
    }
    return FAIL(f, "protocol", "what %s sent is not HTTP as it should be", host);
}

static int explain(struct egress *f, const struct egress_exchange *x)
{
    const struct vial_limits *limits = f->job.limits;
    const char *host = f->url.host;

    switch (x->stop) {
    case EGRESS_STOP_LATE:
        return fail_late(f);
    case EGRESS_STOP_HEAD:
        return LIMIT(f, "headers", "%s sent more than %d bytes or %d lines of headers", host,
            EGRESS_ANSWER_HEAD_BYTES_MAX, EGRESS_ANSWER_HEADERS_MAX);
    case EGRESS_STOP_ENCODING:
        return FAIL(
            f, "encoding", "%s sent its answer in an encoding that was not asked for", host);
    case EGRESS_STOP_CODING:
        return FAIL(f, "encoding", "the answer of %s is not encoded as it says", host);
    case EGRESS_STOP_LARGE:
        return LIMIT(f, "response_bytes_max",
            "the answer of %s is longer than %llu bytes; raise it with --response-bytes "
            "(response_bytes_max)",
            host, (unsigned long long)limits->response_bytes_max);
    case EGRESS_STOP_DECODED:
        return LIMIT(f, "decoded_bytes_max",
            "the answer of %s is longer than %llu bytes after decompression; raise it with "
            "--decoded-bytes (decoded_bytes_max)",
            host, (unsigned long long)limits->decoded_bytes_max);
    case EGRESS_STOP_ADDRESS:
        return DENY(f, net_code_name(NET_BAD_ADDRESS),
            "the connection to %s would go to another address than was judged", host);
    case EGRESS_STOP_MEMORY:
        return FAIL(f, "memory", "the host has no memory for the answer");
    case EGRESS_STOP_NOT:
        break;
    }
    if (x->end.code == CURLE_OK && x->status >= 200) {
        return 0;
    }
    /* The rest of a redirect's body is nobody's business. */
    return x->is_redirect && x->redirect.len > 0 ? 0 : explain_code(f, x);
}

/* ---- redirects ---- */

/* Is there a secret in the text? What cannot be told is taken for a yes. */
static int has_secret(const struct redact *redact, const struct buf *text)
{
    struct buf clean;
    int has;

    buf_init(&clean, (size_t)64 * NET_URL_BYTES_MAX);
    has = redact_text(redact, text->data, text->len, &clean, NULL) < 0 || clean.len != text->len ||
          memcmp(clean.data, text->data, text->len) != 0;
    buf_release(&clean);
    return has;
}

/* Where it goes on, or 1 when it does not. */
static int follow(struct egress *f, const struct egress_exchange *x)
{
    const struct vial_limits *limits = f->job.limits;
    struct net_url before = f->url;
    int r;

    if (x->redirect.len == 0 || !x->is_redirect) {
        return 1;
    }
    if (f->redact != NULL && has_secret(f->redact, &x->redirect)) {
        return DENY(f, "secret", "%s redirects to a URL with the secret %s in it", f->url.host,
            f->rule->secret);
    }
    if (f->job.ask->redirect == EGRESS_ERROR || f->report->redirects >= limits->redirects_max) {
        return LIMIT(f, "redirect",
            "%s redirects to %.*s, and this request may follow %u redirects; ask for that URL, or "
            "raise --redirects (redirects_max)",
            f->url.host, (int)strcspn(x->redirect.data, "?#"), x->redirect.data,
            f->job.ask->redirect == EGRESS_ERROR ? 0 : limits->redirects_max);
    }
    if (f->job.is_streamed && x->sent > 0 && x->status != 303 &&
        !(f->method == NET_POST && (x->status == 301 || x->status == 302))) {
        return FAIL(f, "redirect",
            "%s redirects, and a body that is a stream cannot be sent again; ask for that URL, or "
            "send it as a whole",
            f->url.host);
    }
    f->report->redirects++;
    f->has_url = 0; /* before is released here */
    r = set_url(f, x->redirect.data, x->redirect.len);
    if (r == 0) {
        f->is_elsewhere |= !net_url_same_origin(&before, &f->url);
        if (x->status == 303 ? f->method != NET_HEAD
                             : f->method == NET_POST && (x->status == 301 || x->status == 302)) {
            f->method = NET_GET;
            f->has_body = 0;
        }
    }
    net_url_release(&before);
    return r;
}

/* ---- the whole ---- */

/* What one hop has used, with the secrets in it. */
static void hop_release(struct egress *f)
{
    egress_exchange_release(&f->x);
    headers_free(f);
    redact_free(f->redact);
    f->redact = NULL;
    if (f->target.data != NULL) {
        explicit_bzero(f->target.data, f->target.capacity);
    }
}

/* Is it allowed at all? */
static int hop_judge(struct egress *f)
{
    const struct egress_events *events = f->job.events;
    int r = f->report->redirects > 0 && mutate_without_part("net-hops") ? 0 : judge(f);

    if (r == 0 && !events->count(events->user) && !mutate_without_part("net-count")) {
        r = LIMIT(f, "requests_max",
            "a run may make %u requests to the network; raise it with --requests (requests_max)",
            f->job.limits->requests_max);
    }
    f->stage = STAGE_RESOLVING;
    f->is_again = 0;
    return r;
}

static int hop_send(struct egress *f)
{
    struct vial_error err = {.code = 0};
    int r = judge_addresses(f);

    r = r < 0 ? r : prepare(f);
    if (r < 0) {
        return r;
    }
    f->x = (struct egress_exchange){.job = &f->job,
        .url = &f->url,
        .method = f->method,
        .has_body = f->has_body && (f->job.body_len > 0 || f->job.is_streamed),
        .addresses = f->addresses,
        .addresses_count = f->addresses_count,
        .until_us = f->until_us,
        .follows = f->job.ask->redirect != EGRESS_MANUAL,
        .redirects = f->report->redirects,
        .target = f->target.data,
        .headers = f->headers,
        .redact = f->redact,
        .is_fresh = f->is_again};
    f->stage = STAGE_EXCHANGING;
    return egress_exchange_begin(&f->x, &err) < 0 ? FAIL(f, "host", "%s", err.text) : 0;
}

static void note_exchange(struct egress *f)
{
    f->report->bytes_up += f->x.bytes_up;
    f->report->bytes_down += f->x.bytes_down;
    f->report->bytes_decoded = f->x.bytes_decoded;
    f->report->http = f->x.status > 0 ? (uint32_t)f->x.status : 0;
}

/* The exchange is over. 0: on to where f points now; 1: done; negative: failed, and said. */
static int hop_end(struct egress *f)
{
    const struct egress_exchange *x = &f->x;
    int r;

    if (x->stop == EGRESS_STOP_ADDRESS && x->is_kept && !f->is_again) {
        hop_release(f);
        f->is_again = 1;
        f->stage = STAGE_RESOLVING;
        return 0;
    }
    r = explain(f, x);
    note_exchange(f);
    r = r < 0 ? r : follow(f, x);
    hop_release(f);
    return r == 0 ? hop_judge(f) : r;
}

/* 0: it goes on; 1: it waits; 2: done; negative: failed, and said. */
static int go_on(struct egress *f, uint64_t now_us)
{
    int r;

    if (f->stage == STAGE_RESOLVING) {
        r = now_us >= f->until_us ? fail_late(f) : resolve(f);
        return r == 0 ? hop_send(f) : r;
    }
    if (!egress_exchange_step(&f->x, now_us)) {
        return 1;
    }
    r = hop_end(f);
    return r > 0 ? 2 : r;
}

int egress_step(struct egress *f, uint64_t now_us)
{
    int r = 0;

    while (f->stage != STAGE_OVER && r == 0) {
        r = go_on(f, now_us);
        if (r == 0 && f->stage == STAGE_EXCHANGING) { /* it goes on at once, as far as it can */
            egress_net_turn(f->job.net, NULL, 0);
        }
    }
    if (r == 2 || r < 0) {
        hop_release(f);
        f->stage = STAGE_OVER;
    }
    return f->stage == STAGE_OVER;
}

struct egress *egress_new(const struct egress_job *job, struct egress_report *report)
{
    struct egress *f = calloc(1, sizeof(*f));

    if (f == NULL) {
        return NULL;
    }
    f->job = *job;
    f->report = report;
    f->x.job = &f->job;
    f->method = job->ask->method;
    f->has_body = 1;
    f->ms_max = job->limits->request_ms_max;
    if (job->ask->timeout_ms != 0 && job->ask->timeout_ms < f->ms_max) {
        f->ms_max = job->ask->timeout_ms;
    }
    f->until_us = clock_now_us() + f->ms_max * 1000ULL;
    buf_init(&f->target, (size_t)4 * (NET_URL_BYTES_MAX + VIAL_SECRET_BYTES_MAX));
    if (set_url(f, job->ask->url, strlen(job->ask->url)) < 0 || hop_judge(f) < 0) {
        f->stage = STAGE_OVER;
    }
    return f;
}

uint64_t egress_deadline_us(const struct egress *f)
{
    return f->until_us;
}

void egress_go_on(struct egress *f)
{
    if (f->stage == STAGE_EXCHANGING) {
        egress_exchange_go_on(&f->x);
    }
}

int egress_has_head(const struct egress *f)
{
    return f->stage == STAGE_EXCHANGING && f->x.head_is_whole && !f->x.head_is_told &&
           !f->x.is_redirect;
}

void egress_hurry(struct egress *f)
{
    if (f->stage == STAGE_EXCHANGING) {
        egress_exchange_hurry(&f->x);
    }
}

void egress_cancel(struct egress *f, const char *why)
{
    if (f->stage == STAGE_OVER) {
        return;
    }
    if (f->stage == STAGE_EXCHANGING) {
        note_exchange(f);
    }
    hop_release(f);
    f->stage = STAGE_OVER;
    egress_report_fail(f->report, VIAL_CALL_CANCELLED, "AbortError", "abort", "%s", why);
}

void egress_free(struct egress *f)
{
    if (f == NULL) {
        return;
    }
    hop_release(f);
    buf_wipe(&f->target);
    if (f->has_url) {
        net_url_release(&f->url);
    }
    free(f);
}
