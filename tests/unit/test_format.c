/* test_format.c - which texts are dates, addresses and the like. */
#include "schema/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int matches(const char *name, const char *text)
{
    const struct format *format = format_find(name, strlen(name));

    assert_non_null(format);
    assert_true(strlen(format->what) > 5);
    return format->matches(text, strlen(text));
}

static void what_is_of_a_format_matches(void **state)
{
    static const char *const rows[][2] = {{"date", "2024-02-29"}, {"date", "2000-02-29"},
        {"date", "1999-12-31"}, {"time", "23:59:59Z"}, {"time", "08:30:06.283185+01:00"},
        {"time", "23:59:60z"}, {"time", "00:59:60+01:00"}, {"date-time", "2024-12-31T23:59:59Z"},
        {"date-time", "2024-01-01t00:00:00.5-08:00"}, {"email", "a@b"},
        {"email", "first.last+tag@sub.example.com"}, {"email", "\"a b\"@example.com"},
        {"email", "x@[192.0.2.1]"}, {"email", "x@[IPv6:::1]"},
        {"uri", "https://example.com/a?b=c#d"}, {"uri", "mailto:a@b.c"},
        {"uri", "urn:isbn:0451450523"}, {"uri", "http://user:pw@[2001:db8::1]:8080/%20"},
        {"uri", "file:///etc"}, {"uri", "a:"}, {"uuid", "123e4567-e89b-12d3-a456-426614174000"},
        {"uuid", "123E4567-E89B-12D3-A456-426614174000"}, {"ipv4", "127.0.0.1"},
        {"ipv4", "255.255.255.255"}, {"ipv6", "::"}, {"ipv6", "2001:db8::ff00:42:8329"},
        {"ipv6", "::ffff:192.0.2.1"}, {"hostname", "localhost"}, {"hostname", "a-b.example.com"},
        {"hostname", "1.2.3.example"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!matches(rows[i][0], rows[i][1])) {
            fail_msg("%s is no %s", rows[i][1], rows[i][0]);
        }
    }
}

static void what_is_not_does_not(void **state)
{
    static const char *const rows[][2] = {{"date", ""}, {"date", "2023-02-29"},
        {"date", "1900-02-29"}, {"date", "2024-13-01"}, {"date", "2024-00-10"},
        {"date", "2024-01-00"}, {"date", "2024-1-1"}, {"date", "01/02/2024"},
        {"date", "2024-04-31"}, {"date", "+024-01-01"}, {"time", "24:00:00Z"}, {"time", "12:00:00"},
        {"time", "12:00Z"}, {"time", "12:00:00.Z"}, {"time", "12:59:60Z"},
        {"time", "12:00:00+1:00"}, {"time", "12:00:00+24:00"}, {"time", "12:00:00+0100"},
        {"time", "1a:00:00Z"}, {"date-time", "2024-12-31"}, {"date-time", "2024-12-31 23:59:59Z"},
        {"date-time", "2024-12-31T23:59:59"}, {"email", ""}, {"email", "a"}, {"email", "@b"},
        {"email", "a@"}, {"email", "a..b@c"}, {"email", ".a@b"}, {"email", "a b@c"},
        {"email", "a@b_c"}, {"email", "a@-b"}, {"email", "\"a@b"}, {"email", "x@[1.2.3]"},
        {"uri", "example.com"}, {"uri", "/a"}, {"uri", "http://a b"}, {"uri", "1http://a"},
        {"uri", "http://a/%2"}, {"uri", "http://[::1"}, {"uri", "http://a:b/"}, {"uri", "a:#b#c"},
        {"uri", "http://a/[x]"}, {"uri", "http://\xc3\xa4/"}, {"uri", "http://x<y>"}, {"uri", ":a"},
        {"uuid", "123e4567e89b12d3a456426614174000"},
        {"uuid", "123e4567-e89b-12d3-a456-42661417400g"},
        {"uuid", "{123e4567-e89b-12d3-a456-42661417400}"}, {"ipv4", "1.2.3"}, {"ipv4", "256.1.1.1"},
        {"ipv4", "01.2.3.4"}, {"ipv4", "1.2.3.4 "}, {"ipv6", "1.2.3.4"}, {"ipv6", ":::"},
        {"ipv6", "12345::"}, {"ipv6", "::1%eth0"}, {"hostname", ""}, {"hostname", "-a"},
        {"hostname", "a-"}, {"hostname", "a..b"}, {"hostname", "a_b"}, {"hostname", "a-.b"},
        {"hostname", ".a"},
        {"hostname", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (matches(rows[i][0], rows[i][1])) {
            fail_msg("%s is taken for a %s", rows[i][1], rows[i][0]);
        }
    }
}

static void other_names_are_none(void **state)
{
    (void)state;
    assert_null(format_find("int32", 5));
    assert_null(format_find("dat", 3));
    assert_null(format_find("", 0));
}

/* A NUL ends a text for the C library, not for JSON. */
static void a_nul_inside_is_seen(void **state)
{
    static const char *const names[] = {"ipv4", "ipv6", "hostname", "email", "uri"};
    static const char text[] = "1.2.3.4\0::1";
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_false(format_find(names[i], strlen(names[i]))->matches(text, sizeof(text) - 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_of_a_format_matches),
        cmocka_unit_test(what_is_not_does_not),
        cmocka_unit_test(other_names_are_none),
        cmocka_unit_test(a_nul_inside_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
