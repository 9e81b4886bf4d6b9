/* document_net.c - see document_net.h. */
#include "policy/document_net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/secret_name.h"
#include "policy/document_text.h"

enum { WHY_BYTES_MAX = 256, PATH_BYTES_MAX = 4096, ALL_METHODS = (1 << NET_METHODS_COUNT) - 1 };

/* A member that must be there. */
static char *needed(struct document_check *c, const json_t *object, const char *key, size_t max)
{
    if (json_object_get(object, key) == NULL) {
        check_say(c, "the key \"%s\" is missing", key);
        return NULL;
    }
    return check_member(c, object, key, max);
}

static void say_in(struct document_check *c, const char *key, const char *what, const char *why)
{
    size_t before = check_enter(c, key);

    check_say(c, "%s %s", what, why);
    check_leave(c, before);
}

static void check_methods(struct document_check *c, const json_t *value, struct net_rule *rule)
{
    size_t i, before = check_enter(c, "methods");

    if (must_be_array(c, value, NET_METHODS_COUNT, "methods")) {
        rule->methods = 0;
        for (i = 0; i < json_array_size(value); i++) {
            size_t within = check_enter_index(c, i);
            char *name = must_be_string(c, json_array_get(value, i), 16);
            int method = name != NULL ? net_method(name, strlen(name)) : NET_METHOD_NONE;

            if (name != NULL && method == NET_METHOD_NONE) {
                check_say(c, "is no method: there are GET, HEAD, POST, PUT, PATCH, DELETE and "
                             "OPTIONS");
            }
            rule->methods |= method != NET_METHOD_NONE ? 1U << method : 0;
            free(name);
            check_leave(c, within);
        }
    }
    check_leave(c, before);
}

static void check_host(struct document_check *c, const json_t *match, struct net_rule *rule)
{
    char *host = needed(c, match, "host", NET_HOST_BYTES_MAX);
    const char *why;

    if (host != NULL && net_rule_set_host(rule, host, &why) < 0) {
        say_in(c, "host", "the host", why);
    }
    free(host);
}

static void check_path(struct document_check *c, const json_t *match, struct net_rule *rule)
{
    char *path = check_member(c, match, "path", NET_PATH_BYTES_MAX);
    const char *why;

    if (path != NULL && net_rule_set_path(rule, path, &why) < 0) {
        say_in(c, "path", "the path", why);
    }
    free(path);
}

static void check_match(struct document_check *c, json_t *match, struct net_rule *rule)
{
    static const char *const known[] = {"scheme", "host", "port", "path", "methods", NULL};
    static const char *const schemes[] = {"https", "http", NULL};

    if (!must_be_object(c, match, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, match, known);
    if (json_object_get(match, "scheme") != NULL) {
        rule->scheme = check_choice(c, match, "scheme", schemes) == 0 ? NET_HTTPS : NET_HTTP;
    }
    if (json_object_get(match, "port") != NULL) {
        rule->port = (int)must_be_number(c, match, "port", 0, 1, UINT16_MAX);
    }
    if (json_object_get(match, "methods") != NULL) {
        check_methods(c, json_object_get(match, "methods"), rule);
    }
    check_host(c, match, rule);
    check_path(c, match, rule);
}

static void check_addresses(struct document_check *c, const json_t *value, struct net_rule *rule)
{
    size_t i;

    if (!must_be_array(c, value, NET_ADDRESSES_MAX, "addresses")) {
        return;
    }
    rule->addresses = check_array_new(c, json_array_size(value), sizeof(*rule->addresses));
    for (i = 0; i < json_array_size(value) && rule->addresses != NULL; i++) {
        size_t before = check_enter_index(c, i);
        char *text = must_be_string(c, json_array_get(value, i), NET_ADDRESS_TEXT_BYTES);

        if (text != NULL &&
            net_address_parse(text, strlen(text), &rule->addresses[rule->addresses_count]) < 0) {
            check_say(c, "is no single address in its ordinary spelling, such as 10.1.2.3");
        } else if (text != NULL) {
            rule->addresses_count++;
        }
        free(text);
        check_leave(c, before);
    }
}

/* The name of a header or of a key in a query, both of which are plain here. */
static char *check_field(struct document_check *c, const json_t *inject, const char *key)
{
    char *field = check_member(c, inject, key, NET_FIELD_BYTES_MAX);
    const char *fault = field != NULL ? net_header_fault(field, strlen(field), "", 0) : NULL;

    if (fault != NULL) {
        say_in(c, key, "the name", fault);
    }
    return field;
}

/* The name of a secret, which must be there. */
static char *check_secret(struct document_check *c, const json_t *inject, const char *key)
{
    char *name = needed(c, inject, key, NET_FIELD_BYTES_MAX);
    const char *fault = name != NULL ? secret_name_fault(name, strlen(name)) : NULL;

    if (fault != NULL) {
        say_in(c, key, "the name of a secret", fault);
    }
    return name;
}

/* {"header": "X-Key", "secret": "NAME"}, {"bearer": "NAME"} or {"query": "key", "secret": "NAME"}
 */
static void check_inject(struct document_check *c, json_t *inject, struct net_rule *rule)
{
    static const char *const known[] = {"header", "bearer", "query", "secret", NULL};
    int has_header, has_bearer, has_query;

    if (!must_be_object(c, inject, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, inject, known);
    has_header = json_object_get(inject, "header") != NULL;
    has_bearer = json_object_get(inject, "bearer") != NULL;
    has_query = json_object_get(inject, "query") != NULL;
    if (has_header + has_bearer + has_query != 1) {
        check_say(c, "needs one of the keys \"header\", \"bearer\" and \"query\"");
        return;
    }
    if (rule->effect != NET_ALLOW || rule->host_match != NET_EXACT_HOST) {
        check_say(c, "is for a rule that allows exactly one host");
    }
    rule->inject = has_header   ? NET_INJECT_HEADER
                   : has_bearer ? NET_INJECT_BEARER
                                : NET_INJECT_QUERY;
    if (has_bearer) {
        rule->secret = check_secret(c, inject, "bearer");
        if (json_object_get(inject, "secret") != NULL) {
            check_say(c, "has the name of its secret in \"bearer\" already");
        }
        return;
    }
    rule->inject_field = check_field(c, inject, has_header ? "header" : "query");
    rule->secret = check_secret(c, inject, "secret");
}

/* What a rule is called that has no name: by its place. */
static void check_name(
    struct document_check *c, const json_t *object, size_t index, struct net_rule *rule)
{
    char own[32];

    rule->name = check_member(c, object, "name", NET_RULE_NAME_BYTES_MAX);
    if (rule->name == NULL) {
        (void)snprintf(own, sizeof(own), "net[%zu]", index);
        rule->name = strdup(own);
    }
    if (rule->name == NULL) {
        check_no_memory(c);
    }
}

static void check_rule(
    struct document_check *c, json_t *object, size_t index, struct net_rule *rule)
{
    static const char *const known[] = {"effect", "name", "match", "addresses", "inject", NULL};
    static const char *const effects[] = {"deny", "allow", NULL};
    json_t *part;
    size_t before;

    rule->methods = ALL_METHODS;
    check_name(c, object, index, rule);
    if (!must_be_object(c, object, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, object, known);
    if (json_object_get(object, "effect") == NULL) {
        check_say(c, "the key \"effect\" is missing: \"allow\" or \"deny\"");
    }
    rule->effect = check_choice(c, object, "effect", effects) == 1 ? NET_ALLOW : NET_DENY;
    rule->scheme = rule->effect == NET_ALLOW ? NET_HTTPS : NET_ANY;
    rule->port = rule->effect == NET_ALLOW ? 0 : NET_ANY;
    part = json_object_get(object, "match");
    if (part == NULL) {
        check_say(c, "the key \"match\" is missing");
    } else {
        before = check_enter(c, "match");
        check_match(c, part, rule);
        check_leave(c, before);
    }
    part = json_object_get(object, "addresses");
    if (part != NULL) {
        before = check_enter(c, "addresses");
        check_addresses(c, part, rule);
        check_leave(c, before);
    }
    part = json_object_get(object, "inject");
    if (part != NULL) {
        before = check_enter(c, "inject");
        check_inject(c, part, rule);
        check_leave(c, before);
    }
}

/* "allow": https to any host, of which only public addresses are left. */
static void allow_all(struct document_check *c, struct net_policy *ret)
{
    ret->rules = check_array_new(c, 1, sizeof(*ret->rules));
    if (ret->rules == NULL) {
        return;
    }
    ret->count = 1;
    ret->rules[0] = (struct net_rule){.effect = NET_ALLOW,
        .scheme = NET_HTTPS,
        .host_match = NET_ANY_HOST,
        .methods = ALL_METHODS,
        .name = strdup("net"),
        .host = strdup("*")};
    if (ret->rules[0].name == NULL || ret->rules[0].host == NULL) {
        check_no_memory(c);
    }
}

void document_check_net(struct document_check *c, const json_t *value, struct net_policy *ret)
{
    const char *word = json_string_value(value);
    size_t i, before;

    if (value == NULL || (word != NULL && strcmp(word, "deny") == 0)) {
        return;
    }
    if (word != NULL && strcmp(word, "allow") == 0) {
        allow_all(c, ret);
        return;
    }
    if (word != NULL || !json_is_array(value)) {
        check_say(c, "must be \"deny\", \"allow\" or a list of rules");
        return;
    }
    if (!must_be_array(c, value, NET_RULES_MAX, "rules")) {
        return;
    }
    ret->rules = check_array_new(c, json_array_size(value), sizeof(*ret->rules));
    for (i = 0; i < json_array_size(value) && ret->rules != NULL; i++) {
        before = check_enter_index(c, i);
        check_rule(c, json_array_get(value, i), i, &ret->rules[ret->count++]);
        check_leave(c, before);
    }
}

/* ---- rules that come alone ---- */

static int parse_alone(
    struct document_check *c, const char *json, size_t len, struct net_policy *policy)
{
    char why[WHY_BYTES_MAX];
    json_error_t error;
    json_t *root;

    if (document_text_check(json, len, why, sizeof(why)) < 0) {
        return vial__fail(c->err, VIAL_E_INVALID, "%s", why);
    }
    root = json_loadb(json, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (root == NULL) {
        return vial__fail(c->err, VIAL_E_INVALID, "%s", error.text);
    }
    document_check_net(c, root, policy);
    json_decref(root);
    if (c->r < 0) {
        return vial__fail(c->err, VIAL_E_NOMEM, "no memory for rules of the network");
    }
    return c->faults > 0 ? VIAL_E_INVALID : VIAL_OK;
}

int net_policy_parse(const char *json, size_t len, struct net_policy *ret, struct vial_error *err)
{
    struct vial_error own = {.code = 0};
    struct buf report;
    struct document_check c = {.report = &report, .err = err != NULL ? err : &own};
    struct net_policy policy = {.rules = NULL};
    int r;

    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    buf_init(&c.path, PATH_BYTES_MAX);
    r = report_begin(&report);
    r = r < 0 ? r : parse_alone(&c, json, len, &policy);
    buf_release(&c.path);
    buf_release(&report);
    if (r < 0) {
        net_policy_release(&policy);
        return vial__wrap(err, r, "the rules of the network");
    }
    *ret = policy;
    return VIAL_OK;
}
