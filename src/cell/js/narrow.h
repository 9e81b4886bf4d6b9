/* narrow.h - text that the engine keeps in bytes, in and out without a conversion.
 *
 * The engine keeps text without characters above U+00FF in one byte each, but its interface goes
 * through each of them on the way in and out: 20 to 40 ms for 10 MB. narrow_find looks, with texts
 * that it knows, for where a string object has the address, the length and the mark of such text,
 * and tries the functions that the library itself makes such text with. What it does not find, the
 * two others never know an answer to, and the slow way is gone. */
#ifndef VIAL_CELL_JS_NARROW_H
#define VIAL_CELL_JS_NARROW_H

#include <stddef.h>

#include "cell/js/jsc.h"

/* Looks where this engine has it; once, before guest code is there. 0, or -1 when it is nowhere. */
int narrow_find(void);

/* A string of ASCII, which may hold NULs; the caller releases it. NULL when nobody knows how. */
JSStringRef narrow_string(const char *ascii, size_t len);

/* The characters of string, one byte each; as many as JSStringGetLength says, and valid as long as
 * string is. NULL when they are not kept like that, or nobody knows. */
const unsigned char *narrow_bytes(JSStringRef string);

#endif
