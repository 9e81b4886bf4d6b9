/* test_guard.c - headers that two readers could read differently. */
#include "http/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* "Name: value" lines in a row that ends in NULL; what is wrong with them, or NULL. */
static const char *judge(const char *const *lines, const char *uri, const char *version, int extra)
{
    struct guard g = {.count = 0};
    size_t head = strlen("GET") + strlen(uri) + strlen(version) + 6;

    for (; *lines != NULL; lines++) {
        const char *colon = strchr(*lines, ':');

        guard_header(&g, *lines, (size_t)(colon - *lines), colon + 2, strlen(colon + 2));
        head += strlen(*lines) + 2;
    }
    return guard_finish(&g, "GET", uri, version, head + (size_t)extra);
}

#define ROW(...) ((const char *const[]){__VA_ARGS__, NULL})

static void ordinary_requests_pass(void **state)
{
    (void)state;
    assert_null(judge(ROW("Host: a", "X: b c\t(d)"), "/v1/runs?x=%20", "HTTP/1.1", 0));
    assert_null(judge(ROW("Host: a", "Content-Length: 12"), "/", "HTTP/1.1", 0));
    assert_null(judge(ROW("host: a", "transfer-encoding: Chunked"), "/", "HTTP/1.1", 0));
    assert_null(judge(ROW("X: 1"), "/", "HTTP/1.0", 0));
}

static void faults_are_told(void **state)
{
    char many[200][16];
    const char *rows[201] = {NULL};
    int i;

    (void)state;
    assert_non_null(judge(ROW("Host: a", "Host: a"), "/", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("X: a"), "/", "HTTP/1.1", 0));
    assert_non_null(
        judge(ROW("Host: a", "Content-Length: 1", "Content-Length: 1"), "/", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a", "Content-Length: +1"), "/", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a", "Content-Length: "), "/", "HTTP/1.1", 0));
    assert_non_null(
        judge(ROW("Host: a", "Content-Length: 9999999999999999999"), "/", "HTTP/1.1", 0));
    assert_non_null(judge(
        ROW("Host: a", "Content-Length: 1", "Transfer-Encoding: chunked"), "/", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a", "Transfer-Encoding: gzip"), "/", "HTTP/1.1", 0));
    assert_non_null(
        judge(ROW("Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), "/",
            "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a", "X Y: 1"), "/", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a", "X: a\x01"), "/", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a", "X: a\x7f"), "/", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a"), "/", "HTTP/1.2", 0));
    assert_non_null(judge(ROW("Host: a"), "*", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a"), "/a b", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a"), "/a#b", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a"), "/\xc3\xa4", "HTTP/1.1", 0));
    for (i = 0; i < 200; i++) {
        (void)snprintf(many[i], sizeof(many[i]), i == 0 ? "Host: %d" : "X: %d", i);
        rows[i] = many[i];
    }
    assert_non_null(judge(rows, "/", "HTTP/1.1", 0));
}

/* The parser stops at a NUL and joins folded lines; the bytes that it read tell. */
static void bytes_of_no_header_are_missed(void **state)
{
    (void)state;
    assert_null(judge(ROW("Host: a", "X: b"), "/", "HTTP/1.1", 0));
    assert_non_null(judge(ROW("Host: a", "X: b"), "/", "HTTP/1.1", 1));
}

static void paths_are_decoded_once(void **state)
{
    char fine[] = "a%20b%2Fc%C3%A4%25";
    char bad[][8] = {"%", "%1", "%zz", "%00", "%0a", "%7f", "%ff"};
    size_t i;

    (void)state;
    assert_int_equal(guard_decode(fine), 0);
    assert_string_equal(fine, "a b/c\xc3\xa4%");
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(guard_decode(bad[i]), -1);
    }
}

static void methods_are_known(void **state)
{
    (void)state;
    assert_true(guard_knows_method("GET"));
    assert_false(guard_knows_method("get"));
    assert_false(guard_knows_method("TRACE"));
    assert_false(guard_knows_method("CONNECT"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_requests_pass),
        cmocka_unit_test(faults_are_told),
        cmocka_unit_test(bytes_of_no_header_are_missed),
        cmocka_unit_test(paths_are_decoded_once),
        cmocka_unit_test(methods_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
