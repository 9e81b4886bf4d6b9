/* ts_lex.c - the words and signs of TypeScript, one at a time.
 *
 * What a / or a } means depends on what the parser is in, so it asks for the rest of a regular
 * expression or of a template when it knows. A > is always one sign here, since types close with
 * several in a row; the parser joins them where it wants an operator. */
#include <string.h>

#include "code/ts_parser.h"

static const struct {
    const char *text;
    uint8_t len;
    uint8_t reserved;
} words[] = {
    {"", 0, 0},
#define WORD(name, text, reserved) {text, sizeof(text) - 1, reserved},
#include "code/ts_words.inc"
#undef WORD
};

/* What a byte can be. */
enum { BYTE_WORD = 1, BYTE_ALONE = 2, BYTE_SECOND = 4 };

static const uint8_t byte_kinds[256] = {
    ['a' ... 'z'] = BYTE_WORD,
    ['A' ... 'Z'] = BYTE_WORD,
    ['0' ... '9'] = BYTE_WORD,
    ['_'] = BYTE_WORD,
    ['$'] = BYTE_WORD,
    ['\\'] = BYTE_WORD,
    [0x80 ... 0xff] = BYTE_WORD,
    /* Signs that no other sign starts with. */
    ['('] = BYTE_ALONE,
    [')'] = BYTE_ALONE,
    ['{'] = BYTE_ALONE,
    ['}'] = BYTE_ALONE,
    ['['] = BYTE_ALONE,
    [']'] = BYTE_ALONE,
    [','] = BYTE_ALONE,
    [';'] = BYTE_ALONE,
    [':'] = BYTE_ALONE,
    ['~'] = BYTE_ALONE,
    ['@'] = BYTE_ALONE,
    ['>'] = BYTE_ALONE | BYTE_SECOND,
    /* Signs that are the second character of one. */
    ['='] = BYTE_SECOND,
    ['.'] = BYTE_SECOND,
    ['<'] = BYTE_SECOND,
    ['+'] = BYTE_SECOND,
    ['-'] = BYTE_SECOND,
    ['&'] = BYTE_SECOND,
    ['|'] = BYTE_SECOND,
    ['?'] = BYTE_SECOND,
    ['*'] = BYTE_SECOND,
};

enum { WORDS_COUNT = sizeof(words) / sizeof(words[0]), WORD_BYTES_MAX = 10 };

static unsigned char byte_at(const struct ts_parser *p, size_t at)
{
    return at < p->len ? (unsigned char)p->src[at] : 0;
}

size_t ts_newline_len(const char *src, size_t len, size_t at)
{
    unsigned char c = (unsigned char)src[at];

    if (c == '\n') {
        return 1;
    }
    if (c == '\r') {
        return at + 1 < len && src[at + 1] == '\n' ? 2 : 1;
    }
    return c == 0xe2 && len - at > 2 && (unsigned char)src[at + 1] == 0x80 &&
                   ((unsigned char)src[at + 2] & 0xfe) == 0xa8
               ? 3
               : 0;
}

int ts_has_newline(const struct ts_parser *p, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        if (ts_newline_len(p->src, p->len, i) > 0) {
            return 1;
        }
    }
    return 0;
}

/* The bytes of a space that is not ASCII, or 0. */
static uint32_t wide_space_len(const struct ts_parser *p, uint32_t at)
{
    unsigned char a = byte_at(p, at), b = byte_at(p, at + 1), c = byte_at(p, at + 2);

    if (a == 0xc2 && b == 0xa0) {
        return 2;
    }
    if ((a == 0xe2 && b == 0x80 && ((c >= 0x80 && c <= 0x8a) || c == 0xaf)) ||
        (a == 0xe2 && b == 0x81 && c == 0x9f) || (a == 0xe3 && b == 0x80 && c == 0x80) ||
        (a == 0xe1 && b == 0x9a && c == 0x80) || (a == 0xef && b == 0xbb && c == 0xbf)) {
        return 3;
    }
    return 0;
}

static int is_word_byte(unsigned char c)
{
    return byte_kinds[c] & BYTE_WORD;
}

/* Skips a comment at at; the place behind it, or at when there is none. */
static uint32_t skip_comment(struct ts_parser *p, uint32_t at, uint8_t *newline)
{
    if (byte_at(p, at + 1) == '/') {
        while (at < p->len && ts_newline_len(p->src, p->len, at) == 0) {
            at++;
        }
        return at;
    }
    if (byte_at(p, at + 1) != '*') {
        return at;
    }
    at += 2;
    while (at < p->len && !(p->src[at] == '*' && byte_at(p, at + 1) == '/')) {
        *newline |= ts_newline_len(p->src, p->len, at) > 0;
        at++;
    }
    p->odd |= at >= p->len; /* it never ends */
    return at < p->len ? at + 2 : at;
}

static uint32_t skip_space(struct ts_parser *p, uint32_t at, uint8_t *newline)
{
    for (;;) {
        unsigned char c = byte_at(p, at);
        uint32_t n = 0;

        if (at >= p->len) {
            return p->len;
        }
        if (c == ' ' || c == '\t' || c == '\v' || c == '\f') {
            n = 1;
        } else if (c == '/') {
            n = skip_comment(p, at, newline) - at;
        } else if (c < 0x80 ? c == '\n' || c == '\r' : 1) {
            n = (uint32_t)ts_newline_len(p->src, p->len, at);
            *newline |= n > 0;
            n = n > 0 ? n : wide_space_len(p, at);
        }
        if (n == 0) {
            return at;
        }
        at += n;
    }
}

static uint8_t find_word(const char *text, size_t len)
{
    size_t low = 1, high = WORDS_COUNT;

    if (len > WORD_BYTES_MAX || len < 2 || text[0] < 'a' || text[0] > 'y' || text[1] < 'a') {
        return TS_W_OTHER;
    }
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *word = words[middle].text; /* ends in a NUL, which sorts before everything */
        size_t i = 0;

        while (i < len && word[i] == text[i]) {
            i++;
        }
        if (i == len && word[i] == '\0') {
            return (uint8_t)middle;
        }
        if (i == len || (unsigned char)text[i] < (unsigned char)word[i]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return TS_W_OTHER;
}

int ts_is_reserved(uint8_t word)
{
    return words[word].reserved;
}

static uint32_t scan_word(const struct ts_parser *p, uint32_t at)
{
    while (at < p->len && is_word_byte((unsigned char)p->src[at])) {
        if ((unsigned char)p->src[at] >= 0x80 &&
            (wide_space_len(p, at) > 0 || ts_newline_len(p->src, p->len, at) > 0)) {
            break;
        }
        if (p->src[at] == '\\' && byte_at(p, at + 1) == 'u' && byte_at(p, at + 2) == '{') {
            while (at < p->len && p->src[at] != '}' && p->src[at] != '\n') {
                at++;
            }
        }
        at += at < p->len;
    }
    return at;
}

static int is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static uint32_t scan_digits(const struct ts_parser *p, uint32_t at)
{
    while (is_digit(byte_at(p, at)) || byte_at(p, at) == '_') {
        at++;
    }
    return at;
}

/* What is wrong with a number the engine says. */
static uint32_t scan_number(const struct ts_parser *p, uint32_t at)
{
    unsigned char second = byte_at(p, at + 1) | 0x20;

    if (p->src[at] != '0' || (second != 'x' && second != 'o' && second != 'b')) {
        at = scan_digits(p, at);
        if (byte_at(p, at) == '.') {
            at = scan_digits(p, at + 1);
        }
        if ((byte_at(p, at) | 0x20) == 'e') {
            at++;
            at += byte_at(p, at) == '+' || byte_at(p, at) == '-';
        }
    }
    while (byte_at(p, at) < 0x80 && byte_at(p, at) != '\\' && is_word_byte(byte_at(p, at))) {
        at++;
    }
    return at;
}

static uint32_t scan_string(struct ts_parser *p, uint32_t at)
{
    char quote = p->src[at++];

    while (at < p->len && p->src[at] != quote) {
        if (p->src[at] == '\n' || p->src[at] == '\r') {
            ts_fail(p, TS_SYNTAX, at, NULL);
            return at;
        }
        if (p->src[at] == '\\' && at + 1 < p->len) {
            /* Behind a backslash the string goes on in the next line, also after CR LF. */
            at += ts_newline_len(p->src, p->len, at + 1) == 2 ? 3 : 2;
        } else {
            at++;
        }
    }
    if (at >= p->len) {
        ts_fail(p, TS_SYNTAX, p->len, NULL);
        return p->len;
    }
    return at + 1;
}

/* Signs of two and three characters; the longest that fits comes first. No > (see the top). */
static uint32_t scan_sign(const struct ts_parser *p, uint32_t at)
{
    static const char signs[][4] = {"...", "===", "!==", "**=", "<<=", "&&=", "||=", "\?\?=", "=>",
        "==", "!=", "<=", "<<", "++", "--", "&&", "||", "\?\?", "\?.", "**",
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};
    unsigned char a = byte_at(p, at), b = byte_at(p, at + 1), c = byte_at(p, at + 2);

    if ((byte_kinds[a] & BYTE_ALONE) || !(byte_kinds[b] & BYTE_SECOND)) {
        return TS_1(a);
    }
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        const char *s = signs[i];

        if (a == (unsigned char)s[0] && b == (unsigned char)s[1] &&
            (s[2] == 0 || c == (unsigned char)s[2])) {
            if (a == '?' && b == '.' && c >= '0' && c <= '9') {
                break;
            }
            return s[2] == 0 ? TS_2(a, b) : TS_3(a, b, c);
        }
    }
    return TS_1(a);
}

static uint32_t sign_len(uint32_t sign)
{
    return sign > 0xffff ? 3 : sign > 0xff ? 2 : 1;
}

/* The token at or behind at, whatever the parser is in. */
static struct ts_token scan(struct ts_parser *p, uint32_t at)
{
    struct ts_token tok = {0};
    unsigned char c;

    tok.start = skip_space(p, at, &tok.newline);
    c = byte_at(p, tok.start);
    if (tok.start >= p->len) {
        tok.end = p->len;
    } else if (is_digit(c) || (c == '.' && is_digit(byte_at(p, tok.start + 1)))) {
        tok.kind = TS_NUMBER;
        tok.end = scan_number(p, tok.start);
    } else if (is_word_byte(c)) {
        tok.kind = TS_WORD;
        tok.end = scan_word(p, tok.start);
        tok.word = find_word(p->src + tok.start, tok.end - tok.start);
    } else if (c == '"' || c == '\'') {
        tok.kind = TS_STRING;
        tok.end = scan_string(p, tok.start);
    } else if (c == '`') {
        tok.kind = TS_TEMPLATE;
        tok.end = tok.start + 1;
    } else if (c == '#' && is_word_byte(byte_at(p, tok.start + 1))) {
        tok.kind = TS_PRIVATE;
        tok.end = scan_word(p, tok.start + 1);
    } else {
        tok.kind = TS_SIGN;
        tok.sign = scan_sign(p, tok.start);
        tok.end = tok.start + sign_len(tok.sign);
    }
    return tok;
}

void ts_next(struct ts_parser *p)
{
    if (p->s.failure != TS_FINE) {
        return;
    }
    if (++p->steps > p->steps_max) {
        ts_fail(p, TS_LIMIT, p->s.tok.start, "takes too long to read");
        return;
    }
    p->s.prev_end = p->s.tok.end;
    if (p->last_at != p->s.at || p->last.end == 0) {
        p->last_at = p->s.at;
        p->last = scan(p, p->s.at);
    }
    if (p->s.failure == TS_FINE) {
        p->s.tok = p->last;
        p->s.at = p->last.end;
    } else {
        p->last.end = 0; /* scan it again when it is met again, to fail again */
    }
}

struct ts_token ts_peek(struct ts_parser *p)
{
    struct ts_state saved = p->s;
    struct ts_token tok;

    ts_next(p);
    tok = p->s.tok;
    p->s = saved;
    return tok;
}

void ts_scan_regex(struct ts_parser *p)
{
    uint32_t at = p->s.tok.start + 1;
    int in_class = 0;

    while (at < p->len && (p->src[at] != '/' || in_class)) {
        if (ts_newline_len(p->src, p->len, at) > 0) {
            ts_fail(p, TS_SYNTAX, at, NULL);
            return;
        }
        if (p->src[at] == '[') {
            in_class = 1;
        } else if (p->src[at] == ']') {
            in_class = 0;
        }
        at += p->src[at] == '\\' && at + 1 < p->len ? 2 : 1;
    }
    if (at >= p->len) {
        ts_fail(p, TS_SYNTAX, p->len, NULL);
        return;
    }
    p->s.tok.end = scan_word(p, at + 1);
    p->s.at = p->s.tok.end;
    ts_next(p);
}

void ts_join_greater(struct ts_parser *p)
{
    struct ts_token *tok = &p->s.tok;
    uint32_t n = 1;

    while (n < 3 && byte_at(p, tok->start + n) == '>') {
        n++;
    }
    n += byte_at(p, tok->start + n) == '=';
    /* Which of them it is does not matter but for assignments, of which >= is none. */
    tok->sign =
        n == 1 ? TS_1('>') : TS_2('>', n > 2 && p->src[tok->start + n - 1] == '=' ? '=' : '>');
    if (n == 2 && p->src[tok->start + 1] == '=') {
        tok->sign = TS_3('>', '=', ' ');
    }
    tok->end = tok->start + n;
    p->s.at = tok->end;
}

void ts_split_less(struct ts_parser *p)
{
    p->s.tok.sign = TS_1('<');
    p->s.tok.end = p->s.tok.start + 1;
    p->s.at = p->s.tok.end;
}

int ts_template_part(struct ts_parser *p)
{
    uint32_t at = p->s.at;

    while (at < p->len && p->s.failure == TS_FINE) {
        if (p->src[at] == '`') {
            p->s.tok.end = at + 1;
            p->s.at = at + 1;
            return 0;
        }
        if (p->src[at] == '$' && byte_at(p, at + 1) == '{') {
            p->s.at = at + 2;
            return 1;
        }
        at += p->src[at] == '\\' && at + 1 < p->len ? 2 : 1;
    }
    ts_fail(p, TS_SYNTAX, p->len, NULL);
    return 0;
}

void ts_fail(struct ts_parser *p, enum ts_failure failure, uint32_t at, const char *text)
{
    if (p->s.failure == TS_FINE) {
        p->s.failure = (uint8_t)failure;
        p->s.fail_at = at;
        p->s.fail_text = text;
        p->s.tok = (struct ts_token){.start = p->len, .end = p->len, .kind = TS_END};
    }
}

int ts_take(struct ts_parser *p, uint32_t sign)
{
    if (!ts_is(p, sign)) {
        return 0;
    }
    ts_next(p);
    return 1;
}

void ts_expect(struct ts_parser *p, uint32_t sign)
{
    if (!ts_take(p, sign)) {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
}

int ts_enter(struct ts_parser *p)
{
    if (p->s.depth >= TS_DEPTH_MAX) {
        ts_fail(p, TS_LIMIT, p->s.tok.start, "is nested too deeply");
        return 0;
    }
    p->s.depth++;
    return p->s.failure == TS_FINE;
}

void ts_leave(struct ts_parser *p)
{
    p->s.depth--;
}
