/* compat_check.c - see compat_check.h.
 *
 * The text is walked once: strings, templates, regular expressions and comments are stepped over,
 * braces are counted, and functions at the top are looked at with the comment right before them. */
#include "http/compat_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { PARAMETERS_BYTES_MAX = 512, DEPTH_MAX = 512 };

/* A function at the top of the text. */
struct function {
    char name[COMPAT_NAME_BYTES_MAX + 1];
    char parameters[PARAMETERS_BYTES_MAX]; /* without white space and comments */
    size_t parameters_count;
    int is_async;
    const char *comment; /* the block comment before it, or NULL */
    size_t comment_len;
};

struct walk {
    const char *at, *end;
    unsigned depth;                /* of braces, brackets and parentheses */
    unsigned templates[DEPTH_MAX]; /* depths at which a template goes on */
    size_t templates_count;
    const char *comment;
    size_t comment_len;
    char last; /* the last character that was no space: what a slash means depends on it */
    int async_is_near;
};

static int is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (c & 0x80) != 0;
}

static void skip_string(struct walk *w)
{
    char quote = *w->at++;

    while (w->at < w->end && *w->at != quote && *w->at != '\n') {
        w->at += *w->at == '\\' && w->end - w->at > 1 ? 2 : 1;
    }
    w->at += w->at < w->end;
}

/* The rest of a template, up to its end or to the next ${. */
static void skip_template(struct walk *w)
{
    while (w->at < w->end && *w->at != '`') {
        if (*w->at == '$' && w->end - w->at > 1 && w->at[1] == '{') {
            w->at += 2;
            if (w->templates_count < DEPTH_MAX) {
                w->templates[w->templates_count++] = w->depth;
            }
            w->depth++;
            return;
        }
        w->at += *w->at == '\\' && w->end - w->at > 1 ? 2 : 1;
    }
    w->at += w->at < w->end;
}

static void skip_regexp(struct walk *w)
{
    int in_class = 0;

    for (w->at++; w->at < w->end && *w->at != '\n' && (*w->at != '/' || in_class); w->at++) {
        if (*w->at == '\\' && w->end - w->at > 1) {
            w->at++;
        } else if (*w->at == '[') {
            in_class = 1;
        } else if (*w->at == ']') {
            in_class = 0;
        }
    }
    w->at += w->at < w->end;
}

/* A comment: 1 when there was one. Those in blocks are remembered. */
static int skip_comment(struct walk *w)
{
    const char *begin = w->at, *end;

    if (w->end - w->at < 2 || w->at[0] != '/' || (w->at[1] != '/' && w->at[1] != '*')) {
        return 0;
    }
    if (w->at[1] == '/') {
        end = memchr(w->at, '\n', (size_t)(w->end - w->at));
        w->at = end != NULL ? end : w->end;
        if (w->comment == NULL) { /* a line of its own may say @endowment as well */
            w->comment = begin;
        }
    } else {
        end = memmem(w->at + 2, (size_t)(w->end - w->at) - 2, "*/", 2);
        w->at = end != NULL ? end + 2 : w->end;
        w->comment = begin;
    }
    w->comment_len = (size_t)(w->at - w->comment);
    return 1;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blank(struct walk *w)
{
    while (w->at < w->end && (is_blank(*w->at) || skip_comment(w))) {
        w->at += w->at < w->end && is_blank(*w->at);
    }
}

static size_t take_word(struct walk *w, char *word, size_t size)
{
    const char *begin = w->at;
    size_t len;

    while (w->at < w->end && is_word(*w->at)) {
        w->at++;
    }
    len = (size_t)(w->at - begin);
    (void)snprintf(word, size, "%.*s", (int)(len < size ? len : size - 1), begin);
    return len;
}

/* "(a, b = {})": 0, or -1 when it is not there. */
static int take_parameters(struct walk *w, struct function *f)
{
    unsigned depth = 0;
    size_t n = 0;

    skip_blank(w);
    if (w->at == w->end || *w->at != '(') {
        return -1;
    }
    for (w->at++; w->at < w->end; w->at++) {
        char c = *w->at;

        if (depth == 0 && c == ')') {
            w->at++;
            f->parameters[n] = '\0';
            f->parameters_count += n > 0;
            return 0;
        }
        depth += strchr("([{", c) != NULL;
        depth -= strchr(")]}", c) != NULL && depth > 0;
        f->parameters_count += depth == 0 && c == ',';
        if (strchr(" \t\r\n", c) == NULL && n + 1 < sizeof(f->parameters)) {
            f->parameters[n++] = c;
        }
    }
    return -1;
}

/* The name and the parameters of a function, behind its word: 1 when it has both. */
static int take_function(
    struct walk *w, const char *comment, size_t comment_len, struct function *ret)
{
    *ret = (struct function){
        .is_async = w->async_is_near, .comment = comment, .comment_len = comment_len};
    w->async_is_near = 0;
    skip_blank(w);
    (void)take_word(w, ret->name, sizeof(ret->name));
    w->comment = NULL;
    if (ret->name[0] == '\0' || take_parameters(w, ret) < 0) {
        return 0;
    }
    w->last = ')';
    return 1;
}

/* A word at the present place: 1 when it began a function at the top. */
static int step_word(struct walk *w, struct function *ret)
{
    const char *comment = w->comment;
    size_t comment_len = w->comment_len;
    char word[COMPAT_NAME_BYTES_MAX + 1];

    (void)take_word(w, word, sizeof(word));
    w->last = strcmp(word, "return") == 0 || strcmp(word, "typeof") == 0 ? '(' : 'a';
    if (w->depth == 0 && strcmp(word, "async") == 0) {
        w->async_is_near = 1;
        return 0;
    }
    if (w->depth == 0 && strcmp(word, "function") == 0) {
        w->comment = NULL;
        return take_function(w, comment, comment_len, ret);
    }
    w->async_is_near = 0;
    if (strcmp(word, "export") != 0 && strcmp(word, "default") != 0) {
        w->comment = NULL;
    }
    return 0;
}

/* Anything else than white space, comments and words. */
static void step_sign(struct walk *w)
{
    char c = *w->at;

    w->async_is_near = 0;
    w->comment = NULL;
    if (c == '"' || c == '\'') {
        skip_string(w);
        w->last = 'a';
    } else if (c == '`') {
        w->at++;
        skip_template(w);
        w->last = 'a';
    } else if (c == '/' && strchr("(,=:[!&|?{};+-*%<>~^", w->last) != NULL) {
        skip_regexp(w);
        w->last = 'a';
    } else {
        w->at++;
        w->last = c;
        w->depth += strchr("([{", c) != NULL;
        if (strchr(")]}", c) != NULL && w->depth > 0) {
            w->depth--;
            if (c == '}' && w->templates_count > 0 &&
                w->templates[w->templates_count - 1] == w->depth) {
                w->templates_count--;
                skip_template(w);
            }
        }
    }
}

/* The next function at the top of the text: 1, or 0 at the end. */
static int next_function(struct walk *w, struct function *ret)
{
    while (w->at < w->end) {
        if (is_blank(*w->at)) {
            w->at++;
        } else if (skip_comment(w)) {
            continue;
        } else if (is_word(*w->at)) {
            if (step_word(w, ret)) {
                return 1;
            }
        } else {
            step_sign(w);
        }
    }
    return 0;
}

/* The text behind a tag of a comment, up to the end of its line. */
static void take_tag(const struct function *f, const char *tag, char *out, size_t size)
{
    const char *at = memmem(f->comment, f->comment_len, tag, strlen(tag));
    const char *end = f->comment + f->comment_len;
    size_t n = 0;

    out[0] = '\0';
    if (at == NULL) {
        return;
    }
    for (at += strlen(tag); at < end && *at != '\n' && n + 1 < size; at++) {
        if (n > 0 || (*at != ' ' && *at != '\t')) {
            out[n++] = *at == '\r' || *at == '\t' ? ' ' : *at;
        }
    }
    if (n >= 2 && memcmp(out + n - 2, "*/", 2) == 0) {
        n -= 2;
    }
    while (n > 0 && out[n - 1] == ' ') {
        n--;
    }
    out[n] = '\0';
}

static int check_endowment(
    const struct function *f, struct compat_endowment *e, struct vial_error *err)
{
    if (!f->is_async || strcmp(f->parameters, "params={}") != 0) {
        return vial__fail(err, VIAL_E_INVALID,
            "the rule for endowments: each is an async function with the single parameter "
            "params = {}; %s%s(%.100s) is not",
            f->is_async ? "async " : "", f->name, f->parameters);
    }
    (void)snprintf(e->name, sizeof(e->name), "%s", f->name);
    take_tag(f, "@description", e->description, sizeof(e->description));
    take_tag(f, "@inputSchema", e->input, sizeof(e->input));
    take_tag(f, "@outputSchema", e->output, sizeof(e->output));
    return VIAL_OK;
}

static int check_all(
    struct walk *w, struct compat_endowment *list, size_t *count, struct vial_error *err)
{
    int has_begin = 0, has_end = 0, r;
    struct function f;

    while (next_function(w, &f)) {
        if (strcmp(f.name, "Initialize") == 0) {
            has_begin = f.is_async && f.parameters_count == 2 ? 1 : -1;
        } else if (strcmp(f.name, "Deinitialize") == 0) {
            has_end = f.is_async && f.parameters_count == 0 ? 1 : -1;
        } else if (f.comment != NULL &&
                   memmem(f.comment, f.comment_len, "@endowment", 10) != NULL) {
            if (*count == COMPAT_ENDOWMENTS_MAX) {
                return vial__fail(err, VIAL_E_INVALID, "there are more than %d endowments",
                    COMPAT_ENDOWMENTS_MAX);
            }
            r = check_endowment(&f, &list[*count], err);
            if (r < 0) {
                return r;
            }
            (*count)++;
        }
    }
    if (has_begin != 1) {
        return vial__fail(err, VIAL_E_INVALID,
            "the rule for Initialize: it is an async function with exactly two parameters, "
            "(agentId, backends)%s",
            has_begin == 0 ? "; there is none" : "");
    }
    if (has_end != 1) {
        return vial__fail(err, VIAL_E_INVALID,
            "the rule for Deinitialize: it is an async function without parameters%s",
            has_end == 0 ? "; there is none" : "");
    }
    return *count > 0 ? VIAL_OK
                      : vial__fail(err, VIAL_E_INVALID,
                            "the rule for endowments: at least one async function is annotated "
                            "with @endowment in the comment before it");
}

int compat_check_code(const char *code, size_t len, struct compat_endowment **ret,
    size_t *ret_count, struct vial_error *err)
{
    struct compat_endowment *list = calloc(COMPAT_ENDOWMENTS_MAX, sizeof(*list));
    struct walk *w = calloc(1, sizeof(*w));
    size_t count = 0;
    int r;

    if (list == NULL || w == NULL) {
        free(list);
        free(w);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for endowments");
    }
    w->at = code;
    w->end = code + len;
    w->last = ';';
    r = check_all(w, list, &count, err);
    free(w);
    if (r < 0) {
        free(list);
        return r;
    }
    *ret = list;
    *ret_count = count;
    return VIAL_OK;
}

int compat_check_program(const char *code, size_t len, struct vial_error *err)
{
    struct walk *w = calloc(1, sizeof(*w));
    struct function f;
    int is_fine = 0;

    if (w == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a program");
    }
    w->at = code;
    w->end = code + len;
    w->last = ';';
    while (next_function(w, &f)) {
        is_fine |= strcmp(f.name, "main") == 0 && f.is_async && f.parameters_count == 0;
    }
    free(w);
    return is_fine ? VIAL_OK
                   : vial__fail(err, VIAL_E_INVALID,
                         "the rule for programs: there is an async function main without "
                         "parameters");
}
