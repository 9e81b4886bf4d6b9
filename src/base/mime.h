/* mime.h - MIME types of what programs show: which are well formed, which are text, and what a file
 * of that type is called. */
#ifndef VIAL_BASE_MIME_H
#define VIAL_BASE_MIME_H

#include <stddef.h>

enum { MIME_BYTES_MAX = 127 }; /* RFC 6838 allows that much for each half; nobody needs it */

/* What is wrong with a type, as the end of the sentence "the type ..."; NULL when nothing is. A
 * good one is type/subtype in lower case, of the characters that RFC 6838 has for names, without
 * parameters: it can be shown to a person and be part of a header. */
const char *mime_fault(const char *mime, size_t len);

/* Is what has this type text, which is UTF-8? */
int mime_is_text(const char *mime);

/* What the name of a file of this type ends in, without the dot; "bin" when nothing is known. */
const char *mime_extension(const char *mime);

#endif
