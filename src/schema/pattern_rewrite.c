/* pattern_rewrite.c - see pattern_rewrite.h.
 *
 * One pass over the text. What is the same in both languages is copied; what is not becomes the
 * characters it stands for, as \x{...}, or a list of them. Where ECMA-262 has a strict reading
 * (with the flag u) and a lenient one, the lenient one is taken as far as it is clear: authors
 * write
 * [\w-.] and \- and mean a hyphen. */
#include "schema/pattern_rewrite.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "schema/show.h"

/* The white space of JavaScript and its complement, as the inside of a class. */
#define SPACES                                                                                     \
    "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"           \
    "\\x{205f}\\x{3000}\\x{feff}"
#define NO_SPACES                                                                                  \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"               \
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"                 \
    "\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

struct rewrite {
    const char *p;
    const char *end;
    struct buf *out;
    struct vial_error *err;
    int in_class;
    int was_set; /* in a class: what was just read is many characters and begins no range */
};

static int put(struct rewrite *w, const char *text)
{
    return buf_add_text(w->out, text, w->err);
}

static int put_char(struct rewrite *w, uint32_t c)
{
    char text[24];

    if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff) {
        return vial__fail(
            w->err, VIAL_E_INVALID, "the regular expression has \\u%04x, which is no character", c);
    }
    (void)snprintf(text, sizeof(text), "\\x{%x}", c);
    return put(w, text);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads count hexadecimal digits at w->p + at; 0 when they are not there. */
static int read_hex(const struct rewrite *w, size_t at, size_t count, uint32_t *ret)
{
    uint32_t v = 0;
    size_t i;

    if ((size_t)(w->end - w->p) < at + count) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        if (hex_value(w->p[at + i]) < 0) {
            return 0;
        }
        v = v << 4 | (uint32_t)hex_value(w->p[at + i]);
    }
    *ret = v;
    return 1;
}

static int bad_escape(struct rewrite *w, const char *why)
{
    return vial__fail(w->err, VIAL_E_INVALID, "the regular expression has \\%c: %s", *w->p, why);
}

/* w->p is at the u of \uXXXX, of a pair of them, or of \u{X}. */
static int rewrite_unicode(struct rewrite *w)
{
    const char *stop;
    uint32_t c, low;

    if (w->p + 1 < w->end && w->p[1] == '{') {
        stop = memchr(w->p, '}', (size_t)(w->end - w->p));
        if (stop == NULL || stop - w->p < 3 || stop - w->p > 8 ||
            !read_hex(w, 2, (size_t)(stop - w->p) - 2, &c)) {
            return bad_escape(w, "\\u{} takes one to six hexadecimal digits");
        }
        w->p = stop + 1;
        return put_char(w, c);
    }
    if (!read_hex(w, 1, 4, &c)) {
        return bad_escape(w, "\\u takes four hexadecimal digits");
    }
    w->p += 5;
    if (c >= 0xd800 && c < 0xdc00 && w->end - w->p >= 6 && w->p[0] == '\\' && w->p[1] == 'u' &&
        read_hex(w, 2, 4, &low) && low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        w->p += 6;
    }
    return put_char(w, c);
}

/* w->p is at the p or P. PCRE2 knows the short names of general categories and those of scripts. */
static int rewrite_property(struct rewrite *w)
{
    static const char *const prefixes[] = {"General_Category=", "gc="};
    static const char *const names[][2] = {{"Letter", "L"}, {"Uppercase_Letter", "Lu"},
        {"Lowercase_Letter", "Ll"}, {"Titlecase_Letter", "Lt"}, {"Mark", "M"}, {"Number", "N"},
        {"Decimal_Number", "Nd"}, {"Punctuation", "P"}, {"Symbol", "S"}, {"Separator", "Z"},
        {"Space_Separator", "Zs"}, {"Other", "C"}, {"Control", "Cc"}};
    const char *from = w->p + 2, *stop;
    char name[64], text[80];
    size_t i, len;

    stop = w->p + 1 < w->end && w->p[1] == '{' ? memchr(w->p, '}', (size_t)(w->end - w->p)) : NULL;
    if (stop == NULL || (size_t)(stop - from) >= sizeof(name) || stop == from) {
        return bad_escape(w, "it takes the name of a property in braces, such as \\p{L}");
    }
    for (i = 0; i < 2; i++) {
        len = strlen(prefixes[i]);
        from += (size_t)(stop - from) > len && memcmp(from, prefixes[i], len) == 0 ? len : 0;
    }
    len = (size_t)(stop - from);
    memcpy(name, from, len);
    name[len] = '\0';
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i][0]) == 0) {
            (void)snprintf(name, sizeof(name), "%s", names[i][1]);
            break;
        }
    }
    (void)snprintf(text, sizeof(text), "\\%c{%s}", *w->p, name);
    w->p = stop + 1;
    w->was_set = 1;
    return put(w, text);
}

/* w->p is at a digit from 1 on. */
static int rewrite_reference(struct rewrite *w)
{
    char text[24];
    unsigned n = 0;

    if (w->in_class) {
        return bad_escape(w, "a class cannot refer to a group");
    }
    while (w->p < w->end && *w->p >= '0' && *w->p <= '9' && n < 1000) {
        n = n * 10 + (unsigned)(*w->p++ - '0');
    }
    (void)snprintf(text, sizeof(text), "\\g{%u}", n);
    return put(w, text);
}

/* \d, \w, \s and their complements. */
static int rewrite_set(struct rewrite *w)
{
    char text[3] = {'\\', *w->p, '\0'};
    int r;

    w->was_set = 1;
    if (*w->p != 's' && *w->p != 'S') {
        w->p++;
        return put(w, text);
    }
    r = w->in_class ? VIAL_OK : put(w, "[");
    if (r == VIAL_OK) {
        r = put(w, *w->p == 's' ? SPACES : NO_SPACES);
    }
    w->p++;
    return r < 0 || w->in_class ? r : put(w, "]");
}

/* Escapes of letters that stand for one character. */
static int rewrite_letter(struct rewrite *w)
{
    static const char controls[] = "t\tn\nv\vf\fr\r";
    uint32_t c;
    size_t i;

    for (i = 0; i + 1 < sizeof(controls); i += 2) {
        if (controls[i] == *w->p) {
            w->p++;
            return put_char(w, (uint32_t)controls[i + 1]);
        }
    }
    if (*w->p == 'x' && read_hex(w, 1, 2, &c)) {
        w->p += 3;
        return put_char(w, c);
    }
    if (*w->p == 'c' && w->p + 1 < w->end && (w->p[1] | 0x20) >= 'a' && (w->p[1] | 0x20) <= 'z') {
        w->p += 2;
        return put_char(w, (uint32_t)(w->p[-1] & 0x1f));
    }
    if (*w->p == 'A' || *w->p == 'Z' || *w->p == 'z') {
        return bad_escape(w, "ECMA-262 has ^ and $ for the beginning and the end");
    }
    return bad_escape(w, "ECMA-262 has no such escape");
}

static int rewrite_boundary(struct rewrite *w)
{
    char text[3] = {'\\', *w->p, '\0'};

    w->p++;
    if (w->in_class) {
        w->p--;
        if (*w->p == 'B') {
            return bad_escape(w, "a class cannot have it");
        }
        w->p++;
        return put_char(w, 8);
    }
    return put(w, text);
}

/* w->p is behind the backslash. */
static int rewrite_escape(struct rewrite *w)
{
    char text[3] = {'\\', '\0', '\0'};

    w->was_set = 0;
    if (w->p == w->end) {
        return vial__fail(w->err, VIAL_E_INVALID, "the regular expression ends with a backslash");
    }
    if (strchr("dDwWsS", *w->p) != NULL && *w->p != '\0') {
        return rewrite_set(w);
    }
    switch (*w->p) {
    case 'b':
    case 'B':
        return rewrite_boundary(w);
    case 'u':
        return rewrite_unicode(w);
    case 'p':
    case 'P':
        return rewrite_property(w);
    case '0':
        w->p++;
        return put_char(w, 0);
    case 'k':
        if (w->in_class || w->p + 1 == w->end || w->p[1] != '<') {
            return bad_escape(w, "it takes the name of a group, as \\k<name>");
        }
        w->p++;
        return put(w, "\\k");
    default:
        break;
    }
    if (*w->p >= '1' && *w->p <= '9') {
        return rewrite_reference(w);
    }
    if ((*w->p >= 'a' && *w->p <= 'z') || (*w->p >= 'A' && *w->p <= 'Z')) {
        return rewrite_letter(w);
    }
    if ((unsigned char)*w->p >= 0x80) {
        return VIAL_OK; /* it stands for itself */
    }
    text[1] = *w->p++;
    return text[1] == '\0' ? put_char(w, 0) : put(w, text);
}

/* Is the hyphen at w->p one that makes a range? */
static int is_range(const struct rewrite *w)
{
    if (w->was_set || w->p + 1 == w->end || w->p[1] == ']') {
        return 0;
    }
    return !(w->p[1] == '\\' && w->p + 2 < w->end && w->p[2] != '\0' &&
             strchr("dDwWsSpP", w->p[2]) != NULL);
}

/* w->p is at the opening bracket. */
static int rewrite_class(struct rewrite *w)
{
    char text[3] = {'\\', '\0', '\0'};
    int r;

    w->p++;
    r = put(w, "[");
    if (r == VIAL_OK && w->p < w->end && *w->p == '^') {
        w->p++;
        r = put(w, "^");
    }
    w->in_class = 1;
    w->was_set = 1; /* a hyphen at the beginning makes no range */
    while (r == VIAL_OK && w->p < w->end && *w->p != ']') {
        if (*w->p == '\\') {
            w->p++;
            r = rewrite_escape(w);
            continue;
        }
        text[1] = *w->p;
        if (*w->p == '[' || *w->p == '^' || *w->p == '-') {
            r = *w->p == '-' && is_range(w) ? put(w, "-") : put(w, text);
        } else {
            r = buf_add(w->out, w->p, 1, w->err);
        }
        w->was_set = 0;
        w->p++;
    }
    w->in_class = 0;
    if (r == VIAL_OK && w->p == w->end) {
        return vial__fail(
            w->err, VIAL_E_INVALID, "the regular expression has a [ without its closing bracket");
    }
    w->p++;
    return r < 0 ? r : put(w, "]");
}

/* w->p is at the opening parenthesis: what is behind it has to be of ECMA-262. */
static int rewrite_group(struct rewrite *w)
{
    static const char *const allowed[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!"};
    size_t left = (size_t)(w->end - w->p);
    struct show shown;
    size_t i, len;

    if (left < 2 || (w->p[1] != '?' && w->p[1] != '*')) {
        w->p++;
        return put(w, "(");
    }
    for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        len = strlen(allowed[i]);
        if (left >= len && memcmp(w->p, allowed[i], len) == 0) {
            w->p += len;
            return put(w, allowed[i]);
        }
    }
    if (left > 3 && w->p[2] == '<') {
        w->p += 3;
        return put(w, "(?<"); /* a name follows; PCRE2 wants what ECMA-262 wants of it */
    }
    if (left > 2 && w->p[2] == 'P') {
        return vial__fail(w->err, VIAL_E_INVALID,
            "the regular expression has (?P; ECMA-262 writes named groups as (?<name>...)");
    }
    return vial__fail(w->err, VIAL_E_INVALID,
        "the regular expression has %s, which ECMA-262 does not have; there are (?: (?= (?! (?<= "
        "(?<! and (?<name>",
        show_text(&shown, w->p, left < 3 ? left : 3));
}

/* The length of the quantifier at p, 0 when there is none. */
static size_t quantifier_len(const char *p, const char *end)
{
    const char *at = p + 1;

    if (p == end) {
        return 0;
    }
    if (*p == '*' || *p == '+' || *p == '?') {
        return 1;
    }
    if (*p != '{' || at == end || *at < '0' || *at > '9') {
        return 0;
    }
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    if (at < end && *at == ',') {
        at++;
        while (at < end && *at >= '0' && *at <= '9') {
            at++;
        }
    }
    return at < end && *at == '}' ? (size_t)(at - p) + 1 : 0;
}

static int rewrite_quantifier(struct rewrite *w, size_t len)
{
    int r = buf_add(w->out, w->p, len, w->err);

    w->p += len;
    if (r == VIAL_OK && w->p < w->end && *w->p == '?') {
        w->p++;
        r = put(w, "?");
    }
    if (r == VIAL_OK && quantifier_len(w->p, w->end) > 0) {
        return vial__fail(w->err, VIAL_E_INVALID,
            "the regular expression has %c behind a quantifier, where nothing is to be repeated",
            *w->p);
    }
    return r;
}

static int rewrite_next(struct rewrite *w)
{
    size_t len = quantifier_len(w->p, w->end);
    char text[3] = {'\\', *w->p, '\0'};

    if (len > 0) {
        return rewrite_quantifier(w, len);
    }
    switch (*w->p) {
    case '\\':
        w->p++;
        return rewrite_escape(w);
    case '[':
        return rewrite_class(w);
    case '(':
        return rewrite_group(w);
    case '.':
        w->p++;
        return put(w, "[^\\x{a}\\x{d}\\x{2028}\\x{2029}]");
    case '{':
    case '}':
    case ']':
        w->p++;
        return put(w, text);
    default:
        return buf_add(w->out, w->p++, 1, w->err);
    }
}

int pattern_rewrite(const char *text, size_t len, struct buf *out, struct vial_error *err)
{
    struct rewrite w = {.p = text, .end = text + len, .out = out, .err = err};
    int r = VIAL_OK;

    while (r == VIAL_OK && w.p < w.end) {
        r = rewrite_next(&w);
    }
    return r;
}
