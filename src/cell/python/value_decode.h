/* value_decode.h - what the two files that read CBOR share. */
#ifndef VIAL_CELL_PYTHON_VALUE_DECODE_H
#define VIAL_CELL_PYTHON_VALUE_DECODE_H

#include "cell/python/value_walk.h"

enum {
    /* As in value/cbor.h, for the same reason: a tag and what it is around are several levels. */
    DECODE_DEPTH_MAX = 320,
    /* Elements of a sparse array: it becomes a list with all of its holes, and a few bytes must not
     * become gigabytes. */
    SPARSE_COUNT_MAX = 1000000,
};

struct decoder {
    const unsigned char *bytes;
    size_t len;
    size_t at;
};

struct decode_head {
    enum value_major major;
    unsigned info;
    uint64_t argument;
};

/* Sets a ValueError that says where, and gives NULL. */
PyObject *decode_fail(const struct decoder *d, const char *why);

/* 0, or -1 with an exception, as the others that give an int. */
int decode_head(struct decoder *d, struct decode_head *ret);

/* A head that must be of one major type; its argument. */
int decode_expect(struct decoder *d, enum value_major major, uint64_t *ret);

/* The content of a string of n bytes, or NULL. */
const char *decode_bytes(struct decoder *d, uint64_t n);

/* Each gives a new reference, or NULL with an exception. */
PyObject *decode_value(struct decoder *d, unsigned depth);
PyObject *decode_text(struct decoder *d);
PyObject *decode_list(struct decoder *d, uint64_t count, unsigned depth);
PyObject *decode_pairs(struct decoder *d, uint64_t count, int is_map, unsigned depth);

/* What can be a key or in a set: of a list a tuple, of a set a frozenset. Takes the reference. */
PyObject *decode_frozen(PyObject *value);

/* value_decode_tag.c: what a tag is around. */
PyObject *decode_tag(struct decoder *d, uint64_t tag, unsigned depth);

#endif
