/* literal.c - see literal.h. */
#include "code/literal.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Exactly count digits; how many bytes they are, or 0. */
static size_t take_hex(const char *p, const char *end, size_t count, uint32_t *ret)
{
    uint32_t v = 0;

    if ((size_t)(end - p) < count) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (hex_digit(p[i]) < 0) {
            return 0;
        }
        v = v * 16 + (uint32_t)hex_digit(p[i]);
    }
    *ret = v;
    return count;
}

/* What follows `\u`: four digits, or any number of them in braces. Its bytes, or 0. */
static size_t take_unicode(const char *p, const char *end, uint32_t *ret)
{
    uint32_t v = 0;
    size_t i = 1;

    if (p == end || *p != '{') {
        return take_hex(p, end, 4, ret);
    }
    while (p + i < end && p[i] != '}') {
        if (hex_digit(p[i]) < 0 || v > 0x10ffff) {
            return 0;
        }
        v = v * 16 + (uint32_t)hex_digit(p[i++]);
    }
    *ret = v;
    return p + i < end && i > 1 && v <= 0x10ffff ? i + 1 : 0;
}

/* A second half of a surrogate pair written as an escape; its bytes, or 0. */
static size_t take_low_half(const char *p, const char *end, uint32_t *character)
{
    uint32_t low = 0;
    size_t n;

    if (end - p < 2 || p[0] != '\\' || p[1] != 'u') {
        return 0;
    }
    n = take_unicode(p + 2, end, &low);
    if (n == 0 || low < 0xdc00 || low > 0xdfff) {
        return 0;
    }
    *character = 0x10000 + ((*character - 0xd800) << 10) + (low - 0xdc00);
    return n + 2;
}

static int add_character(struct buf *out, uint32_t c)
{
    char bytes[4];

    return buf_add(out, bytes, utf8_put(bytes, c), NULL);
}

/* The bytes of a line break, which a backslash takes out of a string, or 0. */
static size_t continued(const char *p, const char *end)
{
    if (*p == '\n') {
        return 1;
    }
    if (*p == '\r') {
        return end - p > 1 && p[1] == '\n' ? 2 : 1;
    }
    return end - p > 2 && (memcmp(p, "\xe2\x80\xa8", 3) == 0 || memcmp(p, "\xe2\x80\xa9", 3) == 0)
               ? 3
               : 0;
}

/* Adds the escape behind a backslash; its bytes, or 0 when there is no such escape. */
static size_t add_escape(const char *p, const char *end, struct buf *out)
{
    static const char letters[] = "bfnrtv";
    static const char meanings[] = "\b\f\n\r\t\v";
    const char *letter;
    uint32_t c = 0;
    size_t n;

    if (p == end) {
        return 0;
    }
    if (*p == 'x' || *p == 'u') {
        n = *p == 'x' ? take_hex(p + 1, end, 2, &c) : take_unicode(p + 1, end, &c);
        if (n == 0) {
            return 0;
        }
        n++;
        if (c >= 0xd800 && c < 0xdc00) {
            size_t more = take_low_half(p + n, end, &c);

            n = more > 0 ? n + more : 0;
        } else if (c >= 0xdc00 && c < 0xe000) {
            n = 0;
        }
        return n > 0 && add_character(out, c) == 0 ? n : 0;
    }
    if (*p >= '0' && *p <= '9') {
        int is_nul = *p == '0' && (p + 1 == end || p[1] < '0' || p[1] > '9');

        return is_nul && add_character(out, 0) == 0 ? 1 : 0;
    }
    n = continued(p, end);
    if (n > 0) {
        return n;
    }
    letter = strchr(letters, *p);
    c = letter != NULL && *p != '\0' ? (unsigned char)meanings[letter - letters]
                                     : (unsigned char)*p;
    /* Of a character of several bytes the rest follows as it is. */
    return buf_add(out, &(char){(char)c}, 1, NULL) == 0 ? 1 : 0;
}

int literal_decode(const char *text, size_t len, struct buf *out)
{
    const char *end = text + len;
    size_t before = out->len;
    size_t n;

    while (text < end) {
        const char *escape = memchr(text, '\\', (size_t)(end - text));
        const char *stop = escape != NULL ? escape : end;

        if (buf_add(out, text, (size_t)(stop - text), NULL) < 0) {
            out->len = before;
            return -1;
        }
        text = stop;
        if (escape != NULL) {
            n = add_escape(escape + 1, end, out);
            if (n == 0) {
                out->len = before;
                return -1;
            }
            text = escape + 1 + n;
        }
    }
    return 0;
}
