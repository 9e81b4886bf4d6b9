/* pattern.h - regular expressions as ECMA-262 has them, which is what JSON Schema asks for.
 *
 * An expression is rewritten for PCRE2: \d and \w are ASCII, \s is JavaScript's white space, $ is
 * only the very end, \uXXXX and \u{X} are characters, [] matches nothing. What only PCRE2 knows
 * (possessive quantifiers, (?i), \A, recursion) is refused, so that a schema means the same here
 * and elsewhere. Matching is interpreted, not compiled to machine code: the process that checks
 * tool calls is the trusted one, and has no need for writable code. */
#ifndef VIAL_SCHEMA_PATTERN_H
#define VIAL_SCHEMA_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

enum {
    PATTERN_BYTES_MAX = 8192, /* the longest known patterns, of mail addresses, have 6,000 */
    /* Backtracking steps of one match, and more for each byte of the text: a few milliseconds. A
     * pattern such as (a+)+$ must not stop the host, but base64 by the megabyte has to match. */
    PATTERN_STEPS = 100000,
    PATTERN_STEPS_PER_BYTE = 16,
    /* What is kept to go back to: some 150 bytes for each turn of a group, more with many groups.
     */
    PATTERN_HEAP_KIB_MAX = 64 * 1024,
};

struct pattern;

/* What one thread needs for matching; shared by all patterns of one check. Zero is a good start. */
struct pattern_work {
    void *match;  /* of PCRE2, made at the first match */
    void *limits; /* likewise */
    uint64_t us;  /* spent in matching so far */
};

/* VIAL_E_INVALID with what is wrong; a pattern may be used by many threads at once. */
VIAL_NODISCARD int pattern_new(
    const char *text, size_t len, struct pattern **ret, struct vial_error *err);
void pattern_free(struct pattern *pattern);

/* 1 when the pattern matches anywhere in the subject, 0 when not; VIAL_E_INVALID when that takes
 * too much work. Text with half a surrogate pair matches nothing. */
VIAL_NODISCARD int pattern_match(const struct pattern *pattern, const char *subject, size_t len,
    struct pattern_work *work, struct vial_error *err);
void pattern_work_release(struct pattern_work *work);

#endif
