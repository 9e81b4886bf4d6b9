/* cbor_walk.h - what the files of cbor.h share: the walk, what it reads with and what it writes. */
#ifndef VIAL_VALUE_CBOR_WALK_H
#define VIAL_VALUE_CBOR_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum major { UINT, NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG, SIMPLE };

enum {
    TAG_BIGINT = 2,
    TAG_BIGINT_NEGATIVE = 3,
    /* Larger numbers are shown in hexadecimal: writing decimals takes the square of the length. */
    DECIMAL_BYTES_MAX = 128,
    DECIMAL_DIGITS_MAX = 3 * DECIMAL_BYTES_MAX,
    DECIMAL_TEXT_BYTES = DECIMAL_DIGITS_MAX + 2, /* with a sign and a NUL */
};

struct walk {
    const unsigned char *bytes;
    size_t len;
    size_t at;
    struct buf *out; /* NULL: only check */
    struct vial_error *err;
    int r; /* the first failure; all functions are silent afterwards */
};

/* The head of an item: its major type and its argument, or the bits of a float. */
struct head {
    enum major major;
    unsigned info;
    uint64_t argument;
};

void cbor_fail(struct walk *w, const char *why);

/* ---- output ---- */

void cbor_put(struct walk *w, const char *text);
void cbor_put_text(struct walk *w, const char *text, size_t len); /* as a string */
void cbor_put_double(struct walk *w, double v);
void cbor_put_bigint(struct walk *w, const unsigned char *bytes, size_t len, int negative);
void cbor_put_bytes(struct walk *w, const unsigned char *bytes, size_t len);

/* Writes bytes, at most DECIMAL_BYTES_MAX, most significant first, as decimals into text, which has
 * DECIMAL_TEXT_BYTES; -1 minus that when negative. The length. */
size_t cbor_decimal(const unsigned char *bytes, size_t len, int negative, char *text);

/* ---- input ---- */

void cbor_take_head(struct walk *w, struct head *h);

/* Takes a head that must be of one major type. */
void cbor_expect(struct walk *w, enum major major, const char *why, struct head *h);

/* The content of a string, which must be there whole; NULL when it is not. */
const unsigned char *cbor_take_bytes(struct walk *w, const struct head *h);

/* A length that cannot be true is refused before anything is done for it: every item has a byte. */
void cbor_check_count(struct walk *w, uint64_t count, unsigned items);

/* Of a head that is that of a float. */
double cbor_take_float(const struct head *h);

/* ---- both ---- */

void cbor_walk_value(struct walk *w, unsigned depth);
void cbor_walk_text(struct walk *w);
void cbor_walk_items(struct walk *w, uint64_t count, unsigned depth);
void cbor_walk_number(struct walk *w, const struct head *h);

/* How many elements it has. */
size_t cbor_walk_typed_array(struct walk *w, uint64_t tag);

/* cbor_more.c: what Python has and JavaScript has not. 0 when it is none of that. */
int cbor_walk_more_tag(struct walk *w, uint64_t tag);

/* Of [name, ...], count parts with the name, which was taken. */
int cbor_walk_more_object(
    struct walk *w, const char *name, uint64_t name_len, uint64_t count, unsigned depth);

#endif
