/* native.h - small helpers for functions that the engine calls. */
#ifndef VIAL_CELL_JS_NATIVE_H
#define VIAL_CELL_JS_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cell/js/jsc.h"

#define NATIVE(name)                                                                               \
    static JSValueRef name(JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t argc,  \
        const JSValueRef argv[], JSValueRef *exception)

/* In a NATIVE that needs them not. */
#define NATIVE_UNUSED                                                                              \
    (void)function;                                                                                \
    (void)self;                                                                                    \
    (void)exception

struct native_row {
    const char *name;
    JSObjectCallAsFunctionCallback function;
};

/* Makes an object of functions and puts it into another one. */
void native_add_object(JSContextRef ctx, JSObjectRef into, const char *name,
    const struct native_row *rows, size_t count);

/* An argument as a whole number; otherwise when it is missing, not a number or out of range. */
int64_t native_integer(
    JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t index, int64_t otherwise);

/* The bytes [offset, offset + len) of a typed array, given as three arguments from index on; NULL
 * when they do not lie in it. */
char *native_bytes(
    JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t index, size_t *ret_len);

/* A string of bytes that need not be UTF-8: what is not becomes U+FFFD. */
JSValueRef native_text(JSContextRef ctx, const char *bytes, size_t len);

#endif
