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
#include "jail/mutate.h"

enum {
    REDIRECT_BODY_BYTES_MAX = 65536, /* that is read and forgotten to keep the connection */
    DECODE_BYTES = 32 * 1024,        /* that are decoded at once */
};

static const struct libcurl *lib_of(const struct egress_exchange *x)
{
    return egress_net_lib(x->job->net);
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
    if ((purpose != CURLSOCKTYPE_IPCXN || port != x->url->port || !may_go_to(x, &address)) &&
        !mutate_without_part("net-socket")) {
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
    long connects = 1;

    (void)our_address;
    (void)our_port;
    if ((their_port != x->url->port ||
            net_address_parse(their_address, strlen(their_address), &address) < 0 ||
            !may_go_to(x, &address)) &&
        !mutate_without_part("net-request")) {
        x->stop = EGRESS_STOP_ADDRESS;
        /* A name may have new addresses since the connection was made. */
        x->is_kept =
            lib_of(x)->easy_getinfo(x->easy, CURLINFO_NUM_CONNECTS, &connects) == CURLE_OK &&
            connects == 0;
        return CURL_PREREQFUNC_ABORT;
    }
    x->requests_count++;
    return x->requests_count == 1 || x->method == NET_GET || x->method == NET_HEAD ||
                   x->method == NET_OPTIONS || (x->sent == 0 && x->has_body)
               ? CURL_PREREQFUNC_OK
               : CURL_PREREQFUNC_ABORT;
}

/* ---- what goes out ---- */

static size_t on_send(char *bytes, size_t size, size_t count, void *user)
{
    struct egress_exchange *x = user;
    size_t n = x->job->body_len - x->sent;
    long more;

    if (x->has_body && x->job->is_streamed) {
        more = x->job->events->more(x->job->events->user, bytes, size * count);
        x->is_dry = more < 0;
        x->sent += more > 0 ? (size_t)more : 0;
        return more < 0 ? CURL_READFUNC_PAUSE : (size_t)more;
    }
    n = n < size * count ? n : size * count;
    if (n > 0) {
        memcpy(bytes, x->job->body + x->sent, n);
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
        (void)lib_of(x)->easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &x->status);
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

/* Gives a piece of the body on. */
static int pass_on(struct egress_exchange *x, const char *bytes, size_t len)
{
    const struct egress_events *events = x->job->events;

    if (len > x->job->limits->decoded_bytes_max - x->bytes_decoded &&
        !mutate_without_part("net-decoded")) {
        x->stop = EGRESS_STOP_DECODED;
        return -1;
    }
    x->bytes_decoded += len;
    if (x->clean != NULL) {
        buf_clear(&x->plain);
        if (redact_feed(x->clean, bytes, len, &x->plain, NULL) < 0) {
            x->stop = EGRESS_STOP_MEMORY;
            return -1;
        }
        bytes = x->plain.data;
        len = x->plain.len;
    }
    if (len > 0 && events->body(events->user, bytes, len) < 0) {
        x->stop = EGRESS_STOP_MEMORY;
        return -1;
    }
    return 0;
}

static int has_room(const struct egress_exchange *x)
{
    return x->job->events->has_room(x->job->events->user);
}

/* Decodes what came as far as there is room, and keeps the rest. */
static int decode(struct egress_exchange *x, const char *bytes, size_t len)
{
    char out[DECODE_BYTES];
    long n = 0;

    while ((len > 0 || egress_decoder_has_more(x->decoder)) && has_room(x)) {
        n = egress_decode(x->decoder, &bytes, &len, out, sizeof(out));
        if (n < 0) {
            x->stop = EGRESS_STOP_CODING;
            return -1;
        }
        if (pass_on(x, out, (size_t)n) < 0) {
            return -1;
        }
    }
    if (len > 0 && buf_add(&x->raw, bytes, len, NULL) < 0) {
        x->stop = EGRESS_STOP_MEMORY;
        return -1;
    }
    return 0;
}

/* Is something decoded, or to be, that there was no room for? */
static int is_behind(const struct egress_exchange *x)
{
    return x->raw.len > 0 || (x->decoder != NULL && egress_decoder_has_more(x->decoder));
}

/* Goes on with what was kept. */
static int catch_up(struct egress_exchange *x)
{
    struct buf kept = x->raw;
    int r;

    if (!is_behind(x)) {
        return 0;
    }
    buf_init(&x->raw, kept.max);
    r = decode(x, kept.data, kept.len);
    buf_release(&kept);
    return r;
}

static int set_decoder(struct egress_exchange *x)
{
    if (x->coding == EGRESS_PLAIN || x->decoder != NULL) {
        return 0;
    }
    if (x->coding == EGRESS_CODING_OTHER) {
        x->stop = EGRESS_STOP_ENCODING;
        return -1;
    }
    x->decoder = egress_decoder_new(x->coding);
    x->stop = x->decoder == NULL ? EGRESS_STOP_MEMORY : x->stop;
    return x->decoder == NULL ? -1 : 0;
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
    if (is_behind(x) || !has_room(x)) {
        x->is_held = 1;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (set_decoder(x) < 0 || tell_head(x) < 0) {
        return 0;
    }
    r = x->decoder != NULL ? decode(x, bytes, n) : pass_on(x, bytes, n);
    return r < 0 ? 0 : n;
}

static int on_progress(
    void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
    struct egress_exchange *x = user;

    (void)down_total;
    (void)up_total;
    x->bytes_down = (uint64_t)down;
    x->bytes_up = (uint64_t)up;
    if (x->bytes_down > x->job->limits->response_bytes_max && x->stop == EGRESS_STOP_NOT &&
        !mutate_without_part("net-large")) {
        x->stop = EGRESS_STOP_LARGE;
    }
    return x->stop != EGRESS_STOP_NOT;
}

/* ---- options ---- */

/* Every option must be taken: one that is not known would leave a door open. */
#define SET(option, value) bad |= lib->easy_setopt(easy, option, value) != CURLE_OK

/* What keeps it on its way. */
static int set_guards(struct egress_exchange *x)
{
    const struct libcurl *lib = lib_of(x);
    CURL *easy = x->easy;
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
    if (x->resolved != NULL && !mutate_without_part("net-pinned")) {
        SET(CURLOPT_RESOLVE, x->resolved);
    }
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_OPENSOCKETDATA, x);
    SET(CURLOPT_PREREQFUNCTION, on_request);
    SET(CURLOPT_PREREQDATA, x);
    SET(CURLOPT_FRESH_CONNECT, (long)x->is_fresh);
    SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)x->job->limits->response_bytes_max);
    return bad;
}

static int set_request(struct egress_exchange *x)
{
    const struct libcurl *lib = lib_of(x);
    CURL *easy = x->easy;
    curl_off_t size = !x->has_body ? 0 : x->job->is_streamed ? -1 : (curl_off_t)x->job->body_len;
    int bad = 0;

    SET(CURLOPT_URL, x->target);
    SET(CURLOPT_HTTPHEADER, x->headers);
    if (x->method == NET_HEAD) {
        SET(CURLOPT_NOBODY, 1L);
    } else if (x->has_body || x->method == NET_POST || x->method == NET_PUT ||
               x->method == NET_PATCH) {
        SET(CURLOPT_UPLOAD, 1L);
        SET(CURLOPT_INFILESIZE_LARGE, size); /* -1: in chunks */
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
    SET(CURLOPT_PRIVATE, &x->end);
    return bad;
}

/* The addresses that were judged, for libcurl to ask nobody else: host:port:address,address. A host
 * that is an address is none to ask about. 0, or -1 without memory. */
static int set_resolved(struct egress_exchange *x)
{
    char text[EGRESS_ADDRESSES_MAX * (NET_ADDRESS_TEXT_BYTES + 3) + NET_HOST_BYTES_MAX + 16];
    char address[NET_ADDRESS_TEXT_BYTES];
    int len;
    size_t i;

    if (x->url->host_kind == NET_HOST_ADDRESS) {
        return 0;
    }
    len = snprintf(text, sizeof(text), "%s:%u:", x->url->host, x->url->port);
    for (i = 0; i < x->addresses_count; i++) {
        int is_v4 = net_address_is_v4(&x->addresses[i]);

        net_address_text(&x->addresses[i], address);
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%s%s%s", i > 0 ? "," : "",
            is_v4 ? "" : "[", address, is_v4 ? "" : "]");
    }
    x->resolved = lib_of(x)->slist_append(NULL, text);
    return x->resolved != NULL ? 0 : -1;
}

/* ---- the exchange ---- */

int egress_exchange_begin(struct egress_exchange *x, struct vial_error *err)
{
    buf_init(&x->redirect, NET_URL_BYTES_MAX);
    buf_init(&x->head, (size_t)2 * EGRESS_ANSWER_HEAD_BYTES_MAX);
    buf_init(
        &x->plain, (size_t)4 * FETCH_PIECE_BYTES); /* a piece of libcurl's, and what was held */
    buf_init(&x->raw, (size_t)2 * CURL_MAX_WRITE_SIZE);
    x->easy = egress_net_take(x->job->net);
    if (set_resolved(x) < 0 || x->easy == NULL ||
        (x->redact != NULL && redact_stream_new(x->redact, &x->clean, NULL) < 0)) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a request");
    }
    if (set_guards(x) || set_request(x)) {
        return vial__fail(err, VIAL_E_SYS, "libcurl does not take the options of a request");
    }
    if (x->url->scheme == NET_HTTPS) {
        egress_net_expect_tls(x->job->net);
    }
    x->is_added = egress_net_add(x->job->net, x->easy) == 0;
    return x->is_added ? VIAL_OK
                       : vial__fail(err, VIAL_E_NOMEM, "libcurl has no memory for a request");
}

/* The end of the body that was held back because a secret might begin there. */
static void deliver_rest(struct egress_exchange *x)
{
    const struct egress_events *events = x->job->events;

    if (x->decoder != NULL && !egress_decoder_is_whole(x->decoder)) {
        x->stop = EGRESS_STOP_CODING;
        return;
    }
    if (x->clean == NULL) {
        return;
    }
    buf_clear(&x->plain);
    if (redact_end(x->clean, &x->plain, NULL) < 0 ||
        (x->plain.len > 0 && events->body(events->user, x->plain.data, x->plain.len) < 0)) {
        x->stop = EGRESS_STOP_MEMORY;
    }
}

/* libcurl is done with it. */
static void take_end(struct egress_exchange *x)
{
    const struct libcurl *lib = lib_of(x);
    char *redirect = NULL;

    (void)lib->easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &x->status);
    if (x->end.code == CURLE_OK && !x->is_redirect) {
        (void)tell_head(x);
        deliver_rest(x);
    }
    if (is_redirect(x->status) &&
        lib->easy_getinfo(x->easy, CURLINFO_REDIRECT_URL, &redirect) == CURLE_OK &&
        redirect != NULL && buf_add_text(&x->redirect, redirect, NULL) < 0) {
        x->stop = EGRESS_STOP_HEAD;
    }
}

int egress_exchange_step(struct egress_exchange *x, uint64_t now_us)
{
    if (x->stop == EGRESS_STOP_NOT && now_us >= x->until_us && !mutate_without_part("net-time")) {
        x->stop = EGRESS_STOP_LATE;
    }
    if (x->stop != EGRESS_STOP_NOT) {
        return 1;
    }
    if (!x->end.is_done || (x->end.code == CURLE_OK && is_behind(x))) {
        return 0;
    }
    take_end(x);
    return 1;
}

void egress_exchange_go_on(struct egress_exchange *x)
{
    int was_held = x->is_held, was_dry = x->is_dry;

    if (x->stop != EGRESS_STOP_NOT || catch_up(x) < 0) {
        return;
    }
    x->is_held = x->is_held && (is_behind(x) || !has_room(x));
    x->is_dry = 0;                                  /* it asks again */
    if (!x->end.is_done && (was_held || was_dry)) { /* gives on what it has kept, in here */
        (void)lib_of(x)->easy_pause(x->easy, x->is_held ? CURLPAUSE_RECV : CURLPAUSE_CONT);
    }
}

void egress_exchange_hurry(struct egress_exchange *x)
{
    if (x->stop == EGRESS_STOP_NOT) {
        (void)tell_head(x);
    }
}

void egress_exchange_release(struct egress_exchange *x)
{
    if (x->is_added) {
        egress_net_remove(x->job->net, x->easy);
        x->is_added = 0;
    }
    if (x->easy != NULL) {
        egress_net_give_back(x->job->net, x->easy);
        x->easy = NULL;
    }
    lib_of(x)->slist_free_all(x->resolved);
    x->resolved = NULL;
    buf_release(&x->redirect);
    buf_release(&x->head);
    buf_release(&x->plain);
    buf_release(&x->raw);
    egress_decoder_free(x->decoder);
    x->decoder = NULL;
    redact_stream_free(x->clean);
    x->clean = NULL;
}
