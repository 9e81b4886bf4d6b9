/* net_rules.c - see net_rules.h. */
#include "policy/net_rules.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const METHODS[NET_METHODS_COUNT] = {
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

int net_method(const char *name, size_t len)
{
    int i;

    for (i = 0; i < NET_METHODS_COUNT; i++) {
        if (strlen(METHODS[i]) == len && memcmp(METHODS[i], name, len) == 0) {
            return i;
        }
    }
    return NET_METHOD_NONE;
}

const char *net_method_name(int method)
{
    return METHODS[method];
}

const char *net_code_name(int code)
{
    return code == NET_BAD_URL ? "url" : code == NET_BAD_ADDRESS ? "address" : "rule";
}

void net_policy_release(struct net_policy *policy)
{
    size_t i;

    for (i = 0; i < policy->count; i++) {
        struct net_rule *rule = &policy->rules[i];

        free(rule->name);
        free(rule->host);
        free(rule->path);
        free(rule->addresses);
        free(rule->inject_field);
        free(rule->secret);
    }
    free(policy->rules);
    *policy = (struct net_policy){.rules = NULL};
}

/* ---- one rule ---- */

static int host_matches(const struct net_rule *rule, const struct net_url *url)
{
    size_t len = strlen(url->host), suffix;

    switch (rule->host_match) {
    case NET_ANY_HOST:
        return 1;
    case NET_EXACT_HOST:
        return strcmp(rule->host, url->host) == 0;
    default:
        suffix = strlen(rule->host);
        return url->host_kind == NET_HOST_NAME && len > suffix &&
               strcmp(url->host + len - suffix, rule->host) == 0;
    }
}

static int path_matches(const struct net_rule *rule, const struct net_url *url)
{
    size_t len = rule->path != NULL ? strlen(rule->path) : 0;

    if (len == 0) {
        return 1;
    }
    return url->path.len >= len && memcmp(url->path.data, rule->path, len) == 0 &&
           (url->path.len == len || rule->path[len - 1] == '/' || url->path.data[len] == '/');
}

static int rule_matches(const struct net_rule *rule, const struct net_url *url, int method)
{
    return (rule->scheme == NET_ANY || rule->scheme == url->scheme) &&
           (rule->port == NET_ANY || rule->port == url->port ||
               (rule->port == 0 && url->port == net_scheme_port(url->scheme))) &&
           (rule->methods >> method & 1) != 0 && host_matches(rule, url) && path_matches(rule, url);
}

const char *net_rule_judge_address(const struct net_rule *rule, const struct net_address *address)
{
    size_t i;

    for (i = 0; i < rule->addresses_count; i++) {
        if (net_address_equal(&rule->addresses[i], address)) {
            return NULL;
        }
    }
    return net_address_fault(address);
}

/* Names that mean this machine to every resolver, RFC 6761. */
static int is_localhost(const char *host)
{
    size_t len = strlen(host);

    return strcmp(host, "localhost") == 0 ||
           (len > 10 && strcmp(host + len - 10, ".localhost") == 0);
}

/* What is wrong with the host itself, given the rule that would allow it or NULL. */
static const char *host_fault(const struct net_rule *rule, const struct net_url *url)
{
    static const uint8_t loopback[4] = {127, 0, 0, 1};
    struct net_address address = net_address_v4(loopback);
    int is_allowing = rule != NULL && rule->effect == NET_ALLOW;

    if (url->host_kind == NET_HOST_DISGUISED) {
        return "an address in a spelling that hides it";
    }
    if (url->host_kind == NET_HOST_ADDRESS) {
        return is_allowing ? net_rule_judge_address(rule, &url->address)
                           : net_address_fault(&url->address);
    }
    /* The resolver is asked all the same when a rule names an address of this machine. */
    return is_localhost(url->host) && !(is_allowing && rule->addresses_count > 0)
               ? net_address_fault(&address)
               : NULL;
}

/* What the rules alone say. */
static struct net_verdict match(
    const struct net_policy *policy, const struct net_url *url, int method)
{
    struct net_verdict verdict = {.code = NET_NO_RULE};
    size_t i;

    for (i = policy->count; i > 0 && verdict.rule == NULL; i--) {
        if (rule_matches(&policy->rules[i - 1], url, method)) {
            verdict.rule = &policy->rules[i - 1];
        }
    }
    if (verdict.rule != NULL) {
        verdict.code = verdict.rule->effect == NET_ALLOW ? NET_OK : NET_BY_RULE;
    }
    return verdict;
}

struct net_verdict net_policy_judge(
    const struct net_policy *policy, const struct net_url *url, int method)
{
    struct net_verdict verdict = match(policy, url, method);

    if (verdict.code != NET_BY_RULE) {
        verdict.why = host_fault(verdict.rule, url);
        verdict.code = verdict.why != NULL ? NET_BAD_ADDRESS : verdict.code;
    }
    return verdict;
}

struct net_verdict net_chain_judge_one(
    const struct net_chain *chain, size_t index, const struct net_url *url, int method)
{
    /* Only who gives says something about addresses. */
    struct net_verdict verdict = index == 0 ? net_policy_judge(chain->policies[0], url, method)
                                            : match(chain->policies[index], url, method);

    verdict.whose = verdict.code != NET_OK ? chain->whose[index] : NULL;
    return verdict;
}

struct net_verdict net_chain_judge(
    const struct net_chain *chain, const struct net_url *url, int method)
{
    struct net_verdict first = {.code = NET_NO_RULE}, other;
    size_t i;

    if (chain->count == 0) {
        return first;
    }
    first = net_chain_judge_one(chain, 0, url, method);
    for (i = 1; i < chain->count && first.code == NET_OK; i++) {
        other = net_chain_judge_one(chain, i, url, method);
        if (other.code != NET_OK) {
            return other;
        }
    }
    return first;
}

/* ---- making rules ---- */

static char *lower(const char *text)
{
    char *copy = strdup(text);
    char *p;

    for (p = copy; p != NULL && *p != '\0'; p++) {
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + ('a' - 'A') : *p);
    }
    return copy;
}

/* An address is compared by its one spelling. */
static char *spell(const struct net_address *address)
{
    char text[NET_ADDRESS_TEXT_BYTES + 2] = "[";

    net_address_text(address, text + 1);
    if (net_address_is_v4(address)) {
        return strdup(text + 1);
    }
    text[strlen(text) + 1] = '\0';
    text[strlen(text)] = ']';
    return strdup(text);
}

int net_rule_set_host(struct net_rule *rule, const char *host, const char **why)
{
    struct net_address address;
    int kind;

    rule->host_match = strcmp(host, "*") == 0        ? NET_ANY_HOST
                       : strncmp(host, "*.", 2) == 0 ? NET_SUFFIX_HOST
                                                     : NET_EXACT_HOST;
    rule->host = lower(rule->host_match == NET_SUFFIX_HOST ? host + 1 : host);
    if (rule->host == NULL) {
        *why = "cannot be kept: there is no memory for it";
        return -1;
    }
    if (rule->host_match == NET_ANY_HOST) {
        return 0;
    }
    kind = (int)net_host_kind(rule->host_match == NET_SUFFIX_HOST ? rule->host + 1 : rule->host,
        strlen(rule->host) - (rule->host_match == NET_SUFFIX_HOST), &address);
    if (kind == NET_HOST_NAME) {
        return 0;
    }
    if (kind == NET_HOST_ADDRESS && rule->host_match == NET_EXACT_HOST) {
        free(rule->host);
        rule->host = spell(&address);
        *why = "cannot be kept: there is no memory for it";
        return rule->host != NULL ? 0 : -1;
    }
    *why = "must be a name such as api.example.com, *.example.com for what is beneath one, * for "
           "any, or an address in its ordinary spelling; names in punycode";
    return -1;
}

int net_rule_set_path(struct net_rule *rule, const char *path, const char **why)
{
    struct buf plain;
    int r;

    buf_init(&plain, NET_PATH_BYTES_MAX);
    r = net_path_normalise(path, strlen(path), &plain, why);
    if (r == 0 && strpbrk(path, "?#*") != NULL) {
        *why = "must be the beginning of a path, without ?, # or *";
        r = -1;
    }
    if (r == 0) {
        rule->path = strdup(plain.data);
        *why = "cannot be kept: there is no memory for it";
        r = rule->path != NULL ? 0 : -1;
    }
    buf_release(&plain);
    return r;
}

/* ---- headers ---- */

static int is_token(const char *text, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL))) {
            return 0;
        }
    }
    return len > 0;
}

/* Those that decide where a request ends, which server it is for, or what becomes of the
 * connection. */
static int is_forbidden(const char *name, size_t len)
{
    static const char *const names[] = {"Host", "Connection", "Transfer-Encoding", "Content-Length",
        "Upgrade", "TE", "Trailer", "Keep-Alive", "Expect", "HTTP2-Settings", "Via"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0) {
            return 1;
        }
    }
    return (len >= 6 && strncasecmp(name, "Proxy-", 6) == 0);
}

const char *net_header_fault(const char *name, size_t name_len, const char *value, size_t len)
{
    size_t i;

    if (!is_token(name, name_len)) {
        return "has a name that no header can have";
    }
    if (is_forbidden(name, name_len)) {
        return "is one that only the host sets";
    }
    for (i = 0; i < len; i++) {
        unsigned char c = (unsigned char)value[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return "has a control character in its value";
        }
    }
    return NULL;
}
