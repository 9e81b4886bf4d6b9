/* run.h - running one guest program in a context, to its result. */
#ifndef VIAL_CELL_JS_RUN_H
#define VIAL_CELL_JS_RUN_H

#include "cell/guest.h"
#include "cell/js/context.h"

/* Evaluates, turns the event loop, and adds the fields of the RESULT. */
void js_run(struct js_context *c, const struct guest_start *start, struct buf *result);

#endif
