/* permission.c - see permission.h. */
#include "policy/permission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct {
    const char *name;
    enum rules_word by_default;
} SCOPES[SCOPE_COUNT] = {
    [SCOPE_FS] = {"fs", RULES_ALLOW},
    [SCOPE_NET] = {"net", RULES_DENY},
    [SCOPE_ENV] = {"env", RULES_ALLOW},
    [SCOPE_TOOLS] = {"tools", RULES_ALLOW},
    [SCOPE_PROCESS] = {"process", RULES_ALLOW},
    [SCOPE_CLOCK] = {"clock", RULES_ALLOW},
    [SCOPE_RANDOM] = {"random", RULES_ALLOW},
};

static const char *const LEVELS[PERMISSION_LEVELS] = {"environment", "session", "run"};

static const struct permission NOTHING_SAID;

const char *permission_scope_name(enum permission_scope scope)
{
    return SCOPES[scope].name;
}

const char *permission_level_name(unsigned level)
{
    return level < PERMISSION_LEVELS ? LEVELS[level] : "run";
}

void permission_free(struct permission *p)
{
    size_t i, k;

    if (p == NULL) {
        return;
    }
    for (i = 0; i < SCOPE_COUNT; i++) {
        for (k = 0; k < p->scopes[i].count; k++) {
            free((void *)(uintptr_t)p->scopes[i].items[k].match);
            free((void *)(uintptr_t)p->scopes[i].items[k].name);
        }
        free(p->scopes[i].items);
    }
    net_policy_release(&p->net);
    free(p);
}

/* One level; what is unsaid is allowed by it, unless it is the first. */
static int decide_level(const struct rules *rules, enum permission_scope scope, int is_first,
    uint32_t op, const char *subject, uint32_t *ret_rule)
{
    if (rules->word == RULES_UNSAID && is_first) {
        *ret_rule = RULE_WORD;
        return SCOPES[scope].by_default == RULES_ALLOW;
    }
    if (scope == SCOPE_NET && rules->word == RULES_LIST) {
        *ret_rule = RULE_NONE;
        return 0;
    }
    return scope == SCOPE_FS ? rules_decide_path(rules, op, subject, ret_rule)
                             : rules_decide(rules, RULES_NAMES, op, subject, ret_rule);
}

int permission_decide(const struct permission_chain *chain, enum permission_scope scope,
    uint32_t op, const char *subject, struct permission_verdict *verdict)
{
    struct permission_verdict v = {.allowed = 1, .level = PERMISSION_RUN, .rule = RULE_WORD};
    int is_first = 1, is_said;
    unsigned i;

    for (i = 0; i < PERMISSION_LEVELS && v.allowed; i++) {
        const struct permission *p = chain->levels[i];
        uint32_t rule = RULE_WORD;

        if (p == NULL && !(is_first && i == PERMISSION_RUN)) {
            continue;
        }
        p = p != NULL ? p : &NOTHING_SAID;
        is_said = is_first || p->scopes[scope].word != RULES_UNSAID;
        v.allowed = decide_level(&p->scopes[scope], scope, is_first, op, subject, &rule);
        if (is_said) { /* a level that says nothing does not answer for what another one allows */
            v.level = i;
            v.rule = rule;
        }
        is_first = 0;
    }
    if (verdict != NULL) {
        permission_say(chain, scope, v.level, v.rule, v.by);
        *verdict = v;
    }
    return v.allowed;
}

void permission_say(const struct permission_chain *chain, enum permission_scope scope,
    unsigned level, uint32_t rule, char text[RULE_TEXT_BYTES])
{
    const struct permission *p = level < PERMISSION_LEVELS ? chain->levels[level] : NULL;

    rules_say(&(p != NULL ? p : &NOTHING_SAID)->scopes[scope], SCOPES[scope].name,
        permission_level_name(level), rule, text);
}

int permission_is_restricted(const struct permission_chain *chain, enum permission_scope scope)
{
    unsigned i;

    for (i = 0; i < PERMISSION_LEVELS; i++) {
        if (chain->levels[i] != NULL && chain->levels[i]->scopes[scope].word >= RULES_DENY) {
            return 1;
        }
    }
    return 0;
}

int permission_settle(
    const struct permission_chain *chain, struct permission *ret, struct vial_error *err)
{
    unsigned i;

    *ret = NOTHING_SAID;
    for (i = 0; i < PERMISSION_LEVELS; i++) {
        const struct permission *p = chain->levels[i];

        if (p == NULL) {
            continue;
        }
        if (p->clock_is_set && ret->clock_is_set &&
            (p->clock_at_us != ret->clock_at_us || p->clock_runs != ret->clock_runs)) {
            return vial__fail(err, VIAL_E_INVALID,
                "the %s cannot set another clock than the one that is set for it already",
                LEVELS[i]);
        }
        if (p->random_is_set && ret->random_is_set && p->seed != ret->seed) {
            return vial__fail(err, VIAL_E_INVALID,
                "the %s cannot set another seed than the one that is set for it already",
                LEVELS[i]);
        }
        if (p->clock_is_set) {
            ret->clock_is_set = 1;
            ret->clock_at_us = p->clock_at_us;
            ret->clock_runs = p->clock_runs;
        }
        if (p->random_is_set) {
            ret->random_is_set = 1;
            ret->seed = p->seed;
        }
    }
    return VIAL_OK;
}

/* A rule that only takes away has nothing to give. */
static int check_tightens(const struct net_policy *policy, unsigned level, struct vial_error *err)
{
    size_t i;

    for (i = 0; i < policy->count; i++) {
        if (policy->rules[i].inject != NET_INJECT_NOTHING || policy->rules[i].addresses_count > 0) {
            return vial__fail(err, VIAL_E_INVALID,
                "the rule %.64s of the %s has %s: where rules of the network hold already, further "
                "ones can only take away; only the first ones have \"inject\" and \"addresses\"",
                policy->rules[i].name, LEVELS[level],
                policy->rules[i].addresses_count > 0 ? "addresses" : "a secret");
        }
    }
    return VIAL_OK;
}

int permission_net_chain(
    const struct permission_chain *chain, struct net_chain *ret, struct vial_error *err)
{
    const struct permission *p;
    enum rules_word word;
    unsigned i;
    int r;

    for (i = 0; i < PERMISSION_LEVELS; i++) {
        p = chain->levels[i];
        word = p != NULL ? p->scopes[SCOPE_NET].word : RULES_UNSAID;
        if (word == RULES_DENY ||
            (word == RULES_UNSAID && p != NULL && i == PERMISSION_ENVIRONMENT) ||
            (word == RULES_LIST && p->net.count == 0)) {
            ret->count = 0; /* an environment that says nothing has its default */
            return VIAL_OK;
        }
        if (word == RULES_UNSAID || (word == RULES_ALLOW && ret->count > 0)) {
            continue;
        }
        r = ret->count > 0 ? check_tightens(&p->net, i, err) : 0;
        if (r < 0) {
            return r;
        }
        ret->policies[ret->count] = &p->net;
        ret->whose[ret->count++] = LEVELS[i];
    }
    return VIAL_OK;
}

/* Whose word, or empty list, leaves no network. */
static void explain_none(const struct permission_chain *chain, struct permission_verdict *v)
{
    unsigned i;

    for (i = 0; i < PERMISSION_LEVELS; i++) {
        const struct permission *p = chain->levels[i];

        if (p != NULL && (p->scopes[SCOPE_NET].word == RULES_DENY ||
                             (p->scopes[SCOPE_NET].word == RULES_LIST && p->net.count == 0))) {
            v->level = i;
            (void)snprintf(v->by, sizeof(v->by), "net: %s of the %s",
                p->scopes[SCOPE_NET].word == RULES_DENY ? "\"deny\"" : "[]", LEVELS[i]);
            return;
        }
    }
}

/* Which rules of all levels let it pass, or which one did not. */
static int explain_chain(
    const struct net_chain *chain, const struct net_url *url, struct permission_verdict *v)
{
    struct net_verdict judged;
    size_t i, len = 0;

    v->allowed = 1;
    for (i = 0; i < chain->count && v->allowed; i++) {
        judged = net_chain_judge_one(chain, i, url, NET_GET);
        v->allowed = judged.code == NET_OK;
        len = v->allowed && len < sizeof(v->by) ? len : 0; /* who refuses is all that matters */
        len += (size_t)snprintf(v->by + len, sizeof(v->by) - len, "%s%s \"%.64s\" of the %s",
            len > 0 ? " and " : "", judged.why != NULL ? judged.why : "net",
            judged.rule != NULL ? judged.rule->name : "none", chain->whose[i]);
    }
    return v->allowed;
}

int permission_net_decide(
    const struct permission_chain *chain, const char *url, struct permission_verdict *verdict)
{
    struct permission_verdict v = {.allowed = 0, .rule = RULE_WORD};
    struct vial_error err = {.code = 0};
    struct net_chain net = {.count = 0};
    struct net_url parsed;
    const char *why = NULL;

    (void)snprintf(v.by, sizeof(v.by), "the default of net");
    if (net_url_parse(url, strlen(url), &parsed, &why) < 0) {
        (void)snprintf(v.by, sizeof(v.by), "the URL, which %s", why != NULL ? why : "is none");
        *verdict = v;
        return 0;
    }
    if (permission_net_chain(chain, &net, &err) < 0) {
        (void)snprintf(v.by, sizeof(v.by), "%.240s", err.text);
    } else if (net.count > 0) {
        (void)explain_chain(&net, &parsed, &v);
    } else {
        explain_none(chain, &v);
    }
    net_url_release(&parsed);
    *verdict = v;
    return v.allowed;
}
