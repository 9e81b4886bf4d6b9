/* test_document_net.c - rules of the network in documents. */
#include "policy/document_net.h"

#include "documents.h"

static void rules_are_read_with_all_their_parts(void **state)
{
    struct document *doc = documents_pass(
        "{'name': 'a', 'permissions': {'net': ["
        " {'effect': 'allow', 'name': 'api', 'match': {'scheme': 'http', 'host': 'API.example',"
        "  'port': 8080, 'path': '/v1/', 'methods': ['GET', 'POST']},"
        "  'addresses': ['10.0.0.7', '::1'], 'inject': {'header': 'X-Key', 'secret': 'KEY'}},"
        " {'effect': 'allow', 'match': {'host': 'b.example'}, 'inject': {'bearer': 'TOKEN'}},"
        " {'effect': 'allow', 'match': {'host': 'c.example'},"
        "  'inject': {'query': 'key', 'secret': 'K'}},"
        " {'effect': 'deny', 'match': {'host': '*'}}]}}");
    const struct net_rule *rules = doc->permissions->net.rules;

    (void)state;
    assert_int_equal(doc->permissions->net.count, 4);
    assert_string_equal(rules[0].name, "api");
    assert_string_equal(rules[0].host, "api.example");
    assert_string_equal(rules[0].path, "/v1/");
    assert_int_equal(rules[0].scheme, NET_HTTP);
    assert_int_equal(rules[0].port, 8080);
    assert_int_equal(rules[0].methods, 1 << NET_GET | 1 << NET_POST);
    assert_int_equal(rules[0].addresses_count, 2);
    assert_int_equal(rules[0].inject, NET_INJECT_HEADER);
    assert_string_equal(rules[0].inject_field, "X-Key");
    assert_string_equal(rules[0].secret, "KEY");
    assert_string_equal(rules[1].name, "net[1]");
    assert_int_equal(rules[1].scheme, NET_HTTPS);
    assert_int_equal(rules[1].port, 0);
    assert_int_equal(rules[1].inject, NET_INJECT_BEARER);
    assert_string_equal(rules[1].secret, "TOKEN");
    assert_int_equal(rules[2].inject, NET_INJECT_QUERY);
    assert_int_equal(rules[3].effect, NET_DENY);
    assert_int_equal(rules[3].scheme, NET_ANY);
    assert_int_equal(rules[3].port, NET_ANY);
    document_free(doc);
}

static void words_mean_all_or_nothing(void **state)
{
    struct document *doc = documents_pass("{'name': 'a', 'permissions': {'net': 'allow'}}");

    (void)state;
    assert_int_equal(doc->permissions->net.count, 1);
    document_free(doc);
    doc = documents_pass("{'name': 'a', 'permissions': {'net': 'deny'}}");
    assert_int_equal(doc->permissions->net.count, 0);
    document_free(doc);
    doc = documents_pass("{'name': 'a'}");
    assert_int_equal(doc->permissions->net.count, 0);
    document_free(doc);
}

static void a_rule_that_breaks_the_rules_is_refused_where_it_does(void **state)
{
    static const struct {
        const char *rules, *path;
    } bad[] = {
        {"'yes'", "/permissions/net"},
        {"true", "/permissions/net"},
        {"{}", "/permissions/net"},
        {"[1]", "/permissions/net/0"},
        {"[{'match': {'host': 'a'}}]", "/permissions/net/0"},
        {"[{'effect': 'allow'}]", "/permissions/net/0"},
        {"[{'effect': 'maybe', 'match': {'host': 'a'}}]", "/permissions/net/0/effect"},
        {"[{'effect': 'allow', 'match': {}}]", "/permissions/net/0/match"},
        {"[{'effect': 'allow', 'match': {'host': 'a', 'hosts': 1}}]",
            "/permissions/net/0/match/hosts"},
        {"[{'effect': 'allow', 'match': {'host': '*a'}}]", "/permissions/net/0/match/host"},
        {"[{'effect': 'allow', 'match': {'host': '*.1'}}]", "/permissions/net/0/match/host"},
        {"[{'effect': 'allow', 'match': {'host': '127.1'}}]", "/permissions/net/0/match/host"},
        {"[{'effect': 'allow', 'match': {'host': 'a.'}}]", "/permissions/net/0/match/host"},
        {"[{'effect': 'allow', 'match': {'host': 'a/b'}}]", "/permissions/net/0/match/host"},
        {"[{'effect': 'allow', 'match': {'host': 'a', 'port': 0}}]",
            "/permissions/net/0/match/port"},
        {"[{'effect': 'allow', 'match': {'host': 'a', 'port': 65536}}]",
            "/permissions/net/0/match/port"},
        {"[{'effect': 'allow', 'match': {'host': 'a', 'scheme': 'ftp'}}]",
            "/permissions/net/0/match/scheme"},
        {"[{'effect': 'allow', 'match': {'host': 'a', 'path': 'x'}}]",
            "/permissions/net/0/match/path"},
        {"[{'effect': 'allow', 'match': {'host': 'a', 'path': '/x*'}}]",
            "/permissions/net/0/match/path"},
        {"[{'effect': 'allow', 'match': {'host': 'a', 'methods': ['TRACE']}}]",
            "/permissions/net/0/match/methods/0"},
        {"[{'effect': 'allow', 'match': {'host': 'a'}, 'addresses': ['10.0.0.0/8']}]",
            "/permissions/net/0/addresses/0"},
        {"[{'effect': 'allow', 'match': {'host': 'a'}, 'inject': {}}]",
            "/permissions/net/0/inject"},
        {"[{'effect': 'allow', 'match': {'host': 'a'}, 'inject': {'header': 'X'}}]",
            "/permissions/net/0/inject"},
        {"[{'effect': 'allow', 'match': {'host': 'a'}, 'inject': {'header': 'Host',"
         " 'secret': 'K'}}]",
            "/permissions/net/0/inject/header"},
        {"[{'effect': 'allow', 'match': {'host': 'a'}, 'inject': {'header': 'A\\r\\nB',"
         " 'secret': 'K'}}]",
            "/permissions/net/0/inject/header"},
        {"[{'effect': 'allow', 'match': {'host': '*.a'}, 'inject': {'bearer': 'K'}}]",
            "/permissions/net/0/inject"},
        {"[{'effect': 'deny', 'match': {'host': 'a'}, 'inject': {'bearer': 'K'}}]",
            "/permissions/net/0/inject"},
    };
    char text[512];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(
            text, sizeof(text), "{'name': 'a', 'permissions': {'net': %s}}", bad[i].rules);
        documents_refuse(text, bad[i].path, "");
    }
}

static void rules_that_come_alone_say_what_is_wrong(void **state)
{
    struct net_policy policy = {.rules = NULL};
    struct vial_error err = {.code = 0};

    (void)state;
    assert_int_equal(net_policy_parse("[", 1, &policy, &err), VIAL_E_INVALID);
    assert_int_equal(
        net_policy_parse("[{\"effect\":\"allow\"}]", 20, &policy, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "match"));
    assert_null(policy.rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_read_with_all_their_parts),
        cmocka_unit_test(words_mean_all_or_nothing),
        cmocka_unit_test(a_rule_that_breaks_the_rules_is_refused_where_it_does),
        cmocka_unit_test(rules_that_come_alone_say_what_is_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
