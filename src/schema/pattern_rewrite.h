/* pattern_rewrite.h - from the regular expressions of ECMA-262 to those of PCRE2. */
#ifndef VIAL_SCHEMA_PATTERN_REWRITE_H
#define VIAL_SCHEMA_PATTERN_REWRITE_H

#include <stddef.h>

#include "base/buf.h"
#include "vial.h"

/* Adds to out what means for PCRE2 what the text means for ECMA-262. VIAL_E_INVALID when the text
 * uses what ECMA-262 does not have. Faults that PCRE2 finds by itself are left to it. */
VIAL_NODISCARD int pattern_rewrite(
    const char *text, size_t len, struct buf *out, struct vial_error *err);

#endif
