/* tool_http.c - see tool_http.h.
 *
 * A call is one transfer in a loop of our own, because libcurl's looks at nothing else for a second
 * at a time. What arrives is judged while it arrives: a transfer is broken off as soon as it is
 * known to come to nothing, and the reason is noted for the end. */
#include "host/tool_http.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/sigpipe.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "host/libcurl.h"

enum {
    TICK_MS = 20, /* how soon a cancelled call ends */
    /* Connections a thread keeps: more would be many for a hundred threads. */
    CONNECTIONS_MAX = 2,
    /* A connection that rested for longer is not used again: servers close theirs after 5 s or
     * more, and a call that meets such an end fails, because it is not repeated. */
    CONNECTION_REST_S = 3,
};

/* Why a transfer was broken off. */
enum stop {
    STOP_NOT = 0,
    STOP_DEADLINE,
    STOP_CANCELLED,
    STOP_HEAD,    /* too many headers */
    STOP_ENCODED, /* compressed, though nobody asked for that */
    STOP_TYPE,    /* neither JSON nor text */
    STOP_LARGE,
    STOP_ENOUGH, /* the rest of a body that only illustrates a failure */
    STOP_MEMORY,
};

struct call {
    const struct libcurl *lib;
    CURL *easy;
    const char *args;
    size_t len;
    size_t sent;
    unsigned requests_count;
    struct buf *answer; /* of a failure, the beginning of its body */
    size_t answer_bytes_max;
    size_t head_bytes;
    enum stop stop;
    int body_begun;
    int encoded;
    char type[128];     /* the content type, or "" */
    char location[256]; /* where a redirect points to, without query */
    char curl_text[CURL_ERROR_SIZE];
};

/* ---- one pair of handles a thread, because connections live in them ---- */

struct handles {
    const struct libcurl *lib;
    CURLM *multi;
    CURL *easy;
};

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int key_sys;

static void handles_free(void *user)
{
    struct handles *h = user;

    if (h->easy != NULL) {
        h->lib->easy_cleanup(h->easy);
    }
    if (h->multi != NULL) {
        (void)h->lib->multi_cleanup(h->multi);
    }
    free(h);
}

static void key_make(void)
{
    key_sys = pthread_key_create(&key, handles_free);
}

static int handles_get(const struct libcurl *lib, struct handles **ret, struct vial_error *err)
{
    struct handles *h;

    (void)pthread_once(&key_once, key_make);
    if (key_sys != 0) {
        return vial__fail_sys(err, key_sys, "making room for the connections of a thread");
    }
    h = pthread_getspecific(key);
    if (h == NULL) {
        h = calloc(1, sizeof(*h));
        if (h == NULL) {
            return vial__fail(err, VIAL_E_NOMEM, "no memory for a call of a tool");
        }
        h->lib = lib;
        h->multi = lib->multi_init();
        h->easy = lib->easy_init();
        if (h->multi == NULL || h->easy == NULL ||
            lib->multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_MAX) != CURLM_OK ||
            pthread_setspecific(key, h) != 0) {
            handles_free(h);
            return vial__fail(err, VIAL_E_NOMEM, "libcurl has no memory for a call of a tool");
        }
    }
    *ret = h;
    return VIAL_OK;
}

/* ---- what libcurl calls ---- */

static size_t on_send(char *bytes, size_t size, size_t count, void *user)
{
    struct call *c = user;
    size_t n = c->len - c->sent;

    n = n < size * count ? n : size * count;
    if (n > 0) {
        memcpy(bytes, c->args + c->sent, n);
    }
    c->sent += n;
    return n;
}

/* libcurl sends a request once more, on another connection, when a kept one turns out to be dead.
 * What the server made of the first one is not known, and a tool may be anything, a payment too:
 * better a failure. Only a request that no server can have acted upon, because nothing of its body
 * was sent, may go out again. These are the two places where libcurl asks. */
static int may_send_again(const struct call *c)
{
    return c->sent == 0 && c->len > 0;
}

static int on_rewind(void *user, curl_off_t offset, int origin)
{
    return may_send_again(user) && offset == 0 && origin == SEEK_SET ? CURL_SEEKFUNC_OK
                                                                     : CURL_SEEKFUNC_FAIL;
}

static int on_request(
    void *user, char *their_address, char *our_address, int their_port, int our_port)
{
    struct call *c = user;

    (void)their_address;
    (void)our_address;
    (void)their_port;
    (void)our_port;
    c->requests_count++;
    return c->requests_count == 1 || may_send_again(c) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

/* The value of a header line when its name is this one, and its length without space around it. */
static const char *header_value(const char *line, size_t len, const char *name, size_t *ret_len)
{
    size_t at = strlen(name);

    if (len <= at || strncasecmp(line, name, at) != 0 || line[at] != ':') {
        return NULL;
    }
    for (at++; at < len && (line[at] == ' ' || line[at] == '\t'); at++) {
    }
    while (len > at && strchr(" \t\r\n", line[len - 1]) != NULL) {
        len--;
    }
    *ret_len = len - at;
    return line + at;
}

static void keep(char *text, size_t size, const char *value, size_t len)
{
    (void)snprintf(text, size, "%.*s", (int)(len < size ? len : size - 1), value);
}

static void note_header(struct call *c, const char *line, size_t len)
{
    const char *value;
    size_t n;

    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) { /* the final answer, after interim ones */
        c->encoded = 0;
        c->type[0] = '\0';
        c->location[0] = '\0';
    } else if ((value = header_value(line, len, "Content-Type", &n)) != NULL) {
        keep(c->type, sizeof(c->type), value, n);
    } else if ((value = header_value(line, len, "Content-Encoding", &n)) != NULL) {
        c->encoded |= n != 0 && !(n == 8 && strncasecmp(value, "identity", 8) == 0);
    } else if ((value = header_value(line, len, "Transfer-Encoding", &n)) != NULL) {
        if (n != 7 || strncasecmp(value, "chunked", 7) != 0) {
            c->stop = STOP_ENCODED; /* now: libcurl decodes these even when not asked to */
        }
    } else if ((value = header_value(line, len, "Location", &n)) != NULL) {
        keep(c->location, sizeof(c->location), value, n);
        c->location[strcspn(c->location, "?#")] = '\0';
    }
}

static size_t on_head(char *line, size_t size, size_t count, void *user)
{
    struct call *c = user;
    size_t len = size * count;

    if (len > TOOL_HTTP_ANSWER_HEAD_BYTES_MAX - c->head_bytes) {
        c->stop = STOP_HEAD;
        return 0;
    }
    c->head_bytes += len;
    if (!c->body_begun) { /* what comes behind the body says nothing about it */
        note_header(c, line, len);
    }
    return c->stop == STOP_NOT ? len : 0;
}

static int is_json(const char *type)
{
    size_t len = strcspn(type, "; \t");

    return (len == 16 && strncasecmp(type, "application/json", 16) == 0) ||
           (len >= 5 && strncasecmp(type + len - 5, "+json", 5) == 0);
}

static int is_json_or_text(const char *type)
{
    return type[0] == '\0' || is_json(type) || strncasecmp(type, "text/", 5) == 0;
}

static long status_of(const struct call *c)
{
    long status = 0;

    (void)c->lib->easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static int is_success(long status)
{
    return status >= 200 && status <= 299;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    struct call *c = user;
    int success = is_success(status_of(c));
    size_t max = success ? c->answer_bytes_max : TOOL_EXCERPT_BYTES_MAX;
    size_t n = size * count;
    size_t room;

    c->body_begun = 1;
    if (c->encoded) {
        c->stop = STOP_ENCODED;
        return 0;
    }
    if (!is_json_or_text(c->type)) {
        c->stop = STOP_TYPE;
        return 0;
    }
    max = max < c->answer->max ? max : c->answer->max;
    room = max - c->answer->len;
    if (n > room) {
        c->stop = success ? STOP_LARGE : STOP_ENOUGH;
    }
    if (buf_add(c->answer, bytes, n < room ? n : room, NULL) < 0) {
        c->stop = STOP_MEMORY;
    }
    return c->stop == STOP_NOT ? n : 0;
}

/* ---- the request ---- */

static int tool_has_header(const struct tool_http *tool, const char *name)
{
    size_t len = strlen(name);
    size_t i;

    for (i = 0; i < tool->header_count; i++) {
        if (strncasecmp(tool->headers[i], name, len) == 0 && tool->headers[i][len] == ':') {
            return 1;
        }
    }
    return 0;
}

static int list_add(const struct libcurl *lib, struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = lib->slist_append(*list, text);

    if (longer == NULL) {
        return -1;
    }
    *list = longer;
    return 0;
}

/* The headers as libcurl wants them; NULL when there is no memory. */
static struct curl_slist *list_new(const struct libcurl *lib, const struct tool_http *tool)
{
    char trace[sizeof("traceparent: ") + TRACE_BYTES];
    struct curl_slist *list = NULL;
    size_t i;
    int r;

    r = list_add(lib, &list, "Expect:"); /* which means none: no second of waiting for a "go on" */
    if (r == 0 && !tool_has_header(tool, "Content-Type")) {
        r = list_add(lib, &list, "Content-Type: application/json");
    }
    if (r == 0 && !tool_has_header(tool, "Accept")) {
        r = list_add(lib, &list, "Accept: application/json");
    }
    if (r == 0 && tool->traceparent != NULL && !tool_has_header(tool, "traceparent")) {
        (void)snprintf(trace, sizeof(trace), "traceparent: %s", tool->traceparent);
        r = list_add(lib, &list, trace);
    }
    for (i = 0; i < tool->header_count && r == 0; i++) {
        r = list_add(lib, &list, tool->headers[i]);
    }
    if (r < 0) {
        lib->slist_free_all(list);
        return NULL;
    }
    return list;
}

/* Headers have secrets in them, which shall not stay in freed memory. */
static void list_free(const struct libcurl *lib, struct curl_slist *list)
{
    struct curl_slist *p;

    for (p = list; p != NULL; p = p->next) {
        explicit_bzero(p->data, strlen(p->data));
    }
    lib->slist_free_all(list);
}

/* Every option must be taken: one that is not known would leave a door open. */
static int set_options(
    struct call *c, const struct tool_http *tool, struct curl_slist *headers, uint64_t left_us)
{
    const struct libcurl *lib = c->lib;
    char agent[64];
    int bad = 0;

    (void)snprintf(agent, sizeof(agent), "vial/%s", vial_version());
    bad |= lib->easy_setopt(c->easy, CURLOPT_PROTOCOLS_STR, "http,https") != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_FOLLOWLOCATION, 0L) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_PROXY, "") != 0; /* none from the environment */
    bad |= lib->easy_setopt(c->easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_SSL_VERIFYPEER, 1L) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_SSL_VERIFYHOST, 2L) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) != 0;
    /* The simple protocol is enough for one request at a time, and a smaller thing to attack. */
    bad |= lib->easy_setopt(c->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_QUICK_EXIT, 1L) != 0; /* no waiting for resolvers */
    bad |= lib->easy_setopt(c->easy, CURLOPT_MAXAGE_CONN, (long)CONNECTION_REST_S) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_TIMEOUT_MS, (long)(left_us / 1000 + 1)) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_ERRORBUFFER, c->curl_text) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_USERAGENT, agent) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_HTTPHEADER, headers) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_URL, tool->url) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_POST, 1L) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->len) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_READFUNCTION, on_send) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_READDATA, c) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_SEEKFUNCTION, on_rewind) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_SEEKDATA, c) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_PREREQFUNCTION, on_request) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_PREREQDATA, c) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, on_head) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_HEADERDATA, c) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, on_body) != 0;
    bad |= lib->easy_setopt(c->easy, CURLOPT_WRITEDATA, c) != 0;
    return bad ? -1 : 0;
}

/* ---- the transfer ---- */

/* Sets *ret to how it ended, unless it was stopped. */
static int transfer(struct call *c, CURLM *multi, uint64_t deadline_us, const int *cancelled,
    CURLcode *ret, struct vial_error *err)
{
    CURLMcode code = CURLM_OK;
    uint64_t now, wait_ms;
    int running = 1;
    int left;
    CURLMsg *m;

    while (code == CURLM_OK) {
        now = clock_now_us();
        if (cancelled != NULL && __atomic_load_n(cancelled, __ATOMIC_ACQUIRE) != 0) {
            c->stop = STOP_CANCELLED;
            return VIAL_OK;
        }
        if (now >= deadline_us) {
            c->stop = STOP_DEADLINE;
            return VIAL_OK;
        }
        code = c->lib->multi_perform(multi, &running);
        if (code != CURLM_OK || running == 0) {
            break;
        }
        wait_ms = (deadline_us - now + 999) / 1000;
        code = c->lib->multi_poll(multi, NULL, 0, wait_ms < TICK_MS ? (int)wait_ms : TICK_MS, NULL);
    }
    if (code != CURLM_OK) {
        return vial__fail(err, code == CURLM_OUT_OF_MEMORY ? VIAL_E_NOMEM : VIAL_E_SYS,
            "calling a tool over HTTP: %s", c->lib->multi_strerror(code));
    }
    m = c->lib->multi_info_read(multi, &left);
    if (m == NULL || m->msg != CURLMSG_DONE) {
        return vial__fail(err, VIAL_E_SYS, "libcurl lost a call of a tool");
    }
    *ret = m->data.result;
    return VIAL_OK;
}

/* ---- the outcome ---- */

static int fail_network(struct call *c, CURLcode code, struct tool_failure *failure)
{
    const char *why;
    long sys = 0;

    (void)c->lib->easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &sys);
    tool_failure_detail(
        failure, "%s", c->curl_text[0] != '\0' ? c->curl_text : c->lib->easy_strerror(code));
    if (code == CURLE_COULDNT_RESOLVE_HOST) {
        why = "the name of the tool's server was not found";
    } else if (code == CURLE_COULDNT_CONNECT && sys == ECONNREFUSED) {
        why = "the tool's server refused the connection";
    } else if (code == CURLE_COULDNT_CONNECT) {
        why = "the tool's server cannot be reached";
    } else if (code == CURLE_PEER_FAILED_VERIFICATION) {
        why = "the certificate of the tool's server is not to be trusted";
    } else if (code == CURLE_SSL_CONNECT_ERROR) {
        why = "the tool's server and the host could not agree on TLS";
    } else if (code == CURLE_GOT_NOTHING || code == CURLE_SEND_FAIL_REWIND ||
               code == CURLE_ABORTED_BY_CALLBACK) {
        why = "the tool's server closed the connection without an answer";
    } else if (code == CURLE_PARTIAL_FILE) {
        why = "the tool's server closed the connection in the middle of its answer";
    } else if (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR) {
        why = "the connection to the tool's server broke";
    } else if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY ||
               code == CURLE_BAD_CONTENT_ENCODING) {
        why = "what the tool's server sent is not HTTP";
    } else {
        why = c->lib->easy_strerror(code);
    }
    return tool_failure_set(failure, TOOL_ERROR_NETWORK, "%s", why);
}

/* A status other than 2xx: {"status": 404, "body": "..."}. */
static int fail_status(
    struct call *c, long status, struct tool_failure *failure, struct vial_error *err)
{
    struct json_writer w;
    size_t len = tool_excerpt_len(c->answer->data, c->answer->len, TOOL_EXCERPT_BYTES_MAX - 3);
    int r;

    json_init(&w, &failure->fields, err);
    json_begin_object(&w);
    json_key(&w, "status");
    json_i64(&w, status);
    if (len > 0 && utf8_valid(c->answer->data, len, NULL)) {
        json_key(&w, "body");
        json_write_string(&w, c->answer->data, len);
    }
    json_end_object(&w);
    r = json_finish(&w);
    if (r < 0) {
        return r;
    }
    if (status >= 300 && status <= 399 && c->location[0] != '\0') {
        tool_failure_detail(failure, "redirect to %s", c->location);
        return tool_failure_set(failure, TOOL_ERROR_HTTP,
            "the tool's server answered with a redirect (status %ld), which is not followed",
            status);
    }
    return tool_failure_set(
        failure, TOOL_ERROR_HTTP, "the tool's server answered with status %ld", status);
}

static int fail_stopped(struct call *c, struct tool_failure *failure, struct vial_error *err)
{
    switch (c->stop) {
    case STOP_DEADLINE:
        return tool_failure_set(
            failure, TOOL_ERROR_TIMEOUT, "the tool's server did not answer in time");
    case STOP_CANCELLED:
        return tool_failure_set(failure, TOOL_ERROR_ABORT, "the call of the tool was cancelled");
    case STOP_HEAD:
        return tool_failure_set(failure, TOOL_ERROR_ANSWER,
            "the tool's server sent more than %d bytes of headers",
            TOOL_HTTP_ANSWER_HEAD_BYTES_MAX);
    case STOP_ENCODED:
        return tool_failure_set(failure, TOOL_ERROR_ANSWER,
            "the tool's server sent a compressed answer, which it was not asked for");
    case STOP_TYPE:
        return tool_failure_set(failure, TOOL_ERROR_ANSWER,
            "the answer of the tool is \"%s\"; it has to be JSON", c->type);
    case STOP_LARGE:
        return tool_failure_set(failure, TOOL_ERROR_ANSWER,
            "the answer of the tool is larger than the %zu bytes it may have",
            c->answer_bytes_max < c->answer->max ? c->answer_bytes_max : c->answer->max);
    case STOP_NOT:
    case STOP_ENOUGH:
    case STOP_MEMORY:
        break;
    }
    return vial__fail(err, VIAL_E_NOMEM, "no memory for the answer of a tool");
}

static int conclude(
    struct call *c, CURLcode code, struct tool_failure *failure, struct vial_error *err)
{
    long status = status_of(c);

    if (c->stop == STOP_DEADLINE || c->stop == STOP_CANCELLED || c->stop == STOP_HEAD ||
        c->stop == STOP_MEMORY) {
        return fail_stopped(c, failure, err);
    }
    /* libcurl 7.88 says so of a single header of more than 100 KiB too, and real want of memory
     * hardly ever comes in just that moment. */
    if (code == CURLE_OUT_OF_MEMORY && c->sent == c->len && !c->body_begun) {
        c->stop = STOP_HEAD;
        return fail_stopped(c, failure, err);
    }
    if (code == CURLE_OUT_OF_MEMORY) {
        return vial__fail(err, VIAL_E_NOMEM, "libcurl has no memory for a call of a tool");
    }
    if (code == CURLE_OPERATION_TIMEDOUT) {
        c->stop = STOP_DEADLINE;
        return fail_stopped(c, failure, err);
    }
    if (status >= 300) { /* what is wrong with its body matters less */
        return fail_status(c, status, failure, err);
    }
    if (c->stop != STOP_NOT) {
        return fail_stopped(c, failure, err);
    }
    if (code != CURLE_OK) {
        return fail_network(c, code, failure);
    }
    if (c->answer->len == 0) {
        return buf_add_text(c->answer, "null", err);
    }
    return tool_answer_check(c->answer, failure);
}

static int call_with(struct call *c, struct handles *h, const struct tool_http *tool,
    uint64_t deadline_us, const int *cancelled, struct tool_failure *failure,
    struct vial_error *err)
{
    struct curl_slist *headers = list_new(c->lib, tool);
    uint64_t now = clock_now_us();
    CURLcode code = CURLE_OK;
    int r;

    if (headers == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the headers of a tool");
    }
    if (set_options(c, tool, headers, deadline_us > now ? deadline_us - now : 0) < 0) {
        r = vial__fail(err, VIAL_E_SYS, "libcurl does not take the options of a call");
    } else if (c->lib->multi_add_handle(h->multi, c->easy) != CURLM_OK) {
        r = vial__fail(err, VIAL_E_NOMEM, "libcurl has no memory for a call of a tool");
    } else {
        r = transfer(c, h->multi, deadline_us, cancelled, &code, err);
        if (r == 0) {
            r = conclude(c, code, failure, err);
        }
        (void)c->lib->multi_remove_handle(h->multi, c->easy);
    }
    c->lib->easy_reset(c->easy);
    list_free(c->lib, headers);
    return r;
}

int tool_http_call(const struct tool_http *tool, const char *args, size_t len, uint64_t deadline_us,
    size_t answer_bytes_max, const int *cancelled, struct buf *answer, struct tool_failure *failure,
    struct vial_error *err)
{
    struct call c = {
        .args = args, .len = len, .answer = answer, .answer_bytes_max = answer_bytes_max};
    struct handles *h = NULL;
    struct sigpipe held;
    int r;

    buf_clear(answer);
    tool_failure_clear(failure);
    r = libcurl_get(&c.lib, err);
    if (r == 0) {
        r = handles_get(c.lib, &h, err);
    }
    if (r != 0 || h == NULL) {
        return r;
    }
    c.easy = h->easy;
    sigpipe_hold(&held); /* TLS libraries write without asking for EPIPE instead */
    r = call_with(&c, h, tool, deadline_us, cancelled, failure, err);
    sigpipe_release(&held);
    if (r != 0) {
        buf_clear(answer);
    }
    return r;
}
