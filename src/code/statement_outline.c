/* statement_outline.c - import and export statements from the outline of a source: what
 * statements_read_outline of statement.h does.
 *
 * The parser has found where they are; what they say is read from their tokens. The plain forms are
 * known here, which are nearly all that are written:
 *
 *     import a, { b, c as d } from 'e'      export default <expression>
 *     import * as f from 'g'                export const i = 1
 *     import 'h'                            export function j() {} */
#include <string.h>

#include "code/statement.h"
#include "code/ts_parser.h"

static uint32_t tok_len(const struct ts_parser *p)
{
    return p->s.tok.end - p->s.tok.start;
}

/* Tokens from the one at `from` on; behind `to` there are none. */
static void tokens_begin(
    struct ts_parser *p, const struct module_reader *r, const struct ts_outside *row)
{
    ts_parser_init(p, r->source, row->to);
    p->s.at = row->from;
    ts_next(p);
}

/* The module that the statement asks for; its index, or -1 when there is more behind its name. */
static int64_t read_request(struct module_reader *r, const struct ts_outside *row)
{
    struct module_request request = {.has_type = 0};
    struct ts_parser p;
    int64_t index = -1;
    uint32_t at;

    tokens_begin(&p, r, row);
    while (!ts_at_end(&p) && p.s.tok.kind != TS_STRING) {
        ts_next(&p);
    }
    at = p.s.tok.start;
    if (p.s.tok.kind == TS_STRING && tok_len(&p) >= 2) {
        uint32_t len = tok_len(&p) - 2;

        ts_next(&p);
        (void)ts_take(&p, TS_1(';'));
        if (ts_at_end(&p)) {
            request.specifier = module_text_at(r, at + 1, len);
            index = module_add_request(r, &request, at);
        }
    }
    ts_parser_release(&p);
    return index;
}

/* { a, b as c }; tok is {. 0 when it is more than that. */
static int read_import_list(struct module_reader *r, struct ts_parser *p, uint32_t request)
{
    ts_next(p);
    while (p->s.tok.kind == TS_WORD) {
        uint32_t at = p->s.tok.start;
        uint32_t len = tok_len(p);
        struct module_text imported = module_text_at(r, at, len);

        ts_next(p);
        if (ts_is_word(p, TS_W_AS)) {
            ts_next(p);
            if (p->s.tok.kind != TS_WORD) {
                return 0;
            }
            at = p->s.tok.start;
            len = tok_len(p);
            ts_next(p);
        }
        module_add_import(r, BINDING_NAME, request, imported, at, len);
        if (!ts_take(p, TS_1(','))) {
            break;
        }
    }
    return ts_take(p, TS_1('}'));
}

/* What is between the words import and from; tok is the first of it. */
static int read_clause(struct module_reader *r, struct ts_parser *p, uint32_t request)
{
    if (p->s.tok.kind == TS_WORD) {
        module_add_import(r, BINDING_NAME, request, module_text_constant(r, "default"),
            p->s.tok.start, tok_len(p));
        ts_next(p);
        if (!ts_take(p, TS_1(','))) {
            return 1;
        }
    }
    if (ts_take(p, TS_1('*'))) {
        ts_next(p); /* as */
        if (p->s.tok.kind != TS_WORD) {
            return 0;
        }
        module_add_import(
            r, BINDING_NAMESPACE, request, (struct module_text){0}, p->s.tok.start, tok_len(p));
        ts_next(p);
        return 1;
    }
    return ts_is(p, TS_1('{')) && read_import_list(r, p, request);
}

static int read_import(struct module_reader *r, const struct ts_outside *row)
{
    int64_t request = read_request(r, row);
    struct ts_parser p;
    int known;

    if (request < 0) {
        return 0;
    }
    changes_blank(&r->changes, row->from, row->to, ';');
    tokens_begin(&p, r, row);
    ts_next(&p);
    known = p.s.tok.kind == TS_STRING ||
            (read_clause(r, &p, (uint32_t)request) && ts_is_word(&p, TS_W_FROM));
    ts_parser_release(&p);
    return known;
}

static int read_row(struct module_reader *r, const struct ts_outside *row)
{
    uint32_t len = row->to - row->from;

    switch (row->kind) {
    case TS_O_IMPORT:
        return read_import(r, row);
    case TS_O_DEFAULT:
        module_add_default(r, row->from, row->to);
        return 1;
    case TS_O_EXPORT:
        changes_blank(&r->changes, row->from, row->to, ' ');
        return 1;
    default: /* TS_O_NAME */
        module_add_local(r, module_text_at(r, row->from, len), row->from, row->from, len, 1);
        return memchr(r->source + row->from, '\\', len) == NULL && len > 0;
    }
}

int statements_read_outline(struct module_reader *r, const struct outline *outline)
{
    const struct ts_outside *rows =
        (const struct ts_outside *)(const void *)outline->statements.data;
    size_t count = outline->statements.len / sizeof(*rows);
    size_t i = 0;

    r->has_statements = count > 0;
    while (i < count && read_row(r, &rows[i])) {
        i++;
    }
    return i == count;
}
