/* prepare.h - what is done to every source before it is read as JavaScript.
 *
 * This is the one place where another language becomes JavaScript: whatever code_prepare makes of a
 * source is what module.c and the engine see. Lines are kept, and what is inserted is recorded in
 * edits; positions are mapped back first through the edits of module.c and then through these. */
#ifndef VIAL_CODE_PREPARE_H
#define VIAL_CODE_PREPARE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct prepared {
    const char *text; /* the source itself, or in own */
    size_t len;
    int had_types;
    struct buf own;
    struct buf edits; /* struct edit */
};

/* Takes types out when is_typescript. VIAL_E_INVALID: *ret_line has something that cannot become
 * JavaScript, named in err. *ret is the caller's to release, also after a failure. */
VIAL_NODISCARD int code_prepare(const char *source, size_t len, int is_typescript,
    struct prepared *ret, uint32_t *ret_line, struct vial_error *err);
void prepared_release(struct prepared *p);

#endif
