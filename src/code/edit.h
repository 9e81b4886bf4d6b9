/* edit.h - what a rewriter of source text has inserted, so that positions can be mapped back.
 *
 * Rewriters keep every line where it is and every character of the source that stays at its place
 * relative to its neighbours: what has to go becomes spaces, and what has to be added is an
 * insertion of which this is the record. */
#ifndef VIAL_CODE_EDIT_H
#define VIAL_CODE_EDIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "vial.h"

/* One insertion: where it starts in the rewritten text, and its length. Lines and columns count
 * from 1, columns and lengths in UTF-16 code units, which is how the engine reports them. */
struct edit {
    uint32_t line;
    uint32_t column;
    uint32_t len;
};

/* One list for two rewriters, of which the second got the text of the first: adds to out rows that
 * lead from the last text to the first. first has rows of struct edit; both are in the order of the
 * text. */
VIAL_NODISCARD int edits_compose(const struct buf *first, const struct edit *second,
    size_t second_count, struct buf *out, struct vial_error *err);

#endif
