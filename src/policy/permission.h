/* permission.h - one policy of what programs may do, whatever they are written in.
 *
 *     {"fs": "deny", "tools": [{"effect": "allow", "match": "crm.*"}], "clock": {"at": "..."}}
 *
 * An environment has one, a session and a run may bring another one: each level can only tighten,
 * for what is done must be allowed by all of them. What a level does not say is allowed by it, but
 * for the first level, where it has its default: files, declared variables and tools yes, network
 * no. Nothing here does anything: who enforces a scope asks. docs/permissions.md has the rules. */
#ifndef VIAL_POLICY_PERMISSION_H
#define VIAL_POLICY_PERMISSION_H

#include <stddef.h>
#include <stdint.h>

#include "policy/net_rules.h"
#include "policy/rules.h"
#include "vial.h"

enum permission_scope {
    SCOPE_FS,
    SCOPE_NET,
    SCOPE_ENV,
    SCOPE_TOOLS,
    SCOPE_PROCESS,
    SCOPE_CLOCK,
    SCOPE_RANDOM,
    SCOPE_COUNT
};

enum {
    PERMISSION_BYTES_MAX = 4 << 20, /* of a policy as text: all rules there may be, and long ones */
    PERMISSION_WHY_BYTES = 360,
};

struct permission {
    /* Of clock and random only the word counts; the rules of net are below. */
    struct rules scopes[SCOPE_COUNT];
    struct net_policy net; /* what the words and the list of net mean */
    int clock_is_set, clock_runs;
    int64_t clock_at_us; /* since 1970 */
    int random_is_set;
    uint64_t seed;
};

enum permission_level {
    PERMISSION_ENVIRONMENT,
    PERMISSION_SESSION,
    PERMISSION_RUN,
    PERMISSION_LEVELS
};

/* All that holds for a program. Levels that there are not are NULL. */
struct permission_chain {
    const struct permission *levels[PERMISSION_LEVELS];
};

struct permission_verdict {
    int allowed;
    unsigned level; /* enum permission_level: whose rule refused, or allowed last */
    uint32_t rule;  /* as rules.h has it */
    char by[RULE_TEXT_BYTES];
};

/* The name of a scope or a level. */
const char *permission_scope_name(enum permission_scope scope);
const char *permission_level_name(unsigned level);

/* Reads a policy from JSON text. *ret belongs to the caller. VIAL_E_INVALID with the path of the
 * first thing that is wrong. */
VIAL_NODISCARD int permission_parse(
    const char *json, size_t len, struct permission **ret, struct vial_error *err);
void permission_free(struct permission *permission);

/* What all levels together say. verdict may be NULL. For SCOPE_NET this is what the word says, and
 * a list is neither: whoever has policy/net*.c asks that. Returns allowed. */
int permission_decide(const struct permission_chain *chain, enum permission_scope scope,
    uint32_t op, const char *subject, struct permission_verdict *verdict);

/* The rules of the network that hold by all levels, into *ret, which may have one that gives
 * already; none is left when a level denies all of it. The first level that says something gives,
 * and a later one takes away; the word "allow" takes nothing away. VIAL_E_INVALID when a later
 * level has rules with secrets or addresses, which would give. */
VIAL_NODISCARD int permission_net_chain(
    const struct permission_chain *chain, struct net_chain *ret, struct vial_error *err);

/* The same for a URL that is to be fetched with GET: all levels must allow it. */
int permission_net_decide(
    const struct permission_chain *chain, const char *url, struct permission_verdict *verdict);

/* Who decided, in words. */
void permission_say(const struct permission_chain *chain, enum permission_scope scope,
    unsigned level, uint32_t rule, char text[RULE_TEXT_BYTES]);

/* Is there anything that could refuse an operation in this scope? */
int permission_is_restricted(const struct permission_chain *chain, enum permission_scope scope);

/* The clock and the seed that hold: of the first level that sets them. A later one that says
 * something else would loosen what was set: VIAL_E_INVALID. They are all zero without any. */
VIAL_NODISCARD int permission_settle(
    const struct permission_chain *chain, struct permission *ret, struct vial_error *err);

/* "2026-01-01T00:00:00Z", also with a fraction or an offset, as microseconds since 1970; -1 when it
 * is no such time or not between 1970 and 9999. */
int permission_time(const char *text, int64_t *ret_us);

#endif
