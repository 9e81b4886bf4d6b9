/* utf8.c - see utf8.h.
 *
 * Nearly all text is ASCII, so the loop steps over eight such bytes at a time and looks closely
 * only at what is left. */
#include "base/utf8.h"

#include <assert.h>
#include <endian.h>
#include <stdint.h>
#include <string.h>

#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (c))

/* The bit 0x80 of every byte of v that is zero; also of some bytes above the first such byte. */
static uint64_t zero_bytes(uint64_t v)
{
    return (v - EACH_BYTE(0x01)) & ~v & EACH_BYTE(0x80);
}

/* 1 for a byte that stands for itself in a string: printable ASCII but for the quote and backslash.
 */
static int is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

int utf8_sequence(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    int need;
    int i;

    assert(len > 0);
    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] < 0xc2 || p[0] > 0xf4) {
        return -1; /* a stray continuation, an overlong lead of two bytes, or above U+10FFFF */
    }
    need = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] == 0xe0) {
        low = 0xa0; /* below: overlong */
    } else if (p[0] == 0xed) {
        high = 0x9f; /* above: surrogates */
    } else if (p[0] == 0xf0) {
        low = 0x90; /* below: overlong */
    } else if (p[0] == 0xf4) {
        high = 0x8f; /* above: beyond U+10FFFF */
    }
    for (i = 1; i < need; i++) {
        if ((size_t)i >= len || p[i] < low || p[i] > high) {
            return -i;
        }
        low = 0x80; /* only the second byte has narrower bounds */
        high = 0xbf;
    }
    return need;
}

int utf8_valid(const char *text, size_t len, size_t *ret_bad_offset)
{
    size_t at = 0;
    uint64_t word;
    int n;

    while (at < len) {
        if (len - at >= sizeof(word)) {
            memcpy(&word, text + at, sizeof(word));
            if ((word & EACH_BYTE(0x80)) == 0) {
                at += sizeof(word);
                continue;
            }
        }
        n = utf8_sequence(text + at, len - at);
        if (n < 0) {
            if (ret_bad_offset != NULL) {
                *ret_bad_offset = at;
            }
            return 0;
        }
        at += (size_t)n;
    }
    return 1;
}

/* The borrows and carries of the word arithmetic can mark a byte wrongly only above one that is
 * marked rightly, so the lowest mark is always true. */
size_t utf8_plain_run(const char *p, const char *end)
{
    const char *at = p;
    uint64_t word;
    uint64_t marks;

    while ((size_t)(end - at) >= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        word = le64toh(word);
        marks = ((word - EACH_BYTE(0x20)) & ~word) | word | (word + EACH_BYTE(0x01));
        marks &= EACH_BYTE(0x80);
        marks |= zero_bytes(word ^ EACH_BYTE('"')) | zero_bytes(word ^ EACH_BYTE('\\'));
        if (marks != 0) {
            return (size_t)(at - p) + (size_t)__builtin_ctzll(marks) / 8;
        }
        at += sizeof(word);
    }
    while (at < end && is_plain((unsigned char)*at)) {
        at++;
    }
    return (size_t)(at - p);
}

int utf8_is_ascii(const char *text, size_t len)
{
    uint64_t seen = 0;
    uint64_t word;
    size_t i = 0;

    for (; len - i >= sizeof(word); i += sizeof(word)) {
        memcpy(&word, text + i, sizeof(word));
        seen |= word;
    }
    for (; i < len; i++) {
        seen |= (unsigned char)text[i];
    }
    return (seen & EACH_BYTE(0x80)) == 0;
}

size_t utf8_put(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}
