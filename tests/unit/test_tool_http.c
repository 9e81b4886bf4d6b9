/* test_tool_http.c - tools that are servers, with a real one that misbehaves in every way it can.
 */
#include "host/tool_http.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "helper.h"
#include "http_server.h"

enum { ANSWER_MAX = 100000, LONG_MS = 20000 };

#define SECRET "Bearer tell-nobody"

/* A call and what came of it. */
struct outcome {
    int r;
    struct buf answer;
    struct tool_failure failure;
    struct vial_error err;
    uint64_t us;
};

/* A count of a server, which its thread may be changing. */
static unsigned count(const unsigned *what)
{
    return __atomic_load_n(what, __ATOMIC_SEQ_CST);
}

static void outcome_release(struct outcome *o)
{
    buf_release(&o->answer);
    tool_failure_release(&o->failure);
}

/* What the guest gets must never have these in it. */
static void assert_discreet(const char *text)
{
    if (text != NULL) {
        assert_null(strstr(text, "tell-nobody"));
        assert_null(strstr(text, "127.0.0.1"));
        assert_null(strstr(text, "localhost"));
        assert_null(strstr(text, "hidden"));
    }
}

static void call_tool(const struct tool_http *tool, const char *args, size_t len, unsigned ms,
    const int *cancelled, struct outcome *o)
{
    uint64_t begun = clock_now_us();

    *o = (struct outcome){.r = 99};
    buf_init(&o->answer, (size_t)ANSWER_MAX * 2);
    tool_failure_init(&o->failure);
    assert_int_equal(tool_http_check(tool, &o->err), 0);
    o->r = tool_http_call(tool, args, len, begun + (uint64_t)ms * 1000, ANSWER_MAX, cancelled,
        &o->answer, &o->failure, &o->err);
    o->us = clock_now_us() - begun;
    assert_int_equal(strlen(o->err.text) > 0, o->r < 0);
    assert_int_equal(strlen(o->failure.name) > 0, o->r == TOOL_FAILED);
    assert_int_equal(strlen(o->failure.message) > 0, o->r == TOOL_FAILED);
    assert_true(o->r == 0 || o->answer.len == 0);
    assert_discreet(o->failure.message);
    assert_discreet(o->failure.fields.data);
    if (o->failure.fields.len > 0) {
        assert_int_equal(o->r, TOOL_FAILED);
        assert_int_equal(json_check(o->failure.fields.data, o->failure.fields.len, 4, NULL), 0);
    }
}

static void call_url(const char *url, unsigned ms, struct outcome *o)
{
    static const char *const headers[] = {"Authorization: " SECRET};
    struct tool_http tool = {.url = url, .headers = headers, .header_count = 1};

    call_tool(&tool, "{\"a\":1}", 7, ms, NULL, o);
}

static void call_server(struct http_server *s, unsigned ms, struct outcome *o)
{
    char url[100];

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/hidden?q=hidden", s->port);
    call_url(url, ms, o);
}

/* One call of a server that serves like this. */
static void call_once(void (*serve)(struct http_server *server, int fd), const char *text,
    unsigned ms, struct outcome *o)
{
    struct http_server *s = http_server_new(serve, text);

    call_server(s, ms, o);
    http_server_free(s);
}

static void expect_answer(const char *response, const char *answer)
{
    struct outcome o;

    call_once(http_serve_text, response, LONG_MS, &o);
    if (o.r != 0) {
        fail_msg("%s: %s: %s %s", response, o.failure.name, o.failure.message, o.failure.detail);
    }
    assert_string_equal(o.answer.data, answer);
    outcome_release(&o);
}

static void expect_outcome(const struct outcome *o, const char *name, const char *message)
{
    assert_int_equal(o->r, TOOL_FAILED);
    assert_string_equal(o->failure.name, name);
    if (strstr(o->failure.message, message) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", message, o->failure.message);
    }
}

/* Expects a failure with this name, this text in the message and exactly these fields. */
static void expect_failure(
    const char *response, const char *name, const char *message, const char *fields)
{
    struct outcome o;

    call_once(http_serve_text, response, LONG_MS, &o);
    expect_outcome(&o, name, message);
    if (fields != NULL) {
        assert_true(o.failure.fields.len > 0);
        assert_string_equal(o.failure.fields.data, fields);
    } else {
        assert_int_equal(o.failure.fields.len, 0);
    }
    outcome_release(&o);
}

/* ---- servers that behave ---- */

#define OK "HTTP/1.1 200 OK\r\n"
#define JSON "Content-Type: application/json\r\n"

static void the_arguments_are_posted_with_the_headers_of_the_tool(void **state)
{
    static const char *const headers[] = {"Authorization: " SECRET, "X-Two:2"};
    static const char *const others[] = {"content-type: application/vnd.x+json", "Accept: */*"};
    struct http_server *s = http_server_new(http_serve_text, OK JSON "\r\n[true]");
    struct tool_http tool = {.headers = headers, .header_count = 2};
    struct outcome o;
    char url[100];

    (void)state;
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/do?x=1", s->port);
    tool.url = url;
    call_tool(&tool, "{\"a\":1}", 7, LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    assert_string_equal(o.answer.data, "[true]");
    outcome_release(&o);
    assert_int_equal(strncmp(s->request, "POST /do?x=1 HTTP/1.1\r\n", 23), 0);
    assert_non_null(strstr(s->request, "\r\nAuthorization: " SECRET "\r\n"));
    assert_non_null(strstr(s->request, "\r\nX-Two:2\r\n"));
    assert_non_null(strstr(s->request, "\r\nContent-Type: application/json\r\n"));
    assert_non_null(strstr(s->request, "\r\nAccept: application/json\r\n"));
    assert_non_null(strstr(s->request, "\r\nContent-Length: 7\r\n"));
    assert_non_null(strstr(s->request, "\r\nUser-Agent: vial/"));
    assert_null(strcasestr(s->request, "\r\nAccept-Encoding:"));
    assert_null(strcasestr(s->request, "\r\nExpect:"));
    assert_null(strcasestr(s->request, "\r\nCookie:"));
    assert_string_equal(s->request + s->body_at, "{\"a\":1}");
    tool.headers = others;
    call_tool(&tool, "", 0, LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    outcome_release(&o);
    assert_non_null(strstr(s->request, "\r\ncontent-type: application/vnd.x+json\r\n"));
    assert_null(strstr(s->request, "application/json"));
    assert_non_null(strstr(s->request, "\r\nContent-Length: 0\r\n"));
    http_server_free(s);
}

static void the_trace_is_a_header_unless_the_tool_has_its_own(void **state)
{
    static const char *const own[] = {"Traceparent: own"};
    struct http_server *s = http_server_new(http_serve_text, OK JSON "\r\n[true]");
    struct tool_http tool = {
        .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
    struct outcome o;
    char url[100];

    (void)state;
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", s->port);
    tool.url = url;
    call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    outcome_release(&o);
    assert_non_null(strstr(s->request,
        "\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"));
    tool.headers = own;
    tool.header_count = 1;
    call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    outcome_release(&o);
    assert_non_null(strstr(s->request, "\r\nTraceparent: own\r\n"));
    assert_null(strstr(s->request, "0af7651916cd43dd8448eb211c80319c"));
    http_server_free(s);
}

static void large_arguments_are_sent_without_waiting(void **state)
{
    struct http_server *s = http_server_new(http_serve_text, OK JSON "\r\n1");
    size_t len = 3000000;
    char *args = malloc(len);
    struct tool_http tool = {0};
    struct outcome o;
    char url[100];

    (void)state;
    assert_non_null(args);
    (void)memset(args, ' ', len);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", s->port);
    tool.url = url;
    call_tool(&tool, args, len, LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    assert_true(o.us < 900000); /* "Expect: 100-continue" waits for a second */
    outcome_release(&o);
    http_server_free(s);
    free(args);
}

static void json_and_text_that_is_json_are_answers(void **state)
{
    (void)state;
    expect_answer(OK JSON "Content-Length: 2\r\n\r\n{}", "{}");
    expect_answer(OK "Content-Type: application/problem+json; charset=utf-8\r\n\r\n[1]", "[1]");
    expect_answer(OK "content-type: TEXT/Plain\r\n\r\n\"a\"\n", "\"a\"\n");
    expect_answer(OK "\r\n7", "7");
    expect_answer(OK JSON
        "Transfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n2\r\n,2\r\n1\r\n]\r\n0\r\n\r\n",
        "[1,2]");
    expect_answer("HTTP/1.1 201 Created\r\n" JSON "\r\n\xef\xbb\xbf{}", "{}");
    expect_answer(
        "HTTP/1.1 103 Early Hints\r\nContent-Encoding: gzip\r\n\r\n" OK JSON "\r\n2", "2");
    expect_answer(OK JSON "Content-Encoding: identity\r\n\r\n3", "3");
}

static void nothing_to_say_is_null(void **state)
{
    (void)state;
    expect_answer("HTTP/1.1 204 No Content\r\n\r\n", "null");
    expect_answer("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "null");
    expect_answer(OK "Content-Type: text/html\r\nContent-Length: 0\r\n\r\n", "null");
}

/* Serves requests until the caller goes away. */
static void serve_on_and_on(struct http_server *s, int fd)
{
    while (http_server_read(s, fd) == 0 &&
           http_server_send_text(fd, OK JSON "Content-Length: 1\r\n\r\n1") == 0) {
    }
}

static void *call_five_times(void *user)
{
    struct outcome o;
    unsigned i;

    for (i = 0; i < 5; i++) {
        call_server(user, LONG_MS, &o);
        assert_int_equal(o.r, 0);
        outcome_release(&o);
    }
    return NULL;
}

static void a_thread_uses_its_connection_again_and_closes_it_when_it_ends(void **state)
{
    unsigned before = helper_fds_count();
    struct http_server *s = http_server_new(serve_on_and_on, NULL);
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, call_five_times, s), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(count(&s->requests_count), 5);
    assert_int_equal(count(&s->connections_count), 1);
    http_server_free(s); /* which hangs when the connection is still open */
    assert_int_equal(helper_fds_count(), before);
}

/* Answers the first request and takes a second one without a word. */
static void serve_one_of_two(struct http_server *s, int fd)
{
    if (http_server_read(s, fd) == 0) {
        (void)http_server_send_text(fd, OK JSON "Content-Length: 1\r\n\r\n1");
        (void)http_server_read(s, fd);
    }
}

static void a_call_is_never_sent_twice(void **state)
{
    static const char *const args[] = {"{}", ""};
    struct tool_http tool = {0};
    struct http_server *s;
    struct outcome o;
    char url[100];
    unsigned i;

    (void)state;
    for (i = 0; i < 2; i++) {
        s = http_server_new(serve_one_of_two, NULL);
        (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", s->port);
        tool.url = url;
        call_tool(&tool, args[i], strlen(args[i]), LONG_MS, NULL, &o);
        assert_int_equal(o.r, 0);
        outcome_release(&o);
        call_tool(&tool, args[i], strlen(args[i]), LONG_MS, NULL, &o);
        expect_outcome(&o, "NetworkError", "without an answer");
        outcome_release(&o);
        helper_sleep_ms(20); /* for a third one, on another connection */
        assert_int_equal(count(&s->requests_count), 2);
        assert_int_equal(count(&s->fragments_count), 0);
        http_server_free(s);
    }
}

/* ---- servers that fail ---- */

static void a_status_is_a_failure_with_the_beginning_of_the_body(void **state)
{
    (void)state;
    expect_failure("HTTP/1.1 404 Not Found\r\n" JSON "\r\n{\"error\":\"no such user\"}",
        "HttpError", "status 404",
        "{\"status\":404,\"body\":\"{\\\"error\\\":\\\"no such user\\\"}\"}");
    expect_failure("HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\n\r\nbroken\n", "HttpError",
        "status 500", "{\"status\":500,\"body\":\"broken\\n\"}");
    expect_failure("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n", "HttpError", "status 503",
        "{\"status\":503}");
    expect_failure("HTTP/1.1 400 X\r\nContent-Type: image/png\r\n\r\nbytes", "HttpError",
        "status 400", "{\"status\":400}");
    expect_failure("HTTP/1.1 400 X\r\nContent-Encoding: gzip\r\n\r\nbytes", "HttpError",
        "status 400", "{\"status\":400}");
    expect_failure("HTTP/1.1 400 X\r\n\r\n\xff\xfe", "HttpError", "status 400", "{\"status\":400}");
    /* It breaks off, but what it said is known. */
    expect_failure("HTTP/1.1 429 X\r\nContent-Length: 100\r\n\r\nslow down", "HttpError",
        "status 429", "{\"status\":429,\"body\":\"slow down\"}");
}

static void serve_large_failure(struct http_server *s, int fd)
{
    char umlauts[1001];
    size_t i;
    int r;

    for (i = 0; i < 500; i++) {
        (void)memcpy(umlauts + 2 * i, "\xc3\xa4", 3);
    }
    (void)http_server_read(s, fd);
    r = http_server_send_text(fd, "HTTP/1.1 500 X\r\nContent-Type: text/plain\r\n\r\nx");
    for (i = 0; i < 1000000 && r == 0; i++) {
        r = http_server_send_text(fd, umlauts);
    }
}

static void of_a_large_failure_the_beginning_is_kept(void **state)
{
    struct outcome o;

    (void)state;
    call_once(serve_large_failure, NULL, LONG_MS, &o);
    expect_outcome(&o, "HttpError", "status 500");
    assert_int_equal(o.failure.fields.len, 4093 + strlen("{\"status\":500,\"body\":\"\"}"));
    assert_true(o.us < 10000000);
    outcome_release(&o);
}

static void redirects_are_not_followed(void **state)
{
    struct http_server *target = http_server_new(http_serve_text, OK JSON "\r\n1");
    struct outcome o;
    char response[300];

    (void)state;
    (void)snprintf(response, sizeof(response),
        "HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:%u/there?token=abc\r\nContent-Length: "
        "0\r\n\r\n",
        target->port);
    call_once(http_serve_text, response, LONG_MS, &o);
    expect_outcome(&o, "HttpError", "a redirect (status 307), which is not followed");
    assert_string_equal(o.failure.fields.data, "{\"status\":307}");
    assert_non_null(strstr(o.failure.detail, "/there"));
    assert_null(strstr(o.failure.detail, "abc"));
    outcome_release(&o);
    assert_int_equal(count(&target->connections_count), 0);
    http_server_free(target);
    expect_failure("HTTP/1.1 304 X\r\n\r\n", "HttpError", "status 304", "{\"status\":304}");
}

static void what_is_no_json_is_no_answer(void **state)
{
    (void)state;
    expect_failure(OK "Content-Type: text/html\r\n\r\n<html>", "AnswerError",
        "not JSON: line 1, column 1", NULL);
    expect_failure(OK JSON "\r\n{\"a\":", "AnswerError", "ends too early", NULL);
    expect_failure(OK JSON "\r\n\"\xff\"", "AnswerError", "not UTF-8", NULL);
    expect_failure(OK "Content-Type: application/octet-stream\r\n\r\n{}", "AnswerError",
        "is \"application/octet-stream\"; it has to be JSON", NULL);
    expect_failure(
        OK "Content-Type: image/x\x1b[0m\r\n\r\n{}", "AnswerError", "has to be JSON", NULL);
}

static void compressed_answers_are_refused(void **state)
{
    (void)state;
    expect_failure(
        OK JSON "Content-Encoding: gzip\r\n\r\n\x1f\x8b", "AnswerError", "compressed", NULL);
    expect_failure(OK JSON "content-encoding: br\r\n\r\n1", "AnswerError", "compressed", NULL);
    expect_failure(OK JSON "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n\r\n1",
        "AnswerError", "compressed", NULL);
}

static void compressed_transfers_are_refused(void **state)
{
    (void)state;
    expect_failure(OK JSON "Transfer-Encoding: gzip\r\n\r\n1", "AnswerError", "compressed", NULL);
    expect_failure(OK JSON "Transfer-Encoding: gzip, chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n",
        "AnswerError", "compressed", NULL);
    expect_failure("HTTP/1.1 500 X\r\nTransfer-Encoding: deflate\r\n\r\n1", "HttpError",
        "status 500", "{\"status\":500}");
}

static void what_is_no_http_is_a_failure(void **state)
{
    (void)state;
    expect_failure("hello\r\n\r\n", "NetworkError", "not HTTP", NULL);
    expect_failure("", "NetworkError", "without an answer", NULL);
    expect_failure("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1", "NetworkError",
        "in the middle of its answer", NULL);
    expect_failure(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "NetworkError", "", NULL);
    expect_failure("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n1", "NetworkError", "", NULL);
}

/* ---- servers that attack ---- */

static void serve_hanging(struct http_server *s, int fd)
{
    (void)http_server_read(s, fd);
    if (s->text != NULL) {
        (void)http_server_send_text(fd, s->text);
    }
    http_server_wait(s, fd);
}

static void a_server_that_hangs_is_left_at_the_deadline(void **state)
{
    static const char *const texts[] = {NULL, "HTTP/1.1 2", OK JSON, OK JSON "\r\n[1"};
    struct outcome o;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        call_once(serve_hanging, texts[i], 200, &o);
        expect_outcome(&o, "TimeoutError", "did not answer in time");
        assert_true(o.us >= 190000 && o.us < 5000000);
        outcome_release(&o);
    }
}

static void serve_dripping(struct http_server *s, int fd)
{
    (void)http_server_read(s, fd);
    if (http_server_send_text(fd, s->text) < 0) {
        return;
    }
    while (
        !__atomic_load_n(&s->stopping, __ATOMIC_SEQ_CST) && http_server_send_text(fd, "1") == 0) {
        helper_sleep_ms(20);
    }
}

static void a_server_that_drips_is_left_at_the_deadline(void **state)
{
    struct outcome o;

    (void)state;
    call_once(serve_dripping, OK JSON "\r\n", 300, &o);
    expect_outcome(&o, "TimeoutError", "did not answer in time");
    assert_true(o.us < 5000000);
    outcome_release(&o);
    call_once(serve_dripping, OK "X-Slow: ", 300, &o);
    expect_outcome(&o, "TimeoutError", "did not answer in time");
    assert_true(o.us < 5000000);
    outcome_release(&o);
}

/* Says text once, and then the same line for ever. */
static void serve_flood(struct http_server *s, int fd, const char *line)
{
    (void)http_server_read(s, fd);
    if (http_server_send_text(fd, s->text) < 0) {
        return;
    }
    while (
        !__atomic_load_n(&s->stopping, __ATOMIC_SEQ_CST) && http_server_send_text(fd, line) == 0) {
    }
}

static void serve_flood_of_headers(struct http_server *s, int fd)
{
    serve_flood(s, fd, "X-More: and more, and more, and more, and more, and more\r\n");
}

static void serve_flood_of_interim_answers(struct http_server *s, int fd)
{
    serve_flood(s, fd, "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n");
}

static void serve_flood_of_body(struct http_server *s, int fd)
{
    serve_flood(s, fd, "1111111111111111111111111111111111111111111111111111111111111111111111");
}

static void endless_headers_are_broken_off(void **state)
{
    struct outcome o;

    (void)state;
    call_once(serve_flood_of_headers, OK, LONG_MS, &o);
    expect_outcome(&o, "AnswerError", "more than 65536 bytes of headers");
    assert_true(o.us < 10000000);
    outcome_release(&o);
    call_once(serve_flood_of_interim_answers, "", LONG_MS, &o);
    expect_outcome(&o, "AnswerError", "more than 65536 bytes of headers");
    outcome_release(&o);
    call_once(serve_flood_of_body, OK "X-Long: ", LONG_MS, &o); /* one header without an end */
    expect_outcome(&o, "AnswerError", "more than 65536 bytes of headers");
    assert_true(o.us < 10000000);
    outcome_release(&o);
    call_once(serve_flood_of_headers, OK JSON "Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n",
        LONG_MS, &o); /* and behind the body */
    assert_int_equal(o.r, TOOL_FAILED);
    assert_true(o.us < 10000000);
    outcome_release(&o);
}

static void an_endless_answer_is_broken_off(void **state)
{
    struct outcome o;

    (void)state;
    call_once(serve_flood_of_body, OK JSON "\r\n", LONG_MS, &o);
    expect_outcome(&o, "AnswerError", "larger than the 100000 bytes");
    assert_true(o.us < 10000000);
    outcome_release(&o);
}

static void an_answer_may_have_its_maximum_and_no_more(void **state)
{
    char *response = malloc(ANSWER_MAX + 1000);
    size_t at;
    struct outcome o;

    (void)state;
    assert_non_null(response);
    at = (size_t)snprintf(response, 1000, "%s", OK JSON "\r\n");
    (void)memset(response + at, '1', ANSWER_MAX + 1);
    response[at + ANSWER_MAX] = '\0';
    call_once(http_serve_text, response, LONG_MS, &o);
    assert_int_equal(o.r, 0);
    assert_int_equal(o.answer.len, ANSWER_MAX);
    outcome_release(&o);
    response[at + ANSWER_MAX] = '1';
    response[at + ANSWER_MAX + 1] = '\0';
    call_once(http_serve_text, response, LONG_MS, &o);
    expect_outcome(&o, "AnswerError", "larger than the 100000 bytes");
    outcome_release(&o);
    free(response);
}

/* ---- no server ---- */

static void a_refused_connection_is_a_failure(void **state)
{
    struct http_server *s = http_server_new(http_serve_text, "");
    struct outcome o;
    char url[100];

    (void)state;
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", s->port);
    http_server_free(s);
    call_url(url, LONG_MS, &o);
    expect_outcome(&o, "NetworkError", "refused the connection");
    assert_non_null(strstr(o.failure.detail, "127.0.0.1"));
    outcome_release(&o);
}

/* The resolver, as libcurl sees it in this program: no test shall depend on a network. */
static unsigned resolver_ms;   /* atomic; how long it takes */
static unsigned resolver_left; /* atomic; calls that have not come back */

__attribute__((visibility("default"))) int getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    (void)name;
    (void)service;
    (void)hints;
    (void)ret;
    (void)__atomic_add_fetch(&resolver_left, 1, __ATOMIC_SEQ_CST);
    helper_sleep_ms(__atomic_load_n(&resolver_ms, __ATOMIC_SEQ_CST));
    (void)__atomic_sub_fetch(&resolver_left, 1, __ATOMIC_SEQ_CST);
    return EAI_NONAME;
}

static void a_name_that_is_not_found_is_a_failure(void **state)
{
    struct outcome o;

    (void)state;
    call_url("http://hidden.invalid/", LONG_MS, &o);
    expect_outcome(&o, "NetworkError", "the name of the tool's server was not found");
    outcome_release(&o);
}

static void a_name_server_that_hangs_is_left_at_the_deadline(void **state)
{
    struct outcome o;

    (void)state;
    __atomic_store_n(&resolver_ms, 2500, __ATOMIC_SEQ_CST);
    call_url("http://hidden2.invalid/", 200, &o);
    assert_true(__atomic_load_n(&resolver_left, __ATOMIC_SEQ_CST) > 0);
    expect_outcome(&o, "TimeoutError", "did not answer in time");
    assert_true(o.us < 2000000);
    outcome_release(&o);
    while (__atomic_load_n(&resolver_left, __ATOMIC_SEQ_CST) > 0) {
        helper_sleep_ms(10);
    }
    helper_sleep_ms(100); /* so that libcurl's thread has given back what it had */
    __atomic_store_n(&resolver_ms, 0, __ATOMIC_SEQ_CST);
}

static void serve_at_once(struct http_server *s, int fd)
{
    (void)http_server_send_text(fd, s->text);
    http_server_wait(s, fd);
}

static void a_server_that_speaks_no_tls_is_a_failure(void **state)
{
    struct http_server *s = http_server_new(serve_at_once, "HTTP/1.1 400 Bad Request\r\n\r\n");
    struct outcome o;
    char url[100];

    (void)state;
    (void)snprintf(url, sizeof(url), "https://127.0.0.1:%u/", s->port);
    call_url(url, LONG_MS, &o);
    expect_outcome(&o, "NetworkError", "could not agree on TLS");
    outcome_release(&o);
    http_server_free(s);
}

/* A server with the certificate and key in this file, which tells its port and answers with 1. */
static const char tls_server[] =
    "import http.server, ssl, sys\n"
    "class Handler(http.server.BaseHTTPRequestHandler):\n"
    "    def do_POST(self):\n"
    "        self.send_response(200)\n"
    "        self.end_headers()\n"
    "        self.wfile.write(b'1')\n"
    "    def log_message(self, *args):\n"
    "        pass\n"
    "server = http.server.HTTPServer(('127.0.0.1', 0), Handler)\n"
    "context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
    "context.load_cert_chain(sys.argv[1])\n"
    "server.socket = context.wrap_socket(server.socket, server_side=True)\n"
    "print(server.server_port, flush=True)\n"
    "server.serve_forever()\n";

/* Starts a program with its output into a pipe; the end to read from. */
static int start(const char *const argv[], pid_t *ret)
{
    int out[2];

    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    *ret = fork();
    assert_true(*ret >= 0);
    if (*ret == 0) {
        (void)dup2(out[1], 1);
        (void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2); /* openssl talks */
        (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    (void)close(out[1]);
    return out[0];
}

static void a_certificate_that_nobody_vouches_for_is_refused(void **state)
{
    char path[] = "/tmp/vial-test-tls-XXXXXX";
    /* Right in everything, but for being signed by itself. */
    const char *const make[] = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path, "-out", "/dev/stdout", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", NULL};
    const char *const serve[] = {"/usr/bin/python3", "-c", tls_server, path, NULL};
    int file = mkstemp(path);
    char text[4096] = "";
    struct outcome o;
    int fd, port = 0;
    ssize_t n;
    pid_t pid;

    (void)state;
    assert_true(file >= 0);
    fd = start(make, &pid);
    n = fd_read_up_to(fd, text, sizeof(text));
    assert_true(n > 0);
    (void)close(fd);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(lseek(file, 0, SEEK_END) > 0);
    assert_int_equal(fd_write_all(file, text, (size_t)n), 0);
    fd = start(serve, &pid);
    (void)memset(text, 0, sizeof(text));
    assert_true(read(fd, text, 50) > 0);
    assert_int_equal(sscanf(text, "%d", &port), 1);
    (void)snprintf(text, sizeof(text), "https://127.0.0.1:%d/", port);
    call_url(text, LONG_MS, &o);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    (void)close(fd);
    (void)close(file);
    (void)unlink(path);
    expect_outcome(&o, "NetworkError", "certificate of the tool's server is not to be trusted");
    outcome_release(&o);
}

/* ---- the environment of the host ---- */

static void proxies_and_credentials_of_the_environment_are_not_used(void **state)
{
    struct http_server *proxy = http_server_new(http_serve_text, OK JSON "\r\n\"proxy\"");
    struct http_server *s = http_server_new(http_serve_text, OK JSON "\r\n\"direct\"");
    char directory[] = "/tmp/vial-test-http-XXXXXX";
    char text[200], path[100];
    struct tool_http tool = {.url = text};
    struct outcome o;
    FILE *f;

    (void)state;
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof(path), "%s/.netrc", directory);
    f = fopen(path, "we");
    assert_non_null(f);
    (void)fputs("machine 127.0.0.1 login me password tell-nobody\n", f);
    (void)fclose(f);
    (void)snprintf(text, sizeof(text), "http://127.0.0.1:%u", proxy->port);
    assert_int_equal(setenv("HOME", directory, 1), 0);
    assert_int_equal(setenv("http_proxy", text, 1), 0);
    assert_int_equal(setenv("all_proxy", text, 1), 0);
    assert_int_equal(setenv("ALL_PROXY", text, 1), 0);
    (void)unsetenv("no_proxy");
    (void)unsetenv("NO_PROXY");
    (void)snprintf(text, sizeof(text), "http://127.0.0.1:%u/", s->port);
    call_tool(&tool, "1", 1, LONG_MS, NULL, &o);
    (void)unsetenv("http_proxy");
    (void)unsetenv("all_proxy");
    (void)unsetenv("ALL_PROXY");
    (void)unlink(path);
    (void)rmdir(directory);
    assert_int_equal(o.r, 0);
    assert_string_equal(o.answer.data, "\"direct\"");
    assert_null(strcasestr(s->request, "authorization"));
    assert_int_equal(count(&proxy->connections_count), 0);
    outcome_release(&o);
    http_server_free(s);
    http_server_free(proxy);
}

static void cookies_are_not_kept(void **state)
{
    struct http_server *s =
        http_server_new(http_serve_text, OK JSON "Set-Cookie: a=b; Path=/\r\n\r\n1");
    struct outcome o;
    int i;

    (void)state;
    for (i = 0; i < 2; i++) {
        call_server(s, LONG_MS, &o);
        assert_int_equal(o.r, 0);
        outcome_release(&o);
    }
    assert_null(strcasestr(s->request, "\r\nCookie:"));
    http_server_free(s);
}

static void the_headers_of_one_tool_are_not_sent_to_another(void **state)
{
    struct http_server *s = http_server_new(http_serve_text, OK JSON "\r\n1");
    struct tool_http tool = {0};
    struct outcome o;
    char url[100];

    (void)state;
    call_server(s, LONG_MS, &o);
    assert_non_null(strstr(s->request, SECRET));
    outcome_release(&o);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", s->port);
    tool.url = url;
    call_tool(&tool, "1", 1, LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    assert_null(strstr(s->request, SECRET));
    outcome_release(&o);
    http_server_free(s);
}

/* ---- cancelling ---- */

static void *cancel_soon(void *user)
{
    helper_sleep_ms(100);
    __atomic_store_n((int *)user, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void a_cancelled_call_ends_at_once(void **state)
{
    struct http_server *s = http_server_new(serve_hanging, NULL);
    struct tool_http tool = {0};
    int cancelled = 0;
    pthread_t thread;
    struct outcome o;
    char url[100];

    (void)state;
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", s->port);
    tool.url = url;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancelled), 0);
    call_tool(&tool, "1", 1, LONG_MS, &cancelled, &o);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_outcome(&o, "AbortError", "cancelled");
    assert_true(o.us >= 90000 && o.us < 5000000);
    outcome_release(&o);
    call_tool(&tool, "1", 1, LONG_MS, &cancelled, &o); /* and one that is so already is not sent */
    expect_outcome(&o, "AbortError", "cancelled");
    outcome_release(&o);
    cancelled = 0;
    call_tool(&tool, "1", 1, 0, &cancelled, &o);
    expect_outcome(&o, "TimeoutError", "in time");
    outcome_release(&o);
    assert_int_equal(count(&s->requests_count), 1);
    http_server_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_arguments_are_posted_with_the_headers_of_the_tool),
        cmocka_unit_test(the_trace_is_a_header_unless_the_tool_has_its_own),
        cmocka_unit_test(large_arguments_are_sent_without_waiting),
        cmocka_unit_test(json_and_text_that_is_json_are_answers),
        cmocka_unit_test(nothing_to_say_is_null),
        cmocka_unit_test(a_thread_uses_its_connection_again_and_closes_it_when_it_ends),
        cmocka_unit_test(a_call_is_never_sent_twice),
        cmocka_unit_test(a_status_is_a_failure_with_the_beginning_of_the_body),
        cmocka_unit_test(of_a_large_failure_the_beginning_is_kept),
        cmocka_unit_test(redirects_are_not_followed),
        cmocka_unit_test(what_is_no_json_is_no_answer),
        cmocka_unit_test(compressed_answers_are_refused),
        cmocka_unit_test(compressed_transfers_are_refused),
        cmocka_unit_test(what_is_no_http_is_a_failure),
        cmocka_unit_test(a_server_that_hangs_is_left_at_the_deadline),
        cmocka_unit_test(a_server_that_drips_is_left_at_the_deadline),
        cmocka_unit_test(endless_headers_are_broken_off),
        cmocka_unit_test(an_endless_answer_is_broken_off),
        cmocka_unit_test(an_answer_may_have_its_maximum_and_no_more),
        cmocka_unit_test(a_refused_connection_is_a_failure),
        cmocka_unit_test(a_name_that_is_not_found_is_a_failure),
        cmocka_unit_test(a_name_server_that_hangs_is_left_at_the_deadline),
        cmocka_unit_test(a_server_that_speaks_no_tls_is_a_failure),
        cmocka_unit_test(a_certificate_that_nobody_vouches_for_is_refused),
        cmocka_unit_test(proxies_and_credentials_of_the_environment_are_not_used),
        cmocka_unit_test(cookies_are_not_kept),
        cmocka_unit_test(the_headers_of_one_tool_are_not_sent_to_another),
        cmocka_unit_test(a_cancelled_call_ends_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
