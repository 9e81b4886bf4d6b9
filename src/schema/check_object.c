/* check_object.c - see check.h: members, their names and their number.
 *
 * One pass over the members; each name is looked up once in the table that compile_object.c has
 * made. Which entries were seen is noted in bits, and what is required is asked of them at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/near.h"
#include "schema/check.h"
#include "schema/show.h"

enum {
    SEEN_WORDS = 2,        /* entries noted without memory of their own: 128 */
    ENTRY_STEP = 16,       /* so many entries are asked whether they are required in a step */
    KNOWN_BYTES_MAX = 200, /* of known names in a message */
};

static int is_seen(const uint64_t *seen, uint32_t i)
{
    return (int)(seen[i / 64] >> (i % 64) & 1);
}

/* The names that are known, in words, as many as are worth reading. */
static void list_known(const struct rule_object *object, char *out, size_t size)
{
    struct show shown;
    uint32_t i;
    size_t len = 0;

    (void)snprintf(out, size, "%s", object->declared_count == 0 ? "none is" : "known are ");
    for (i = 0; i < object->declared_count; i++) {
        len = strlen(out);
        if (len + sizeof(shown.text) + 8 > size) {
            (void)snprintf(out + len, size - len, ", ...");
            return;
        }
        (void)snprintf(out + len, size - len, "%s%s", i == 0 ? "" : ", ",
            show_text(&shown, object->entries[i].name, object->entries[i].len));
    }
}

static int unknown_problem(
    struct check *c, const struct rule_object *object, const struct tree_value *name, uint32_t at)
{
    char word[NEAR_BYTES_MAX + 1] = "", known[KNOWN_BYTES_MAX];
    const struct rule_entry *meant;
    struct show shown;
    size_t nearest;

    if (c->problems == NULL || problems_full(c->problems)) {
        return 1;
    }
    if (name->len <= NEAR_BYTES_MAX) {
        memcpy(word, name->text, name->len);
    }
    if (near_names(word, object->names, object->declared_count, &nearest, 1) == 1) {
        meant = &object->entries[nearest];
        return check_problem(c, at, PROBLEM_UNKNOWN, "is not a known property; did you mean %s?",
            show_text(&shown, meant->name, meant->len));
    }
    list_known(object, known, sizeof(known));
    return check_problem(c, at, PROBLEM_UNKNOWN, "is not a known property; %s", known);
}

/* Those of patternProperties that match the name; *ret_matched tells whether there was one. */
static int check_patterns(
    struct check *c, const struct rule_object *object, uint32_t name, int *ret_matched)
{
    const struct tree_value *v = &c->t->values[name];
    int bad = 0, r = check_charge(c, object->patterns_count);
    uint32_t i;

    if (r < 0) {
        return r;
    }
    for (i = 0; i < object->patterns_count; i++) {
        r = pattern_match(object->patterns[i].pattern, v->text, v->len, &c->work, c->err);
        if (r < 0) {
            return r;
        }
        if (r == 0) {
            continue;
        }
        *ret_matched = 1;
        r = check_rule(c, object->patterns[i].rule, name + 1);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    return bad;
}

/* propertyNames: what is wrong with a name is said at the place of its value. */
static int check_name(struct check *c, const struct rule_object *object, uint32_t name)
{
    char message[SCHEMA_MESSAGE_BYTES_MAX];
    size_t before = c->problems == NULL ? 0 : c->problems->count, i;
    struct problem *p;
    int r = check_rule(c, object->name_rule, name);

    for (i = before; c->problems != NULL && i < c->problems->count; i++) {
        p = &c->problems->list[i];
        p->at = name + 1;
        p->kind = PROBLEM_OTHER;
        memcpy(message, p->message, sizeof(message));
        (void)snprintf(p->message, sizeof(p->message), "has a name that %.380s", message);
    }
    return r;
}

/* One member; name is where its name is in the tree. */
static int check_member(struct check *c, const struct rule_object *object,
    const struct rule_entry *entry, uint32_t name)
{
    int matched = entry != NULL && entry->declared;
    int bad = 0, r;

    if (entry != NULL && entry->rule != NULL) {
        r = check_rule(c, entry->rule, name + 1);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (object->patterns_count > 0) {
        r = check_patterns(c, object, name, &matched);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (object->name_rule != NULL) {
        r = check_name(c, object, name);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (matched || object->additional == NULL) {
        return bad;
    }
    r = object->additional->is_false ? unknown_problem(c, object, &c->t->values[name], name + 1)
                                     : check_rule(c, object->additional, name + 1);
    return r < 0 ? r : bad | r;
}

static int missing_problem(struct check *c, const struct rule_entry *missing,
    const struct rule_entry *because, uint32_t at)
{
    struct problem *p;
    struct show shown;
    int r;

    if (c->problems == NULL || problems_full(c->problems)) {
        return 1;
    }
    r = because == NULL
            ? check_problem(c, at, PROBLEM_MISSING, "is missing")
            : check_problem(c, at, PROBLEM_MISSING, "is missing; it is needed because %s is there",
                  show_text(&shown, because->name, because->len));
    p = r < 0 ? NULL : problems_last(c->problems);
    if (p != NULL) {
        p->missing = missing;
    }
    return r;
}

/* What an entry asks for when it is there: other names, or that the object is of a kind. */
static int check_dependent(struct check *c, const struct rule_object *object,
    const struct rule_entry *entry, const uint64_t *seen, uint32_t at)
{
    int bad = 0, r;
    uint32_t i;

    for (i = 0; i < entry->needs_count; i++) {
        if (is_seen(seen, entry->needs[i])) {
            continue;
        }
        r = missing_problem(c, &object->entries[entry->needs[i]], entry, at);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (entry->implies != NULL) {
        r = check_rule(c, entry->implies, at);
        return r < 0 ? r : bad | r;
    }
    return bad;
}

static int check_after(
    struct check *c, const struct rule_object *object, const uint64_t *seen, uint32_t at)
{
    const struct rule_entry *entry;
    int bad = 0, r = check_charge(c, object->count / ENTRY_STEP);
    uint32_t i;

    if (r < 0) {
        return r;
    }
    for (i = 0; i < object->count; i++) {
        entry = &object->entries[i];
        r = 0;
        if (is_seen(seen, i)) {
            if (entry->needs_count > 0 || entry->implies != NULL) {
                r = check_dependent(c, object, entry, seen, at);
            }
        } else if (entry->required) {
            r = missing_problem(c, entry, NULL, at);
        }
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    return bad;
}

static int check_members(
    struct check *c, const struct rule_object *object, uint64_t *seen, uint32_t at)
{
    uint32_t i, hint = 0, end = tree_end(c->t, at);
    const struct rule_entry *entry;
    const struct tree_value *v;
    int bad = 0, r;

    for (i = tree_first(at); i != end; i = tree_next(c->t, i + 1)) {
        v = &c->t->values[i];
        entry = rule_find(object, v->text, v->len, hint);
        if (entry != NULL) {
            hint = (uint32_t)(entry - object->entries);
            seen[hint / 64] |= UINT64_C(1) << (hint % 64);
            hint++;
        }
        r = check_member(c, object, entry, i);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (!object->after) {
        return bad;
    }
    r = check_after(c, object, seen, at);
    return r < 0 ? r : bad | r;
}

static int check_count(struct check *c, const struct rule_object *object, uint32_t at)
{
    uint32_t count = c->t->values[at].count;

    if (count < object->count_min) {
        return check_problem(c, at, PROBLEM_OTHER,
            "must have at least %" PRIu32 " propert%s, has %" PRIu32, object->count_min,
            object->count_min == 1 ? "y" : "ies", count);
    }
    if (count > object->count_max) {
        return check_problem(c, at, PROBLEM_OTHER,
            "must have at most %" PRIu32 " propert%s, has %" PRIu32, object->count_max,
            object->count_max == 1 ? "y" : "ies", count);
    }
    return 0;
}

int check_object(struct check *c, const struct rule_object *object, uint32_t at)
{
    uint64_t few[SEEN_WORDS] = {0};
    uint64_t *seen = few;
    int bad, r;

    bad = check_count(c, object, at);
    if (check_done(c, bad)) {
        return bad;
    }
    if (object->count > SEEN_WORDS * 64) {
        seen = calloc(object->count / 64 + 1, sizeof(*seen));
        if (seen == NULL) {
            return vial__fail(c->err, VIAL_E_NOMEM, "no memory to check an object");
        }
    }
    r = check_members(c, object, seen, at);
    if (seen != few) {
        free(seen);
    }
    return r < 0 ? r : bad | r;
}
