/* literal.h - what a string literal or an identifier of JavaScript says, without its escapes. */
#ifndef VIAL_CODE_LITERAL_H
#define VIAL_CODE_LITERAL_H

#include <stddef.h>

#include "base/buf.h"

/* Adds what text says to out. text is what stands between the quotes, or an identifier. 0, or -1
 * when it has an escape that strict code does not allow, or half a surrogate pair; then out is as
 * it was. */
VIAL_NODISCARD int literal_decode(const char *text, size_t len, struct buf *out);

#endif
