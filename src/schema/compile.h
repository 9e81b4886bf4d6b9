/* compile.h - what the files that compile a schema share.
 *
 * compile.c goes through the subschemas and follows references, compile_object.c, compile_array.c
 * and compile_value.c read the keywords about each kind of value. */
#ifndef VIAL_SCHEMA_COMPILE_H
#define VIAL_SCHEMA_COMPILE_H

#include <stdint.h>

#include "schema/rule.h"
#include "vial.h"

enum {
    /* Each is looked for in the whole document; large tools have some hundred. */
    COMPILE_REFS_MAX = 5000,
    /* A table of names is filled by comparing each with each. */
    COMPILE_NAMES_MAX = 2000,
};

struct compile {
    struct schema *schema;
    struct rule **by_value; /* the rule of each value of the tree that is a schema, or NULL */
    /* Targets of references are compiled when all else is, one after another: a chain of ten
     * thousand references must not nest ten thousand calls. */
    struct rule **pending;
    uint32_t pending_count;
    uint32_t refs_count;
    uint32_t *anchors; /* values that have an $anchor or an $id; NULL until one is asked for */
    uint32_t anchors_count;
    struct vial_error *err;
};

/* VIAL_E_INVALID: "the schema is wrong at /properties/a: ...". */
__attribute__((format(printf, 3, 4))) int compile_fail(
    struct compile *c, uint32_t at, const char *format, ...);

/* VIAL_E_NOMEM. */
int compile_no_memory(struct compile *c);

/* The rule of the subschema at a value, made when there is none yet. */
VIAL_NODISCARD int compile_rule(struct compile *c, uint32_t at, const struct rule **ret);

/* The value of a keyword of the schema at a place, 0 when it is not there. */
uint32_t compile_keyword(const struct compile *c, uint32_t at, const char *keyword);

/* The rule of a keyword that is one schema; *ret stays as it is when the keyword is not there. */
VIAL_NODISCARD int compile_one(
    struct compile *c, uint32_t at, const char *keyword, const struct rule **ret);

/* The rules of an array of schemas at a value. */
VIAL_NODISCARD int compile_list(struct compile *c, uint32_t value, struct rule_list *ret);

/* A keyword that counts; *ret stays as it is when it is not there. */
VIAL_NODISCARD int compile_count(
    struct compile *c, uint32_t at, const char *keyword, uint32_t *ret);

/* A regular expression, owned by the schema. */
VIAL_NODISCARD int compile_pattern(struct compile *c, uint32_t value, const struct pattern **ret);

/* Fails when a keyword is there and not of that kind; what is "an object", "a string". */
VIAL_NODISCARD int compile_expect(
    struct compile *c, uint32_t value, enum tree_kind kind, const char *what);

/* The parts of the schema at rule->at. */
VIAL_NODISCARD int compile_object(struct compile *c, struct rule *rule);
VIAL_NODISCARD int compile_array(struct compile *c, struct rule *rule);
VIAL_NODISCARD int compile_type(struct compile *c, struct rule *rule);
VIAL_NODISCARD int compile_number(struct compile *c, struct rule *rule);
VIAL_NODISCARD int compile_string(struct compile *c, struct rule *rule);
VIAL_NODISCARD int compile_values(struct compile *c, struct rule *rule);
VIAL_NODISCARD int compile_logic(struct compile *c, struct rule *rule);

/* Follows $ref: the value that it leads to. */
VIAL_NODISCARD int compile_target(struct compile *c, uint32_t value, uint32_t *ret);

/* Fails when rules apply to one value in a circle, or too many inside each other. */
VIAL_NODISCARD int compile_circles(struct compile *c, uint32_t value_count);

#endif
