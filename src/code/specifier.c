/* specifier.c - see specifier.h. */
#include "code/specifier.h"

#include <string.h>

#include "base/utf8.h"

static const char NODE[] = "node:";

/* The length of a URL's scheme with its colon, or 0. */
static size_t scheme_len(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        int letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (c == ':') {
            return i > 0 ? i + 1 : 0;
        }
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'))) {
            return 0;
        }
    }
    return 0;
}

static int is_builtin(const char *text, size_t len)
{
    return len >= sizeof(NODE) - 1 && memcmp(text, NODE, sizeof(NODE) - 1) == 0;
}

static const char *check_characters(const char *text, size_t len)
{
    if (len == 0) {
        return "is empty";
    }
    if (len > SPECIFIER_BYTES_MAX) {
        return "is longer than 1024 bytes";
    }
    if (!utf8_valid(text, len, NULL)) {
        return "is not UTF-8";
    }
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < 0x20 || c == 0x7f) {
            return "has a control character in it";
        }
        if (c == '\\') {
            return "has a backslash in it";
        }
    }
    return NULL;
}

static const char *check_place(const char *text, size_t len)
{
    if (text[0] == '/') {
        return "is an absolute path, and there are no files behind modules";
    }
    if (scheme_len(text, len) > 0 && !is_builtin(text, len)) {
        return "is a URL, and modules come with the run and from nowhere else";
    }
    if (text[0] == '#') {
        return "begins with #, and there is no package whose own names these could be";
    }
    return NULL;
}

/* Adds the segments of text to out, which ends in a slash or is empty. */
static const char *add_segments(const char *text, size_t len, struct buf *out)
{
    size_t start = 0;
    size_t added = 0;

    for (size_t i = 0; i <= len; i++) {
        size_t n = i - start;

        if (i < len && text[i] != '/') {
            continue;
        }
        if (n == 2 && memcmp(text + start, "..", 2) == 0) {
            return "has .. in it, and a module can only be asked for from its folder downwards";
        }
        if (n == 0) {
            return i == len ? "names a folder" : "has an empty part in it";
        }
        if (n != 1 || text[start] != '.') {
            if ((added > 0 && buf_add(out, "/", 1, NULL) < 0) ||
                buf_add(out, text + start, n, NULL) < 0) {
                return "is too long";
            }
            added += n;
        } else if (i == len) {
            return "names a folder";
        }
        start = i + 1;
    }
    return out->len > SPECIFIER_BYTES_MAX ? "is longer than 1024 bytes" : NULL;
}

/* Adds the folder of the referrer: all up to its last slash, or the root. */
static const char *add_folder(const char *referrer, size_t len, struct buf *out)
{
    while (referrer != NULL && len > 0 && referrer[len - 1] != '/') {
        len--;
    }
    if (referrer == NULL || len == 0) {
        referrer = "./";
        len = 2;
    }
    return buf_add(out, referrer, len, NULL) < 0 ? "is too long" : NULL;
}

static const char *resolve(
    const char *specifier, size_t len, const char *referrer, size_t referrer_len, struct buf *out)
{
    const char *why = check_characters(specifier, len);

    why = why != NULL ? why : check_place(specifier, len);
    if (why != NULL) {
        return why;
    }
    if (specifier[0] == '.' && (len == 1 || specifier[1] == '/')) {
        why = add_folder(referrer, referrer_len, out);
    }
    return why != NULL ? why : add_segments(specifier, len, out);
}

const char *specifier_resolve(
    const char *specifier, size_t len, const char *referrer, size_t referrer_len, struct buf *out)
{
    size_t before = out->len;
    const char *why = resolve(specifier, len, referrer, referrer_len, out);

    if (why != NULL) {
        out->len = before;
    }
    return why;
}

const char *specifier_resolve_own(const char *specifier, size_t len, struct buf *out)
{
    if (is_builtin(specifier, len)) {
        return "begins with node:, which are the names of built-in modules";
    }
    return specifier_resolve(specifier, len, NULL, 0, out);
}
