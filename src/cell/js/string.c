/* string.c - text and bytes between C and the engine; see context.h. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cell/js/context.h"
#include "cell/js/narrow.h"

enum { LONG_TEXT_UNITS = 256 };

/* Decodes one character of valid UTF-8 at *p and moves on. */
static uint32_t utf8_take(const unsigned char **p)
{
    const unsigned char *s = *p;
    uint32_t c = s[0];

    if (c < 0x80) {
        *p += 1;
        return c;
    }
    if (c < 0xe0) {
        *p += 2;
        return (c & 0x1f) << 6 | (s[1] & 0x3fU);
    }
    if (c < 0xf0) {
        *p += 3;
        return (c & 0x0f) << 12 | (s[1] & 0x3fU) << 6 | (s[2] & 0x3fU);
    }
    *p += 4;
    return (c & 0x07) << 18 | (s[1] & 0x3fU) << 12 | (s[2] & 0x3fU) << 6 | (s[3] & 0x3fU);
}

JSStringRef js_string_from_utf8(const char *bytes, size_t len)
{
    const unsigned char *p = (const unsigned char *)bytes;
    const unsigned char *end = p + len;
    JSStringRef string;
    JSChar *units;
    size_t n = 0;
    uint32_t c;

    string = len >= LONG_TEXT_UNITS && utf8_is_ascii(bytes, len) ? narrow_string(bytes, len) : NULL;
    if (string != NULL) {
        return string;
    }
    if (memchr(bytes, '\0', len) == NULL && bytes[len] == '\0') {
        return JSStringCreateWithUTF8CString(
            bytes); /* the engine's own way, which keeps ASCII narrow */
    }
    units = malloc((len + 1) * sizeof(*units));
    if (units == NULL) {
        return NULL;
    }
    while (p < end) { /* the host has checked that it is UTF-8 */
        c = utf8_take(&p);
        if (c >= 0x10000) {
            units[n++] = (JSChar)(0xd800 + ((c - 0x10000) >> 10));
            units[n++] = (JSChar)(0xdc00 + ((c - 0x10000) & 0x3ff));
        } else {
            units[n++] = (JSChar)c;
        }
    }
    string = JSStringCreateWithCharacters(units, n);
    free(units);
    return string;
}

/* Long text is nearly always ASCII, which the engine keeps in bytes: those are copied at the speed
 * of memory. So is the rest of what it keeps like that, but for the few characters that need two
 * bytes. 1: done. */
static int copy_narrow(JSStringRef string, size_t n, struct buf *out)
{
    const unsigned char *bytes = n >= LONG_TEXT_UNITS ? narrow_bytes(string) : NULL;
    size_t i, wide = 0;
    char *to;

    if (bytes == NULL) {
        return 0;
    }
    if (!utf8_is_ascii((const char *)bytes, n)) {
        for (i = 0; i < n; i++) {
            wide += bytes[i] >> 7;
        }
    }
    if (wide == 0) {
        return buf_add(out, bytes, n, NULL) == 0;
    }
    if (buf_reserve(out, n + wide, NULL) < 0) {
        return 0;
    }
    to = out->data + out->len;
    for (i = 0; i < n; i++) {
        if (bytes[i] < 0x80) {
            *to++ = (char)bytes[i];
        } else {
            *to++ = (char)(0xc0 | bytes[i] >> 6);
            *to++ = (char)(0x80 | (bytes[i] & 0x3f));
        }
    }
    *to = '\0';
    out->len += n + wide;
    return 1;
}

int js_string_to_utf8(JSStringRef string, struct buf *out)
{
    size_t n = JSStringGetLength(string);
    const JSChar *units;
    size_t i, need = 0;
    uint32_t c;

    if (copy_narrow(string, n, out)) {
        return 0;
    }
    units = JSStringGetCharactersPtr(string);
    if (units == NULL && n > 0) {
        return -1;
    }
    for (i = 0; i < n; i++) { /* an upper bound that is exact for ASCII */
        need += units[i] < 0x80 ? 1 : 3;
    }
    if (buf_reserve(out, need, NULL) < 0) {
        return -1;
    }
    for (i = 0; i < n; i++) {
        c = units[i];
        if (c >= 0xd800 && c < 0xdc00 && i + 1 < n && units[i + 1] >= 0xdc00 &&
            units[i + 1] < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (units[i + 1] - 0xdc00U);
            i++;
        } else if (c >= 0xd800 && c < 0xe000) {
            c = 0xfffd;
        }
        out->len += utf8_put(out->data + out->len, c);
    }
    if (out->data != NULL) {
        out->data[out->len] = '\0';
    }
    return 0;
}

int js_bytes(JSContextRef ctx, JSValueRef value, char **ret_bytes, size_t *ret_len)
{
    JSObjectRef object, buffer;

    if (JSValueGetTypedArrayType(ctx, value, NULL) != kJSTypedArrayTypeUint8Array) {
        return -1;
    }
    object = JSValueToObject(ctx, value, NULL);
    buffer = JSObjectGetTypedArrayBuffer(ctx, object, NULL);
    if (buffer == NULL) {
        return -1;
    }
    *ret_bytes = (char *)JSObjectGetArrayBufferBytesPtr(ctx, buffer, NULL);
    *ret_bytes += *ret_bytes != NULL ? JSObjectGetTypedArrayByteOffset(ctx, object, NULL) : 0;
    *ret_len = JSObjectGetTypedArrayByteLength(ctx, object, NULL);
    return 0;
}
