/* incomplete_python.c - whether Python that is typed in line by line needs more; see incomplete.h.
 */
#include <string.h>

#include "code/incomplete.h"

/* Where the reading is. */
struct reader {
    const char *at, *end;
    unsigned open;     /* brackets */
    int in_block;      /* a line that begins at the margin opened a block, or is a decorator */
    int colon_last;    /* the last sign of the line is a colon */
    int at_margin;     /* nothing of the line has been read */
    int joined;        /* the line before ended in a backslash */
    int is_unfinished; /* in the middle of a string over several lines */
};

/* Reads a string whose quote is at the present place. One that ends with its line is wrong, and so
 * the engine's to speak about. */
static void read_string(struct reader *r)
{
    char quote = *r->at;
    size_t width = r->end - r->at >= 3 && r->at[1] == quote && r->at[2] == quote ? 3 : 1;

    for (r->at += width; r->at < r->end; r->at++) {
        if (*r->at == '\\') {
            r->at += r->end - r->at > 1;
        } else if (*r->at == '\n' && width == 1) {
            return;
        } else if (*r->at == quote && (width == 1 || (r->end - r->at >= 3 && r->at[1] == quote &&
                                                         r->at[2] == quote))) {
            r->at += width;
            return;
        }
    }
    r->is_unfinished = width == 3;
}

static void read_line_end(struct reader *r)
{
    if (r->open == 0 && r->colon_last) {
        r->in_block = 1;
    }
    r->colon_last = r->open == 0 ? 0 : r->colon_last;
    r->at_margin = 1;
    r->at++;
}

static void read_sign(struct reader *r)
{
    char c = *r->at;

    if (c == '@' && r->at_margin && r->open == 0) {
        r->in_block = 1;
    }
    if (strchr("([{", c) != NULL) {
        r->open += r->open < INCOMPLETE_NESTING_MAX;
    } else if (strchr(")]}", c) != NULL) {
        r->open -= r->open > 0;
    }
    r->colon_last = c == ':' && r->open == 0;
    r->at_margin = 0;
    r->at++;
}

static struct reader read_source(const char *source, size_t len)
{
    struct reader r = {.at = source, .end = source + len, .at_margin = 1};

    while (r.at < r.end) {
        r.joined = 0;
        if (*r.at == '#') {
            while (r.at < r.end && *r.at != '\n') {
                r.at++;
            }
        } else if (*r.at == '"' || *r.at == '\'') {
            r.colon_last = r.at_margin = 0;
            read_string(&r);
        } else if (*r.at == '\n') {
            read_line_end(&r);
        } else if (*r.at == '\\') {
            r.joined = r.end - r.at <= 2; /* the last thing there is, but for the end of the line */
            r.at += r.end - r.at > 1 ? 2 : 1;
        } else if (*r.at == ' ' || *r.at == '\t' || *r.at == '\r') {
            r.at++;
        } else {
            read_sign(&r);
        }
    }
    return r;
}

int python_is_incomplete(const char *source, size_t len)
{
    struct reader r = read_source(source, len);
    size_t blank = 0;

    if (r.is_unfinished || r.open > 0 || r.joined || r.colon_last) {
        return 1;
    }
    if (!r.in_block) {
        return 0;
    }
    while (len > 0 && strchr(" \t\r\n", source[len - 1]) != NULL) { /* an empty line ends a block */
        len--;
        blank += source[len] == '\n';
    }
    return blank < 2 || (len > 0 && source[len - 1] == ':'); /* but not one that has not begun */
}

/* Does the last line begin with this sign? */
static int last_line_begins_with(const char *source, size_t len, char sign)
{
    while (len > 0 && source[len - 1] == '\n') {
        len--;
    }
    while (len > 0 && source[len - 1] != '\n') {
        len--;
    }
    return source[len] == sign;
}

int python_begins_anew(const char *source, size_t len, const char *line, size_t line_len)
{
    static const char *const PARTS[] = {"else", "elif", "except", "finally"};
    struct reader r;
    size_t i, n;

    if (len == 0 || line_len == 0 || strchr(" \t\r\n#", line[0]) != NULL) {
        return 0;
    }
    for (i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++) {
        n = strlen(PARTS[i]);
        if (line_len > n && memcmp(line, PARTS[i], n) == 0 && strchr(" \t:(*", line[n]) != NULL) {
            return 0;
        }
    }
    r = read_source(source, len);
    return r.in_block && !r.is_unfinished && r.open == 0 && !r.joined && !r.colon_last &&
           !last_line_begins_with(source, len, '@');
}
