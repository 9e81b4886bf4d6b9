/* types.h - takes the types out of a source before the engine gets it. */
#ifndef VIAL_CELL_JS_TYPES_H
#define VIAL_CELL_JS_TYPES_H

#include <stdint.h>

#include "base/buf.h"
#include "cell/guest.h"
#include "vial.h"

struct js_types {
    struct buf text;       /* the JavaScript */
    struct buf edits;      /* struct edit: what was inserted into it */
    uint32_t line;         /* where the source has something that is not supported */
    struct vial_error err; /* what it is */
};

void js_types_init(struct js_types *t, const struct guest_start *start);
void js_types_release(struct js_types *t);

/* By what the host says, or by the name of the source. */
int js_types_are_asked_for(const struct guest_start *start);

/* The host has said nothing, and there is something in the source that types need. */
int js_types_are_likely(const struct guest_start *start);

/* Takes the types out and makes *start, a copy, one of the JavaScript, which lives as long as t. 1
 * when there were any, 0 when not, -1 with line and err when it is not possible. */
int js_types_erase(struct js_types *t, struct guest_start *start);

#endif
