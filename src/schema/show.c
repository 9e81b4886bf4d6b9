/* show.c - see show.h. */
#include "schema/show.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum {
    END_BYTES = 5, /* three dots, the quote and the NUL */
    SEQUENCE_BYTES_MAX = 6,
};

/* What stands for the sequence at p; its length there, and in *ret_len here. */
static size_t put_sequence(const char *p, size_t len, char *out, size_t *ret_len)
{
    unsigned char c = (unsigned char)*p;
    int n = utf8_sequence(p, len);

    if (n < 0) {
        memcpy(out, "\xef\xbf\xbd", 3);
        *ret_len = 3;
        return (size_t)-n;
    }
    if (c == '"' || c == '\\') {
        out[0] = '\\';
        out[1] = (char)c;
        *ret_len = 2;
        return 1;
    }
    if (c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)p[1] < 0xa0)) {
        (void)snprintf(out, SEQUENCE_BYTES_MAX + 1, "\\u%04x",
            (unsigned)(c == 0xc2 ? (unsigned char)p[1] : c));
        *ret_len = 6;
        return (size_t)n;
    }
    memcpy(out, p, (size_t)n);
    *ret_len = (size_t)n;
    return (size_t)n;
}

const char *show_text(struct show *s, const char *bytes, size_t len)
{
    char sequence[SEQUENCE_BYTES_MAX + 1];
    size_t at = 0, n, used = 0, took;

    s->text[used++] = '"';
    while (at < len) {
        took = put_sequence(bytes + at, len - at, sequence, &n);
        if (used + n + END_BYTES > sizeof(s->text)) {
            memcpy(s->text + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(s->text + used, sequence, n);
        used += n;
        at += took;
    }
    s->text[used++] = '"';
    s->text[used] = '\0';
    return s->text;
}

const char *show_value(struct show *s, const struct tree_value *v)
{
    if (v->kind == TREE_STRING) {
        return show_text(s, v->text, v->len);
    }
    if (v->kind == TREE_ARRAY || v->kind == TREE_OBJECT) {
        (void)snprintf(s->text, sizeof(s->text), "%s", show_kind(v));
    } else if (v->len < 40) {
        (void)snprintf(s->text, sizeof(s->text), "%.*s", (int)v->len, v->text);
    } else {
        (void)snprintf(s->text, sizeof(s->text), "%.36s...", v->text); /* a number of many digits */
    }
    return s->text;
}

const char *show_kind(const struct tree_value *v)
{
    static const char *const names[] = {[TREE_NULL] = "null",
        [TREE_FALSE] = "a boolean",
        [TREE_TRUE] = "a boolean",
        [TREE_NUMBER] = "a number",
        [TREE_STRING] = "a string",
        [TREE_ARRAY] = "an array",
        [TREE_OBJECT] = "an object"};

    return names[v->kind];
}
