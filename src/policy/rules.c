/* rules.c - see rules.h. */
#include "policy/rules.h"

#include <stdio.h>
#include <string.h>

#include "base/glob.h"

static const char LIBRARY[] = "/usr/";

static int matches(const struct rule *rule, enum rules_kind kind, const char *subject)
{
    size_t len = strlen(rule->match);

    if (kind == RULES_PATHS) {
        return subject[0] == '/' && rule->match[0] == '/' &&
               glob_match_dots(rule->match + 1, len - 1, subject + 1, strlen(subject + 1));
    }
    if (len > 0 && rule->match[len - 1] == '*') {
        return strncmp(rule->match, subject, len - 1) == 0;
    }
    return strcmp(rule->match, subject) == 0;
}

int rules_decide(const struct rules *rules, enum rules_kind kind, uint32_t op, const char *subject,
    uint32_t *ret_rule)
{
    size_t i;

    *ret_rule = RULE_WORD;
    if (rules->word != RULES_LIST) {
        return rules->word != RULES_DENY;
    }
    for (i = rules->count; i > 0; i--) { /* from the end: the last one that matches is the one */
        const struct rule *rule = &rules->items[i - 1];

        if ((rule->ops & op) != 0 && matches(rule, kind, subject)) {
            *ret_rule = (uint32_t)(i - 1);
            return rule->allows;
        }
    }
    *ret_rule = RULE_NONE;
    return 0;
}

int rules_decide_path(const struct rules *rules, uint32_t op, const char *path, uint32_t *ret_rule)
{
    int allowed = rules_decide(rules, RULES_PATHS, op, path, ret_rule);

    if (!allowed && op == RULE_READ && (*ret_rule == RULE_NONE || *ret_rule == RULE_WORD) &&
        strncmp(path, LIBRARY, sizeof(LIBRARY) - 1) == 0) {
        *ret_rule = RULE_LIBRARY;
        return 1;
    }
    return allowed;
}

void rules_say(const struct rules *rules, const char *scope, const char *level, uint32_t rule,
    char text[RULE_TEXT_BYTES])
{
    const char *name = rule < rules->count ? rules->items[rule].name : NULL;

    if (rule == RULE_LIBRARY) {
        (void)snprintf(text, RULE_TEXT_BYTES, "the library of the language, which can be read");
    } else if (rule == RULE_WORD && rules->word == RULES_UNSAID) {
        (void)snprintf(text, RULE_TEXT_BYTES, "the default of %s", scope);
    } else if (rule == RULE_WORD) {
        (void)snprintf(text, RULE_TEXT_BYTES, "%s: \"%s\" of the %s", scope,
            rules->word == RULES_DENY ? "deny" : "allow", level);
    } else if (rule >= rules->count) {
        (void)snprintf(
            text, RULE_TEXT_BYTES, "the %s rules of the %s, of which none matches", scope, level);
    } else if (name != NULL && name[0] != '\0') {
        (void)snprintf(
            text, RULE_TEXT_BYTES, "\"%s\" (%s rule %u of the %s)", name, scope, rule + 1, level);
    } else {
        (void)snprintf(text, RULE_TEXT_BYTES, "%s rule %u of the %s", scope, rule + 1, level);
    }
}
