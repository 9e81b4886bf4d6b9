/* redact_set.h - the automaton of redact.c, for redact_stream.c. */
#ifndef VIAL_HOST_REDACT_SET_H
#define VIAL_HOST_REDACT_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/secret_name.h"
#include "host/redact.h"

/* A state of the automaton: some first bytes of one or several values. Number 0 is the empty one,
 * and also means "none". */
struct redact_node {
    uint32_t child, sibling; /* one byte more; another last byte */
    uint32_t fail;           /* the longest proper end of this that is a beginning as well */
    uint32_t depth;          /* how many bytes */
    uint32_t match_len;      /* of the longest value that ends here, or 0 */
    uint16_t match;          /* which one that is */
    unsigned char byte;      /* the last one */
};

struct redact {
    struct redact_node *nodes; /* owned */
    size_t nodes_count, nodes_max;
    size_t value_bytes_max; /* of the longest */
    size_t count;
    uint32_t first[256];       /* from the empty state */
    unsigned char base64[256]; /* what a character stands for, plus one; 0 for no character */
    unsigned char wakes[256];  /* not 0: a byte that may be the first of an occurrence */
    char names[REDACT_SECRETS_MAX][SECRET_NAME_BYTES_MAX + 1];
};

/* The state after one more byte. Each round of the loop takes back what an earlier byte has added
 * to the depth, so all rounds together are no more than the bytes. */
static inline uint32_t redact_step(const struct redact *set, uint32_t state, unsigned char byte)
{
    uint32_t next;

    for (; state != 0; state = set->nodes[state].fail) {
        for (next = set->nodes[state].child; next != 0; next = set->nodes[next].sibling) {
            if (set->nodes[next].byte == byte) {
                return next;
            }
        }
    }
    return set->first[byte];
}

#endif
