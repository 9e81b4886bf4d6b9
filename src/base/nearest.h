/* nearest.h - the word that somebody probably meant, for "did you mean". */
#ifndef VIAL_BASE_NEAREST_H
#define VIAL_BASE_NEAREST_H

/* The one of known, which ends in NULL, that the fewest changed, added or left out letters make of
 * word; the first of several. NULL when none is so near that it could be a slip of the finger. */
const char *nearest_word(const char *word, const char *const known[]);

#endif
