/* utf8.h - is this UTF-8, and if not, where does it stop being so.
 *
 * Everything that comes out of a cell, a file or a socket is bytes until this module has seen it.
 * The rules are those of RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef VIAL_BASE_UTF8_H
#define VIAL_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* 1 when all of text is UTF-8, else 0 with the offset of the first sequence that is not;
 * ret_bad_offset may be NULL and is written only then. */
int utf8_valid(const char *text, size_t len, size_t *ret_bad_offset);

/* Looks at the one sequence that text begins with; len is at least 1. Its length, 1 to 4, when it
 * is well-formed. Otherwise minus the number of bytes, 1 to 3, that one U+FFFD stands for: the
 * longest prefix of a well-formed sequence, as the Unicode standard and the Encoding standard count
 * it. */
int utf8_sequence(const char *text, size_t len);

/* The number of bytes that [p, end) begins with which stand for themselves in a JSON string as in
 * any other text: printable ASCII but for the double quote and the backslash. */
size_t utf8_plain_run(const char *p, const char *end);

/* Writes a character, below 0x110000, as UTF-8; how many bytes that took, 1 to 4. */
size_t utf8_put(char *out, uint32_t c);

/* 1 when no byte has its highest bit set. */
int utf8_is_ascii(const char *text, size_t len);

#endif
