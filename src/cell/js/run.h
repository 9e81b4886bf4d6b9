/* run.h - running one guest program in a context, to its result. */
#ifndef VIAL_CELL_JS_RUN_H
#define VIAL_CELL_JS_RUN_H

#include "cell/guest.h"
#include "cell/js/context.h"

/* Calls our own functions in a context as a run does, without evaluating anything in it that could
 * be seen afterwards. */
void js_run_nothing(struct js_context *c);

/* Evaluates, turns the event loop, and adds the fields of the RESULT. With start->session this is
 * an evaluation: it can be called again in the same context, and begins where the last one ended.
 */
void js_run(struct js_context *c, const struct guest_start *start, struct buf *result);

/* Ends the run at once, from a function that the guest called: with this exit code, or, when thrown
 * is not NULL, as if that had been thrown and not caught. */
_Noreturn void js_run_exit(JSContextRef ctx, uint32_t code, JSValueRef thrown);

#endif
