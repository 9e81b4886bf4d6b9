/* problem.h - what is wrong with a value, collected while it is checked.
 *
 * Problems lie on a stack, because alternatives are tried: those of a branch that was not the
 * closest are dropped again. Paths are made at the end, for the few that are reported. */
#ifndef VIAL_SCHEMA_PROBLEM_H
#define VIAL_SCHEMA_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "schema/rule.h"
#include "schema/schema.h"
#include "schema/tree.h"
#include "vial.h"

enum {
    /* Of all alternatives that are open inside each other; what comes beyond is not noted. */
    PROBLEM_STACK_MAX = 1024,
};

enum problem_kind {
    PROBLEM_OTHER,
    PROBLEM_TYPE,    /* types says which would do */
    PROBLEM_VALUE,   /* values says which would do */
    PROBLEM_MISSING, /* the property called name */
    PROBLEM_UNKNOWN,
};

struct problem {
    uint32_t at; /* the value in the tree */
    unsigned char kind;
    unsigned char types;
    const struct rule_values *values;
    const struct rule_entry *missing;
    char message[SCHEMA_MESSAGE_BYTES_MAX];
};

struct problems {
    struct problem *list;
    size_t count;
    size_t capacity;
    size_t scope; /* where those of the alternative being tried begin */
};

void problems_release(struct problems *p);

/* Are there as many as are wanted in this scope? */
int problems_full(const struct problems *p);

/* Adds one and returns 1, which means "not valid" everywhere; or VIAL_E_NOMEM. What cannot be kept
 * is not an error. */
__attribute__((format(printf, 5, 6))) int problems_add(struct problems *p, uint32_t at,
    enum problem_kind kind, struct vial_error *err, const char *format, ...);

/* The last one of this scope, which is the one that was just added when it was not full before. */
struct problem *problems_last(struct problems *p);

/* "must be a string or an integer, is null": what types allow and what is there. */
void problem_say_types(unsigned types, const struct tree_value *v, char *out, size_t size);

/* Adds values to a list in words, which is cut with "..." when it becomes long: "a", "b", ... */
void problem_list_values(const struct rule_values *values, char *out, size_t size);

/* Writes the report of schema_check. */
VIAL_NODISCARD int problems_report(
    const struct problems *p, const struct tree *t, struct buf *report, struct vial_error *err);

#endif
