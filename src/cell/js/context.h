/* context.h - a JavaScript global with our prelude in it, and the hooks that the prelude gave us.
 */
#ifndef VIAL_CELL_JS_CONTEXT_H
#define VIAL_CELL_JS_CONTEXT_H

#include <stddef.h>

#include "base/buf.h"
#include "cell/js/jsc.h"

/* The functions of the prelude that C calls, in the order of their names in context.c. */
enum js_hook {
    HOOK_START,
    HOOK_ENTER,
    HOOK_COMPLETED,
    HOOK_TURN,
    HOOK_STATE,
    HOOK_FAILURE,
    HOOK_PENDING,
    HOOK_UNHANDLED,
    HOOK_VALUE,
    HOOK_DECODE,
    HOOK_TEXT,
    HOOK_DESCRIBE,
    HOOK_WARM,
    HOOK_EXIT,
    HOOK_MODULES,
    HOOK_MAIN,
    HOOK_TOOL,
    HOOK_ANSWER,
    HOOK_EVALUATE,
    HOOK_GLOBALS,
    HOOK_CALL,
    HOOK_RELEASE,
    HOOK_COMPLETE,
    HOOK_REPAIR,
    HOOK_NET,
    HOOK_FRESH,
    HOOK_COUNT
};

struct js_context {
    JSGlobalContextRef ctx;
    JSObjectRef hooks[HOOK_COUNT];
    uint32_t evaluation_count; /* of the session in this context; 0 when it has none */
};

/* Makes a global in the group and evaluates the prelude. 0, or -1 with a reason (for a developer:
 * it means that the prelude is wrong). */
int js_context_init(struct js_context *c, JSContextGroupRef group, const char **ret_why);

/* Calls a hook. NULL when it threw; the exception is then in *ret_exception. */
JSValueRef js_context_call(struct js_context *c, enum js_hook hook, size_t argc,
    const JSValueRef argv[], JSValueRef *ret_exception);

/* A JavaScript string of UTF-8 bytes, which may hold NULs; one byte behind them must be readable.
 * The caller releases it. NULL without memory. */
JSStringRef js_string_from_utf8(const char *bytes, size_t len);

/* The bytes of a Uint8Array: 0, or -1 when value is none. They live as long as it does. */
int js_bytes(JSContextRef ctx, JSValueRef value, char **ret_bytes, size_t *ret_len);

/* Appends a JavaScript string as UTF-8; half a surrogate pair becomes U+FFFD. 0, or -1. */
int js_string_to_utf8(JSStringRef string, struct buf *out);

#endif
