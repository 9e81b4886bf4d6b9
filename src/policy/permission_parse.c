/* permission_parse.c - reads policies of JSON; see permission.h and document_check.h.
 *
 * A word that is not known here is never skipped: who wrote it meant to forbid something. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "policy/document_check.h"
#include "policy/document_name.h"
#include "policy/document_net.h"
#include "policy/document_text.h"
#include "policy/permission.h"

enum {
    MATCH_BYTES_MAX = 2048, /* a pattern has up to 1024 bytes, and says so itself */
    PATH_BYTES_MAX = 4096,  /* as for documents */
    TIME_BYTES_MAX = 64,
    WHY_BYTES_MAX = 256,
};

#define SEED_MAX ((1ULL << 53) - 1) /* what every reader of JSON can say */

static const char *const FS_OPS[] = {"read", "write", NULL};
static const char *const ENV_OPS[] = {"read", NULL};
static const char *const TOOLS_OPS[] = {"call", NULL};
static const char *const OTHER_OPS[] = {"use", NULL};

static const char *const *ops_of(enum permission_scope scope)
{
    return scope == SCOPE_FS      ? FS_OPS
           : scope == SCOPE_ENV   ? ENV_OPS
           : scope == SCOPE_TOOLS ? TOOLS_OPS
                                  : OTHER_OPS;
}

/* ---- one rule ---- */

static int has_control(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            return 1;
        }
    }
    return 0;
}

/* Its name is shown to programs and people, in the middle of a line. */
static void check_rule_name(struct document_check *c, const json_t *object, struct rule *rule)
{
    char *name = check_member(c, object, "name", RULE_NAME_BYTES_MAX);
    size_t before;

    if (name != NULL && (name[0] == '\0' || has_control(name) || strchr(name, '"') != NULL)) {
        before = check_enter(c, "name");
        check_say(c, "must have characters, and none that is a quote or cannot be seen");
        check_leave(c, before);
    }
    rule->name = name;
}

static void check_ops(
    struct document_check *c, const json_t *value, enum permission_scope scope, struct rule *rule)
{
    const char *const *known = ops_of(scope);
    size_t i, before;
    unsigned k;

    rule->ops = RULE_ALL_OPS;
    if (value == NULL) {
        return;
    }
    before = check_enter(c, "ops");
    if (must_be_array(c, value, RULES_MAX, "words")) {
        rule->ops = 0;
        if (json_array_size(value) == 0) {
            check_say(c, "is empty, so the rule would say nothing");
        }
    }
    for (i = 0; json_is_array(value) && i < json_array_size(value) && i < RULES_MAX; i++) {
        const char *word = json_string_value(json_array_get(value, i));
        size_t here = check_enter_index(c, i);

        for (k = 0; known[k] != NULL && (word == NULL || strcmp(word, known[k]) != 0); k++) {
        }
        if (known[k] == NULL) {
            check_say(c, "must be \"%s\"%s%s%s", known[0], known[1] != NULL ? " or \"" : "",
                known[1] != NULL ? known[1] : "", known[1] != NULL ? "\"" : "");
        } else {
            rule->ops |= 1U << k;
        }
        check_leave(c, here);
    }
    check_leave(c, before);
}

/* What is wrong with a match, or NULL. */
static const char *match_fault(enum permission_scope scope, const char *match)
{
    size_t len = strlen(match);

    switch (scope) {
    case SCOPE_FS:
        return match[0] != '/' ? "must be an absolute path" : glob_fault(match + 1, len - 1);
    case SCOPE_TOOLS:
        return tool_pattern_fault(match, len);
    case SCOPE_ENV:
        if (len > 1 && memchr(match, '*', len - 1) != NULL) {
            return "may have a * only at its end: \"AWS_*\"";
        }
        return variable_name_fault(match, len);
    case SCOPE_PROCESS:
        return strcmp(match, "args") == 0 || strcmp(match, "stdin") == 0 ||
                       strcmp(match, "cwd") == 0 || strcmp(match, "*") == 0
                   ? NULL
                   : "must be \"args\", \"stdin\", \"cwd\" or \"*\"";
    case SCOPE_NET:
    case SCOPE_CLOCK:
    case SCOPE_RANDOM:
    case SCOPE_COUNT:
    default:
        return strcmp(match, "*") == 0 ? NULL : "must be \"*\"";
    }
}

/* A rule of a document that means no tool of it is a mistake. */
static int means_a_tool(const struct document *doc, const char *match)
{
    size_t i;

    for (i = 0; i < doc->tools_count; i++) {
        if (doc->tools[i].name != NULL && tool_pattern_matches(match, doc->tools[i].name)) {
            return 1;
        }
    }
    return strcmp(match, "*") == 0;
}

static void check_match(
    struct document_check *c, const json_t *object, enum permission_scope scope, struct rule *rule)
{
    int may_lack = scope == SCOPE_CLOCK || scope == SCOPE_RANDOM;
    const char *fault;
    size_t before;
    char *match;

    if (json_object_get(object, "match") == NULL && !may_lack) {
        check_say(c, "the key \"match\" is missing: what is the rule about?");
        return;
    }
    match = check_member(c, object, "match", MATCH_BYTES_MAX);
    rule->match = match;
    if (match == NULL) {
        return;
    }
    before = check_enter(c, "match");
    fault = match_fault(scope, match);
    if (fault != NULL) {
        check_say(c, "the pattern %s", fault);
    } else if (scope == SCOPE_TOOLS && c->doc != NULL && !means_a_tool(c->doc, match)) {
        check_say(c, "there is no tool that this means");
    }
    check_leave(c, before);
}

static void check_rule(
    struct document_check *c, json_t *value, enum permission_scope scope, struct rule *rule)
{
    static const char *const known[] = {"effect", "match", "ops", "name", NULL};
    static const char *const effects[] = {"allow", "deny", NULL};

    if (!must_be_object(c, value, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, value, known);
    if (json_object_get(value, "effect") == NULL) {
        check_say(c, "the key \"effect\" is missing: \"allow\" or \"deny\"");
    }
    rule->allows = check_choice(c, value, "effect", effects) == 0;
    check_match(c, value, scope, rule);
    check_ops(c, json_object_get(value, "ops"), scope, rule);
    check_rule_name(c, value, rule);
}

/* ---- one scope ---- */

static void check_list(
    struct document_check *c, json_t *value, enum permission_scope scope, struct permission *p)
{
    struct rules *rules = &p->scopes[scope];
    size_t i, before;

    if (!must_be_array(c, value, RULES_MAX, "rules")) {
        return;
    }
    rules->word = RULES_LIST;
    rules->items = check_array_new(c, json_array_size(value), sizeof(*rules->items));
    for (i = 0; i < json_array_size(value) && rules->items != NULL; i++) {
        before = check_enter_index(c, i);
        check_rule(c, json_array_get(value, i), scope, &rules->items[rules->count++]);
        check_leave(c, before);
    }
}

static void check_clock(struct document_check *c, json_t *value, struct permission *p)
{
    static const char *const known[] = {"at", "runs", NULL};
    char *at;
    size_t before;

    check_keys(c, value, known);
    if (json_object_get(value, "at") == NULL) {
        check_say(c, "the key \"at\" is missing: a time such as \"2026-01-01T00:00:00Z\"");
        return;
    }
    at = check_member(c, value, "at", TIME_BYTES_MAX);
    if (at != NULL && permission_time(at, &p->clock_at_us) < 0) {
        before = check_enter(c, "at");
        check_say(c, "must be a time from 1970 on, such as \"2026-01-01T00:00:00Z\"");
        check_leave(c, before);
    }
    free(at);
    p->clock_runs = check_bool(c, value, "runs", 0);
    p->clock_is_set = 1;
}

static void check_random(struct document_check *c, json_t *value, struct permission *p)
{
    static const char *const known[] = {"seed", NULL};

    check_keys(c, value, known);
    if (json_object_get(value, "seed") == NULL) {
        check_say(c, "the key \"seed\" is missing: a whole number");
        return;
    }
    p->seed = must_be_number(c, value, "seed", 0, 0, SEED_MAX);
    p->random_is_set = 1;
}

/* A clock that may not be looked at stands; random numbers that may not be had are no such. */
static void settle_word(struct document_check *c, enum permission_scope scope, struct permission *p)
{
    struct rules *rules = &p->scopes[scope];
    uint32_t ignored;
    size_t i;

    for (i = 0; i < rules->count; i++) {
        if (rules->items[i].match == NULL) {
            rules->items[i].match = strdup("*");
        }
        if (rules->items[i].match == NULL) {
            check_no_memory(c);
            return;
        }
    }
    if (rules->word == RULES_LIST) {
        rules->word = rules_decide(rules, RULES_NAMES, 1, "", &ignored) ? RULES_ALLOW : RULES_DENY;
    }
    if (rules->word == RULES_DENY && scope == SCOPE_CLOCK) {
        p->clock_is_set = 1;
    }
    if (rules->word == RULES_DENY && scope == SCOPE_RANDOM) {
        p->random_is_set = 1;
    }
}

static void check_scope(
    struct document_check *c, json_t *value, enum permission_scope scope, struct permission *p)
{
    const char *word = json_string_value(value);
    int has_object = scope == SCOPE_CLOCK || scope == SCOPE_RANDOM;
    size_t faults = c->faults;

    if (scope == SCOPE_NET) {
        document_check_net(c, value, &p->net);
        p->scopes[scope].word = word == NULL                 ? RULES_LIST
                                : strcmp(word, "allow") == 0 ? RULES_ALLOW
                                                             : RULES_DENY;
        return;
    }
    if (word != NULL && strcmp(word, "allow") == 0) {
        p->scopes[scope].word = RULES_ALLOW;
    } else if (word != NULL && strcmp(word, "deny") == 0) {
        p->scopes[scope].word = RULES_DENY;
    } else if (json_is_array(value)) {
        check_list(c, value, scope, p);
    } else if (json_is_object(value) && scope == SCOPE_CLOCK) {
        check_clock(c, value, p);
    } else if (json_is_object(value) && scope == SCOPE_RANDOM) {
        check_random(c, value, p);
    } else {
        check_say(c, "must be \"allow\", \"deny\" or %s",
            !has_object            ? "an array of rules"
            : scope == SCOPE_CLOCK ? "an object {\"at\": time}"
                                   : "an object {\"seed\": number}");
    }
    if (has_object && c->faults == faults) {
        settle_word(c, scope, p);
    }
}

/* ---- the whole ---- */

struct permission *permission_check(struct document_check *c, json_t *value)
{
    const char *known[SCOPE_COUNT + 1] = {NULL};
    struct permission *p = calloc(1, sizeof(*p));
    size_t before;
    unsigned i;

    if (p == NULL) {
        check_no_memory(c);
        return NULL;
    }
    if (value == NULL || !must_be_object(c, value, SIZE_MAX, "keys")) {
        return p;
    }
    for (i = 0; i < SCOPE_COUNT; i++) {
        known[i] = permission_scope_name((enum permission_scope)i);
    }
    check_keys(c, value, known);
    for (i = 0; i < SCOPE_COUNT; i++) {
        json_t *scope = json_object_get(value, known[i]);

        if (scope != NULL) {
            before = check_enter(c, known[i]);
            check_scope(c, scope, (enum permission_scope)i, p);
            check_leave(c, before);
        }
    }
    return p;
}

static json_t *read_tree(const char *json, size_t len, struct vial_error *err)
{
    char why[WHY_BYTES_MAX];
    json_error_t error;
    json_t *root;

    if (len > PERMISSION_BYTES_MAX) {
        (void)vial__fail(err, VIAL_E_INVALID, "permissions: %zu bytes are too many; %d are taken",
            len, PERMISSION_BYTES_MAX);
        return NULL;
    }
    if (document_text_check(json, len, why, sizeof(why)) < 0) {
        (void)vial__fail(err, VIAL_E_INVALID, "permissions: %s", why);
        return NULL;
    }
    root = json_loadb(json, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (root == NULL) {
        (void)vial__fail(err, VIAL_E_INVALID, "permissions: line %d, column %d: %s", error.line,
            error.column, error.text);
    }
    return root;
}

int permission_parse(const char *json, size_t len, struct permission **ret, struct vial_error *err)
{
    struct vial_error own;
    struct buf report;
    struct document_check c = {.report = &report, .err = err != NULL ? err : &own};
    struct permission *p = NULL;
    json_t *root = read_tree(json, len, c.err);
    int r;

    if (root == NULL) {
        return VIAL_E_INVALID;
    }
    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    buf_init(&c.path, PATH_BYTES_MAX);
    r = report_begin(&report);
    if (r == VIAL_OK) {
        (void)check_enter(&c, "permissions");
        p = permission_check(&c, root);
    }
    json_decref(root);
    buf_release(&c.path);
    buf_release(&report);
    r = r < 0 ? r : c.faults > 0 ? VIAL_E_INVALID : c.r;
    if (r < 0) {
        permission_free(p);
        return r == VIAL_E_INVALID
                   ? r
                   : vial__fail(err, VIAL_E_NOMEM, "no memory for the permissions of a run");
    }
    *ret = p;
    return VIAL_OK;
}
