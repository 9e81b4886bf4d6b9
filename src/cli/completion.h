/* completion.h - what the word before the cursor could go on as.
 *
 * Candidates are whole words, each ended by a NUL. Those that come out of a session are a guest's
 * words and go to a terminal, so only plain names among them are taken. */
#ifndef VIAL_CLI_COMPLETION_H
#define VIAL_CLI_COMPLETION_H

#include <stddef.h>

#include "base/buf.h"

enum { COMPLETION_BYTES_MAX = 65536 }; /* of all candidates: more than a screen has room for */

/* Where the name begins, dots included, that ends at the cursor; the cursor itself when there is
 * none, as behind a blank or a bracket. */
size_t completion_start(const char *line, size_t cursor);

/* Takes the names out of a JSON array of strings. Anything else in it is passed over; -1 without
 * memory. */
int completion_take(const char *json, struct buf *words);

/* Adds a word; -1 without memory. */
int completion_add(struct buf *words, const char *word);

/* How many words there are, and how many bytes all of them begin with alike. */
size_t completion_count(const struct buf *words);
size_t completion_common(const struct buf *words);

#endif
