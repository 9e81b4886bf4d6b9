/* display.c - see display.h. */
#include "cell/js/display.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cell/artifacts.h"
#include "cell/js/context.h"
#include "cell/js/native.h"
#include "wire/field.h"

/* Adds a string as UTF-8. */
static void add_text(JSContextRef ctx, JSValueRef value, struct buf *out)
{
    JSStringRef text = JSValueToStringCopy(ctx, value, NULL);

    buf_init(out, SIZE_MAX / 4);
    if (text == NULL || js_string_to_utf8(text, out) < 0) {
        _exit(1); /* no memory */
    }
    JSStringRelease(text);
}

/* (name, type, content, type, content, ...): a content is a string or a Uint8Array. What is wrong
 * with it, or undefined when it was sent. */
NATIVE(display)
{
    struct artifact_part parts[ARTIFACT_PARTS_MAX] = {{.mime = NULL}};
    struct buf texts[2 * ARTIFACT_PARTS_MAX + 1] = {{.data = NULL}};
    unsigned count = argc > 0 ? (unsigned)((argc - 1) / 2) : 0;
    JSValueRef said = JSValueMakeUndefined(ctx);
    const char *why = "";
    char *bytes;
    unsigned i;

    NATIVE_UNUSED;
    if (argc > 0) {
        add_text(ctx, argv[0], &texts[0]);
    }
    for (i = 0; i < count && i < ARTIFACT_PARTS_MAX; i++) {
        struct buf *mime = &texts[2 * i + 1], *text = &texts[2 * i + 2];
        JSValueRef content = argv[2 * i + 2];

        add_text(ctx, argv[2 * i + 1], mime);
        parts[i].mime = mime->len > 0 ? mime->data : "";
        parts[i].mime_len = mime->len;
        if (JSValueIsObject(ctx, content) && js_bytes(ctx, content, &bytes, &parts[i].len) == 0) {
            parts[i].bytes = bytes;
        } else {
            add_text(ctx, content, text);
            parts[i].bytes = text->data;
            parts[i].len = text->len;
        }
    }
    if (cell_artifact(texts[0].data, texts[0].len, parts, count, &why) < 0) {
        said = native_text(ctx, why, strlen(why));
    }
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        buf_release(&texts[i]);
    }
    return said;
}

void js_display_add(JSContextRef ctx, JSObjectRef native)
{
    JSStringRef name = JSStringCreateWithUTF8CString("display");

    JSObjectSetProperty(ctx, native, name, JSObjectMakeFunctionWithCallback(ctx, name, display),
        kJSPropertyAttributeNone, NULL);
    JSStringRelease(name);
}
