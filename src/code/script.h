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
#include "code/change.h"
#include "code/parse.h"
#include "vial.h"

/* Places where text is inserted: one in front, and a `return ` at the end of every branch that can
 * give the value of the run. Scripts written by models end in a few branches; 256 leave room for a
 * long chain of else-ifs. Branches beyond it give undefined. */
enum { SCRIPT_EDITS_MAX = 256 };

/* What a wrapped script begins and ends with. */
extern const char SCRIPT_HEAD[];
extern const char SCRIPT_TAIL[];

/* 0 when source has neither of the words, so there is no need to parse it. */
int script_may_need_wrap(const char *source, size_t len);

/* Notes the changes that make the value of the last statement a return value. */
void script_change_values(TSNode root, const char *source, struct changes *changes);

/* Notes the change that makes a comment of a `#!` line. */
void script_change_hashbang(const char *source, size_t len, struct changes *changes);

/* Notes the same for a source, from its tree, and whether it has to be wrapped: what script_wrap
 * does when the outline of a source is not known. */
VIAL_NODISCARD int script_note_tree(const char *source, size_t len, struct changes *changes,
    int *ret_wraps, struct vial_error *err);

/* Adds the rewritten script to out and stores 1 in *ret_wrapped. When no await, for await or return
 * stands outside of functions, stores 0 and leaves *out alone. source is UTF-8; syntax errors in it
 * are left for the engine to report. VIAL_E_INVALID is the guest's doing: the source is over a
 * maximum of parse.h. It can still be run as it is if the engine takes it. */
VIAL_NODISCARD int script_wrap(
    const char *source, size_t len, struct rewrite *out, int *ret_wrapped, struct vial_error *err);

/* Turns a position in the rewritten text into the one in the source. A position inside of an
 * insertion becomes the place of the insertion; one behind the source becomes the end of the
 * source. */
void script_map_back(const struct rewrite *rewrite, uint32_t *line, uint32_t *column);

#endif
