/* glob.c - see glob.h.
 *
 * There are two loops of the same shape: one over the parts of pattern and name, in which `**` is
 * the star, and one over the characters of a part. Each remembers its last star only: whatever an
 * earlier one could still take, the last one can take as well. */
#include "base/glob.h"

#include <stdint.h>
#include <string.h>

#include "base/name.h"
#include "base/utf8.h"

enum { NO_CHARACTER = 0x110000 }; /* behind the last one that there is */

struct text {
    const char *p, *end;
};

static size_t left(const struct text *t)
{
    return (size_t)(t->end - t->p);
}

/* The character at the beginning, moved over. The text is not empty. */
static uint32_t take_char(struct text *t)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    int n = utf8_sequence(t->p, left(t));
    uint32_t c;
    int i;

    if (n <= 0) { /* a byte that is no character is like no other */
        return NO_CHARACTER + (unsigned char)*t->p++;
    }
    c = (unsigned char)t->p[0] & (uint32_t)masks[n];
    for (i = 1; i < n; i++) {
        c = c << 6 | ((unsigned char)t->p[i] & 0x3fU);
    }
    t->p += n;
    return c;
}

/* A character of a set, which may be escaped. */
static uint32_t take_set_char(struct text *t)
{
    if (*t->p == '\\' && left(t) > 1) {
        t->p++;
    }
    return take_char(t);
}

/* With the pattern behind a "[": is c in the set? Moves behind its "]"; without one, to the end. */
static int set_has(struct text *pattern, uint32_t c, int *ret_closed)
{
    int not = left(pattern) > 0 && (*pattern->p == '!' || *pattern->p == '^');
    int first = 1, found = 0;
    uint32_t from, to;

    pattern->p += not ;
    while (left(pattern) > 0 && (first || *pattern->p != ']')) {
        first = 0;
        from = to = take_set_char(pattern);
        if (left(pattern) > 1 && *pattern->p == '-' && pattern->p[1] != ']') {
            pattern->p++;
            to = take_set_char(pattern);
        }
        found |= c >= from && c <= to;
    }
    *ret_closed = left(pattern) > 0;
    pattern->p += *ret_closed;
    return found != not ;
}

/* One element of the pattern that is no star against one character; moves both on. */
static int element_matches(struct text *pattern, struct text *name)
{
    uint32_t c = take_char(name);
    int closed;

    if (*pattern->p == '?') {
        pattern->p++;
        return 1;
    }
    if (*pattern->p == '[') {
        pattern->p++;
        return set_has(pattern, c, &closed);
    }
    if (*pattern->p == '\\') {
        pattern->p++;
    }
    return take_char(pattern) == c;
}

static int part_matches(struct text pattern, struct text name, int dots)
{
    struct text star = {NULL, NULL}, star_name = {NULL, NULL};

    if (!dots && *name.p == '.' && *pattern.p != '.' &&
        !(*pattern.p == '\\' && pattern.p[1] == '.')) {
        return 0;
    }
    while (left(&name) > 0) {
        if (left(&pattern) > 0 && *pattern.p == '*') {
            pattern.p++;
            star = pattern;
            star_name = name;
        } else if (left(&pattern) == 0 || !element_matches(&pattern, &name)) {
            if (star.p == NULL) {
                return 0;
            }
            (void)take_char(&star_name);
            pattern = star;
            name = star_name;
        }
    }
    while (left(&pattern) > 0 && *pattern.p == '*') {
        pattern.p++;
    }
    return left(&pattern) == 0;
}

/* The first part, and the rest behind its slash. */
static struct text take_part(struct text *t)
{
    const char *slash = memchr(t->p, '/', left(t));
    struct text part = {t->p, slash != NULL ? slash : t->end};

    t->p = slash != NULL ? slash + 1 : t->end;
    return part;
}

static int is_double_star(const struct text *part)
{
    return left(part) == 2 && part->p[0] == '*' && part->p[1] == '*';
}

static int match(
    const char *pattern_text, size_t pattern_len, const char *name_text, size_t name_len, int dots)
{
    struct text pattern = {pattern_text, pattern_text + pattern_len};
    struct text name = {name_text, name_text + name_len};
    struct text star = {NULL, NULL}, star_name = {NULL, NULL};
    struct text part, rest, name_rest;

    while (left(&name) > 0) {
        rest = pattern;
        name_rest = name;
        part = take_part(&rest);
        if (left(&pattern) > 0 && is_double_star(&part)) {
            pattern = star = rest;
            star_name = name;
            continue;
        }
        if (left(&pattern) > 0 && part_matches(part, take_part(&name_rest), dots)) {
            pattern = rest;
            name = name_rest;
            continue;
        }
        if (star.p == NULL || (!dots && *star_name.p == '.')) { /* ** takes no part with a dot */
            return 0;
        }
        (void)take_part(&star_name);
        pattern = star;
        name = star_name;
    }
    while (left(&pattern) > 0) {
        part = take_part(&pattern);
        if (!is_double_star(&part)) {
            return 0;
        }
    }
    return 1;
}

int glob_match(const char *pattern, size_t pattern_len, const char *name, size_t name_len)
{
    return match(pattern, pattern_len, name, name_len, 0);
}

int glob_match_dots(const char *pattern, size_t pattern_len, const char *name, size_t name_len)
{
    return match(pattern, pattern_len, name, name_len, 1);
}

const char *glob_fault(const char *pattern, size_t len)
{
    struct text t = {pattern, pattern + len};
    const char *fault = name_fault(pattern, len);
    struct text set;
    int closed;

    if (len > GLOB_BYTES_MAX) {
        return "has more than 1024 bytes";
    }
    if (fault != NULL) {
        return fault;
    }
    while (left(&t) > 0) {
        if (*t.p == '\\' && (left(&t) == 1 || t.p[1] == '/')) {
            return "ends in a backslash";
        }
        if (*t.p == '[') {
            set = take_part(&t);
            set.p++;
            (void)set_has(&set, 0, &closed);
            if (!closed) {
                return "has a [ without its ]";
            }
            t.p = set.p;
        } else {
            t.p += *t.p == '\\' ? 2 : 1;
        }
    }
    return NULL;
}
