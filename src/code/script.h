/* script.h - makes a script with a top-level `await` or `return` one that the engine can run.
 *
 * The engine's C API runs classic scripts only, in which both are errors. A script that uses one of
 * them becomes the body of an async function that is called at once, so its value is a promise:
 *
 *     script_may_need_wrap -> script_wrap -> run the text -> script_map_back for each position
 *
 * Lines never move: all that is put in front is on the first line, and all that follows is on a
 * line of its own. Columns do, and every shift is recorded so that a stack trace can show the
 * guest's own.
 *
 * Ask before the engine runs the source, not only after it refused it: to the engine `await (f())`
 * is a call of a function named await. The other way round, a script that really uses `await` as a
 * name may be refused once it is wrapped; then the source itself is what to run, or whose error to
 * report. */
#ifndef VIAL_CODE_SCRIPT_H
#define VIAL_CODE_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "code/edit.h"
#include "vial.h"

/* Places where text is inserted: one in front, and a `return ` at the end of every branch that can
 * give the value of the run. Scripts written by models end in a few branches; 256 leave room for a
 * long chain of else-ifs and keep the table at 3 KiB. Branches beyond it give undefined. */
enum { SCRIPT_EDITS_MAX = 256 };

/* Tree-sitter counts bytes in 32 bits; half of that leaves room for what is inserted. */
#define SCRIPT_BYTES_MAX ((size_t)INT32_MAX)

enum {
    /* Words, numbers and signs of a script, some 150 KB of code. Tree-sitter 0.20 counts the
     * children of a node in 16 bits and corrupts memory beyond; only the node of a syntax error can
     * take as many, one for each token at most, and some of those are empty. Half of 16 bits is on
     * the safe side of both. It also keeps the recursion of tree-sitter, when it joins ambiguous
     * readings, within 1 MiB of stack. */
    SCRIPT_TOKENS_MAX = 32000,
    /* That many tokens are read in 0.1 s, and in 0.3 s when made to be slow. What is worse than
     * any shape known so far stops here, and not at the end of the run's processor time. */
    SCRIPT_PARSE_MS_MAX = 2000,
};

struct script_edits {
    uint32_t count;           /* 0 when nothing was rewritten */
    uint32_t line_count;      /* lines of the source */
    uint32_t last_column_max; /* the column after the last character of the rewritten last line */
    struct edit items[SCRIPT_EDITS_MAX]; /* in the order of the text */
};

/* 0 when source has neither of the words, so there is no need to parse it. */
int script_may_need_wrap(const char *source, size_t len);

/* Adds the rewritten script to out, stores the insertions in *edits and 1 in *ret_wrapped. When no
 * await, for await or return stands outside of functions, stores 0, empties *edits and leaves out
 * alone. source is UTF-8; syntax errors in it are left for the engine to report. VIAL_E_INVALID is
 * the guest's doing: the source is over a maximum above. It can still be run as it is if the engine
 * takes it. On failure nothing is changed. */
VIAL_NODISCARD int script_wrap(const char *source, size_t len, struct buf *out,
    struct script_edits *edits, int *ret_wrapped, struct vial_error *err);

/* Turns a position in the rewritten text into the one in the source. A position inside of an
 * insertion becomes the place of the insertion; one behind the source becomes the end of the
 * source. */
void script_map_back(const struct script_edits *edits, uint32_t *line, uint32_t *column);

#endif
