/* test_net_url.c - URLs that are read, and those that are refused. */
#include "policy/net_url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static void expect(const char *text, const char *wanted, const char *told)
{
    struct net_url url;
    const char *why = NULL;
    struct buf out;

    if (net_url_parse(text, strlen(text), &url, &why) < 0) {
        fail_msg("%s %s", text, why);
    }
    buf_init(&out, 65536);
    assert_int_equal(net_url_write(&url, &out), 0);
    assert_string_equal(out.data, wanted);
    if (told != NULL) {
        buf_clear(&out);
        assert_int_equal(net_url_tell(&url, &out), 0);
        assert_string_equal(out.data, told);
    }
    buf_release(&out);
    net_url_release(&url);
}

static void ordinary_urls_have_one_spelling(void **state)
{
    (void)state;
    expect("https://example.com", "https://example.com/", NULL);
    expect("HTTPS://EXAMPLE.com:443/A/b?C=d#e", "https://example.com/A/b?C=d", NULL);
    expect("http://example.com:/", "http://example.com/", NULL);
    expect("http://example.com:8080/x", "http://example.com:8080/x", NULL);
    expect("https://example.com:80/", "https://example.com:80/", NULL);
    expect("http://127.0.0.1/", "http://127.0.0.1/", NULL);
    expect("http://[0:0::1]:81/", "http://[::1]:81/", NULL);
    expect("http://[::ffff:1.2.3.4]/", "http://1.2.3.4/", NULL);
    expect("https://a?b", "https://a/?b", NULL);
    expect("https://a/?", "https://a/?", NULL);
}

static void paths_are_normalised_before_they_are_judged(void **state)
{
    (void)state;
    expect("https://a/v1/../admin", "https://a/admin", NULL);
    expect("https://a/v1/%2e%2E/admin", "https://a/admin", NULL);
    expect("https://a/v1/./x/.", "https://a/v1/x/", NULL);
    expect("https://a/../../x", "https://a/x", NULL);
    expect("https://a/x/..", "https://a/", NULL);
    expect("https://a/%61dmin%2f%c3%bc", "https://a/admin%2F%C3%BC", NULL);
    expect("https://a/b//c", "https://a/b//c", NULL);
    expect("https://a/...", "https://a/...", NULL);
}

static void values_of_a_query_are_not_told(void **state)
{
    (void)state;
    expect("https://a/p?key=secret&b=&c&=d", "https://a/p?key=secret&b=&c&=d",
        "https://a/p?key=*&b=*&*&=*");
    expect("https://a/p?a=b=c", "https://a/p?a=b=c", "https://a/p?a=*");
    expect("https://a/p?", "https://a/p?", "https://a/p?");
}

static void what_two_readers_could_read_differently_is_refused(void **state)
{
    static const char *const bad[] = {"", "example.com", "//example.com/", "ftp://a/", "file:///x",
        "gopher://a/", "data:,x", "javascript:1", "https:/a", "https:a", "https://", "https:///x",
        "https://user@a/", "https://user:pw@a/", "https://a@b@c/", "https://a\\@b/",
        "https://a/\\..", "https://a /", "https://a/ b", "https://a/\tb", "https://a/\r\nX: y",
        "https://a/\x7f", "https://a/\x01", "https://b\xc3\xbc.de/", "https://a/\xc3\xbc",
        "https://a%2eb/", "https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://[::1/",
        "https://[::1]x/", "https://a:b/", "https://a:0/", "https://a:65536/", "https://a:-1/",
        "https://a:080/", "https://a:99999999999/", "https://a./", "https://localhost./",
        "https://a..b/", "https://.a/", "https://a/%", "https://a/%zz", "https://a/%00",
        "https://a/x%2f..%2fy", "https://a/x/%2e%2e%2fy", "https://a/x%5c..%5cy", "https://a/..;/x",
        "https://a/x/..;a=b/y", "https://a/..%3bx/y", "https://a*/", "https://a,b/",
        "https://a:1:2/", "https://a/\"", "https://a/<x>", " https://a/"};
    struct net_url url;
    const char *why;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        why = NULL;
        if (net_url_parse(bad[i], strlen(bad[i]), &url, &why) == 0) {
            fail_msg("%s was taken", bad[i]);
        }
        assert_non_null(why);
    }
    assert_int_equal(net_url_parse("https://a/\0b", 12, &url, &why), -1);
    assert_int_equal(net_url_parse("https://a\0.b/", 13, &url, &why), -1);
}

static void an_address_in_disguise_is_known(void **state)
{
    static const char *const urls[] = {"http://127.1/", "http://2130706433/", "http://0x7f000001/",
        "http://0177.0.0.1/", "http://127.0.0.1./"};
    struct net_url url;
    const char *why;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        assert_int_equal(net_url_parse(urls[i], strlen(urls[i]), &url, &why), 0);
        assert_int_equal(url.host_kind, NET_HOST_DISGUISED);
        net_url_release(&url);
    }
}

static void long_urls_are_refused(void **state)
{
    static char text[NET_URL_BYTES_MAX + 2] = "https://a/";
    struct net_url url;
    const char *why;

    (void)state;
    memset(text + 10, 'x', sizeof(text) - 10);
    assert_int_equal(net_url_parse(text, NET_URL_BYTES_MAX, &url, &why), 0);
    net_url_release(&url);
    assert_int_equal(net_url_parse(text, NET_URL_BYTES_MAX + 1, &url, &why), -1);
}

static void an_origin_is_scheme_host_and_port(void **state)
{
    static const char *const texts[] = {
        "https://a/x", "https://a:443/y", "http://a/", "https://a:444/", "https://b/"};
    struct net_url urls[5];
    const char *why;
    size_t i;

    (void)state;
    for (i = 0; i < 5; i++) {
        assert_int_equal(net_url_parse(texts[i], strlen(texts[i]), &urls[i], &why), 0);
        assert_int_equal(net_url_same_origin(&urls[0], &urls[i]), i < 2);
    }
    for (i = 0; i < 5; i++) {
        net_url_release(&urls[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_urls_have_one_spelling),
        cmocka_unit_test(paths_are_normalised_before_they_are_judged),
        cmocka_unit_test(values_of_a_query_are_not_told),
        cmocka_unit_test(what_two_readers_could_read_differently_is_refused),
        cmocka_unit_test(an_address_in_disguise_is_known),
        cmocka_unit_test(long_urls_are_refused),
        cmocka_unit_test(an_origin_is_scheme_host_and_port),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
