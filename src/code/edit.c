/* edit.c - see edit.h. */
#include "code/edit.h"

#include <string.h>

static struct edit row_at(const struct buf *rows, size_t i)
{
    struct edit edit;

    memcpy(&edit, rows->data + i * sizeof(edit), sizeof(edit));
    return edit;
}

static int add_row(
    struct buf *out, uint32_t line, uint32_t column, uint32_t len, struct vial_error *err)
{
    struct edit edit = {.line = line, .column = column, .len = len};

    return len > 0 ? buf_add(out, &edit, sizeof(edit), err) : VIAL_OK;
}

/* Both lists are in the order of the text, so one walk over them is enough. `inserted` is what the
 * second has put into the current line so far: its rows lie that much further right than in the
 * text between the two. */
int edits_compose(const struct buf *first, const struct edit *second, size_t second_count,
    struct buf *out, struct vial_error *err)
{
    size_t count = first->len / sizeof(struct edit);
    size_t i = 0, k = 0;
    uint32_t line = 0, inserted = 0;
    struct edit rest = {0}; /* what is left of the row i */
    int r = VIAL_OK;

    while (r == VIAL_OK && (i < count || k < second_count)) {
        if (i < count && rest.len == 0) {
            rest = row_at(first, i);
        }
        if (k < second_count && (i >= count || second[k].line < rest.line ||
                                    (second[k].line == rest.line &&
                                        second[k].column - (second[k].line == line ? inserted : 0) <
                                            rest.column + rest.len))) {
            uint32_t before = second[k].line == line ? inserted : 0;
            uint32_t middle = second[k].column - before;

            if (i < count && second[k].line == rest.line && middle > rest.column) {
                /* It lies inside of the other one, which it cuts in two. */
                r = add_row(out, rest.line, rest.column + before, middle - rest.column, err);
                rest.len -= middle - rest.column;
                rest.column = middle;
            }
            if (r == VIAL_OK) {
                r = add_row(out, second[k].line, second[k].column, second[k].len, err);
            }
            line = second[k].line;
            inserted = before + second[k].len;
            k++;
            continue;
        }
        r = add_row(
            out, rest.line, rest.column + (rest.line == line ? inserted : 0), rest.len, err);
        rest.len = 0;
        i++;
    }
    return r;
}
