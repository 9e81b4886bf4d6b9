/* outline.h - what a source has outside of functions, told without a tree.
 *
 * Nearly every program of a model has an await or an import, and to know where they stand it has to
 * be read before the engine reads it. The parser that takes types out (ts_parser.h) can do that on
 * its way; in a fresh process it takes a fifth of the time that tree-sitter takes, whose tables
 * nobody has looked at there. It is asked first. What it does not know for certain (a syntax error,
 * types, import(), await as a name, a list of exports) it leaves to the tree of parse.h, which
 * answers the same for all that both know; the fuzz target module compares them. */
#ifndef VIAL_CODE_OUTLINE_H
#define VIAL_CODE_OUTLINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "code/change.h"

struct outline {
    int64_t await_at, return_at; /* the first one outside of functions, or -1 */
    struct buf values;           /* uint32_t: where the expressions are that can be its value */
    struct buf statements;       /* struct ts_outside, see ts_parser.h: imports and exports */
};

/* Reads source, which is UTF-8. 1, or 0 when all of it is for the tree to tell. *ret is the
 * caller's to release in both cases. */
int outline_read(const char *source, size_t len, struct outline *ret);
void outline_release(struct outline *o);

/* Notes the changes that make the value of the last statement a return value. */
void outline_change_values(const struct outline *o, struct changes *changes);

#endif
