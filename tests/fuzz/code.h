/* code.h - what the targets that rewrite source text check of it. */
#ifndef VIAL_FUZZ_CODE_H
#define VIAL_FUZZ_CODE_H

#include "base/buf.h"
#include "code/edit.h"
#include "code/parse.h"
#include "fuzz.h"

/* Can the grammar read all of it? A NUL, which the language allows in comments and texts, is the
 * end of the source to tree-sitter wherever it looks for one. */
static inline int code_is_clean(const char *source, size_t len)
{
    TSTree *tree = NULL;
    int clean;

    if (len == 0 || memchr(source, '\0', len) != NULL ||
        memmem(source + 1, len - 1, "#!", 2) != NULL ||
        code_parse(tree_sitter_javascript(), source, len, &tree, NULL) < 0) {
        return 0;
    }
    clean = !ts_node_has_error(ts_tree_root_node(tree));
    ts_tree_delete(tree);
    return clean;
}

/* Walks over a text by lines: the number of UTF-16 units of the line at *at, which is moved behind
 * its end; *ret_break tells what ended it, 0 at the end of the text. Lines end as in JavaScript. */
static inline uint32_t code_line(const char *text, size_t len, size_t *at, unsigned *ret_break)
{
    uint32_t units = 0;

    *ret_break = 0;
    while (*at < len) {
        unsigned char c = (unsigned char)text[(*at)++];

        if (c == '\n' || c == '\r') {
            *ret_break = c;
            break;
        }
        if (c == 0xe2 && len - *at >= 2 && (unsigned char)text[*at] == 0x80 &&
            ((unsigned char)text[*at + 1] & 0xfe) == 0xa8) {
            *ret_break = 0x2028U + (text[*at + 1] & 1U);
            *at += 2;
            break;
        }
        units += (c & 0xc0) != 0x80 ? 1 : 0;
        units += c >= 0xf0 ? 1 : 0;
    }
    return units;
}

/* Do the lines of a rewritten text, without what the edits say was inserted, have the breaks and
 * lengths of the source's lines? The rewritten text may go on behind its last line. */
static inline void code_check_lines(const char *source, size_t len, const char *text,
    size_t text_len, const struct buf *edits, int has_tail)
{
    size_t count = edits->len / sizeof(struct edit), next = 0, at = 0, text_at = 0;
    uint32_t line = 1, units, text_units, inserted;
    unsigned ended, text_ended;
    struct edit edit;

    do {
        units = code_line(source, len, &at, &ended);
        text_units = code_line(text, text_len, &text_at, &text_ended);
        /* Line breaks that the engine counts as one. */
        if (ended == '\r' && at < len && source[at] == '\n') {
            FUZZ_CHECK(text_ended == '\r' && text_at < text_len && text[text_at] == '\n',
                "line %u does not end in CR LF any more", line);
            at++;
            text_at++;
        }
        inserted = 0;
        while (next < count) {
            memcpy(&edit, edits->data + next * sizeof(edit), sizeof(edit));
            FUZZ_CHECK(edit.line >= line, "the edits are not in order");
            if (edit.line > line) {
                break;
            }
            inserted += edit.len;
            next++;
        }
        FUZZ_CHECK(text_units == units + inserted, "line %u has %u units and %u inserted, not %u",
            line, units, inserted, text_units);
        FUZZ_CHECK(ended == text_ended || (ended == 0 && has_tail && text_ended == '\n'),
            "line %u ends in %#x and not in %#x", line, text_ended, ended);
        line++;
    } while (ended != 0);
    FUZZ_CHECK(has_tail || text_at == text_len, "there are more lines than before");
    FUZZ_CHECK(next == count, "an edit is behind the end");
}

#endif
