/* change.h - changes to a source text, noted in any order and made all at once.
 *
 * What has to go becomes spaces and what is replaced keeps its length, so that the rest stays in
 * its column; what has to be added is recorded as a struct edit. Lines never move. */
#ifndef VIAL_CODE_CHANGE_H
#define VIAL_CODE_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "code/edit.h"

struct changes {
    struct buf items; /* struct change */
    int failed;       /* a change could not be noted */
};

/* max is the largest number of changes: what is beyond it makes changes_apply fail. */
void changes_init(struct changes *c, size_t max);
void changes_release(struct changes *c);

/* Puts text, which the caller keeps, in front of the byte at `at`. */
void changes_insert(struct changes *c, uint32_t at, const char *text);

/* Puts text in the place of as many bytes of ASCII. */
void changes_replace(struct changes *c, uint32_t at, const char *text);

/* Makes spaces of the bytes from `at` to `end`, but for line breaks; the first one becomes first.
 */
void changes_blank(struct changes *c, uint32_t at, uint32_t end, char first);

/* Where the text that was made is in the one it was made of. */
struct rewrite {
    struct buf text;
    struct buf edits;         /* struct edit, in the order of the text */
    uint32_t line_count;      /* lines of the source */
    uint32_t last_column_max; /* the column after the last character of the rewritten last line */
};

void rewrite_init(struct rewrite *r, size_t text_max);
void rewrite_release(struct rewrite *r);
size_t rewrite_edit_count(const struct rewrite *r);

/* Adds head, the source with its changes, and tail to r->text. The head is one line and counts as
 * an insertion, the tail begins with a line break. */
VIAL_NODISCARD int changes_apply(struct changes *c, const char *source, size_t len,
    const char *head, const char *tail, struct rewrite *r, struct vial_error *err);

/* A place in a source: a byte, and its line and column, counted from 1 as the engine counts:
 * columns in UTF-16 code units. */
struct place {
    size_t at;
    uint32_t line, column;
};
#define PLACE_START                                                                                \
    {                                                                                              \
        .at = 0, .line = 1, .column = 1                                                            \
    }

/* Moves on to the byte at `at`, or begins again when that is behind. */
void place_move(struct place *place, const char *source, size_t len, size_t at);

void source_position(
    const char *source, size_t len, size_t at, uint32_t *ret_line, uint32_t *ret_column);

#endif
