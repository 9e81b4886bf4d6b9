/* test_egress_ask.c - what programs ask of the network, well formed and not. */
#include "host/egress_ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "policy/net_rules.h"

static int parse(const char *json, struct egress_ask *ask)
{
    char why[256] = "";
    int r = egress_ask_parse(json, strlen(json), ask, why, sizeof(why));

    assert_true(r == 0 || strlen(why) > 0);
    return r;
}

static void a_request_is_read(void **state)
{
    struct egress_ask ask;

    (void)state;
    assert_int_equal(parse("{\"url\":\"https://a/\",\"method\":\"POST\",\"headers\":[[\"X-A\","
                           "\"\\u00e9\"],[\"Accept\",\"\"]],\"redirect\":\"manual\","
                           "\"timeout_ms\":1500}",
                         &ask),
        0);
    assert_string_equal(ask.url, "https://a/");
    assert_int_equal(ask.method, NET_POST);
    assert_int_equal(ask.redirect, EGRESS_MANUAL);
    assert_int_equal(ask.timeout_ms, 1500);
    assert_int_equal(ask.headers_count, 2);
    assert_string_equal(ask.headers[0].value, "\xe9"); /* one byte */
    assert_string_equal(egress_ask_header(&ask, "accept"), "");
    assert_null(egress_ask_header(&ask, "x-b"));
    egress_ask_release(&ask);
}

static void what_could_smuggle_something_is_refused(void **state)
{
    static const char *const bad[] = {"", "[]", "{}", "{\"url\":1}", "{\"url\":\"https://a/\"}",
        "{\"url\":\"https://a/\",\"method\":\"CONNECT\"}",
        "{\"url\":\"https://a/\",\"method\":\"GET\\r\\nX: y\"}",
        "{\"url\":\"https://a/\\u0000b\",\"method\":\"GET\"}",
        "{\"url\":\"https://a/\",\"method\":\"GET\",\"headers\":[[\"A\"]]}",
        "{\"url\":\"https://a/\",\"method\":\"GET\",\"headers\":[[\"A\",1]]}",
        "{\"url\":\"https://a/\",\"method\":\"GET\",\"headers\":[[\"A\",\"x\\r\\nB: y\"]]}",
        "{\"url\":\"https://a/\",\"method\":\"GET\",\"headers\":[[\"A\\nB\",\"x\"]]}",
        "{\"url\":\"https://a/\",\"method\":\"GET\",\"headers\":[[\"A\",\"x\\u0000\"]]}",
        "{\"url\":\"https://a/\",\"method\":\"GET\",\"headers\":[[\"Host\",\"b\"]]}",
        "{\"url\":\"https://a/\",\"method\":\"GET\",\"headers\":[[\"A\",\"\\u0100\"]]}",
        "{\"url\":\"https://a/\",\"method\":\"GET\",\"redirect\":\"always\"}",
        "{\"url\":\"https://a/\",\"method\":\"GET\",\"timeout_ms\":0}",
        "{\"url\":\"https://a/\",\"method\":\"GET\",\"timeout_ms\":\"x\"}",
        "{\"url\":\"https://a/\",\"url\":\"https://b/\",\"method\":\"GET\"}"};
    struct egress_ask ask;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (parse(bad[i], &ask) == 0) {
            fail_msg("%s was taken", bad[i]);
        }
        egress_ask_release(&ask);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_read),
        cmocka_unit_test(what_could_smuggle_something_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
