/* check.h - what the files that check a value share.
 *
 * All functions return 0 when the value is valid, 1 when not, and a negative code when they cannot
 * tell. */
#ifndef VIAL_SCHEMA_CHECK_H
#define VIAL_SCHEMA_CHECK_H

#include <stdint.h>

#include "schema/problem.h"
#include "schema/rule.h"
#include "schema/tree.h"
#include "vial.h"

enum {
    /* Rules inside each other, each of which takes a piece of the stack, some hundred bytes. */
    CHECK_DEPTH_MAX = 1000,
    /* Work that a check may take: alternatives inside of alternatives multiply. A step is a rule
     * applied to a value, some 50 ns. */
    CHECK_STEPS = 1000 * 1000,
    CHECK_STEPS_PER_VALUE = 32,
};

struct check {
    const struct tree *t;
    /* NULL: only the verdict is wanted, and the first problem ends the check. */
    struct problems *problems;
    struct pattern_work work;
    int64_t steps_left;
    unsigned depth;
    struct vial_error *err;
};

/* Is there no need to look further? */
static inline int check_done(const struct check *c, int r)
{
    return r < 0 || (r > 0 && (c->problems == NULL || problems_full(c->problems)));
}

/* Notes a problem, if problems are wanted; 1, or a negative code. */
#define check_problem(c, at, kind, ...)                                                            \
    ((c)->problems == NULL ? 1 : problems_add((c)->problems, at, kind, (c)->err, __VA_ARGS__))

/* Takes steps; VIAL_E_INVALID when there are no more. */
VIAL_NODISCARD int check_charge(struct check *c, uint64_t steps);

VIAL_NODISCARD int check_rule(struct check *c, const struct rule *rule, uint32_t at);

/* The same without noting problems. */
VIAL_NODISCARD int check_verdict(struct check *c, const struct rule *rule, uint32_t at);

VIAL_NODISCARD int check_object(struct check *c, const struct rule_object *object, uint32_t at);
VIAL_NODISCARD int check_array(struct check *c, const struct rule_array *array, uint32_t at);
VIAL_NODISCARD int check_number(struct check *c, const struct rule_number *number, uint32_t at);
VIAL_NODISCARD int check_string(struct check *c, const struct rule_string *string, uint32_t at);
VIAL_NODISCARD int check_values(struct check *c, const struct rule_values *values, uint32_t at);
VIAL_NODISCARD int check_logic(struct check *c, const struct rule_logic *logic, uint32_t at);

#endif
