/* prepare.h - what is done to every source before it is read as JavaScript.
 *
 * This is the one place where another language can become JavaScript: whatever code_prepare makes
 * of a source is what module.c and the engine see. It must keep lines, and record in edits what it
 * inserts; positions are mapped back first through the edits of module.c and then through these. */
#ifndef VIAL_CODE_PREPARE_H
#define VIAL_CODE_PREPARE_H

#include <stddef.h>

#include "base/buf.h"

struct prepared {
    const char *text; /* the source itself, or in own */
    size_t len;
    struct buf own;
    struct buf edits; /* struct edit */
};

VIAL_NODISCARD int code_prepare(
    const char *source, size_t len, struct prepared *ret, struct vial_error *err);
void prepared_release(struct prepared *p);

#endif
