/* edit.h - what a rewriter of source text has inserted, so that positions can be mapped back.
 *
 * Rewriters keep every line where it is and every character of the source that stays at its place
 * relative to its neighbours: what has to go becomes spaces, and what has to be added is an
 * insertion of which this is the record. */
#ifndef VIAL_CODE_EDIT_H
#define VIAL_CODE_EDIT_H

#include <stdint.h>

/* One insertion: where it starts in the rewritten text, and its length. Lines and columns count
 * from 1, columns and lengths in UTF-16 code units, which is how the engine reports them. */
struct edit {
    uint32_t line;
    uint32_t column;
    uint32_t len;
};

#endif
