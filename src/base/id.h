/* id.h - names for things that are made by the thousand: "run_" and 26 characters that sort by the
 * time they were made.
 *
 * The first ten characters are the milliseconds since 1970, the other sixteen are 80 random bits,
 * all in Crockford's base 32 (no I, L, O, U): the form that others call ULID. Sorting the texts
 * sorts by time; two of the same millisecond are in no order. Nobody can guess one from another. */
#ifndef VIAL_BASE_ID_H
#define VIAL_BASE_ID_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

enum {
    ID_PREFIX_BYTES_MAX = 5, /* "call_" */
    ID_BODY_BYTES = 26,
    ID_BYTES_MAX = ID_PREFIX_BYTES_MAX + ID_BODY_BYTES,
};

/* Writes a new one, with a NUL behind it. prefix ends in "_"; now_us is the time since 1970.
 * VIAL_E_SYS when the kernel has no random numbers. */
VIAL_NODISCARD int id_make(
    const char *prefix, uint64_t now_us, char ret[ID_BYTES_MAX + 1], struct vial_error *err);

/* Is this text, of any origin, a name that id_make could have made with the prefix? */
int id_is_valid(const char *prefix, const char *text, size_t len);

/* The milliseconds since 1970 of a name that is valid. */
uint64_t id_time_ms(const char *prefix, const char *text);

/* The smallest text that any name made at that time can have: for "all since then". */
void id_first(const char *prefix, uint64_t time_us, char ret[ID_BYTES_MAX + 1]);

/* Writes 8 * len / 5 characters (len is a multiple of 5) of the same alphabet in lower case for
 * random bytes, without a NUL. */
void id_text_lower(const unsigned char *bytes, size_t len, char *ret);

/* Microseconds since 1970: what is written down. Deadlines are made of clock_now_us. */
uint64_t id_now_us(void);

#endif
