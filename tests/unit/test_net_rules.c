/* test_net_rules.c - what rules say to requests. */
#include "policy/net_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct net_policy read_rules(const char *text)
{
    struct net_policy policy = {.rules = NULL};
    struct vial_error err = {.code = 0};
    char json[4096];
    size_t i;

    assert_true(strlen(text) < sizeof(json));
    for (i = 0; i <= strlen(text); i++) {
        json[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    }
    if (net_policy_parse(json, strlen(json), &policy, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return policy;
}

/* The code of a request, and the name of the rule that decided in *ret_rule. */
static int judge(
    const struct net_policy *policy, const char *method, const char *text, const char **ret_rule)
{
    struct net_verdict verdict;
    struct net_url url;
    const char *why;

    assert_int_equal(net_url_parse(text, strlen(text), &url, &why), 0);
    verdict = net_policy_judge(policy, &url, net_method(method, strlen(method)));
    net_url_release(&url);
    *ret_rule = verdict.rule != NULL ? verdict.rule->name : "";
    return verdict.code;
}

static int code_of(const struct net_policy *policy, const char *text)
{
    const char *rule;

    return judge(policy, "GET", text, &rule);
}

static void without_rules_nothing_is_allowed(void **state)
{
    struct net_policy none = {.rules = NULL};
    struct net_policy empty = read_rules("[]"), denied = read_rules("'deny'");

    (void)state;
    assert_int_equal(code_of(&none, "https://example.com/"), NET_NO_RULE);
    assert_int_equal(code_of(&empty, "https://example.com/"), NET_NO_RULE);
    assert_int_equal(code_of(&denied, "https://example.com/"), NET_NO_RULE);
}

static void allow_means_https_to_public_hosts(void **state)
{
    struct net_policy policy = read_rules("'allow'");

    (void)state;
    assert_int_equal(code_of(&policy, "https://example.com/x?y"), NET_OK);
    assert_int_equal(code_of(&policy, "https://8.8.8.8/"), NET_OK);
    assert_int_equal(code_of(&policy, "http://example.com/"), NET_NO_RULE);
    assert_int_equal(code_of(&policy, "https://example.com:8443/"), NET_NO_RULE);
    assert_int_equal(code_of(&policy, "https://127.0.0.1/"), NET_BAD_ADDRESS);
    net_policy_release(&policy);
}

static void the_last_rule_that_matches_wins(void **state)
{
    struct net_policy policy =
        read_rules("[{'effect': 'allow', 'name': 'all', 'match': {'host': '*'}},"
                   " {'effect': 'deny', 'name': 'evil', 'match': {'host': '*.evil.example'}},"
                   " {'effect': 'allow', 'match': {'host': 'good.evil.example'}}]");
    const char *rule;

    (void)state;
    assert_int_equal(judge(&policy, "GET", "https://a.example/", &rule), NET_OK);
    assert_string_equal(rule, "all");
    assert_int_equal(judge(&policy, "GET", "https://x.evil.example/", &rule), NET_BY_RULE);
    assert_string_equal(rule, "evil");
    assert_int_equal(judge(&policy, "GET", "https://good.evil.example/", &rule), NET_OK);
    assert_string_equal(rule, "net[2]");
    net_policy_release(&policy);
}

static void a_suffix_is_what_is_beneath_it(void **state)
{
    struct net_policy policy =
        read_rules("[{'effect': 'allow', 'match': {'host': '*.Example.com'}}]");

    (void)state;
    assert_int_equal(code_of(&policy, "https://a.example.com/"), NET_OK);
    assert_int_equal(code_of(&policy, "https://A.B.EXAMPLE.COM/"), NET_OK);
    assert_int_equal(code_of(&policy, "https://example.com/"), NET_NO_RULE);
    assert_int_equal(code_of(&policy, "https://aexample.com/"), NET_NO_RULE);
    assert_int_equal(code_of(&policy, "https://a.example.com.evil.org/"), NET_NO_RULE);
    net_policy_release(&policy);
}

static void paths_end_where_a_segment_ends(void **state)
{
    struct net_policy policy =
        read_rules("[{'effect': 'allow', 'match': {'host': 'a.example', 'path': '/v1'}},"
                   " {'effect': 'allow', 'match': {'host': 'b.example', 'path': '/v1/'}}]");

    (void)state;
    assert_int_equal(code_of(&policy, "https://a.example/v1"), NET_OK);
    assert_int_equal(code_of(&policy, "https://a.example/v1?x"), NET_OK);
    assert_int_equal(code_of(&policy, "https://a.example/v1/x"), NET_OK);
    assert_int_equal(code_of(&policy, "https://a.example/%761/x"), NET_OK);
    assert_int_equal(code_of(&policy, "https://a.example/v10"), NET_NO_RULE);
    assert_int_equal(code_of(&policy, "https://a.example/"), NET_NO_RULE);
    assert_int_equal(code_of(&policy, "https://a.example/v1/../x"), NET_NO_RULE);
    assert_int_equal(code_of(&policy, "https://a.example/v1/%2e%2e/x"), NET_NO_RULE);
    assert_int_equal(code_of(&policy, "https://b.example/v1/x"), NET_OK);
    assert_int_equal(code_of(&policy, "https://b.example/v1"), NET_NO_RULE);
    net_policy_release(&policy);
}

static void allowing_is_narrow_and_denying_is_wide(void **state)
{
    struct net_policy policy = read_rules(
        "[{'effect': 'allow', 'match': {'host': 'a.example'}},"
        " {'effect': 'allow', 'match': {'host': 'a.example', 'scheme': 'http', 'port': 8080}},"
        " {'effect': 'deny', 'match': {'host': 'a.example', 'path': '/private'}}]");

    (void)state;
    assert_int_equal(code_of(&policy, "https://a.example/"), NET_OK);
    assert_int_equal(code_of(&policy, "https://a.example:444/"), NET_NO_RULE);
    assert_int_equal(code_of(&policy, "http://a.example/"), NET_NO_RULE);
    assert_int_equal(code_of(&policy, "http://a.example:8080/"), NET_OK);
    assert_int_equal(code_of(&policy, "http://a.example:8080/private/x"), NET_BY_RULE);
    assert_int_equal(code_of(&policy, "https://a.example/%70rivate"), NET_BY_RULE);
    net_policy_release(&policy);
}

static void methods_are_looked_at(void **state)
{
    struct net_policy policy = read_rules(
        "[{'effect': 'allow', 'match': {'host': 'a.example', 'methods': ['GET', 'HEAD']}}]");
    const char *rule;

    (void)state;
    assert_int_equal(judge(&policy, "GET", "https://a.example/", &rule), NET_OK);
    assert_int_equal(judge(&policy, "HEAD", "https://a.example/", &rule), NET_OK);
    assert_int_equal(judge(&policy, "POST", "https://a.example/", &rule), NET_NO_RULE);
    net_policy_release(&policy);
}

static void there_are_seven_methods(void **state)
{
    static const char *const bad[] = {
        "get", "CONNECT", "TRACE", "TRACK", "GET ", "", "G\rT", "FOO"};
    size_t i;

    (void)state;
    assert_int_equal(net_method("OPTIONS", 7), NET_OPTIONS);
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(net_method(bad[i], strlen(bad[i])), NET_METHOD_NONE);
    }
}

/* N02: all of these have one reason, though a rule would allow any host. */
static void this_machine_is_refused_in_every_spelling(void **state)
{
    static const char *const urls[] = {"http://127.0.0.1/", "http://localhost/", "http://0.0.0.0/",
        "http://[::1]/", "http://[::]/", "http://127.1/", "http://2130706433/",
        "http://0x7f000001/", "http://0177.0.0.1/", "http://127.0.0.1./", "http://a.localhost/",
        "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://LOCALHOST/",
        "http://169.254.169.254/latest", "http://10.0.0.1/", "http://[fd00:ec2::254]/",
        "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/"};
    struct net_policy policy =
        read_rules("[{'effect': 'allow', 'match': {'host': '*', 'scheme': 'http'}}]");
    struct net_policy none = {.rules = NULL};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        assert_int_equal(code_of(&policy, urls[i]), NET_BAD_ADDRESS);
        assert_int_equal(code_of(&none, urls[i]), NET_BAD_ADDRESS);
    }
    net_policy_release(&policy);
}

static void an_address_that_the_rule_names_may_be_reached(void **state)
{
    struct net_policy policy = read_rules(
        "[{'effect': 'allow', 'match': {'host': '127.0.0.1', 'scheme': 'http', 'port': 81},"
        "  'addresses': ['127.0.0.1']},"
        " {'effect': 'allow', 'match': {'host': 'db.example'}, 'addresses': ['10.1.2.3', '::1']},"
        " {'effect': 'allow', 'match': {'host': 'other.example'}}]");
    static const char *const fine[] = {"10.1.2.3", "::ffff:10.1.2.3", "::1", "8.8.8.8"};
    static const char *const not_fine[] = {"10.1.2.4", "127.0.0.1", "64:ff9b::10.1.2.3"};
    struct net_address a;
    size_t i;

    (void)state;
    assert_int_equal(code_of(&policy, "http://127.0.0.1:81/"), NET_OK);
    assert_int_equal(code_of(&policy, "http://127.0.0.1/"), NET_BAD_ADDRESS);
    assert_int_equal(code_of(&policy, "http://127.1:81/"), NET_BAD_ADDRESS);
    for (i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        assert_int_equal(net_address_parse(fine[i], strlen(fine[i]), &a), 0);
        assert_null(net_rule_judge_address(&policy.rules[1], &a));
    }
    for (i = 0; i < sizeof(not_fine) / sizeof(not_fine[0]); i++) {
        assert_int_equal(net_address_parse(not_fine[i], strlen(not_fine[i]), &a), 0);
        assert_non_null(net_rule_judge_address(&policy.rules[1], &a));
    }
    assert_int_equal(net_address_parse("10.1.2.3", 8, &a), 0);
    assert_non_null(net_rule_judge_address(&policy.rules[2], &a));
    net_policy_release(&policy);
}

static void headers_about_the_connection_are_the_hosts(void **state)
{
    static const char *const bad[] = {"Host", "host", "Connection", "Transfer-Encoding",
        "Content-Length", "content-length", "Upgrade", "TE", "te", "Trailer", "Expect",
        "Proxy-Authorization", "proxy-x", "Keep-Alive"};
    static const char *const malformed[] = {"", "a b", "a:b", "a\r\nb", "\xc3\xbc", "a\0b", "(a)"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_non_null(net_header_fault(bad[i], strlen(bad[i]), "x", 1));
    }
    for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        assert_non_null(net_header_fault(malformed[i], i == 5 ? 3 : strlen(malformed[i]), "x", 1));
    }
    assert_null(net_header_fault("X-Key", 5, "a b\tc", 5));
    assert_null(net_header_fault("Accept", 6, "", 0));
    assert_non_null(net_header_fault("X", 1, "a\rb", 3));
    assert_non_null(net_header_fault("X", 1, "a\nb", 3));
    assert_non_null(net_header_fault("X", 1, "a\0b", 3));
    assert_non_null(net_header_fault("X", 1, "\x7f", 1));
}

/* What two policies say together to GET. */
static struct net_verdict judge_both(
    const struct net_policy *gives, const struct net_policy *takes, const char *text)
{
    const struct net_chain chain = {
        .policies = {gives, takes}, .whose = {"environment", "run"}, .count = 2};
    struct net_verdict verdict;
    struct net_url url;
    const char *why;

    assert_int_equal(net_url_parse(text, strlen(text), &url, &why), 0);
    verdict = net_chain_judge(&chain, &url, NET_GET);
    net_url_release(&url);
    return verdict;
}

static void of_two_policies_both_must_allow(void **state)
{
    struct net_policy gives =
        read_rules("[{'effect':'allow','name':'g','match':{'scheme':'http','host':'"
                   "127.0.0.1','path':'/a'},'addresses':['127.0.0.1']}]");
    struct net_policy takes =
        read_rules("[{'effect':'allow','name':'t','match':{'scheme':'http','host':'*'}},"
                   "{'effect':'deny','name':'no','match':{'host':'*','path':'/a/b'}}]");
    struct net_policy empty = read_rules("[]");
    struct net_chain none = {.count = 0};
    struct net_verdict v;
    struct net_url url;
    const char *why;

    (void)state;
    v = judge_both(&gives, &takes, "http://127.0.0.1/a/x");
    assert_int_equal(v.code, NET_OK);
    assert_string_equal(v.rule->name, "g"); /* who gives has the addresses and the secrets */
    assert_null(v.whose);
    v = judge_both(&gives, &takes, "http://127.0.0.1/a/b");
    assert_int_equal(v.code, NET_BY_RULE);
    assert_string_equal(v.rule->name, "no");
    assert_string_equal(v.whose, "run");
    v = judge_both(&gives, &takes, "http://127.0.0.1/c");
    assert_int_equal(v.code, NET_BAD_ADDRESS);
    assert_string_equal(v.whose, "environment");
    v = judge_both(&gives, &empty, "http://127.0.0.1/a");
    assert_int_equal(v.code, NET_NO_RULE);
    assert_string_equal(v.whose, "run");
    /* The other way round nobody has named the address. */
    assert_int_equal(judge_both(&takes, &gives, "http://127.0.0.1/a").code, NET_BAD_ADDRESS);
    assert_int_equal(net_url_parse("https://a.example/", 18, &url, &why), 0);
    assert_int_equal(net_chain_judge(&none, &url, NET_GET).code, NET_NO_RULE);
    net_url_release(&url);
    net_policy_release(&gives);
    net_policy_release(&takes);
    net_policy_release(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_rules_nothing_is_allowed),
        cmocka_unit_test(allow_means_https_to_public_hosts),
        cmocka_unit_test(the_last_rule_that_matches_wins),
        cmocka_unit_test(a_suffix_is_what_is_beneath_it),
        cmocka_unit_test(paths_end_where_a_segment_ends),
        cmocka_unit_test(allowing_is_narrow_and_denying_is_wide),
        cmocka_unit_test(methods_are_looked_at),
        cmocka_unit_test(there_are_seven_methods),
        cmocka_unit_test(this_machine_is_refused_in_every_spelling),
        cmocka_unit_test(an_address_that_the_rule_names_may_be_reached),
        cmocka_unit_test(headers_about_the_connection_are_the_hosts),
        cmocka_unit_test(of_two_policies_both_must_allow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
