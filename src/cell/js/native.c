/* native.c - see native.h. */
#include "cell/js/native.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "cell/js/context.h"

void native_add_object(JSContextRef ctx, JSObjectRef into, const char *name,
    const struct native_row *rows, size_t count)
{
    JSObjectRef object = JSObjectMake(ctx, NULL, NULL);
    JSStringRef string = JSStringCreateWithUTF8CString(name);
    size_t i;

    JSObjectSetProperty(ctx, into, string, object, kJSPropertyAttributeNone, NULL);
    JSStringRelease(string);
    for (i = 0; i < count; i++) {
        string = JSStringCreateWithUTF8CString(rows[i].name);
        JSObjectSetProperty(ctx, object, string,
            JSObjectMakeFunctionWithCallback(ctx, string, rows[i].function),
            kJSPropertyAttributeNone, NULL);
        JSStringRelease(string);
    }
}

int64_t native_integer(
    JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t index, int64_t otherwise)
{
    double d;

    if (index >= argc || !JSValueIsNumber(ctx, argv[index])) {
        return otherwise;
    }
    d = JSValueToNumber(ctx, argv[index], NULL);
    /* Whole numbers are exact up to 2^53, which is more than any size or time here. */
    return fabs(d) <= 9007199254740992.0 ? (int64_t)d : otherwise;
}

char *native_bytes(
    JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t index, size_t *ret_len)
{
    int64_t offset = native_integer(ctx, argc, argv, index + 1, -1);
    int64_t len = native_integer(ctx, argc, argv, index + 2, -1);
    static char nothing[1];
    JSObjectRef object;
    size_t size;
    char *bytes;

    if (index >= argc || offset < 0 || len < 0 ||
        JSValueGetTypedArrayType(ctx, argv[index], NULL) == kJSTypedArrayTypeNone ||
        JSValueGetTypedArrayType(ctx, argv[index], NULL) == kJSTypedArrayTypeArrayBuffer) {
        return NULL;
    }
    object = JSValueToObject(ctx, argv[index], NULL);
    size = JSObjectGetTypedArrayByteLength(ctx, object, NULL);
    if ((uint64_t)offset > size || (uint64_t)len > size - (uint64_t)offset) {
        return NULL;
    }
    *ret_len = (size_t)len;
    if (len == 0) {
        return nothing;
    }
    bytes = JSObjectGetTypedArrayBytesPtr(ctx, object, NULL);
    return bytes != NULL
               ? bytes + JSObjectGetTypedArrayByteOffset(ctx, object, NULL) + (size_t)offset
               : NULL;
}

/* Copies with each broken sequence replaced. 0, or -1 without memory. */
static int mend(const char *bytes, size_t len, struct buf *out)
{
    size_t at = 0;
    int n, r = 0;

    while (at < len && r == 0) {
        n = utf8_sequence(bytes + at, len - at);
        r = n > 0 ? buf_add(out, bytes + at, (size_t)n, NULL)
                  : buf_add(out, "\xef\xbf\xbd", 3, NULL);
        at += (size_t)(n > 0 ? n : -n);
    }
    return r;
}

JSValueRef native_text(JSContextRef ctx, const char *bytes, size_t len)
{
    JSStringRef string;
    JSValueRef value;
    struct buf mended;

    buf_init(&mended, 3 * len + 1);
    if (mend(bytes, len, &mended) < 0 || buf_reserve(&mended, 1, NULL) < 0) {
        buf_release(&mended);
        return JSValueMakeNull(ctx);
    }
    mended.data[mended.len] = '\0';
    string = js_string_from_utf8(mended.data, mended.len);
    value = string != NULL ? JSValueMakeString(ctx, string) : JSValueMakeNull(ctx);
    if (string != NULL) {
        JSStringRelease(string);
    }
    buf_release(&mended);
    return value;
}
