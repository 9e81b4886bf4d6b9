/* excerpt_js.c - where statements of JavaScript begin; see excerpt.h.
 *
 * A statement begins at a line that is not inside of brackets, a string, a template or a comment,
 * or is directly in the body of an outermost function or class; that begins with a word; and that
 * comes behind a semicolon or a closing brace. What begins otherwise belongs to the one before. */
#include <string.h>

#include "code/excerpt.h"

enum { DEPTH_MAX = 200 }; /* brackets in brackets; who has more is read as a whole */

/* Brackets, by what ends them. */
enum { IN_ROUND = ')', IN_SQUARE = ']', IN_BRACE = '}', IN_TEMPLATE = '`' };

struct js_reader {
    const char *text;
    size_t len, at;
    char stack[DEPTH_MAX];
    uint32_t depth;
    char last;                /* the last sign or the end of the last word; 0: there was none */
    char before_last;         /* the sign before it, when there is nothing between */
    size_t word_at, word_len; /* the last word, when it is what came last */
    uint32_t body;            /* the depth of the body that statements are told apart in; 0: none */
    int had_body;             /* of the present outermost statement */
    int is_function;          /* the present outermost statement is one, or a class */
    int starts_round;         /* it begins with a bracket, as (async () => {...})() does */
    int is_line_start;        /* nothing of this line was seen but spaces */
    size_t line;              /* where it begins */
    struct excerpt_marks *marks;
};

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static int is_part(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static int is_any(const char *word, size_t len, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strlen(*words) == len && memcmp(*words, word, len) == 0) {
            return 1;
        }
    }
    return 0;
}

static void skip_string(struct js_reader *r)
{
    char quote = r->text[r->at++];

    while (r->at < r->len && r->text[r->at] != quote && r->text[r->at] != '\n') {
        r->at += r->text[r->at] == '\\' && r->at + 1 < r->len ? 2 : 1;
    }
    r->at += r->at < r->len && r->text[r->at] == quote;
    r->last = quote;
}

/* To behind the end of a template, or of the `${` in it. */
static int skip_template(struct js_reader *r)
{
    while (r->at < r->len) {
        char c = r->text[r->at];

        if (c == '`') {
            r->at++;
            r->last = '`';
            return 0;
        }
        if (c == '$' && r->at + 1 < r->len && r->text[r->at + 1] == '{') {
            r->at += 2;
            r->last = '{';
            if (r->depth == DEPTH_MAX) {
                return -1;
            }
            r->stack[r->depth++] = IN_TEMPLATE;
            return 0;
        }
        r->at += c == '\\' && r->at + 1 < r->len ? 2 : 1;
    }
    return 0;
}

static void skip_regex(struct js_reader *r)
{
    int in_class = 0;

    for (r->at++; r->at < r->len && r->text[r->at] != '\n'; r->at++) {
        char c = r->text[r->at];

        if (c == '\\' && r->at + 1 < r->len) {
            r->at++;
        } else if (c == '[' || c == ']') {
            in_class = c == '[';
        } else if (c == '/' && !in_class) {
            r->at++;
            break;
        }
    }
    r->last = ')'; /* as a value is */
}

/* A comment, an expression or a division. */
static void take_slash(struct js_reader *r)
{
    static const char *const words[] = {"return", "typeof", "case", "in", "of", "delete", "void",
        "throw", "new", "else", "do", "instanceof", "yield", "await", NULL};
    char next = r->at + 1 < r->len ? r->text[r->at + 1] : ' ';
    const char *end;

    if (next == '/') {
        end = memchr(r->text + r->at, '\n', r->len - r->at);
        r->at = end != NULL ? (size_t)(end - r->text) : r->len;
        return;
    }
    if (next == '*') {
        end = memmem(r->text + r->at + 2, r->len - r->at - 2, "*/", 2);
        r->at = end != NULL ? (size_t)(end - r->text) + 2 : r->len;
        return;
    }
    if (is_part(r->last) ? is_any(r->text + r->word_at, r->word_len, words)
                         : r->last != ')' && r->last != ']' && r->last != '}' && r->last != '"' &&
                               r->last != '\'' && r->last != '`') {
        skip_regex(r);
        return;
    }
    r->at++;
    r->last = '/';
}

/* Does a statement begin with the word at the start of this line? */
static int begins_here(const struct js_reader *r, const char *word, size_t len)
{
    static const char *const others[] = {
        "else", "catch", "finally", "instanceof", "in", "of", "while", "as", "from", NULL};

    if (r->depth != 0 && r->depth != r->body) {
        return 0;
    }
    return r->last == 0 || r->last == ';' || (r->last == '}' && !is_any(word, len, others)) ||
           (r->last == '{' && r->depth == r->body && r->depth > 0);
}

/* A statement begins at this line. */
static int begin(struct js_reader *r, int is_function)
{
    if (r->depth == 0) {
        r->had_body = 0;
        r->body = 0;
        r->starts_round = 0;
        r->is_function = is_function;
    }
    return excerpt_mark(r->marks, r->line, r->depth > 0);
}

static int take_word(struct js_reader *r)
{
    static const char *const functions[] = {"function", "async", "class", "export", NULL};
    size_t start = r->at;
    int code = 0;

    while (r->at < r->len && is_part(r->text[r->at])) {
        r->at++;
    }
    r->word_at = start;
    r->word_len = r->at - start;
    if (r->is_line_start && begins_here(r, r->text + start, r->word_len)) {
        code = begin(r, is_any(r->text + start, r->word_len, functions));
    }
    r->last = r->text[r->at - 1];
    return code;
}

/* An opening bracket: is it the body of an outermost function or class? */
static int open_bracket(struct js_reader *r, char c)
{
    int is_arrow = r->last == '>' && r->before_last == '=';
    int is_body = c == '{' && !r->had_body && r->depth <= (r->starts_round ? 1U : 0U) &&
                  (is_arrow || r->is_function);

    if (r->depth == DEPTH_MAX) {
        return -1;
    }
    if (c == '(' && r->depth == 0 && r->is_line_start && (r->last == 0 || r->last == ';')) {
        if (begin(r, 0) < 0) {
            return -1;
        }
        r->starts_round = 1;
    }
    r->stack[r->depth++] = (char)(c == '(' ? IN_ROUND : c == '[' ? IN_SQUARE : IN_BRACE);
    if (is_body && r->marks->count > 0) {
        r->body = r->depth;
        r->had_body = 1;
    }
    return 0;
}

static int close_bracket(struct js_reader *r, char c)
{
    char top = r->depth > 0 ? r->stack[r->depth - 1] : '\0';

    if (top == IN_TEMPLATE ? c != '}' : top != c) {
        return -1; /* something was not understood */
    }
    if (r->body == r->depth) {
        r->body = 0;
        if (excerpt_mark(r->marks, r->at, 1) < 0) {
            return -1;
        }
    }
    r->depth--;
    return 0;
}

/* A sign. */
static int take_sign(struct js_reader *r)
{
    char c = r->text[r->at];
    char top;

    if (c == '(' || c == '[' || c == '{') {
        if (open_bracket(r, c) < 0) {
            return -1;
        }
    } else if (c == ')' || c == ']' || c == '}') {
        top = r->depth > 0 ? r->stack[r->depth - 1] : '\0';
        if (close_bracket(r, c) < 0) {
            return -1;
        }
        if (top == IN_TEMPLATE) {
            r->at++;
            return skip_template(r);
        }
    }
    r->before_last = r->last;
    r->last = c;
    r->at++;
    return 0;
}

static int take_one(struct js_reader *r)
{
    char c = r->text[r->at];
    int code = 0;

    if (c == '\n') {
        r->at++;
        r->line = r->at;
        r->is_line_start = 1;
        return 0;
    }
    if (c == ' ' || c == '\t' || c == '\r') {
        r->at++;
        return 0;
    }
    if (c == '/') {
        take_slash(r); /* a comment leaves the line as it is */
        return 0;
    }
    if (is_part(c)) {
        code = take_word(r);
    } else if (c == '"' || c == '\'') {
        skip_string(r);
    } else if (c == '`') {
        r->at++;
        code = skip_template(r);
    } else {
        code = take_sign(r);
    }
    r->is_line_start = 0;
    return code;
}

int excerpt_make_js(
    const char *text, size_t len, const uint32_t *places, size_t places_count, struct excerpt *ret)
{
    struct excerpt_marks marks;
    struct js_reader r = {.text = text, .len = len, .marks = &marks, .is_line_start = 1};

    if (len > EXCERPT_BYTES_MAX) {
        return -1;
    }
    marks.count = 0;
    marks.keeps_first = 0;
    marks.keeps_last = 1;
    /* Whatever a source begins with, its first statement begins there. */
    if (excerpt_mark(&marks, 0, 0) < 0) {
        return -1;
    }
    while (r.at < len) {
        if (take_one(&r) < 0) {
            return -1;
        }
    }
    return r.depth == 0 ? excerpt_pick(&marks, text, len, places, places_count, ret) : -1;
}
