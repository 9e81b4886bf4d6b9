/* modules.h - what the prelude's module loader needs of C: the sources that came with the run, read
 * and rewritten. */
#ifndef VIAL_CELL_JS_MODULES_H
#define VIAL_CELL_JS_MODULES_H

#include "cell/guest.h"
#include "cell/js/context.h"

/* Adds the loader's functions to the object of natives. */
void js_modules_add(JSContextRef ctx, JSObjectRef native);

/* Makes the sources of a run those that the natives talk about. start must outlive the run. In a
 * session the modules are added to those that are there; one whose name is there already is
 * ignored. 0, or -1 when that makes more than VIAL_MODULES_MAX. */
VIAL_NODISCARD int js_modules_begin(struct js_context *c, const struct guest_start *start);

/* True when the program is not a plain script, or may not be one: the loader has to run it. */
int js_modules_needed(const struct guest_start *start);

/* True when the loader may run a program that the engine has refused: as TypeScript. */
int js_modules_may_help(const struct guest_start *start);

/* Runs an evaluation of a session; its value, or NULL with an exception. */
JSValueRef js_modules_evaluate(struct js_context *c, JSValueRef *ret_exception);

/* Runs the program through the loader; its completion value, or NULL with an exception. */
JSValueRef js_modules_run(
    struct js_context *c, const struct guest_start *start, JSValueRef *ret_exception);

#endif
