/* incomplete.h - whether a source is only the beginning of one, for those who type it in line by
 * line.
 *
 * This reads words and signs and builds no tree, so a terminal can ask after every line; it needs
 * neither the grammar nor the engine. Where a source is wrong the answer is 0: it is evaluated, and
 * the engine says what is wrong with it. */
#ifndef VIAL_CODE_INCOMPLETE_H
#define VIAL_CODE_INCOMPLETE_H

#include <stddef.h>

/* Brackets that may be open at once. Whoever types in more than that has made a mistake. */
enum { INCOMPLETE_NESTING_MAX = 1000 };

/* 1 when more must follow: a bracket, a template or a block comment is open, a string goes on in
 * the next line, or the last word or sign needs another behind it, as in `a +`, `if (a)`, `else`,
 * `class A`, `try {}`. source is JavaScript or TypeScript, UTF-8. */
int session_is_incomplete(const char *source, size_t len);

/* The same for Python, where a block of indented lines ends with an empty line. */
int python_is_incomplete(const char *source, size_t len);

/* 1 when a block of Python has ended because this line begins something new, which nobody could
 * know before: it is at the margin, and is no `else` or the like. The line is not part of it. */
int python_begins_anew(const char *source, size_t len, const char *line, size_t line_len);

#endif
