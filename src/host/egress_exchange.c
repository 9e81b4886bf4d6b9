/* egress_exchange.c - see egress_exchange.h. */
#include "host/egress_exchange.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "host/egress_head.h"

enum {
    SOON_MS = 2,                     /* what comes within this time is told together */
    TICK_MS = 250,                   /* deadlines apart, there is a wake-up for everything */
    REDIRECT_BODY_BYTES_MAX = 65536, /* that is read and forgotten to keep the connection */
};

/* Is it over before its end? */
static int is_over(struct egress_exchange *x)
{
    if (x->stop != EGRESS_STOP_NOT) {
        return 1;
    }
    if (__atomic_load_n(x->job->cancelled, __ATOMIC_ACQUIRE) != 0) {
        x->stop = EGRESS_STOP_CANCELLED;
    } else if (clock_now_us() >= x->until_us) {
        x->stop = EGRESS_STOP_LATE;
    }
    return x->stop != EGRESS_STOP_NOT;
}

/* ---- where the connection goes ---- */

static int may_go_to(const struct egress_exchange *x, const struct net_address *address)
{
    size_t i;

    for (i = 0; i < x->addresses_count; i++) {
        if (net_address_equal(&x->addresses[i], address)) {
            return 1;
        }
    }
    return 0;
}

/* The last word before the kernel is asked to connect. */
static curl_socket_t on_socket(void *user, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct egress_exchange *x = user;
    struct net_address address;
    uint16_t port;

    if (to->family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, &to->addr, sizeof(in));
        address = net_address_v4((const uint8_t *)&in.sin_addr);
        port = ntohs(in.sin_port);
    } else if (to->family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, &to->addr, sizeof(in6));
        address = net_address_v6(in6.sin6_addr.s6_addr);
        port = ntohs(in6.sin6_port);
    } else {
        x->stop = EGRESS_STOP_ADDRESS;
        return CURL_SOCKET_BAD;
    }
    if (purpose != CURLSOCKTYPE_IPCXN || port != x->url->port || !may_go_to(x, &address)) {
        x->stop = EGRESS_STOP_ADDRESS;
        return CURL_SOCKET_BAD;
    }
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* Before each request is sent, on a connection that was kept, too. libcurl sends one again when
 * such a connection turns out to be dead: what the server made of the first one is not known, so
 * only what has no consequences, or had no body sent yet, may go out twice. */
static int on_request(
    void *user, char *their_address, char *our_address, int their_port, int our_port)
{
    struct egress_exchange *x = user;
    struct net_address address;

    (void)our_address;
    (void)our_port;
    if (their_port != x->url->port ||
        net_address_parse(their_address, strlen(their_address), &address) < 0 ||
        !may_go_to(x, &address)) {
        x->stop = EGRESS_STOP_ADDRESS;
        return CURL_PREREQFUNC_ABORT;
    }
    x->requests_count++;
    return x->requests_count == 1 || x->method == NET_GET || x->method == NET_HEAD ||
                   x->method == NET_OPTIONS || (x->sent == 0 && x->body_len > 0)
               ? CURL_PREREQFUNC_OK
               : CURL_PREREQFUNC_ABORT;
}

/* ---- what goes out ---- */

static size_t on_send(char *bytes, size_t size, size_t count, void *user)
{
    struct egress_exchange *x = user;
    size_t n = x->body_len - x->sent;

    n = n < size * count ? n : size * count;
    if (n > 0) {
        memcpy(bytes, x->body + x->sent, n);
    }
    x->sent += n;
    return n;
}

static int on_rewind(void *user, curl_off_t offset, int origin)
{
    const struct egress_exchange *x = user;

    return x->sent == 0 && offset == 0 && origin == SEEK_SET ? CURL_SEEKFUNC_OK
                                                             : CURL_SEEKFUNC_FAIL;
}

/* ---- what comes in ---- */

static int is_redirect(long status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static size_t on_head(char *line, size_t size, size_t count, void *user)
{
    struct egress_exchange *x = user;
    size_t len = size * count;

    if (len > EGRESS_ANSWER_HEAD_BYTES_MAX - x->head_bytes ||
        ++x->head_lines > EGRESS_ANSWER_HEADERS_MAX) {
        x->stop = EGRESS_STOP_HEAD;
        return 0;
    }
    x->head_bytes += len;
    if (!x->head_is_whole) { /* what comes behind the body is not for anybody */
        (void)x->handles->lib->easy_getinfo(x->handles->easy, CURLINFO_RESPONSE_CODE, &x->status);
        if (egress_head_line(x, line, len) < 0) {
            return 0;
        }
    }
    return len;
}

/* The head is told when the first bytes of the body are, or when none come for a while. */
static int tell_head(struct egress_exchange *x)
{
    const struct egress_events *events = x->job->events;
    struct buf json;
    int r;

    if (x->head_is_told || !x->head_is_whole || x->is_redirect) {
        return 0;
    }
    buf_init(&json, FETCH_HEAD_BYTES_MAX);
    r = egress_head_write(x, &json);
    if (r == 0) {
        x->head_is_told = 1;
        events->head(events->user, json.data, json.len);
    } else {
        x->stop = EGRESS_STOP_HEAD;
    }
    buf_release(&json);
    return r;
}

/* Gives a piece of the body on. The thread is this request's alone, so it waits here for room: a
 * transfer that is paused would go on decoding into memory of libcurl's. */
static int pass_on(struct egress_exchange *x, const char *bytes, size_t len)
{
    const struct egress_events *events = x->job->events;

    if (len > 0 && events->body(events->user, bytes, len, x->until_us) < 0) {
        (void)is_over(x);
        return -1;
    }
    return 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    struct egress_exchange *x = user;
    size_t n = size * count;
    int r;

    if (x->is_redirect) {
        x->bytes_decoded += n;
        return x->bytes_decoded <= REDIRECT_BODY_BYTES_MAX ? n : 0;
    }
    if (!x->head_is_whole) { /* another protocol, after status 101 */
        return 0;
    }
    if (n > x->job->limits->decoded_bytes_max - x->bytes_decoded) {
        x->stop = EGRESS_STOP_DECODED;
        return 0;
    }
    x->bytes_decoded += n;
    if (tell_head(x) < 0) {
        return 0;
    }
    if (x->clean == NULL) {
        return pass_on(x, bytes, n) < 0 ? 0 : n;
    }
    buf_clear(&x->plain);
    r = redact_feed(x->clean, bytes, n, &x->plain, NULL);
    x->stop = r < 0 ? EGRESS_STOP_MEMORY : x->stop;
    return r < 0 || pass_on(x, x->plain.data, x->plain.len) < 0 ? 0 : n;
}

static int on_progress(
    void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
    struct egress_exchange *x = user;

    (void)down_total;
    (void)up_total;
    x->bytes_down = (uint64_t)down;
    x->bytes_up = (uint64_t)up;
    if (x->bytes_down > x->job->limits->response_bytes_max && x->stop == EGRESS_STOP_NOT) {
        x->stop = EGRESS_STOP_LARGE;
    }
    return x->stop != EGRESS_STOP_NOT;
}

/* ---- options ---- */

/* Every option must be taken: one that is not known would leave a door open. */
#define SET(option, value) bad |= lib->easy_setopt(easy, option, value) != CURLE_OK

/* What keeps it on its way. */
static int set_guards(struct egress_exchange *x, struct curl_slist *resolved)
{
    const struct libcurl *lib = x->handles->lib;
    CURL *easy = x->handles->easy;
    int bad = 0;

    SET(CURLOPT_PROTOCOLS_STR, net_scheme_name(x->url->scheme));
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_PROXY, ""); /* none from the environment */
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    /* The simple protocol is enough for one request at a time, and a smaller thing to attack. */
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_RESOLVE, resolved);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_OPENSOCKETDATA, x);
    SET(CURLOPT_PREREQFUNCTION, on_request);
    SET(CURLOPT_PREREQDATA, x);
    SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)x->job->limits->response_bytes_max);
    return bad;
}

static int set_request(struct egress_exchange *x)
{
    const struct libcurl *lib = x->handles->lib;
    CURL *easy = x->handles->easy;
    int bad = 0;

    SET(CURLOPT_URL, x->target);
    SET(CURLOPT_HTTPHEADER, x->headers);
    SET(CURLOPT_ACCEPT_ENCODING, ""); /* all that is understood */
    if (x->method == NET_HEAD) {
        SET(CURLOPT_NOBODY, 1L);
    } else if (x->body_len > 0 || x->method == NET_POST || x->method == NET_PUT ||
               x->method == NET_PATCH) {
        SET(CURLOPT_UPLOAD, 1L);
        SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)x->body_len);
        SET(CURLOPT_CUSTOMREQUEST, net_method_name(x->method));
    } else {
        SET(CURLOPT_CUSTOMREQUEST, net_method_name(x->method));
    }
    SET(CURLOPT_READFUNCTION, on_send);
    SET(CURLOPT_READDATA, x);
    SET(CURLOPT_SEEKFUNCTION, on_rewind);
    SET(CURLOPT_SEEKDATA, x);
    SET(CURLOPT_HEADERFUNCTION, on_head);
    SET(CURLOPT_HEADERDATA, x);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, x);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, x);
    SET(CURLOPT_NOPROGRESS, 0L);
    return bad;
}

/* The addresses that were judged, for libcurl to ask nobody else: host:port:address,address */
static struct curl_slist *resolved_new(const struct egress_exchange *x)
{
    char text[EGRESS_ADDRESSES_MAX * (NET_ADDRESS_TEXT_BYTES + 3) + NET_HOST_BYTES_MAX + 16];
    char address[NET_ADDRESS_TEXT_BYTES];
    int len;
    size_t i;

    len = snprintf(text, sizeof(text), "%s:%u:", x->url->host, x->url->port);
    for (i = 0; i < x->addresses_count; i++) {
        int is_v4 = net_address_is_v4(&x->addresses[i]);

        net_address_text(&x->addresses[i], address);
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%s%s%s", i > 0 ? "," : "",
            is_v4 ? "" : "[", address, is_v4 ? "" : "]");
    }
    return x->handles->lib->slist_append(NULL, text);
}

/* ---- the exchange ---- */

/* Waits for something to happen; not 0: nothing did. */
static CURLMcode wait_for(struct egress_exchange *x, int ms, int *ret_idle)
{
    uint64_t now = clock_now_us();
    uint64_t left_ms = x->until_us > now ? (x->until_us - now + 999) / 1000 : 0;
    CURLMcode code;
    int events = 0;

    code = x->handles->lib->multi_poll(
        x->handles->multi, NULL, 0, left_ms < (uint64_t)ms ? (int)left_ms : ms, &events);
    *ret_idle = events == 0;
    return code;
}

static CURLMcode drive(struct egress_exchange *x)
{
    const struct libcurl *lib = x->handles->lib;
    const struct egress_events *events = x->job->events;
    CURLMcode code = CURLM_OK;
    int running = 1, idle = 0, ms = SOON_MS;

    while (code == CURLM_OK && !is_over(x)) {
        code = lib->multi_perform(x->handles->multi, &running);
        if (code != CURLM_OK || running == 0) {
            break;
        }
        events->turn(events->user, 0);
        code = wait_for(x, ms, &idle);
        if (idle && ms == SOON_MS && x->head_is_whole) {
            (void)tell_head(x);
            events->turn(events->user, 1);
        }
        ms = idle ? TICK_MS : SOON_MS;
    }
    return code;
}

/* The end of the body that was held back because a secret might begin there. */
static void deliver_rest(struct egress_exchange *x)
{
    if (x->clean == NULL) {
        return;
    }
    buf_clear(&x->plain);
    if (redact_end(x->clean, &x->plain, NULL) < 0) {
        x->stop = EGRESS_STOP_MEMORY;
        return;
    }
    (void)pass_on(x, x->plain.data, x->plain.len);
}

/* Runs it and finds out how it ended. */
static int transfer(struct egress_exchange *x, struct vial_error *err)
{
    const struct libcurl *lib = x->handles->lib;
    CURLMcode code = drive(x);
    char *redirect = NULL;
    CURLMsg *m;
    int left;

    if (code == CURLM_OK && x->stop == EGRESS_STOP_NOT) {
        m = lib->multi_info_read(x->handles->multi, &left);
        if (m == NULL || m->msg != CURLMSG_DONE) {
            return vial__fail(err, VIAL_E_SYS, "libcurl lost a request");
        }
        x->code = m->data.result;
        (void)lib->easy_getinfo(x->handles->easy, CURLINFO_RESPONSE_CODE, &x->status);
        if (x->code == CURLE_OK && x->stop == EGRESS_STOP_NOT && !x->is_redirect) {
            (void)tell_head(x);
            deliver_rest(x);
        }
        if (is_redirect(x->status) &&
            lib->easy_getinfo(x->handles->easy, CURLINFO_REDIRECT_URL, &redirect) == CURLE_OK &&
            redirect != NULL && buf_add_text(&x->redirect, redirect, err) < 0) {
            x->stop = EGRESS_STOP_HEAD;
        }
    }
    return code == CURLM_OK
               ? VIAL_OK
               : vial__fail(err, VIAL_E_SYS, "making a request: %s", lib->multi_strerror(code));
}

int egress_exchange(struct egress_exchange *x, struct vial_error *err)
{
    const struct libcurl *lib = x->handles->lib;
    struct curl_slist *resolved = resolved_new(x);
    int r;

    buf_init(&x->redirect, NET_URL_BYTES_MAX);
    buf_init(&x->head, (size_t)2 * EGRESS_ANSWER_HEAD_BYTES_MAX);
    buf_init(
        &x->plain, (size_t)4 * FETCH_PIECE_BYTES); /* a piece of libcurl's, and what was held */
    if (resolved == NULL ||
        (x->redact != NULL && redact_stream_new(x->redact, &x->clean, NULL) < 0)) {
        lib->slist_free_all(resolved);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a request");
    }
    if (set_guards(x, resolved) || set_request(x)) {
        r = vial__fail(err, VIAL_E_SYS, "libcurl does not take the options of a request");
    } else if (lib->multi_add_handle(x->handles->multi, x->handles->easy) != CURLM_OK) {
        r = vial__fail(err, VIAL_E_NOMEM, "libcurl has no memory for a request");
    } else {
        r = transfer(x, err);
        (void)lib->multi_remove_handle(x->handles->multi, x->handles->easy);
    }
    lib->easy_reset(x->handles->easy);
    lib->slist_free_all(resolved);
    return r;
}

void egress_exchange_release(struct egress_exchange *x)
{
    buf_release(&x->redirect);
    buf_release(&x->head);
    buf_release(&x->plain);
    redact_stream_free(x->clean);
}
