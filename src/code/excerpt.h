/* excerpt.h - the statements of a source that have certain places in them.
 *
 * Reading a source into a tree takes most of a scan, and what rules are about is mostly in one or
 * two of its statements. An excerpt is these statements, where they are, and nothing of the others:
 * of a function it is the head, the statements of the body that have a place in them, and the end.
 *
 * Where statements begin is found without a grammar, by brackets, quotes and lines, so it is a
 * guess. Who reads an excerpt and finds errors in it reads the whole source instead. */
#ifndef VIAL_CODE_EXCERPT_H
#define VIAL_CODE_EXCERPT_H

#include <stddef.h>
#include <stdint.h>
#include <tree_sitter/api.h>

enum {
    EXCERPT_RANGES_MAX = 32,    /* with more pieces the whole is read as fast */
    EXCERPT_BYTES_MAX = 262144, /* of a source: finding the statements of more is no gain */
};

struct excerpt {
    TSRange ranges[EXCERPT_RANGES_MAX];
    uint32_t count;
    size_t bytes; /* of all ranges */
};

/* Places are in order. 0, or -1 when the source had better be read as a whole. */
int excerpt_make_js(
    const char *text, size_t len, const uint32_t *places, size_t places_count, struct excerpt *ret);
int excerpt_make_python(
    const char *text, size_t len, const uint32_t *places, size_t places_count, struct excerpt *ret);

/* ---- for excerpt_js.c and excerpt_python.c ---- */

enum {
    EXCERPT_MARKS_MAX = 1024
}; /* statements that are told apart; 2 KB of code have some fifty */

/* Where statements begin. */
struct excerpt_marks {
    uint32_t at[EXCERPT_MARKS_MAX];
    uint8_t is_inner[EXCERPT_MARKS_MAX]; /* in the body of a function or class, not outermost */
    uint32_t count;
    /* What a body cannot do without beside its head: a statement, be it the first one, or what is
     * behind its last mark. */
    int keeps_first, keeps_last;
};

/* -1 when there are too many. */
int excerpt_mark(struct excerpt_marks *m, size_t at, int is_inner);

/* The excerpt, with all marks there. */
int excerpt_pick(const struct excerpt_marks *m, const char *text, size_t len,
    const uint32_t *places, size_t places_count, struct excerpt *ret);

#endif
