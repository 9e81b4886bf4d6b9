/* test_tool_http_check.c - which URLs and headers a tool may have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/tool_http.h"

/* Expects success when text is NULL, else a refusal with this text in it. */
static void expect(const struct tool_http *tool, const char *text)
{
    struct vial_error err = {0};
    int r = tool_http_check(tool, &err);

    if (text == NULL) {
        assert_string_equal(err.text, "");
        assert_int_equal(r, 0);
        return;
    }
    assert_int_equal(r, VIAL_E_INVALID);
    if (strstr(err.text, text) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", text, err.text);
    }
    assert_null(strstr(err.text, "secret"));
}

static void expect_url(const char *url, const char *text)
{
    struct tool_http tool = {.url = url};

    expect(&tool, text);
}

static void expect_header(const char *header, const char *text)
{
    const char *const headers[] = {"X-First: 1", header};
    struct tool_http tool = {.url = "http://localhost/", .headers = headers, .header_count = 2};

    expect(&tool, text);
}

static void urls_are_http_or_https(void **state)
{
    (void)state;
    expect_url("http://localhost:8080/tool?x=1#y", NULL);
    expect_url("HTTPS://example.org", NULL);
    expect_url("http://10.0.0.1/", NULL);
    expect_url("http://[::1]:80/", NULL);
    expect_url("file:///etc/passwd", "must begin with http:// or https://");
    expect_url("ftp://example.org/", "must begin with http:// or https://");
    expect_url("gopher://example.org/", "must begin with http:// or https://");
    expect_url("javascript:1", "cannot be read");
    expect_url("example.org/tool", "must begin with http");
    expect_url("/tool", "must begin with http");
    expect_url("", "has no URL");
    expect_url(NULL, "has no URL");
    expect_url("http://", "cannot be read");
    expect_url("http://host:99999/", "cannot be read");
    expect_url("http://host/a b", "cannot be read");
    expect_url("http://host/\r\nX: y", "cannot be read");
}

static void urls_have_no_credentials(void **state)
{
    (void)state;
    expect_url("http://user:secret@localhost/", "Authorization");
    expect_url("http://user@localhost/", "Authorization");
    expect_url("http://:secret@localhost/", "Authorization");
    expect_url("http://localhost/a@b", NULL);
}

static void urls_have_a_maximum(void **state)
{
    static char url[TOOL_HTTP_URL_BYTES_MAX + 2];

    (void)state;
    (void)memset(url, 'x', sizeof(url) - 1);
    (void)memcpy(url, "http://h/", 9);
    expect_url(url, "longer than 8192");
    url[TOOL_HTTP_URL_BYTES_MAX] = '\0';
    expect_url(url, NULL);
}

static void headers_are_a_name_and_a_value(void **state)
{
    (void)state;
    expect_header("Authorization: Bearer secret", NULL);
    expect_header("X:1", NULL);
    expect_header("X-Tab:\ta\tb", NULL);
    expect_header("X-Secret", "header 2 of the tool is not written");
    expect_header(": secret", "header 2 of the tool is not written");
    expect_header("X Y: secret", "header 2 of the tool is not written");
    expect_header("X\xc3\xa4: secret", "header 2 of the tool is not written");
    expect_header("X:", "has no value");
    expect_header("X: \t", "has no value");
    expect_header("X: secret\r\nY: z", "header 2 of the tool has a character");
    expect_header("X: secret\ny", "header 2 of the tool has a character");
    expect_header("X: secret\x7f", "header 2 of the tool has a character");
    expect_header("X: secret\xff", "header 2 of the tool has a character");
}

static void headers_about_the_sending_are_refused(void **state)
{
    (void)state;
    expect_header("Content-Length: 3", "not the tool's to set");
    expect_header("transfer-encoding: chunked", "not the tool's to set");
    expect_header("Accept-Encoding: gzip", "not the tool's to set");
    expect_header("TE: x", "not the tool's to set");
    expect_header("Tea: x", NULL);
    expect_header("Content-Type: text/plain", NULL);
    expect_header("Host: other", NULL);
}

static void headers_have_a_maximum(void **state)
{
    static char header[TOOL_HTTP_HEADER_BYTES_MAX + 2];
    const char *many[TOOL_HTTP_HEADERS_MAX + 1];
    struct tool_http tool = {
        .url = "http://h/", .headers = many, .header_count = TOOL_HTTP_HEADERS_MAX + 1};
    size_t i;

    (void)state;
    (void)memset(header, 'x', sizeof(header) - 1);
    header[1] = ':';
    expect_header(header, "longer than 8192");
    header[TOOL_HTTP_HEADER_BYTES_MAX] = '\0';
    expect_header(header, NULL);
    for (i = 0; i < TOOL_HTTP_HEADERS_MAX + 1; i++) {
        many[i] = "X: 1";
    }
    expect(&tool, "may have 64");
    tool.header_count--;
    expect(&tool, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_http_or_https),
        cmocka_unit_test(urls_have_no_credentials),
        cmocka_unit_test(urls_have_a_maximum),
        cmocka_unit_test(headers_are_a_name_and_a_value),
        cmocka_unit_test(headers_about_the_sending_are_refused),
        cmocka_unit_test(headers_have_a_maximum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
