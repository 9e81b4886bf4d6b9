/* jsc.h - JavaScriptCore's C interface, and the few functions it exports without a header.
 *
 * meson.build checks that the library has each of these; a Debian update that drops one fails the
 * build and not a run. */
#ifndef VIAL_CELL_JS_JSC_H
#define VIAL_CELL_JS_JSC_H

#include <JavaScriptCore/JavaScript.h>

/* Calls the function with (promise, reason) for each rejection that nobody handled. */
extern void JSGlobalContextSetUnhandledRejectionCallback(
    JSGlobalContextRef context, JSObjectRef function, JSValueRef *exception);

/* The target of a Proxy, NULL for other objects. */
extern JSObjectRef JSObjectGetProxyTarget(JSObjectRef object);

/* A script whose text stays where it is, for as long as the process lives; NULL when it is not
 * valid.
 */
typedef struct OpaqueJSScript *JSScriptRef;
extern JSScriptRef JSScriptCreateReferencingImmortalASCIIText(JSContextGroupRef group,
    JSStringRef url, int line, const char *text, size_t len, JSStringRef *error, int *error_line);
extern JSValueRef JSScriptEvaluate(
    JSContextRef context, JSScriptRef script, JSValueRef self, JSValueRef *exception);
extern void JSScriptRelease(JSScriptRef script);

/* WTF::fastDisableScavenger: the allocator gives memory back from a thread of its own, and a cell
 * must be able to live without threads. Before the first use of the engine this keeps that thread
 * from ever being made. */
extern void jsc_disable_scavenger(void) __asm__("_ZN3WTF20fastDisableScavengerEv");

/* WTF::releaseFastMallocFreeMemoryForThisThread: the allocator goes through what this thread has
 * freed; NULL in a library without it. */
extern void jsc_settle_freed(void) __asm__("_ZN3WTF40releaseFastMallocFreeMemoryForThisThreadEv")
    __attribute__((weak));

#endif
