/* test_fetch.c - requests of programs through the library: secrets that they never see, and what is
 * left of requests when their run is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper.h"
#include "http_server.h"
#include "vial.h"

static const char SECRET[] = "s3cr3t-v4lue/\"x";
static struct vial_engine *engine;
static struct http_server *server;

/* Answers with the request as it came, in the body and in a header. */
static void echo(struct http_server *s, int fd)
{
    char head[4096];
    const char *line;

    if (http_server_read(s, fd) < 0) {
        return;
    }
    line = strstr(s->request, "X-Key: ");
    (void)snprintf(head, sizeof(head),
        "HTTP/1.1 %s\r\nConnection: close\r\nX-Echo: %.*s\r\n%s%s%sContent-Length: %zu\r\n\r\n",
        s->text != NULL ? "302 Found" : "200 OK", line != NULL ? (int)strcspn(line + 7, "\r") : 0,
        line != NULL ? line + 7 : "", s->text != NULL ? "Location: " : "",
        s->text != NULL ? s->text : "", s->text != NULL ? "\r\n" : "", strlen(s->request));
    (void)http_server_send_text(fd, head);
    (void)http_server_send_text(fd, s->request);
}

static int give_secret(
    const char *name, char *bytes, size_t *ret_len, struct vial_error *err, void *user)
{
    (void)user;
    if (strcmp(name, "KEY") != 0) {
        err->code = VIAL_E_INVALID;
        (void)snprintf(err->text, sizeof(err->text), "there is no secret %s", name);
        return VIAL_E_INVALID;
    }
    memcpy(bytes, SECRET, strlen(SECRET));
    *ret_len = strlen(SECRET);
    return VIAL_OK;
}

static int start(void **state)
{
    struct vial_engine_options options = helper_options();
    struct vial_error err;

    (void)state;
    options.on_secret = give_secret;
    if (vial_engine_new(&options, &engine, &err) < 0) {
        return -1;
    }
    server = http_server_new(echo, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    http_server_free(server);
    vial_engine_free(engine);
    return 0;
}

/* Runs a program that may ask the server; inject is the member of the rule, or "". */
static struct vial_result *run(const char *source, const char *inject)
{
    struct vial_request q = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    char net[1024], text[2048];

    (void)snprintf(net, sizeof(net),
        "[{\"effect\":\"allow\",\"name\":\"echo\",\"match\":{\"scheme\":\"http\",\"host\":"
        "\"127.0.0.1\",\"port\":%u},\"addresses\":[\"127.0.0.1\"]%s}]",
        server->port, inject);
    (void)snprintf(text, sizeof(text), "const url = 'http://127.0.0.1:%u/p?a=1&key=own'; %s",
        server->port, source);
    limits.redirects_max = 3;
    q.source = text;
    q.source_len = strlen(text);
    q.limits = &limits;
    q.net = net;
    q.net_len = strlen(net);
    if (vial_run(engine, &q, &result, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return result;
}

static const char ASK[] = "const r = await fetch(url, {headers: {'X-Key': 'mine', Authorization: "
                          "'mine'}}); [await r.text(), r.headers.get('x-echo'), r.url]";

/* The server got it; nothing that the run gives out has it. */
static void expect_hidden(const char *inject, const char *sent, const char *told)
{
    struct vial_result *result = run(ASK, inject);
    const char *json = vial_result_json(result, NULL);

    if (vial_result_status(result) != VIAL_STATUS_OK) {
        fail_msg("%s", json);
    }
    if (strstr(server->request, sent) == NULL) {
        fail_msg("the server got %s", server->request);
    }
    assert_null(strstr(json, "s3cr3t"));
    assert_null(strstr(json, "czNjcjN0")); /* in base64 */
    if (strstr(json, told) == NULL) {
        fail_msg("%s is not in %s", told, json);
    }
    vial_result_free(result);
}

static void a_header_is_sent_and_taken_out_of_the_answer(void **state)
{
    (void)state;
    expect_hidden(",\"inject\":{\"header\":\"X-Key\",\"secret\":\"KEY\"}",
        "X-Key: s3cr3t-v4lue/\"x\r\n", "X-Key: [secret KEY]");
    assert_null(strstr(server->request, "X-Key: mine"));
    expect_hidden(
        ",\"inject\":{\"header\":\"X-Key\",\"secret\":\"KEY\"}", "X-Key: ", "\"[secret KEY]\"");
}

static void a_bearer_takes_the_place_of_the_programs_own(void **state)
{
    (void)state;
    expect_hidden(",\"inject\":{\"bearer\":\"KEY\"}", "Authorization: Bearer s3cr3t-v4lue/\"x\r\n",
        "Bearer [secret KEY]");
    assert_null(strstr(server->request, "Authorization: mine"));
}

static void a_key_of_the_query_is_not_in_the_url_that_is_told(void **state)
{
    char own[64];

    (void)state;
    (void)snprintf(own, sizeof(own), "\"http://127.0.0.1:%u/p?a=1&key=own\"", server->port);
    expect_hidden(",\"inject\":{\"query\":\"key\",\"secret\":\"KEY\"}",
        "GET /p?a=1&key=%73%33%63%72%33%74", own);
    assert_null(strstr(server->request, "key=own"));
}

static void a_redirect_with_the_secret_in_it_is_refused(void **state)
{
    struct vial_result *result;
    char where[128];

    (void)state;
    (void)snprintf(
        where, sizeof(where), "http://127.0.0.1:%u/q?k=s3cr3t-v4lue%%2F%%22x", server->port);
    server->text = where;
    result = run("try { await fetch(url) } catch (e) { e.code + e.message }",
        ",\"inject\":{\"bearer\":\"KEY\"}");
    server->text = NULL;
    assert_non_null(strstr(vial_result_json(result, NULL), "\"secret127.0.0.1 redirects to a URL"));
    assert_null(strstr(vial_result_json(result, NULL), "s3cr3t"));
    vial_result_free(result);
}

static void without_the_secret_nothing_is_asked(void **state)
{
    unsigned before = server->requests_count;
    struct vial_result *result;

    (void)state;
    result = run("try { await fetch(url) } catch (e) { [e.name, e.code, e.rule] }",
        ",\"inject\":{\"bearer\":\"OTHER\"}");
    assert_string_equal(vial_result_value(result, NULL), "[\"NetworkError\",\"secret\",\"echo\"]");
    vial_result_free(result);
    assert_int_equal(server->requests_count, before);
}

static void a_record_says_what_was_asked(void **state)
{
    struct vial_call_record record = VIAL_CALL_RECORD_INIT;
    struct vial_result *result = run("(await fetch(url)).status", "");

    (void)state;
    assert_string_equal(vial_result_value(result, NULL), "200");
    assert_int_equal(vial_result_call_count(result), 1);
    assert_int_equal(vial_result_call(result, 0, &record), 0);
    assert_string_equal(record.name, "fetch");
    assert_int_equal(record.status, VIAL_CALL_OK);
    assert_non_null(strstr(record.request, "\"rule\":\"echo\""));
    assert_non_null(strstr(record.request, "/p?a=*&key=*\""));
    vial_result_free(result);
}

static void rules_that_are_none_are_an_error_of_the_caller(void **state)
{
    struct vial_request q = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    (void)state;
    q.source = "1";
    q.source_len = 1;
    q.net = "[{}]";
    q.net_len = 4;
    assert_int_equal(vial_run(engine, &q, &result, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "the rules of the network"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_sent_and_taken_out_of_the_answer),
        cmocka_unit_test(a_bearer_takes_the_place_of_the_programs_own),
        cmocka_unit_test(a_key_of_the_query_is_not_in_the_url_that_is_told),
        cmocka_unit_test(a_redirect_with_the_secret_in_it_is_refused),
        cmocka_unit_test(without_the_secret_nothing_is_asked),
        cmocka_unit_test(a_record_says_what_was_asked),
        cmocka_unit_test(rules_that_are_none_are_an_error_of_the_caller),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
