/* rule.h - a schema as compile.c leaves it and check.c goes through it.
 *
 * Each subschema is one rule. What it says about a kind of value hangs on it only when it says
 * something, so that a check touches nothing it does not need. Everything lives in the arena of its
 * schema and is never changed after schema_compile. */
#ifndef VIAL_SCHEMA_RULE_H
#define VIAL_SCHEMA_RULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "schema/format.h"
#include "schema/number.h"
#include "schema/pattern.h"
#include "schema/tree.h"

/* Types as bits. An integer is a number without a fraction; "number" allows both. */
enum {
    RULE_NULL = 1,
    RULE_BOOLEAN = 2,
    RULE_NUMBER = 4,
    RULE_STRING = 8,
    RULE_ARRAY = 16,
    RULE_OBJECT = 32,
    RULE_INTEGER = 64,
    RULE_ANY = 63,
};

/* No upper bound; also what "maximum" counts beyond it mean. */
#define RULE_COUNT_MAX UINT32_MAX

struct rule;

struct rule_list {
    const struct rule **rules;
    uint32_t count;
};

/* A name that the schema knows: from properties, required or the dependent keywords. */
struct rule_entry {
    const char *name; /* ends in NUL */
    uint32_t len;
    unsigned char declared; /* it is in properties */
    unsigned char required;
    const struct rule *rule;    /* of the value, or NULL */
    const struct rule *implies; /* dependentSchemas: of the object, when the name is there */
    const uint32_t *needs;      /* dependentRequired: entries that have to be there too */
    uint32_t needs_count;
};

struct rule_pattern {
    const struct pattern *pattern;
    const struct rule *rule;
};

struct rule_object {
    struct rule_entry *entries; /* those of properties first, in the order of the document */
    uint32_t count;
    uint32_t declared_count;
    const uint32_t *sorted;   /* indices of entries by length and bytes */
    const char *const *names; /* of the declared ones, for suggestions */
    const struct rule_pattern *patterns;
    uint32_t patterns_count;
    const struct rule *additional; /* or NULL */
    const struct rule *name_rule;  /* propertyNames, or NULL */
    uint32_t count_min;
    uint32_t count_max;
    unsigned char after; /* some entry is required or has needs or implies */
};

struct rule_array {
    struct rule_list prefix;
    const struct rule *items; /* of all behind the prefix, or NULL */
    const struct rule *contains;
    uint32_t contains_min;
    uint32_t contains_max;
    uint32_t count_min;
    uint32_t count_max;
    unsigned char unique;
};

enum rule_bound_kind {
    BOUND_MIN,
    BOUND_MAX,
    BOUND_ABOVE,
    BOUND_BELOW,
    BOUND_MULTIPLE,
    BOUND_COUNT
};

struct rule_bound {
    const struct tree_value *value; /* NULL: there is no such bound */
    struct number number;
};

struct rule_number {
    struct rule_bound bounds[BOUND_COUNT];
};

struct rule_string {
    uint32_t count_min; /* in characters */
    uint32_t count_max;
    const struct pattern *pattern;
    const struct tree_value *pattern_text;
    const struct format *format;
};

/* One value of an enum, or that of const. */
struct rule_value {
    const struct tree_value *value;
    struct number number;  /* of a number */
    const char *canonical; /* of a container, as tree_canonical has it */
    size_t canonical_len;
};

struct rule_values {
    struct rule_value *values;
    uint32_t count;
};

struct rule_logic {
    struct rule_list all;
    struct rule_list any;
    struct rule_list one;
    const struct rule *negated;
    const struct rule *condition;
    const struct rule *then_rule;
    const struct rule *else_rule;
};

struct rule {
    unsigned char types;    /* RULE_... that are allowed */
    unsigned char is_false; /* nothing is allowed */
    unsigned char state;    /* for compile.c: 0 new, 1 being looked at, 2 done */
    unsigned char height;   /* how many rules apply to one value inside each other */
    uint32_t at;            /* where it is in the schema's tree */
    const struct rule_object *object;
    const struct rule_array *array;
    const struct rule_number *number;
    const struct rule_string *string;
    const struct rule_values *values;   /* enum */
    const struct rule_values *constant; /* const */
    const struct rule_logic *logic;
    const struct rule *ref;
};

/* Memory that is given back all at once. */
struct rule_chunk;

struct schema {
    char *text; /* owned; the tree points into it */
    struct tree tree;
    struct rule_chunk *chunks;
    struct pattern **patterns; /* owned, each of them too */
    size_t patterns_count;
    size_t patterns_capacity;
    const struct rule *root;
    const struct rule_object *top; /* what the root says about objects, or NULL */
    int is_object;
};

/* Zeroed memory that lives as long as the schema; NULL without any. */
void *rule_take(struct schema *schema, size_t size);

/* Frees everything that rule_take gave, and the patterns. */
void rule_release(struct schema *schema);

/* The bit of a value's kind; for numbers RULE_NUMBER. */
static inline unsigned rule_type_of(const struct tree_value *v)
{
    static const unsigned char bits[] = {[TREE_NULL] = RULE_NULL,
        [TREE_FALSE] = RULE_BOOLEAN,
        [TREE_TRUE] = RULE_BOOLEAN,
        [TREE_NUMBER] = RULE_NUMBER,
        [TREE_STRING] = RULE_STRING,
        [TREE_ARRAY] = RULE_ARRAY,
        [TREE_OBJECT] = RULE_OBJECT};

    return bits[v->kind];
}

/* The entry of a name, or NULL. hint is where it is likely to be. */
const struct rule_entry *rule_find(
    const struct rule_object *object, const char *name, uint32_t len, uint32_t hint);

#endif
