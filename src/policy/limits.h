/* limits.h - the limits of a run: what each is called, where it lies, what it may be, and why.
 *
 * All of it is one table. vial_limits_resolve, which is public, checks a struct against the table;
 * the command line makes its flags and its help from it; a result reports what held from it. */
#ifndef VIAL_POLICY_LIMITS_H
#define VIAL_POLICY_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

/* One limit. The numbers are in the unit of the field, not of the flag. */
struct limit_row {
    const char *field;    /* the member of struct vial_limits */
    const char *flag;     /* with its dashes: "--memory-mb" */
    const char *unit;     /* the plural, for messages: "bytes" */
    size_t offset;        /* of the member */
    size_t width;         /* of the member, 4 or 8 bytes */
    uint64_t flag_factor; /* one of the flag's number is so many of the field's */
    uint64_t by_default;
    uint64_t min;
    uint64_t max;
    int status;           /* the vial_status a run ends with at this limit, or -1 when it goes on */
    const char *at_limit; /* what the guest meets at the limit, one clause */
    const char *help;     /* one line for the flag, without its numbers */
    const char *why;      /* of the bounds */
};

/* The table, in the order of the struct. It is static. */
const struct limit_row *limits_table(size_t *ret_count);

/* Like vial_limits_resolve, but into another struct, which is whole whatever the size of from was:
 * a caller compiled against an older header has no room for the newer fields. from may be NULL and
 * then means the defaults; *ret is written only on success. */
VIAL_NODISCARD int limits_resolve(
    const struct vial_limits *from, struct vial_limits *ret, struct vial_error *err);

/* The value of one row. */
uint64_t limits_get(const struct vial_limits *limits, const struct limit_row *row);

/* Stores the value of one row, which is not beyond the row's max. */
void limits_put(struct vial_limits *limits, const struct limit_row *row, uint64_t value);

/* Stores a number given with the row's flag, in the flag's unit. Fails when it is out of range; so
 * does 0, which someone who types it does not mean as "the default". */
VIAL_NODISCARD int limits_set_from_flag(struct vial_limits *limits, const struct limit_row *row,
    uint64_t number, struct vial_error *err);

#endif
