/* callback.c - see callback.h. Sending blocks, so it has threads of its own: a server that does not
 * answer keeps nobody but other callbacks waiting. */
#include "http/callback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/trace.h"
#include "host/libcurl.h"
#include "http/jobs.h"
#include "http/log.h"
#include "http/run.h"
#include "http/server.h"
#include "policy/net_address.h"
#include "policy/net_url.h"

enum {
    THREADS = 2,
    WAITING_MAX = 1000,
    TRIES = 3,
    TIMEOUT_MS = 10000,
    PAUSE_MS = 1000, /* before the second try; five times that before the third */
    POLL_MS = 200,
};

struct callbacks {
    struct jobs *jobs;
    int stop; /* atomic */
};

/* One result on its way. */
struct parcel {
    struct job job;
    struct callbacks *callbacks;
    char *url, *secret, *body;
    size_t body_len;
    char id[ID_BYTES_MAX + 1];
    char traceparent[TRACE_BYTES];
    int may_be_private;
    int is_refused; /* it leads to an address that it must not reach */
};

int callbacks_new(struct server *server, struct callbacks **ret, struct vial_error *err)
{
    struct callbacks *c = calloc(1, sizeof(*c));
    int r;

    (void)server;
    if (c == NULL || sodium_init() < 0) {
        free(c);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for callbacks");
    }
    r = jobs_new(THREADS, WAITING_MAX, &c->jobs, err);
    if (r < 0) {
        free(c);
        return r;
    }
    *ret = c;
    return VIAL_OK;
}

void callbacks_free(struct callbacks *callbacks)
{
    if (callbacks != NULL) {
        __atomic_store_n(&callbacks->stop, 1, __ATOMIC_SEQ_CST);
        jobs_free(callbacks->jobs);
        free(callbacks);
    }
}

const char *callback_fault(const struct server *server, const char *url)
{
    struct net_url parsed;
    const char *why = NULL;

    if (net_url_parse(url, strlen(url), &parsed, &why) < 0) {
        return why;
    }
    if (!server->options->callback_private) {
        if (parsed.scheme != NET_HTTPS) {
            why = "must be https";
        } else if (parsed.host_kind == NET_HOST_DISGUISED) {
            why = "has an address in a spelling that hides it";
        } else if (parsed.host_kind == NET_HOST_ADDRESS) {
            why = net_address_fault(&parsed.address) != NULL
                      ? "leads to an address that is not public"
                      : NULL;
        }
    }
    net_url_release(&parsed);
    return why;
}

/* The address is looked at when the socket is made: what a name means cannot change after that. */
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct parcel *p = user;
    struct net_address address;

    (void)purpose;
    if (to->family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, &to->addr, sizeof(in));
        address = net_address_v4((const uint8_t *)&in.sin_addr);
    } else if (to->family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, &to->addr, sizeof(in6));
        address = net_address_v6((const uint8_t *)&in6.sin6_addr);
    } else {
        return CURL_SOCKET_BAD;
    }
    if (!p->may_be_private && net_address_fault(&address) != NULL) {
        p->is_refused = 1;
        return CURL_SOCKET_BAD;
    }
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static size_t drop(char *bytes, size_t size, size_t n, void *user)
{
    (void)bytes;
    (void)user;
    return size * n;
}

/* t=SECONDS,v1=HMAC-SHA256 of "SECONDS.BODY" with the client's secret. */
static void sign(const struct parcel *p, char *out, size_t size)
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    char hex[2 * sizeof(mac) + 1], at[32];
    crypto_auth_hmacsha256_state state;

    (void)snprintf(at, sizeof(at), "%lld", (long long)time(NULL));
    (void)crypto_auth_hmacsha256_init(&state, (const unsigned char *)p->secret, strlen(p->secret));
    (void)crypto_auth_hmacsha256_update(&state, (const unsigned char *)at, strlen(at));
    (void)crypto_auth_hmacsha256_update(&state, (const unsigned char *)".", 1);
    (void)crypto_auth_hmacsha256_update(&state, (const unsigned char *)p->body, p->body_len);
    (void)crypto_auth_hmacsha256_final(&state, mac);
    (void)sodium_bin2hex(hex, sizeof(hex), mac, sizeof(mac));
    (void)snprintf(out, size, "Vial-Signature: t=%s,v1=%s", at, hex);
}

static struct curl_slist *headers_of(const struct libcurl *lib, const struct parcel *p)
{
    char signature[160], id[64], trace[80];
    struct curl_slist *list = NULL;

    sign(p, signature, sizeof(signature));
    (void)snprintf(id, sizeof(id), "Vial-Run-Id: %s", p->id);
    list = lib->slist_append(list, "Content-Type: application/json");
    list = lib->slist_append(list, "Expect:");
    list = lib->slist_append(list, signature);
    list = lib->slist_append(list, id);
    if (p->traceparent[0] != '\0') {
        (void)snprintf(trace, sizeof(trace), "traceparent: %s", p->traceparent);
        list = lib->slist_append(list, trace);
    }
    return list;
}

static int set_up(
    const struct libcurl *lib, CURL *easy, struct parcel *p, struct curl_slist *headers)
{
    int bad = 0;

    bad |= lib->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_PROXY, "") != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, p) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_HTTPHEADER, headers) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_USERAGENT, "vial") != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_URL, p->url) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_POST, 1L) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->body_len) != 0;
    bad |= lib->easy_setopt(easy, CURLOPT_POSTFIELDS, p->body) != 0;
    return bad ? -1 : 0;
}

/* The status of the answer, or 0 when there was none. */
static long perform(const struct libcurl *lib, CURL *easy, struct parcel *p)
{
    CURLM *multi = lib->multi_init();
    int running = 1, left = 0, is_done = 0;
    long status = 0;
    CURLMsg *message;

    if (multi == NULL || lib->multi_add_handle(multi, easy) != CURLM_OK) {
        return 0;
    }
    while (running > 0 && !__atomic_load_n(&p->callbacks->stop, __ATOMIC_SEQ_CST) &&
           lib->multi_perform(multi, &running) == CURLM_OK) {
        if (running > 0) {
            (void)lib->multi_poll(multi, NULL, 0, POLL_MS, NULL);
        }
    }
    while ((message = lib->multi_info_read(multi, &left)) != NULL) {
        is_done = message->msg == CURLMSG_DONE && message->data.result == CURLE_OK;
    }
    if (is_done) {
        (void)lib->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    }
    (void)lib->multi_remove_handle(multi, easy);
    (void)lib->multi_cleanup(multi);
    return status;
}

static long try_once(struct parcel *p)
{
    const struct libcurl *lib = NULL;
    struct curl_slist *headers;
    struct vial_error err;
    long status = 0;
    CURL *easy;

    if (libcurl_get(&lib, &err) < 0) {
        log_say(LOG_ERROR, "callbacks cannot be sent", "error", err.text, NULL);
        return 0;
    }
    easy = lib->easy_init();
    headers = headers_of(lib, p);
    if (easy != NULL && headers != NULL && set_up(lib, easy, p, headers) == 0) {
        status = perform(lib, easy, p);
    }
    lib->slist_free_all(headers);
    lib->easy_cleanup(easy);
    return status;
}

static void pause_ms(const struct parcel *p, int ms)
{
    for (; ms > 0 && !__atomic_load_n(&p->callbacks->stop, __ATOMIC_SEQ_CST); ms -= POLL_MS) {
        (void)usleep(POLL_MS * 1000);
    }
}

static void work(struct job *job)
{
    struct parcel *p = (struct parcel *)job;
    char text[16] = "";
    long status = 0;
    int i;

    for (i = 0; i < TRIES && !p->is_refused; i++) {
        if (i > 0) {
            pause_ms(p, i == 1 ? PAUSE_MS : PAUSE_MS * 5);
        }
        status = try_once(p);
        if (status >= 200 && status < 300) {
            break;
        }
    }
    (void)snprintf(text, sizeof(text), "%ld", status);
    log_say(status >= 200 && status < 300 ? LOG_INFO : LOG_WARN, "callback", "run_id", p->id,
        "status", text, "refused", p->is_refused ? "the address is not public" : NULL, NULL);
    explicit_bzero(p->secret, strlen(p->secret));
    free(p->secret);
    free(p->url);
    free(p->body);
    free(p);
}

void callback_send(struct run *run, const char *url, const char *secret)
{
    struct parcel *p = calloc(1, sizeof(*p));

    if (p == NULL) {
        return;
    }
    p->job.work = work;
    p->callbacks = run->server->callbacks;
    p->may_be_private = (int)run->server->options->callback_private;
    p->url = strdup(url);
    p->secret = strdup(secret);
    p->body = malloc(run->json_len + 1);
    p->body_len = run->json_len;
    memcpy(p->id, run->id, sizeof(p->id));
    memcpy(p->traceparent, run->traceparent, sizeof(p->traceparent));
    if (p->url != NULL && p->secret != NULL && p->body != NULL && run->json != NULL) {
        memcpy(p->body, run->json, run->json_len);
        if (jobs_add(p->callbacks->jobs, &p->job) == 0) {
            return;
        }
        log_say(LOG_WARN, "too many callbacks wait; one is dropped", "run_id", run->id, NULL);
    }
    free(p->url);
    free(p->secret);
    free(p->body);
    free(p);
}
