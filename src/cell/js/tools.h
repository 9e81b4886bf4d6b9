/* tools.h - the host's tools as functions of the guest: what prelude/tools.js needs from C. */
#ifndef VIAL_CELL_JS_TOOLS_H
#define VIAL_CELL_JS_TOOLS_H

#include "cell/guest.h"
#include "cell/js/context.h"

/* Adds native.tools. */
void js_tools_add(JSContextRef ctx, JSObjectRef native);

/* Makes the functions that the start message has; nothing when it has none. */
void js_tools_begin(struct js_context *c, const struct guest_start *start);

/* Has this process ever been given tools? */
int js_tools_exist(void);

/* Gives the guest the answers that have come, after waiting for one until the time has come at the
 * latest. NULL, or what was thrown. */
JSValueRef js_tools_take(struct js_context *c, uint64_t until_us);

#endif
