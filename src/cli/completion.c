/* completion.c - see completion.h. */
#include "cli/completion.h"

#include <string.h>

static int is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.';
}

size_t completion_start(const char *line, size_t cursor)
{
    size_t start = cursor;

    while (start > 0 && is_name_byte(line[start - 1])) {
        start--;
    }
    /* Names with other letters would be cut in the middle; and behind a bracket or a quote, as in
     * `f().`, is something that no name leads to. */
    if (start > 0 && start < cursor &&
        ((unsigned char)line[start - 1] >= 0x80 || line[start] == '.')) {
        return cursor;
    }
    return start;
}

int completion_add(struct buf *words, const char *word)
{
    return buf_add(words, word, strlen(word) + 1, NULL);
}

int completion_take(const char *json, struct buf *words)
{
    const char *open = strchr(json, '"');
    const char *close, *p;
    int r = 0;

    for (; open != NULL && r == 0; open = strchr(close + 1, '"')) {
        close = strchr(open + 1, '"');
        if (close == NULL || close[-1] == '\\') { /* no plain name, and where it ends is unclear */
            break;
        }
        for (p = open + 1; p < close && is_name_byte(*p); p++) {
        }
        if (p == close && close > open + 1 && words->len < COMPLETION_BYTES_MAX / 2) {
            r = buf_add(words, open + 1, (size_t)(close - open - 1), NULL);
            r = r < 0 ? r : buf_add(words, "", 1, NULL);
        }
    }
    return r < 0 ? -1 : 0;
}

size_t completion_count(const struct buf *words)
{
    size_t i, n = 0;

    for (i = 0; i < words->len; i++) {
        n += words->data[i] == '\0';
    }
    return n;
}

size_t completion_common(const struct buf *words)
{
    size_t common = words->len > 0 ? strlen(words->data) : 0;
    size_t at, i;

    for (at = 0; at < words->len; at += strlen(words->data + at) + 1) {
        for (i = 0; i < common && words->data[at + i] == words->data[i]; i++) {
        }
        common = i;
    }
    return common;
}
