/* base64.c - see base64.h. */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The six bits of a character, or -1. */
static int digit(char c)
{
    const char *found = c != '\0' ? strchr(ALPHABET, c) : NULL;

    return found != NULL ? (int)(found - ALPHABET) : -1;
}

void base64_encode(const char *bytes, size_t len, char *out)
{
    const unsigned char *b = (const unsigned char *)bytes;
    uint32_t bits;
    size_t i;

    for (i = 0; i < len; i += 3) {
        bits = (uint32_t)b[i] << 16;
        bits |= i + 1 < len ? (uint32_t)b[i + 1] << 8 : 0;
        bits |= i + 2 < len ? b[i + 2] : 0;
        *out++ = ALPHABET[bits >> 18];
        *out++ = ALPHABET[bits >> 12 & 63];
        *out++ = i + 1 < len ? ALPHABET[bits >> 6 & 63] : '=';
        *out++ = i + 2 < len ? ALPHABET[bits & 63] : '=';
    }
}

const char *base64_decode(const char *text, size_t len, char *out, size_t *ret_len)
{
    size_t padding = 0, written = 0, i;
    uint32_t bits = 0;

    if (len % 4 != 0) {
        return "is not a multiple of four characters long";
    }
    while (padding < 2 && padding < len && text[len - 1 - padding] == '=') {
        padding++;
    }
    for (i = 0; i < len - padding; i++) {
        int d = digit(text[i]);

        if (d < 0) {
            return "has a character that is not one of A-Z a-z 0-9 + /";
        }
        bits = (bits << 6 | (uint32_t)d) & 0xffffffu;
        if (i % 4 != 0) { /* each but the first of four completes a byte */
            out[written++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xffu);
        }
    }
    if (padding > 0 && (bits & (padding == 1 ? 0x3u : 0xfu)) != 0) {
        return "has bits behind its last byte";
    }
    *ret_len = written;
    return NULL;
}
