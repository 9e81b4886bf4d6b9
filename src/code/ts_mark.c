/* ts_mark.c - what the parser notes: marks on the text, and names with what they stand for. */
#include <string.h>

#include "code/ts_parser.h"

void ts_row(struct ts_parser *p, enum ts_table table, const void *row, size_t len)
{
    if (p->s.failure == TS_FINE && buf_add(&p->tables[table], row, len, NULL) < 0) {
        ts_fail(p, TS_NO_MEMORY, p->s.tok.start, "needs too much memory to read");
    }
}

void ts_outside(struct ts_parser *p, enum ts_outside_kind kind, uint32_t from, uint32_t to)
{
    struct ts_outside row = {.kind = kind, .from = from, .to = to};

    ts_row(p, TS_OUTSIDE, &row, sizeof(row));
}

size_t ts_rows(const struct ts_parser *p, enum ts_table table, size_t row_len)
{
    return p->tables[table].len / row_len;
}

void ts_blank(struct ts_parser *p, uint32_t from, uint32_t to)
{
    struct ts_mark mark = {.at = from, .end = to, .kind = TS_BLANK};

    if (to > from) {
        ts_row(p, TS_MARKS, &mark, sizeof(mark));
    }
}

void ts_put(struct ts_parser *p, uint32_t at, char c)
{
    struct ts_mark mark = {.text = (unsigned char)c, .kind = TS_PUT};

    while (at > 0 && ((unsigned char)p->src[at] & 0xc0) == 0x80) {
        at--; /* to the start of the character */
    }
    mark.at = at;
    ts_row(p, TS_MARKS, &mark, sizeof(mark));
}

void ts_put_text(struct ts_parser *p, uint32_t at, const char *text)
{
    for (; *text != '\0'; text++) {
        ts_put(p, at++, *text);
    }
}

/* Adds a name to the texts, on one line, because lines must not move: a string, which the name of a
 * member can be, may hold U+2028 and U+2029 as they are, and goes on in the next line behind a
 * backslash. */
static void add_name(struct ts_parser *p, struct ts_name name)
{
    const char *text = p->src + name.at;
    size_t done = 0, i = 0;

    while (i < name.len && p->s.failure == TS_FINE) {
        size_t escaped = text[i] == '\\' && i + 1 < name.len;
        size_t newline = ts_newline_len(text, name.len, i + escaped);

        if (newline == 0) {
            i += 1 + escaped;
            continue;
        }
        ts_row(p, TS_TEXTS, text + done, i - done);
        if (!escaped) {
            ts_row(p, TS_TEXTS, (text[i + 2] & 1) != 0 ? "\\u2029" : "\\u2028", 6);
        }
        i += escaped + newline;
        done = i;
    }
    ts_row(p, TS_TEXTS, text + done, name.len - done);
}

void ts_insert(
    struct ts_parser *p, uint32_t at, const char *text, struct ts_name a, struct ts_name b)
{
    struct ts_mark mark = {.at = at, .text = (uint32_t)p->tables[TS_TEXTS].len, .kind = TS_INSERT};

    while (*text != '\0') {
        size_t n = strcspn(text, "$@");

        ts_row(p, TS_TEXTS, text, n);
        text += n;
        if (*text != '\0') {
            struct ts_name name = *text == '$' ? a : b;

            add_name(p, name);
            text++;
        }
    }
    mark.end = (uint32_t)p->tables[TS_TEXTS].len - mark.text;
    ts_row(p, TS_MARKS, &mark, sizeof(mark));
}

void ts_keep(const struct ts_parser *p, struct ts_point *point)
{
    point->s = p->s;
    for (int i = 0; i < TS_TABLES; i++) {
        point->lens[i] = p->tables[i].len;
    }
}

void ts_drop(struct ts_parser *p, const struct ts_point *point)
{
    for (int i = 0; i < TS_TABLES; i++) {
        p->tables[i].len = point->lens[i];
    }
}

void ts_back(struct ts_parser *p, const struct ts_point *point)
{
    if (p->s.failure != TS_LIMIT && p->s.failure != TS_NO_MEMORY) {
        p->s = point->s;
    }
    ts_drop(p, point);
}

int ts_is_continuation(const struct ts_parser *p)
{
    switch (p->s.tok.sign) {
    case TS_1('('):
    case TS_1('['):
    case TS_1('+'):
    case TS_1('-'):
    case TS_1('*'):
    case TS_1('/'):
    case TS_2('/', '='):
    case TS_1('<'):
        return 1;
    default:
        return p->s.tok.kind == TS_TEMPLATE;
    }
}

int ts_joins(const struct ts_parser *p)
{
    return p->s.asi_at == p->s.prev_end && p->s.prev_end > 0;
}

void ts_blank_statement(struct ts_parser *p, uint32_t start, int joins)
{
    ts_blank(p, start, p->s.prev_end);
    p->s.blanked_at = start;
    p->s.asi_at = 0;
    if (joins && ts_is_continuation(p)) {
        ts_put(p, start, ';');
    } else if (joins) {
        p->s.asi_at = p->s.prev_end; /* for the statement after this one */
    }
}

struct ts_name ts_tok_name(const struct ts_parser *p)
{
    return (struct ts_name){.at = p->s.tok.start, .len = p->s.tok.end - p->s.tok.start};
}

int ts_same_name(const struct ts_parser *p, struct ts_name a, struct ts_name b)
{
    return a.len == b.len && memcmp(p->src + a.at, p->src + b.at, a.len) == 0;
}

void ts_ref(struct ts_parser *p, struct ts_name name)
{
    ts_row(p, TS_REFS, &name, sizeof(name));
}

void ts_declare(struct ts_parser *p, struct ts_name name, enum ts_decl_kind kind)
{
    struct ts_decl decl = {.name = name, .scope = p->s.scope, .kind = kind};

    if (name.len > 0) {
        ts_row(p, TS_DECLS, &decl, sizeof(decl));
    }
}

int ts_has_object(struct ts_parser *p, struct ts_name name)
{
    size_t count = ts_rows(p, TS_DECLS, sizeof(struct ts_decl));
    struct ts_decl decl;

    p->steps += count;
    for (size_t i = 0; i < count; i++) {
        memcpy(&decl, p->tables[TS_DECLS].data + i * sizeof(decl), sizeof(decl));
        if (decl.kind == TS_DECL_OBJECT && decl.scope == p->s.scope &&
            ts_same_name(p, decl.name, name)) {
            return 1;
        }
    }
    return 0;
}

const struct ts_member *ts_member_find(struct ts_parser *p, uint64_t path, struct ts_name name)
{
    size_t count = ts_rows(p, TS_MEMBERS, sizeof(struct ts_member));
    const struct ts_member *rows = (const void *)p->tables[TS_MEMBERS].data;

    p->steps += count;
    for (size_t i = count; i > 0; i--) {
        if (rows[i - 1].path == path && ts_same_name(p, rows[i - 1].name, name)) {
            return &rows[i - 1];
        }
    }
    return NULL;
}

void ts_member_add(struct ts_parser *p, uint64_t path, struct ts_name name)
{
    struct ts_member row = {.path = path, .name = name};

    ts_row(p, TS_MEMBERS, &row, sizeof(row));
}

/* FNV-1a; two paths with one number would confuse the guest's own members only. */
uint64_t ts_path(const struct ts_parser *p, uint64_t parent, struct ts_name name)
{
    uint64_t hash = 14695981039346656037u ^ parent;

    for (uint32_t i = 0; i < name.len; i++) {
        hash = (hash ^ (unsigned char)p->src[name.at + i]) * 1099511628211u;
    }
    return hash * 31 + 1;
}
