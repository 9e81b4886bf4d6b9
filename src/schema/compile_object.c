/* compile_object.c - see compile.h: the keywords about objects.
 *
 * All names that a schema mentions become one table, so that a check goes over the members of an
 * object once and looks each name up once. */
#include <stdlib.h>
#include <string.h>

#include "schema/compile.h"

static int is_in(const struct rule_entry *entry, const struct tree_value *name)
{
    return entry->len == name->len && memcmp(entry->name, name->text, name->len) == 0;
}

/* The entry of a name, made when there is none; NULL without memory. The table has room for every
 * name that the schema at this place has. required mostly goes in the order of properties, so that
 * the place behind the last find is tried first. */
static struct rule_entry *add_entry(
    struct compile *c, struct rule_object *object, const struct tree_value *name, uint32_t *hint)
{
    struct rule_entry *entry;
    uint32_t i, at;
    char *text;

    for (i = 0; i < object->count; i++) {
        at = (*hint + i) % object->count;
        if (is_in(&object->entries[at], name)) {
            *hint = at + 1;
            return &object->entries[at];
        }
    }
    text = rule_take(c->schema, (size_t)name->len + 1);
    if (text == NULL) {
        return NULL;
    }
    memcpy(text, name->text, name->len);
    entry = &object->entries[object->count++];
    entry->name = text;
    entry->len = name->len;
    return entry;
}

static int add_properties(struct compile *c, uint32_t at, struct rule_object *object)
{
    const struct tree *t = &c->schema->tree;
    uint32_t value = compile_keyword(c, at, "properties"), i;
    const char **names;
    struct rule_entry *entry;
    char *text;
    int r;

    r = compile_expect(c, value, TREE_OBJECT, "an object of schemas");
    if (r < 0 || value == 0) {
        return r;
    }
    names = rule_take(c->schema, t->values[value].count * sizeof(char *));
    if (names == NULL) {
        return compile_no_memory(c);
    }
    for (i = tree_first(value); i != tree_end(t, value); i = tree_next(t, i + 1)) {
        text = rule_take(c->schema, (size_t)t->values[i].len + 1);
        if (text == NULL) {
            return compile_no_memory(c);
        }
        memcpy(text, t->values[i].text, t->values[i].len);
        names[object->count] = text;
        entry = &object->entries[object->count++]; /* no name is there twice */
        *entry = (struct rule_entry){.name = text, .len = t->values[i].len, .declared = 1};
        r = compile_rule(c, i + 1, &entry->rule);
        if (r < 0) {
            return r;
        }
    }
    object->names = names;
    object->declared_count = object->count;
    return VIAL_OK;
}

static int add_required(struct compile *c, uint32_t at, struct rule_object *object)
{
    const struct tree *t = &c->schema->tree;
    uint32_t value = compile_keyword(c, at, "required"), i, hint = 0;
    struct rule_entry *entry;
    int r;

    if (value != 0 && (t->values[value].kind == TREE_TRUE || t->values[value].kind == TREE_FALSE)) {
        return compile_fail(
            c, value, "must be an array of names, beside \"properties\" of the object around it");
    }
    r = compile_expect(c, value, TREE_ARRAY, "an array of names");
    if (r < 0 || value == 0) {
        return r;
    }
    for (i = tree_first(value); i != tree_end(t, value); i = tree_next(t, i)) {
        r = compile_expect(c, i, TREE_STRING, "the name of a property");
        if (r < 0) {
            return r;
        }
        entry = add_entry(c, object, &t->values[i], &hint);
        if (entry == NULL) {
            return compile_no_memory(c);
        }
        entry->required = 1;
        object->after = 1;
    }
    return VIAL_OK;
}

/* The names that have to be there when the entry's is. */
static int add_needs(
    struct compile *c, struct rule_object *object, struct rule_entry *entry, uint32_t value)
{
    const struct tree *t = &c->schema->tree;
    struct rule_entry *needed;
    uint32_t *needs;
    uint32_t i, k = 0, hint = 0;
    int r;

    r = compile_expect(c, value, TREE_ARRAY, "an array of names");
    if (r < 0) {
        return r;
    }
    needs = rule_take(c->schema, t->values[value].count * sizeof(*needs));
    if (needs == NULL) {
        return compile_no_memory(c);
    }
    for (i = tree_first(value); i != tree_end(t, value); i = tree_next(t, i)) {
        r = compile_expect(c, i, TREE_STRING, "the name of a property");
        if (r < 0) {
            return r;
        }
        needed = add_entry(c, object, &t->values[i], &hint);
        if (needed == NULL) {
            return compile_no_memory(c);
        }
        needs[k++] = (uint32_t)(needed - object->entries);
    }
    entry->needs = needs;
    entry->needs_count = k;
    return VIAL_OK;
}

/* dependentRequired, dependentSchemas, and dependencies of draft 07, which is both. */
static int add_dependent(
    struct compile *c, uint32_t at, const char *keyword, struct rule_object *object)
{
    const struct tree *t = &c->schema->tree;
    uint32_t value = compile_keyword(c, at, keyword), i, hint = 0;
    int names = strcmp(keyword, "dependentRequired") == 0;
    int both = strcmp(keyword, "dependencies") == 0;
    struct rule_entry *entry;
    int r;

    r = compile_expect(c, value, TREE_OBJECT, "an object");
    if (r < 0 || value == 0) {
        return r;
    }
    object->after = 1;
    for (i = tree_first(value); i != tree_end(t, value); i = tree_next(t, i + 1)) {
        entry = add_entry(c, object, &t->values[i], &hint);
        if (entry == NULL) {
            return compile_no_memory(c);
        }
        if (names || (both && t->values[i + 1].kind == TREE_ARRAY)) {
            r = add_needs(c, object, entry, i + 1);
        } else {
            r = compile_rule(c, i + 1, &entry->implies);
        }
        if (r < 0) {
            return r;
        }
    }
    return VIAL_OK;
}

static int add_patterns(struct compile *c, uint32_t at, struct rule_object *object)
{
    const struct tree *t = &c->schema->tree;
    uint32_t value = compile_keyword(c, at, "patternProperties"), i;
    struct rule_pattern *patterns;
    int r;

    r = compile_expect(c, value, TREE_OBJECT, "an object of schemas");
    if (r < 0 || value == 0) {
        return r;
    }
    patterns = rule_take(c->schema, t->values[value].count * sizeof(*patterns));
    if (patterns == NULL) {
        return compile_no_memory(c);
    }
    object->patterns = patterns;
    for (i = tree_first(value); i != tree_end(t, value); i = tree_next(t, i + 1)) {
        r = compile_pattern(c, i, &patterns->pattern);
        r = r < 0 ? r : compile_rule(c, i + 1, &patterns->rule);
        if (r < 0) {
            return r;
        }
        patterns++;
        object->patterns_count++;
    }
    return VIAL_OK;
}

static int compare_entries(const void *a, const void *b, void *user)
{
    const struct rule_entry *entries = user;
    const struct rule_entry *x = &entries[*(const uint32_t *)a],
                            *y = &entries[*(const uint32_t *)b];

    return x->len != y->len ? (x->len < y->len ? -1 : 1) : memcmp(x->name, y->name, x->len);
}

static int sort_entries(struct compile *c, struct rule_object *object)
{
    uint32_t *sorted = rule_take(c->schema, object->count * sizeof(*sorted));
    uint32_t i;

    if (sorted == NULL) {
        return compile_no_memory(c);
    }
    for (i = 0; i < object->count; i++) {
        sorted[i] = i;
    }
    qsort_r(sorted, object->count, sizeof(*sorted), compare_entries, object->entries);
    object->sorted = sorted;
    return VIAL_OK;
}

/* Does the schema at this place say anything about objects? */
static int says_something(const struct compile *c, uint32_t at)
{
    static const char *const names[] = {"properties", "required", "additionalProperties",
        "patternProperties", "propertyNames", "minProperties", "maxProperties", "dependencies",
        "dependentRequired", "dependentSchemas"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (compile_keyword(c, at, names[i]) != 0) {
            return 1;
        }
    }
    return 0;
}

/* How many names the keywords can have at most: each is a value of its own. */
static uint32_t count_names(const struct compile *c, uint32_t at)
{
    static const char *const names[] = {"properties", "required"};
    static const char *const dependent[] = {
        "dependencies", "dependentRequired", "dependentSchemas"};
    const struct tree *t = &c->schema->tree;
    uint32_t value, i, count = 0;
    size_t k;

    for (k = 0; k < 2; k++) {
        value = compile_keyword(c, at, names[k]);
        count += value == 0 ? 0 : t->values[value].count;
    }
    for (k = 0; k < 3; k++) {
        value = compile_keyword(c, at, dependent[k]);
        if (value == 0 || t->values[value].kind != TREE_OBJECT) {
            continue;
        }
        for (i = tree_first(value); i != tree_end(t, value); i = tree_next(t, i + 1)) {
            count += 1 + (t->values[i + 1].kind == TREE_ARRAY ? t->values[i + 1].count : 0);
        }
    }
    return count;
}

int compile_object(struct compile *c, struct rule *rule)
{
    struct rule_object *object;
    uint32_t at = rule->at, names;
    int r;

    if (!says_something(c, at)) {
        return VIAL_OK;
    }
    names = count_names(c, at);
    if (names > COMPILE_NAMES_MAX) {
        return compile_fail(
            c, at, "has %u names of properties; at most %d are taken", names, COMPILE_NAMES_MAX);
    }
    object = rule_take(c->schema, sizeof(*object));
    if (object == NULL) {
        return compile_no_memory(c);
    }
    object->count_max = RULE_COUNT_MAX;
    object->entries = rule_take(c->schema, names * sizeof(*object->entries));
    if (object->entries == NULL) {
        return compile_no_memory(c);
    }
    rule->object = object;
    r = add_properties(c, at, object);
    r = r < 0 ? r : add_required(c, at, object);
    r = r < 0 ? r : add_dependent(c, at, "dependencies", object);
    r = r < 0 ? r : add_dependent(c, at, "dependentRequired", object);
    r = r < 0 ? r : add_dependent(c, at, "dependentSchemas", object);
    r = r < 0 ? r : add_patterns(c, at, object);
    r = r < 0 ? r : compile_one(c, at, "additionalProperties", &object->additional);
    r = r < 0 ? r : compile_one(c, at, "propertyNames", &object->name_rule);
    r = r < 0 ? r : compile_count(c, at, "minProperties", &object->count_min);
    r = r < 0 ? r : compile_count(c, at, "maxProperties", &object->count_max);
    return r < 0 ? r : sort_entries(c, object);
}
