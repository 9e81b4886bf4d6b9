/* net_rules.c - the rules of the network: two policies and a URL. What they allow is what a plain
 * reader of the rules allows, both of them must, and what is not public passes only by its name. */
#include "policy/net_rules.h"

#include "fuzz.h"

/* The rule matches by the words of docs/network.md. */
static int matches(const struct net_rule *rule, const struct net_url *url, int method)
{
    size_t host = strlen(url->host), want = strlen(rule->host), path;

    if ((rule->scheme != NET_ANY && rule->scheme != url->scheme) ||
        (rule->methods & 1U << (unsigned)method) == 0 ||
        (rule->port == 0 && url->port != net_scheme_port(url->scheme)) ||
        (rule->port > 0 && rule->port != url->port)) {
        return 0;
    }
    if ((rule->host_match == NET_EXACT_HOST && strcmp(rule->host, url->host) != 0) ||
        (rule->host_match == NET_SUFFIX_HOST &&
            !(host > want && strcmp(url->host + host - want, rule->host) == 0))) {
        return 0;
    }
    if (rule->path == NULL) {
        return 1;
    }
    path = strlen(rule->path);
    return strncmp(url->path.data, rule->path, path) == 0 &&
           (rule->path[path - 1] == '/' || url->path.data[path] == '/' ||
               url->path.data[path] == '\0');
}

/* The last rule that matches; NULL: none does. */
static const struct net_rule *last(
    const struct net_policy *p, const struct net_url *url, int method)
{
    size_t i;

    for (i = p->count; i > 0; i--) {
        if (matches(&p->rules[i - 1], url, method)) {
            return &p->rules[i - 1];
        }
    }
    return NULL;
}

static int is_named(const struct net_rule *rule, const struct net_address *a)
{
    size_t i;

    for (i = 0; i < rule->addresses_count; i++) {
        if (net_address_equal(&rule->addresses[i], a)) {
            return 1;
        }
    }
    return 0;
}

static void check(const struct net_policy *gives, const struct net_policy *takes,
    const struct net_url *url, int method)
{
    const struct net_chain chain = {
        .policies = {gives, takes}, .whose = {"environment", "run"}, .count = 2};
    struct net_verdict one = net_policy_judge(gives, url, method);
    struct net_verdict both = net_chain_judge(&chain, url, method);
    const struct net_rule *rule = last(gives, url, method), *other = last(takes, url, method);

    if (one.code == NET_OK) {
        FUZZ_CHECK(rule != NULL && rule == one.rule && rule->effect == NET_ALLOW,
            "allowed by a rule that does not allow it");
        FUZZ_CHECK(
            url->host_kind == NET_HOST_NAME ||
                (url->host_kind == NET_HOST_ADDRESS &&
                    (net_address_fault(&url->address) == NULL || is_named(rule, &url->address))),
            "%s passes", url->host);
    }
    FUZZ_CHECK(one.code != NET_NO_RULE || rule == NULL, "a rule that matches is passed over");
    FUZZ_CHECK(one.code != NET_BY_RULE || rule->effect == NET_DENY, "denied by a rule that allows");
    FUZZ_CHECK((both.code == NET_OK) ==
                   (one.code == NET_OK && other != NULL && other->effect == NET_ALLOW),
        "both together say %d", both.code);
    FUZZ_CHECK(both.code != NET_OK || both.rule == one.rule, "another rule gives");
}

/* What rules say to an address, whatever led to it. */
static void check_addresses(const struct net_policy *p, const struct net_address *a)
{
    size_t i;

    for (i = 0; i < p->count; i++) {
        FUZZ_CHECK((net_rule_judge_address(&p->rules[i], a) == NULL) ==
                       (net_address_fault(a) == NULL || is_named(&p->rules[i], a)),
            "the rule %s", p->rules[i].name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input(data, size);
    struct net_policy gives = {.rules = NULL}, takes = {.rules = NULL};
    struct net_address address;
    const char *first, *second, *why = NULL;
    size_t first_len, second_len;
    unsigned method = fuzz_byte(&in) % NET_METHODS_COUNT;
    struct vial_error err;
    struct net_url url;

    first = fuzz_until(&in, '\n', &first_len);
    second = fuzz_until(&in, '\n', &second_len);
    if (net_policy_parse(first, first_len, &gives, &err) == 0) {
        if (net_policy_parse(second, second_len, &takes, &err) == 0 &&
            net_url_parse(in.at, in.left, &url, &why) == 0) {
            check(&gives, &takes, &url, (int)method);
            net_url_release(&url);
            net_policy_release(&takes);
        } else {
            net_policy_release(&takes);
        }
        if (in.left >= sizeof(address.bytes)) {
            address = net_address_v6((const uint8_t *)in.at);
            check_addresses(&gives, &address);
        }
        net_policy_release(&gives);
    }
    return 0;
}
