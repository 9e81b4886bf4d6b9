/* ts_module.c - import and export.
 *
 * An import that is used only in types must go, or the module it names would be asked for an export
 * that does not exist at run time. Whether it is used is known at the end of the file, so what
 * could go is noted here and decided in typescript.c. */
#include <string.h>

#include "code/ts_parser.h"

static const struct ts_name NO_NAME;

/* `with {...}` behind the name of a module, or the older `assert {...}`. */
static void attributes(struct ts_parser *p)
{
    if (p->s.tok.kind == TS_WORD && !p->s.tok.newline && ts_peek(p).sign == TS_1('{')) {
        ts_next(p);
        (void)ts_assign(p);
    }
}

static void from_clause(struct ts_parser *p)
{
    if (!ts_is_word(p, TS_W_FROM)) {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
    ts_next(p);
    if (p->s.tok.kind != TS_STRING) {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
    ts_next(p);
    attributes(p);
}

/* Whether `type` in front of a name in braces is more than a name itself. tok is `type`. */
static int is_type_specifier(struct ts_parser *p)
{
    struct ts_state saved = p->s;
    int is;

    ts_next(p);
    is = p->s.tok.kind == TS_WORD || p->s.tok.kind == TS_STRING;
    if (is && ts_is_word(p, TS_W_AS)) {
        ts_next(p);
        is = p->s.tok.kind != TS_WORD;
        if (ts_is_word(p, TS_W_AS)) {
            ts_next(p);
            is = p->s.tok.kind == TS_WORD;
        }
    }
    p->s = saved;
    return is;
}

/* `a`, `a as b`, `type a`; the name is the last one of an import, the first one of an export. */
static struct ts_binding specifier(struct ts_parser *p, int is_import)
{
    struct ts_binding row = {.from = p->s.tok.start};

    if (ts_is_word(p, TS_W_TYPE) && is_type_specifier(p)) {
        row.is_type = 1;
        ts_next(p);
    }
    row.name = p->s.tok.kind == TS_WORD ? ts_tok_name(p) : NO_NAME;
    if (p->s.tok.kind != TS_WORD && p->s.tok.kind != TS_STRING) {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
    ts_next(p);
    if (ts_is_word(p, TS_W_AS)) {
        ts_next(p);
        if (is_import) {
            row.name = ts_tok_name(p);
        }
        ts_next(p);
    }
    row.to = p->s.prev_end;
    if (ts_is(p, TS_1(','))) {
        row.to = p->s.tok.end;
        ts_next(p);
    } else if (!ts_is(p, TS_1('}'))) {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
    return row;
}

static void add_import(struct ts_parser *p, struct ts_binding row)
{
    if (row.is_type) {
        ts_declare(p, row.name, TS_DECL_TYPE);
    }
    ts_row(p, TS_BINDINGS, &row, sizeof(row));
}

static void import_clause(struct ts_parser *p)
{
    struct ts_binding row = {.from = p->s.tok.start};

    if (p->s.tok.kind == TS_WORD) {
        row.name = ts_tok_name(p);
        ts_next(p);
        row.to = ts_is(p, TS_1(',')) ? p->s.tok.end : p->s.prev_end;
        add_import(p, row);
        row.from = p->s.tok.start;
        if (!ts_take(p, TS_1(','))) {
            return;
        }
    }
    if (ts_take(p, TS_1('*'))) {
        ts_next(p);
        row.name = ts_tok_name(p);
        ts_next(p);
        row.to = p->s.prev_end;
        add_import(p, row);
        return;
    }
    ts_expect(p, TS_1('{'));
    while (!ts_at_end(p) && !ts_is(p, TS_1('}'))) {
        add_import(p, specifier(p, 1));
    }
    ts_expect(p, TS_1('}'));
}

/* `import type` and not the import of something called type. tok is `type`. */
static int is_import_type(struct ts_parser *p)
{
    struct ts_state saved = p->s;
    int is;

    ts_next(p);
    is = p->s.tok.kind == TS_WORD || ts_is(p, TS_1('{')) || ts_is(p, TS_1('*'));
    if (ts_is_word(p, TS_W_FROM)) {
        ts_next(p);
        is = p->s.tok.kind != TS_STRING;
    }
    p->s = saved;
    return is;
}

void ts_import_alias(struct ts_parser *p, const struct ts_namespace *exported)
{
    uint32_t at = p->s.tok.start;
    struct ts_name name;

    ts_put_text(p, at, "const ");
    ts_next(p);
    name = ts_tok_name(p);
    ts_next(p);
    ts_expect(p, TS_1('='));
    if (exported != NULL) {
        ts_insert(p, p->s.tok.start, "vial_$.@=", exported->name, name);
    }
    if (ts_is_word(p, TS_W_REQUIRE) && ts_peek(p).sign == TS_1('(')) {
        (void)ts_postfix(p);
    } else {
        ts_ref(p, ts_tok_name(p));
        ts_next(p);
        while (ts_take(p, TS_1('.'))) {
            ts_next(p);
        }
    }
    ts_semicolon(p);
}

/* tok is `import` of an import that may have nothing but types; row gets what it binds. */
static void plain_import(struct ts_parser *p, struct ts_import *row)
{
    struct ts_state saved = p->s;
    struct ts_binding alias;

    row->first = (uint32_t)ts_rows(p, TS_BINDINGS, sizeof(struct ts_binding));
    ts_next(p);
    if (p->s.tok.kind == TS_STRING) {
        ts_next(p);
        attributes(p);
        ts_semicolon(p);
    } else if (p->s.tok.kind == TS_WORD && ts_peek(p).sign == TS_1('=')) {
        alias = (struct ts_binding){.name = ts_tok_name(p)};
        add_import(p, alias);
        p->s = saved;
        ts_import_alias(p, NULL);
    } else {
        import_clause(p);
        from_clause(p);
        ts_semicolon(p);
    }
    row->count = (uint32_t)ts_rows(p, TS_BINDINGS, sizeof(struct ts_binding)) - row->first;
}

static void declare_types(struct ts_parser *p, const struct ts_import *row)
{
    const struct ts_binding *rows = (const void *)p->tables[TS_BINDINGS].data;

    for (uint32_t i = 0; i < row->count && p->s.failure == TS_FINE; i++) {
        ts_declare(p, rows[row->first + i].name, TS_DECL_TYPE);
    }
}

void ts_import_statement(struct ts_parser *p)
{
    struct ts_import row = {.from = p->s.tok.start};
    int joins = ts_joins(p);
    struct ts_state saved = p->s;
    size_t marks = p->tables[TS_MARKS].len;

    ts_next(p);
    if (ts_is_word(p, TS_W_TYPE) && is_import_type(p)) {
        plain_import(p, &row); /* from `type` on it looks the same */
        p->tables[TS_MARKS].len = marks;
        declare_types(p, &row);
        p->tables[TS_BINDINGS].len = row.first * sizeof(struct ts_binding);
        ts_blank_statement(p, row.from, joins);
        return;
    }
    p->s = saved;
    plain_import(p, &row);
    row.to = p->s.prev_end;
    row.semicolon = (uint32_t)ts_is_continuation(p);
    ts_row(p, TS_IMPORTS, &row, sizeof(row));
    ts_outside(p, TS_O_IMPORT, row.from, row.to);
}

/* export { ... } with or without from; tok is {. 1 when all of it is types of another module. */
static int export_clause(struct ts_parser *p)
{
    struct ts_point point;
    struct ts_binding row;
    const struct ts_binding *rows;
    size_t first = ts_rows(p, TS_EXPORTS, sizeof(row));
    size_t count, values = 0;
    int has_from;

    ts_keep(p, &point);
    ts_next(p);
    while (!ts_at_end(p) && !ts_is(p, TS_1('}'))) {
        row = specifier(p, 0);
        ts_row(p, TS_EXPORTS, &row, sizeof(row));
    }
    ts_expect(p, TS_1('}'));
    has_from = ts_is_word(p, TS_W_FROM);
    if (has_from) {
        from_clause(p);
    }
    ts_semicolon(p);
    count = ts_rows(p, TS_EXPORTS, sizeof(row)) - first;
    for (size_t i = 0; i < count && p->s.failure == TS_FINE; i++) {
        rows = (const void *)p->tables[TS_EXPORTS].data;
        row = rows[first + i];
        if (row.is_type) {
            ts_blank(p, row.from, row.to);
            continue;
        }
        values++;
        if (!has_from) {
            ts_ref(p, row.name);
        }
    }
    if (has_from) {
        p->tables[TS_EXPORTS].len = first * sizeof(row); /* names of another module */
    }
    return has_from && count > 0 && values == 0;
}

static void export_default(struct ts_parser *p, uint32_t start, int joins)
{
    struct ts_token second = ts_peek(p);
    struct ts_name name = NO_NAME;
    struct ts_binding row = {.from = start};
    struct ts_point point;
    uint32_t at = p->s.tok.start;
    unsigned flags;
    int is_function =
        ts_is_word(p, TS_W_FUNCTION) ||
        (ts_is_word(p, TS_W_ASYNC) && second.word == TS_W_FUNCTION && !second.newline);

    ts_keep(p, &point);
    if (ts_is_word(p, TS_W_INTERFACE) && second.kind == TS_WORD && !second.newline) {
        (void)ts_declaration(p, start, joins, NULL);
    } else if (ts_is_word(p, TS_W_ABSTRACT) && second.word == TS_W_CLASS) {
        ts_next(p);
        ts_blank(p, at, p->s.prev_end);
        ts_class(p, &name);
        ts_declare(p, name, TS_DECL_OBJECT);
    } else if (ts_is_word(p, TS_W_CLASS)) {
        ts_class(p, &name);
        ts_declare(p, name, TS_DECL_OBJECT);
    } else if (is_function) {
        if (ts_function(p, &name)) {
            ts_declare(p, name, TS_DECL_OBJECT);
        } else {
            ts_semicolon(p);
            ts_drop(p, &point);
            ts_blank_statement(p, start, joins);
        }
    } else {
        row.name = ts_tok_name(p);
        p->s.expr_start = at;
        p->odd |=
            p->s.tok.sign == TS_1('('); /* there may be a function in it that would get a name */
        ts_outside(p, TS_O_DEFAULT, start, p->s.prev_end - 7);
        flags = ts_assign(p);
        p->odd |= (flags & TS_E_ARROW) != 0; /* it would get a name */
        ts_semicolon(p);
        if (flags & TS_E_NAME) {
            row.to = p->s.prev_end;
            ts_row(p, TS_EXPORTS, &row, sizeof(row));
        }
        return;
    }
    p->odd = 1;
}

/* export type { ... } or export type *; tok is `type`. */
static void export_type(struct ts_parser *p, uint32_t start, int joins)
{
    struct ts_point point;

    ts_keep(p, &point);
    ts_next(p);
    if (ts_is(p, TS_1('{'))) {
        (void)export_clause(p);
    } else {
        ts_next(p);
        if (ts_is_word(p, TS_W_AS)) {
            ts_next(p);
            ts_next(p);
        }
        from_clause(p);
        ts_semicolon(p);
    }
    ts_drop(p, &point);
    ts_blank_statement(p, start, joins);
}

static void export_star(struct ts_parser *p)
{
    ts_next(p);
    if (ts_is_word(p, TS_W_AS)) {
        ts_next(p);
        ts_next(p);
    }
    from_clause(p);
    ts_semicolon(p);
}

/* export const, function or class */
static void export_value(struct ts_parser *p, uint32_t start, int joins)
{
    struct ts_name name = NO_NAME;
    struct ts_point point;
    size_t bound = p->tables[TS_BOUND].len;

    ts_keep(p, &point);
    ts_outside(p, TS_O_EXPORT, start, start + 6);
    if (ts_is_variables(p)) {
        ts_variables(p, NULL);
        ts_semicolon(p);
        for (size_t i = bound; i < p->tables[TS_BOUND].len; i += sizeof(name)) {
            memcpy(&name, p->tables[TS_BOUND].data + i, sizeof(name));
            ts_declare(p, name, TS_DECL_BINDING);
            ts_outside(p, TS_O_NAME, name.at, name.at + name.len);
        }
        p->tables[TS_BOUND].len = bound;
    } else if (ts_is_word(p, TS_W_CLASS)) {
        ts_class(p, &name);
        ts_declare(p, name, TS_DECL_OBJECT);
        ts_outside(p, TS_O_NAME, name.at, name.at + name.len);
    } else if (ts_is_word(p, TS_W_FUNCTION) || ts_is_word(p, TS_W_ASYNC)) {
        if (ts_function(p, &name)) {
            ts_declare(p, name, TS_DECL_OBJECT);
            ts_outside(p, TS_O_NAME, name.at, name.at + name.len);
        } else {
            ts_semicolon(p);
            ts_drop(p, &point);
            ts_blank_statement(p, start, joins);
        }
    } else if (ts_is(p, TS_1('@'))) {
        ts_refuse_decorator(p);
    } else {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
}

void ts_export_statement(struct ts_parser *p)
{
    uint32_t start = p->s.tok.start;
    int joins = ts_joins(p);
    struct ts_token second;

    ts_next(p);
    second = ts_peek(p);
    if (p->ns != NULL && !p->s.ambient) {
        ts_namespace_export(p, start, joins);
    } else if (ts_is_word(p, TS_W_DEFAULT)) {
        ts_next(p);
        export_default(p, start, joins);
    } else if (ts_is(p, TS_1('='))) {
        ts_put_text(p, start, "module");
        ts_insert(p, start + 6, ".exports", NO_NAME, NO_NAME);
        ts_next(p);
        ts_expr(p);
        ts_semicolon(p);
    } else if (ts_is_word(p, TS_W_AS)) { /* export as namespace X */
        ts_next(p);
        ts_next(p);
        ts_next(p);
        ts_semicolon(p);
        ts_blank_statement(p, start, joins);
    } else if (ts_is_word(p, TS_W_TYPE) && (second.sign == TS_1('{') || second.sign == TS_1('*'))) {
        export_type(p, start, joins);
    } else if (ts_is(p, TS_1('*'))) {
        p->odd = 1;
        export_star(p);
    } else if (ts_is(p, TS_1('{'))) {
        p->odd = 1;
        if (export_clause(p)) {
            ts_blank_statement(p, start, joins);
        }
    } else if (ts_is_word(p, TS_W_IMPORT)) {
        ts_import_alias(p, NULL);
    } else if (!ts_declaration(p, start, joins, NULL)) {
        export_value(p, start, joins);
    }
}
