/* keyword.h - the words of JSON Schema: which are known, and which are meant. */
#ifndef VIAL_SCHEMA_KEYWORD_H
#define VIAL_SCHEMA_KEYWORD_H

#include <stddef.h>

/* Is it a keyword, or an annotation in common use? */
int keyword_is_known(const char *name, size_t len);

/* The keyword that an unknown word is likely meant to be, NULL when it is none: then it is an
 * annotation of somebody else. A schema that says "requird" would silently allow everything. */
const char *keyword_meant(const char *name, size_t len);

/* Why a keyword that exists is not supported, as the end of a sentence; NULL when it is. */
const char *keyword_refused(const char *name, size_t len);

#endif
