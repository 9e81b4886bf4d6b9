/* excerpt_python.c - where statements of Python begin; see excerpt.h.
 *
 * A statement begins at a line that is not inside of brackets or a string, and whose indentation is
 * none, or in the body of a function or class that of the body's first line. */
#include <string.h>

#include "code/excerpt.h"

struct python_reader {
    const char *text;
    size_t len, at;
    uint32_t open; /* brackets */
    struct excerpt_marks *marks;
    int in_block;     /* the outermost statement is a function or class */
    size_t body_at;   /* where the indentation of its body is to be seen */
    size_t body_wide; /* how many bytes it has; 0: not known yet */
};

static int is_word(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word);
    char next = n < len ? text[n] : ' ';

    return len >= n && memcmp(text, word, n) == 0 &&
           !((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '_' ||
               (next >= '0' && next <= '9') || (unsigned char)next >= 0x80);
}

static int is_any(const char *text, size_t len, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (is_word(text, len, *words)) {
            return 1;
        }
    }
    return 0;
}

/* To the end of a string; the first quote is here. One on a line ends there at the latest. */
static void skip_string(struct python_reader *r)
{
    char quote = r->text[r->at];
    int is_long = r->len - r->at >= 3 && r->text[r->at + 1] == quote && r->text[r->at + 2] == quote;

    r->at += is_long ? 3 : 1;
    while (r->at < r->len) {
        char c = r->text[r->at];

        if (c == '\\' && r->at + 1 < r->len) {
            r->at++;
        } else if (!is_long && (c == quote || c == '\n')) {
            r->at += c == quote;
            return;
        } else if (is_long && c == quote && r->len - r->at >= 3 && r->text[r->at + 1] == quote &&
                   r->text[r->at + 2] == quote) {
            r->at += 3;
            return;
        }
        r->at++;
    }
}

/* To behind the end of the line on which a statement ends. */
static void skip_statement_line(struct python_reader *r)
{
    while (r->at < r->len) {
        char c = r->text[r->at];

        if (c == '"' || c == '\'') {
            skip_string(r);
            continue;
        }
        if (c == '#') {
            const char *end = memchr(r->text + r->at, '\n', r->len - r->at);

            r->at = end != NULL ? (size_t)(end - r->text) : r->len;
            continue;
        }
        r->open += c == '(' || c == '[' || c == '{';
        r->open -= r->open > 0 && (c == ')' || c == ']' || c == '}');
        r->at += c == '\\' && r->at + 1 < r->len ? 2 : 1;
        if (c == '\n' && r->open == 0) {
            return;
        }
    }
}

/* At the beginning of a line that is inside of nothing: does a statement begin here? */
static int mark_line(struct python_reader *r)
{
    static const char *const blocks[] = {"def", "class", "async", NULL};
    static const char *const clauses[] = {"else", "elif", "except", "finally", NULL};
    size_t first = r->at;
    size_t wide;
    const char *word;

    while (first < r->len && (r->text[first] == ' ' || r->text[first] == '\t')) {
        first++;
    }
    wide = first - r->at;
    word = r->text + first;
    if (first == r->len || *word == '\n' || *word == '\r' || *word == '#' ||
        is_any(word, r->len - first, clauses)) {
        return 0;
    }
    if (wide == 0) {
        r->in_block = is_any(word, r->len - first, blocks);
        r->body_wide = 0;
        return excerpt_mark(r->marks, r->at, 0);
    }
    if (r->in_block && r->body_wide == 0) {
        r->body_at = r->at;
        r->body_wide = wide;
    }
    if (r->in_block && wide == r->body_wide &&
        memcmp(r->text + r->at, r->text + r->body_at, wide) == 0) {
        return excerpt_mark(r->marks, r->at, 1);
    }
    return 0;
}

int excerpt_make_python(
    const char *text, size_t len, const uint32_t *places, size_t places_count, struct excerpt *ret)
{
    struct excerpt_marks marks;
    struct python_reader r = {.text = text, .len = len, .marks = &marks};

    if (len > EXCERPT_BYTES_MAX) {
        return -1;
    }
    marks.count = 0;
    marks.keeps_first = 1;
    marks.keeps_last = 0;
    while (r.at < len) {
        if (mark_line(&r) < 0) {
            return -1;
        }
        skip_statement_line(&r);
    }
    return excerpt_pick(&marks, text, len, places, places_count, ret);
}
