/* scan_program.h - scans a program before it is evaluated, when its start message says so.
 *
 * This happens in the cell: hostile source is never parsed in the process of the host. Rules are
 * compiled once in a process and are there in its copies: a template that will make many cells
 * compiles ours, one of an environment those of its document as well. */
#ifndef VIAL_CELL_SCAN_PROGRAM_H
#define VIAL_CELL_SCAN_PROGRAM_H

#include "base/buf.h"
#include "cell/guest.h"
#include "code/excerpt.h"
#include "code/scanner.h"

/* A source as its language reads it. */
struct scan_tree {
    TSTree *tree;     /* the caller deletes it, or hands it on by keep */
    const char *text; /* what it is a tree of; valid until the next read */
    size_t len;
    uint32_t language; /* enum scanner_language */
    int is_excerpt;    /* of the text only the excerpt was read */
};

/* What a language must offer to be scanned. */
struct scan_ops {
    const TSLanguage *(*grammar)(void);
    uint32_t languages; /* that it reads: enum scanner_language */

    /* Finds the statements that have these places in them: code/excerpt.h. */
    int (*excerpt)(const char *text, size_t len, const uint32_t *places, size_t places_count,
        struct excerpt *ret);

    /* Reads a source, or as much of it as is in the excerpt, unless there is none or that has
     * errors; language is an enum vial_language. VIAL_E_INVALID: it is too much. */
    int (*read)(const struct guest_module *source, uint32_t language, const struct excerpt *excerpt,
        struct scan_tree *ret, struct vial_error *err);

    /* Moves a finding in that text to where it is in the source; may be NULL. */
    void (*map_back)(uint32_t *line, uint32_t *column);

    /* Takes the tree over, for the evaluation to use; may be NULL. */
    void (*keep)(const struct scan_tree *tree);
    void (*forget)(void); /* the evaluation is over; may be NULL */

    /* In a cell, before its program comes: what else it needs where there are rules; may be NULL.
     */
    void (*touch)(void);
};

/* Each language program defines the one it has, and has its rules, made of share/rules. */
extern const struct scan_ops SCAN;
extern const char SCAN_RULES[];

/* In a template, before it makes a cell for a program that is likely to be scanned: compiles our
 * rules, which takes some 50 ms, unless it has. */
void scan_warm(void);

/* In such a cell, before its program comes: goes the way of a scan, so that the pages it needs are
 * there. */
void scan_touch(void);

/* Does what start says about scanning and sends what it finds. 1 when that was all that is to be
 * done: result has the fields of the result then. */
int scan_program(const struct guest_start *start, struct buf *result);

/* The program has been evaluated. */
void scan_done(void);

#endif
