/* rules.h - lists of rules that say what a program may do, and what they decide.
 *
 * One scope of a policy is a word, "allow" or "deny", or a list of rules. In a list the last rule
 * that matches wins, and what no rule matches is denied: an empty list allows nothing. Deciding
 * needs no memory and takes time in proportion to the rules, so that cells can do it, too. */
#ifndef VIAL_POLICY_RULES_H
#define VIAL_POLICY_RULES_H

#include <stddef.h>
#include <stdint.h>

enum {
    RULES_MAX = 1000, /* of one scope: each is looked at for each operation */
    RULE_NAME_BYTES_MAX = 64,
    RULE_TEXT_BYTES = 256, /* of what rules_say writes */
};

enum rules_word {
    RULES_UNSAID = 0, /* whoever asks knows what that means */
    RULES_ALLOW = 1,
    RULES_DENY = 2,
    RULES_LIST = 3,
};

/* How the match of a rule is read. */
enum rules_kind {
    RULES_PATHS, /* a pattern of base/glob.h that begins with a slash; a dot is like any character
                  */
    RULES_NAMES, /* a name, or the beginning of names and a star */
};

/* What may be done with files; the scopes that have names know one thing to do, the first bit. */
enum rule_op { RULE_READ = 1, RULE_WRITE = 2, RULE_ALL_OPS = 3 };

struct rule {
    int allows;
    uint32_t ops;      /* of enum rule_op */
    const char *match; /* ends in NUL */
    const char *name;  /* what its author calls it; NULL or "": nothing */
};

struct rules {
    enum rules_word word;
    struct rule *items; /* of RULES_LIST */
    size_t count;
};

/* What decided. */
enum { RULE_NONE = UINT32_MAX, RULE_WORD = UINT32_MAX - 1, RULE_LIBRARY = UINT32_MAX - 2 };

/* Is it allowed to do op with what is called subject? *ret_rule is the number of the rule that
 * says so, from 0, RULE_NONE when no rule matches, or RULE_WORD when there are none. Paths are
 * absolute, without "." and "..", with single slashes. What is unsaid is allowed. */
int rules_decide(const struct rules *rules, enum rules_kind kind, uint32_t op, const char *subject,
    uint32_t *ret_rule);

/* The same for files. The library of a language lies in /usr: it is no secret and cannot be
 * changed, and programs import from it; so it can be read unless a rule says that it cannot. */
int rules_decide_path(const struct rules *rules, uint32_t op, const char *path, uint32_t *ret_rule);

/* What decided, for people: fs rule 2 of the run; "no-secrets" (fs rule 2 of the run). */
void rules_say(const struct rules *rules, const char *scope, const char *level, uint32_t rule,
    char text[RULE_TEXT_BYTES]);

#endif
