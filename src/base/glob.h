/* glob.h - patterns for names of files: which outputs a run gives back.
 *
 *   *      any characters but a slash     [a-z] [!a]  one character of a set, or not of it
 *   ?      one character but a slash      \x          the character x itself
 *   **     as a whole part: any number of parts, also none
 *
 * A dot at the beginning of a part is matched by a dot only, as shells have it. Matching takes time
 * in proportion to the product of both lengths at most, whatever the pattern is. */
#ifndef VIAL_BASE_GLOB_H
#define VIAL_BASE_GLOB_H

#include <stddef.h>

enum {
    GLOB_BYTES_MAX = 1024, /* of one pattern */
    GLOBS_MAX = 100,       /* of one run */
};

/* What is wrong with a pattern, as the end of the sentence "the pattern ..."; NULL when nothing is.
 */
const char *glob_fault(const char *pattern, size_t len);

/* Does the pattern match all of the name? Both are as their checks want them. */
int glob_match(const char *pattern, size_t pattern_len, const char *name, size_t name_len);

/* The same for rules about what is allowed, where a file must not hide behind a dot: a dot at the
 * beginning of a part is a character like any other. The name may be any bytes. */
int glob_match_dots(const char *pattern, size_t pattern_len, const char *name, size_t name_len);

#endif
