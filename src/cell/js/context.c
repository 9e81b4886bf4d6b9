/* context.c - see context.h. */
#include "cell/js/context.h"

#include <string.h>

#include "base/clock.h"
#include "cell/clock.h"
#include "cell/guest.h"
#include "cell/js/display.h"
#include "cell/js/files.h"
#include "cell/js/modules.h"
#include "cell/js/prelude.h"
#include "cell/js/process.h"
#include "cell/js/surface.h"
#include "cell/js/tools.h"

enum { OUTPUT_KEEP_BYTES = 65536 }; /* a larger buffer is given back after the piece is sent */

static const char *const HOOK_NAMES[HOOK_COUNT] = {"start", "enter", "completed", "turn", "state",
    "failure", "pending", "unhandled", "value", "decode", "text", "describe", "warm", "exit",
    "modules", "main", "tool", "answer", "evaluate", "globals", "call", "release", "complete",
    "repair", "net", "fresh"};

static JSValueRef native_write(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    static struct buf text = {.max = SIZE_MAX / 4};
    JSStringRef string;

    (void)function;
    (void)self;
    if (argc < 2) {
        return JSValueMakeUndefined(ctx);
    }
    string = JSValueToStringCopy(ctx, argv[1], exception);
    if (string == NULL) {
        return JSValueMakeUndefined(ctx);
    }
    if (js_string_to_utf8(string, &text) == 0 && text.len > 0) {
        cell_output((int)JSValueToNumber(ctx, argv[0], NULL), text.data, text.len);
    }
    JSStringRelease(string);
    buf_clear(&text);
    if (text.capacity > OUTPUT_KEEP_BYTES) {
        buf_release(&text);
    }
    return JSValueMakeUndefined(ctx);
}

static JSValueRef native_now(JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t argc,
    const JSValueRef argv[], JSValueRef *exception)
{
    (void)function;
    (void)self;
    (void)argc;
    (void)argv;
    (void)exception;
    return JSValueMakeNumber(ctx, (double)clock_now_us() / 1000);
}

/* Does the time that the program sees stand still? */
static JSValueRef native_stands(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    (void)function;
    (void)self;
    (void)argc;
    (void)argv;
    (void)exception;
    return JSValueMakeBoolean(ctx, clock_stands());
}

static JSValueRef native_proxy_target(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    JSObjectRef target = NULL;

    (void)function;
    (void)self;
    (void)exception;
    /* The global object is behind something that the engine takes for a proxy, and no guest does.
     */
    if (argc > 0 && JSValueIsObject(ctx, argv[0]) &&
        !JSValueIsStrictEqual(ctx, argv[0], JSContextGetGlobalObject(ctx))) {
        target = JSObjectGetProxyTarget(JSValueToObject(ctx, argv[0], NULL));
    }
    return target != NULL ? (JSValueRef)target : JSValueMakeNull(ctx);
}

static void add_native(
    JSContextRef ctx, JSObjectRef object, const char *name, JSObjectCallAsFunctionCallback function)
{
    JSStringRef string = JSStringCreateWithUTF8CString(name);

    JSObjectSetProperty(ctx, object, string,
        JSObjectMakeFunctionWithCallback(ctx, string, function), kJSPropertyAttributeNone, NULL);
    JSStringRelease(string);
}

static JSObjectRef evaluate_prelude(JSGlobalContextRef ctx, const char **ret_why)
{
    JSStringRef source = JSStringCreateWithUTF8CString(PRELUDE);
    JSStringRef url = JSStringCreateWithUTF8CString("vial:/prelude");
    JSStringRef name = JSStringCreateWithUTF8CString("hooks");
    JSObjectRef native = JSObjectMake(ctx, NULL, NULL);
    JSValueRef hooks, exception = NULL;
    static char why[512];

    add_native(ctx, native, "write", native_write);
    add_native(ctx, native, "now", native_now);
    add_native(ctx, native, "stands", native_stands);
    add_native(ctx, native, "proxyTarget", native_proxy_target);
    js_display_add(ctx, native);
    js_files_add(ctx, native);
    js_modules_add(ctx, native);
    js_process_add(ctx, native);
    js_tools_add(ctx, native);
    *ret_why = "the prelude gave no hooks";
    hooks = surface_add_natives(ctx, native, ret_why) < 0
                ? NULL
                : JSEvaluateScript(ctx, source, native, url, 1, &exception);
    if (hooks != NULL) { /* the prelude has left them there */
        hooks = JSObjectGetProperty(ctx, native, name, NULL);
    }
    JSStringRelease(source);
    JSStringRelease(url);
    JSStringRelease(name);
    if (hooks == NULL || !JSValueIsObject(ctx, hooks)) {
        JSStringRef text = exception != NULL ? JSValueToStringCopy(ctx, exception, NULL) : NULL;

        if (text != NULL) {
            (void)JSStringGetUTF8CString(text, why, sizeof(why));
            JSStringRelease(text);
            *ret_why = why;
        }
        return NULL;
    }
    return JSValueToObject(ctx, hooks, NULL);
}

int js_context_init(struct js_context *c, JSContextGroupRef group, const char **ret_why)
{
    JSObjectRef hooks;
    JSValueRef value;
    JSStringRef name;
    size_t i;

    c->ctx = JSGlobalContextCreateInGroup(group, NULL);
    hooks = evaluate_prelude(c->ctx, ret_why);
    if (hooks == NULL) {
        return -1;
    }
    JSValueProtect(c->ctx, hooks);
    for (i = 0; i < HOOK_COUNT; i++) {
        name = JSStringCreateWithUTF8CString(HOOK_NAMES[i]);
        value = JSObjectGetProperty(c->ctx, hooks, name, NULL);
        JSStringRelease(name);
        if (value == NULL || !JSValueIsObject(c->ctx, value)) {
            *ret_why = HOOK_NAMES[i];
            return -1;
        }
        c->hooks[i] = JSValueToObject(c->ctx, value, NULL);
        JSValueProtect(c->ctx, c->hooks[i]);
    }
    JSGlobalContextSetUnhandledRejectionCallback(c->ctx, c->hooks[HOOK_UNHANDLED], NULL);
    return 0;
}

JSValueRef js_context_call(struct js_context *c, enum js_hook hook, size_t argc,
    const JSValueRef argv[], JSValueRef *ret_exception)
{
    *ret_exception = NULL;
    return JSObjectCallAsFunction(c->ctx, c->hooks[hook], NULL, argc, argv, ret_exception);
}
