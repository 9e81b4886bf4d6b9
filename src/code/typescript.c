/* typescript.c - see typescript.h.
 *
 * Runs the parser (ts_parser.h), decides about imports, and writes the text with the marks. */
#include "code/typescript.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/ts_parser.h"

enum {
    /* A row is 16 to 32 bytes and a byte of source makes at most one row of each kind, but for
     * inserted texts, of which a name of 1 byte can make 130. */
    TABLE_BYTES_PER_BYTE = 160,
    TABLE_BYTES_MIN = 4096,
    /* Readings that are given up cost more; see ts_parser.h. A step is some 20 ns. */
    STEPS_PER_BYTE = 8,
    STEPS_MIN = 1000000,
    /* In the table of bytes to change; any other value is the character to put. */
    KEEP = 0,
    ERASE = 1,
};

static int64_t hash_of(const struct ts_parser *p, struct ts_name name)
{
    return (int64_t)(ts_path(p, 0, name) & INT64_MAX);
}

/* ---- imports and exports ---- */

/* Finds names among rows of bindings: open addressing, the index of a row plus one. */
struct names {
    uint32_t *slots;
    size_t count; /* a power of two, more than twice the rows */
};

static int names_init(struct names *n, size_t rows)
{
    n->count = 16;
    while (n->count < rows * 2 + 2) {
        n->count *= 2;
    }
    n->slots = calloc(n->count, sizeof(*n->slots));
    return n->slots != NULL ? 0 : -1;
}

static void mark_used(
    struct ts_parser *p, const struct names *n, struct ts_binding *rows, struct ts_name name)
{
    size_t at = (size_t)hash_of(p, name) & (n->count - 1);

    for (; n->slots[at] != 0; at = (at + 1) & (n->count - 1)) {
        struct ts_binding *row = &rows[n->slots[at] - 1];

        if (ts_same_name(p, row->name, name)) {
            row->used = 1;
        }
    }
}

/* Sets used in every row whose name is among the names that are used as values. */
static int find_used(struct ts_parser *p)
{
    struct ts_binding *rows = (void *)p->tables[TS_BINDINGS].data;
    size_t count = ts_rows(p, TS_BINDINGS, sizeof(*rows));
    struct names n;
    struct ts_name name;

    if (names_init(&n, count) < 0) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)hash_of(p, rows[i].name) & (n.count - 1);

        while (n.slots[at] != 0) {
            at = (at + 1) & (n.count - 1);
        }
        n.slots[at] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < p->tables[TS_REFS].len; i += sizeof(name)) {
        memcpy(&name, p->tables[TS_REFS].data + i, sizeof(name));
        mark_used(p, &n, rows, name);
    }
    free(n.slots);
    return 0;
}

static void elide_import(struct ts_parser *p, const struct ts_import *row)
{
    const struct ts_binding *rows = (const void *)p->tables[TS_BINDINGS].data;
    uint32_t used = 0;

    for (uint32_t i = row->first; i < row->first + row->count; i++) {
        used += rows[i].used && !rows[i].is_type;
    }
    if (row->count > 0 && used == 0) {
        ts_blank(p, row->from, row->to);
        if (row->semicolon) {
            ts_put(p, row->from, ';');
        }
        return;
    }
    for (uint32_t i = row->first; i < row->first + row->count; i++) {
        if (!rows[i].used || rows[i].is_type) {
            ts_blank(p, rows[i].from, rows[i].to);
        }
    }
}

/* Whether the name is declared in the file itself, and only as a type. */
static int is_only_type(struct ts_parser *p, struct ts_name name)
{
    size_t count = ts_rows(p, TS_DECLS, sizeof(struct ts_decl));
    struct ts_decl decl;
    int is_type = 0;

    p->steps += count;
    for (size_t i = 0; i < count && p->steps <= p->steps_max; i++) {
        memcpy(&decl, p->tables[TS_DECLS].data + i * sizeof(decl), sizeof(decl));
        if (decl.scope == 0 && ts_same_name(p, decl.name, name)) {
            if (decl.kind != TS_DECL_TYPE) {
                return 0;
            }
            is_type = 1;
        }
    }
    return is_type;
}

static int has_type_import(const struct ts_parser *p)
{
    const struct ts_binding *rows = (const void *)p->tables[TS_BINDINGS].data;
    size_t count = ts_rows(p, TS_BINDINGS, sizeof(*rows));

    for (size_t i = 0; i < count; i++) {
        if (rows[i].is_type) {
            return 1;
        }
    }
    return 0;
}

/* Takes out what is imported and exported but is only a type. In a file without any other sign of
 * TypeScript an import that is not used is JavaScript's, and stays. */
static int elide(struct ts_parser *p)
{
    size_t exports = ts_rows(p, TS_EXPORTS, sizeof(struct ts_binding));
    struct ts_binding row;
    struct ts_import import;

    if (p->tables[TS_MARKS].len == 0 && !has_type_import(p)) {
        return 0;
    }
    if (p->tables[TS_IMPORTS].len > 0 && find_used(p) < 0) {
        return -1;
    }
    for (size_t i = 0; i < p->tables[TS_IMPORTS].len; i += sizeof(import)) {
        memcpy(&import, p->tables[TS_IMPORTS].data + i, sizeof(import));
        elide_import(p, &import);
    }
    for (size_t i = 0; i < exports; i++) {
        memcpy(&row, p->tables[TS_EXPORTS].data + i * sizeof(row), sizeof(row));
        if (!row.is_type && is_only_type(p, row.name)) {
            ts_blank(p, row.from, row.to);
        }
    }
    return p->s.failure == TS_NO_MEMORY ? -1 : 0;
}

/* ---- writing ---- */

struct writer {
    struct buf *out;
    struct buf *edits;
    uint32_t line, column; /* of the end of what is written, from 1 */
};

static int compare_inserts(const void *a, const void *b)
{
    const struct ts_mark *x = a;
    const struct ts_mark *y = b;

    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return x->text < y->text ? -1 : x->text > y->text; /* in the order they were made */
}

/* Puts the blanks and characters into what (one byte for each of the source), and moves the
 * insertions to the front of the table, sorted. Returns their number. */
static size_t apply_marks(struct ts_parser *p, char *what)
{
    struct ts_mark *marks = (void *)p->tables[TS_MARKS].data;
    size_t count = ts_rows(p, TS_MARKS, sizeof(*marks));
    size_t inserts = 0;

    for (size_t i = 0; i < count; i++) {
        struct ts_mark mark = marks[i];

        if (mark.kind == TS_BLANK) {
            assert(mark.at <= mark.end && mark.end <= p->len);
            memset(what + mark.at, ERASE, mark.end - mark.at);
        } else if (mark.kind == TS_PUT) {
            assert(mark.at < p->len);
            what[mark.at] = (char)mark.text;
        } else if (mark.end > 0) {
            marks[inserts++] = mark;
        }
    }
    if (inserts > 1) {
        qsort(marks, inserts, sizeof(*marks), compare_inserts);
    }
    return inserts;
}

/* The caller has reserved the room. */
static void add(struct writer *w, const char *bytes, size_t n)
{
    int r = buf_add(w->out, bytes, n, NULL);

    assert(r == VIAL_OK);
    (void)r;
}

static size_t char_len(const char *bytes, size_t left)
{
    unsigned char c = (unsigned char)bytes[0];
    size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

    return n < left ? n : left;
}

static void count_columns(struct writer *w, const char *bytes, size_t n)
{
    size_t step, newline;

    for (size_t i = 0; i < n; i += step) {
        newline = ts_newline_len(bytes, n, i);
        step = newline > 0 ? newline : char_len(bytes + i, n - i);
        w->column += step == 4 ? 2 : 1;
        if (newline > 0) {
            w->line++;
            w->column = 1;
        }
    }
}

/* Adds what becomes of one character of the source at i, or of several in ASCII that become
 * spaces; returns the bytes of the source that were. */
static size_t add_changed(
    struct writer *w, const struct ts_parser *p, const char *what, size_t i, size_t to)
{
    static const char spaces[] = "                                                                ";
    size_t n = 0, newline, len;
    char c[2] = {what[i], ' '};

    while (i + n < to && n < sizeof(spaces) - 1 && what[i + n] == ERASE && p->src[i + n] >= ' ') {
        n++;
    }
    if (n > 0) {
        add(w, spaces, n);
        return n;
    }
    newline = ts_newline_len(p->src, p->len, i);
    len = newline > 0 ? newline : char_len(p->src + i, to - i);
    len = len < to - i ? len : to - i;
    if (newline > 0) {
        add(w, p->src + i, len);
    } else {
        c[0] = what[i] == ERASE ? ' ' : what[i];
        add(w, c, len == 4 ? 2 : 1); /* two UTF-16 units take two spaces */
    }
    return len;
}

/* Writes the source from `from` to `to`. */
static void add_source(
    struct writer *w, const struct ts_parser *p, const char *what, size_t from, size_t to)
{
    size_t start = w->out->len;
    size_t i = from;

    while (i < to) {
        size_t same = i;

        while (same < to && what[same] == KEEP) {
            same++;
        }
        add(w, p->src + i, same - i);
        for (i = same; i < to && what[i] != KEEP;) {
            i += add_changed(w, p, what, i, to);
        }
    }
    if (w->edits != NULL) {
        count_columns(w, w->out->data + start, w->out->len - start);
    }
}

static int add_insert(
    struct writer *w, const struct ts_parser *p, const struct ts_mark *mark, struct vial_error *err)
{
    struct edit edit = {.line = w->line, .column = w->column};
    const char *text = p->tables[TS_TEXTS].data + mark->text;
    size_t start = w->out->len;
    int r;

    add(w, text, mark->end);
    count_columns(w, w->out->data + start, mark->end);
    edit.len = w->column - edit.column;
    r = buf_add(w->edits, &edit, sizeof(edit), err);
    return r;
}

static int write_out(
    struct ts_parser *p, struct buf *out, struct buf *edits, struct vial_error *err)
{
    struct writer w = {.out = out, .line = 1, .column = 1};
    char *what = calloc(p->len + 1, 1);
    const struct ts_mark *marks;
    size_t count, at = 0;
    int r;

    if (what == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the marks of a source");
    }
    count = apply_marks(p, what);
    marks = (const void *)p->tables[TS_MARKS].data;
    r = buf_reserve(out, (size_t)p->len + p->tables[TS_TEXTS].len, err);
    w.edits = count > 0 ? edits : NULL;
    for (size_t i = 0; i < count && r == VIAL_OK; i++) {
        add_source(&w, p, what, at, marks[i].at);
        r = add_insert(&w, p, &marks[i], err);
        at = marks[i].at;
    }
    if (r == VIAL_OK) {
        add_source(&w, p, what, at, p->len);
    }
    free(what);
    return r;
}

/* ---- the whole ---- */

void ts_parser_init(struct ts_parser *p, const char *source, size_t len)
{
    *p = (struct ts_parser){.src = source, .len = (uint32_t)len};
    p->steps_max = (uint64_t)len * STEPS_PER_BYTE + STEPS_MIN;
    for (int i = 0; i < TS_TABLES; i++) {
        buf_init(&p->tables[i], len * TABLE_BYTES_PER_BYTE + TABLE_BYTES_MIN);
    }
    if (len > 1 && memcmp(source, "#!", 2) == 0) {
        while (p->s.at < p->len && ts_newline_len(source, len, p->s.at) == 0) {
            p->s.at++;
        }
    }
}

void ts_parser_release(struct ts_parser *p)
{
    for (int i = 0; i < TS_TABLES; i++) {
        buf_release(&p->tables[i]);
    }
}

static uint32_t line_of(const char *source, size_t len, size_t at)
{
    uint32_t line = 1;
    size_t newline;

    for (size_t i = 0; i < at && i<len; i += newline> 0 ? newline : 1) {
        newline = ts_newline_len(source, len, i);
        line += newline > 0;
    }
    return line;
}

/* A name in angle brackets that turned out not to be a cast, and a closing tag of that name: JSX,
 * of which the rest is no expression. */
static void look_for_jsx(struct ts_parser *p)
{
    const char *at = p->src + p->s.jsx.at;
    const char *name = at;
    const char *end = p->src + p->len;
    size_t len = p->s.jsx.len;

    while (len > 0 && (at = memmem(at, (size_t)(end - at), "</", 2)) != NULL) {
        at += 2;
        if ((size_t)(end - at) > len && memcmp(at, name, len) == 0 && at[len] == '>') {
            p->s.failure = TS_UNSUPPORTED;
            p->s.fail_text = TS_NO_JSX;
            p->s.fail_at = p->s.jsx.at;
            return;
        }
    }
}

void ts_statements(struct ts_parser *p)
{
    ts_next(p);
    while (!ts_at_end(p)) {
        if (ts_is(p, TS_1('}'))) {
            ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
        }
        ts_list_statement(p, 0);
    }
}

static int parse(struct ts_parser *p, uint32_t *ret_line, struct vial_error *err)
{
    ts_statements(p);
    if (p->s.failure == TS_SYNTAX) {
        look_for_jsx(p);
    }
    if (p->s.failure == TS_NO_MEMORY) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory to read TypeScript");
    }
    if (p->s.failure == TS_UNSUPPORTED || p->s.failure == TS_LIMIT) {
        *ret_line = line_of(p->src, p->len, p->s.fail_at);
        return vial__fail(err, VIAL_E_INVALID, "line %u %s", *ret_line, p->s.fail_text);
    }
    p->s.failure = TS_FINE; /* what is wrong is for the engine; the marks so far hold */
    return VIAL_OK;
}

int typescript_erase(const char *source, size_t len, struct buf *out, struct buf *edits,
    int *ret_has_types, uint32_t *ret_line, struct vial_error *err)
{
    struct ts_parser p;
    int has_types;
    int r;

    if (len > TYPESCRIPT_BYTES_MAX) {
        *ret_line = 1;
        return vial__fail(err, VIAL_E_INVALID, "a source of %zu bytes is too long", len);
    }
    ts_parser_init(&p, source, len);
    r = parse(&p, ret_line, err);
    if (r == VIAL_OK && elide(&p) < 0) {
        r = vial__fail(err, VIAL_E_NOMEM, "no memory to read TypeScript");
    }
    has_types = p.tables[TS_MARKS].len > 0;
    if (r == VIAL_OK && has_types) {
        r = write_out(&p, out, edits, err);
    }
    ts_parser_release(&p);
    if (r == VIAL_OK) {
        *ret_has_types = has_types;
    }
    return r;
}

/* ---- a quick look ---- */

static int is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static int is_telling_word(const char *word, size_t len)
{
    static const char *const words[] = {"abstract", "accessor", "as", "declare", "enum", "export",
        "implements", "import", "interface", "module", "namespace", "override", "private",
        "protected", "public", "readonly", "satisfies", "type"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The sign at at, behind the byte `before`, which is no space: could it belong to a type? */
static int is_telling_sign(const char *source, size_t len, size_t at, char before)
{
    int is_behind_value = is_name_byte(before) || before == ')' || before == ']' || before == '}';

    switch (source[at]) {
    case ':':
        return is_behind_value || before == '?' || before == '!';
    case '<':
        return at + 1 < len && source[at + 1] != '=' && source[at + 1] != ' ';
    case '@':
        return 1;
    case '!':
        return is_behind_value && at + 1 < len && source[at + 1] != '=';
    default:
        return 0;
    }
}

int typescript_is_likely(const char *source, size_t len)
{
    char before = ';';
    size_t i = 0;

    while (i < len) {
        size_t start = i;

        while (i < len && is_name_byte(source[i])) {
            i++;
        }
        if (i > start) {
            if (is_telling_word(source + start, i - start)) {
                return 1;
            }
            before = 'a';
            continue;
        }
        if (is_telling_sign(source, len, i, before)) {
            return 1;
        }
        if (source[i] != ' ' && source[i] != '\t' && source[i] != '\n' && source[i] != '\r') {
            before = source[i];
        }
        i++;
    }
    return 0;
}
