/* test_net_address.c - addresses in every spelling and wrapping, and what they are. */
#include "policy/net_address.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *fault_of(const char *text)
{
    struct net_address a;

    assert_int_equal(net_address_parse(text, strlen(text), &a), 0);
    return net_address_fault(&a);
}

static enum net_host_kind kind_of(const char *host, struct net_address *ret)
{
    return net_host_kind(host, strlen(host), ret);
}

static void what_is_not_public_is_refused(void **state)
{
    static const char *const refused[] = {"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255",
        "100.64.0.1", "100.127.255.255", "100.100.100.200", "127.0.0.1", "127.255.255.254",
        "169.254.0.1", "169.254.169.254", "169.254.170.2", "168.63.129.16", "172.16.0.1",
        "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1",
        "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9",
        "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "fc00::1",
        "fd12:3456::1", "fd00:ec2::254", "fe80::1", "febf::1", "fec0::1", "ff02::1", "100::1",
        "2001:db8::1", "2001:2::1", "2001:10::1", "2001:20::1", "3fff::1", "64:ff9b:1::1",
        "4000::1", "5f00::1", "::ffff:0:127.0.0.1", "1::1"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (fault_of(refused[i]) == NULL) {
            fail_msg("%s passed", refused[i]);
        }
    }
}

static void an_address_in_another_one_is_seen(void **state)
{
    static const char *const refused[] = {"::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",                             /* mapped */
        "::127.0.0.1", "::10.0.0.1", "::7f00:1",              /* compatible */
        "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe",           /* NAT64 */
        "2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::", /* 6to4 */
        "2001:0:4136:e378:8000:63bf:80ff:fffe",               /* Teredo, of a client at 127.0.0.1 */
        "2001:0:7f00:1::1",                                   /* Teredo, of a server there */
        "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1" /* ISATAP */};
    static const char *const passed[] = {"64:ff9b::8.8.8.8", "2002:808:808::1", "::ffff:8.8.8.8",
        "2001:0:4136:e378:8000:63bf:f7f7:f7f7"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (fault_of(refused[i]) == NULL) {
            fail_msg("%s passed", refused[i]);
        }
    }
    for (i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        if (fault_of(passed[i]) != NULL) {
            fail_msg("%s is %s", passed[i], fault_of(passed[i]));
        }
    }
}

static void public_addresses_pass(void **state)
{
    static const char *const passed[] = {"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0",
        "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255",
        "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255",
        "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "168.63.129.15",
        "2606:4700::1111", "2a00:1450::1", "2001:4860::8888", "2001:200::1"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        if (fault_of(passed[i]) != NULL) {
            fail_msg("%s is %s", passed[i], fault_of(passed[i]));
        }
    }
}

static void every_spelling_of_inet_aton_is_an_address(void **state)
{
    static const char *const hosts[] = {"127.1", "127.0.1", "2130706433", "0x7f000001",
        "0x7F000001", "0177.0.0.1", "0x7f.0.0.1", "127.0.0.0x1", "017700000001", "0x7f.1",
        "127.0x000001", "0177.0x0.01", "127.00.00.01"};
    struct net_address a, wanted;
    struct in_addr theirs;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        assert_int_equal(kind_of(hosts[i], &a), NET_HOST_DISGUISED);
        if (inet_aton(hosts[i], &theirs) != 0) {
            wanted = net_address_v4((const uint8_t *)&theirs);
            if (!net_address_equal(&a, &wanted)) {
                fail_msg("%s is read as another address", hosts[i]);
            }
        }
        assert_non_null(net_address_fault(&a));
    }
}

static void what_looks_like_a_number_is_never_a_name(void **state)
{
    static const char *const hosts[] = {"1", "0", "0x", "08.8.8.8", "256.1.1.1", "1.2.3.4.5",
        "8.8.8.256", "4294967296", "99999999999999999999", "a.1", "foo.0x1", "1..2", "127.0.0.1.",
        "a.b.08", "00127.0.0.1"};
    struct net_address a;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        if (kind_of(hosts[i], &a) != NET_HOST_DISGUISED) {
            fail_msg("%s is taken for something else", hosts[i]);
        }
    }
}

/* Whatever the resolver of the system takes for an address must be one here as well. */
static void all_that_inet_aton_takes_is_caught(void **state)
{
    static const char *const parts[] = {
        "0", "1", "7f", "0x7f", "0177", "255", "256", "0x", "08", "65536", "0xffffffff", ""};
    enum { COUNT = sizeof(parts) / sizeof(parts[0]) };
    struct net_address a;
    struct in_addr theirs;
    char host[64];
    int i, j, k;

    (void)state;
    for (i = 0; i < COUNT; i++) {
        for (j = 0; j < COUNT; j++) {
            for (k = 0; k < COUNT; k++) {
                (void)snprintf(host, sizeof(host), "%s.%s.%s", parts[i], parts[j], parts[k]);
                if (inet_aton(host, &theirs) != 0 && kind_of(host, &a) != NET_HOST_ADDRESS) {
                    assert_int_equal(kind_of(host, &a), NET_HOST_DISGUISED);
                }
            }
        }
    }
}

static void ordinary_hosts_are_what_they_are(void **state)
{
    struct net_address a;

    (void)state;
    assert_int_equal(kind_of("example.com", &a), NET_HOST_NAME);
    assert_int_equal(kind_of("xn--bcher-kva.example", &a), NET_HOST_NAME);
    assert_int_equal(kind_of("127.0.0.1.nip.example", &a), NET_HOST_NAME);
    assert_int_equal(kind_of("0x7f.example", &a), NET_HOST_NAME);
    assert_int_equal(kind_of("a_b-c.d1", &a), NET_HOST_NAME);
    assert_int_equal(kind_of("8.8.8.8", &a), NET_HOST_ADDRESS);
    assert_int_equal(kind_of("[::1]", &a), NET_HOST_ADDRESS);
    assert_int_equal(kind_of("[::ffff:127.0.0.1]", &a), NET_HOST_ADDRESS);
    assert_true(net_address_is_v4(&a));
    assert_int_equal(kind_of("[127.0.0.1]", &a), NET_HOST_BAD);
    assert_int_equal(kind_of("[fe80::1%25eth0]", &a), NET_HOST_BAD);
    assert_int_equal(kind_of("[::1", &a), NET_HOST_BAD);
    assert_int_equal(kind_of("", &a), NET_HOST_BAD);
    assert_int_equal(kind_of("a..b", &a), NET_HOST_BAD);
    assert_int_equal(kind_of(".a", &a), NET_HOST_BAD);
    assert_int_equal(kind_of("b\xc3\xbc"
                             "cher.example",
                         &a),
        NET_HOST_BAD);
    assert_int_equal(kind_of("a b", &a), NET_HOST_BAD);
    assert_int_equal(kind_of("a%41", &a), NET_HOST_BAD);
}

static void names_have_the_lengths_of_the_dns(void **state)
{
    struct net_address a;
    char label[80];

    (void)state;
    memset(label, 'a', sizeof(label));
    assert_int_equal(net_host_kind(label, 63, &a), NET_HOST_NAME);
    assert_int_equal(net_host_kind(label, 64, &a), NET_HOST_BAD);
}

static void addresses_are_written_in_one_way(void **state)
{
    char text[NET_ADDRESS_TEXT_BYTES];
    struct net_address a;

    (void)state;
    assert_int_equal(kind_of("[2001:DB8:0::1]", &a), NET_HOST_ADDRESS);
    net_address_text(&a, text);
    assert_string_equal(text, "2001:db8::1");
    assert_int_equal(net_address_parse("8.8.4.4", 7, &a), 0);
    net_address_text(&a, text);
    assert_string_equal(text, "8.8.4.4");
    assert_int_equal(net_address_parse("8.8.4.4\0", 8, &a), -1);
    assert_int_equal(net_address_parse("08.8.4.4", 8, &a), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_public_is_refused),
        cmocka_unit_test(an_address_in_another_one_is_seen),
        cmocka_unit_test(public_addresses_pass),
        cmocka_unit_test(every_spelling_of_inet_aton_is_an_address),
        cmocka_unit_test(what_looks_like_a_number_is_never_a_name),
        cmocka_unit_test(all_that_inet_aton_takes_is_caught),
        cmocka_unit_test(ordinary_hosts_are_what_they_are),
        cmocka_unit_test(names_have_the_lengths_of_the_dns),
        cmocka_unit_test(addresses_are_written_in_one_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
