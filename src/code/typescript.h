/* typescript.h - makes JavaScript of TypeScript by taking the types out.
 *
 * Types become spaces: every line stays where it is, and every character of what remains stays in
 * its column. Three things of TypeScript are more than types and need text of their own: enums,
 * parameter properties and namespaces (and two rare ones, `accessor` and `export =`). That text is
 * inserted on the lines that are there, and reported so that positions can be mapped back.
 *
 * The source is read by a parser of our own and not by tree-sitter: its grammar for TypeScript took
 * 0.3 us a byte here, ten times as long as the whole of this, and does not know all of the
 * language (`static accessor`, `in` and `out`, `export type *`).
 *
 * docs/typescript.md says what is left out. */
#ifndef VIAL_CODE_TYPESCRIPT_H
#define VIAL_CODE_TYPESCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "code/edit.h"
#include "vial.h"

/* Offsets are kept in 32 bits; half of that leaves room for what is inserted. */
#define TYPESCRIPT_BYTES_MAX ((size_t)INT32_MAX)

/* 0 when it is not worth to look at a source as TypeScript that is not JavaScript: there is no word
 * and no sign in it that types need. Reads the bytes once and understands nothing. */
int typescript_is_likely(const char *source, size_t len);

/* Adds the JavaScript to out and rows of struct edit to edits, and stores 1 in *ret_has_types; or
 * stores 0 and adds nothing when there is nothing of TypeScript in source, which is UTF-8. A syntax
 * error outside of types is left for the engine: what is in front of it is erased, the rest stays.
 * VIAL_E_INVALID is the guest's doing: *ret_line (counted from 1) has something in it that is
 * described in the text. On failure nothing is changed but that. */
VIAL_NODISCARD int typescript_erase(const char *source, size_t len, struct buf *out,
    struct buf *edits, int *ret_has_types, uint32_t *ret_line, struct vial_error *err);

#endif
