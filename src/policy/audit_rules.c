/* audit_rules.c - see audit_rules.h.
 *
 * The value is checked to be JSON first, so the walk over its tokens needs neither a tree nor a
 * stack: a string is a name when a colon follows it, and the value behind that ends where its
 * brackets do. */
#include "policy/audit_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

enum {
    DEPTH_MAX = 1000,     /* as the audit takes it */
    NAME_BYTES_MAX = 256, /* of a name that is compared; a longer one counts as matched */
};

void audit_rules_release(struct audit_rules *rules)
{
    size_t i;

    for (i = 0; i < rules->redact_count; i++) {
        free(rules->redact[i]);
    }
    free(rules->redact);
    *rules = (struct audit_rules){.code = 0};
}

const char *audit_redact_fault(const char *pattern, size_t len)
{
    if (len == 0 || len > AUDIT_REDACT_BYTES_MAX) {
        return "has 1 to 64 bytes";
    }
    return utf8_valid(pattern, len, NULL) ? NULL : "is no UTF-8";
}

/* ---- names ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* * is any number of bytes, ? one. Time in proportion to the product of both lengths at most. */
static int match(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL;

    while (*name != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            from = name;
        } else if (*pattern == '?' || (*pattern != '\0' && lower(*pattern) == lower(*name))) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = ++from;
        } else {
            return 0;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

static unsigned hex_digit(char c)
{
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : (unsigned)(lower(c) - 'a' + 10);
}

/* The name that the string between its quotes stands for: "\u0070assword" is password. Lone
 * surrogates and NUL become U+FFFD. 0, or -1 when it is too long to be compared. */
static int decode(const char *p, const char *end, char ret[NAME_BYTES_MAX + 8])
{
    static const char escapes[] = "bfnrt\"\\/", meant[] = "\b\f\n\r\t\"\\/";
    size_t len = 0;

    for (; p < end; p++) {
        uint32_t c;

        if (len > NAME_BYTES_MAX) {
            return -1;
        }
        if (*p != '\\') {
            ret[len++] = *p;
        } else if (*++p != 'u') {
            ret[len++] = meant[strchr(escapes, *p) - escapes];
        } else {
            c = hex_digit(p[1]) << 12 | hex_digit(p[2]) << 8 | hex_digit(p[3]) << 4 |
                hex_digit(p[4]);
            p += 4;
            len += utf8_put(ret + len, c == 0 || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
        }
    }
    ret[len] = '\0';
    return 0;
}

static int is_redacted(const struct audit_rules *rules, const char *p, const char *end)
{
    char name[NAME_BYTES_MAX + 8];
    size_t i;

    if (rules->redact_count == 0) {
        return 0;
    }
    if (decode(p, end, name) < 0) {
        return 1;
    }
    for (i = 0; i < rules->redact_count; i++) {
        if (match(rules->redact[i], name)) {
            return 1;
        }
    }
    return 0;
}

/* ---- tokens of what is known to be JSON ---- */

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) {
        p++;
    }
    return p;
}

/* Behind the string that begins here. */
static const char *skip_string(const char *p)
{
    for (p++; *p != '"'; p++) {
        p += *p == '\\';
    }
    return p + 1;
}

/* Behind the value that begins here. */
static const char *skip_value(const char *p, const char *end)
{
    unsigned depth = 0;

    do {
        if (*p == '"') {
            p = skip_string(p);
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            depth--;
            p++;
        } else {
            p++;
            while (depth == 0 && p < end && strchr(",}] \t\n\r", *p) == NULL) {
                p++; /* a number or a word */
            }
        }
    } while (depth > 0);
    return p;
}

/* More than fits is cut, when there is somebody to be told of it; else it is a failure. */
static int put(struct buf *out, const char *bytes, size_t n, int *is_cut, struct vial_error *err)
{
    if (is_cut != NULL && n > out->max - out->len) {
        *is_cut = 1;
        return VIAL_OK;
    }
    return buf_add(out, bytes, n, err);
}

static int walk(const struct audit_rules *rules, const char *p, const char *end, struct buf *out,
    int *is_cut, struct vial_error *err)
{
    static const char redacted[] = ":\"[redacted]\"";
    int r = VIAL_OK;

    for (p = skip_space(p, end); p < end && r == VIAL_OK && (is_cut == NULL || !*is_cut);
         p = skip_space(p, end)) {
        const char *from = p, *colon;

        if (*p != '"') {
            r = put(out, p++, 1, is_cut, err);
            continue;
        }
        p = skip_string(p);
        r = put(out, from, (size_t)(p - from), is_cut, err);
        colon = skip_space(p, end);
        if (r == VIAL_OK && colon < end && *colon == ':' && is_redacted(rules, from + 1, p - 1)) {
            r = put(out, redacted, sizeof(redacted) - 1, is_cut, err);
            p = skip_value(skip_space(colon + 1, end), end);
        }
    }
    return r;
}

int audit_redact(const struct audit_rules *rules, const char *json, size_t len, struct buf *out,
    struct vial_error *err)
{
    char cut[64];
    struct buf text;
    int is_cut = json_check(json, len, DEPTH_MAX, NULL) < 0;
    int r;

    buf_init(&text, AUDIT_VALUE_BYTES_MAX);
    r = is_cut ? VIAL_OK : walk(rules, json, json + len, &text, &is_cut, err);
    if (r == VIAL_OK && is_cut) {
        (void)snprintf(cut, sizeof(cut), "{\"cut\":true,\"bytes\":%zu}", len);
        r = buf_add_text(out, cut, err);
    } else if (r == VIAL_OK) {
        r = buf_add(out, text.data, text.len, err);
    }
    buf_release(&text);
    return r;
}

int audit_redact_whole(const struct audit_rules *rules, const char *json, size_t len,
    struct buf *out, struct vial_error *err)
{
    if (json_check(json, len, DEPTH_MAX, NULL) < 0) {
        return vial__fail(err, VIAL_E_INVALID, "what is to be redacted is not JSON");
    }
    return walk(rules, json, json + len, out, NULL, err);
}
