/* narrow.h - the bytes of text that the engine keeps in bytes, without a copy.
 *
 * The engine keeps text without characters above U+00FF in one byte each, and its interface only
 * gives it away after a conversion, byte by byte: 20 ms for 10 MB. narrow_find looks, with texts
 * that it knows, for where a string object has the address, the length and the mark of such text;
 * when it does not find all three, narrow_bytes never knows an answer and the slow way is gone. */
#ifndef VIAL_CELL_JS_NARROW_H
#define VIAL_CELL_JS_NARROW_H

#include <stddef.h>

#include "cell/js/jsc.h"

/* Looks where this engine has it; once, before guest code is there. 0, or -1 when it is nowhere. */
int narrow_find(void);

/* The characters of string, one byte each; as many as JSStringGetLength says, and valid as long as
 * string is. NULL when they are not kept like that, or nobody knows. */
const unsigned char *narrow_bytes(JSStringRef string);

#endif
