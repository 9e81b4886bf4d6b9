/* process.h - the process as the guest sees it: arguments, variables, standard input, the exit.
 * surface/node/process.js is made of these. */
#ifndef VIAL_CELL_JS_PROCESS_H
#define VIAL_CELL_JS_PROCESS_H

#include "cell/guest.h"
#include "cell/js/jsc.h"

/* Adds the object `process` to the object of native functions. */
void js_process_add(JSContextRef ctx, JSObjectRef native);

/* The run that these functions speak of from now on. */
void js_process_start(const struct guest_start *start);

/* Before every program, those of a session included. */
void js_process_begin(const struct guest_start *start);

#endif
