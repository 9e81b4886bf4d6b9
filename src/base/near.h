/* near.h - which names did somebody mean: the known names nearest to one that is not known.
 *
 * Models and people misspell names of tools, properties and options; an error that offers the right
 * one is worth a second attempt. Small typing errors, other letter case, other separators and
 * missing or misplaced dotted parts ("find" for "crm.find") are forgiven; what has nothing in
 * common is not offered. */
#ifndef VIAL_BASE_NEAR_H
#define VIAL_BASE_NEAR_H

#include <stddef.h>

enum {
    /* Longer names are not compared: nobody types them, and the work is the product of lengths. */
    NEAR_BYTES_MAX = 64,
};

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b, upper and lower
 * case being the same; max + 1 when more than max are needed or one is too long. */
unsigned near_distance(const char *a, size_t a_len, const char *b, size_t b_len, unsigned max);

/* How many such errors are forgiven in a word of this length: none in the shortest words, where
 * every letter makes another word. */
unsigned near_tolerance(size_t len);

/* Stores the indices of at most max names that are near to word, nearest first; returns how many. A
 * name that is equal to word is the nearest of all. */
size_t near_names(
    const char *word, const char *const *names, size_t count, size_t *ret_indices, size_t max);

/* The nearest of the words, which end in NULL; NULL when none is near. */
const char *near_word(const char *word, const char *const known[]);

#endif
